// Which rows of a table are in a window, and which level of detail is drawn.

import type { Numbers } from "./decode";
import type { Window } from "./view";

// As many tasks as are drawn one by one.
export const MOST_EXACT = 30_000;

// The first index in [low, high) whose value is at least `value`; `high` if there is none.
export function lowerBound(values: Numbers, value: number, low: number, high: number): number {
  let lo = low;
  let hi = high;
  while (lo < hi) {
    const middle = (lo + hi) >>> 1;
    if (values[middle] < value) lo = middle + 1;
    else hi = middle;
  }
  return lo;
}

// Rows [first, end) of a lane that touch the window. Rows are sorted by start, and follow each other.
export function rowsInView(
  start: Numbers, duration: Numbers, low: number, high: number, window: Window,
): [number, number] {
  let first = lowerBound(start, window.from, low, high);
  while (first > low && start[first - 1] + duration[first - 1] > window.from) first -= 1;
  const end = lowerBound(start, window.to, first, high);
  return [first, end];
}

export const binWidth = (span: number, bins: number): number => span / bins;

// The finest level whose bins are at least `least` pixels wide; the finest of all in a deep zoom; the coarsest where none is.
export function levelFor<L extends { bins: number }>(levels: L[], span: number, perPixel: number, least = 1): L | null {
  const byBins = [...levels].sort((a, b) => b.bins - a.bins);
  const fitting = byBins.find((level) => binWidth(span, level.bins) >= least * perPixel * (1 - 1e-9));
  return fitting ?? byBins[byBins.length - 1] ?? null;
}

// Rows of a lane thinned to what can be seen: one that begins in the same pixel as the one before is left out, unless it
// reaches further than a pixel. Calls `each` with row, and gives how many were drawn.
export function thinned(
  start: Numbers, duration: Numbers, first: number, end: number, perPixel: number, each: (row: number) => void,
): number {
  let drawn = 0;
  let row = first;
  while (row < end) {
    each(row);
    drawn += 1;
    const next = start[row] + Math.max(duration[row], 0);
    const limit = Math.max(next, start[row] + perPixel);
    // Steps are cheap where rows are wide, a search where many share a pixel.
    let k = row + 1;
    let steps = 0;
    while (k < end && steps < 8 && start[k] + duration[k] < limit && start[k] < limit) {
      k += 1;
      steps += 1;
    }
    if (steps === 8) {
      k = lowerBound(start, limit, k, end);
      // The last that begins in this pixel may reach beyond it.
      if (k - 1 > row && start[k - 1] + duration[k - 1] >= limit) k -= 1;
    }
    row = k;
  }
  return drawn;
}
