// Duration against flops, or residual against flops: models as lines with their upper limit, anomalies as strong dots, the others as
// dots or as a density.
//
// Both axes are natural logarithms here and powers of ten (or ratios) in the labels.

import { mix, withAlpha, type Colour } from "../colour";
import { brief, expectation } from "../describe";
import type { Model, ScatterPanel } from "../format";
import { duration, si } from "../number";
import { dashed, type Painter } from "../paint/painter";
import { once, type Run } from "../run";
import { logTicks } from "../ticks";
import { background } from "./marks";
import type { Drawn, Frame, Hit, Scene } from "./panel";
import { planeZoom, toPixels, type Plane } from "./plane";

interface Points {
  row: ArrayLike<number>;
  x: Float64Array;
  y: Float64Array;
}

export function scatter({ panel, run, columns }: Scene<ScatterPanel>): Drawn {
  const own = planeZoom();
  const points = once((): Points => {
    const row = columns.get(panel.points.task);
    const x = Float64Array.from(row, (r) => Math.log(run.value("tasks.flops", r)));
    const y = Float64Array.from(row, (r) => vertical(panel, run, r));
    return { row, x, y };
  });
  const place = (f: Frame): ((x: number, y: number) => [number, number]) => {
    const plane = own.plane();
    const [w, h] = [panel.x[1] - panel.x[0] || 1, panel.y[1] - panel.y[0] || 1];
    return (x, y) => toPixels(plane, f.plot, (x - panel.x[0]) / w, (y - panel.y[0]) / h);
  };
  const wanted = (f: Frame): number | null =>
    f.state.codelet === null ? null : run.head.codelets.findIndex((codelet) => codelet.name === f.state.codelet);

  const draw = (p: Painter, f: Frame): void => {
    const at = place(f);
    background(p, f);
    axes(p, f, panel, own.plane(), at);
    p.clip(f.plot);
    const only = wanted(f);
    const colours = run.head.codelets.map((codelet) => f.theme.data(codelet.colour));
    density(p, f, panel, columns, colours, only, at);
    dots(p, f, run, points(), colours, only, at);
    lines(p, f, panel, run, colours, only, at);
    p.clip(null);
  };

  return {
    timed: false,
    margins: { top: 10, bottom: 36 },
    height: (width) => Math.round(Math.min(Math.max(width * 0.36, 260), 520)),
    draw,
    hit(x, y, f): Hit | null {
      const row = nearest(points(), place(f), f, wanted(f), run, x, y);
      return row === null ? null : { ...brief(run, row), select: { kind: "task", run: run.index, id: run.tasks.id[row] } };
    },
    tools: [],
    legend: (theme) => [...new Set(panel.models.map((m) => run.head.models[m]?.codelet ?? -1))].flatMap((k) => {
      const codelet = run.head.codelets[k];
      return codelet === undefined ? [] : [{ name: codelet.name, colour: theme.data(codelet.colour), codelet: codelet.name }];
    }),
    own,
    words: `${panel.points.task.length > 0 ? columns.get(panel.points.task).length : 0} tasks by flops and ${panel.y_of}`,
  };
}

function vertical(panel: ScatterPanel, run: Run, row: number): number {
  const took = Math.max(run.tasks.duration[row], 1);
  if (panel.y_of === "duration") return Math.log(took);
  return Math.log(took / (expectation(run, row)?.expected_ns ?? took));
}

function axes(p: Painter, f: Frame, panel: ScatterPanel, plane: Plane, at: (x: number, y: number) => [number, number]): void {
  const { plot, theme } = f;
  const part = (range: [number, number], lo: number, hi: number): [number, number] => [
    range[0] + lo * (range[1] - range[0]), range[0] + hi * (range[1] - range[0])];
  const [x0, x1] = part(panel.x, plane.x0, plane.x1);
  const [y0, y1] = part(panel.y, plane.y0, plane.y1);
  for (const tick of logTicks(x0, x1, plot.width / 90)) {
    const [x] = at(tick.at_ln, 0);
    p.rect(x, plot.y, 1, plot.height, theme.grid);
    p.text(x, plot.y + plot.height + 11, si(tick.value, "", 3), { size: 10.5, colour: theme.muted, align: "center" });
  }
  p.text(plot.x + plot.width / 2, plot.y + plot.height + 27, "flops of the task", { size: 11, colour: theme.muted, align: "center" });
  for (const tick of logTicks(y0, y1, plot.height / 34)) {
    const [, y] = at(0, tick.at_ln);
    p.rect(plot.x, y, plot.width, 1, panel.y_of === "residual" && tick.value === 1 ? theme.faint : theme.grid);
    const label = panel.y_of === "duration" ? duration(tick.value, 3) : `× ${si(tick.value, "", 2)}`;
    p.text(plot.x - 8, y, label, { size: 10.5, colour: theme.muted, align: "right" });
  }
}

