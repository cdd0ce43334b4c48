// Every kind of panel draws itself in every state without a document: within its plot, no NaN, every anomaly seen, the same shapes in
// SVG; and what is under the pointer is what was drawn there.

import { beforeAll, describe, expect, test } from "vitest";
import type { Panel } from "../src/format";
import type { Painter } from "../src/paint/painter";
import { asSvg } from "../src/page/export";
import { svgPainter } from "../src/paint/svg";
import { drawn } from "../src/panels/index";
import { plotOf, type Drawn, type Frame } from "../src/panels/panel";
import { option, type State } from "../src/state";
import { DARK, LIGHT } from "../src/theme";
import { read } from "../src/url";
import { scaleOf } from "../src/view";
import { opened, type Opened } from "./runs";
import { parse } from "./xml";

let one: Opened;
let large: Opened;
let two: Opened;
beforeAll(async () => {
  one = await opened({ tasks: 3000, workers: 6 });
  large = await opened({ tasks: 60_000, workers: 6, seed: 3 });
  two = await opened({ tasks: 1500, workers: 4, runs: 2 });
});

interface Shape {
  what: "rect" | "line" | "dot";
  at: [number, number, number, number];
  colour: number;
  clipped: boolean;
}

function recorder(): { painter: Painter; shapes: Shape[]; texts: string[] } {
  const shapes: Shape[] = [];
  const texts: string[] = [];
  let clipped = false;
  const put = (what: Shape["what"], at: Shape["at"], colour: number): void => {
    if (at.some((v) => !Number.isFinite(v))) throw new Error(`${what} at ${at.join(" ")}`);
    if (!Number.isInteger(colour)) throw new Error(`${what} in colour ${colour}`);
    shapes.push({ what, at, colour, clipped });
  };
  return {
    shapes, texts,
    painter: {
      rect: (x, y, w, h, c) => put("rect", [x, y, x + w, y + h], c),
      line: (x0, y0, x1, y1, _, c) => put("line", [Math.min(x0, x1), Math.min(y0, y1), Math.max(x0, x1), Math.max(y0, y1)], c),
      dot: (x, y, r, c) => put("dot", [x - r, y - r, x + r, y + r], c),
      text: (x, y, text) => {
        if (!Number.isFinite(x + y) || /NaN|undefined|Infinity/.test(text)) throw new Error(`text ${text} at ${x} ${y}`);
        texts.push(text);
      },
      clip: (box) => void (clipped = box !== null),
      flush: () => undefined,
    },
  };
}

function make(page: Opened, id: string, run = 0): Drawn {
  const head = page.runs[run].head;
  const panel = head.panels.find((p) => p.id === id) as Panel;
  const other = page.runs[1 - run];
  const peer = other === undefined ? null : { panel: other.head.panels.find((p) => p.id === id) as Panel, columns: other.columns };
  const made = drawn({ panel, run: page.runs[run], columns: page.runs[run].columns, peer, span: spanOf(page) });
  if (made === null) throw new Error(`no panel ${id}`);
  return made;
}

const spanOf = (page: Opened): number => Math.max(...page.runs.map((run) => run.head.span_ns));

function frame(page: Opened, panel: Drawn, hash = "", width = 1200, theme = LIGHT): Frame {
  const span = spanOf(page);
  const state: State = read(hash, span);
  const height = panel.height(width, state);
  return { width, height, plot: plotOf(width, height, panel.margins), window: state.window, span, theme, state };
}

const IDS = ["gantt", "tree", "depth", "memory", "ready", "stalls", "durations", "residuals", "sizes", "shape"];

describe("every panel", () => {
  for (const id of IDS) {
    test(`${id}: all states, both themes, narrow and wide, near and far`, () => {
      for (const page of [one, large, two]) {
        const panel = make(page, id);
        const s = spanOf(page);
        const task = page.runs[0].tasks.id[page.runs[0].tasks.anomalous[0]];
        const hashes = ["", `t=${s * 0.4},${s * 0.41}`, `t=${s * 0.5},${s * 0.5 + 30}`, `task=0.${task}`, "node=0.3&codelet=tpmqrt", "pale=0",
          "o=gantt.show:states", "o=gantt.path:1,tree.rows:all,tree.step:40", "codelet=nothing&node=0.99999&task=7.7"];
        for (const hash of hashes) {
          for (const width of [700, 1200, 3840]) {
            const f = frame(page, panel, hash, width, width === 700 ? DARK : LIGHT);
            const r = recorder();
            panel.draw(r.painter, f);
            expect(r.shapes.length).toBeGreaterThan(0);
            for (const { at, clipped } of r.shapes) {
              if (clipped) continue;
              // Outside of the clip nothing leaves the picture.
              expect(at[0]).toBeGreaterThan(-1);
              expect(at[2]).toBeLessThan(width + 1);
              expect(at[1]).toBeGreaterThan(-1);
              expect(at[3]).toBeLessThan(f.height + 1);
            }
          }
        }
      }
    });

    test(`${id}: as SVG that parses`, () => {
      const panel = make(two, id, 1);
      const f = frame(two, panel);
      const p = svgPainter(f.width, f.height, LIGHT.paper, id);
      panel.draw(p, f);
      p.flush();
      expect(parse(p.svg()).all("text").length + parse(p.svg()).all("rect").length).toBeGreaterThan(3);
    });
  }
});

