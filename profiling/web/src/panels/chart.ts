// Curves over time: stacked, as lines, or as steps, with rules, highlighted spans and an axis of values.
//
// Takes bins (mean and largest value of equal parts of the run) and, where the report has them, exact steps. The axis reaches over
// the whole run, and over both runs where two are compared, so that zooming moves no value.

import { withAlpha } from "../colour";
import type { Numbers } from "../decode";
import type { ChartPanel } from "../format";
import { lowerBound } from "../lod";
import { moment, quantity } from "../number";
import { dashed, type Painter } from "../paint/painter";
import { once } from "../run";
import { option, type State } from "../state";
import { ticks } from "../ticks";
import { scaleOf, type Scale } from "../view";
import { background, runMarks, timeGrid } from "./marks";
import type { Drawn, Frame, Hit, LegendEntry, Scene } from "./panel";
import { largest, stacked, valueAt, curveOf, type Curve } from "./curve";

export function chart({ panel, run, columns, peer, span }: Scene<ChartPanel>): Drawn {
  const length = columns === run.columns ? run.head.span_ns : span;
  const curves = once(() => panel.series.map((series) => curveOf(series, columns, length)));
  const others = once(() => (peer === null ? [] : peer.panel.series.map((series) => curveOf(series, peer.columns, length))));
  const hidden = (state: State, name: string): boolean => option(state, `${panel.id}.${name}`, "1") === "0";
  const shown = (state: State): Curve[] => curves().filter((curve) => !hidden(state, curve.series.name));
  const known = new Map<string, [number, number]>();
  // The axis follows the zoom in powers of two, because means over longer pixels are lower; panning leaves it alone.
  const range = (f: Frame): [number, number] => {
    const bins = curves()[0]?.mean.length ?? 1;
    const each = 2 ** Math.max(0, Math.floor(Math.log2(((f.window.to - f.window.from) / f.plot.width / length) * bins)));
    const key = `${each} ${panel.series.map((series) => Number(hidden(f.state, series.name))).join("")}`;
    let found = known.get(key);
    if (found === undefined) {
      const mine = extent(panel, shown(f.state), each);
      const theirs = peer === null ? mine : extent(peer.panel, others().filter((curve) => !hidden(f.state, curve.series.name)), each);
      known.set(key, (found = [Math.min(mine[0], theirs[0]), Math.max(mine[1], theirs[1])]));
    }
    return found;
  };
  const y = (f: Frame): ((value: number) => number) => {
    const [low, high] = range(f);
    return (value) => f.plot.y + f.plot.height * (1 - (value - low) / (high - low));
  };

  const draw = (p: Painter, f: Frame): void => {
    const scale = scaleOf(f.window, f.plot);
    const place = y(f);
    background(p, f);
    axis(p, f, panel, range(f), place);
    p.clip(f.plot);
    timeGrid(p, f);
    for (const highlight of panel.spans) {
      const colour = f.theme.data(highlight.colour);
      bands(p, f, scale, columns.get(highlight.start), columns.get(highlight.end), withAlpha(colour, f.theme.dark ? 0.2 : 0.13));
    }
    const list = shown(f.state);
    if (panel.form === "stack") stack(p, f, scale, list, place);
    else for (const curve of list) line(p, f, scale, curve, place, panel.form === "steps", list.length === 1);
    if (columns === run.columns) runMarks(p, f, run);
    p.clip(null);
    rules(p, f, panel, place);
  };

  return {
    timed: true,
    margins: { top: 10, bottom: 4 },
    height: (width) => (width < 860 ? 140 : 168),
    draw,
    hit: (x, yy, f) => hit(x, yy, f, panel, shown(f.state)),
    tools: [],
    legend: (theme, state) => [
      ...(panel.series.length + panel.spans.length < 2 ? [] : panel.series.map((series): LegendEntry => ({
        name: series.name, colour: theme.data(series.colour), hide: `${panel.id}.${series.name}`, hidden: hidden(state, series.name) }))),
      ...panel.spans.map((highlight): LegendEntry => ({ name: highlight.name, colour: withAlpha(theme.data(highlight.colour), 0.35) })),
    ],
    words: panel.series.map((series) => series.name).join(", "),
  };
}

function extent(panel: ChartPanel, curves: Curve[], each: number): [number, number] {
  const high = panel.form === "stack" ? stacked(curves, each) : Math.max(0, ...curves.map((curve) => largest(curve)[1]));
  const low = panel.form === "stack" ? 0 : Math.min(0, ...curves.map((curve) => largest(curve)[0]));
  // A limit far above all that happened would leave the curve flat: it is named at the edge instead.
  const near = panel.rules.map((rule) => rule.value).filter((value) => value <= 2.5 * high);
  const top = Math.max(high, ...near);
  return [low * 1.06, top > 0 ? top * 1.06 : 1];
}

