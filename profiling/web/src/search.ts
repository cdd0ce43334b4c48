// What a query means: a task or a node by number, a codelet by name, or the slow tasks. Takes text and runs; gives what can be chosen.

import { brief } from "./describe";
import { count } from "./number";
import type { Run } from "./run";
import type { Selection } from "./state";

export type Found =
  | { kind: "select"; label: string; note: string; selection: Selection }
  | { kind: "codelet"; label: string; note: string; codelet: string }
  | { kind: "slow"; label: string; note: string };

const NAMES = ["A", "B"];

export function find(query: string, runs: Run[]): Found[] {
  const text = query.trim().toLowerCase();
  if (text === "") return [];
  const number = /^(task|node|t|n)?[\s#]*(\d+)$/.exec(text);
  const out: Found[] = [];
  if (number !== null) {
    const value = Number(number[2]);
    const [task, node] = [number[1]?.[0] !== "n", number[1]?.[0] !== "t"];
    for (const run of runs) {
      const where = runs.length > 1 ? `${NAMES[run.index]}: ` : "";
      const row = task ? run.rowOf(value) : null;
      if (row !== null) out.push({ kind: "select", label: `${where}task ${value}`, note: brief(run, row).title.split(" · ")[0], selection: { kind: "task", run: run.index, id: value } });
      const known = node && (run.tree.position(value) !== null || run.rowsOfNode(value).length > 0);
      if (known) out.push({ kind: "select", label: `${where}node ${value}`, note: `${count(run.rowsOfNode(value).length)} tasks`, selection: { kind: "node", run: run.index, node: value } });
    }
    return out;
  }
  if ("anomalies".startsWith(text) || "slow tasks".startsWith(text)) {
    const slow = runs.reduce((sum, run) => sum + run.tasks.anomalous.length, 0);
    if (slow > 0) out.push({ kind: "slow", label: "slow tasks", note: `${count(slow)}; n: next, p: previous` });
  }
  const names = new Map<string, number>();
  for (const run of runs) for (const { name } of run.head.codelets) names.set(name, 0);
  for (const name of names.keys()) {
    if (name.toLowerCase().includes(text)) out.push({ kind: "codelet", label: name, note: "show where it ran", codelet: name });
  }
  return out;
}

interface Slow {
  run: number;
  id: number;
  start: number;
}

// Slow tasks of all runs in the order of time.
export function slowTasks(runs: Run[]): Slow[] {
  const out = runs.flatMap((run) =>
    Array.from(run.tasks.anomalous, (row): Slow => ({ run: run.index, id: run.tasks.id[row], start: run.tasks.start[row] })));
  return out.sort((a, b) => a.start - b.start || a.run - b.run || a.id - b.id);
}

// The one after or before the selected one; without a selection the first after or the last before a time.
export function neighbour(slow: Slow[], selected: Selection | null, at: number, by: 1 | -1): Slow | null {
  if (slow.length === 0) return null;
  const known = selected?.kind === "task" ? slow.findIndex((s) => s.run === selected.run && s.id === selected.id) : -1;
  if (known >= 0) return slow[(known + by + slow.length) % slow.length];
  const after = slow.findIndex((s) => s.start >= at);
  if (by > 0) return slow[after < 0 ? 0 : after];
  return slow[(after <= 0 ? slow.length : after) - 1];
}
