// Named spans on rows over time: stalls, switches, spills, phases. On the shared time axis, or on one of its own.

import type { SpansPanel } from "../format";
import { duration, moment } from "../number";
import type { Painter } from "../paint/painter";
import { once } from "../run";
import { timeAxis } from "../ticks";
import { scaleOf, type Window } from "../view";
import { background, runMarks, shortened, timeGrid } from "./marks";
import type { Drawn, Frame, Hit, LegendEntry, Scene } from "./panel";
import { drawStates, intervalAt, statesOf } from "./states";

export function spans({ panel, run, columns }: Scene<SpansPanel>): Drawn {
  const lanes = panel.lanes.length;
  const named = { lane: panel.lane, kind: panel.kind_of, start: panel.start, duration: panel.duration, kinds: panel.kinds };
  const rows = once(() => statesOf(named, columns, lanes));
  const own = panel.axis;
  const framed = (f: Frame): Frame => (own === null ? f : { ...f, window: { from: own[0], to: own[1] } });
  const each = lanes <= 6 ? 24 : lanes <= 24 ? 15 : 9;

  const draw = (p: Painter, outer: Frame): void => {
    const f = framed(outer);
    const { plot, theme } = f;
    const height = plot.height / Math.max(lanes, 1);
    background(p, f);
    const size = Math.min(11, Math.max(8, height - 1));
    panel.lanes.forEach((name, lane) => {
      const y = plot.y + (lane + 0.5) * height;
      p.text(plot.x - 8, y, shortened(name, f.width < 860 ? 12 : 17), { colour: theme.ink, align: "right", size });
      p.text(plot.x + plot.width + 8, y, panel.notes[lane] ?? "", { colour: theme.muted, size });
    });
    p.text(plot.x + plot.width + 8, plot.y - 8, panel.heading, { colour: theme.faint, size: 10 });
    p.clip(plot);
    timeGrid(p, f);
    const gap = height > 10 ? 2 : 0.5;
    drawStates(p, f, rows(), { top: (lane) => plot.y + lane * height + gap, height: height - 2 * gap }, 1, panel.least ? 1 : 0.3);
    if (own === null) runMarks(p, f, run);
    p.clip(null);
    if (own !== null) ruler(p, f, f.window);
  };

  return {
    timed: own === null,
    margins: { top: 16, bottom: own === null ? 4 : 24 },
    height: () => Math.max(lanes, 1) * each + 20 + (own === null ? 0 : 20),
    draw,
    hit(x, y, outer): Hit | null {
      const f = framed(outer);
      const lane = Math.floor(((y - f.plot.y) / f.plot.height) * lanes);
      if (lane < 0 || lane >= lanes || x < f.plot.x || x > f.plot.x + f.plot.width) return null;
      const scale = scaleOf(f.window, f.plot);
      const found = rows();
      const row = intervalAt(found, lane, scale.ns(x), scale.perPixel);
      if (row === null) return null;
      const from = found.start[row];
      return {
        title: found.kinds[found.kind[row]]?.name ?? "?",
        rows: [["where", panel.lanes[lane]], ["from", moment(from, f.window.to - f.window.from)], ["took", duration(found.duration[row])]],
      };
    },
    tools: [],
    legend: (theme) => (panel.kinds.length < 2 && lanes < 2 ? [] : panel.kinds.map((kind): LegendEntry => ({ name: kind.name, colour: theme.data(kind.colour) }))),
    words: panel.lanes.join(", "),
  };
}

function ruler(p: Painter, f: Frame, window: Window): void {
  const { plot, theme } = f;
  const scale = scaleOf(window, plot);
  const bottom = plot.y + plot.height;
  p.rect(plot.x, bottom, plot.width, 1, theme.line);
  for (const { at, label } of timeAxis(window.from, window.to, plot.width / 110).ticks) {
    const x = scale.x(at);
    p.rect(x, bottom, 1, 5, theme.muted);
    p.text(x, bottom + 13, label, { size: 10.5, colour: theme.muted, align: "center" });
  }
}