test("a file has title, legend, both runs and the time axis", () => {
  const panels = [0, 1].map((run) => make(two, "gantt", run));
  const views = panels.map((panel, run) => ({ drawn: panel, run, frame: () => frame(two, panel) }));
  const legend = [{ name: "geqrt", colour: LIGHT.alarm }, { name: "not shown", colour: LIGHT.alarm, hidden: true }];
  const texts = parse(asSvg("Tasks & workers", views, legend)).all("text").map((text) => text.text);
  for (const text of ["Tasks & workers", "geqrt", "A", "B", "worker 0", "time"]) expect(texts).toContain(text);
  expect(texts).not.toContain("not shown");
  expect(texts.filter((text) => text === "worker 3").length).toBe(2);
});

describe("Gantt chart", () => {
  test("every anomaly is at least two pixels wide and strong, at every zoom", () => {
    for (const page of [one, large]) {
      const panel = make(page, "gantt");
      const [run] = page.runs;
      const strong = new Set(run.head.codelets.map((codelet) => LIGHT.data(codelet.colour)));
      for (const part of [1, 0.1, 0.003]) {
        const span = spanOf(page);
        const f = frame(page, panel, part === 1 ? "" : `t=${0.4 * span},${(0.4 + part) * span}`);
        const r = recorder();
        panel.draw(r.painter, f);
        const scale = scaleOf(f.window, f.plot);
        const wide = r.shapes.filter((s) => s.what === "rect" && strong.has(s.colour) && s.at[2] - s.at[0] >= 1.99);
        for (const row of run.tasks.anomalous) {
          const middle = scale.x(run.tasks.start[row] + run.tasks.duration[row] / 2);
          if (middle < f.plot.x + 1 || middle > f.plot.x + f.plot.width - 1) continue;
          const y = f.plot.y + ((run.laneOf(row) + 0.5) * f.plot.height) / run.head.workers.length;
          const seen = wide.some((s) => s.at[0] <= middle + 2.5 && s.at[2] >= middle - 2.5 && s.at[1] < y && s.at[3] > y);
          expect(seen, `task ${run.tasks.id[row]} at 1/${1 / part}`).toBe(true);
        }
      }
    }
  });

  test("few shapes where there are many tasks", () => {
    const panel = make(large, "gantt");
    const r = recorder();
    panel.draw(r.painter, frame(large, panel));
    expect(large.runs[0].tasks.count).toBeGreaterThan(40_000);
    expect(r.shapes.length).toBeLessThan(20_000);
  });

  test("the task under the pointer is the one that was drawn there", () => {
    const panel = make(one, "gantt");
    const [run] = one.runs;
    const span = spanOf(one);
    const f = frame(one, panel, `t=${0.3 * span},${0.32 * span}`);
    const scale = scaleOf(f.window, f.plot);
    let tried = 0;
    for (let row = 0; row < run.tasks.count; row += 1) {
      const x = scale.x(run.tasks.start[row] + run.tasks.duration[row] / 2);
      const wide = run.tasks.duration[row] / scale.perPixel;
      if (wide < 8 || x < f.plot.x || x > f.plot.x + f.plot.width) continue;
      const y = f.plot.y + ((run.laneOf(row) + 0.5) * f.plot.height) / run.head.workers.length;
      expect(panel.hit(x, y, f)?.select).toEqual({ kind: "task", run: 0, id: run.tasks.id[row] });
      tried += 1;
    }
    expect(tried).toBeGreaterThan(10);
    expect(panel.hit(2, 2, f)).toBeNull();
  });

  test("parts of another's task are in the lower half of the lane, and told; pale where slow tasks are looked for", () => {
    const panel = make(one, "gantt");
    const [run] = one.runs;
    const head = run.head.panels.find((p) => p.kind === "gantt");
    if (head?.kind !== "gantt" || head.helping === null) throw new Error("nobody helps");
    const [lane, start, duration] = [head.helping.lane, head.helping.start, head.helping.duration].map((name) => run.columns.get(name));
    // The longest: the picture is narrowed to twice its length.
    const row = Array.from(duration.keys()).reduce((a, b) => (duration[b] > duration[a] ? b : a));
    const hash = `t=${start[row] - duration[row] / 2},${start[row] + 1.5 * duration[row]}`;
    const strong = LIGHT.data("#332288");
    for (const [more, drawn] of [["&pale=0", true], ["", false]] as const) {
      const f = frame(one, panel, hash + more);
      const r = recorder();
      panel.draw(r.painter, f);
      const x = scaleOf(f.window, f.plot).x(start[row] + duration[row] / 2);
      const middle = f.plot.y + ((lane[row] + 0.5) * f.plot.height) / run.head.workers.length;
      const here = r.shapes.filter((s) => s.what === "rect" && s.at[0] < x && s.at[2] > x && s.at[3] > middle + 1 && s.at[1] > middle - 1);
      expect(here.some((s) => s.colour === strong)).toBe(drawn);
      expect(panel.hit(x, middle, f)?.title).toMatch(/^helps with tpmqrt, /);
    }
    const names = panel.legend(LIGHT, frame(one, panel).state).map((entry) => entry.name);
    expect(names).toContain("helps another worker's task (half height)");
  });

  test("the selected task has an edge to each neighbour in view", () => {
    const panel = make(one, "gantt");
    const [run] = one.runs;
    const row = Array.from(run.tasks.id.keys()).find((r) => run.predecessors(r).length === 3 && run.successors(r).length > 0) ?? 0;
    const plain = recorder();
    panel.draw(plain.painter, frame(one, panel));
    const chosen = recorder();
    panel.draw(chosen.painter, frame(one, panel, `task=0.${run.tasks.id[row]}`));
    const arcs = (shapes: Shape[]): number => shapes.filter((s) => s.what === "dot").length;
    expect(arcs(chosen.shapes) - arcs(plain.shapes)).toBe(run.predecessors(row).length + run.successors(row).length);
  });
});

