//! How two traces differ: as a whole, by codelet, by tree node, by phase.
//!
//! Takes two [`Source`]s, measured or simulated; gives figures of both, the largest differences first. Knows no file.
//! Traces of other matrices can be compared, but not node by node; what makes a comparison doubtful is said in notes.

use super::balance::Balance;
use super::pieces::{Piece, pieces};
use super::source::Source;
use crate::trace::schema::{Codelet, Front, Memory, Phase, Share, Task, Transfer};
use crate::trace::{Manifest, Status, TraceError, TraceKind};
use serde::Serialize;
use std::collections::BTreeMap;

/// Two traces that cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// One is a graph: nothing in it took time.
    #[error("the {which} trace is only a graph: it has no times to compare")]
    Graph {
        /// `first` or `second`.
        which: &'static str,
    },
    /// A table cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// A number of both traces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// What it is.
    pub name: String,
    /// `ns`, `bytes`, `flop`, `tasks`, or `1` for parts of a whole.
    pub unit: &'static str,
    /// In the first.
    pub a: f64,
    /// In the second.
    pub b: f64,
}

impl Figure {
    pub(crate) fn new(name: &str, unit: &'static str, a: f64, b: f64) -> Self {
        let name = name.to_owned();
        Figure { name, unit, a, b }
    }

    /// Second minus first.
    pub fn difference(&self) -> f64 {
        self.b - self.a
    }

    /// The difference as a part of the first; none where that is 0.
    pub fn relative(&self) -> Option<f64> {
        (self.a != 0.0).then(|| self.difference() / self.a)
    }
}

/// All tasks of one codelet, or of one tree node.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Name of the codelet; number of the node.
    pub name: String,
    /// How many tasks.
    pub tasks: [u64; 2],
    /// Time of workers in them, in nanoseconds.
    pub time_ns: [u64; 2],
    /// Their floating-point operations.
    pub flops: [u64; 2],
    /// From the start of the first to the end of the last, in nanoseconds.
    pub span_ns: [u64; 2],
}

impl Group {
    /// Second minus first, in nanoseconds.
    pub fn difference_ns(&self) -> i64 {
        let ns = i128::from(self.time_ns[1]) - i128::from(self.time_ns[0]);
        ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// The difference as a part of the first; none where that is 0.
    pub fn relative(&self) -> Option<f64> {
        (self.time_ns[0] > 0).then(|| self.difference_ns() as f64 / self.time_ns[0] as f64)
    }
}

/// How the second trace differs from the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff {
    /// What to know before believing it.
    pub notes: Vec<String>,
    /// Whether the tree is the same, so that nodes were compared.
    pub same_tree: bool,
    /// The whole run.
    pub totals: Vec<Figure>,
    /// By codelet; the largest difference of times first.
    pub codelets: Vec<Group>,
    /// By the tree node of the tasks; the largest difference of times first. Empty where the trees differ.
    pub nodes: Vec<Group>,
    /// Length of each step, by the largest difference.
    pub phases: Vec<Figure>,
}

/// Compares two traces. O(n log n), with one table of each in memory at a time.
///
/// # Errors
/// [`DiffError`]: a graph, or a table that cannot be read.
pub fn diff(a: &impl Source, b: &impl Source) -> Result<Diff, DiffError> {
    for (which, manifest) in [("first", a.manifest()), ("second", b.manifest())] {
        if manifest.kind == TraceKind::Graph {
            return Err(DiffError::Graph { which });
        }
    }
    let mut notes = notes(a.manifest(), b.manifest());
    let same_tree = same_tree(a, b)?;
    if !same_tree {
        notes.push("the elimination trees differ: nodes are not compared".to_owned());
    }
    let (mut codelets, mut nodes) = (BTreeMap::new(), BTreeMap::new());
    tasks(a, 0, &mut codelets, &mut nodes, same_tree)?;
    tasks(b, 1, &mut codelets, &mut nodes, same_tree)?;
    Ok(Diff {
        notes,
        same_tree,
        totals: totals(a, b)?,
        codelets: sorted(codelets),
        nodes: sorted(nodes),
        phases: phases(a, b)?,
    })
}

