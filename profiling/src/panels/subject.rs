//! A trace that was found fit to be drawn, and the span of time that is.
//!
//! Takes a trace and the options; gives workers, codelets, fronts and tasks by position, with times since the beginning of the
//! run. Knows no page.

use super::{PanelError, PanelOptions};
use crate::account::Steps;
use crate::inspect::{Piece, pieces};
use crate::models::{self, Models};
use crate::palette::{self, Colour};
use crate::trace::Trace;
use crate::trace::schema::{Front, Role, Task, WorkerKind};
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

pub(crate) struct Subject<'t> {
    pub trace: &'t Trace,
    /// By number.
    pub workers: Vec<Lane>,
    positions: HashMap<u16, usize>,
    codelets: BTreeMap<u16, (String, Role)>,
    fronts: HashMap<u32, usize>,
    /// The beginning of the run, by the recorder's clock.
    pub begin_ns: u64,
    /// When the last task ended, since the beginning.
    pub last_ns: u64,
    /// What is drawn, since the beginning.
    pub from: f64,
    /// Its end.
    pub to: f64,
    models: OnceCell<Models>,
}

pub(crate) struct Lane {
    pub name: String,
    pub is_device: bool,
}

impl<'t> Subject<'t> {
    pub fn new(trace: &'t Trace, options: &PanelOptions) -> Result<Self, PanelError> {
        let tables = &trace.tables;
        check(trace)?;
        let mut codelets = BTreeMap::new();
        for row in &tables.codelets {
            codelets.insert(row.codelet, (row.name.clone(), row.role));
        }
        let mut lanes = BTreeMap::new();
        for row in &tables.workers {
            let is_device = row.kind == WorkerKind::Device;
            let name = row.name.clone();
            lanes.insert(row.worker, Lane { name, is_device });
        }
        for task in &tables.tasks {
            let unknown = || (format!("codelet {}", task.codelet), Role::Compute);
            codelets.entry(task.codelet).or_insert_with(unknown);
            lanes.entry(task.worker).or_insert_with(|| Lane {
                name: format!("worker {}", task.worker),
                is_device: false,
            });
        }
        let positions = lanes.keys().enumerate().map(|(k, w)| (*w, k)).collect();
        let workers = lanes.into_values().collect();
        let fronts = tables.fronts.iter().enumerate();
        let fronts = fronts.map(|(k, front)| (front.node, k)).collect();
        let first = tables.tasks.iter().map(|task| task.submit_ns).min();
        let first = first.unwrap_or(0);
        // A manifest that was made by hand may say anything.
        let begin_ns = trace.manifest.run.begin_ns.min(first);
        let last = tables.tasks.iter().map(|task| task.end_ns).max();
        let last_ns = last.unwrap_or(0).saturating_sub(begin_ns);
        let from_ns = options.from_ns.unwrap_or(0);
        let to_ns = options.to_ns.unwrap_or(last_ns.max(1)).min(last_ns.max(1));
        if from_ns >= to_ns {
            return Err(PanelError::NoSpan {
                from_ns,
                to_ns: options.to_ns.unwrap_or(to_ns),
                run_ns: last_ns,
            });
        }
        Ok(Subject {
            trace,
            workers,
            positions,
            codelets,
            fronts,
            begin_ns,
            last_ns,
            from: from_ns as f64,
            to: to_ns as f64,
            models: OnceCell::new(),
        })
    }

