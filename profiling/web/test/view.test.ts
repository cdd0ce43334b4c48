// Windows stay within the run, the point under the pointer stays where it is, nanoseconds stay apart; ticks are round and enough.

import { describe, expect, test } from "vitest";
import { duration, moment, quantity, si } from "../src/number";
import { logTicks, niceStep, ticks, timeAxis } from "../src/ticks";
import { around, clamped, LEAST_NS, panned, scaleOf, zoomed } from "../src/view";
import { random } from "./random";

const plot = { x: 118, y: 0, width: 1000, height: 100 };

describe("window", () => {
  test("random zooms and pans stay within the run", () => {
    const r = random(1);
    for (let round = 0; round < 200; round += 1) {
      const span = 10 ** (1 + 12 * r.next());
      let window = { from: 0, to: Math.max(span, LEAST_NS) };
      for (let k = 0; k < 60; k += 1) {
        const at = window.from + (window.to - window.from) * r.next();
        window = r.next() < 0.6 ? zoomed(window, at, 0.2 + 4 * r.next(), span) : panned(window, (r.next() - 0.5) * span, span);
        const width = window.to - window.from;
        expect(window.from).toBeGreaterThanOrEqual(0);
        expect(window.to).toBeLessThanOrEqual(Math.max(span, LEAST_NS) * (1 + 1e-12));
        expect(width).toBeGreaterThanOrEqual(LEAST_NS * (1 - 1e-3));
      }
    }
  });

  test("the time under the pointer does not move", () => {
    const r = random(2);
    const span = 3.6e12;
    for (let round = 0; round < 500; round += 1) {
      const width = span * 10 ** (-9 * r.next());
      const from = r.next() * (span - width);
      const window = { from, to: from + width };
      const x = plot.x + plot.width * (0.2 + 0.6 * r.next());
      const at = scaleOf(window, plot).ns(x);
      const next = zoomed(window, at, 1.7, span);
      expect(Math.abs(scaleOf(next, plot).x(at) - x)).toBeLessThan(1e-3 * plot.width + 0.01);
    }
  });

  test("neighbouring nanoseconds are apart an hour into a run", () => {
    const scale = scaleOf({ from: 3.6e12, to: 3.6e12 + 100 }, plot);
    expect(scale.x(3.6e12 + 51) - scale.x(3.6e12 + 50)).toBeCloseTo(10, 9);
  });

  test("nonsense becomes the whole run", () => {
    expect(clamped({ from: NaN, to: 4 }, 1000)).toEqual({ from: 0, to: 1000 });
    expect(clamped({ from: -50, to: 5000 }, 1000)).toEqual({ from: 0, to: 1000 });
    expect(around(100, 200, 1000, 0.5)).toEqual({ from: 50, to: 250 });
  });
});

describe("ticks", () => {
  test("steps are 1, 2 or 5 times a power of ten, and not too many", () => {
    const r = random(3);
    for (let round = 0; round < 500; round += 1) {
      const width = 10 ** (16 * r.next() - 4);
      const most = 2 + r.below(20);
      const step = niceStep(width, most);
      const lead = step / 10 ** Math.floor(Math.log10(step) + 1e-9);
      expect([1, 2, 5].some((f) => Math.abs(f - lead) < 1e-6)).toBe(true);
      expect(width / step).toBeLessThanOrEqual(most * (1 + 1e-6));
      expect(width / step).toBeGreaterThan(most / 2.6);
      const from = (r.next() - 0.5) * 100 * width;
      for (const value of ticks(from, from + width, most).values) {
        expect(value).toBeGreaterThanOrEqual(from - step * 1e-6);
        expect(value).toBeLessThanOrEqual(from + width + step * 1e-6);
      }
    }
  });

  test("labels of a time axis tell their marks apart at every zoom", () => {
    const r = random(4);
    for (let round = 0; round < 400; round += 1) {
      const width = 10 ** (1.4 + 11 * r.next());
      const from = r.next() * 1e12;
      const axis = timeAxis(from, from + width, 10);
      const labels = axis.ticks.map((tick) => tick.label);
      expect(new Set(labels).size).toBe(labels.length);
      expect(Math.max(0, ...labels.map((label) => label.length))).toBeLessThanOrEqual(13);
    }
    expect(timeAxis(0, 1e9, 5).ticks.map((tick) => tick.label)).toEqual(["0", "0.2\u202fs", "0.4\u202fs", "0.6\u202fs", "0.8\u202fs", "1.0\u202fs"]);
    expect(timeAxis(0, 1e9, 5).base).toBe("");
    expect(timeAxis(5e9 + 100, 5e9 + 200, 5).base).toBe("5\u202fs");
  });

  test("powers of ten", () => {
    expect(logTicks(0, Math.log(1e6), 12).map((tick) => tick.value)).toEqual([1, 10, 100, 1e3, 1e4, 1e5, 1e6]);
    expect(logTicks(Math.log(1.5), Math.log(30), 12).map((tick) => tick.value)).toEqual([2, 5, 10, 20]);
  });
});

test("numbers as people read them", () => {
  expect([0.4, 999, 1000, 1_234_567, 59_999_999_999].map((ns) => duration(ns))).toEqual(["0.4\u202fns", "999\u202fns", "1\u202fµs", "1.235\u202fms", "60\u202fs"]);
  expect(si(0)).toBe("0");
  expect(si(12_345, "B")).toBe("12.35\u202fkB");
  expect(si(999_999, "B")).toBe("1\u202fMB");
  expect(quantity(0.256, "part", false)).toBe("26\u202f%");
  expect(quantity(12, "tasks", false)).toBe("12 tasks");
  expect(moment(1_234_567_891, 1000)).toBe("1.234567891\u202fs");
});
