// Workers over time: a lane a worker, its tasks coloured by codelet, anomalies strong and drawn last; parts of another worker's
// tasks at half height.
//
// Draws the tasks themselves where few are in view, else the finest level of the contract's pyramid; anomalies, the selected node's
// tasks and the critical path are drawn from the tasks at every zoom. Edges of the selected task: gantt-edges.ts.

import { mix, withAlpha, type Colour } from "../colour";
import { codeletOf } from "../describe";
import type { GanttPanel } from "../format";
import { binWidth, levelFor, lowerBound, MOST_EXACT, rowsInView } from "../lod";
import { percent } from "../number";
import type { Painter } from "../paint/painter";
import { CRITICAL, once, type Run } from "../run";
import { option, type State } from "../state";
import type { Theme } from "../theme";
import { scaleOf, type Scale } from "../view";
import { background, runMarks, shortened, timeGrid } from "./marks";
import { bounds, drawSelection } from "./gantt-edges";
import { drawStates, statesOf } from "./states";
import { hitAt } from "./gantt-hit";
import type { Drawn, Frame, LegendEntry, Scene } from "./panel";

// How strong states are behind tasks.
const BEHIND = 0.45;
// And parts of others' tasks, where something else is looked for.
const PALE = 0.32;

export const laneHeight = (lanes: number): number =>
  lanes <= 4 ? 34 : lanes <= 12 ? 24 : lanes <= 24 ? 17 : lanes <= 64 ? 10 : Math.max(3, 640 / lanes);

export interface Lanes {
  top(lane: number): number;
  height: number;
}

// The lower halves.
const lower = (of: Lanes): Lanes => ({ top: (lane) => of.top(lane) + of.height / 2, height: of.height / 2 });

export const lanesOf = (f: Frame, count: number): Lanes => {
  const all = f.plot.height / Math.max(count, 1);
  const gap = all > 12 ? 3 : all > 6 ? 1 : 0;
  return { top: (lane) => f.plot.y + lane * all + gap / 2, height: all - gap };
};

// The strong and the pale colour of each codelet.
interface Tints {
  strong: Colour[];
  pale: Colour[];
}

const tints = (run: Run, theme: Theme): Tints => {
  const strong = run.head.codelets.map((codelet) => theme.data(codelet.colour));
  return { strong, pale: strong.map((c) => mix(c, theme.plot, theme.dark ? 0.72 : 0.68)) };
};

// What the reader looks for; where nothing, anomalies.
interface Focus {
  codelet: number | null;
  node: number | null;
  pale: boolean;
}

function focusOf(run: Run, state: State): Focus {
  const codelet = state.codelet === null ? null : run.head.codelets.findIndex((c) => c.name === state.codelet);
  const selected = state.selection;
  let node: number | null = null;
  if (selected?.kind === "node" && selected.run === run.index) {
    const position = run.tree.position(selected.node);
    node = position === null ? selected.node : run.tree.carrier(position);
  }
  return { codelet, node, pale: state.pale && run.tasks.anomalous.length > 0 };
}

export function gantt({ panel, run, columns }: Scene<GanttPanel>): Drawn {
  const { tasks, head } = run;
  const lanes = head.workers.length;
  const states = once(() => (panel.states === null ? null : statesOf(panel.states, columns, lanes)));
  const helping = once(() => (panel.helping === null ? null : statesOf(panel.helping, columns, lanes)));
  const show = (state: State): string => option(state, `${panel.id}.show`, "tasks");

  const draw = (p: Painter, f: Frame): void => {
    const scale = scaleOf(f.window, f.plot);
    const of = lanesOf(f, lanes);
    const focus = focusOf(run, f.state);
    const colours = tints(run, f.theme);
    background(p, f);
    labels(p, f, run, of);
    p.clip(f.plot);
    timeGrid(p, f);
    const shown = states();
    const only = show(f.state) === "states";
    if (shown !== null) drawStates(p, f, shown, of, only ? 1 : BEHIND);
    if (!only) {
      const ranges = head.workers.map((_, lane) =>
        rowsInView(tasks.start, tasks.duration, tasks.lane[lane], tasks.lane[lane + 1], f.window));
      const inView = ranges.reduce((sum, [first, end]) => sum + end - first, 0);
      if (inView <= MOST_EXACT) {
        const helped = helping();
        const looked = focus.pale || focus.codelet !== null || focus.node !== null;
        if (helped !== null) drawStates(p, f, helped, lower(of), looked ? PALE : 1);
        exact(p, run, ranges, scale, of, focus, colours, f.theme);
      } else {
        level(p, { panel, run, columns }, scale, of, focus, colours, f.theme);
        if (focus.node !== null) picked(p, run, run.rowsOfNode(focus.node), scale, of, colours.strong);
        else if (focus.codelet === null) picked(p, run, tasks.anomalous, scale, of, colours.strong);
      }
      if (option(f.state, `${panel.id}.path`, "0") === "1") path(p, run, ranges, scale, of, f.theme);
    }
    runMarks(p, f, run);
    if (!only) drawSelection(p, f, run, scale, of);
    p.clip(null);
    bounds(p, f, run, scale);
  };

  return {
    timed: true,
    margins: { top: 34, bottom: 4 },
    height: () => lanes * laneHeight(lanes) + 38,
    draw,
    hit: (x, y, f) => hitAt(run, show(f.state) === "states", states(), helping(), x, y, f),
    tools: [
      ...(panel.states === null ? [] : [{ key: `${panel.id}.show`, label: "Show", choices: [["tasks", "tasks"], ["states", "runtime states"]] as [string, string][] }]),
      { key: `${panel.id}.path`, label: "Critical path", choices: [["0", "off"], ["1", "on"]] },
    ],
    legend: (theme, state) => [
      ...(panel.helping === null ? [] : [{ name: "helps another worker's task (half height)", colour: theme.muted }]),
      ...(panel.states?.kinds ?? []).map((kind): LegendEntry => ({
        name: kind.name, colour: show(state) === "states" ? theme.data(kind.colour) : mix(theme.plot, theme.data(kind.colour), BEHIND) })),
    ],
    words: `${lanes} workers over time, ${tasks.count} tasks, ${tasks.anomalous.length} of them slow`,
  };
}

