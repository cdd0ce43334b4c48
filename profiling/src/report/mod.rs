//! A run, or two, as one HTML file that opens from disk and needs no network.
//!
//! Takes traces; gives the page. All that is shown is computed here: models, causes, bounds, levels of detail. The page (the sources of
//! `page.js` are in `profiling/web/`) draws, zooms and answers clicks. What passes between the two is README.md in this folder.
//!
//! | file | subject |
//! | --- | --- |
//! | `format`, `columns` | the head as JSON, and numbers as bytes |
//! | `run` | tasks in the page's order, and what is computed of a trace once |
//! | `tasks` | tasks, dependencies and tree nodes as columns |
//! | `facts` | title, figures in large, warnings |
//! | `gantt`, `tree`, `scatter`, `histogram`, `shape`, `table`, `chart` | panels; the table [`PAGES`] is their order |
//! | `page` | the HTML around it |
//!
//! ```
//! use treeqr_profiling::report::{Options, page};
//! # use treeqr_profiling::trace::{Manifest, Tables, Trace, TraceKind};
//! # let trace = Trace { manifest: Manifest::new(TraceKind::Measured, "example".into()), tables: Tables::default() };
//! // A trace without tasks has nothing to show.
//! assert!(page(&[&trace], &Options::default()).is_err());
//! ```

mod chart;
mod columns;
mod facts;
mod format;
mod gantt;
mod histogram;
mod page;
mod run;
mod scatter;
mod shape;
mod table;
mod tasks;
mod tree;

use crate::account::idle;
use crate::models::{self, GroupModel, Line};
use crate::panels::PanelError;
use crate::part::{Part, PartError};
use crate::trace::Trace;
use columns::Columns;
use format::{Body, CodeletHead, LineHead, ModelHead, Panel, Report, RunHead, WorkerHead};
use run::Run;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What can be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Of the prediction intervals beyond which a task is slow, between 0 and 1.
    pub level: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            level: models::LEVEL,
        }
    }
}

/// A report that was not made or not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// Neither one trace nor two.
    #[error("a report is of one trace or two, not of {count}")]
    Count {
        /// How many there were.
        count: usize,
    },
    /// A trace that cannot be shown.
    #[error("{which}{source}", which = match position { Some(k) => format!("trace {}: ", k + 1), None => String::new() })]
    Trace {
        /// Which of two, from 0.
        position: Option<usize>,
        /// What is wrong with it.
        source: PanelError,
    },
    /// The target exists.
    #[error("{path} exists already", path = path.display())]
    Exists {
        /// The target.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl From<PartError> for ReportError {
    fn from(error: PartError) -> Self {
        match error {
            PartError::Exists { path } => ReportError::Exists { path },
            PartError::Io { path, source } => ReportError::Io { path, source },
        }
    }
}

