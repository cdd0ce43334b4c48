// Reports of made-up runs with every kind of panel, as the Rust side would write them: for tests, and to look at the page alone.

import type { Panel, Report, RunHead, Series } from "../src/format";
import { block, writer, type Writer } from "./encode";
import { CODELETS, schedule, type Made, type Task } from "./schedule";

export interface Example {
  report: Report;
  blocks: (string | null)[];
}

export interface Wish {
  tasks: number;
  workers: number;
  runs: 1 | 2;
  seed: number;
}

const USUAL: Wish = { tasks: 6000, workers: 8, runs: 1, seed: 7 };

export function example(wish: Partial<Wish> = {}): Example {
  const { tasks, workers, runs, seed } = { ...USUAL, ...wish };
  const made = Array.from({ length: runs }, (_, k) => one(schedule(tasks, workers, seed + 1000 * k), workers, k));
  const report: Report = {
    version: 1, program: "treeqr 0.0.0 (made-up example)", title: runs === 2 ? "example: prio against lws" : "example: a made-up tree",
    runs: made.map((m) => m.head), comparison: null,
  };
  const blocks: (string | null)[] = made.map((m) => block(m.out.bytes()));
  if (runs === 2) {
    const out = writer();
    const curves = made.map((m, k) => cumulative(out, `c${k}`, m.made.tasks, Math.max(...made.map((other) => other.head.span_ns))));
    const difference = curves[0].map((value, bin) => value - curves[1][bin]);
    report.comparison = {
      notes: ["These two runs were made up."],
      headline: [
        { label: "Time", text: "B takes 4 % longer", note: "36.1 ms and 37.6 ms" },
        { label: "Workers in tasks", text: "71 % and 68 %", note: "nothing was ready: 20 % and 24 %" },
      ],
      panels: [
        { id: "cumulative", title: "Work done", about: "Operations done since the beginning, of both runs, and how far A is ahead.", kind: "chart", form: "lines", unit: "flop", si: true, instead: null,
          series: [series(out, "A", "#1f5fa8", "cmp.a", curves[0]), series(out, "B", "#b4541a", "cmp.b", curves[1]), series(out, "A − B", "#6b6862", "cmp.d", difference)], rules: [], spans: [] },
        { id: "by-codelet-difference", title: "By codelet", about: "Time in tasks of both runs.", kind: "table", nodes: null, tasks: null,
          columns: [{ title: "Codelet", unit: "", align: "left" }, { title: "A", unit: "ns", align: "right" }, { title: "B", unit: "ns", align: "right" }],
          rows: CODELETS.map(([name], c) => [name, ...made.map((m) => m.made.tasks.filter((t) => t.codelet === c).reduce((s, t) => s + t.duration, 0))]) },
      ],
      columns: out.columns,
    };
    blocks.push(block(out.bytes()));
  }
  return { report, blocks };
}

const BINS = 2048;

function series(out: Writer, name: string, colour: string, key: string, values: ArrayLike<number>, max?: ArrayLike<number>): Series {
  const mean = out.put(`${key}.mean`, "f32", "plain", values);
  return { name, note: null, colour, bins: { mean, max: out.put(`${key}.max`, "f32", "plain", max ?? values) }, steps: null };
}

function cumulative(_out: Writer, _key: string, tasks: Task[], span: number): Float64Array {
  const at = new Float64Array(BINS);
  for (const t of tasks) at[Math.min(BINS - 1, Math.floor(((t.start + t.duration) / span) * BINS))] += t.flops;
  for (let k = 1; k < BINS; k += 1) at[k] += at[k - 1];
  return at;
}

function load(tasks: Task[], span: number, of: (task: Task) => boolean): Float64Array {
  const out = new Float64Array(BINS);
  const width = span / BINS;
  for (const t of tasks) {
    if (!of(t)) continue;
    for (let bin = Math.floor(t.start / width); bin <= Math.min(BINS - 1, Math.floor((t.start + t.duration) / width)); bin += 1) {
      out[bin] += Math.max(0, Math.min(t.start + t.duration, (bin + 1) * width) - Math.max(t.start, bin * width)) / width;
    }
  }
  return out;
}