function labels(p: Painter, f: Frame, run: Run, of: Lanes): void {
  const { theme, plot } = f;
  const every = Math.ceil(11 / Math.max(of.height, 1));
  run.head.workers.forEach((worker, lane) => {
    if (lane % every !== 0) return;
    const y = of.top(lane) + of.height / 2;
    const size = Math.min(11, Math.max(9, of.height));
    p.text(plot.x - 8, y, shortened(worker.name, f.width < 860 ? 12 : 17), { colour: theme.ink, align: "right", size });
    p.text(plot.x + plot.width + 8, y, percent(worker.idle), { colour: theme.muted, size });
  });
  p.text(plot.x + plot.width + 8, plot.y - 10, "idle", { colour: theme.faint, size: 10 });
}

function exact(
  p: Painter, run: Run, ranges: [number, number][], scale: Scale, of: Lanes, focus: Focus, colours: Tints, theme: Theme,
): void {
  const { start, duration, codelet, node, mark } = run.tasks;
  const last: number[] = [];
  const border = withAlpha(theme.plot, 0.9);
  ranges.forEach(([first, end], lane) => {
    const top = of.top(lane);
    for (let row = first; row < end; row += 1) {
      const slow = (mark[row] & 1) !== 0;
      const looked = focus.codelet !== null || focus.node !== null;
      const wanted = (focus.codelet === null || codelet[row] === focus.codelet) && (focus.node === null || node[row] === focus.node);
      const strong = looked ? wanted : slow || !focus.pale;
      if (slow && (!looked || wanted)) {
        last.push(row, lane);
        continue;
      }
      const x = Math.max(scale.x(start[row]), scale.left - 2);
      const right = Math.min(scale.x(start[row] + duration[row]), scale.right + 2);
      const width = Math.max(right - x, 0.35);
      p.rect(x, top, width, of.height, strong ? colours.strong[codelet[row]] : colours.pale[codelet[row]]);
      // Neighbours of one colour would flow into each other.
      if (width > 5) p.rect(right - 0.6, top, 0.6, of.height, border);
      if (width > 58 && of.height > 13) name(p, run, row, x, right, top + of.height / 2, strong ? colours.strong[codelet[row]] : colours.pale[codelet[row]]);
    }
  });
  for (let k = 0; k < last.length; k += 2) {
    const [row, lane] = [last[k], last[k + 1]];
    anomaly(p, run, row, of.top(lane), scale, of, colours.strong, focus.pale ? null : theme.alarm);
  }
}

function anomaly(
  p: Painter, run: Run, row: number, top: number, scale: Scale, of: Lanes, colours: Colour[], cap: Colour | null,
): void {
  const { start, duration, codelet } = run.tasks;
  const x = Math.max(scale.x(start[row]), scale.left - 2);
  const right = Math.min(scale.x(start[row] + duration[row]), scale.right + 2);
  const width = Math.max(right - x, 2);
  p.rect(x, top, width, of.height, colours[codelet[row]]);
  if (cap !== null && of.height >= 6) p.rect(x, top, width, 2, cap);
  if (width > 58 && of.height > 13) name(p, run, row, x, right, top + of.height / 2, colours[codelet[row]]);
}

