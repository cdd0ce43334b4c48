// What is said of a task and of a node: in the tooltip, in the details, in the search. Takes a run and a row; gives texts and figures.

import type { ModelLine } from "./format";
import { count, duration, percent, si } from "./number";
import { ANOMALOUS, ANOMALOUS_IN_BOTH, CRITICAL, type Run } from "./run";

export const codeletOf = (run: Run, row: number): string => run.head.codelets[run.tasks.codelet[row]]?.name ?? "?";

// Tile coordinates of a task, as "panel 1, row 2, column 3"; empty without.
export function tileOf(run: Run, row: number): string {
  const named = [["panel", "panel"], ["row", "row"], ["col", "column"]] as const;
  const parts = named.map(([key, name]) => [name, run.value(`tasks.${key}`, row)] as const);
  return parts.filter(([, value]) => value > 0).map(([name, value]) => `${name} ${value}`).join(", ");
}

export interface Expectation {
  expected_ns: number;
  upper_ns: number;
  level: number;
  why: string;
}

const atFlops = (line: ModelLine, ln: number): number => line.intercept + line.slope * ln;

// By the model of its kind; of several lines the one that is nearest to what it took.
export function expectation(run: Run, row: number): Expectation | null {
  const model = run.head.models[run.value("tasks.model", row) - 1];
  const flops = run.value("tasks.flops", row);
  if (model === undefined || model.lines.length === 0 || !(flops > 0)) return null;
  const ln = Math.log(flops);
  const took = Math.log(Math.max(run.tasks.duration[row], 1));
  const near = (line: ModelLine): number => Math.abs(took - atFlops(line, ln));
  const line = model.lines.reduce((best, next) => (near(next) < near(best) ? next : best));
  return {
    expected_ns: Math.exp(atFlops(line, ln)),
    upper_ns: Math.exp(line.upper[0] + line.upper[1] * ln),
    level: model.level,
    why: model.why,
  };
}

export interface TaskFacts {
  title: string;
  rows: [string, string][];
}

export function marksOf(run: Run, row: number): string[] {
  const mark = run.tasks.mark[row];
  const out: string[] = [];
  if ((mark & ANOMALOUS) !== 0) out.push((mark & ANOMALOUS_IN_BOTH) !== 0 ? "slow in both runs" : "slow");
  if ((mark & CRITICAL) !== 0) out.push("on the critical path");
  return out;
}

// The few lines of a tooltip.
export function brief(run: Run, row: number): TaskFacts {
  const { tasks } = run;
  const rows: [string, string][] = [["took", duration(tasks.duration[row])]];
  const model = expectation(run, row);
  if (model !== null) rows.push(["expected", `${duration(model.expected_ns, 3)}, at most ${duration(model.upper_ns, 3)}`]);
  const flops = run.value("tasks.flops", row);
  if (flops > 0) rows.push(["speed", si((flops / tasks.duration[row]) * 1e9, "Flop/s", 3)]);
  const tile = tileOf(run, row);
  rows.push(["node", `${tasks.node[row]}${tile === "" ? "" : `, ${tile}`}`]);
  const marks = marksOf(run, row);
  if (marks.length > 0) rows.push(["is", marks.join(", ")]);
  return { title: `${codeletOf(run, row)} · task ${tasks.id[row]}`, rows };
}

export interface NodeSummary {
  position: number;
  node: number;
  carrier: number;
  kind: string;
  tasks: number;
  slow: number;
  from_ns: number;
  to_ns: number;
  busy_ns: number;
  flops: number;
}

const KINDS = ["in tiles", "whole", "whole, in a subtree's task"];

export function summary(run: Run, node: number): NodeSummary | null {
  const position = run.tree.position(node);
  const carrier = position === null ? node : run.tree.carrier(position);
  const rows = run.rowsOfNode(carrier);
  if (position === null && rows.length === 0) return null;
  const out: NodeSummary = {
    position: position ?? -1, node, carrier, kind: KINDS[run.value("nodes.kind", position ?? -1)] ?? "",
    tasks: rows.length, slow: 0, from_ns: Infinity, to_ns: 0, busy_ns: 0,
    flops: position === null ? 0 : run.value("nodes.flops", position),
  };
  for (const row of rows) {
    const { start, duration: took, mark } = run.tasks;
    out.slow += mark[row] & ANOMALOUS;
    out.from_ns = Math.min(out.from_ns, start[row]);
    out.to_ns = Math.max(out.to_ns, start[row] + took[row]);
    out.busy_ns += took[row];
  }
  return out;
}

export function briefNode(run: Run, node: number): TaskFacts {
  const of = summary(run, node);
  const rows: [string, string][] = [];
  if (of !== null && of.position >= 0) {
    rows.push(["front", `${count(run.value("nodes.rows", of.position))} × ${count(run.value("nodes.cols", of.position))}, ${of.kind}`]);
    rows.push(["pivots", count(run.value("nodes.pivots", of.position))]);
    if (of.flops > 0) rows.push(["flops", si(of.flops, "", 3)]);
  }
  if (of !== null && of.tasks > 0) {
    rows.push(["tasks", `${count(of.tasks)}${of.slow > 0 ? `, ${count(of.slow)} slow` : ""}`]);
    rows.push(["worked on", `${duration(of.from_ns)} to ${duration(of.to_ns)}`]);
    const at_once = of.busy_ns / Math.max(of.to_ns - of.from_ns, 1);
    rows.push(["workers", `${at_once.toPrecision(2)} on average (${percent(at_once / Math.max(run.head.workers.length, 1))})`]);
  }
  return { title: `node ${node}`, rows };
}
