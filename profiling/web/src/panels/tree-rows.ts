// Which rows of the tree are drawn where: those that live in the window, as high as there is room, or bands of many rows.
//
// Takes lives and a height; gives a mapping of rows to pixels. Knows no colour.

import type { Numbers } from "../decode";
import type { Box, Window } from "../view";

export interface Rows {
  // Rows in view, from the top. In bands: all rows from first to last.
  shown: Uint32Array;
  height: number;
  top(row: number): number;
  rowAt(y: number): number | null;
  // Whether a row has at least about a pixel.
  single: boolean;
  first: number;
  last: number;
}

const LARGEST = 26;

export function alive(born: Numbers, died: Numbers, window: Window): Uint32Array {
  const out: number[] = [];
  for (let row = 0; row < born.length; row += 1) {
    if (born[row] < window.to && died[row] > window.from) out.push(row);
  }
  return Uint32Array.from(out);
}

export function fitted(born: Numbers, died: Numbers, window: Window, plot: Box, all: boolean): Rows {
  const count = born.length;
  const every = (): Uint32Array => Uint32Array.from({ length: count }, (_, row) => row);
  const living = all ? every() : alive(born, died, window);
  const single = living.length <= plot.height;
  if (single) {
    const height = Math.min(plot.height / Math.max(living.length, 1), LARGEST);
    const place = new Int32Array(count).fill(-1);
    living.forEach((row, k) => (place[row] = k));
    return {
      shown: living, height, single,
      first: living[0] ?? 0, last: living[living.length - 1] ?? 0,
      top: (row) => (place[row] < 0 ? NaN : plot.y + place[row] * height),
      rowAt: (y) => living[Math.floor((y - plot.y) / height)] ?? null,
    };
  }
  // Too many for a pixel each: a stretch of neighbours, so that bands hold.
  const [first, last] = [living[0], living[living.length - 1]];
  const height = plot.height / (last - first + 1);
  return {
    shown: living, height, single, first, last,
    top: (row) => plot.y + (row - first) * height,
    rowAt(y) {
      const row = Math.floor((y - plot.y) / height) + first;
      return row >= first && row <= last ? row : null;
    },
  };
}

// The level whose bands are at least a pixel high and whose bins are as fine as the steps that are asked for.
export function levelOf<L extends { each: number; bins: number }>(levels: L[], rows: Rows, span: number, step_ns: number): L | null {
  if (levels.length === 0) return null;
  const one = rows.single ? 1 : 1 / rows.height;
  const least = Math.min(...levels.map((level) => level.each));
  // With rows of their own only a level that has rows of its own says what is in which.
  const fitting = levels.filter((level) => (rows.single ? level.each === least : level.each >= one * 0.75));
  const usable = fitting.length > 0 ? fitting : levels.filter((level) => level.each === Math.max(...levels.map((l) => l.each)));
  const each = Math.min(...usable.map((level) => level.each));
  const ofBand = usable.filter((level) => level.each === each || !rows.single).sort((a, b) => b.bins - a.bins);
  return ofBand.find((level) => span / level.bins >= step_ns * 0.999) ?? ofBand[ofBand.length - 1] ?? null;
}