pub(crate) fn notes(a: &Manifest, b: &Manifest) -> Vec<String> {
    let mut notes = Vec::new();
    let mut differ = |what: &str, x: String, y: String| {
        if x != y {
            notes.push(format!("{what}: {x} and {y}"));
        }
    };
    differ(
        "matrices differ",
        a.matrix_name().into(),
        b.matrix_name().into(),
    );
    differ("kinds differ", a.kind.name().into(), b.kind.name().into());
    differ(
        "schedulers differ",
        a.run.scheduler.clone(),
        b.run.scheduler.clone(),
    );
    let devices = |m: &Manifest| match m.run.devices.as_slice() {
        [] => "none".to_owned(),
        names => names.join(", "),
    };
    differ("devices differ", devices(a), devices(b));
    differ(
        "times are stretched differently",
        a.run.time_scale.to_string(),
        b.run.time_scale.to_string(),
    );
    if a.matrix_name() == b.matrix_name()
        && a.matrix.get("fingerprint") != b.matrix.get("fingerprint")
    {
        notes.push("matrices differ, although their names do not".to_owned());
    }
    for (which, m) in [("first", a), ("second", b)] {
        match &m.status {
            Status::Complete => {}
            Status::Cancelled => notes.push(format!("the {which} run was cancelled")),
            Status::Failed(why) => notes.push(format!("the {which} run failed: {why}")),
        }
        if let Some(part) = &m.filtered {
            notes.push(format!("the {which} is a part of a trace: {part}"));
        }
        if m.recorder.dropped_records > 0 {
            let n = m.recorder.dropped_records;
            notes.push(format!("the {which} lacks {n} records that found no room"));
        }
    }
    notes
}

pub(crate) fn same_tree(a: &impl Source, b: &impl Source) -> Result<bool, TraceError> {
    let shape = |f: &Front| (f.parent, f.rows, f.cols, f.pivots);
    let (a, b) = (a.rows::<Front>()?, b.rows::<Front>()?);
    Ok(a.len() == b.len() && a.iter().map(shape).eq(b.iter().map(shape)))
}

#[derive(Clone, Copy, Default)]
struct Sums {
    tasks: u64,
    time_ns: u64,
    flops: u64,
    span: Option<(u64, u64)>,
}

type Groups<K> = BTreeMap<K, (String, [Sums; 2])>;

fn tasks(
    trace: &impl Source,
    side: usize,
    codelets: &mut Groups<String>,
    nodes: &mut Groups<u32>,
    by_node: bool,
) -> Result<(), TraceError> {
    let names: BTreeMap<u16, String> = trace
        .rows::<Codelet>()?
        .iter()
        .map(|c| (c.codelet, c.name.clone()))
        .collect();
    let mut by_codelet: BTreeMap<u16, Sums> = BTreeMap::new();
    let add = |sums: &mut Sums, p: &Piece<'_>| {
        let t = p.task;
        sums.tasks += p.tasks();
        sums.time_ns = sums.time_ns.saturating_add(p.duration_ns());
        sums.flops = sums.flops.saturating_add(p.flops);
        let (from, to) = sums.span.unwrap_or((t.start_ns, t.end_ns));
        sums.span = Some((from.min(t.start_ns), to.max(t.end_ns)));
    };
    for p in pieces(&trace.rows::<Task>()?, &trace.rows::<Share>()?) {
        let t = p.task;
        add(by_codelet.entry(t.codelet).or_default(), &p);
        if by_node {
            let fresh = || (t.node.to_string(), [Sums::default(); 2]);
            add(&mut nodes.entry(t.node).or_insert_with(fresh).1[side], &p);
        }
    }
    for (number, sums) in by_codelet {
        let name = names
            .get(&number)
            .cloned()
            .unwrap_or_else(|| format!("codelet {number}"));
        let fresh = (name.clone(), [Sums::default(); 2]);
        codelets.entry(name).or_insert(fresh).1[side] = sums;
    }
    Ok(())
}

