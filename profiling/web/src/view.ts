// The window of time that is shown, and its mapping to pixels. All in doubles; nanoseconds on one side, CSS pixels on the other.

export interface Window {
  from: number;
  to: number;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

// Less than this cannot be seen: clocks count nanoseconds.
export const LEAST_NS = 20;

export function clamped(window: Window, span: number): Window {
  const most = Math.max(span, LEAST_NS);
  const width = Math.min(Math.max(window.to - window.from, LEAST_NS), most);
  if (!Number.isFinite(width)) return { from: 0, to: most };
  const from = Math.min(Math.max(window.from, 0), most - width);
  return { from, to: from + width };
}

// The time at `at` stays where it is; factor 2 shows half of the time.
export function zoomed(window: Window, at: number, factor: number, span: number): Window {
  const width = (window.to - window.from) / factor;
  const part = (at - window.from) / (window.to - window.from);
  // Near the limit the width is clamped first, so that the point under the pointer still does not move.
  const kept = Math.min(Math.max(width, LEAST_NS), Math.max(span, LEAST_NS));
  return clamped({ from: at - part * kept, to: at + (1 - part) * kept }, span);
}

export const panned = (window: Window, by: number, span: number): Window =>
  clamped({ from: window.from + by, to: window.to + by }, span);

// Around an interval, with some room at both sides.
export function around(from: number, to: number, span: number, room = 0.15): Window {
  const pad = Math.max((to - from) * room, LEAST_NS);
  return clamped({ from: from - pad, to: to + pad }, span);
}

export interface Scale {
  x(ns: number): number;
  ns(x: number): number;
  perPixel: number;
  left: number;
  right: number;
}

// Relative to the window's begin before it is multiplied: that keeps nanoseconds apart in a run of hours.
export function scaleOf(window: Window, plot: Box): Scale {
  const perPixel = (window.to - window.from) / plot.width;
  const right = plot.x + plot.width;
  return {
    x: (ns) => plot.x + (ns - window.from) / perPixel,
    ns: (x) => window.from + (x - plot.x) * perPixel,
    perPixel,
    left: plot.x,
    right,
  };
}

export const inside = (box: Box, x: number, y: number): boolean =>
  x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
