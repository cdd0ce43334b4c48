// Texts of a picture on its 2D canvas, above all shapes, whichever painter drew those.

import { css } from "../colour";
import { font, type QueuedText } from "./painter";

export function drawTexts(context: CanvasRenderingContext2D, texts: QueuedText[]): void {
  context.textBaseline = "middle";
  for (const { x, y, text, style, clip } of texts) {
    // Saving and restoring costs more than the text; most need none of it.
    const special = style.upright === true || (clip !== null && !within(clip, x, y, text, style.align));
    if (special) {
      context.save();
      if (clip !== null) {
        context.beginPath();
        context.rect(clip.x, clip.y, clip.width, clip.height);
        context.clip();
      }
    }
    context.font = font(style);
    context.fillStyle = css(style.colour);
    context.textAlign = style.align ?? "left";
    if (style.upright === true) {
      context.translate(x, y);
      context.rotate(-Math.PI / 2);
      context.fillText(text, 0, 0.5);
    } else context.fillText(text, x, y + 0.5);
    if (special) context.restore();
  }
}

// A letter is hardly wider than 9 pixels and higher than 14.
function within(clip: NonNullable<QueuedText["clip"]>, x: number, y: number, text: string, align = "left"): boolean {
  const width = text.length * 9;
  const left = align === "left" ? x : align === "right" ? x - width : x - width / 2;
  return left >= clip.x && left + width <= clip.x + clip.width && y - 7 >= clip.y && y + 7 <= clip.y + clip.height;
}
