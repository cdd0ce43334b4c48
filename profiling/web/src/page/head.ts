// The head of the page: title, figures in large, facts, warnings. Takes the report; gives elements.

import { fill, h, prose } from "../dom";
import type { Fact, Report, RunHead } from "../format";

export const NAMES = ["A", "B"];

// A number and its unit stay on one line.
const tied = (text: string): string => text.replace(/(\d) (?=(%|[kMGT]?(B|flop|Flop\/s)|[nµm]?s)(?!\w))/g, "$1\u202f");

export function factList(facts: Fact[], kind: string): HTMLElement {
  return h("dl", { class: kind }, ...facts.map((fact) =>
    h("div", {}, h("dt", {}, fact.label), h("dd", {}, tied(fact.text)), fact.note === null ? null : h("dd", { class: "note" }, tied(fact.note)))));
}

export function headOf(report: Report, corner: HTMLElement): HTMLElement {
  const two = report.runs.length > 1;
  const label = (run: RunHead, k: number): HTMLElement | null => (two ? h("h3", {}, h("b", { class: `run run-${k}` }, NAMES[k]), ` ${run.name}`) : null);
  const head = h("div", { class: "head" }, corner, h("h1", {}, report.title));
  if (report.comparison !== null) {
    const { headline, notes } = report.comparison;
    head.append(differences(headline));
    if (notes.length > 0) head.append(h("ul", { class: "warnings" }, ...notes.map((text) => h("li", {}, text))));
  }
  const runs = report.runs.map((run, k) => h("div", { class: "one" }, label(run, k),
    factList(run.headline, report.comparison === null ? "headline" : "headline small"),
    run.warnings.length > 0 && h("ul", { class: "warnings" }, ...run.warnings.map((text) => h("li", {}, ...prose(text)))),
    about(run)));
  const all = h("div", { class: two ? "runs two" : "runs" });
  fill(all, ...runs);
  head.append(all);
  return head;
}

// "first → second" as two columns, so that many figures are compared at a glance.
function differences(facts: Fact[]): HTMLElement {
  const name = (k: number): HTMLElement => h("th", { scope: "col" }, h("b", { class: `run run-${k}` }, NAMES[k]));
  const row = (fact: Fact): HTMLElement => {
    const sides = fact.text.split(" → ");
    const values = sides.length === 2 ? sides.map((side) => h("td", {}, tied(side))) : [h("td", { colspan: 2 }, tied(fact.text))];
    return h("tr", {}, h("th", { scope: "row" }, fact.label), ...values, h("td", { class: "note" }, tied(fact.note ?? "")));
  };
  const half = Math.ceil(facts.length / 2);
  const table = (part: Fact[]): HTMLElement => h("table", {}, h("thead", {}, h("tr", {}, h("td", {}), name(0), name(1), h("td", {}))), h("tbody", {}, ...part.map(row)));
  return h("div", { class: "differences" }, table(facts.slice(0, half)), table(facts.slice(half)));
}

// Facts that are read at a glance stay; the long list opens.
function about(run: RunHead): HTMLElement {
  const later = (fact: Fact): boolean => fact.label.startsWith("--") || fact.label === "Program" || fact.label === "Command";
  const first = run.about.filter((fact) => !later(fact));
  const rest = run.about.filter(later);
  return h("div", { class: "facts" }, factList(first, "about"),
    rest.length > 0 && h("details", {}, h("summary", {}, "program, command, options"), factList(rest, "about")));
}
