// Hints: a cause in plain words, its evidence, and a button that goes to the place where it can be seen.

import { button, h, prose } from "../dom";
import type { Hint, Place } from "../format";
import type { Run } from "../run";
import type { Selection } from "../state";
import { around, type Window } from "../view";
import { factList, NAMES } from "./head";

export interface Target {
  panel: string | null;
  window: Window | null;
  selection: Selection | null;
}

// Where a place is: its span, or that of its task or node; the first of them is selected.
export function targetOf(place: Place, run: Run, span: number): Target {
  const row = place.tasks.length > 0 ? run.rowOf(place.tasks[0]) : null;
  let selection: Selection | null = null;
  if (row !== null) selection = { kind: "task", run: run.index, id: place.tasks[0] };
  else if (place.nodes.length > 0) selection = { kind: "node", run: run.index, node: place.nodes[0] };
  let window: Window | null = null;
  if (place.from_ns !== null && place.to_ns !== null) window = around(place.from_ns, place.to_ns, span, 0.05);
  else if (row !== null) {
    const [from, took] = [run.tasks.start[row], run.tasks.duration[row]];
    window = around(from, from + took, span, 6);
  }
  return { panel: place.panel, window, selection };
}

export function hintsOf(runs: Run[], span: number, go: (target: Target) => void): HTMLElement | null {
  const two = runs.length > 1;
  const all = runs.flatMap((run) => run.head.hints.map((hint) => ({ run, hint })));
  if (all.length === 0) return null;
  const rank = (hint: Hint): number => (hint.severity === "cause" ? 0 : 1);
  all.sort((a, b) => rank(a.hint) - rank(b.hint));
  const causes = all.filter(({ hint }) => hint.severity === "cause").length;
  return h("section", { class: "hints", "aria-label": "hints" },
    h("h2", {}, causes > 0 ? "What cost time" : "Worth knowing"),
    h("div", { class: "list" }, ...all.map(({ run, hint }) => h("article", { class: `hint ${hint.severity}`, id: `hint-${hint.rule}-${run.index}` },
      h("h3", {}, two && h("b", { class: `run run-${run.index}` }, NAMES[run.index]), two && " ", hint.title),
      h("p", {}, ...prose(hint.text)),
      hint.evidence.length > 0 && factList(hint.evidence, "evidence"),
      hint.place !== null && button("Show", () => go(targetOf(hint.place as Place, run, span)), { "aria-label": `show: ${hint.title}` })))));
}
