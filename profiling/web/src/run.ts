// One run as the panels use it: its head, its tables, and indexes over them.
//
// Takes head and columns; gives tasks by id and by node, predecessors and successors, nodes by id. Indexes over all tasks are
// made when somebody asks first: nothing here delays the first picture. Knows no pixel.

import { Broken, type Columns, type Numbers } from "./decode";
import type { RunHead } from "./format";

export interface Tasks {
  count: number;
  lane: Numbers;
  id: Numbers;
  codelet: Numbers;
  node: Numbers;
  start: Numbers;
  duration: Numbers;
  mark: Numbers;
  // Rows with a mark, in the order of rows.
  anomalous: Uint32Array;
}

export interface Run {
  index: number;
  head: RunHead;
  columns: Columns;
  tasks: Tasks;
  // A value of a task; 0 where the report has no such column.
  value(column: string, row: number): number;
  rowOf(id: number): number | null;
  laneOf(row: number): number;
  submitted(row: number): number | null;
  predecessors(row: number): number[];
  successors(row: number): number[];
  rowsOfNode(node: number): Uint32Array;
  tree: Tree;
}

export interface Tree {
  count: number;
  id: Numbers;
  parent: Numbers;
  // Position of a node in nodes.*, by its id.
  position(node: number): number | null;
  children(position: number): number[];
  // The node that its tasks carry: a grouped front has none of its own.
  carrier(position: number): number;
}

export const ANOMALOUS = 1;
export const CRITICAL = 2;
export const ANOMALOUS_IN_BOTH = 4;

export function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

export function runOf(head: RunHead, columns: Columns, index: number): Run {
  const column = (name: string): Numbers => (columns.has(name) ? columns.get(name) : new Uint32Array(0));
  const gap = columns.get("tasks.gap");
  const count = gap.length;
  const lane = columns.get("tasks.lane");
  if (lane.length !== head.workers.length + 1 || lane[lane.length - 1] !== count) {
    throw new Broken(`run ${head.name}: its tasks do not fit its workers`);
  }
  const mark = columns.get("tasks.mark");
  const named = { id: "tasks.id", codelet: "tasks.codelet", node: "tasks.node", duration: "tasks.duration" };
  for (const name of Object.values(named)) {
    if (columns.get(name).length !== count) throw new Broken(`run ${head.name}: ${name} is not as long as tasks.gap`);
  }
  const tasks: Tasks = {
    count, lane, mark,
    start: starts(lane, gap, columns.get(named.duration)),
    id: columns.get(named.id),
    codelet: columns.get(named.codelet),
    node: columns.get(named.node),
    duration: columns.get(named.duration),
    anomalous: rowsWith(mark, ANOMALOUS),
  };
  const ids = once(() => orderOfIds(tasks.id));
  const links = once(() => dependencies(tasks, ids(), column("deps.count"), column("deps.back")));
  const nodes = once(() => grouped(tasks.node));
  const rowOf = (id: number): number | null => ids().find(id);
  return {
    index, head, columns, tasks, rowOf,
    value: (name, row) => (columns.has(name) ? columns.get(name)[row] ?? 0 : 0),
    laneOf: (row) => {
      let k = 0;
      while (k + 2 < lane.length && lane[k + 1] <= row) k += 1;
      return k;
    },
    submitted: (row) => column("submit.time")[ids().position(row)] ?? null,
    predecessors: (row) => links().predecessors(row),
    successors: (row) => links().successors(row),
    rowsOfNode: (node) => nodes()(node),
    tree: treeOf(column),
  };
}

// Gaps are from the end of the task before on the worker.
function starts(lane: Numbers, gap: Numbers, duration: Numbers): Float64Array {
  const out = new Float64Array(gap.length);
  for (let w = 0; w + 1 < lane.length; w += 1) {
    let end = 0;
    for (let row = lane[w]; row < lane[w + 1]; row += 1) {
      out[row] = end + gap[row];
      end = out[row] + duration[row];
    }
  }
  return out;
}

