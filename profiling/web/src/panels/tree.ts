// The elimination tree over time: a row a node, its life as an outline, its load as colour in steps of time.
//
// With few tasks in view loads are counted from the tasks, so that a deep zoom is exact; else they come from the levels of the
// contract (tree-load.ts). Groups are drawn at half height, assemblies as inset marks, slow tasks as dots.

import { mix, ramp, withAlpha, type Colour } from "../colour";
import { briefNode } from "../describe";
import type { TreePanel } from "../format";
import { arrow, outline, type Painter } from "../paint/painter";
import { once } from "../run";
import { option } from "../state";
import { scaleOf, type Scale } from "../view";
import { background, runMarks, timeGrid } from "./marks";
import type { Drawn, Frame, Hit, LegendEntry, Scene } from "./panel";
import { fitted, type Rows } from "./tree-rows";
import { cellsFor, levelIndex, taskRows, type Cell } from "./tree-load";

const ASSEMBLY = "#117733";
const STEPS: [string, string][] = [["4", "fine"], ["1", "each pixel"], ["12", "medium"], ["40", "coarse"]];

export function tree({ panel, run, columns }: Scene<TreePanel>): Drawn {
  const born = columns.get(panel.rows.born);
  const died = columns.get(panel.rows.died);
  const node = columns.get(panel.rows.node);
  const parent = columns.get(panel.rows.parent);
  const levels = once(() => panel.levels.map((level) => levelIndex(level, columns)));
  const rowsOfTasks = once(() => taskRows(run, columns.get(panel.row_of_node), node));
  const rowsOf = (f: Frame): Rows => fitted(born, died, f.window, f.plot, option(f.state, `${panel.id}.rows`, "living") === "all");

  const draw = (p: Painter, f: Frame): void => {
    const scale = scaleOf(f.window, f.plot);
    const rows = rowsOf(f);
    const step = Number(option(f.state, `${panel.id}.step`, STEPS[0][0])) || 4;
    background(p, f);
    labels(p, f, rows, node);
    p.clip(f.plot);
    timeGrid(p, f);
    const lives: Lives = { born, died, parent };
    if (rows.single) boxes(p, f, rows, scale, lives);
    const cells = cellsFor({ panel, run, rows, levels: levels(), rowsOfTasks, scale, window: f.window, step });
    paint(p, f, rows, scale, cells);
    if (rows.single) {
      if (rows.height >= 9) arrows(p, f, rows, scale, lives);
      if (rows.height >= 5) for (const row of rows.shown) frameOf(p, f, rows, row, scale, lives);
    }
    chosen(p, f, rows, scale, lives, rowsOfTasks().rowOfNode, run.index);
    runMarks(p, f, run);
    p.clip(null);
    legendRamp(p, f);
  };

  return {
    timed: true,
    margins: { top: 18, bottom: 4 },
    height: (width) => Math.min(Math.max(born.length * 15, 130), width < 860 ? 420 : width > 2400 ? 900 : 560) + 22,
    draw,
    hit: (x, y, f) => hit(x, y, f, rowsOf(f), { born, died, parent }, node, run),
    tools: [
      { key: `${panel.id}.rows`, label: "Rows", choices: [["living", "alive in the window"], ["all", "all"]] },
      { key: `${panel.id}.step`, label: "Steps", choices: STEPS },
    ],
    legend: (theme): LegendEntry[] => [
      { name: "assembly", colour: theme.data(ASSEMBLY) },
      { name: "slow task", colour: theme.alarm },
    ],
    words: `${born.length} tree nodes over time`,
  };
}

interface Lives {
  born: ArrayLike<number>;
  died: ArrayLike<number>;
  parent: ArrayLike<number>;
}

function labels(p: Painter, f: Frame, rows: Rows, node: ArrayLike<number>): void {
  const every = Math.max(1, Math.ceil(11 / rows.height));
  const count = rows.single ? rows.shown.length : rows.last - rows.first + 1;
  for (let k = 0; k < count; k += every) {
    const row = rows.single ? rows.shown[k] : rows.first + k;
    const y = rows.top(row) + Math.min(rows.height, 24) / 2;
    if (y > f.plot.y + f.plot.height - 3) break;
    const size = Math.min(11, Math.max(9, rows.height));
    p.text(f.plot.x - 8, Math.max(y, f.plot.y + 4), String(node[row]), { colour: every === 1 ? f.theme.ink : f.theme.muted, align: "right", size });
  }
  p.text(f.plot.x - 8, f.plot.y - 9, "node", { colour: f.theme.faint, align: "right", size: 10 });
  if (rows.shown.length === 0) {
    p.text(f.plot.x + f.plot.width / 2, f.plot.y + f.plot.height / 2, "no node of the tree is alive here", { colour: f.theme.faint, align: "center", size: 12 });
  }
}

function span(scale: Scale, from: number, to: number): [number, number] {
  return [Math.max(scale.x(from), scale.left - 3), Math.min(scale.x(to), scale.right + 3)];
}

function boxes(p: Painter, f: Frame, rows: Rows, scale: Scale, { born, died }: Lives): void {
  const tint = mix(f.theme.plot, f.theme.load[0], 0.9);
  for (const row of rows.shown) {
    const [x, right] = span(scale, born[row], died[row]);
    if (right > x) p.rect(x, rows.top(row) + inset(rows), right - x, rows.height - 2 * inset(rows), tint);
  }
}

const inset = (rows: Rows): number => (rows.height >= 10 ? 1.5 : rows.height >= 4 ? 0.5 : 0);