function one(made: Made, workers: number, index: number) {
  const out = writer();
  const { tasks, nodes, span } = made;
  const rows = [...tasks].sort((a, b) => a.lane - b.lane || a.start - b.start);
  const all = <K>(f: (task: Task) => K): K[] => rows.map(f);
  out.put("tasks.lane", "u32", "delta", Array.from({ length: workers + 1 }, (_, w) => rows.filter((t) => t.lane < w).length));
  out.put("tasks.id", "u32", "delta", all((t) => t.id));
  out.put("tasks.codelet", "u8", "plain", all((t) => t.codelet));
  out.put("tasks.node", "u32", "delta", all((t) => t.node));
  out.put("tasks.gap", "f64", "zigzag", rows.map((t, k) => t.start - (rows[k - 1]?.lane === t.lane ? rows[k - 1].start + rows[k - 1].duration : 0)));
  out.put("tasks.duration", "f64", "varint", all((t) => t.duration));
  out.put("tasks.ready", "f64", "varint", all((t) => t.start - t.ready));
  out.put("tasks.flops", "f64", "varint", all((t) => Math.round(t.flops)));
  ["tasks.panel", "tasks.row", "tasks.col"].forEach((name, k) => out.put(name, "u32", "varint", all((t) => t.tile[k])));
  for (const name of ["tasks.m", "tasks.n", "tasks.k"]) out.put(name, "u32", "varint", all((t) => (t.flops > 0 ? 120 : 0)));
  const critical = new Set<number>();
  let at: Task | undefined = tasks.reduce((a, b) => (b.start + b.duration > a.start + a.duration ? b : a));
  while (at !== undefined) {
    critical.add(at.id);
    const before: Task[] = at.before.map((id) => tasks[id]);
    at = before.length === 0 ? undefined : before.reduce((a, b) => (b.start + b.duration > a.start + a.duration ? b : a));
  }
  out.put("tasks.mark", "u8", "plain", all((t) => (t.slow ? 1 : 0) + (critical.has(t.id) ? 2 : 0)));
  const modelled = CODELETS.map(([, role]) => role === "compute" || role === "subtree");
  const models = CODELETS.flatMap(([,], codelet) => (modelled[codelet] ? [codelet] : []));
  out.put("tasks.model", "u8", "plain", all((t) => models.indexOf(t.codelet) + 1));
  out.put("submit.time", "f64", "delta", tasks.map((t) => t.submit));
  const before = tasks.map((t) => [...new Set(t.before)]);
  out.put("deps.count", "u16", "varint", before.map((list) => list.length));
  out.put("deps.back", "u32", "varint", before.flatMap((list, id) => list.map((b) => id - b)));
  out.put("nodes.id", "u32", "delta", nodes.map((n) => n.id));
  out.put("nodes.parent", "u32", "varint", nodes.map((n) => (n.parent === null ? 0 : n.parent + 1)));
  out.put("nodes.depth", "u32", "varint", nodes.map((n) => n.depth));
  out.put("nodes.rows", "u32", "varint", nodes.map((n) => n.rows));
  out.put("nodes.cols", "u32", "varint", nodes.map((n) => n.cols));
  out.put("nodes.pivots", "u32", "varint", nodes.map((n) => Math.round(n.cols * 0.6)));
  const flops = new Float64Array(nodes.length);
  for (const t of tasks) flops[t.node] += t.flops;
  out.put("nodes.flops", "f64", "varint", flops.map(Math.round));
  out.put("nodes.kind", "u8", "plain", nodes.map((n) => n.kind));
  out.put("nodes.task", "u32", "delta", nodes.map((n) => n.id));
  out.put("nodes.tile_rows", "u32", "varint", nodes.map((n) => n.tiles[0]));
  out.put("nodes.tile_cols", "u32", "varint", nodes.map((n) => n.tiles[1]));
  const busy = rows.reduce((sum, t) => sum + t.duration, 0);
  const head: RunHead = {
    name: index === 0 ? "prio, 8 workers" : "lws, 8 workers",
    about: [
      { label: "Matrix", text: "12 345 × 6 789, 98 765 entries", note: null }, { label: "Ordering", text: "metis", note: "fewest predicted flops of 4" },
      { label: "Tree", text: `${nodes.length} fronts`, note: null }, { label: "Workers", text: `${workers} on CPUs`, note: null },
      { label: "Scheduler", text: index === 0 ? "prio" : "lws", note: null }, { label: "Processor", text: "Made-up processor at 2.5 GHz", note: "8 cores, 16 units usable" },
      { label: "Program", text: "treeqr 0.0.0", note: null }, { label: "Command", text: "treeqr solve gallery:grid3d-20 --workers 8", note: null },
      { label: "--scheduler", text: "prio", note: null }, { label: "--workers", text: "8", note: null },
    ],
    headline: [
      { label: "Time", text: `${(span / 1e6).toPrecision(4)} ms`, note: `from the beginning of the run to the end of its last task; ${tasks.length} tasks` },
      { label: "Speed", text: "23.5 GFlop/s", note: "0.87 Gflop" },
      { label: "Workers in tasks", text: `${((100 * busy) / span / workers).toFixed(0)} %`, note: "without one: nothing was ready 20 %, before the first task 3 %" },
      { label: "At best", text: "24.3 ms", note: "68 % of the time it took; all workers busy: 24.3 ms, longest chain of tasks: 14.1 ms" },
      { label: "Memory peak", text: "128 MB", note: "121 MB predicted for a sequential run" },
      { label: "Slow tasks", text: String(tasks.filter((t) => t.slow).length), note: "above the 95 % interval of their kind; 31 by chance" },
    ],
    warnings: index === 0 ? ["12 records found no room and are missing."] : [],
    hints: [
      { rule: "few-ready", severity: "cause", title: "Too few tasks were ready near the root", text: "For the last third of the run fewer tasks were ready than there were workers, because one front alone was active. Smaller tiles would give more tasks.", evidence: [{ label: "time with fewer ready tasks than workers", text: "31 %", note: null }, { label: "fronts active then", text: "1.2", note: null }], place: { panel: "gantt", from_ns: span * 0.7, to_ns: span, tasks: [], nodes: [nodes.length - 1] } },
      { rule: "slow-worker", severity: "note", title: "Worker 3 was slower than the others", text: "Its tasks took 1.12 times as long as their models say.", evidence: [{ label: "ratio", text: "1.12", note: null }], place: { panel: "gantt", from_ns: null, to_ns: null, tasks: [tasks.findIndex((t) => t.slow)], nodes: [] } },
    ],
    span_ns: span, submitted_ns: tasks[tasks.length - 1].submit, last_ns: span - 20_000,
    workers: Array.from({ length: workers }, (_, w) => ({ name: `worker ${w}`, kind: "cpu", idle: 1 - rows.filter((t) => t.lane === w).reduce((s, t) => s + t.duration, 0) / span })),
    codelets: CODELETS.map(([name, role, colour]) => ({ name, role, colour })),
    bounds: { area_ns: busy / workers, critical_path_ns: [...critical].reduce((s, id) => s + tasks[id].duration, 0), bound_ns: busy / workers },
    models: models.map((codelet) => {
      const rate = [1.6, 1, 1, 1, 2, 4, 3, 5, 1][codelet];
      return { codelet, kind: "cpu", choice: "classical", why: "residuals look normal", level: 0.95, lines: [{ intercept: -Math.log(rate), slope: 1, sigma: 0.05, upper: [-Math.log(rate) + 0.12, 1] }] };
    }),
    panels: [], columns: out.columns,
  };
  head.panels = panels(made, rows, workers, out, models);
  return { head, out, made };
}

