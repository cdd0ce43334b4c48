// A panel's canvas: its size, its resolution, and the painter that draws on it.
//
// Dense shapes go through WebGL2 where a graphics card does it, else the page fills pixels itself (paint/raster.ts): WebGL2 by
// software takes longer. `page.painter` in the address chooses: auto, webgl, canvas.

import { css, type Colour } from "../colour";
import { h } from "../dom";
import type { Painter } from "../paint/painter";
import { rasterOf } from "../paint/raster";
import { drawTexts } from "../paint/texts";
import { glOf } from "../paint/webgl";
import { once } from "../run";
import { option, type State } from "../state";
import type { Theme } from "../theme";

const shared = once(glOf);

function glFor(state: State): ReturnType<typeof glOf> {
  const wanted = option(state, "page.painter", "auto");
  const gl = wanted === "canvas" ? null : shared();
  return gl === null || gl.lost() || (gl.software && wanted !== "webgl") ? null : gl;
}

export interface Surface {
  canvas: HTMLCanvasElement;
  resize(width: number, height: number): void;
  paint(theme: Theme, state: State, draw: (p: Painter) => void): void;
}

export function surfaceOf(label: string): Surface {
  const canvas = h("canvas", { role: "img", "aria-label": label, tabindex: 0 });
  let context: CanvasRenderingContext2D | null = null;
  let [width, height] = [0, 0];
  return {
    canvas,
    resize(w, hh) {
      [width, height] = [w, hh];
    },
    paint(theme, state, draw) {
      if (width < 1 || height < 1) return;
      const gl = glFor(state);
      context ??= canvas.getContext("2d", { alpha: false, willReadFrequently: gl === null });
      if (context === null) return;
      const ratio = Math.min(Math.max(window.devicePixelRatio, 1), 3);
      const [w, hh] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (canvas.width !== w || canvas.height !== hh) {
        canvas.width = w;
        canvas.height = hh;
        canvas.style.height = `${height}px`;
      }
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      if (gl === null) {
        filled(context, w, hh, ratio, theme.paper, draw);
        return;
      }
      context.fillStyle = css(theme.paper);
      context.fillRect(0, 0, width, height);
      const p = gl.painter(context, width, height, ratio);
      draw(p);
      p.flush();
    },
  };
}

// One memory for all pictures: they are drawn one after the other.
let memory = new ArrayBuffer(0);

function filled(context: CanvasRenderingContext2D, w: number, h: number, ratio: number, background: Colour, draw: (p: Painter) => void): void {
  if (memory.byteLength < w * h * 4) memory = new ArrayBuffer(w * h * 4);
  const raster = rasterOf(new Uint32Array(memory, 0, w * h), w, h, ratio, background);
  draw(raster);
  context.putImageData(new ImageData(new Uint8ClampedArray(memory, 0, w * h * 4), w, h), 0, 0);
  drawTexts(context, raster.texts);
}

// A picture apart from the panels, for a file or for the details.
export function picture(width: number, height: number, ratio: number, background: Colour, draw: (p: Painter) => void): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  if (context !== null) {
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    filled(context, canvas.width, canvas.height, ratio, background, draw);
  }
  return canvas;
}
