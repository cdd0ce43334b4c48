// The time axis below the overview: marks and labels of the window, at the same edges as all panels.

import type { Painter } from "../paint/painter";
import type { Frame } from "../panels/panel";
import { timeAxis } from "../ticks";
import { scaleOf } from "../view";

export function drawAxis(p: Painter, f: Frame): void {
  const { plot, theme } = f;
  const scale = scaleOf(f.window, plot);
  const axis = timeAxis(f.window.from, f.window.to, plot.width / 110);
  p.rect(plot.x, plot.y, plot.width, 1, theme.line);
  for (const at of axis.minor) p.rect(Math.round(scale.x(at)), plot.y, 1, 4, theme.line);
  for (const { at, label } of axis.ticks) {
    const x = Math.round(scale.x(at));
    p.rect(x, plot.y, 1, 7, theme.muted);
    p.text(x, plot.y + 15, label, { size: 11, colour: theme.ink, align: "center" });
  }
  const left = axis.base === "" ? "time" : `${axis.base}`;
  // The first mark's label may reach over the edge.
  const first = axis.ticks[0];
  const room = first !== undefined && scale.x(first.at) - plot.x < 34 ? 34 : 8;
  p.text(plot.x - room, plot.y + 15, left, { size: 11, colour: axis.base === "" ? theme.faint : theme.ink, align: "right" });
}