function frameOf(p: Painter, f: Frame, rows: Rows, row: number, scale: Scale, { born, died }: Lives): void {
  const [x, right] = span(scale, born[row], died[row]);
  const colour = withAlpha(f.theme.muted, f.theme.dark ? 0.45 : 0.4);
  if (right > x) outline(p, { x, y: rows.top(row) + inset(rows), width: Math.max(right - x, 1), height: rows.height - 2 * inset(rows) }, 0.75, colour);
}

// To the parent when the node begins and when it has ended; only where the parent's row is in view.
function arrows(p: Painter, f: Frame, rows: Rows, scale: Scale, { born, died, parent }: Lives): void {
  const lines: [number, Colour][] = [[0, withAlpha(f.theme.faint, 0.75)], [1, withAlpha(f.theme.ink, 0.7)]];
  for (const row of rows.shown) {
    const above = parent[row] - 1;
    const to = above < 0 ? NaN : rows.top(above);
    if (Number.isNaN(to)) continue;
    for (const [end, colour] of lines) {
      const x = scale.x(end === 0 ? born[row] : died[row]);
      if (x < scale.left || x > scale.right) continue;
      const from = rows.top(row);
      const down = to > from;
      arrow(p, x, down ? from + rows.height - inset(rows) : from + inset(rows), x, down ? to + inset(rows) : to + rows.height - inset(rows), 0.9, colour, 4);
    }
  }
}

function paint(p: Painter, f: Frame, rows: Rows, scale: Scale, cells: Cell[]): void {
  const { load } = f.theme;
  const shades = Array.from({ length: 33 }, (_, k) => ramp(load, 0.22 + 0.78 * (k / 32)));
  const assembly = f.theme.data(ASSEMBLY);
  const slow: Cell[] = [];
  for (const cell of cells) {
    if (cell.kind === 3) {
      slow.push(cell);
      continue;
    }
    const y = rows.single ? rows.top(cell.row) : rows.top(cell.row);
    const height = Math.max(rows.height * cell.rows, 1);
    const [x, right] = span(scale, cell.from, cell.to);
    const width = right - x;
    if (!(width > 0) || Number.isNaN(y)) continue;
    const gap = cell.rows === 1 ? inset(rows) : 0;
    // Loads end at whole pixels: parts of a pixel would be seams between neighbours.
    const left = Math.round(x);
    const wide = Math.max(Math.round(right) - left, 1);
    if (cell.kind === 2) {
      if (height >= 6) p.rect(x, y + height * 0.36, Math.max(width, 0.8), height * 0.28, assembly);
    } else {
      const shade = shades[Math.min(32, Math.round(cell.load * 32))];
      if (cell.kind === 1 && height >= 4) p.rect(left, y + height / 2, wide, height / 2 - gap, shade);
      else p.rect(left, y + gap, wide, height - 2 * gap, shade);
    }
  }
  const radius = Math.min(Math.max(rows.height * 0.22, 1.2), 3.4);
  // Dots of a row that would cover each other are one.
  const last = new Map<number, number>();
  for (const cell of slow) {
    const y = rows.top(cell.row) + (rows.height * cell.rows) / 2;
    const x = (scale.x(cell.from) + scale.x(cell.to)) / 2;
    if (Number.isNaN(y) || x < scale.left - 3 || x > scale.right + 3 || Math.abs(x - (last.get(cell.row) ?? -Infinity)) < radius) continue;
    last.set(cell.row, x);
    p.dot(x, y, radius, f.theme.alarm);
  }
}

function chosen(p: Painter, f: Frame, rows: Rows, scale: Scale, { born, died }: Lives, rowOf: (node: number) => number | null, run: number): void {
  const selected = f.state.selection;
  if (selected?.kind !== "node" || selected.run !== run) return;
  const row = rowOf(selected.node);
  const y = row === null ? NaN : rows.top(row);
  if (row === null || Number.isNaN(y)) return;
  const [x, right] = span(scale, born[row], died[row]);
  const height = Math.max(rows.height, 4);
  p.rect(f.plot.x, y, f.plot.width, height, withAlpha(f.theme.accent, 0.12));
  if (right > x) outline(p, { x: x - 1, y: y - 1, width: right - x + 2, height: height + 2 }, 2, f.theme.accent);
}

function hit(x: number, y: number, f: Frame, rows: Rows, { born, died }: Lives, node: ArrayLike<number>, run: Scene["run"]): Hit | null {
  if (x < 0 || x > f.plot.x + f.plot.width || y < f.plot.y || y > f.plot.y + f.plot.height) return null;
  let row = rows.rowAt(y);
  if (row === null) return null;
  if (!rows.single) {
    // Of the rows under a pixel, one that lives at this time.
    const at = scaleOf(f.window, f.plot).ns(x);
    const reach = Math.ceil(1.5 / rows.height);
    for (let k = Math.max(rows.first, row - reach); k <= Math.min(rows.last, row + reach); k += 1) {
      if (born[k] <= at && died[k] >= at && !(born[row] <= at && died[row] >= at)) row = k;
    }
  }
  return { ...briefNode(run, node[row]), select: { kind: "node", run: run.index, node: node[row] } };
}

function legendRamp(p: Painter, f: Frame): void {
  const width = 90;
  const x = f.plot.x + f.plot.width - width - 70;
  const y = f.plot.y - 13;
  for (let k = 0; k < width; k += 3) p.rect(x + k, y, 3, 8, ramp(f.theme.load, 0.22 + 0.78 * (k / width)));
  p.text(x - 5, y + 4, "load 0", { size: 10, colour: f.theme.muted, align: "right" });
  p.text(x + width + 5, y + 4, "all workers", { size: 10, colour: f.theme.muted });
}