function density(
  p: Painter, f: Frame, panel: ScatterPanel, columns: Scene["columns"], colours: Colour[], only: number | null,
  at: (x: number, y: number) => [number, number],
): void {
  const { cells } = panel;
  if (cells === null) return;
  const [x, y, count, codelet] = [cells.x, cells.y, cells.count, cells.codelet].map((name) => columns.get(name));
  let most = 1;
  for (const c of count) most = Math.max(most, c);
  const [w, h] = [(panel.x[1] - panel.x[0]) / cells.wide, (panel.y[1] - panel.y[0]) / cells.high];
  for (let k = 0; k < x.length; k += 1) {
    const [left, bottom] = at(panel.x[0] + x[k] * w, panel.y[0] + y[k] * h);
    const [right, top] = at(panel.x[0] + (x[k] + 1) * w, panel.y[0] + (y[k] + 1) * h);
    const part = 0.18 + 0.7 * (Math.log(1 + count[k]) / Math.log(1 + most));
    const dim = only !== null && codelet[k] !== only;
    p.rect(left, top, right - left, bottom - top, dim ? withAlpha(f.theme.faint, 0.12) : withAlpha(colours[codelet[k]] ?? f.theme.faint, part));
  }
}

function dots(p: Painter, f: Frame, run: Run, points: Points, colours: Colour[], only: number | null, at: (x: number, y: number) => [number, number]): void {
  const { codelet, mark } = run.tasks;
  const crowd = points.x.length > 6000 ? 0.35 : points.x.length > 1500 ? 0.5 : 0.75;
  const last: [number, number, Colour][] = [];
  const selected = f.state.selection?.kind === "task" && f.state.selection.run === run.index ? run.rowOf(f.state.selection.id) : null;
  let chosen: [number, number] | null = null;
  for (let k = 0; k < points.x.length; k += 1) {
    const row = points.row[k];
    const [x, y] = at(points.x[k], points.y[k]);
    if (row === selected) chosen = [x, y];
    if (only !== null && codelet[row] !== only) continue;
    if (x < f.plot.x - 4 || x > f.plot.x + f.plot.width + 4 || y < f.plot.y - 4 || y > f.plot.y + f.plot.height + 4) continue;
    const colour = colours[codelet[row]];
    if ((mark[row] & 1) !== 0) last.push([x, y, colour]);
    else p.dot(x, y, 2, withAlpha(colour, crowd));
  }
  for (const [x, y, colour] of last) {
    p.dot(x, y, 4.2, f.theme.plot);
    p.dot(x, y, 3.4, mix(colour, f.theme.ink, 0.15));
  }
  if (chosen !== null) {
    p.dot(chosen[0], chosen[1], 7, f.theme.ink);
    p.dot(chosen[0], chosen[1], 4.5, f.theme.plot);
    p.dot(chosen[0], chosen[1], 3.4, f.theme.alarm);
  }
}

function lines(
  p: Painter, f: Frame, panel: ScatterPanel, run: Run, colours: Colour[], only: number | null, at: (x: number, y: number) => [number, number],
): void {
  for (const number of panel.models) {
    const model = run.head.models[number];
    if (model === undefined || (only !== null && model.codelet !== only)) continue;
    const colour = mix(colours[model.codelet] ?? f.theme.ink, f.theme.ink, 0.35);
    for (const line of model.lines) {
      const [from, to] = rangeOf(run, model) ?? panel.x;
      const middle = (x: number): number => (panel.y_of === "duration" ? line.intercept + line.slope * x : 0);
      const upper = (x: number): number => line.upper[0] + line.upper[1] * x - (panel.y_of === "duration" ? 0 : line.intercept + line.slope * x);
      const [a, b] = [at(from, middle(from)), at(to, middle(to))];
      const [c, d] = [at(from, upper(from)), at(to, upper(to))];
      p.line(a[0], a[1], b[0], b[1], 1.4, colour);
      dashed(p, c[0], c[1], d[0], d[1], 1.1, withAlpha(colour, 0.8), 4, 4);
    }
  }
}

const ranges = new WeakMap<Model, [number, number]>();

// From the smallest to the largest task of the model's kind: a line says nothing beyond.
function rangeOf(run: Run, model: Model): [number, number] | null {
  const known = ranges.get(model);
  if (known !== undefined) return known;
  const number = run.head.models.indexOf(model) + 1;
  if (!run.columns.has("tasks.model") || !run.columns.has("tasks.flops")) return null;
  const [of, flops] = [run.columns.get("tasks.model"), run.columns.get("tasks.flops")];
  let [low, high] = [Infinity, 0];
  for (let row = 0; row < of.length; row += 1) {
    if (of[row] !== number || !(flops[row] > 0)) continue;
    low = Math.min(low, flops[row]);
    high = Math.max(high, flops[row]);
  }
  if (!(high > 0)) return null;
  const found: [number, number] = [Math.log(low) - 0.1, Math.log(high) + 0.1];
  ranges.set(model, found);
  return found;
}

function nearest(
  points: Points, at: (x: number, y: number) => [number, number], f: Frame, only: number | null, run: Run, x: number, y: number,
): number | null {
  if (y > f.plot.y + f.plot.height || x < f.plot.x) return null;
  let best: number | null = null;
  let least = 12;
  for (let k = 0; k < points.x.length; k += 1) {
    const row = points.row[k];
    if (only !== null && run.tasks.codelet[row] !== only) continue;
    const [px, py] = at(points.x[k], points.y[k]);
    const slow = (run.tasks.mark[row] & 1) !== 0 ? 2 : 0;
    const away = Math.hypot(px - x, py - y) - slow;
    if (away < least) [least, best] = [away, row];
  }
  return best;
}
