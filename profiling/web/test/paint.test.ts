// Painters: covered pixels by hand and against a fine grid of samples; SVG that parses and says the same shapes.

import { describe, expect, test } from "vitest";
import { channels, colour, css, luminance, mix, onDark, ramp, withAlpha } from "../src/colour";
import { arrow, dashed, outline } from "../src/paint/painter";
import { rasterOf, type Raster } from "../src/paint/raster";
import { svgPainter } from "../src/paint/svg";
import { DARK, LIGHT } from "../src/theme";
import { parse } from "./xml";
import { random } from "./random";

const WHITE = 0xffffffff;
const BLACK = 0x000000ff;
const raster = (width: number, height: number, ratio = 1): Raster => rasterOf(new Uint32Array(width * height), width, height, ratio, WHITE);
// How much of a pixel is black, 0 to 1.
const ink = (r: Raster, x: number, y: number): number => 1 - (r.pixels[y * r.width + x] & 255) / 255;
const total = (r: Raster): number => r.pixels.reduce((sum, pixel) => sum + 1 - (pixel & 255) / 255, 0);

describe("pixels", () => {
  test("a rectangle covers parts of pixels at its edges", () => {
    const r = raster(6, 4);
    r.rect(1.25, 1.5, 2.5, 1, BLACK);
    const row = (y: number): number[] => [0, 1, 2, 3, 4, 5].map((x) => Math.round(ink(r, x, y) * 100) / 100);
    expect(row(0)).toEqual([0, 0, 0, 0, 0, 0]);
    row(1).forEach((v, x) => expect(v).toBeCloseTo([0, 0.375, 0.5, 0.375, 0, 0][x], 1));
    row(2).forEach((v, x) => expect(v).toBeCloseTo([0, 0.375, 0.5, 0.375, 0, 0][x], 1));
    expect(row(3)).toEqual([0, 0, 0, 0, 0, 0]);
  });

  test("random rectangles cover their area, cut at the picture and the clip", () => {
    const rnd = random(21);
    for (let round = 0; round < 400; round += 1) {
      const ratio = [1, 1.5, 2][rnd.below(3)];
      const r = raster(40, 30, ratio);
      const clip = rnd.next() < 0.5 ? { x: 4, y: 3, width: 6, height: 5 } : null;
      r.clip(clip);
      const [x, y, w, h] = [rnd.next() * 50 - 10, rnd.next() * 40 - 10, rnd.next() * 30, rnd.next() * 20];
      r.rect(x, y, w, h, BLACK);
      const box = clip === null ? [0, 0, 40, 30] : [4 * ratio, 3 * ratio, 10 * ratio, 8 * ratio].map(Math.round);
      const wide = Math.max(0, Math.min((x + w) * ratio, box[2]) - Math.max(x * ratio, box[0]));
      const high = Math.max(0, Math.min((y + h) * ratio, box[3]) - Math.max(y * ratio, box[1]));
      // A step of brightness at each pixel of the edge is lost at most.
      expect(Math.abs(total(r) - wide * high)).toBeLessThan(0.02 * (wide + high) + 0.02 * wide * high + 0.02);
    }
  });

  test("a transparent colour mixes, an opaque one replaces", () => {
    const r = raster(2, 1);
    r.rect(0, 0, 1, 1, 0x00000080);
    r.rect(1, 0, 1, 1, 0x123456ff);
    expect(ink(r, 0, 0)).toBeCloseTo(0.5, 1);
    expect(r.pixels[1]).toBe(0xff563412);
  });

  test("lines and dots cover what samples say", () => {
    const rnd = random(22);
    for (let round = 0; round < 60; round += 1) {
      const r = raster(40, 40);
      const [x0, y0, x1, y1] = Array.from({ length: 4 }, () => 6 + 28 * rnd.next());
      const wide = 1 + 2 * rnd.next();
      if (Math.hypot(x1 - x0, y1 - y0) < 4) continue;
      r.line(x0, y0, x1, y1, wide, BLACK);
      const length = Math.hypot(x1 - x0, y1 - y0);
      // Its ends are cut along the axis, not across: half a width of area at most.
      expect(Math.abs(total(r) - length * wide)).toBeLessThan(0.08 * length * wide + wide);
      const dots = raster(40, 40);
      dots.dot(x0, y0, wide * 2, BLACK);
      expect(Math.abs(total(dots) / (Math.PI * (wide * 2) ** 2) - 1)).toBeLessThan(0.12);
    }
  });

  test("nothing outside of the picture is touched", () => {
    const rnd = random(23);
    const pixels = new Uint32Array(64 * 3).fill(7);
    const r = rasterOf(pixels.subarray(64, 128), 8, 8, 1, WHITE);
    for (let round = 0; round < 2000; round += 1) {
      const [a, b, c, d] = Array.from({ length: 4 }, () => rnd.normal() * 20);
      r.rect(a, b, c, d, BLACK);
      r.line(a, b, c, d, 3 * rnd.next(), BLACK);
      r.dot(a, b, 5 * rnd.next(), BLACK);
    }
    r.rect(NaN, 0, 4, 4, BLACK);
    r.line(NaN, 0, 4, 4, 1, BLACK);
    expect(pixels.subarray(0, 64).every((v) => v === 7) && pixels.subarray(128).every((v) => v === 7)).toBe(true);
  });
});

