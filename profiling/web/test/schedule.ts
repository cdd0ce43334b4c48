// A made-up run: an elimination tree, the tasks of its fronts, and where and when workers ran them. For examples and tests only.

import { random } from "./random";

export const CODELETS = [
  ["do_subtree", "subtree", "#ddcc77"], ["init_front", "manage", "#117733"], ["init_block", "assemble", "#44aa99"],
  ["block_copy", "assemble", "#999933"], ["geqrt", "compute", "#882255"], ["gemqrt", "compute", "#88ccee"],
  ["tpqrt", "compute", "#cc6677"], ["tpmqrt", "compute", "#332288"], ["clean_front", "manage", "#aa4499"],
] as const;

export interface Task {
  id: number;
  codelet: number;
  node: number;
  tile: [number, number, number];
  flops: number;
  before: number[];
  lane: number;
  submit: number;
  ready: number;
  start: number;
  duration: number;
  slow: boolean;
}

export interface Node {
  id: number;
  parent: number | null;
  depth: number;
  rows: number;
  cols: number;
  tiles: [number, number];
  kind: number;
  first: number;
  last: number;
}

export interface Made {
  nodes: Node[];
  tasks: Task[];
  span: number;
}

export function schedule(wanted: number, workers: number, seed: number): Made {
  const r = random(seed);
  const nodes: Node[] = [];
  const tasks: Task[] = [];
  const add = (codelet: number, node: number, tile: [number, number, number], flops: number, before: number[]): number => {
    tasks.push({ id: tasks.length, codelet, node, tile, flops, before, lane: 0, submit: 0, ready: 0, start: 0, duration: 0, slow: false });
    return tasks.length - 1;
  };
  // Postorder of a tree with three children a node; fronts grow towards the root.
  const depthOf = Math.max(1, Math.round(Math.log(wanted / 60) / Math.log(3.4)));
  const build = (depth: number): number => {
    const children = depth >= depthOf ? [] : Array.from({ length: depth === 0 ? 3 : 2 + r.below(2) }, () => build(depth + 1));
    const id = nodes.length;
    for (const child of children) nodes[child].parent = id;
    const size = Math.max(1, Math.round((depthOf - depth) * (1.1 + r.next()) * Math.min(2.2, Math.cbrt(wanted / 4000) + 0.4)));
    const tiles: [number, number] = depth >= depthOf ? [0, 0] : [size + 2 + r.below(3), size + 1];
    const node: Node = { id, parent: null, depth, rows: (tiles[0] || 1) * 120, cols: (tiles[1] || 1) * 120, tiles, kind: depth >= depthOf ? 1 : 0, first: tasks.length, last: 0 };
    nodes.push(node);
    if (depth >= depthOf) {
      add(0, id, [0, 0, 0], 2e5 * Math.exp(1.2 * r.normal()), []);
    } else {
      const begin = add(1, id, [0, 0, 0], 0, children.map((child) => nodes[child].last));
      const at = new Map<string, number>();
      for (let i = 1; i <= tiles[0]; i += 1) {
        for (let j = 1; j <= tiles[1]; j += 1) at.set(`${i},${j}`, add(2, id, [0, i, j], 0, [begin]));
      }
      for (const child of children) at.set("1,1", add(3, id, [0, 1, 1], 0, [begin, nodes[child].last, at.get("1,1") ?? begin]));
      for (let k = 1; k <= Math.min(...tiles); k += 1) {
        const head = add(4, id, [k, k, k], 3e6, [at.get(`${k},${k}`) ?? begin]);
        at.set(`${k},${k}`, head);
        for (let j = k + 1; j <= tiles[1]; j += 1) at.set(`${k},${j}`, add(5, id, [k, k, j], 5e6, [head, at.get(`${k},${j}`) ?? begin]));
        for (let i = k + 1; i <= tiles[0]; i += 1) {
          const panel = add(6, id, [k, i, k], 4e6 * (0.7 + 0.6 * r.next()), [at.get(`${k},${k}`) ?? begin, at.get(`${i},${k}`) ?? begin]);
          at.set(`${k},${k}`, panel);
          for (let j = k + 1; j <= tiles[1]; j += 1) {
            const task = add(7, id, [k, i, j], 9e6 * (0.6 + 0.8 * r.next()), [panel, at.get(`${k},${j}`) ?? begin, at.get(`${i},${j}`) ?? begin]);
            at.set(`${k},${j}`, task).set(`${i},${j}`, task);
          }
        }
      }
    }
    const before = [...new Set([tasks.length - 1])];
    node.last = add(8, id, [0, 0, 0], 0, before);
    return id;
  };
  build(0);
  const span = run(tasks, workers, r);
  return { nodes, tasks, span };
}

// List scheduling in the order of submission.
function run(tasks: Task[], workers: number, r: ReturnType<typeof random>): number {
  const free = new Float64Array(workers);
  const end = new Float64Array(tasks.length);
  tasks.forEach((task, k) => {
    task.submit = Math.round(2e4 + k * 700);
    task.ready = task.before.reduce((most, b) => Math.max(most, end[b]), task.submit);
    let lane = 0;
    for (let w = 1; w < workers; w += 1) if (Math.max(free[w], task.ready) < Math.max(free[lane], task.ready)) lane = w;
    const rate = [1.6, 1, 1, 1, 2, 4, 3, 5, 1][task.codelet] * 1e9;
    task.slow = task.flops > 0 && r.next() < 0.012;
    const base = task.flops > 0 ? (task.flops / rate) * 1e9 : 3000;
    task.duration = Math.max(60, Math.round(base * Math.exp(0.05 * r.normal()) * (task.slow ? 1.6 + 3 * r.next() : 1)));
    task.start = Math.round(Math.max(free[lane], task.ready) + 150 + 100 * r.next());
    task.lane = lane;
    free[lane] = end[k] = task.start + task.duration;
  });
  return Math.max(...free) + 20_000;
}