    pub fn tasks(&self) -> &'t [Task] {
        &self.trace.tables.tasks
    }

    /// Who worked on tasks, and when: their workers, and those who helped.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'t>> {
        let all = pieces(self.tasks(), &self.trace.tables.shares);
        all.filter(|piece| self.knows(piece.worker))
    }

    /// From start to end of a worker's part in a task.
    pub fn worked(&self, piece: &Piece<'_>) -> (f64, f64) {
        (self.since(piece.start_ns), self.since(piece.end_ns))
    }

    /// Since the beginning of the run.
    pub fn since(&self, time_ns: u64) -> f64 {
        time_ns as f64 - self.begin_ns as f64
    }

    /// From start to end of a task.
    pub fn span(&self, task: &Task) -> (f64, f64) {
        (self.since(task.start_ns), self.since(task.end_ns))
    }

    /// The same, never before the beginning: an event there counts as one at the beginning.
    pub fn since_ns(&self, time_ns: u64) -> u64 {
        time_ns.saturating_sub(self.begin_ns)
    }

    /// From start to end of a task, as whole numbers.
    pub fn span_ns(&self, task: &Task) -> (u64, u64) {
        (self.since_ns(task.start_ns), self.since_ns(task.end_ns))
    }

    /// How many tasks there are between the two times that `of` gives.
    pub fn count(&self, of: impl Fn(&Task) -> (u64, u64)) -> Steps {
        let spans = self.tasks().iter().map(of);
        let spans = spans.map(|(a, b)| (self.since_ns(a), self.since_ns(b.max(a))));
        let (from, to) = spans.unzip();
        Steps::count(from, to)
    }

    /// Steps by the recorder's clock as steps since the beginning of the run.
    pub fn shifted(&self, steps: Steps) -> Steps {
        let mut out = Steps::default();
        for step in steps.steps {
            out.set(self.since_ns(step.time_ns), step.value);
        }
        out
    }

    /// Why a table of a module of the recorder is empty, in a sentence.
    pub fn without_module(&self, name: &str) -> String {
        let modules = &self.trace.manifest.modules;
        match modules.iter().find(|module| module.module == name) {
            None => format!("Not recorded: `treeqr solve --record {name}` does."),
            Some(module) if module.missing.is_empty() => {
                format!("There was nothing to record of `{name}`.")
            }
            Some(module) => format!("Not recorded: {}.", module.missing.join("; ")),
        }
    }

    /// Which part of the time of all workers a number of busy workers is; none for no time at all.
    pub fn part_of_workers(&self, busy: &Steps) -> Option<f64> {
        let time = busy.integral(self.from as u64, self.to as u64);
        let all = self.workers.len() as f64 * (self.to - self.from);
        (time > 0.0).then_some(time / all)
    }

    /// The part of a span that is drawn, if there is one; a span without length may be.
    pub fn visible(&self, (start, end): (f64, f64)) -> Option<(f64, f64)> {
        (end >= self.from && start <= self.to).then(|| (start.max(self.from), end.min(self.to)))
    }

    pub fn lane(&self, worker: u16) -> usize {
        self.positions[&worker]
    }

    pub fn knows(&self, worker: u16) -> bool {
        self.positions.contains_key(&worker)
    }

    /// Numbers, names and roles, by number.
    pub fn codelets(&self) -> impl Iterator<Item = (u16, &str, Role)> {
        let all = self.codelets.iter();
        all.map(|(&number, (name, role))| (number, name.as_str(), *role))
    }

    pub fn codelet(&self, number: u16) -> &str {
        &self.codelets[&number].0
    }

    pub fn role(&self, number: u16) -> Role {
        self.codelets[&number].1
    }

    pub fn colour(&self, codelet: u16) -> Colour {
        palette::codelet(self.codelet(codelet))
    }

    /// Whether a task belongs to a solve and not to the factorization: it works on a front that was done long ago.
    pub fn solves(&self, task: &Task) -> bool {
        self.role(task.codelet) == Role::Solve
    }

    /// What a memory node is called.
    pub fn memory_node(&self, node: u16) -> String {
        let devices = &self.trace.manifest.run.devices;
        match node.checked_sub(1) {
            None => "host".to_owned(),
            Some(d) => match devices.get(usize::from(d)) {
                Some(name) => name.clone(),
                None => format!("memory node {node}"),
            },
        }
    }

    /// The models of all tasks of the trace, whatever is drawn of it.
    pub fn models(&self) -> &Models {
        let fit = || models::fit(&self.trace.tables, models::LEVEL);
        self.models.get_or_init(fit)
    }

    pub fn front(&self, node: u32) -> Option<&'t Front> {
        Some(&self.trace.tables.fronts[*self.fronts.get(&node)?])
    }

    /// Codelets that ran in what is drawn, with the workers' time in it, in the order of their numbers.
    pub fn used(&self) -> Vec<(u16, f64)> {
        let mut times: BTreeMap<u16, f64> = BTreeMap::new();
        for piece in self.pieces() {
            if let Some((start, end)) = self.visible(self.worked(&piece)) {
                *times.entry(piece.task.codelet).or_default() += end - start;
            }
        }
        times.into_iter().collect()
    }

    /// What was factorized, how and where: the line below the title.
    pub fn subtitle(&self) -> String {
        let manifest = &self.trace.manifest;
        let run = &manifest.run;
        let mut parts = vec![manifest.matrix_name().to_owned()];
        let side = |key: &str| manifest.matrix.get(key).and_then(Value::as_u64);
        if let (Some(rows), Some(cols)) = (side("rows"), side("cols")) {
            parts.push(format!("{rows} × {cols}"));
        }
        if !run.scheduler.is_empty() {
            parts.push(format!("scheduler {}", run.scheduler));
        }
        let devices = self.workers.iter().filter(|w| w.is_device).count();
        parts.push(match (self.workers.len() - devices, devices) {
            (1, 0) => "1 worker".to_owned(),
            (n, 0) => format!("{n} workers"),
            (1, d) => format!("1 CPU worker, {d} driving devices"),
            (n, d) => format!("{n} CPU workers, {d} driving devices"),
        });
        if let Some(processor) = manifest.machine.get("processor").and_then(Value::as_str) {
            parts.push(processor.to_owned());
        }
        if run.time_scale != 1.0 {
            parts.push(format!(
                "emulated device: times stretched by {}",
                run.time_scale
            ));
        }
        if manifest.status != crate::trace::Status::Complete {
            parts.push("run not complete".to_owned());
        }
        if manifest.filtered.is_some() {
            parts.push("part of a trace".to_owned());
        }
        parts.join("  ·  ")
    }
}

/// What no panel can draw.
fn check(trace: &Trace) -> Result<(), PanelError> {
    let tables = &trace.tables;
    if tables.tasks.is_empty() {
        return Err(PanelError::NeedsTimes);
    }
    let wrong = |table, k: usize, message: String| {
        let row = k + 1;
        Err(PanelError::Malformed {
            table,
            row,
            message,
        })
    };
    for (k, task) in tables.tasks.iter().enumerate() {
        let t = task;
        if !(t.submit_ns <= t.start_ns && t.start_ns <= t.end_ns) {
            return wrong("tasks", k, format!("task {} ends before it begins", t.task));
        }
    }
    for (k, state) in tables.states.iter().enumerate() {
        if state.start_ns > state.end_ns {
            return wrong("states", k, "it ends before it begins".to_owned());
        }
    }
    for (k, share) in tables.shares.iter().enumerate() {
        if share.start_ns > share.end_ns {
            return wrong("shares", k, "it ends before it begins".to_owned());
        }
    }
    let mut seen = HashMap::with_capacity(tables.fronts.len());
    for (k, front) in tables.fronts.iter().enumerate() {
        if seen.insert(front.node, ()).is_some() {
            return wrong("fronts", k, format!("front {} is there twice", front.node));
        }
        // So there is no circle.
        if front.parent.is_some_and(|parent| parent <= front.node) {
            return wrong(
                "fronts",
                k,
                format!("front {} does not come before its parent", front.node),
            );
        }
    }
    Ok(())
}
