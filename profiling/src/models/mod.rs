//! How long tasks take, by their flops and by their shapes, and which took longer than that.
//!
//! Takes the tables of a trace ([`Tables`]: tasks, codelets and workers); gives [`Models`]. Knows no scalar, no clock and
//! no picture.
//!
//! | file | subject |
//! | --- | --- |
//! | `line` | log D = a + b log G and its prediction interval |
//! | `robust` | the same by MM-regression |
//! | `mixture` | one or two such lines by EM, chosen by BIC |
//! | `choose` | which of them is taken, and why |
//! | `group` | the models of one codelet on one kind of worker |
//! | `geometry` | durations linear in shapes, for simulation |
//! | `least_squares`, `quantiles` | few columns, not negative; Student's t |
//!
//! For every codelet and kind of worker, from the tasks that have flops: a task is an *anomaly* where it took longer than the
//! upper end of the prediction interval of its line. With a level of 0.95 that holds for one task in forty where all is
//! well: an anomaly is a task to look at, not a fault. The models follow *Performance Analysis of Task-Based Multi-Frontal Sparse
//! Linear Solvers: Structure Matters*; where its published code goes wrong or has nothing, the files above say so.
//!
//! ```
//! use treeqr_profiling::models;
//! use treeqr_profiling::trace::Tables;
//!
//! let models = models::fit(&Tables::default(), 0.95);
//! assert!(models.groups.is_empty() && models.anomalies().is_empty());
//! ```

mod choose;
mod geometry;
mod group;
mod least_squares;
mod line;
mod mixture;
mod quantiles;
mod robust;

pub use choose::{Choice, Diagnostics};
pub use geometry::{Geometry, LinearFit, TERMS, Term, TermFit};
pub use group::{FEWEST, GroupModel};
pub use line::{Interval, Line};
pub use mixture::{Cluster, Component, Mixture};

use crate::inspect::helpers;
use crate::trace::Tables;
use crate::trace::schema::{Task, WorkerKind};
use geometry::Timed;
use group::Members;
use line::Point;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The level of the intervals unless another is asked for.
pub const LEVEL: f64 = 0.95;

/// The models of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Models {
    /// Of all intervals.
    pub level: f64,
    /// By codelet, in the order of their numbers, and kind of worker: those with flops.
    pub groups: Vec<GroupModel>,
    /// By codelet and kind of worker: all.
    pub fits: Vec<LinearFit>,
    /// Tasks whose codelet or worker is in no table.
    pub left_out: u64,
    anomalies: Vec<Anomaly>,
}

/// A task that took longer than its model's upper limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anomaly {
    /// Its number.
    pub task: u32,
    /// Its group, a place in [`Models::groups`].
    pub group: usize,
    /// How long it took, with the time of those who helped.
    pub duration_ns: u64,
    /// How long it would take, as a median.
    pub expected_ns: f64,
    /// The upper limit.
    pub upper_ns: f64,
    /// Duration over expectation.
    pub ratio: f64,
    /// The line it belongs to, in [`GroupModel::lines`]: 1 for the slower one of two.
    pub cluster: usize,
}

/// Tasks above this interval are left out of the fits by shape.
const FAR_LEVEL: f64 = 0.999;

/// The version of [`ModelReport`].
pub const REPORT_VERSION: u32 = 1;

/// The models as JSON has them, without the tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelReport {
    /// [`REPORT_VERSION`].
    pub version: u32,
    /// Of all intervals.
    pub level: f64,
    /// Durations by flops.
    pub groups: Vec<GroupModel>,
    /// Durations by shapes.
    pub fits: Vec<LinearFit>,
    /// How many tasks are anomalous.
    pub anomalies: u64,
    /// Tasks whose codelet or worker is in no table.
    pub left_out: u64,
}

/// Fits all models to a trace. Level is two-sided: [`LEVEL`] is usual, the paper shows 0.65 to 0.95.
///
/// The same tables give the same models, bit for bit. O(n) in the number of tasks n, and O(n log n) to order what was found.
///
/// # Panics
/// If `level` is not between 0 and 1.
pub fn fit(tables: &Tables, level: f64) -> Models {
    assert!(
        level > 0.0 && level < 1.0,
        "a level is between 0 and 1, not {level}"
    );
    let kinds: BTreeMap<u16, WorkerKind> =
        tables.workers.iter().map(|w| (w.worker, w.kind)).collect();
    let names: BTreeMap<u16, &str> = tables
        .codelets
        .iter()
        .map(|c| (c.codelet, &*c.name))
        .collect();
    let mut left_out = 0;
    let mut by_group: BTreeMap<(u16, WorkerKind), Vec<Worked<'_>>> = BTreeMap::new();
    for worked in worked(tables) {
        let task = worked.task;
        match kinds.get(&task.worker) {
            Some(&kind) if names.contains_key(&task.codelet) => {
                by_group
                    .entry((task.codelet, kind))
                    .or_default()
                    .push(worked);
            }
            _ => left_out += 1,
        }
    }
    let mut models = Models {
        level,
        groups: Vec::new(),
        fits: Vec::new(),
        left_out,
        anomalies: Vec::new(),
    };
    for ((codelet, kind), tasks) in by_group {
        let name = names[&codelet];
        let mut timed: Vec<Timed> = tasks.iter().map(timed).collect();
        models.add_group(name, kind, &tasks, &mut timed);
        slow_moves(&tasks, &mut timed);
        models.fits.push(geometry::fit(name, kind, &timed, level));
    }
    models.anomalies.sort_unstable_by_key(|a| a.task);
    models
}

