// The visible part of a panel as a file: SVG and PNG, in light colours as for print, with title, legend and time axis.

import { button } from "../dom";
import type { Panel } from "../format";
import type { Painter } from "../paint/painter";
import { svgPainter } from "../paint/svg";
import { plotOf, type Frame, type LegendEntry } from "../panels/panel";
import { LIGHT } from "../theme";
import { drawAxis } from "./axis";
import { NAMES } from "./head";
import { picture } from "./surface";
import type { Around, View } from "./view";

const TITLE = 26;
const AXIS = 30;

export interface Sheet {
  width: number;
  height: number;
  draw(p: Painter): void;
}

// What of a view goes into a file.
type Shown = Pick<View, "drawn" | "run" | "frame">;

// All runs' pictures of a panel below each other.
export function sheetOf(title: string, views: Shown[], legend: LegendEntry[]): Sheet {
  const frames = views.map((view): Frame => ({ ...view.frame(), theme: LIGHT }));
  const width = Math.max(...frames.map((f) => f.width), 100);
  const timed = views.some((view) => view.drawn.timed);
  const keys = placed(legend, width - 24);
  const top = TITLE + (keys.length === 0 ? 0 : keys[keys.length - 1].y + 20);
  const height = top + frames.reduce((sum, f) => sum + f.height + 8, 0) + (timed ? AXIS : 8);
  return {
    width, height,
    draw(p) {
      p.text(12, TITLE / 2 + 1, title, { size: 14, bold: true, colour: LIGHT.ink });
      for (const { x, y: row, entry } of keys) {
        p.rect(x + 12, TITLE + row + 4, 10, 10, entry.colour);
        p.text(x + 27, TITLE + row + 9, entry.name, { colour: LIGHT.ink });
      }
      let y = top;
      frames.forEach((f, k) => {
        if (frames.length > 1) p.text(12, y + 10, NAMES[views[k].run] ?? "", { size: 13, bold: true, colour: LIGHT.ink });
        views[k].drawn.draw(moved(p, y), f);
        y += f.height + 8;
      });
      const f = frames[0];
      if (timed && f !== undefined) drawAxis(moved(p, y - 8), { ...f, height: AXIS, plot: plotOf(f.width, AXIS, { top: 2, bottom: 0 }) });
    },
  };
}

// Keys of a legend in rows of this width.
function placed(legend: LegendEntry[], width: number): { x: number; y: number; entry: LegendEntry }[] {
  let [x, y] = [0, 0];
  return legend.filter((entry) => entry.hidden !== true).map((entry) => {
    const wide = 15 + entry.name.length * 6.6 + 16;
    if (x > 0 && x + wide > width) [x, y] = [0, y + 17];
    const at = { x, y, entry };
    x += wide;
    return at;
  });
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

export function asSvg(title: string, views: Shown[], legend: LegendEntry[]): string {
  const sheet = sheetOf(title, views, legend);
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
  const legend = (): LegendEntry[] => [
    ...(panel.kind === "gantt" ? around.codelets(LIGHT) : []), ...views[0].drawn.legend(LIGHT, around.store.state())];
  const svg = (): void => save(`${name}.svg`, new Blob([asSvg(panel.title, views, legend())], { type: "image/svg+xml" }));
  const png = (): void => {
    const sheet = sheetOf(panel.title, views, legend());
    picture(sheet.width, sheet.height, 2, LIGHT.paper, sheet.draw).toBlob((blob) => {
      if (blob !== null) save(`${name}.png`, blob);
    });
  };
  return [
    button("SVG", svg, { class: "quiet", title: "save what is shown as SVG" }),
    button("PNG", png, { class: "quiet", title: "save what is shown as PNG" }),
  ];
}