function name(p: Painter, run: Run, row: number, x: number, right: number, y: number, on: Colour): void {
  const tile = [run.value("tasks.panel", row), run.value("tasks.row", row), run.value("tasks.col", row)].filter((v) => v > 0);
  const text = `${codeletOf(run, row)}${tile.length > 0 ? ` ${tile.join(",")}` : ""}`;
  const left = Math.max(x, 0);
  if (text.length * 6.4 > right - left - 6) return;
  const dark = ((on >>> 24) * 299 + ((on >>> 16) & 255) * 587 + ((on >>> 8) & 255) * 114) / 1000 < 140;
  p.text(left + 5, y, text, { size: 10.5, colour: dark ? 0xffffffee : 0x1c1b19ee });
}

// Bins of the pyramid; neighbours with the same look are one shape.
function level(
  p: Painter, { panel, run, columns }: Pick<Scene<GanttPanel>, "panel" | "run" | "columns">,
  scale: Scale, of: Lanes, focus: Focus, colours: Tints, theme: Theme,
): void {
  const length = run.head.span_ns;
  const chosen = levelFor(panel.levels, length, scale.perPixel);
  if (chosen === null) return;
  const codelet = columns.get(chosen.codelet);
  const fill = columns.get(chosen.fill);
  const width_ns = binWidth(length, chosen.bins);
  const first = Math.max(0, Math.floor(scale.ns(scale.left) / width_ns));
  const end = Math.min(chosen.bins, Math.ceil(scale.ns(scale.right) / width_ns));
  const looked = focus.codelet !== null || focus.node !== null;
  const shade = colours.strong.map((strong, k) => {
    const wanted = looked ? focus.node === null && k === focus.codelet : !focus.pale;
    const tint = wanted ? strong : colours.pale[k];
    // A root, so that what is mostly idle is still seen to have tasks.
    return Array.from({ length: 17 }, (_, part) => mix(theme.plot, tint, Math.max(Math.sqrt(part / 16), 0.25)));
  });
  for (let lane = 0; lane < run.head.workers.length; lane += 1) {
    const base = lane * chosen.bins;
    const top = of.top(lane);
    let begin = first;
    let look = -1;
    for (let bin = first; bin <= end; bin += 1) {
      const at = base + bin;
      // A sixteenth of brightness is all that is told apart.
      const next = bin < end && codelet[at] > 0 ? codelet[at] * 32 + ((fill[at] + 15) >> 4) : -1;
      if (next === look) continue;
      if (look >= 0) {
        // Whole pixels: bins are at least that wide, and neighbours have no seam.
        const x = Math.round(scale.x(begin * width_ns));
        p.rect(x, top, Math.round(scale.x(bin * width_ns)) - x, of.height, shade[(look >> 5) - 1]?.[look & 31] ?? theme.faint);
      }
      begin = bin;
      look = next;
    }
  }
}

// Rows of a list, one a pixel at least, in their place.
function picked(p: Painter, run: Run, rows: Uint32Array, scale: Scale, of: Lanes, colours: Colour[]): void {
  const { start, duration, lane } = run.tasks;
  const [from, to] = [scale.ns(scale.left), scale.ns(scale.right)];
  for (let k = 0; k + 1 < lane.length; k += 1) {
    const low = lowerBound(rows, lane[k], 0, rows.length);
    const high = lowerBound(rows, lane[k + 1], low, rows.length);
    let drawn = -Infinity;
    for (let at = low; at < high; at += 1) {
      const row = rows[at];
      const end = start[row] + duration[row];
      if (end < from || start[row] > to || end < drawn + scale.perPixel) continue;
      anomaly(p, run, row, of.top(k), scale, of, colours, null);
      drawn = end;
    }
  }
}

function path(p: Painter, run: Run, ranges: [number, number][], scale: Scale, of: Lanes, theme: Theme): void {
  const { start, duration, mark } = run.tasks;
  const chain: { at: number; end: number; y: number }[] = [];
  ranges.forEach(([first, end], lane) => {
    const y = of.top(lane) + of.height - 1.5;
    for (let row = first; row < end; row += 1) {
      if ((mark[row] & CRITICAL) !== 0) chain.push({ at: start[row], end: start[row] + duration[row], y });
    }
  });
  chain.sort((a, b) => a.at - b.at);
  chain.forEach((task, k) => {
    const x = scale.x(task.at);
    p.rect(x, task.y - 1.5, Math.max(scale.x(task.end) - x, 1), 3, theme.ink);
    const before = chain[k - 1];
    if (before !== undefined) p.line(scale.x(before.end), before.y, x, task.y, 1, withAlpha(theme.ink, 0.7));
  });
}