function axis(p: Painter, f: Frame, panel: ChartPanel, [low, high]: [number, number], place: (value: number) => number): void {
  const { values } = ticks(low, high, f.plot.height / 30);
  for (const value of values) {
    const y = Math.round(place(value));
    p.rect(f.plot.x, y, f.plot.width, 1, value === 0 ? f.theme.line : f.theme.grid);
    p.text(f.plot.x - 8, y, quantity(value, panel.si ? panel.unit : "", panel.si, 3), { colour: f.theme.muted, align: "right", size: 10.5 });
  }
  if (!panel.si) p.text(13, f.plot.y + f.plot.height / 2, panel.unit, { colour: f.theme.faint, align: "center", size: 10.5, upright: true });
}

// Highlighted spans; what is closer than a pixel flows together.
function bands(p: Painter, f: Frame, scale: Scale, start: Numbers, end: Numbers, colour: number): void {
  const first = Math.max(lowerBound(end, f.window.from, 0, end.length), 0);
  let left = NaN;
  let right = NaN;
  const put = (): void => {
    if (right >= left) p.rect(left, f.plot.y, Math.max(right - left, 1), f.plot.height, colour);
  };
  for (let k = first; k < start.length && start[k] < f.window.to; k += 1) {
    const [a, b] = [Math.max(scale.x(start[k]), scale.left), Math.min(scale.x(end[k]), scale.right)];
    if (a <= right + 0.5) right = Math.max(right, b);
    else {
      put();
      [left, right] = [a, b];
    }
  }
  put();
}

function stack(p: Painter, f: Frame, scale: Scale, curves: Curve[], place: (value: number) => number): void {
  const zero = place(0);
  const per = zero - place(1);
  const bottoms = new Float64Array(Math.ceil(f.plot.width)).fill(zero);
  for (const curve of curves) {
    const colour = f.theme.data(curve.series.colour);
    for (let k = 0; k < bottoms.length; k += 1) {
      const x = f.plot.x + k;
      const height = valueAt(curve, scale.ns(x), scale.ns(x + 1)).mean * per;
      if (!(height > 0)) continue;
      p.rect(x, bottoms[k] - height, 1, height, colour);
      bottoms[k] -= height;
    }
  }
}

function line(p: Painter, f: Frame, scale: Scale, curve: Curve, place: (value: number) => number, steps: boolean, alone: boolean): void {
  const colour = f.theme.data(curve.series.colour);
  const zero = place(0);
  let before: number | null = null;
  for (let x = f.plot.x; x < f.plot.x + f.plot.width; x += 1) {
    // The curve ends with its run.
    if (scale.ns(x) >= curve.span) break;
    const { mean, max } = valueAt(curve, scale.ns(x), scale.ns(x + 1));
    const at = place(steps ? max : mean);
    const top = place(max);
    if (alone) p.rect(x, Math.min(at, zero), 1, Math.abs(zero - at), withAlpha(colour, 0.16));
    if (!steps && top < at - 1) p.rect(x, top, 1, at - top, withAlpha(colour, 0.28));
    if (before !== null) {
      if (steps) {
        p.rect(x, Math.min(before, at) - 0.7, 1.4, Math.abs(at - before) + 1.4, colour);
        p.rect(x, at - 0.7, 1, 1.4, colour);
      } else p.line(x - 0.5, before, x + 0.5, at, 1.4, colour);
    }
    before = at;
  }
}

function rules(p: Painter, f: Frame, panel: ChartPanel, place: (value: number) => number): void {
  const edge = f.plot.x + f.plot.width;
  let last = { y: -Infinity, left: edge };
  for (const rule of [...panel.rules].sort((a, b) => b.value - a.value)) {
    let right = edge;
    const y = place(rule.value);
    const colour = f.theme.data(rule.colour);
    const text = rule.name;
    if (y < f.plot.y - 1) {
      p.text(right - 6, f.plot.y + 8, `↑ ${text}`, { colour, align: "right", size: 10.5 });
      continue;
    }
    const label = y - 7 < f.plot.y + 2 ? y + 8 : y - 7;
    const width = text.length * 5.9 + 8;
    // Beside the one before where they would cover each other.
    if (Math.abs(label - last.y) < 13) right = last.left - 6;
    last = { y: label, left: right - 4 - width };
    p.rect(right - 2 - width, label - 7, width, 14, withAlpha(f.theme.plot, 0.78));
    if (rule.dashed) dashed(p, f.plot.x, y, edge, y, 1.2, colour, 6, 4);
    else p.line(f.plot.x, y, edge, y, 1.2, colour);
    p.text(right - 6, label, text, { colour, align: "right", size: 10.5 });
  }
}

function hit(x: number, y: number, f: Frame, panel: ChartPanel, curves: Curve[]): Hit | null {
  if (x < f.plot.x || x > f.plot.x + f.plot.width || y < f.plot.y || y > f.plot.y + f.plot.height) return null;
  const scale = scaleOf(f.window, f.plot);
  const rows = curves.map((curve): [string, string] => {
    const { mean, max } = valueAt(curve, scale.ns(x), scale.ns(x + 1));
    const say = (value: number): string => quantity(value, panel.unit, panel.si, 3);
    const more = max > mean * 1.005 ? `, at most ${quantity(max, panel.si ? panel.unit : "", panel.si, 3)}` : "";
    return [curve.series.name, say(mean) + more];
  });
  return { title: moment(scale.ns(x), f.window.to - f.window.from), rows: rows.slice(0, 14).reverse() };
}

