// The pane at the bottom: everything about the selected task or node, with links to its neighbours, so that one can walk the graph.

import { css } from "../colour";
import { button, fill, h, type Child } from "../dom";
import { codeletOf, expectation, marksOf, summary, tileOf } from "../describe";
import { count, duration, moment, percent, si } from "../number";
import type { Run } from "../run";
import type { Selection, State } from "../state";
import type { Theme } from "../theme";
import { tilePicture } from "./tiles";

export interface Details {
  element: HTMLElement;
  update(state: State): void;
}

interface Acts {
  choose(selection: Selection | null): void;
  zoom(selection: Selection): void;
}

// Links beyond this are counted only.
const MOST_LINKS = 60;

export function detailsOf(runs: Run[], theme: () => Theme, acts: Acts): Details {
  const body = h("div", { class: "columns" });
  const title = h("h2", {});
  const zoom = button("Zoom to it", () => shown !== null && acts.zoom(shown));
  const close = button("Close", () => acts.choose(null), { title: "close (Esc)" });
  const element = h("aside", { class: "details", "aria-label": "details", hidden: true }, h("header", {}, title, zoom, close), body);
  let shown: Selection | null = null;
  return {
    element,
    update(state) {
      shown = state.selection;
      const run = shown === null ? undefined : runs[shown.run];
      const columns = shown === null || run === undefined ? null
        : shown.kind === "task" ? task(run, shown.id, theme(), acts) : node(run, shown.node, theme(), acts);
      element.hidden = columns === null;
      document.documentElement.classList.toggle("detailed", columns !== null);
      if (columns === null) return;
      fill(title, runs.length > 1 && h("b", { class: `run run-${shown?.run ?? 0}` }, shown?.run === 0 ? "A" : "B"), runs.length > 1 && " ", ...columns.title);
      fill(body, ...columns.parts);
    },
  };
}

interface Columns {
  title: Child[];
  parts: HTMLElement[];
}

const list = (heading: string, rows: [string, Child][]): HTMLElement =>
  h("section", {}, h("h3", {}, heading), h("dl", {}, ...rows.flatMap(([label, value]) => [h("dt", {}, label), h("dd", {}, value)])));

function task(run: Run, id: number, theme: Theme, acts: Acts): Columns | null {
  const row = run.rowOf(id);
  if (row === null) return null;
  const { tasks } = run;
  const [start, took] = [tasks.start[row], tasks.duration[row]];
  const ready = start - run.value("tasks.ready", row);
  const submitted = run.submitted(row);
  const flops = run.value("tasks.flops", row);
  const model = expectation(run, row);
  const codelet = run.head.codelets[tasks.codelet[row]];
  const worker = run.head.workers[run.laneOf(row)];
  const times: [string, Child][] = [];
  if (submitted !== null) times.push(["submitted", moment(submitted, 1e3)]);
  times.push(["ready", moment(ready, 1e3)], ["waited", duration(start - ready)], ["started", moment(start, 1e3)], ["took", h("b", {}, duration(took))]);
  if (model !== null) {
    const ratio = took / model.expected_ns;
    times.push(["expected", `${duration(model.expected_ns)}, by its model`], [`at most (${percent(model.level)})`, duration(model.upper_ns)]);
    times.push(["took of that", h("span", { class: took > model.upper_ns ? "alarm" : "" }, `${ratio.toPrecision(3)} times`)]);
  }
  const work: [string, Child][] = [["worker", worker === undefined ? "?" : `${worker.name}${worker.kind === "device" ? " (device)" : ""}`]];
  work.push(["node", link(`node ${tasks.node[row]}`, () => acts.choose({ kind: "node", run: run.index, node: tasks.node[row] }))]);
  const child = run.value("tasks.child", row);
  if (child > 0) work.push(["from child", link(`node ${child - 1}`, () => acts.choose({ kind: "node", run: run.index, node: child - 1 }))]);
  if (flops > 0) work.push(["flops", si(flops)], ["speed", si((flops / Math.max(took, 1)) * 1e9, "Flop/s")]);
  const [m, n, k] = ["m", "n", "k"].map((side) => run.value(`tasks.${side}`, row));
  if (m + n > 0) work.push(["size", `${m} × ${n}${k > 0 ? `, ${k} reflectors` : ""}`]);
  if (run.columns.has("tasks.priority")) work.push(["priority", String(run.value("tasks.priority", row))]);
  const marks = marksOf(run, row).map((mark) => h("em", { class: mark.startsWith("slow") ? "mark alarm" : "mark" }, mark));
  const tile = tileOf(run, row);
  const picture = tilePicture(run, row, theme);
  return {
    title: [h("i", { class: "swatch", style: `background:${css(theme.data(codelet?.colour ?? "#888888"))}` }), `${codeletOf(run, row)} · task ${id}`, ...marks],
    parts: [
      list("Time", times), list("Work", work),
      ...(picture === null ? [] : [h("section", { class: "tiles" }, h("h3", {}, "Tile in its front"), picture, h("p", {}, tile))]),
      links("Needed", run.predecessors(row), run, theme, acts),
      links("Needed by", run.successors(row), run, theme, acts),
    ],
  };
}

