// A plane with a zoom of its own, for panels without a time axis: what part of it is shown, and its mapping to pixels.
//
// Coordinates of the plane are doubles from 0 to 1 in both directions, y upwards.

import type { Box } from "../view";
import type { Frame, OwnZoom } from "./panel";

export interface Plane {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

export interface PlaneZoom extends OwnZoom {
  plane(): Plane;
}

const MOST = 400;

export function planeZoom(): PlaneZoom {
  let shown: Plane = { x0: 0, x1: 1, y0: 0, y1: 1 };
  const axis = (low: number, high: number): [number, number] => {
    const width = Math.min(Math.max(high - low, 1 / MOST), 1);
    const from = Math.min(Math.max(low, 0), 1 - width);
    return [from, from + width];
  };
  const set = (x: [number, number], y: [number, number]): void => {
    shown = { x0: x[0], x1: x[1], y0: y[0], y1: y[1] };
  };
  return {
    plane: () => shown,
    zoom(x, y, factor, f) {
      const [px, py] = fromPixels(shown, f.plot, x, y);
      const f2 = 1 / factor;
      set(
        axis(px - (px - shown.x0) * f2, px + (shown.x1 - px) * f2),
        axis(py - (py - shown.y0) * f2, py + (shown.y1 - py) * f2),
      );
    },
    pan(dx, dy, f: Frame) {
      const mx = (-dx / f.plot.width) * (shown.x1 - shown.x0);
      const my = (dy / f.plot.height) * (shown.y1 - shown.y0);
      set(axis(shown.x0 + mx, shown.x1 + mx), axis(shown.y0 + my, shown.y1 + my));
    },
    reset: () => set([0, 1], [0, 1]),
    zoomed: () => shown.x1 - shown.x0 < 0.9999 || shown.y1 - shown.y0 < 0.9999,
  };
}

export function fromPixels(plane: Plane, plot: Box, x: number, y: number): [number, number] {
  return [
    plane.x0 + ((x - plot.x) / plot.width) * (plane.x1 - plane.x0),
    plane.y1 - ((y - plot.y) / plot.height) * (plane.y1 - plane.y0),
  ];
}

export function toPixels(plane: Plane, plot: Box, x: number, y: number): [number, number] {
  return [
    plot.x + ((x - plane.x0) / (plane.x1 - plane.x0)) * plot.width,
    plot.y + ((plane.y1 - y) / (plane.y1 - plane.y0)) * plot.height,
  ];
}