/// A task and the time of all who worked on it: what it would have taken its worker alone.
#[derive(Clone, Copy)]
struct Worked<'t> {
    task: &'t Task,
    /// 0 also for a task that ends before it begins, which a check of the trace reports.
    ns: u64,
}

fn worked(tables: &Tables) -> Vec<Worked<'_>> {
    let own = tables.tasks.iter().map(|task| Worked {
        task,
        ns: task.end_ns.saturating_sub(task.start_ns),
    });
    let mut all: Vec<_> = own.collect();
    for piece in helpers(&tables.tasks, &tables.shares) {
        all[piece.row].ns = all[piece.row].ns.saturating_add(piece.duration_ns());
    }
    all
}

fn timed(worked: &Worked<'_>) -> Timed {
    Timed {
        geometry: worked.task.into(),
        ns: worked.ns as f64,
        slow: false,
    }
}

/// The tasks that have a measurable duration and are asked for: their places, and points over their size.
fn points(
    tasks: &[Worked<'_>],
    size: impl Fn(&Task) -> u64,
    asked: impl Fn(&Task) -> bool,
) -> (Vec<usize>, Vec<Point>) {
    let usable = |k: &usize| asked(tasks[*k].task) && tasks[*k].ns > 0;
    let point = |k: usize| {
        let point = Point {
            x: (size(tasks[k].task).max(1) as f64).ln(),
            y: (tasks[k].ns as f64).ln(),
        };
        (k, point)
    };
    (0..tasks.len()).filter(usable).map(point).unzip()
}

/// Marks the tasks without flops that are far above a robust line on their entries.
fn slow_moves(tasks: &[Worked<'_>], timed: &mut [Timed]) {
    let (places, points) = points(tasks, |t| t.coefficients, |t| t.flops == 0);
    if points.len() >= group::FEWEST_ROBUST {
        let line = robust::fit(&points, FAR_LEVEL);
        for (&k, p) in places.iter().zip(&points) {
            timed[k].slow = line.is_below(p);
        }
    }
}

impl Models {
    /// Models the tasks with flops, notes the anomalies, and marks in `timed` those that are far above their model.
    fn add_group(
        &mut self,
        codelet: &str,
        kind: WorkerKind,
        tasks: &[Worked<'_>],
        timed: &mut [Timed],
    ) {
        let (places, points) = points(tasks, |t| t.flops, |t| t.flops > 0);
        let all = tasks.iter().filter(|t| t.task.flops > 0).count();
        if all == 0 {
            return;
        }
        let flops = || places.iter().map(|&k| tasks[k].task.flops);
        let model = group::fit(
            &Members {
                codelet,
                kind,
                points: &points,
                flops: flops().min().zip(flops().max()),
                unmeasurable: (all - points.len()) as u64,
            },
            self.level,
        );
        let lines = model.lines();
        let found = model.above(&points, self.level);
        let far = model.above(&points, FAR_LEVEL);
        for ((&k, cluster), far) in places.iter().zip(found).zip(far) {
            timed[k].slow = far.is_some();
            let Some(cluster) = cluster else { continue };
            let Worked { task, ns } = tasks[k];
            let interval = lines[cluster].at(task.flops as f64);
            self.anomalies.push(Anomaly {
                task: task.task,
                group: self.groups.len(),
                duration_ns: ns,
                expected_ns: interval.expected_ns,
                upper_ns: interval.upper_ns,
                ratio: ns as f64 / interval.expected_ns,
                cluster,
            });
        }
        self.groups.push(model);
    }

    /// The tasks above their upper limit, by number.
    pub fn anomalies(&self) -> &[Anomaly] {
        &self.anomalies
    }

    /// How many of the tasks that were modelled would be anomalous by chance.
    pub fn expected_anomalies(&self) -> f64 {
        let tasks: u64 = self.groups.iter().map(|group| group.tasks).sum();
        0.5 * (1.0 - self.level) * tasks as f64
    }

    /// Whether there are more anomalies than chance explains: three standard deviations more than expected.
    pub fn beyond_chance(&self) -> bool {
        let expected = self.expected_anomalies();
        let deviation = (expected * 0.5 * (1.0 + self.level)).sqrt();
        self.anomalies.len() as f64 > expected + 3.0 * deviation
    }

    /// The model of a codelet on a kind of worker.
    pub fn group(&self, codelet: &str, kind: WorkerKind) -> Option<&GroupModel> {
        let mut groups = self.groups.iter();
        groups.find(|g| g.codelet == codelet && g.kind == kind)
    }

    /// The linear fit of a codelet on a kind of worker.
    pub fn linear(&self, codelet: &str, kind: WorkerKind) -> Option<&LinearFit> {
        let mut fits = self.fits.iter();
        fits.find(|f| f.codelet == codelet && f.kind == kind)
    }

    /// What is worth keeping, for JSON.
    pub fn report(&self) -> ModelReport {
        ModelReport {
            version: REPORT_VERSION,
            level: self.level,
            groups: self.groups.clone(),
            fits: self.fits.clone(),
            anomalies: self.anomalies.len() as u64,
            left_out: self.left_out,
        }
    }
}

impl ModelReport {
    /// As JSON, indented.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain numbers and words")
    }
}

/// Kinds of workers by their names in traces.
mod kind_name {
    use crate::trace::schema::WorkerKind;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(kind: &WorkerKind, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(kind.name())
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<WorkerKind, D::Error> {
        let name = String::deserialize(from)?;
        let unknown = || D::Error::custom(format!("`{name}` is no kind of worker"));
        WorkerKind::from_name(&name).ok_or_else(unknown)
    }
}
