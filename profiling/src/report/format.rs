//! The head of a report, as JSON has it: README.md beside this file is its description.
//!
//! Plain structures without a thought; who fills them is told by their names.

use super::columns::{Column, ColumnHead};
pub(super) use crate::hints::{Fact, Hint};
use serde::Serialize;

/// Of the format. The page refuses others.
pub(super) const VERSION: u32 = 1;

#[derive(Serialize)]
pub(super) struct Report {
    pub version: u32,
    pub program: String,
    pub title: String,
    pub runs: Vec<RunHead>,
    pub comparison: Option<ComparisonHead>,
}

#[derive(Serialize)]
pub(super) struct RunHead {
    pub name: String,
    pub about: Vec<Fact>,
    pub headline: Vec<Fact>,
    pub warnings: Vec<String>,
    pub hints: Vec<Hint>,
    pub span_ns: u64,
    pub submitted_ns: u64,
    pub last_ns: u64,
    pub workers: Vec<WorkerHead>,
    pub codelets: Vec<CodeletHead>,
    pub bounds: Option<BoundsHead>,
    pub models: Vec<ModelHead>,
    pub panels: Vec<Panel>,
    pub columns: Vec<ColumnHead>,
}

#[derive(Serialize)]
pub(super) struct ComparisonHead {
    pub headline: Vec<Fact>,
    pub notes: Vec<String>,
    pub panels: Vec<Panel>,
    pub columns: Vec<ColumnHead>,
}

#[derive(Serialize)]
pub(super) struct WorkerHead {
    pub name: String,
    pub kind: &'static str,
    pub idle: f64,
}

#[derive(Serialize)]
pub(super) struct CodeletHead {
    pub name: String,
    pub role: &'static str,
    pub colour: String,
}

#[derive(Serialize)]
pub(super) struct BoundsHead {
    pub area_ns: f64,
    pub critical_path_ns: u64,
    pub bound_ns: f64,
}

#[derive(Serialize)]
pub(super) struct ModelHead {
    pub codelet: usize,
    pub kind: &'static str,
    pub choice: crate::models::Choice,
    pub why: String,
    pub level: f64,
    pub lines: Vec<LineHead>,
}

#[derive(Serialize)]
pub(super) struct LineHead {
    pub intercept: f64,
    pub slope: f64,
    pub sigma: f64,
    pub upper: [f64; 2],
}

#[derive(Serialize)]
pub(super) struct Panel {
    pub id: String,
    pub title: String,
    pub about: String,
    #[serde(flatten)]
    pub body: Body,
}

/// A name and its colour.
#[derive(Serialize)]
pub(super) struct Kind {
    pub name: String,
    pub colour: String,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Body {
    Gantt {
        levels: Vec<GanttLevel>,
        states: States,
        helping: Option<States>,
    },
    Tree {
        rows: TreeRows,
        row_of_node: Column,
        levels: Vec<TreeLevel>,
    },
    Chart {
        form: &'static str,
        unit: &'static str,
        si: bool,
        series: Vec<Series>,
        rules: Vec<Rule>,
        spans: Vec<Highlight>,
        instead: Option<String>,
    },
    Spans {
        lanes: Vec<String>,
        notes: Vec<String>,
        heading: &'static str,
        kinds: Vec<Kind>,
        lane: Column,
        kind_of: Column,
        start: Column,
        duration: Column,
        axis: Option<[f64; 2]>,
        least: bool,
        instead: Option<String>,
    },
    Scatter {
        y_of: &'static str,
        models: Vec<usize>,
        x: [f64; 2],
        y: [f64; 2],
        cells: Option<Cells>,
        points: Points,
    },
    Histogram {
        of: &'static str,
        edges_ln: [f64; 2],
        bins: usize,
        groups: Vec<HistogramGroup>,
        instead: Option<String>,
    },
    Shape {
        x: Column,
        y: Column,
        size: Column,
        parent: Column,
        node: Column,
        time: Column,
    },
    Table {
        columns: Vec<TableColumn>,
        rows: Vec<Vec<serde_json::Value>>,
        nodes: Option<Vec<u32>>,
        tasks: Option<Vec<[u32; 2]>>,
    },
}

#[derive(Serialize)]
pub(super) struct GanttLevel {
    pub bins: usize,
    pub codelet: Column,
    pub fill: Column,
    pub mark: Column,
}

#[derive(Serialize)]
pub(super) struct States {
    pub lane: Column,
    pub kind: Column,
    pub start: Column,
    pub duration: Column,
    pub kinds: Vec<Kind>,
}

#[derive(Serialize)]
pub(super) struct TreeRows {
    pub node: Column,
    pub parent: Column,
    pub born: Column,
    pub died: Column,
    pub kind: Column,
    pub has_groups: Column,
}

#[derive(Serialize)]
pub(super) struct TreeLevel {
    pub each: usize,
    pub rows: usize,
    pub bins: usize,
    pub cells: TreeCells,
}

#[derive(Serialize)]
pub(super) struct TreeCells {
    pub band: Column,
    pub bin: Column,
    pub load: Column,
    pub kind: Column,
}

#[derive(Serialize)]
pub(super) struct Series {
    pub name: String,
    pub note: Option<String>,
    pub colour: String,
    pub bins: Bins,
    pub steps: Option<StepColumns>,
}

#[derive(Serialize)]
pub(super) struct Bins {
    pub mean: Column,
    pub max: Column,
}

#[derive(Serialize)]
pub(super) struct StepColumns {
    pub time: Column,
    pub value: Column,
}

#[derive(Serialize)]
pub(super) struct Rule {
    pub value: f64,
    pub name: String,
    pub colour: String,
    pub dashed: bool,
}

#[derive(Serialize)]
pub(super) struct Highlight {
    pub start: Column,
    pub end: Column,
    pub colour: String,
    pub name: String,
}

#[derive(Serialize)]
pub(super) struct Cells {
    pub x: Column,
    pub y: Column,
    pub count: Column,
    pub codelet: Column,
    pub wide: usize,
    pub high: usize,
}

#[derive(Serialize)]
pub(super) struct Points {
    pub task: Column,
}

#[derive(Serialize)]
pub(super) struct HistogramGroup {
    pub name: String,
    pub note: String,
    pub colour: String,
    pub kind: String,
    pub count: Column,
    pub target: Option<Column>,
}

#[derive(Serialize)]
pub(super) struct TableColumn {
    pub title: String,
    pub unit: String,
    pub align: &'static str,
}
