// The painter on a 2D canvas: where WebGL2 is missing, and for all texts.

import { css } from "../colour";
import type { Box } from "../view";
import { font, type Painter, type QueuedText } from "./painter";

export function canvasPainter(context: CanvasRenderingContext2D): Painter {
  const texts: QueuedText[] = [];
  let clip: Box | null = null;
  let last = -1;
  const fill = (colour: number): void => {
    if (colour !== last) context.fillStyle = css((last = colour));
  };
  const setClip = (box: Box | null): void => {
    context.restore();
    context.save();
    last = -1;
    if (box !== null) {
      context.beginPath();
      context.rect(box.x, box.y, box.width, box.height);
      context.clip();
    }
  };
  context.save();
  return {
    rect(x, y, width, height, colour) {
      fill(colour);
      context.fillRect(x, y, width, height);
    },
    line(x0, y0, x1, y1, width, colour) {
      context.strokeStyle = css(colour);
      context.lineWidth = width;
      context.beginPath();
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
      context.stroke();
    },
    dot(x, y, radius, colour) {
      fill(colour);
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
    },
    text: (x, y, text, style) => void texts.push({ x, y, text, style, clip }),
    clip(box) {
      clip = box;
      setClip(box);
    },
    flush() {
      setClip(null);
      drawTexts(context, texts);
      texts.length = 0;
      context.restore();
      context.save();
      last = -1;
    },
  };
}

export function drawTexts(context: CanvasRenderingContext2D, texts: QueuedText[]): void {
  context.textBaseline = "middle";
  for (const { x, y, text, style, clip } of texts) {
    context.save();
    if (clip !== null) {
      context.beginPath();
      context.rect(clip.x, clip.y, clip.width, clip.height);
      context.clip();
    }
    context.font = font(style);
    context.fillStyle = css(style.colour);
    context.textAlign = style.align ?? "left";
    context.translate(x, y);
    if (style.upright === true) context.rotate(-Math.PI / 2);
    context.fillText(text, 0, 0.5);
    context.restore();
  }
}
