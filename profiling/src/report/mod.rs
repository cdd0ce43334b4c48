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
//! | `chart`, `spans`, `histogram` | panels that are made of the same models as the pictures of `panels` |
//! | `gantt`, `tree`, `scatter`, `shape`, `table` | panels of the page alone, in the table `PAGES` |
//! | `comparison` | two runs side by side |
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
mod comparison;
mod facts;
mod format;
mod gantt;
mod histogram;
mod page;
mod run;
mod scatter;
mod shape;
mod spans;
mod table;
mod tasks;
mod tree;

use crate::compare::{CompareError, compare_computed};
use crate::hints;
use crate::models::{GroupModel, Line};
use crate::panels::{Drawing, PANELS, PanelError};
use crate::part::{self, PartError};
use crate::trace::Trace;
use columns::Columns;
use format::{Body, CodeletHead, LineHead, ModelHead, Panel, Report, RunHead, WorkerHead};
use run::Run;
use std::io;
use std::path::{Path, PathBuf};

/// What can be chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// What the runs are called, in their order; by their matrix, and by their scheduler where that is the same, if not given.
    pub names: Vec<String>,
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
    /// Two traces that cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
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

/// A panel that is not made of the same model as a picture.
struct PageEntry {
    /// As in [`PANELS`], where it is there.
    id: &'static str,
    title: &'static str,
    about: &'static str,
    /// None where the run has nothing to show in it.
    body: fn(&Run<'_>, &mut Columns) -> Option<Body>,
}

/// The panels that this folder makes. Those of [`PANELS`] are in its order, the others come last.
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
        id: "by-node",
        title: "Tree nodes",
        about: "The tree nodes with most time in their tasks.",
        body: |run, _| table::by_node(run),
    },
];

/// What the page shows inside of another panel: states are the other face of `gantt`.
const INSIDE: &[&str] = &["states"];

/// All panels of a run.
fn panels(run: &Run<'_>, to: &mut Columns) -> Vec<Panel> {
    let axis = chart::Axis::new(run.span_ns, run.tasks().len());
    let shown = PANELS.iter().filter(|panel| !INSIDE.contains(&panel.name));
    let mut out = Vec::new();
    for panel in shown {
        let id = panel.name;
        let (title, body) = match panel.drawing {
            Drawing::Chart(of) => {
                let chart = of(&run.subject);
                (chart.title, chart::body(chart, id, axis, to))
            }
            Drawing::Rows(of) => {
                let rows = of(&run.subject);
                (rows.title, spans::body(rows, id, run.span_ns, to))
            }
            Drawing::Bars(of) => {
                let bars = of(&run.subject);
                (bars.title, histogram::body(bars, id, bins_of(id), to))
            }
            Drawing::Own(_) => {
                let own = PAGES.iter().find(|entry| entry.id == id);
                out.extend(own.and_then(|entry| own_panel(entry, run, to)));
                continue;
            }
        };
        let about = sentence(panel.about);
        out.push(Panel {
            id: id.to_owned(),
            title: title.to_owned(),
            about,
            body,
        });
    }
    let pictures = |entry: &&PageEntry| PANELS.iter().any(|panel| panel.name == entry.id);
    let others = PAGES.iter().filter(|entry| !pictures(entry));
    out.extend(others.filter_map(|entry| own_panel(entry, run, to)));
    out
}

fn own_panel(entry: &PageEntry, run: &Run<'_>, to: &mut Columns) -> Option<Panel> {
    Some(Panel {
        id: entry.id.to_owned(),
        title: entry.title.to_owned(),
        about: entry.about.to_owned(),
        body: (entry.body)(run, to)?,
    })
}

/// What the bins of a panel are bins of.
fn bins_of(id: &str) -> &'static str {
    match id {
        "classes" => "flops",
        _ => "duration",
    }
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    format!("{}.", capital(text))
}

