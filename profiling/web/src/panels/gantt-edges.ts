// On top of the Gantt chart: the selected task with its edges to predecessors and successors, and the bounds above the plot.

import { withAlpha, type Colour } from "../colour";
import { duration } from "../number";
import { dashed, outline, type Painter } from "../paint/painter";
import type { Run } from "../run";
import type { Scale } from "../view";
import type { Lanes } from "./gantt";
import type { Frame } from "./panel";

// More edges than this tell nothing.
const MOST_EDGES = 400;

export function drawSelection(p: Painter, f: Frame, run: Run, scale: Scale, of: Lanes): void {
  const selected = f.state.selection;
  if (selected?.kind !== "task" || selected.run !== run.index) return;
  const row = run.rowOf(selected.id);
  if (row === null) return;
  const { start, duration: took } = run.tasks;
  const middle = (r: number): number => of.top(run.laneOf(r)) + of.height / 2;
  const curve = (from: number, to: number, colour: Colour): void => {
    const [x0, y0, x1, y1] = [scale.x(start[from] + took[from]), middle(from), scale.x(start[to]), middle(to)];
    if (Math.max(x0, x1) < scale.left || Math.min(x0, x1) > scale.right) return;
    arc(p, x0, y0, x1, y1, colour);
  };
  for (const from of run.predecessors(row).slice(0, MOST_EDGES)) {
    curve(from, row, f.theme.accent);
    box(p, run, from, scale, of, withAlpha(f.theme.accent, 0.9), 1);
  }
  for (const to of run.successors(row).slice(0, MOST_EDGES)) {
    curve(row, to, f.theme.good);
    box(p, run, to, scale, of, withAlpha(f.theme.good, 0.9), 1);
  }
  box(p, run, row, scale, of, f.theme.ink, 2);
}

function box(p: Painter, run: Run, row: number, scale: Scale, of: Lanes, colour: Colour, width: number): void {
  const { start, duration: took } = run.tasks;
  const x = Math.max(scale.x(start[row]), scale.left - 4);
  const right = Math.min(scale.x(start[row] + took[row]), scale.right + 4);
  if (right < scale.left - 3 || x > scale.right + 3) return;
  const shown = Math.max(right - x, 3);
  outline(p, { x: x - width / 2, y: of.top(run.laneOf(row)) - width / 2, width: shown + width, height: of.height + width }, width, colour);
}

// A cubic curve that leaves and arrives along the time axis, as short lines.
function arc(p: Painter, x0: number, y0: number, x1: number, y1: number, colour: Colour): void {
  const bend = Math.min(Math.max(Math.abs(x1 - x0) / 2, 14), 120);
  const steps = 18;
  let [px, py] = [x0, y0];
  for (let k = 1; k <= steps; k += 1) {
    const t = k / steps;
    const [a, b, c, d] = [(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t * t, t ** 3];
    const x = a * x0 + b * (x0 + bend) + c * (x1 - bend) + d * x1;
    const y = a * y0 + b * y0 + c * y1 + d * y1;
    p.line(px, py, x, y, 1.4, colour);
    [px, py] = [x, y];
  }
  p.dot(x1, y1, 2.4, colour);
}

// Bounds and ends as flags above the plot, in rows that do not overlap.
export function bounds(p: Painter, f: Frame, run: Run, scale: Scale): void {
  const { bounds: found, submitted_ns, last_ns } = run.head;
  const flags: { at: number; text: string; colour: Colour; line: boolean }[] = [
    { at: submitted_ns, text: "all submitted", colour: f.theme.muted, line: false },
    { at: last_ns, text: `end ${duration(last_ns)}`, colour: f.theme.muted, line: false },
  ];
  if (found !== null) {
    flags.push({ at: found.area_ns, text: `area bound ${duration(found.area_ns)}`, colour: f.theme.accent, line: true });
    flags.push({ at: found.critical_path_ns, text: `critical path ${duration(found.critical_path_ns)}`, colour: f.theme.alarm, line: true });
  }
  const taken = [-Infinity, -Infinity];
  const right = f.plot.x + f.plot.width;
  const texts: (() => void)[] = [];
  for (const flag of flags.sort((a, b) => a.at - b.at)) {
    const x = scale.x(flag.at);
    if (x < f.plot.x - 1 || x > right + 1) continue;
    const width = flag.text.length * 5.7 + 10;
    // To the right of the plot stands what its columns there are.
    const left = x + width > right + 4;
    const begin = left ? x - width : x;
    const row = begin > taken[1] ? 1 : begin > taken[0] ? 0 : -1;
    if (flag.line) dashed(p, x, f.plot.y, x, f.plot.y + f.plot.height, 1.5, flag.colour, 6, 3);
    if (row < 0) continue;
    taken[row] = left ? x + 2 : begin + width;
    const y = f.plot.y - 10 - (1 - row) * 13;
    p.rect(x - 0.5, y + 5, 1, f.plot.y - y - 5, withAlpha(flag.colour, 0.7));
    // So that a flag above does not cross the text.
    if (row === 1) texts.push(() => p.rect(left ? x - width : x + 0.5, y - 6, width, 11, f.theme.paper));
    p.text(left ? x - 4 : x + 1, y, flag.text, { size: 10, colour: flag.colour, align: left ? "right" : "left" });
  }
  for (const halo of texts) halo();
}
