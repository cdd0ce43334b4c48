// The painter that fills pixels itself: where WebGL2 is missing or done by software, and for files.
//
// Tens of thousands of small shapes a picture are cheap as numbers in an array, and dear as calls of a 2D canvas. The background is
// opaque, so every pixel is; a shape counts by the part of the pixel that it covers, as on WebGL2.

import { channels, type Colour } from "../colour";
import type { Box } from "../view";
import type { Painter, QueuedText } from "./painter";

export interface Raster extends Painter {
  // 0xAABBGGRR: the order of bytes in an image, on the little-endian machines that browsers run on.
  pixels: Uint32Array;
  width: number;
  height: number;
  texts: QueuedText[];
}

export function rasterOf(pixels: Uint32Array, width: number, height: number, ratio: number, background: Colour): Raster {
  const [r, g, b] = channels(background);
  pixels.fill(packed(r, g, b));
  const texts: QueuedText[] = [];
  let clip: Box | null = null;
  // In pixels of the device, whole ones.
  let [left, top, right, bottom] = [0, 0, width, height];

  const blend = (at: number, red: number, green: number, blue: number, alpha: number): void => {
    const under = pixels[at];
    const rest = 256 - alpha;
    const sr = (red * alpha + (under & 255) * rest) >> 8;
    const sg = (green * alpha + ((under >> 8) & 255) * rest) >> 8;
    const sb = (blue * alpha + ((under >> 16) & 255) * rest) >> 8;
    pixels[at] = packed(sr, sg, sb);
  };

  // Device pixels; alpha of 256 is opaque.
  const fill = (x0: number, y0: number, x1: number, y1: number, colour: Colour): void => {
    const [a, c] = [Math.max(x0, left), Math.min(x1, right)];
    const [e, d] = [Math.max(y0, top), Math.min(y1, bottom)];
    if (!(c > a && d > e)) return;
    const [red, green, blue, opacity] = channels(colour);
    const alpha = opacity + (opacity >> 7);
    const solid = packed(red, green, blue);
    const first = Math.floor(a);
    const last = Math.ceil(c) - 1;
    const leftPart = Math.min(first + 1, c) - a;
    const rightPart = last > first ? c - last : 0;
    for (let y = Math.floor(e); y < d; y += 1) {
      const part = (Math.min(y + 1, d) - Math.max(y, e)) * alpha;
      const row = y * width;
      if (part > 255) {
        // Whole pixels of an opaque colour need no arithmetic; a call pays for long rows only.
        if (leftPart === 1) pixels[row + first] = solid;
        else blend(row + first, red, green, blue, part * leftPart);
        if (last - first > 24) pixels.fill(solid, row + first + 1, row + last);
        else for (let x = row + first + 1; x < row + last; x += 1) pixels[x] = solid;
        if (rightPart === 1) pixels[row + last] = solid;
        else if (rightPart > 0) blend(row + last, red, green, blue, part * rightPart);
        continue;
      }
      for (let x = first; x <= last; x += 1) blend(row + x, red, green, blue, x === first ? part * leftPart : x === last ? part * rightPart : part);
    }
  };

  // Along its longer side a pixel at a time, with the covered part of each pixel across.
  const line = (x0: number, y0: number, x1: number, y1: number, thick: number, colour: Colour): void => {
    const flat = Math.abs(x1 - x0) >= Math.abs(y1 - y0);
    let [u0, v0, u1, v1] = flat ? [x0, y0, x1, y1] : [y0, x0, y1, x1];
    if (u0 > u1) [u0, v0, u1, v1] = [u1, v1, u0, v0];
    const slope = u1 > u0 ? (v1 - v0) / (u1 - u0) : 0;
    const half = 0.5 * thick * Math.sqrt(1 + slope * slope);
    const [low, high] = flat ? [left, right] : [top, bottom];
    const [across0, across1] = flat ? [top, bottom] : [left, right];
    const [red, green, blue, opacity] = channels(colour);
    const alpha = opacity + (opacity >> 7);
    for (let u = Math.max(Math.floor(u0), low); u < Math.min(u1, high); u += 1) {
      const along = Math.min(u + 1, u1) - Math.max(u, u0);
      const middle = v0 + ((Math.max(u, u0) + Math.min(u + 1, u1)) / 2 - u0) * slope;
      for (let v = Math.max(Math.floor(middle - half), across0); v < Math.min(middle + half, across1); v += 1) {
        const part = Math.min(v + 1, middle + half) - Math.max(v, middle - half);
        blend(flat ? v * width + u : u * width + v, red, green, blue, part * along * alpha);
      }
    }
  };

  const dot = (x: number, y: number, radius: number, colour: Colour): void => {
    const [red, green, blue, opacity] = channels(colour);
    const alpha = opacity + (opacity >> 7);
    const reach = radius + 0.5;
    for (let py = Math.max(Math.floor(y - reach), top); py < Math.min(y + reach, bottom); py += 1) {
      for (let px = Math.max(Math.floor(x - reach), left); px < Math.min(x + reach, right); px += 1) {
        const part = reach - Math.hypot(px + 0.5 - x, py + 0.5 - y);
        if (part > 0) blend(py * width + px, red, green, blue, Math.min(part, 1) * alpha);
      }
    }
  };

  return {
    pixels, width, height, texts,
    rect: (x, y, w, h, colour) => fill(x * ratio, y * ratio, (x + w) * ratio, (y + h) * ratio, colour),
    line: (x0, y0, x1, y1, w, colour) => line(x0 * ratio, y0 * ratio, x1 * ratio, y1 * ratio, w * ratio, colour),
    dot: (x, y, radius, colour) => dot(x * ratio, y * ratio, radius * ratio, colour),
    text: (x, y, text, style) => void texts.push({ x, y, text, style, clip }),
    clip(box) {
      clip = box;
      const { x, y, width: w, height: h } = box ?? { x: 0, y: 0, width: width / ratio, height: height / ratio };
      [left, right] = [Math.max(Math.round(x * ratio), 0), Math.min(Math.round((x + w) * ratio), width)];
      [top, bottom] = [Math.max(Math.round(y * ratio), 0), Math.min(Math.round((y + h) * ratio), height)];
    },
    flush: () => undefined,
  };
}

const packed = (r: number, g: number, b: number): number => (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
