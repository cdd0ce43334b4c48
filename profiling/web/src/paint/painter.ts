// What panels draw with: a few shapes, the same on WebGL2, on Canvas2D and in SVG. Coordinates are CSS pixels of the panel.
//
// Shapes come in the order of painting; texts lie above all shapes of a panel. `flush` ends a picture.

import type { Colour } from "../colour";
import type { Box } from "../view";

export interface TextStyle {
  size?: number;
  colour: Colour;
  align?: "left" | "center" | "right";
  bold?: boolean;
  // Counter-clockwise by 90 degrees, around its place.
  upright?: boolean;
}

export interface Painter {
  rect(x: number, y: number, width: number, height: number, colour: Colour): void;
  line(x0: number, y0: number, x1: number, y1: number, width: number, colour: Colour): void;
  dot(x: number, y: number, radius: number, colour: Colour): void;
  // Its middle height is y.
  text(x: number, y: number, text: string, style: TextStyle): void;
  // What follows is drawn inside of the box only; null: everywhere.
  clip(box: Box | null): void;
  flush(): void;
}

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif';

export const font = (style: TextStyle): string => `${style.bold === true ? "600 " : ""}${style.size ?? 11}px ${FONT}`;

export interface QueuedText {
  x: number;
  y: number;
  text: string;
  style: TextStyle;
  clip: Box | null;
}

export function outline(p: Painter, box: Box, width: number, colour: Colour): void {
  p.rect(box.x, box.y, box.width, width, colour);
  p.rect(box.x, box.y + box.height - width, box.width, width, colour);
  p.rect(box.x, box.y + width, width, box.height - 2 * width, colour);
  p.rect(box.x + box.width - width, box.y + width, width, box.height - 2 * width, colour);
}

export function dashed(
  p: Painter, x0: number, y0: number, x1: number, y1: number, width: number, colour: Colour, dash = 5, gap = 4,
): void {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (!(length > 0)) return;
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  for (let at = 0; at < length && at < 20_000; at += dash + gap) {
    const end = Math.min(at + dash, length);
    p.line(x0 + ux * at, y0 + uy * at, x0 + ux * end, y0 + uy * end, width, colour);
  }
}

export function arrow(
  p: Painter, x0: number, y0: number, x1: number, y1: number, width: number, colour: Colour, head = 5,
): void {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (!(length > 1)) return;
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  p.line(x0, y0, x1, y1, width, colour);
  for (const side of [-1, 1]) {
    p.line(x1, y1, x1 - head * ux + side * head * 0.5 * uy, y1 - head * uy - side * head * 0.5 * ux, width, colour);
  }
}