function panels(made: Made, rows: Task[], workers: number, out: Writer, models: number[]): Panel[] {
  const { tasks, nodes, span } = made;
  const levels = [];
  for (let bins = tasks.length > 50_000 ? 8192 : 2048; bins >= 512; bins /= 2) {
    const codelet = new Uint8Array(bins * workers);
    const time = new Float64Array(bins * workers * CODELETS.length);
    for (const t of rows) {
      const width = span / bins;
      for (let b = Math.floor(t.start / width); b <= Math.min(bins - 1, Math.floor((t.start + t.duration) / width)); b += 1) {
        const part = Math.min(t.start + t.duration, (b + 1) * width) - Math.max(t.start, b * width);
        time[(t.lane * bins + b) * CODELETS.length + t.codelet] += part / width;
      }
    }
    const fill = codelet.map((_, at) => {
      const parts = time.subarray(at * CODELETS.length, (at + 1) * CODELETS.length);
      const most = parts.indexOf(Math.max(...parts));
      const sum = parts.reduce((s, v) => s + v, 0);
      codelet[at] = sum > 0 ? most + 1 : 0;
      return Math.min(255, Math.round(255 * sum));
    });
    levels.push({ bins, codelet: out.put(`gantt.${bins}.codelet`, "u8", "plain", codelet), fill: out.put(`gantt.${bins}.fill`, "u8", "plain", fill), mark: out.put(`gantt.${bins}.mark`, "u8", "plain", codelet.map(() => 0)) });
  }
  const gaps: { lane: number; start: number; duration: number; kind: number }[] = [];
  rows.forEach((t, k) => {
    const next = rows[k + 1];
    const end = t.start + t.duration;
    if (next !== undefined && next.lane === t.lane && next.start - end > 300) gaps.push({ lane: t.lane, start: end, duration: next.start - end, kind: next.start - end > 5000 ? 1 : 0 });
  });
  // In the first half of every fourth gap the worker helps, and has that much less of a state.
  const helped = gaps.filter((_, k) => k % 4 === 0).map((g) => ({ ...g, duration: Math.floor(g.duration / 2) }));
  gaps.forEach((g, k) => {
    if (k % 4 === 0) [g.start, g.duration] = [g.start + Math.floor(g.duration / 2), g.duration - Math.floor(g.duration / 2)];
  });
  const gantt: Panel = {
    id: "gantt", title: "Workers over time", about: "A row a worker: its tasks, coloured by codelet. Slow tasks are strong; dashed lines are the bounds.", kind: "gantt", levels,
    states: { lane: out.put("states.lane", "u8", "plain", gaps.map((g) => g.lane)), kind: out.put("states.kind", "u8", "plain", gaps.map((g) => g.kind)),
      start: out.put("states.start", "f64", "delta", gaps.map((g) => g.start)), duration: out.put("states.duration", "f64", "varint", gaps.map((g) => g.duration)),
      kinds: [{ name: "scheduling", colour: "#777777" }, { name: "sleeping", colour: "#dddddd" }] },
    helping: { lane: out.put("helping.lane", "u8", "plain", helped.map((g) => g.lane)), kind: out.put("helping.kind", "u8", "plain", helped.map(() => 7)),
      start: out.put("helping.start", "f64", "delta", helped.map((g) => g.start)), duration: out.put("helping.duration", "f64", "varint", helped.map((g) => g.duration)),
      kinds: CODELETS.map(([name, , colour]) => ({ name: `helps with ${name}`, colour })) },
  };
  const bySubmission = nodes.map((n) => n.id).sort((a, b) => nodes[a].first - nodes[b].first);
  const rowOf = new Map(bySubmission.map((id, row) => [id, row]));
  const lives = nodes.map((n) => tasks.filter((t) => t.node === n.id)).map((own) => [Math.min(...own.map((t) => t.start)), Math.max(...own.map((t) => t.start + t.duration))]);
  const of = (name: string, f: (id: number) => number): string => out.put(`tree.${name}`, name === "born" || name === "died" ? "f64" : "u32", name === "kind" ? "varint" : "delta", bySubmission.map(f));
  const treeLevels = [4096, 2048, 1024, 512].map((bins, k) => {
    const each = Math.max(1, Math.ceil(nodes.length / 512) >> (3 - k));
    const width = span / bins;
    const cells = new Map<number, number>();
    for (const t of tasks) {
      const kinds = [t.codelet === 0 ? 1 : 0, ...(t.codelet === 2 || t.codelet === 3 ? [2] : []), ...(t.slow ? [3] : [])];
      for (let b = Math.floor(t.start / width); b <= Math.min(bins - 1, Math.floor((t.start + t.duration) / width)); b += 1) {
        const part = Math.min(t.start + t.duration, (b + 1) * width) - Math.max(t.start, b * width);
        for (const kind of kinds) {
          const key = (Math.floor((rowOf.get(t.node) ?? 0) / each) * bins + b) * 4 + kind;
          cells.set(key, (cells.get(key) ?? 0) + part / width);
        }
      }
    }
    const keys = [...cells.keys()].sort((a, b) => a - b);
    const put = (name: string, type: "u8" | "u32", f: (key: number) => number): string => out.put(`tree.${bins}.${name}`, type, type === "u8" ? "plain" : "delta", keys.map(f));
    return { each, rows: Math.ceil(nodes.length / each), bins, cells: { band: put("band", "u32", (key) => Math.floor(key / 4 / bins)), bin: put("bin", "u32", (key) => Math.floor(key / 4) % bins),
      load: put("load", "u8", (key) => Math.max(1, Math.min(255, Math.round(((cells.get(key) ?? 0) / workers) * 255)))), kind: put("kind", "u8", (key) => key % 4) } };
  });
  const tree: Panel = {
    id: "tree", title: "Elimination tree over time", about: "A row a front in the order of submission: its life, its load, assemblies inset in green, slow tasks as dots.", kind: "tree",
    rows: { node: of("node", (id) => id), parent: of("parent", (id) => (nodes[id].parent === null ? 0 : (rowOf.get(nodes[id].parent ?? 0) ?? 0) + 1)), born: of("born", (id) => lives[id][0] - 500), died: of("died", (id) => lives[id][1] + 500), kind: of("kind", (id) => nodes[id].kind), has_groups: of("has_groups", () => 0) },
    row_of_node: out.put("tree.row_of_node", "u32", "delta", nodes.map((n) => (rowOf.get(n.id) ?? 0) + 1)), levels: treeLevels,
  };
  const depths = [...new Set(nodes.map((n) => n.depth))].sort();
  const depth: Panel = {
    id: "depth", title: "Workers by depth of the tree", about: "Workers in tasks by the depth of their node; the root is the darkest.", kind: "chart", form: "stack", unit: "workers", si: false, instead: null,
    series: depths.map((d, k) => series(out, `depth ${d}`, ["#332288", "#4477aa", "#66ccee", "#aaddcc", "#ddeebb"][k % 5], `depth.${d}`, load(tasks, span, (t) => nodes[t.node].depth === d))),
    rules: [{ value: workers, name: "workers", colour: "#c8281e", dashed: true }], spans: [],
  };
  const memory = load(tasks, span, () => true).map((v, k) => v * 1.6e7 * Math.sin((k / BINS) * Math.PI) + 4e6);
  const steps = Array.from({ length: 900 }, (_, k) => ({ time: Math.round((k / 900) * span), value: memory[Math.floor((k / 900) * BINS)] }));
  const memoryPanel: Panel = {
    id: "memory", title: "Memory", about: "Bytes of fronts and factors over time; the prediction is that of a sequential run.", kind: "chart", form: "steps", unit: "B", si: true, instead: null,
    series: [{ ...series(out, "fronts and factors", "#117733", "memory", memory), steps: { time: out.put("memory.time", "f64", "delta", steps.map((s) => s.time)), value: out.put("memory.value", "f64", "plain", steps.map((s) => s.value)) } }],
    rules: [{ value: 1.5e8, name: "limit", colour: "#c8281e", dashed: false }, { value: 1.15e8, name: "predicted", colour: "#1f5fa8", dashed: true }], spans: [],
  };
  const few = [[0.02, 0.05], [0.7, 0.93]];
  const ready: Panel = {
    id: "ready", title: "Ready tasks", about: "Tasks that could run and that no worker had taken. Red: fewer than workers.", kind: "chart", form: "lines", unit: "tasks", si: false, instead: null,
    series: [series(out, "ready", "#4477aa", "ready", load(tasks, span, (t) => t.ready < t.start).map((v) => v * 1.4), load(tasks, span, () => true).map((v) => v * 1.9))],
    rules: [{ value: workers, name: "workers", colour: "#c8281e", dashed: true }],
    spans: [{ start: out.put("few.start", "f64", "delta", few.map((f) => Math.round(f[0] * span))), end: out.put("few.end", "f64", "delta", few.map((f) => Math.round(f[1] * span))), colour: "#c8281e", name: "fewer ready than workers" }],
  };
  const stalls: Panel = {
    id: "stalls", title: "Submission", about: "When the submission waited, and what for.", kind: "spans", lanes: ["submission", "recorder"], notes: ["14 %", "0.2 %"], heading: "of the run", axis: null, least: true, instead: null, kinds: [{ name: "window full", colour: "#eecc66" }, { name: "memory full", colour: "#cc3311" }],
    lane: out.put("stalls.lane", "u8", "plain", [0, 0, 0, 1]), kind_of: out.put("stalls.kind", "u8", "plain", [0, 1, 0, 1]), start: out.put("stalls.start", "f64", "delta", [0.1, 0.3, 0.5, 0.6].map((v) => Math.round(v * span))), duration: out.put("stalls.duration", "f64", "varint", [0.03, 0.1, 0.01, 0.002].map((v) => Math.round(v * span))),
  };
  const computing = rows.flatMap((t, row) => (models.includes(t.codelet) ? [row] : []));
  const ln = computing.map((row) => [Math.log(rows[row].flops), Math.log(rows[row].duration)]);
  const range = (k: number): [number, number] => [ln.reduce((m, v) => Math.min(m, v[k]), Infinity) - 0.2, ln.reduce((m, v) => Math.max(m, v[k]), -Infinity) + 0.2];
  const [xr, yr] = [range(0), range(1)];
  const dense = computing.length > 20_000;
  const cells = new Map<number, number>();
  if (dense) {
    ln.forEach(([x, y], k) => {
      const key = (Math.floor(((x - xr[0]) / (xr[1] - xr[0])) * 200) * 100 + Math.floor(((y - yr[0]) / (yr[1] - yr[0])) * 100)) * 16 + rows[computing[k]].codelet;
      cells.set(key, (cells.get(key) ?? 0) + 1);
    });
  }
  const keys = [...cells.keys()];
  const points = out.put("scatter.task", "u32", "delta", dense ? computing.filter((row) => rows[row].slow) : computing);
  const scatter: Panel = {
    id: "durations", title: "Duration against flops", about: "A dot a task, both axes logarithmic; lines are the models and the upper limit of their interval.", kind: "scatter", y_of: "duration", models: models.map((_, k) => k), x: xr, y: yr,
    cells: dense ? { x: out.put("scatter.x", "u16", "plain", keys.map((k) => Math.floor(k / 1600))), y: out.put("scatter.y", "u16", "plain", keys.map((k) => Math.floor(k / 16) % 100)), count: out.put("scatter.count", "u32", "varint", keys.map((k) => cells.get(k) ?? 0)), codelet: out.put("scatter.codelet", "u8", "plain", keys.map((k) => k % 16)), wide: 200, high: 100 } : null,
    points: { task: points },
  };
  const residuals: Panel = { ...scatter, id: "residuals", title: "Residuals", about: "How much longer than expected, by flops.", y_of: "residual", cells: null, y: [-0.4, 1.8], points: { task: dense ? points : out.put("residuals.task", "u32", "delta", computing) } };
  const bins = 12;
  const lo = Math.floor(xr[0] / Math.LN2);
  const histogram: Panel = {
    id: "sizes", title: "Tasks by size", about: "How many tasks of which size ran where; the outline is what the area bound would give.", kind: "histogram", of: "flops", instead: null, edges_ln: [lo * Math.LN2, (lo + bins) * Math.LN2], bins,
    groups: models.map((codelet) => {
      const counts = new Array<number>(bins).fill(0);
      for (const row of computing) if (rows[row].codelet === codelet) counts[Math.min(bins - 1, Math.max(0, Math.floor(Math.log2(rows[row].flops)) - lo))] += 1;
      return { name: CODELETS[codelet][0], note: null, colour: CODELETS[codelet][2], kind: "on CPUs", count: out.put(`sizes.${codelet}`, "u32", "varint", counts), target: out.put(`sizes.${codelet}.target`, "f64", "plain", counts.map((c) => c * 0.9)) };
    }),
  };
  const x = new Float64Array(nodes.length);
  let leaves = 0;
  for (const n of nodes) {
    const children = nodes.filter((c) => c.parent === n.id);
    x[n.id] = children.length === 0 ? leaves++ : children.reduce((s, c) => s + x[c.id], 0) / children.length;
  }
  const deepest = Math.max(...nodes.map((n) => n.depth)) + 1;
  const sizes = nodes.map((n) => tasks.filter((t) => t.node === n.id).reduce((s, t) => s + t.flops, 0));
  const shape: Panel = {
    id: "shape", title: "The tree", about: "Area by operations, colour by when it was worked on.", kind: "shape",
    x: out.put("shape.x", "f32", "plain", x.map((v) => (v + 0.5) / leaves)), y: out.put("shape.y", "f32", "plain", nodes.map((n) => (n.depth + 0.5) / deepest)), size: out.put("shape.size", "f32", "plain", sizes.map((v) => v / Math.max(...sizes))),
    parent: out.put("shape.parent", "u32", "varint", nodes.map((n) => (n.parent === null ? 0 : n.parent + 1))), node: out.put("shape.node", "u32", "delta", nodes.map((n) => n.id)), time: out.put("shape.time", "f64", "zigzag", nodes.map((n) => Math.round((lives[n.id][0] + lives[n.id][1]) / 2))),
  };
  const largest = [...nodes].sort((a, b) => sizes[b.id] - sizes[a.id]).slice(0, 40);
  const table: Panel = {
    id: "by-node", title: "By tree node", about: "The nodes with most operations.", kind: "table", tasks: null, nodes: largest.map((n) => n.id),
    columns: [{ title: "Node", unit: "", align: "left" }, { title: "Kind", unit: "", align: "left" }, { title: "Depth", unit: "", align: "right" }, { title: "Rows", unit: "", align: "right" }, { title: "Operations", unit: "flop", align: "right" }, { title: "Life", unit: "ns", align: "right" }, { title: "Share", unit: "part", align: "right" }],
    rows: largest.map((n) => [n.id, ["tiled", "whole"][n.kind], n.depth, n.rows, sizes[n.id], lives[n.id][1] - lives[n.id][0], sizes[n.id] / sizes.reduce((a, b) => a + b)]),
  };
  return [gantt, tree, depth, memoryPanel, ready, stalls, scatter, residuals, histogram, shape, table];
}
