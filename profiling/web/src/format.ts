// What the page is given: the types of the report's head.
//
// ../../src/report/README.md is the contract; this file is its reading side. It knows nothing of columns' contents
// (decode.ts) and draws nothing. `Col` is the name of a column.

export const VERSION = 1;

export type Col = string;
export type Coding = "plain" | "varint" | "zigzag" | "delta";
export type NumberType = "u8" | "u16" | "u32" | "f32" | "f64";

export interface Column {
  name: string;
  type: NumberType;
  coding: Coding;
  length: number;
  bytes: number;
}

export interface Fact {
  label: string;
  text: string;
  note: string | null;
}

export interface Place {
  panel: string | null;
  from_ns: number | null;
  to_ns: number | null;
  tasks: number[];
  nodes: number[];
}

export interface Hint {
  rule: string;
  severity: "cause" | "note";
  title: string;
  text: string;
  evidence: Fact[];
  place: Place | null;
}

export interface Worker {
  name: string;
  kind: "cpu" | "device";
  idle: number;
}

export interface Codelet {
  name: string;
  role: string;
  colour: string;
}

export interface ModelLine {
  intercept: number;
  slope: number;
  sigma: number;
  upper: [number, number];
}

export interface Model {
  codelet: number;
  kind: string;
  choice: string;
  why: string;
  level: number;
  lines: ModelLine[];
}

export interface Kind {
  name: string;
  colour: string;
}

interface PanelHead {
  id: string;
  title: string;
  about: string;
}

export interface IntervalColumns {
  lane: Col;
  kind: Col;
  start: Col;
  duration: Col;
  kinds: Kind[];
}

export interface GanttPanel extends PanelHead {
  kind: "gantt";
  levels: { bins: number; codelet: Col; fill: Col; mark: Col }[];
  states: IntervalColumns | null;
  // Parts of other workers' tasks, their kinds the codelets.
  helping: IntervalColumns | null;
}

export interface TreeLevel {
  each: number;
  rows: number;
  bins: number;
  cells: { band: Col; bin: Col; load: Col; kind: Col };
}

export interface TreePanel extends PanelHead {
  kind: "tree";
  rows: { node: Col; parent: Col; born: Col; died: Col; kind: Col; has_groups: Col };
  row_of_node: Col;
  levels: TreeLevel[];
}

export interface Series {
  name: string;
  note: string | null;
  colour: string;
  bins: { mean: Col; max: Col };
  steps: { time: Col; value: Col } | null;
}

export interface Rule {
  value: number;
  name: string;
  colour: string;
  dashed: boolean;
}

export interface Span {
  start: Col;
  end: Col;
  colour: string;
  name: string;
}

export interface ChartPanel extends PanelHead {
  kind: "chart";
  form: "stack" | "lines" | "steps";
  unit: string;
  // Whether the unit takes prefixes, or is what is counted.
  si: boolean;
  series: Series[];
  rules: Rule[];
  spans: Span[];
  // Why there is nothing to draw.
  instead: string | null;
}

export interface SpansPanel extends PanelHead {
  kind: "spans";
  lanes: string[];
  notes: string[];
  heading: string;
  kinds: Kind[];
  lane: Col;
  kind_of: Col;
  start: Col;
  duration: Col;
  axis: [number, number] | null;
  least: boolean;
  instead: string | null;
}

export interface ScatterPanel extends PanelHead {
  kind: "scatter";
  y_of: "duration" | "residual";
  models: number[];
  x: [number, number];
  y: [number, number];
  cells: { x: Col; y: Col; count: Col; codelet: Col; wide: number; high: number } | null;
  points: { task: Col };
}

export interface HistogramPanel extends PanelHead {
  kind: "histogram";
  of: "flops" | "duration";
  edges_ln: [number, number];
  bins: number;
  groups: { name: string; note: string | null; colour: string; kind: string; count: Col; target: Col | null }[];
  instead: string | null;
}

export interface ShapePanel extends PanelHead {
  kind: "shape";
  x: Col;
  y: Col;
  size: Col;
  parent: Col;
  node: Col;
  time: Col;
}

export interface TablePanel extends PanelHead {
  kind: "table";
  columns: { title: string; unit: string; align: "left" | "right" }[];
  rows: (string | number)[][];
  nodes: number[] | null;
  // In comparisons: a row's task in the first run and in the second, by id.
  tasks: [number, number][] | null;
}

export type Panel =
  | GanttPanel | TreePanel | ChartPanel | SpansPanel
  | ScatterPanel | HistogramPanel | ShapePanel | TablePanel;

export interface Bounds {
  area_ns: number;
  critical_path_ns: number;
  bound_ns: number;
}

export interface RunHead {
  name: string;
  about: Fact[];
  headline: Fact[];
  warnings: string[];
  hints: Hint[];
  span_ns: number;
  submitted_ns: number;
  last_ns: number;
  workers: Worker[];
  codelets: Codelet[];
  bounds: Bounds | null;
  models: Model[];
  panels: Panel[];
  columns: Column[];
}

export interface Comparison {
  headline: Fact[];
  notes: string[];
  panels: Panel[];
  columns: Column[];
}

export interface Report {
  version: number;
  program: string;
  title: string;
  runs: RunHead[];
  comparison: Comparison | null;
}
