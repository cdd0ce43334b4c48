// One curve of a chart and its value in any stretch of time: exact steps where there are some, else bins.

import type { Columns, Numbers } from "../decode";
import type { Series } from "../format";
import { lowerBound } from "../lod";

export interface Curve {
  series: Series;
  mean: Numbers;
  max: Numbers;
  time: Numbers | null;
  value: Numbers | null;
  span: number;
}

export function curveOf(series: Series, columns: Columns, span: number): Curve {
  return {
    series, span,
    mean: columns.get(series.bins.mean),
    max: columns.get(series.bins.max),
    time: series.steps === null ? null : columns.get(series.steps.time),
    value: series.steps === null ? null : columns.get(series.steps.value),
  };
}

// Steps in one pixel beyond which bins tell as much.
const MOST_STEPS = 24;

export function valueAt(curve: Curve, from: number, to: number): { mean: number; max: number } {
  const { time, value } = curve;
  if (to <= 0 || from >= curve.span) return { mean: 0, max: 0 };
  if (time !== null && value !== null) {
    const first = lowerBound(time, from, 0, time.length);
    const end = lowerBound(time, to, first, Math.min(time.length, first + MOST_STEPS + 1));
    if (end - first <= MOST_STEPS) return ofSteps(time, value, first, end, from, to);
  }
  return ofBins(curve, from, to);
}

// A step holds until the next one; before the first there is nothing.
function ofSteps(time: Numbers, value: Numbers, first: number, end: number, from: number, to: number): { mean: number; max: number } {
  let now = first === 0 ? 0 : value[first - 1];
  let at = from;
  let sum = 0;
  let max = now;
  for (let k = first; k < end; k += 1) {
    sum += now * (time[k] - at);
    at = time[k];
    now = value[k];
    max = Math.max(max, now);
  }
  sum += now * (to - at);
  return { mean: to > from ? sum / (to - from) : now, max };
}

function ofBins({ mean, max, span }: Curve, from: number, to: number): { mean: number; max: number } {
  const bins = mean.length;
  if (bins === 0) return { mean: 0, max: 0 };
  const first = Math.min(Math.max(Math.floor((from / span) * bins), 0), bins - 1);
  const last = Math.min(Math.max(Math.ceil((to / span) * bins) - 1, first), bins - 1);
  let sum = 0;
  let most = max[first];
  for (let k = first; k <= last; k += 1) {
    sum += mean[k];
    most = Math.max(most, max[k]);
  }
  return { mean: sum / (last - first + 1), max: most };
}

export function largest(curve: Curve): [number, number] {
  let low = 0;
  let high = 0;
  for (const value of curve.mean) low = Math.min(low, value);
  for (const value of curve.max) high = Math.max(high, value);
  return [low, high];
}

// The highest that curves reach on top of each other, as means over `each` bins: that is what a pixel shows.
export function stacked(curves: Curve[], each: number): number {
  const bins = Math.max(0, ...curves.map((curve) => curve.mean.length));
  let high = 0;
  let sum = 0;
  for (let k = 0; k < bins; k += 1) {
    for (const curve of curves) sum += curve.mean[k] ?? 0;
    if ((k + 1) % each === 0 || k + 1 === bins) {
      high = Math.max(high, sum / ((k % each) + 1));
      sum = 0;
    }
  }
  return high;
}
