// A run's indexes against plain searches over the made-up run that it was written from; search, neighbours, descriptions.

import { beforeAll, describe, expect, test } from "vitest";
import { brief, expectation, summary } from "../src/describe";
import { targetOf } from "../src/page/hints";
import { sorted, text } from "../src/page/table";
import { grouped, runOf } from "../src/run";
import { find, neighbour, slowTasks } from "../src/search";
import { schedule, type Made } from "./schedule";
import { opened, type Opened } from "./runs";

let made: Made;
let page: Opened;
beforeAll(async () => {
  made = schedule(1500, 5, 11);
  page = await opened({ tasks: 1500, workers: 5, seed: 11, runs: 2 });
});

describe("indexes", () => {
  test("every task is where it was, with its edges", () => {
    const [run] = page.runs;
    expect(run.tasks.count).toBe(made.tasks.length);
    for (const task of made.tasks) {
      const row = run.rowOf(task.id);
      expect(row).not.toBeNull();
      if (row === null) continue;
      expect(run.tasks.start[row]).toBe(task.start);
      expect(run.tasks.duration[row]).toBe(task.duration);
      expect(run.laneOf(row)).toBe(task.lane);
      expect(run.submitted(row)).toBe(task.submit);
      expect(run.tasks.start[row] - run.value("tasks.ready", row)).toBe(task.ready);
      const ids = (rows: number[]): number[] => rows.map((r) => run.tasks.id[r]).sort((a, b) => a - b);
      expect(ids(run.predecessors(row))).toEqual([...new Set(task.before)].sort((a, b) => a - b));
      expect(ids(run.successors(row))).toEqual(made.tasks.filter((other) => other.before.includes(task.id)).map((other) => other.id));
    }
    expect(run.rowOf(made.tasks.length)).toBeNull();
    expect(Array.from(run.tasks.anomalous, (row) => run.tasks.id[row]).sort((a, b) => a - b)).toEqual(made.tasks.filter((t) => t.slow).map((t) => t.id));
  });

  test("nodes know their tasks and their family", () => {
    const [run] = page.runs;
    for (const node of made.nodes) {
      const rows = Array.from(run.rowsOfNode(node.id), (row) => run.tasks.id[row]).sort((a, b) => a - b);
      expect(rows).toEqual(made.tasks.filter((task) => task.node === node.id).map((task) => task.id));
      const position = run.tree.position(node.id) ?? -1;
      expect(run.tree.children(position).map((p) => run.tree.id[p])).toEqual(made.nodes.filter((n) => n.parent === node.id).map((n) => n.id));
      expect(summary(run, node.id)?.tasks).toBe(rows.length);
    }
    expect(summary(run, 1e6)).toBeNull();
  });

  test("places by value", () => {
    const places = grouped(Uint8Array.from([3, 1, 3, 0, 3]));
    expect([0, 1, 2, 3, 4, -1].map((v) => Array.from(places(v)))).toEqual([[3], [1], [], [0, 2, 4], [], []]);
  });

  test("tasks that do not fit the workers are refused", () => {
    const [run] = page.runs;
    expect(() => runOf({ ...run.head, workers: run.head.workers.slice(1) }, run.columns, 0)).toThrow(/do not fit/);
  });
});

describe("search", () => {
  test("by number, by name, by being slow", () => {
    const labels = (query: string): string[] => find(query, page.runs).map((found) => found.label);
    expect(labels("task 12")).toEqual(["A: task 12", "B: task 12"]);
    expect(labels(" N#3 ")).toEqual(["A: node 3", "B: node 3"]);
    expect(labels("3")).toEqual(["A: task 3", "A: node 3", "B: task 3", "B: node 3"]);
    expect(labels("mqrt")).toEqual(["gemqrt", "tpmqrt"]);
    expect(labels("anom")).toEqual(["slow tasks"]);
    expect(labels("task 999999")).toEqual([]);
    expect(labels("")).toEqual([]);
    expect(labels("no such thing")).toEqual([]);
  });

  test("from one slow task to the next and back, around the end", () => {
    const slow = slowTasks(page.runs);
    expect(slow.length).toBeGreaterThan(3);
    let at = neighbour(slow, null, 0, 1);
    const walked = [];
    for (let k = 0; k < slow.length; k += 1) {
      walked.push(at);
      at = at === null ? null : neighbour(slow, { kind: "task", run: at.run, id: at.id }, 0, 1);
    }
    expect(walked).toEqual(slow);
    expect(at).toEqual(slow[0]);
    expect(neighbour(slow, { kind: "task", run: slow[0].run, id: slow[0].id }, 0, -1)).toEqual(slow[slow.length - 1]);
    expect(neighbour(slow, null, slow[2].start, -1)).toEqual(slow[1]);
    expect(neighbour([], null, 0, 1)).toBeNull();
  });
});

describe("descriptions", () => {
  test("what is expected follows from the model's line", () => {
    const [run] = page.runs;
    const row = Array.from(run.tasks.codelet).findIndex((c) => run.head.codelets[c].name === "tpmqrt");
    const model = expectation(run, row);
    const flops = run.value("tasks.flops", row);
    expect(model?.expected_ns).toBeCloseTo(flops / 5, -2);
    expect((model?.upper_ns ?? 0) / (model?.expected_ns ?? 1)).toBeCloseTo(Math.exp(0.12), 6);
    expect(brief(run, row).title).toBe(`tpmqrt · task ${run.tasks.id[row]}`);
  });

  test("a hint's place becomes window and selection", () => {
    const [run] = page.runs;
    const [first, second] = run.head.hints;
    const span = run.head.span_ns;
    const a = targetOf(first.place!, run, span);
    expect(a.selection).toEqual({ kind: "node", run: 0, node: made.nodes.length - 1 });
    expect(a.window!.from).toBeLessThan(span * 0.7);
    const b = targetOf(second.place!, run, span);
    const slow = made.tasks.find((task) => task.slow)!;
    expect(b.selection).toEqual({ kind: "task", run: 0, id: slow.id });
    expect(b.window!.from).toBeLessThanOrEqual(slow.start);
    expect(b.window!.to).toBeGreaterThanOrEqual(slow.start + slow.duration);
  });
});

test("tables are sorted by value, empty cells last", () => {
  const rows = [["b", 2], ["a10", ""], ["a9", 10], ["c", -1]];
  expect(sorted(rows, 1, true)).toEqual([2, 0, 3, 1]);
  expect(sorted(rows, 1, false)).toEqual([3, 0, 2, 1]);
  expect(sorted(rows, 0, false)).toEqual([2, 1, 0, 3]);
  expect([text(1234567, "ns"), text(0.5, "part"), text(1234567, ""), text("x", "ns"), text(2.5e9, "flop")]).toEqual(["1.235\u202fms", "50\u202f%", "1\u202f234\u202f567", "x", "2.5\u202fGflop"]);
});
