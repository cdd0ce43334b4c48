// What is in view is found as by looking at every row; the level of detail has bins of a pixel; thinning loses no pixel.

import { describe, expect, test } from "vitest";
import { levelFor, lowerBound, rowsInView, thinned } from "../src/lod";
import { fitted, levelOf } from "../src/panels/tree-rows";
import { random } from "./random";

function lane(seed: number, count: number): { start: Float64Array; duration: Float64Array; end: number } {
  const r = random(seed);
  const start = new Float64Array(count);
  const duration = new Float64Array(count);
  let at = 0;
  for (let k = 0; k < count; k += 1) {
    at += Math.floor(100 * r.next() ** 3);
    start[k] = at;
    duration[k] = Math.floor(1000 * r.next() ** 4);
    at += duration[k];
  }
  return { start, duration, end: at };
}

test("the first that is not less", () => {
  const values = Uint32Array.from([1, 3, 3, 8]);
  expect([0, 1, 2, 3, 4, 8, 9].map((v) => lowerBound(values, v, 0, 4))).toEqual([0, 0, 1, 1, 3, 3, 4]);
  expect(lowerBound(values, 3, 2, 4)).toBe(2);
});

describe("rows in view", () => {
  test("are those that overlap the window", () => {
    const r = random(5);
    for (let round = 0; round < 300; round += 1) {
      const { start, duration, end } = lane(round, 1 + r.below(200));
      const from = r.next() * end;
      const window = { from, to: from + 1 + r.next() * (end - from) };
      const expected = Array.from(start.keys()).filter((k) => start[k] < window.to && start[k] + duration[k] > window.from);
      const [first, last] = rowsInView(start, duration, 0, start.length, window);
      const found = Array.from({ length: last - first }, (_, k) => first + k).filter((k) => start[k] + duration[k] > window.from);
      expect(found).toEqual(expected);
    }
  });
});

describe("thinning", () => {
  test("every pixel that has a row keeps one, and few are drawn", () => {
    for (let round = 0; round < 60; round += 1) {
      const { start, duration, end } = lane(round, 3000);
      const perPixel = end / (20 + 10 * round);
      const drawn: number[] = [];
      const count = thinned(start, duration, 0, start.length, perPixel, (row) => drawn.push(row));
      expect(count).toBe(drawn.length);
      const kept = new Set(drawn);
      // Each row has a drawn one within a pixel to the left that reaches near it.
      let k = 0;
      for (let row = 0; row < start.length; row += 1) {
        while (k + 1 < drawn.length && drawn[k + 1] <= row) k += 1;
        const at = drawn[k];
        const next = drawn[k + 1] ?? at;
        const away = Math.min(start[row] - Math.max(start[at], start[at] + duration[at] - perPixel), Math.abs(start[next] - start[row]));
        if (away > 2 * perPixel) throw new Error(`row ${row} is ${away / perPixel} pixels from a drawn one`);
      }
      expect(drawn.length).toBeLessThanOrEqual(2 * (end / perPixel) + 3);
      // Long rows are never left out.
      for (let row = 0; row < start.length; row += 1) if (duration[row] >= 2 * perPixel && !kept.has(row)) throw new Error(`row ${row} is long and left out`);
    }
  });
});

describe("levels", () => {
  const levels = [4096, 512, 2048, 1024].map((bins) => ({ bins, each: 1 }));
  test("the finest with bins of a pixel; the finest of all in a zoom; the coarsest where all are finer", () => {
    const span = 4096;
    expect(levelFor(levels, span, 1)?.bins).toBe(4096);
    expect(levelFor(levels, span, 1.01)?.bins).toBe(2048);
    expect(levelFor(levels, span, 0.01)?.bins).toBe(4096);
    expect(levelFor(levels, span, 100)?.bins).toBe(512);
    expect(levelFor([], span, 1)).toBeNull();
  });
});

describe("rows of the tree", () => {
  const plot = { x: 0, y: 10, width: 800, height: 300 };
  const born = Float64Array.from({ length: 1000 }, (_, k) => k * 10);
  const died = born.map((b, k) => b + 50 + (k % 7) * 10);

  test("those alive share the height; others have no place", () => {
    const window = { from: 2000, to: 2500 };
    const rows = fitted(born, died, window, plot, false);
    const expected = Array.from(born.keys()).filter((k) => born[k] < 2500 && died[k] > 2000);
    expect(Array.from(rows.shown)).toEqual(expected);
    expect(rows.single).toBe(true);
    expected.forEach((row) => expect(rows.rowAt(rows.top(row) + rows.height / 2)).toBe(row));
    expect(rows.top(0)).toBeNaN();
    expect(rows.rowAt(plot.y - 5)).toBeNull();
    const bottom = rows.top(expected[expected.length - 1]) + rows.height;
    expect(bottom).toBeLessThanOrEqual(plot.y + plot.height + 1e-6);
  });

  test("too many become a stretch of neighbours in bands", () => {
    const rows = fitted(born, died, { from: 0, to: 1e5 }, plot, false);
    expect(rows.single).toBe(false);
    expect([rows.first, rows.last]).toEqual([0, 999]);
    expect(rows.rowAt(rows.top(500) + rows.height / 2)).toBe(500);
    const levels = [1, 2, 4, 8].flatMap((each) => [{ each, bins: 1024 }, { each, bins: 512 }]);
    const level = levelOf(levels, rows, 1e5, 1e5 / 800);
    expect(level).toEqual({ each: 4, bins: 512 });
  });

  test("an empty window has no rows", () => {
    expect(fitted(born, died, { from: 1e6, to: 2e6 }, plot, false).shown.length).toBe(0);
  });
});
