// How many tasks of which size, a facet for each kind of worker: bars by codelet on top of each other, and as an outline how many the
// area bound would give there.

import { withAlpha } from "../colour";
import type { Numbers } from "../decode";
import type { HistogramPanel } from "../format";
import { duration, quantity, si } from "../number";
import type { Painter } from "../paint/painter";
import { once } from "../run";
import { logTicks, ticks } from "../ticks";
import type { Box } from "../view";
import type { Drawn, Frame, Hit, LegendEntry, Scene } from "./panel";

interface Group {
  name: string;
  colour: string;
  count: Numbers;
  target: Numbers | null;
}

interface Facet {
  kind: string;
  groups: Group[];
}

export function histogram({ panel, run, columns, peer }: Scene<HistogramPanel>): Drawn {
  // Facets tell the kinds apart, colours the codelets.
  const colourOf = (group: { name: string; colour: string }): string =>
    run.head.codelets.find((codelet) => codelet.name === group.name)?.colour ?? group.colour;
  const facets = once(() => facetsOf(panel, columns, colourOf));
  const most = once(() => Math.max(highest(facets()), peer === null ? 0 : highest(facetsOf(peer.panel, peer.columns, colourOf)), 1));
  const boxes = (f: Frame): Box[] => {
    const gap = 46;
    const list = facets();
    const width = (f.plot.width - gap * (list.length - 1)) / Math.max(list.length, 1);
    return list.map((_, k) => ({ ...f.plot, x: f.plot.x + k * (width + gap), width }));
  };
  const label = panel.of === "duration" ? "duration" : "flops of the task";

  const draw = (p: Painter, f: Frame): void => {
    const { theme } = f;
    boxes(f).forEach((box, at) => {
      const facet = facets()[at];
      p.rect(box.x, box.y, box.width, box.height, theme.plot);
      const y = (value: number): number => box.y + box.height * (1 - value / (most() * 1.05));
      for (const value of ticks(0, most() * 1.05, box.height / 30).values) {
        p.rect(box.x, y(value), box.width, 1, value === 0 ? theme.line : theme.grid);
        p.text(box.x - 8, y(value), quantity(value, "", true, 3), { size: 10.5, colour: theme.muted, align: "right" });
      }
      const [lo, hi] = panel.edges_ln;
      for (const tick of logTicks(lo, hi, box.width / 70)) {
        const x = box.x + ((tick.at_ln - lo) / (hi - lo)) * box.width;
        p.rect(x, box.y + box.height, 1, 4, theme.muted);
        const text = panel.of === "duration" ? duration(tick.value, 2) : si(tick.value, "", 2);
        p.text(x, box.y + box.height + 12, text, { size: 10.5, colour: theme.muted, align: "center" });
      }
      bars(p, f, facet, box, panel.bins, y);
      p.text(box.x + 4, box.y - 9, facet.kind, { size: 11.5, bold: true, colour: theme.ink });
      p.text(box.x + box.width / 2, box.y + box.height + 28, label, { size: 11, colour: theme.muted, align: "center" });
    });
  };

  return {
    timed: false,
    margins: { top: 22, bottom: 36 },
    height: (width) => Math.round(Math.min(Math.max(width * 0.2, 210), 320)),
    draw,
    hit(x, y, f): Hit | null {
      const list = boxes(f);
      const k = list.findIndex((box) => x >= box.x && x < box.x + box.width && y >= box.y && y <= box.y + box.height);
      if (k < 0) return null;
      const bin = Math.floor(((x - list[k].x) / list[k].width) * panel.bins);
      const edge = (b: number): number => Math.exp(panel.edges_ln[0] + (b / panel.bins) * (panel.edges_ln[1] - panel.edges_ln[0]));
      const say = (value: number): string => (panel.of === "duration" ? duration(value, 3) : si(value, "", 3));
      const rows = facets()[k].groups.filter((group) => group.count[bin] > 0 || (group.target?.[bin] ?? 0) >= 0.5).map((group): [string, string] => {
        const target = group.target === null ? "" : `, bound ${quantity(group.target[bin], "", false, 3)}`;
        return [group.name, `${quantity(group.count[bin], "", false)}${target}`];
      });
      return { title: `${say(edge(bin))} to ${say(edge(bin + 1))}${panel.of === "flops" ? " flops" : ""}`, rows: rows.length > 0 ? rows : [["tasks", "none"]] };
    },
    tools: [],
    legend: (theme): LegendEntry[] => [
      ...panel.groups.map((group): LegendEntry => ({ name: group.name, colour: theme.data(colourOf(group)), codelet: group.name })),
      ...(panel.groups.some((group) => group.target !== null) ? [{ name: "outline: as the area bound has it", colour: theme.ink }] : []),
    ],
    words: "numbers of tasks by size",
  };
}

function facetsOf(panel: HistogramPanel, columns: Scene["columns"], colourOf: (group: { name: string; colour: string }) => string): Facet[] {
  const out: Facet[] = [];
  for (const group of panel.groups) {
    let facet = out.find((known) => known.kind === group.kind);
    if (facet === undefined) out.push((facet = { kind: group.kind, groups: [] }));
    facet.groups.push({ name: group.name, colour: colourOf(group), count: columns.get(group.count), target: group.target === null ? null : columns.get(group.target) });
  }
  return out;
}

function highest(facets: Facet[]): number {
  let most = 0;
  for (const facet of facets) {
    for (let bin = 0; bin < (facet.groups[0]?.count.length ?? 0); bin += 1) {
      const sum = (of: (group: Group) => number): number => facet.groups.reduce((s, group) => s + of(group), 0);
      most = Math.max(most, sum((group) => group.count[bin]), sum((group) => group.target?.[bin] ?? 0));
    }
  }
  return most;
}

function bars(p: Painter, f: Frame, facet: Facet, box: Box, bins: number, y: (value: number) => number): void {
  const width = box.width / bins;
  const wanted = f.state.codelet;
  let before = y(0);
  for (let bin = 0; bin < bins; bin += 1) {
    const x = box.x + bin * width;
    let sum = 0;
    let target = 0;
    for (const group of facet.groups) {
      const next = sum + group.count[bin];
      const colour = f.theme.data(group.colour);
      p.rect(x + 0.5, y(next), Math.max(width - 1, 0.5), y(sum) - y(next), wanted === null || wanted === group.name ? colour : withAlpha(colour, 0.2));
      sum = next;
      target += group.target?.[bin] ?? 0;
    }
    if (facet.groups.every((group) => group.target === null)) continue;
    const top = y(target);
    p.rect(x - 0.75, Math.min(before, top), 1.5, Math.abs(top - before), f.theme.ink);
    if (target > 0) p.rect(x - 0.75, top - 0.75, width + 1.5, 1.5, f.theme.ink);
    before = top;
  }
  if (before < y(0)) p.rect(box.x + bins * width - 0.75, before, 1.5, y(0) - before, f.theme.ink);
}
