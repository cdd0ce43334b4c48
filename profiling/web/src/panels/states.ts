// What threads did without a task: intervals of some kind on lanes, drawn below the tasks or alone.
//
// Takes four columns sorted by lane, then by start; thins them to what a screen can show.

import { mix } from "../colour";
import type { Columns, Numbers } from "../decode";
import type { IntervalColumns, Kind } from "../format";
import { lowerBound, rowsInView, thinned } from "../lod";
import { duration as timeText } from "../number";
import type { Painter } from "../paint/painter";
import { scaleOf } from "../view";
import type { Frame } from "./panel";

export interface Intervals {
  kinds: Kind[];
  kind: Numbers;
  start: Numbers;
  duration: Numbers;
  // Rows of each lane, as of tasks.lane.
  lanes: number[];
}

export function statesOf(named: IntervalColumns, columns: Columns, count: number): Intervals {
  const lane = columns.get(named.lane);
  const lanes: number[] = [];
  for (let k = 0; k <= count; k += 1) lanes.push(lowerBound(lane, k, 0, lane.length));
  return { kinds: named.kinds, kind: columns.get(named.kind), start: columns.get(named.start), duration: columns.get(named.duration), lanes };
}

export function drawStates(
  p: Painter, f: Frame, states: Intervals, of: { top(lane: number): number; height: number }, strength: number, least = 0.3,
): void {
  const scale = scaleOf(f.window, f.plot);
  const colours = states.kinds.map((kind) => mix(f.theme.plot, f.theme.data(kind.colour), strength));
  const { start, duration, kind, lanes } = states;
  for (let lane = 0; lane + 1 < lanes.length; lane += 1) {
    const [first, end] = rowsInView(start, duration, lanes[lane], lanes[lane + 1], f.window);
    thinned(start, duration, first, end, scale.perPixel, (row) => {
      const x = Math.max(scale.x(start[row]), scale.left - 2);
      const right = Math.min(scale.x(start[row] + duration[row]), scale.right + 2);
      p.rect(x, of.top(lane), Math.max(right - x, least), of.height, colours[kind[row]] ?? f.theme.faint);
    });
  }
}

export function intervalAt(states: Intervals, lane: number, at: number, perPixel: number): number | null {
  const { start, duration, lanes } = states;
  const near = { from: at - 2 * perPixel, to: at + 2 * perPixel };
  const [first, end] = rowsInView(start, duration, lanes[lane], lanes[lane + 1], near);
  return first < end ? first : null;
}

export function stateAt(states: Intervals, lane: number, at: number, perPixel: number): string | null {
  const row = intervalAt(states, lane, at, perPixel);
  return row === null ? null : `${states.kinds[states.kind[row]]?.name ?? "?"}, ${timeText(states.duration[row])}`;
}