const link = (text: string, press: () => void): HTMLElement => button(text, press, { class: "link" });

function links(heading: string, rows: number[], run: Run, theme: Theme, acts: Acts): HTMLElement {
  const { tasks, head } = run;
  const ordered = [...rows].sort((a, b) => tasks.start[b] + tasks.duration[b] - tasks.start[a] - tasks.duration[a]);
  return h("section", { class: "links" }, h("h3", {}, `${heading} (${count(rows.length)})`),
    rows.length === 0 ? h("p", {}, "nothing") : h("ul", {}, ...ordered.slice(0, MOST_LINKS).map((row) => h("li", {},
      h("i", { class: "swatch", style: `background:${css(theme.data(head.codelets[tasks.codelet[row]]?.colour ?? "#888888"))}` }),
      link(`${codeletOf(run, row)} ${tasks.id[row]}`, () => acts.choose({ kind: "task", run: run.index, id: tasks.id[row] })),
      h("span", {}, duration(tasks.duration[row], 3))))),
    rows.length > MOST_LINKS && h("p", {}, `and ${count(rows.length - MOST_LINKS)} more`));
}

function node(run: Run, id: number, theme: Theme, acts: Acts): Columns | null {
  const of = summary(run, id);
  if (of === null) return null;
  const value = (name: string): number => run.value(`nodes.${name}`, of.position);
  const go = (to: number): HTMLElement => link(String(to), () => acts.choose({ kind: "node", run: run.index, node: to }));
  const front: [string, Child][] = of.position < 0 ? [] : [
    ["front", `${count(value("rows"))} × ${count(value("cols"))}, ${of.kind}`], ["pivots", count(value("pivots"))], ["flops", si(of.flops)], ["depth", String(value("depth"))]];
  if (of.position >= 0 && value("tile_rows") > 0) front.splice(1, 0, ["tiles", `${value("tile_rows")} × ${value("tile_cols")}`]);
  const life: [string, Child][] = [["tasks", count(of.tasks)]];
  if (of.carrier !== id) life.push(["its work is in", link(`node ${of.carrier}`, () => acts.choose({ kind: "node", run: run.index, node: of.carrier }))]);
  if (of.tasks > 0) {
    const wall = Math.max(of.to_ns - of.from_ns, 1);
    life.push(["slow tasks", of.slow > 0 ? h("span", { class: "alarm" }, count(of.slow)) : "none"], ["first start", moment(of.from_ns, 1e3)], ["last end", moment(of.to_ns, 1e3)],
      ["took", h("b", {}, duration(wall))], ["time in tasks", duration(of.busy_ns)], ["workers at once", (of.busy_ns / wall).toPrecision(3)]);
    if (of.flops > 0) life.push(["speed", si((of.flops / wall) * 1e9, "Flop/s")]);
  }
  const parts = [list("Front", front), list("Life", life)];
  if (of.tasks > 0) parts.push(codelets(run, of.carrier, theme));
  const parent = of.position < 0 ? 0 : run.tree.parent[of.position];
  const children = of.position < 0 ? [] : run.tree.children(of.position).map((position) => run.tree.id[position]);
  parts.push(h("section", { class: "links" }, h("h3", {}, "Parent"), h("p", {}, parent > 0 ? go(parent - 1) : "it is a root"),
    h("h3", {}, `Children (${count(children.length)})`), h("p", { class: "nodes" }, ...children.slice(0, MOST_LINKS).map(go), children.length > MOST_LINKS && ` and ${count(children.length - MOST_LINKS)} more`)));
  return { title: [`Node ${id}`], parts };
}

// What its tasks were.
function codelets(run: Run, carrier: number, theme: Theme): HTMLElement {
  const sums = new Map<number, { tasks: number; ns: number }>();
  for (const row of run.rowsOfNode(carrier)) {
    const sum = sums.get(run.tasks.codelet[row]) ?? { tasks: 0, ns: 0 };
    sums.set(run.tasks.codelet[row], { tasks: sum.tasks + 1, ns: sum.ns + run.tasks.duration[row] });
  }
  const rows = [...sums].sort((a, b) => b[1].ns - a[1].ns).map(([k, sum]) => h("tr", {},
    h("td", {}, h("i", { class: "swatch", style: `background:${css(theme.data(run.head.codelets[k]?.colour ?? "#888888"))}` }), run.head.codelets[k]?.name ?? "?"),
    h("td", { class: "right" }, count(sum.tasks)), h("td", { class: "right" }, duration(sum.ns, 3))));
  return h("section", {}, h("h3", {}, "Tasks"), h("table", {}, h("tbody", {}, ...rows)));
}
