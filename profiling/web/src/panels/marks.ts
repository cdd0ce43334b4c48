// Shapes that several panels share: the grid of time, marks of submission's end, boxes around a plot.

import { withAlpha } from "../colour";
import { dashed, type Painter } from "../paint/painter";
import type { Run } from "../run";
import { timeAxis } from "../ticks";
import { scaleOf } from "../view";
import type { Frame } from "./panel";

export function background(p: Painter, f: Frame): void {
  p.rect(f.plot.x, f.plot.y, f.plot.width, f.plot.height, f.theme.plot);
}

export function timeGrid(p: Painter, f: Frame): void {
  const scale = scaleOf(f.window, f.plot);
  for (const { at } of timeAxis(f.window.from, f.window.to, f.plot.width / 110).ticks) {
    p.rect(Math.round(scale.x(at)), f.plot.y, 1, f.plot.height, f.theme.grid);
  }
}

// When the last task had been submitted and when it had ended; what lies after the run is shaded.
export function runMarks(p: Painter, f: Frame, run: Run): void {
  const scale = scaleOf(f.window, f.plot);
  const { y, height } = f.plot;
  const { submitted_ns, last_ns } = run.head;
  const end = scale.x(last_ns);
  const right = f.plot.x + f.plot.width;
  if (end < right) p.rect(Math.max(end, f.plot.x), y, right - Math.max(end, f.plot.x), height, withAlpha(f.theme.faint, 0.1));
  for (const at of [submitted_ns, last_ns]) {
    const x = scale.x(at);
    if (x >= f.plot.x && x <= right) dashed(p, x, y, x, y + height, 1, withAlpha(f.theme.muted, 0.55), 3, 3);
  }
}

export const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, Math.max(most - 1, 1))}…`;
