//! What is computed once of a trace, for all rules.
//!
//! Takes a trace and what other modules say of it; gives [`Findings`]: times of workers, and what each task took over what tasks of
//! its size take. Knows no rule.

use crate::account::{
    AreaBound, CriticalPath, Idle, area_bound, codelet_names, critical_path, duration_ns, idle,
    span_ns,
};
use crate::inspect::Numbers;
use crate::models::{self, Models};
use crate::trace::Trace;
use crate::trace::schema::{Role, Task, WorkerKind};
use std::collections::{BTreeMap, HashMap};

/// What other modules say of a trace, kept.
#[derive(Clone, Debug)]
pub struct Computed {
    /// How long tasks take, and which took longer.
    pub models: Models,
    /// Time without a task by cause.
    pub idle: Idle,
    /// The longest chain.
    pub path: CriticalPath,
    /// The area bound, where it could be had.
    pub area: Option<AreaBound>,
}

impl Computed {
    /// All of it, at the usual level of the intervals. O(n log n).
    pub fn of(trace: &Trace) -> Self {
        Computed {
            models: models::fit(&trace.tables, models::LEVEL),
            idle: idle(trace),
            path: critical_path(trace),
            area: area_bound(trace).ok(),
        }
    }

    /// As rules take it.
    pub fn findings<'a>(&'a self, trace: &'a Trace) -> Findings<'a> {
        Findings::new(
            trace,
            &self.models,
            &self.idle,
            &self.path,
            self.area.as_ref(),
        )
    }
}

/// What rules look at. Lists are by row of the task table.
#[derive(Debug)]
pub struct Findings<'a> {
    /// The trace itself.
    pub trace: &'a Trace,
    /// How long tasks take, and which took longer.
    pub models: &'a Models,
    /// Time without a task by cause.
    pub idle: &'a Idle,
    /// The longest chain.
    pub path: &'a CriticalPath,
    /// The area bound, where it could be had.
    pub area: Option<&'a AreaBound>,
    /// The run, from its beginning to its end.
    pub span_ns: (u64, u64),
    /// From the first start of a task to the last end.
    pub tasks_ns: (u64, u64),
    /// Time of all workers.
    pub all_ns: f64,
    /// Logarithm of the duration over what the (faster) line of the task's model expects; none without a model.
    pub excess: Vec<Option<f64>>,
    /// Whether the task is above its interval.
    pub anomalous: Vec<bool>,
    names: BTreeMap<u16, String>,
    roles: HashMap<u16, Role>,
    kinds: HashMap<u16, WorkerKind>,
    numbers: Numbers,
}

impl<'a> Findings<'a> {
    /// From what was computed elsewhere already. O(n log n).
    pub fn new(
        trace: &'a Trace,
        models: &'a Models,
        idle: &'a Idle,
        path: &'a CriticalPath,
        area: Option<&'a AreaBound>,
    ) -> Self {
        let tasks = &trace.tables.tasks;
        let kinds: HashMap<u16, WorkerKind> = (trace.tables.workers.iter())
            .map(|w| (w.worker, w.kind))
            .collect();
        let names = codelet_names(trace);
        let mut lines = HashMap::new();
        for group in &models.groups {
            if let Some(line) = group.lines().first() {
                lines.insert((group.codelet.as_str(), group.kind.name()), *line);
            }
        }
        let excess = |t: &Task| {
            let kind = kinds.get(&t.worker)?;
            let line = lines.get(&(names[&t.codelet].as_str(), kind.name()))?;
            let took = duration_ns(t);
            (t.flops > 0 && took > 0)
                .then(|| (took as f64).ln() - line.log_expected((t.flops as f64).ln()))
        };
        let excess: Vec<_> = tasks.iter().map(excess).collect();
        let numbers = Numbers::of(tasks.iter().map(|t| t.task));
        let mut anomalous = vec![false; tasks.len()];
        for anomaly in models.anomalies() {
            if let Some(row) = numbers.row(anomaly.task) {
                anomalous[row] = true;
            }
        }
        let starts = tasks.iter().map(|t| t.start_ns).min().unwrap_or(0);
        let ends = tasks.iter().map(|t| t.end_ns).max().unwrap_or(0);
        Findings {
            trace,
            models,
            idle,
            path,
            area,
            span_ns: span_ns(trace),
            tasks_ns: (starts, ends.max(starts)),
            all_ns: (idle.executing_ns.saturating_add(idle.all.total_ns())).max(1) as f64,
            excess,
            anomalous,
            roles: (trace.tables.codelets.iter())
                .map(|c| (c.codelet, c.role))
                .collect(),
            names,
            kinds,
            numbers,
        }
    }

    /// The tasks.
    pub fn tasks(&self) -> &'a [Task] {
        &self.trace.tables.tasks
    }

    /// The row of a task.
    pub fn row(&self, task: u32) -> Option<usize> {
        self.numbers.row(task)
    }

    /// A codelet's name.
    pub fn name(&self, codelet: u16) -> &str {
        self.names.get(&codelet).map_or("", String::as_str)
    }

    /// What a codelet does; none for one that the table does not have.
    pub fn role(&self, codelet: u16) -> Option<Role> {
        self.roles.get(&codelet).copied()
    }

    /// What a worker is.
    pub fn kind(&self, worker: u16) -> Option<WorkerKind> {
        self.kinds.get(&worker).copied()
    }

    /// Nanoseconds that a task took longer than its model expects; 0 for one that did not, or has no model.
    pub fn lost_ns(&self, row: usize) -> f64 {
        let took = duration_ns(&self.tasks()[row]) as f64;
        self.excess[row].map_or(0.0, |log| (took - took * (-log).exp()).max(0.0))
    }

    /// From the first start of a task to the last end; at least 1.
    pub fn makespan_ns(&self) -> f64 {
        (self.tasks_ns.1 - self.tasks_ns.0).max(1) as f64
    }

    /// What workers there are on processors.
    pub fn cpus(&self) -> usize {
        let cpu = |kind: &&WorkerKind| **kind == WorkerKind::Cpu;
        self.kinds.values().filter(cpu).count()
    }

    /// An option of the run, by the name of its flag; none where the trace does not say.
    pub fn option(&self, name: &str) -> Option<&'a serde_json::Value> {
        self.trace.manifest.options.get(name)
    }

    /// Processing units that the run's process could use; none where the trace does not say.
    pub fn units(&self) -> Option<u64> {
        let units = self
            .trace
            .manifest
            .machine
            .get("usable_units")?
            .as_array()?;
        (!units.is_empty()).then_some(units.len() as u64)
    }

    /// A worker's name.
    pub fn worker_name(&self, worker: u16) -> String {
        let mut rows = self.trace.tables.workers.iter();
        let row = rows.find(|w| w.worker == worker);
        row.map_or_else(|| format!("worker {worker}"), |w| w.name.clone())
    }
}