function rowsWith(mark: Numbers, bit: number): Uint32Array {
  const out: number[] = [];
  for (let row = 0; row < mark.length; row += 1) if ((mark[row] & bit) !== 0) out.push(row);
  return Uint32Array.from(out);
}

interface IdOrder {
  // Rows in the order of ids.
  rows: Uint32Array;
  position(row: number): number;
  find(id: number): number | null;
}

function orderOfIds(id: Numbers): IdOrder {
  const rows = new Uint32Array(id.length);
  let most = 0;
  for (const value of id) most = Math.max(most, value);
  if (most < 4 * id.length + 1024) {
    const at = new Int32Array(most + 1).fill(-1);
    for (let row = 0; row < id.length; row += 1) at[id[row]] = row;
    let k = 0;
    for (const row of at) if (row >= 0) rows[k++] = row;
  } else {
    for (let row = 0; row < id.length; row += 1) rows[row] = row;
    rows.sort((a, b) => id[a] - id[b]);
  }
  const positions = new Uint32Array(id.length);
  rows.forEach((row, k) => (positions[row] = k));
  return {
    rows,
    position: (row) => positions[row],
    find(wanted) {
      let low = 0;
      let high = rows.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (id[rows[middle]] < wanted) low = middle + 1;
        else high = middle;
      }
      const row = rows[low];
      return row !== undefined && id[row] === wanted ? row : null;
    },
  };
}

function dependencies(tasks: Tasks, ids: IdOrder, counts: Numbers, back: Numbers) {
  const begin = new Uint32Array(counts.length + 1);
  for (let k = 0; k < counts.length; k += 1) begin[k + 1] = begin[k] + counts[k];
  if (begin[counts.length] !== back.length) throw new Broken("the dependencies of this report are not complete");
  const predecessors = (row: number): number[] => {
    const k = ids.position(row);
    const out: number[] = [];
    for (let at = begin[k]; at < (begin[k + 1] ?? 0); at += 1) {
      const found = ids.find(tasks.id[row] - back[at]);
      if (found !== null) out.push(found);
    }
    return out;
  };
  // The same edges, sorted by where they come from.
  const reversed = once(() => {
    const from = new Uint32Array(back.length);
    const to = new Uint32Array(back.length);
    let edges = 0;
    for (let k = 0; k < counts.length; k += 1) {
      const row = ids.rows[k];
      for (let at = begin[k]; at < begin[k + 1]; at += 1) {
        const found = ids.find(tasks.id[row] - back[at]);
        if (found === null) continue;
        from[edges] = found;
        to[edges] = row;
        edges += 1;
      }
    }
    const order = grouped(from.subarray(0, edges));
    return (row: number): number[] => Array.from(order(row), (edge) => to[edge]);
  });
  return { predecessors, successors: (row: number): number[] => reversed()(row) };
}

// Positions of each value, by counting: for a value, where it stands, in order.
export function grouped(values: Numbers): (value: number) => Uint32Array {
  let most = 0;
  for (const value of values) most = Math.max(most, value);
  const begin = new Uint32Array(most + 2);
  for (const value of values) begin[value + 1] += 1;
  for (let k = 0; k <= most; k += 1) begin[k + 1] += begin[k];
  const next = begin.slice();
  const places = new Uint32Array(values.length);
  for (let k = 0; k < values.length; k += 1) places[next[values[k]]++] = k;
  return (value) => (value >= 0 && value <= most ? places.subarray(begin[value], begin[value + 1]) : places.subarray(0, 0));
}

function treeOf(column: (name: string) => Numbers): Tree {
  const id = column("nodes.id");
  const parent = column("nodes.parent");
  const positions = once(() => new Map(Array.from(id, (node, k) => [node, k])));
  const children = once(() => grouped(parent));
  return {
    count: id.length,
    id,
    parent,
    position: (node) => positions().get(node) ?? null,
    children: (position) => Array.from(children()(parentKey(id, position))),
    carrier: (position) => column("nodes.task")[position] ?? id[position],
  };
}

// `nodes.parent` is an id + 1.
const parentKey = (id: Numbers, position: number): number => id[position] + 1;
