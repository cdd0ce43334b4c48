// The visible part of a panel as a file: SVG and PNG, in light colours as for print, with title and time axis.

import { button } from "../dom";
import type { Panel } from "../format";
import type { Painter } from "../paint/painter";
import { svgPainter } from "../paint/svg";
import { plotOf, type Frame } from "../panels/panel";
import { LIGHT } from "../theme";
import { drawAxis } from "./axis";
import { picture } from "./surface";
import type { Around, View } from "./view";

const TITLE = 26;
const AXIS = 30;

export interface Sheet {
  width: number;
  height: number;
  draw(p: Painter): void;
}

// All runs' pictures of a panel below each other. `move` shifts a painter down.
export function sheetOf(title: string, views: View[]): Sheet {
  const frames = views.map((view): Frame => ({ ...view.frame(), theme: LIGHT }));
  const width = Math.max(...frames.map((f) => f.width), 100);
  const timed = views.some((view) => view.drawn.timed);
  const height = TITLE + frames.reduce((sum, f) => sum + f.height + 8, 0) + (timed ? AXIS : 8);
  return {
    width, height,
    draw(p) {
      p.text(12, TITLE / 2 + 1, title, { size: 14, bold: true, colour: LIGHT.ink });
      let y = TITLE;
      frames.forEach((f, k) => {
        views[k].drawn.draw(moved(p, y), f);
        y += f.height + 8;
      });
      const f = frames[0];
      if (timed && f !== undefined) drawAxis(moved(p, y - 8), { ...f, height: AXIS, plot: plotOf(f.width, AXIS, { top: 2, bottom: 0 }) });
    },
  };
}

export function moved(p: Painter, by: number): Painter {
  return {
    rect: (x, y, w, h, colour) => p.rect(x, y + by, w, h, colour),
    line: (x0, y0, x1, y1, w, colour) => p.line(x0, y0 + by, x1, y1 + by, w, colour),
    dot: (x, y, radius, colour) => p.dot(x, y + by, radius, colour),
    text: (x, y, text, style) => p.text(x, y + by, text, style),
    clip: (box) => p.clip(box === null ? null : { ...box, y: box.y + by }),
    flush: () => undefined,
  };
}

export function asSvg(title: string, views: View[]): string {
  const sheet = sheetOf(title, views);
  const p = svgPainter(sheet.width, sheet.height, LIGHT.paper, title);
  sheet.draw(p);
  p.flush();
  return p.svg();
}

function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function exportButtons(panel: Panel, views: View[], around: Around): HTMLElement[] {
  if (views.length === 0) return [];
  const name = `${around.store.state().options["page.name"] ?? "treeqr"}-${panel.id}`;
  const svg = (): void => save(`${name}.svg`, new Blob([asSvg(panel.title, views)], { type: "image/svg+xml" }));
  const png = (): void => {
    const sheet = sheetOf(panel.title, views);
    picture(sheet.width, sheet.height, 2, LIGHT.paper, sheet.draw).toBlob((blob) => {
      if (blob !== null) save(`${name}.png`, blob);
    });
  };
  return [
    button("SVG", svg, { class: "quiet", title: "save what is shown as SVG" }),
    button("PNG", png, { class: "quiet", title: "save what is shown as PNG" }),
  ];
}

