// Loads of the tree's rows in a window: from the tasks where few are in view, else from a level of detail.
//
// Takes rows (tree-rows.ts) and steps of time; gives cells of row, stretch, load and kind. Draws nothing.

import type { Columns, Numbers } from "../decode";
import type { TreeLevel, TreePanel } from "../format";
import { lowerBound, MOST_EXACT, rowsInView } from "../lod";
import type { Run } from "../run";
import type { Scale, Window } from "../view";
import { levelOf, type Rows } from "./tree-rows";

// Kinds: 0 own tasks, 1 groups, 2 assemblies, 3 anomalies.
export interface Cell {
  row: number;
  rows: number;
  from: number;
  to: number;
  load: number;
  kind: number;
}

export interface LevelIndex extends TreeLevel {
  band: Numbers;
  bin: Numbers;
  load: Numbers;
  kind: Numbers;
  // Where each band's cells begin.
  begin: Uint32Array;
}

export function levelIndex(level: TreeLevel, columns: Columns): LevelIndex {
  const band = columns.get(level.cells.band);
  const begin = new Uint32Array(level.rows + 1);
  for (const k of band) begin[Math.min(k, level.rows - 1) + 1] += 1;
  for (let k = 0; k < level.rows; k += 1) begin[k + 1] += begin[k];
  return { ...level, band, bin: columns.get(level.cells.bin), load: columns.get(level.cells.load), kind: columns.get(level.cells.kind), begin };
}

export interface TaskRows {
  // The tree's row of each task; -1: none.
  of: Int32Array;
  rowOfNode(node: number): number | null;
}

export function taskRows(run: Run, rowOfNode: Numbers, node: Numbers): TaskRows {
  const { tree, tasks } = run;
  let most = 0;
  for (const n of tasks.node) most = Math.max(most, n);
  for (const n of node) most = Math.max(most, n);
  for (const n of tree.id) most = Math.max(most, n);
  const rows = new Int32Array(most + 1).fill(-1);
  for (let position = 0; position < tree.count; position += 1) {
    const row = (rowOfNode[position] ?? 0) - 1;
    if (row < 0) continue;
    const carrier = tree.carrier(position);
    rows[tree.id[position]] = row;
    if (carrier <= most && rows[carrier] < 0) rows[carrier] = row;
  }
  for (let row = 0; row < node.length; row += 1) rows[node[row]] = row;
  const of = Int32Array.from(tasks.node, (n) => rows[n]);
  return { of, rowOfNode: (n) => (rows[n] ?? -1) < 0 ? null : rows[n] };
}

export interface Ask {
  panel: TreePanel;
  run: Run;
  rows: Rows;
  levels: LevelIndex[];
  rowsOfTasks(): TaskRows;
  scale: Scale;
  window: Window;
  // Pixels that a step of load is wide at least.
  step: number;
}

export function cellsFor(ask: Ask): Cell[] {
  const { run, window, rows, scale } = ask;
  const { tasks } = run;
  const ranges = run.head.workers.map((_, lane) => rowsInView(tasks.start, tasks.duration, tasks.lane[lane], tasks.lane[lane + 1], window));
  const inView = ranges.reduce((sum, [first, end]) => sum + end - first, 0);
  const step_ns = Math.max(ask.step * scale.perPixel, 1);
  const level = levelOf(ask.levels, rows, run.head.span_ns, step_ns);
  const bin_ns = level === null ? 0 : run.head.span_ns / level.bins;
  // The finest bins are wide in a deep zoom.
  const exact = rows.single && (level === null || level.each > 1 || inView <= MOST_EXACT || bin_ns > 4 * step_ns);
  if (exact && inView <= 4 * MOST_EXACT) return fromTasks(ask, ranges, step_ns);
  return level === null ? [] : fromLevel(level, rows, bin_ns, window, step_ns);
}

function fromTasks({ run, rowsOfTasks, rows, scale }: Ask, ranges: [number, number][], step_ns: number): Cell[] {
  const { tasks, head } = run;
  const roles = head.codelets.map((codelet) => codelet.role);
  const { of } = rowsOfTasks();
  const workers = Math.max(head.workers.length, 1);
  const from = Math.floor(scale.ns(scale.left) / step_ns);
  const steps = Math.ceil(scale.ns(scale.right) / step_ns) - from;
  // Two sums a row and step: own tasks and groups.
  const own = new Map<number, Float32Array>();
  const out: Cell[] = [];
  for (const [first, end] of ranges) {
    for (let row = first; row < end; row += 1) {
      const at = of[row];
      if (at < 0 || Number.isNaN(rows.top(at))) continue;
      const role = roles[tasks.codelet[row]];
      const kind = role === "subtree" ? 1 : 0;
      const [a, b] = [tasks.start[row], tasks.start[row] + tasks.duration[row]];
      const key = at * 2 + kind;
      let sums = own.get(key);
      if (sums === undefined) own.set(key, (sums = new Float32Array(steps)));
      for (let k = Math.max(Math.floor(a / step_ns) - from, 0); k < steps && (k + from) * step_ns < b; k += 1) {
        sums[k] += Math.min(b, (k + from + 1) * step_ns) - Math.max(a, (k + from) * step_ns);
      }
      if (role === "assemble") out.push({ row: at, rows: 1, from: a, to: b, load: 0, kind: 2 });
      if ((tasks.mark[row] & 1) !== 0) out.push({ row: at, rows: 1, from: a, to: b, load: 0, kind: 3 });
    }
  }
  const loads: Cell[] = [];
  for (const [key, sums] of own) {
    sums.forEach((sum, k) => {
      if (sum > 0) loads.push({ row: key >> 1, rows: 1, from: (k + from) * step_ns, to: (k + from + 1) * step_ns, load: Math.min(sum / step_ns / workers, 1), kind: key & 1 });
    });
  }
  return [...loads, ...out];
}

function fromLevel(level: LevelIndex, rows: Rows, bin_ns: number, window: Window, step_ns: number): Cell[] {
  const merge = Math.max(1, Math.round(step_ns / bin_ns));
  const [low, high] = [Math.floor(window.from / bin_ns / merge) * merge, Math.ceil(window.to / bin_ns)];
  const bands = rows.single && level.each === 1 ? Array.from(rows.shown) : range(Math.floor(rows.first / level.each), Math.floor(rows.last / level.each));
  const out: Cell[] = [];
  for (const band of bands) {
    if (band >= level.rows) break;
    let k = lowerBound(level.bin, low, level.begin[band], level.begin[band + 1]);
    const end = lowerBound(level.bin, high, k, level.begin[band + 1]);
    while (k < end) {
      // Cells of one step, by kind.
      const step = Math.floor(level.bin[k] / merge);
      const sums = [0, 0, 0, 0];
      while (k < end && Math.floor(level.bin[k] / merge) === step) {
        sums[level.kind[k]] += level.load[k];
        k += 1;
      }
      const [from, to] = [step * merge * bin_ns, (step + 1) * merge * bin_ns];
      const row = band * level.each;
      // Groups first: what the node itself does lies over them where both are drawn in full.
      for (const kind of [1, 0, 2, 3]) {
        if (sums[kind] > 0) out.push({ row, rows: level.each, from, to, load: Math.min(sums[kind] / merge / 255, 1), kind });
      }
    }
  }
  return out;
}

const range = (from: number, to: number): number[] => Array.from({ length: Math.max(to - from + 1, 0) }, (_, k) => from + k);

