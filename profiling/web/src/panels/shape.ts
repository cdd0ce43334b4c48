// The elimination tree itself: the root at the top, a disc a node, area by operations, colour by when it was worked on.

import { ramp, withAlpha } from "../colour";
import { briefNode } from "../describe";
import type { ShapePanel } from "../format";
import { duration } from "../number";
import type { Painter } from "../paint/painter";
import { once } from "../run";
import type { Drawn, Frame, Hit, Scene } from "./panel";
import { planeZoom, toPixels } from "./plane";

export function shape({ panel, run, columns }: Scene<ShapePanel>): Drawn {
  const own = planeZoom();
  const data = once(() => ({
    x: columns.get(panel.x), y: columns.get(panel.y), size: columns.get(panel.size),
    parent: columns.get(panel.parent), node: columns.get(panel.node), time: columns.get(panel.time),
  }));
  // With room for the largest discs at the edges.
  const at = (f: Frame, k: number): [number, number] => {
    const { x, y } = data();
    return toPixels(own.plane(), f.plot, 0.025 + 0.95 * x[k], 0.96 - 0.9 * y[k]);
  };
  const radius = (f: Frame, k: number): number => {
    const plane = own.plane();
    const grown = Math.sqrt(1 / Math.max(plane.x1 - plane.x0, 1e-3));
    return Math.max(1.3, Math.sqrt(data().size[k]) * Math.min(f.plot.height * 0.075, 26) * Math.min(grown, 4));
  };

  const draw = (p: Painter, f: Frame): void => {
    const { parent, node, time, size } = data();
    p.rect(f.plot.x, f.plot.y, f.plot.width, f.plot.height, f.theme.plot);
    p.clip(f.plot);
    const line = withAlpha(f.theme.faint, node.length > 2000 ? 0.35 : 0.7);
    for (let k = 0; k < node.length; k += 1) {
      if (parent[k] === 0) continue;
      const [x0, y0] = at(f, k);
      const [x1, y1] = at(f, parent[k] - 1);
      if (Math.max(x0, x1) < f.plot.x || Math.min(x0, x1) > f.plot.x + f.plot.width) continue;
      p.line(x0, y0, x1, y1, 1, line);
    }
    const selected = f.state.selection;
    const chosen = selected?.kind === "node" && selected.run === run.index ? selected.node : null;
    for (let k = 0; k < node.length; k += 1) {
      const [x, y] = at(f, k);
      const r = radius(f, k);
      if (x < f.plot.x - r || x > f.plot.x + f.plot.width + r) continue;
      const colour = time[k] < 0 ? f.theme.faint : ramp(f.theme.time, time[k] / Math.max(run.head.span_ns, 1));
      if (node[k] === chosen) p.dot(x, y, r + 4, f.theme.ink);
      if (r > 3) p.dot(x, y, r + 1, f.theme.plot);
      p.dot(x, y, r, colour);
    }
    names(p, f, at, radius, size, node);
    p.clip(null);
    legend(p, f, run.head.span_ns);
  };

  return {
    timed: false,
    margins: { top: 24, bottom: 6 },
    height: (width) => Math.round(Math.min(Math.max(width * 0.3, 240), 480)),
    draw,
    hit(x, y, f): Hit | null {
      const { node } = data();
      let best: number | null = null;
      let least = 6;
      for (let k = 0; k < node.length; k += 1) {
        const [px, py] = at(f, k);
        const away = Math.hypot(px - x, py - y) - radius(f, k);
        if (away < least) [least, best] = [away, k];
      }
      return best === null ? null : { ...briefNode(run, node[best]), select: { kind: "node", run: run.index, node: node[best] } };
    },
    tools: [],
    legend: () => [],
    own,
    words: `the tree of ${columns.get(panel.node).length} nodes`,
  };
}

// The largest in view by name, where names do not cover each other.
function names(
  p: Painter, f: Frame, at: (f: Frame, k: number) => [number, number], radius: (f: Frame, k: number) => number,
  size: ArrayLike<number>, node: ArrayLike<number>,
): void {
  const order = Array.from(size, (_, k) => k).sort((a, b) => size[b] - size[a]).slice(0, 400);
  const taken: [number, number, number][] = [];
  for (const k of order) {
    if (taken.length >= 40) break;
    const [x, y] = at(f, k);
    if (x < f.plot.x || x > f.plot.x + f.plot.width || y < f.plot.y || y > f.plot.y + f.plot.height) continue;
    const text = String(node[k]);
    const width = text.length * 6.5 + 8;
    const left = x + radius(f, k) + 3;
    if (taken.some(([tx, ty, tw]) => Math.abs(ty - y) < 13 && left < tx + tw && left + width > tx)) continue;
    if (left + width > f.plot.x + f.plot.width) continue;
    taken.push([left, y, width]);
    p.text(left, y, text, { size: 10.5, colour: f.theme.ink });
  }
}

function legend(p: Painter, f: Frame, span: number): void {
  const width = 120;
  const x = f.plot.x + f.plot.width - width - 60;
  const y = f.plot.y - 15;
  for (let k = 0; k < width; k += 2) p.rect(x + k, y, 2, 8, ramp(f.theme.time, k / width));
  p.text(x - 5, y + 4, "worked on at 0", { size: 10, colour: f.theme.muted, align: "right" });
  p.text(x + width + 5, y + 4, duration(span, 3), { size: 10, colour: f.theme.muted });
}