/// One panel of the page.
struct PageEntry {
    id: &'static str,
    title: &'static str,
    about: &'static str,
    /// None where the run has nothing to show in it.
    body: fn(&Run<'_>, &mut Columns) -> Option<Body>,
}

/// The panels, in the order of the page.
static PAGES: &[PageEntry] = &[
    PageEntry {
        id: "gantt",
        title: "Tasks by worker",
        about: "Every task as a box on its worker's lane, in the colour of its codelet. Slow tasks are strong and the others pale.",
        body: |run, to| Some(gantt::body(run, to)),
    },
    PageEntry {
        id: "tree",
        title: "Elimination tree over time",
        about: "A row for every tree node, in the order of submission: from its first allocation to its last release, its load as colour. \
                Subtrees of small fronts are at half height in the row of their parent.",
        body: |run, to| Some(tree::body(run, to)),
    },
    PageEntry {
        id: "memory",
        title: "Memory",
        about: "Bytes of front storage over time.",
        body: chart::memory,
    },
    PageEntry {
        id: "ready",
        title: "Tasks that wait",
        about: "Ready tasks, and submitted ones that are not done.",
        body: chart::waiting,
    },
    PageEntry {
        id: "gflops",
        title: "Speed",
        about: "Floating-point operations a second, all workers together.",
        body: chart::speed,
    },
    PageEntry {
        id: "active",
        title: "Active tree nodes",
        about: "Nodes whose first task has begun and whose last has not ended.",
        body: chart::active,
    },
    PageEntry {
        id: "durations",
        title: "Durations and operations",
        about: "Tasks that compute, with the lines of their models and the limits above which they are slow.",
        body: scatter::durations,
    },
    PageEntry {
        id: "residuals",
        title: "Residuals of the models",
        about: "How much longer tasks took than their models expect: where this changes with the size, the model is not the whole truth.",
        body: scatter::residuals,
    },
    PageEntry {
        id: "histogram",
        title: "Tasks by size and resource",
        about: "How many tasks of which size ran where; with several kinds of resources, beside how many the area bound would put there.",
        body: histogram::body,
    },
    PageEntry {
        id: "shape",
        title: "The elimination tree",
        about: "The root at the top; area by operations, colour by when it was worked on.",
        body: shape::body,
    },
    PageEntry {
        id: "codelets",
        title: "Codelets",
        about: "Time, speed, delays and slow tasks by codelet.",
        body: |run, _| Some(table::by_codelet(run)),
    },
    PageEntry {
        id: "workers",
        title: "Time of the workers",
        about: "Which part of its time each worker was in tasks, and why it was not. A moment has one cause, the first that holds.",
        body: |run, _| table::by_worker(run),
    },
    PageEntry {
        id: "nodes",
        title: "Tree nodes",
        about: "The tree nodes with most time in their tasks.",
        body: |run, _| table::by_node(run),
    },
];

/// The page of one trace, or of two that are compared. O(n log n) in the rows of the traces; its memory is a small multiple of
/// theirs.
///
/// # Errors
/// [`ReportError::Count`], and [`ReportError::Trace`] for a trace without tasks or one that says what cannot be.
///
/// # Panics
/// If the level is not between 0 and 1.
pub fn page(traces: &[&Trace], options: &Options) -> Result<String, ReportError> {
    let count = traces.len();
    if !(1..=2).contains(&count) {
        return Err(ReportError::Count { count });
    }
    let (mut runs, mut blocks) = (Vec::new(), Vec::new());
    for (k, trace) in traces.iter().enumerate() {
        let position = (count > 1).then_some(k);
        let failed = |source| ReportError::Trace { position, source };
        let run = Run::of(trace, options.level).map_err(failed)?;
        let mut columns = Columns::default();
        runs.push(head(&run, &mut columns));
        blocks.push(columns.bytes);
    }
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    let report = Report {
        version: format::VERSION,
        program: format!("treeqr {}", env!("CARGO_PKG_VERSION")),
        title: names.join(" and "),
        runs,
        comparison: None,
    };
    Ok(page::html(&report, &blocks))
}

fn head(run: &Run<'_>, to: &mut Columns) -> RunHead {
    tasks::columns(run, to);
    let idle = idle(run.trace);
    let panel = |entry: &PageEntry| {
        Some(Panel {
            id: entry.id.to_owned(),
            title: entry.title.to_owned(),
            about: entry.about.to_owned(),
            body: (entry.body)(run, to)?,
        })
    };
    let panels = PAGES.iter().filter_map(panel).collect();
    let submitted = run.tasks().iter().map(|t| run.ns(t.submit_ns)).max();
    RunHead {
        name: facts::name(run),
        about: facts::about(run),
        headline: facts::headline(run, &idle),
        warnings: facts::warnings(run),
        hints: Vec::new(),
        span_ns: run.span_ns,
        submitted_ns: submitted.unwrap_or(0),
        last_ns: run.subject.last_ns,
        workers: workers(run),
        codelets: codelets(run),
        bounds: facts::bounds(run),
        models: run.models.groups.iter().map(|g| model(run, g)).collect(),
        panels,
        columns: std::mem::take(&mut to.heads),
    }
}

fn workers(run: &Run<'_>) -> Vec<WorkerHead> {
    let mut busy = vec![0.0; run.subject.workers.len()];
    for task in run.tasks() {
        busy[run.subject.lane(task.worker)] += (task.end_ns - task.start_ns) as f64;
    }
    let worker = |(worker, busy): (&crate::panels::subject::Lane, f64)| WorkerHead {
        name: worker.name.clone(),
        kind: if worker.is_device { "device" } else { "cpu" },
        idle: (1.0 - busy / run.span_ns as f64).clamp(0.0, 1.0),
    };
    run.subject.workers.iter().zip(busy).map(worker).collect()
}

fn codelets(run: &Run<'_>) -> Vec<CodeletHead> {
    let codelet = |codelet: &run::CodeletKind| CodeletHead {
        name: codelet.name.clone(),
        role: codelet.role.name(),
        colour: codelet.colour.to_string(),
    };
    run.codelets.iter().map(codelet).collect()
}

fn model(run: &Run<'_>, group: &GroupModel) -> ModelHead {
    let ends = group.flops.map(|(low, high)| [low, high].map(|f| (f.max(1) as f64).ln()));
    let ends = ends.unwrap_or([0.0; 2]);
    let named = |codelet: &run::CodeletKind| codelet.name == group.codelet;
    ModelHead {
        codelet: run.codelets.iter().position(named).unwrap_or(0),
        kind: scatter::kind_name(group.kind),
        choice: group.chosen,
        why: group.why.clone(),
        level: run.models.level,
        lines: group.lines().iter().map(|l| line(l, ends)).collect(),
    }
}

/// The upper limit is a slight curve: the page draws the straight line through its ends.
fn line(line: &Line, [low, high]: [f64; 2]) -> LineHead {
    let upper = |x: f64| line.log_expected(x) + line.half_width(x);
    let slope = match high - low > 1e-9 {
        true => (upper(high) - upper(low)) / (high - low),
        false => line.slope,
    };
    LineHead {
        intercept: line.intercept,
        slope: line.slope,
        sigma: line.s,
        upper: [upper(low) - slope * low, slope],
    }
}

/// Writes a page as the file `path`: complete or absent.
///
/// # Errors
/// [`ReportError::Exists`], unless `replace`, and [`ReportError::Io`]; the target is then as it was.
pub fn write(path: &Path, page: &str, replace: bool) -> Result<(), ReportError> {
    check_target(path, replace)?;
    let (part, mut file) = Part::file(path)?;
    let written = file.write_all(page.as_bytes()).and_then(|()| file.flush());
    written.map_err(|source| ReportError::Io {
        path: part.path().to_owned(),
        source,
    })?;
    drop(file);
    Ok(part.become_target(replace)?)
}

/// Fails, before any work, where [`write()`] would. A folder is never replaced.
///
/// # Errors
/// [`ReportError::Exists`].
pub fn check_target(path: &Path, replace: bool) -> Result<(), ReportError> {
    match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_dir() || !replace => Err(ReportError::Exists { path: path.into() }),
        _ => Ok(()),
    }
}