/// With a capital letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// The page of one trace, or of two that are compared. O(n log n) in the rows of the traces; its memory is a small multiple of
/// theirs.
///
/// # Errors
/// [`ReportError::Count`], [`ReportError::Trace`] for a trace without tasks or one that says what cannot be, and
/// [`ReportError::Compare`].
pub fn page(traces: &[&Trace], options: &Options) -> Result<String, ReportError> {
    let count = traces.len();
    if !(1..=2).contains(&count) {
        return Err(ReportError::Count { count });
    }
    let mut runs = Vec::new();
    for (k, trace) in traces.iter().enumerate() {
        let position = (count > 1).then_some(k);
        let failed = |source| ReportError::Trace { position, source };
        runs.push(Run::of(trace).map_err(failed)?);
    }
    let compared = match &mut runs[..] {
        [a, b] => {
            let found = compare_computed((a.trace, &a.computed), (b.trace, &b.computed))?;
            a.mark_twice(found.anomalies.both.iter().map(|pair| pair.task[0]));
            b.mark_twice(found.anomalies.both.iter().map(|pair| pair.task[1]));
            Some(found)
        }
        _ => None,
    };
    let names = names(&runs, &options.names);
    let (mut heads, mut blocks) = (Vec::new(), Vec::new());
    for (run, name) in runs.iter().zip(&names) {
        let mut columns = Columns::default();
        heads.push(head(run, name.clone(), &mut columns));
        blocks.push(columns.bytes);
    }
    let comparison = compared.map(|found| {
        let mut columns = Columns::default();
        let span_ns = runs.iter().map(|run| run.span_ns).max().unwrap_or(1);
        let tasks = runs.iter().map(|run| run.tasks().len()).max().unwrap_or(0);
        let axis = chart::Axis::new(span_ns, tasks);
        let head = comparison::head(&found, [&names[0], &names[1]], axis, &mut columns);
        blocks.push(columns.bytes);
        head
    });
    let report = Report {
        version: format::VERSION,
        program: format!("treeqr {}", env!("CARGO_PKG_VERSION")),
        title: names.join(" and "),
        runs: heads,
        comparison,
    };
    Ok(page::html(&report, &blocks))
}

/// What the runs are called, each differently.
fn names(runs: &[Run<'_>], given: &[String]) -> Vec<String> {
    let matrix = |run: &Run<'_>| run.trace.manifest.matrix_name().to_owned();
    let same = runs.len() > 1 && runs.iter().all(|run| matrix(run) == matrix(&runs[0]));
    let named = |(k, run): (usize, &Run<'_>)| match (given.get(k), same) {
        (Some(name), _) => name.clone(),
        (None, true) => format!("{}, {}", matrix(run), run.trace.manifest.run.scheduler),
        (None, false) => matrix(run),
    };
    let mut out: Vec<String> = runs.iter().enumerate().map(named).collect();
    if let [a, b] = &mut out[..]
        && a == b
    {
        *a += " (first)";
        *b += " (second)";
    }
    out
}

fn head(run: &Run<'_>, name: String, to: &mut Columns) -> RunHead {
    tasks::columns(run, to);
    let hints = hints::all(&run.computed.findings(run.trace));
    let panels = panels(run, to);
    let submitted = run.tasks().iter().map(|t| run.ns(t.submit_ns)).max();
    RunHead {
        name,
        about: facts::about(run),
        headline: facts::headline(run),
        warnings: facts::warnings(run),
        hints,
        span_ns: run.span_ns,
        submitted_ns: submitted.unwrap_or(0),
        last_ns: run.subject.last_ns,
        workers: workers(run),
        codelets: codelets(run),
        bounds: facts::bounds(run),
        models: run
            .computed
            .models
            .groups
            .iter()
            .map(|g| model(run, g))
            .collect(),
        panels,
        columns: std::mem::take(&mut to.heads),
    }
}

fn workers(run: &Run<'_>) -> Vec<WorkerHead> {
    let mut busy = vec![0.0; run.subject.workers.len()];
    for piece in run.subject.pieces() {
        busy[run.subject.lane(piece.worker)] += piece.duration_ns() as f64;
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
    let ends = group
        .flops
        .map(|(low, high)| [low, high].map(|f| (f.max(1) as f64).ln()));
    let ends = ends.unwrap_or([0.0; 2]);
    let named = |codelet: &run::CodeletKind| codelet.name == group.codelet;
    ModelHead {
        codelet: run.codelets.iter().position(named).unwrap_or(0),
        kind: scatter::kind_name(group.kind),
        choice: group.chosen,
        why: group.why.clone(),
        level: run.computed.models.level,
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
    Ok(part::write_file(path, page.as_bytes(), replace)?)
}

/// Fails, before any work, where [`write()`] would. A folder is never replaced.
///
/// # Errors
/// [`ReportError::Exists`].
pub fn check_target(path: &Path, replace: bool) -> Result<(), ReportError> {
    Ok(part::check_file(path, replace)?)
}