describe("SVG", () => {
  test("parses, whatever the texts are, and has every shape", () => {
    const p = svgPainter(300, 200, WHITE, 'A <title> & "more" \u0001');
    p.rect(1, 2, 3, 4, 0x11223344);
    p.rect(1, 2, 0, 4, BLACK);
    p.clip({ x: 0, y: 0, width: 50, height: 50 });
    p.line(0, 0, 10, 10, 1, BLACK);
    p.dot(5, 5, 2, BLACK);
    p.text(5, 5, "</svg><script>&", { colour: BLACK, align: "center", bold: true, upright: true });
    p.clip(null);
    p.text(5, 15, "plain", { colour: BLACK });
    outline(p, { x: 0, y: 0, width: 10, height: 10 }, 1, BLACK);
    dashed(p, 0, 0, 90, 0, 1, BLACK);
    arrow(p, 0, 0, 0, 50, 1, BLACK);
    p.flush();
    const root = parse(p.svg());
    const all = (name: string): number => root.all(name).length;
    expect(root.name).toBe("svg");
    // Its background, one of two given (the other is empty), and four of the outline; the clip has one more.
    expect(all("rect")).toBe(1 + 1 + 4 + 1);
    expect(all("path")).toBe(1 + 10 + 3);
    expect(all("circle")).toBe(1);
    expect(root.all("text").map((text) => text.text)).toEqual(["</svg><script>&", "plain"]);
    expect(root.all("title")[0].text).toBe('A <title> & "more"  ');
    expect(root.all("rect")[2].attributes).toMatchObject({ fill: "#112233", "fill-opacity": "0.27" });
  });
});

describe("colours", () => {
  test("are read, mixed and written", () => {
    expect(channels(colour("#12abEF"))).toEqual([0x12, 0xab, 0xef, 255]);
    expect(colour("red")).toBe(0x888888ff);
    expect(css(0x0102037f)).toBe("rgba(1,2,3,0.498)");
    expect(mix(BLACK, WHITE, 0.5)).toBe(0x808080ff);
    expect(withAlpha(WHITE, 0)).toBe(0xffffff00);
    expect([0, 0.25, 0.5, 1, 2].map((at) => channels(ramp([BLACK, WHITE, BLACK], at))[0])).toEqual([0, 128, 255, 0, 0]);
  });

  test("every codelet's colour can be seen on a dark page", () => {
    for (const text of ["#882255", "#88ccee", "#cc6677", "#332288", "#ddcc77", "#117733", "#44aa99", "#999933", "#aa4499", "#000000"]) {
      const contrast = (luminance(DARK.data(text)) + 0.05) / (luminance(DARK.plot) + 0.05);
      expect(contrast).toBeGreaterThan(2.5);
      expect(onDark(onDark(colour(text)))).toBe(onDark(colour(text)));
    }
    expect((luminance(LIGHT.plot) + 0.05) / (luminance(LIGHT.muted) + 0.05)).toBeGreaterThan(4.5);
    expect((luminance(DARK.muted) + 0.05) / (luminance(DARK.plot) + 0.05)).toBeGreaterThan(4.5);
  });
});
