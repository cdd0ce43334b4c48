// What lies under the pointer in the Gantt chart: a task, of several the nearest and a slow one before others, else one that the
// worker did parts of, else a state.

import { brief } from "../describe";
import { rowsInView } from "../lod";
import type { Run } from "../run";
import { scaleOf } from "../view";
import type { Frame, Hit } from "./panel";
import { stateAt, type Intervals } from "./states";

export function hitAt(
  run: Run, only: boolean, states: Intervals | null, helping: Intervals | null, x: number, y: number, f: Frame,
): Hit | null {
  const { plot } = f;
  if (x < plot.x || x > plot.x + plot.width || y < plot.y || y >= plot.y + plot.height) return null;
  const { start, duration, lane, mark } = run.tasks;
  const k = Math.floor(((y - plot.y) / plot.height) * run.head.workers.length);
  const scale = scaleOf(f.window, plot);
  const at = scale.ns(x);
  const worker = run.head.workers[k];
  if (worker === undefined) return null;
  if (!only) {
    const reach = scale.perPixel * 2;
    const near = { from: at - reach, to: at + reach };
    const [first, end] = rowsInView(start, duration, lane[k], lane[k + 1], near);
    let best: number | null = null;
    for (let row = first; row < Math.min(end, first + 5000); row += 1) {
      const away = Math.max(start[row] - at, at - start[row] - duration[row], 0);
      const found = best === null ? Infinity : Math.max(start[best] - at, at - start[best] - duration[best], 0);
      // An anomaly is wider on the screen than it was long.
      const slower = (mark[row] & 1) - (best === null ? 0 : mark[best] & 1);
      if (slower > 0 || (slower === 0 && away < found)) best = row;
    }
    if (best !== null) {
      const facts = brief(run, best);
      return { ...facts, rows: [...facts.rows, ["worker", worker.name]], select: { kind: "task", run: run.index, id: run.tasks.id[best] } };
    }
  }
  const found = (intervals: Intervals | null): string | null =>
    intervals === null ? null : stateAt(intervals, k, at, scale.perPixel);
  const title = (only ? null : found(helping)) ?? found(states) ?? "no task";
  return { title, rows: [["worker", worker.name]] };
}