fn sorted<K>(groups: Groups<K>) -> Vec<Group> {
    let group = |(name, both): (String, [Sums; 2])| Group {
        name,
        tasks: both.map(|s| s.tasks),
        time_ns: both.map(|s| s.time_ns),
        flops: both.map(|s| s.flops),
        span_ns: both.map(|s| s.span.map_or(0, |(from, to)| to.saturating_sub(from))),
    };
    let mut out: Vec<_> = groups.into_values().map(group).collect();
    // Stable: equal differences stay in the order of names and numbers.
    out.sort_by_key(|g| std::cmp::Reverse((g.difference_ns().unsigned_abs(), g.time_ns[0])));
    out
}

fn totals(a: &impl Source, b: &impl Source) -> Result<Vec<Figure>, TraceError> {
    let (x, y) = (Whole::of(a)?, Whole::of(b)?);
    let figure = |name, unit, of: fn(&Whole) -> f64| Figure::new(name, unit, of(&x), of(&y));
    let time = |name, of: fn(&Whole) -> f64| Figure::new(name, "ns", of(&x), of(&y));
    let mut figures = vec![
        time("makespan", |w| w.balance.makespan_ns as f64),
        figure("occupancy", "1", |w| w.balance.occupancy),
        figure("tasks", "tasks", |w| w.balance.tasks as f64),
        figure("flops", "flop", |w| w.balance.flops as f64),
        time("in tasks", |w| w.sum(|w| w.executing_ns())),
        time("scheduling", |w| w.sum(|w| w.scheduling_ns)),
        time("idle", |w| w.sum(|w| w.idle_ns)),
        time("sleeping", |w| w.sum(|w| w.sleeping_ns)),
        time("waiting for data", |w| w.sum(|w| w.transferring_ns)),
        time("runtime", |w| w.sum(|w| w.runtime_ns)),
        time("submission waits for tasks", |w| {
            w.balance.window_full_ns as f64
        }),
        time("submission waits for memory", |w| {
            w.balance.memory_full_ns as f64
        }),
        figure("memory peak", "bytes", |w| w.peak_bytes as f64),
        figure("transferred", "bytes", |w| w.transferred_bytes as f64),
    ];
    let helping = time("of that, in others' tasks", |w| w.sum(|w| w.helping_ns));
    if helping.a + helping.b > 0.0 {
        let in_tasks = figures.iter().position(|f| f.name == "in tasks");
        figures.insert(in_tasks.map_or(0, |k| k + 1), helping);
    }
    Ok(figures)
}

struct Whole {
    balance: Balance,
    peak_bytes: u64,
    transferred_bytes: u64,
}

impl Whole {
    fn of(trace: &impl Source) -> Result<Self, TraceError> {
        let initial = trace.manifest().run.host_bytes;
        let memory = trace.rows::<Memory>()?;
        let on_host = memory.iter().filter(|m| m.memory_node == 0);
        Ok(Whole {
            balance: Balance::of(trace)?,
            peak_bytes: on_host.map(|m| m.after_bytes).fold(initial, u64::max),
            transferred_bytes: trace
                .rows::<Transfer>()?
                .iter()
                .map(|t| t.bytes)
                .fold(0, u64::saturating_add),
        })
    }

    fn sum(&self, of: fn(&super::WorkerBalance) -> u64) -> f64 {
        self.balance.workers.iter().map(|w| of(w) as f64).sum()
    }
}

fn phases(a: &impl Source, b: &impl Source) -> Result<Vec<Figure>, TraceError> {
    let mut lengths: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    let mut add = |side: usize, rows: &[Phase]| {
        for phase in rows {
            let name = match &phase.part_of {
                Some(whole) => format!("{whole}: {}", phase.phase),
                None => phase.phase.clone(),
            };
            lengths.entry(name).or_default()[side] +=
                (phase.end_ns as f64) - (phase.start_ns as f64);
        }
    };
    add(0, &a.rows::<Phase>()?);
    add(1, &b.rows::<Phase>()?);
    let figure = |(name, [a, b]): (String, [f64; 2])| Figure::new(&name, "ns", a, b);
    let mut out: Vec<_> = lengths.into_iter().map(figure).collect();
    out.sort_by(|x, y| y.difference().abs().total_cmp(&x.difference().abs()));
    Ok(out)
}
