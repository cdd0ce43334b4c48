// A panel's canvas: its size, its resolution, and the painter that draws on it.
//
// Dense shapes go through WebGL2 where the browser has it and through Canvas2D where not; `page.painter` in the address chooses.

import { css } from "../colour";
import { h } from "../dom";
import { canvasPainter } from "../paint/canvas";
import type { Painter } from "../paint/painter";
import { glOf } from "../paint/webgl";
import { once } from "../run";
import { option, type State } from "../state";
import type { Theme } from "../theme";

const shared = once(glOf);

export interface Surface {
  canvas: HTMLCanvasElement;
  width(): number;
  resize(width: number, height: number): void;
  paint(theme: Theme, state: State, draw: (p: Painter) => void): void;
}

export function surfaceOf(label: string): Surface {
  const canvas = h("canvas", { role: "img", "aria-label": label, tabindex: 0 });
  const context = canvas.getContext("2d");
  let [width, height] = [0, 0];
  return {
    canvas,
    width: () => width,
    resize(w, hh) {
      [width, height] = [w, hh];
    },
    paint(theme, state, draw) {
      if (context === null || width < 1 || height < 1) return;
      const ratio = Math.min(Math.max(window.devicePixelRatio, 1), 3);
      const [w, hh] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (canvas.width !== w || canvas.height !== hh) {
        canvas.width = w;
        canvas.height = hh;
        canvas.style.height = `${height}px`;
      }
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.fillStyle = css(theme.paper);
      context.fillRect(0, 0, width, height);
      const gl = option(state, "page.painter", "auto") === "canvas" ? null : shared();
      const p = gl?.painter(context, width, height, ratio) ?? canvasPainter(context);
      draw(p);
      p.flush();
    },
  };
}

// A picture apart from the page, for a file: always by Canvas2D, so that it does not depend on a graphics card.
export function picture(width: number, height: number, ratio: number, background: number, draw: (p: Painter) => void): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  if (context !== null) {
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = css(background);
    context.fillRect(0, 0, width, height);
    const p = canvasPainter(context);
    draw(p);
    p.flush();
  }
  return canvas;
}
