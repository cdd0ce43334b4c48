// The strip at the top: the whole run in small, with the window that is shown as a brush.
//
// Takes the busy part of each moment; dragging moves the window, its edges widen it, beside it a new one is drawn.

import { withAlpha } from "../colour";
import { outline, type Painter } from "../paint/painter";
import type { Frame } from "../panels/panel";
import type { Run } from "../run";
import { clamped, scaleOf, type Window } from "../view";

// How many tasks run, by part of the time axis: from the tasks themselves, in one pass.
export function busy(run: Run, parts: number, span: number): Float64Array {
  const { start, duration, count } = run.tasks;
  const out = new Float64Array(parts);
  const width = Math.max(span, 1) / parts;
  // As a slope at both ends, so that a long task costs no more than a short one.
  const slope = new Float64Array(parts + 2);
  const full = new Float64Array(parts + 2);
  for (let row = 0; row < count; row += 1) {
    const [a, b] = [start[row] / width, (start[row] + duration[row]) / width];
    const [first, last] = [Math.min(Math.floor(a), parts - 1), Math.min(Math.floor(b), parts - 1)];
    if (first === last) slope[first] += b - a;
    else {
      slope[first] += first + 1 - a;
      slope[last] += Math.min(b, parts) - last;
      full[first + 1] += 1;
      full[last] -= 1;
    }
  }
  let running = 0;
  for (let k = 0; k < parts; k += 1) {
    running += full[k];
    out[k] = (running + slope[k]) / Math.max(run.head.workers.length, 1);
  }
  return out;
}

export const OVERVIEW_PARTS = 2048;

export function drawOverview(p: Painter, f: Frame, curves: Float64Array[]): void {
  const { plot, theme } = f;
  const whole = scaleOf({ from: 0, to: f.span }, plot);
  p.rect(plot.x, plot.y, plot.width, plot.height, theme.plot);
  const each = plot.height / curves.length;
  curves.forEach((curve, k) => {
    const bottom = plot.y + (k + 1) * each;
    for (let x = 0; x < plot.width; x += 1) {
      const [first, end] = [x, x + 1].map((at) => Math.floor((at / plot.width) * curve.length));
      let most = 0;
      for (let at = first; at < Math.max(end, first + 1); at += 1) most = Math.max(most, curve[at] ?? 0);
      const height = Math.min(most, 1) * (each - 2);
      p.rect(plot.x + x, bottom - height, 1, height, withAlpha(theme.muted, theme.dark ? 0.7 : 0.45));
    }
  });
  const [left, right] = [whole.x(f.window.from), whole.x(f.window.to)];
  if (f.window.to - f.window.from < f.span * 0.9999) {
    const veil = withAlpha(theme.paper, 0.72);
    p.rect(plot.x, plot.y, left - plot.x, plot.height, veil);
    p.rect(right, plot.y, plot.x + plot.width - right, plot.height, veil);
    outline(p, { x: left - 1, y: plot.y, width: Math.max(right - left + 2, 4), height: plot.height }, 1.5, theme.accent);
  }
  p.text(plot.x - 8, plot.y + plot.height / 2, "whole run", { size: 11, colour: theme.faint, align: "right" });
}

export type Grip = "left" | "right" | "window" | "new";

export function gripAt(x: number, f: Frame, reach: number): Grip {
  const whole = scaleOf({ from: 0, to: f.span }, f.plot);
  const [left, right] = [whole.x(f.window.from), whole.x(f.window.to)];
  if (f.window.to - f.window.from >= f.span * 0.9999) return "new";
  if (Math.abs(x - left) <= reach && x <= (left + right) / 2) return "left";
  if (Math.abs(x - right) <= reach) return "right";
  return x > left && x < right ? "window" : "new";
}

export function dragged(grip: Grip, from_x: number, x: number, before: Window, f: Frame): Window {
  const whole = scaleOf({ from: 0, to: f.span }, f.plot);
  const [a, b] = [whole.ns(from_x), whole.ns(x)];
  switch (grip) {
    case "left":
      return clamped({ from: Math.min(Math.max(b, 0), before.to - 1), to: before.to }, f.span);
    case "right":
      return clamped({ from: before.from, to: Math.max(Math.min(b, f.span), before.from + 1) }, f.span);
    case "window":
      return clamped({ from: before.from + b - a, to: before.to + b - a }, f.span);
    case "new":
      return clamped({ from: Math.max(Math.min(a, b), 0), to: Math.min(Math.max(a, b), f.span) }, f.span);
  }
}
