// The painter that writes SVG: the visible part of a panel as a file. The same shapes as on the screen, in the same order.

import { channels, type Colour } from "../colour";
import type { Box } from "../view";
import { FONT, type Painter, type QueuedText } from "./painter";

export interface SvgPainter extends Painter {
  // The file, once `flush` was called.
  svg(): string;
}

const number = (value: number): string => (Math.round(value * 100) / 100 || 0).toString();

export const escaped = (text: string): string =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;")
    // Control characters are not allowed in XML at all.
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, " ");

function paint(name: "fill" | "stroke", colour: Colour): string {
  const [r, g, b, a] = channels(colour);
  const hex = [r, g, b].map((v) => v.toString(16).padStart(2, "0")).join("");
  return `${name}="#${hex}"${a === 255 ? "" : ` ${name}-opacity="${number(a / 255)}"`}`;
}

export function svgPainter(width: number, height: number, background: Colour, title: string): SvgPainter {
  const parts: string[] = [];
  const clips = new Map<string, string>();
  const texts: QueuedText[] = [];
  let clip: Box | null = null;
  let open = false;
  const close = (): void => {
    if (open) parts.push("</g>");
    open = false;
  };
  const clipId = (box: Box): string => {
    const key = [box.x, box.y, box.width, box.height].map(number).join(" ");
    if (!clips.has(key)) clips.set(key, `c${clips.size}`);
    return clips.get(key) ?? "";
  };
  return {
    rect(x, y, w, h, colour) {
      if (!(w > 0 && h > 0)) return;
      parts.push(`<rect x="${number(x)}" y="${number(y)}" width="${number(w)}" height="${number(h)}" ${paint("fill", colour)}/>`);
    },
    line(x0, y0, x1, y1, w, colour) {
      parts.push(`<path d="M${number(x0)} ${number(y0)}L${number(x1)} ${number(y1)}" stroke-width="${number(w)}" ${paint("stroke", colour)}/>`);
    },
    dot: (x, y, r, colour) =>
      void parts.push(`<circle cx="${number(x)}" cy="${number(y)}" r="${number(r)}" ${paint("fill", colour)}/>`),
    text: (x, y, text, style) => void texts.push({ x, y, text, style, clip }),
    clip(box) {
      close();
      clip = box;
      if (box === null) return;
      parts.push(`<g clip-path="url(#${clipId(box)})">`);
      open = true;
    },
    flush() {
      close();
      for (const { x, y, text, style, clip: inside } of texts) {
        const anchor = { left: "start", center: "middle", right: "end" }[style.align ?? "left"];
        const turn = style.upright === true ? ` transform="rotate(-90 ${number(x)} ${number(y)})"` : "";
        const weight = style.bold === true ? ' font-weight="600"' : "";
        const element = `<text x="${number(x)}" y="${number(y)}" font-size="${style.size ?? 11}"${weight} text-anchor="${anchor}"${turn} ${paint("fill", style.colour)}>${escaped(text)}</text>`;
        parts.push(inside === null ? element : `<g clip-path="url(#${clipId(inside)})">${element}</g>`);
      }
      texts.length = 0;
    },
    svg() {
      const defs = [...clips].map(([key, id]) => {
        const [x, y, w, h] = key.split(" ");
        return `<clipPath id="${id}"><rect x="${x}" y="${y}" width="${w}" height="${h}"/></clipPath>`;
      });
      return `<svg xmlns="http://www.w3.org/2000/svg" width="${number(width)}" height="${number(height)}" viewBox="0 0 ${number(width)} ${number(height)}" font-family="${escaped(FONT)}" dominant-baseline="central">
<title>${escaped(title)}</title>
<defs>${defs.join("")}</defs>
<rect width="100%" height="100%" ${paint("fill", background)}/>
${parts.join("\n")}
</svg>
`;
    },
  };
}