describe("other panels", () => {
  test("a row of the tree under the pointer is its node", () => {
    const panel = make(one, "tree");
    const f = frame(one, panel);
    const hits = new Set<number>();
    for (let y = f.plot.y; y < f.plot.y + f.plot.height; y += 1) {
      const select = panel.hit(f.plot.x + 300, y, f)?.select;
      if (select?.kind === "node") hits.add(select.node);
    }
    expect(hits.size).toBe(one.runs[0].tree.count);
  });

  test("loads of the tree are the workers' time, from tasks as from levels", () => {
    // The darkest colour means all workers: the sum over a level's cells is the busy time.
    const panel = one.runs[0].head.panels.find((p) => p.kind === "tree");
    if (panel?.kind !== "tree") throw new Error("no tree");
    const level = panel.levels[0];
    const { columns, tasks, head } = one.runs[0];
    const kind = columns.get(level.cells.kind);
    const load = columns.get(level.cells.load);
    let sum = 0;
    for (let k = 0; k < kind.length; k += 1) if (kind[k] < 2) sum += load[k] / 255;
    const busy = Array.from(tasks.duration).reduce((a, b) => a + b, 0);
    expect((sum * head.workers.length * (head.span_ns / level.bins)) / busy).toBeCloseTo(1, 1);
  });

  test("values of a chart are told, and both runs share the axis", () => {
    const panels = [0, 1].map((run) => make(two, "memory", run));
    const frames = panels.map((panel) => frame(two, panel));
    const labels = panels.map((panel, k) => {
      const r = recorder();
      panel.draw(r.painter, frames[k]);
      return r.texts.filter((text) => /^\d.*B$/.test(text));
    });
    expect(labels[0].length).toBeGreaterThan(2);
    expect(labels[0]).toEqual(labels[1]);
    const hit = panels[0].hit(600, 60, frames[0]);
    expect(hit?.rows[0][0]).toBe("fronts and factors");
  });

  test("a hidden series is not drawn, and can be brought back", () => {
    const panel = make(one, "depth");
    const shown = recorder();
    panel.draw(shown.painter, frame(one, panel));
    const f = frame(one, panel, "o=depth.depth 1:0");
    expect(option(f.state, "depth.depth 1", "1")).toBe("0");
    const hidden = recorder();
    panel.draw(hidden.painter, f);
    const tint = LIGHT.data("#4477aa");
    expect(shown.shapes.filter((s) => s.colour === tint).length).toBeGreaterThan(10);
    expect(hidden.shapes.filter((s) => s.colour === tint).length).toBe(0);
    expect(panel.legend(LIGHT, f.state).find((entry) => entry.name === "depth 1")?.hidden).toBe(true);
  });

  test("points of the scatter and discs of the tree are found", () => {
    const scatter = make(one, "durations");
    const f = frame(one, scatter);
    const found = new Set<number>();
    for (let x = f.plot.x; x < f.plot.x + f.plot.width; x += 7) {
      for (let y = f.plot.y; y < f.plot.y + f.plot.height; y += 7) {
        const select = scatter.hit(x, y, f)?.select;
        if (select?.kind === "task") found.add(select.id);
      }
    }
    expect(found.size).toBeGreaterThan(50);
    const shape = make(one, "shape");
    const g = frame(one, shape);
    const before = recorder();
    shape.draw(before.painter, g);
    shape.own?.zoom(600, 120, 4, g);
    expect(shape.own?.zoomed()).toBe(true);
    const after = recorder();
    shape.draw(after.painter, g);
    expect(after.shapes.length).toBeLessThan(before.shapes.length);
    shape.own?.reset();
    expect(shape.own?.zoomed()).toBe(false);
  });
});
