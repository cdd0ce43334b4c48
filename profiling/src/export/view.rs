//! A trace by name and number: what all exports look up.
//!
//! Takes a trace; gives names, colours and rows by number. Numbers that no row explains get a plain name: a filtered trace
//! has them, and a damaged one must not end the program.

use crate::inspect::{Piece, helpers};
use crate::palette::{self, Colour};
use crate::trace::Trace;
use crate::trace::schema::{Task, Worker, WorkerKind};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub(super) struct View<'t> {
    pub trace: &'t Trace,
    codelets: BTreeMap<u16, Arc<str>>,
    /// By number: those of the table, and those that only tasks, helpers and states know.
    pub workers: Vec<Lane<'t>>,
    worker_rows: HashMap<u16, usize>,
    /// Rows of `tasks` by task number, where the rows are not in order of their numbers.
    task_rows: Option<HashMap<u32, u32>>,
}

/// A worker as pictures know it.
pub(super) struct Lane<'t> {
    pub worker: u16,
    pub name: Arc<str>,
    pub row: Option<&'t Worker>,
}

impl Lane<'_> {
    pub fn is_device(&self) -> bool {
        self.row.is_some_and(|row| row.kind == WorkerKind::Device)
    }
}

impl<'t> View<'t> {
    pub fn new(trace: &'t Trace) -> Self {
        let tables = &trace.tables;
        let mut codelets: BTreeMap<u16, Arc<str>> = BTreeMap::new();
        for row in &tables.codelets {
            codelets.insert(row.codelet, row.name.as_str().into());
        }
        let run = tables.tasks.iter().map(|task| task.codelet);
        for codelet in run.chain(tables.graph.iter().map(|task| task.codelet)) {
            let unknown = || format!("codelet_{codelet}").into();
            codelets.entry(codelet).or_insert_with(unknown);
        }
        let mut rows: BTreeMap<u16, Option<&Worker>> = BTreeMap::new();
        rows.extend(tables.workers.iter().map(|row| (row.worker, Some(row))));
        let seen = tables.tasks.iter().map(|task| task.worker);
        let seen = seen.chain(tables.shares.iter().map(|share| share.worker));
        for worker in seen.chain(tables.states.iter().filter_map(|state| state.worker)) {
            rows.entry(worker).or_insert(None);
        }
        let workers: Vec<_> = rows
            .into_iter()
            .map(|(worker, row)| Lane {
                worker,
                name: match row {
                    Some(row) => row.name.as_str().into(),
                    None => format!("worker_{worker}").into(),
                },
                row,
            })
            .collect();
        let worker_rows = workers.iter().enumerate();
        let worker_rows = worker_rows.map(|(k, lane)| (lane.worker, k)).collect();
        let sorted = tables
            .tasks
            .windows(2)
            .all(|pair| pair[0].task < pair[1].task);
        let task_rows = (!sorted).then(|| {
            let rows = tables.tasks.iter().enumerate();
            rows.map(|(k, task)| (task.task, k as u32)).collect()
        });
        View {
            trace,
            codelets,
            workers,
            worker_rows,
            task_rows,
        }
    }

    pub fn tasks(&self) -> &'t [Task] {
        &self.trace.tables.tasks
    }

    /// Who did parts of others' tasks, in the order of `shares`.
    pub fn helpers(&self) -> Vec<Piece<'t>> {
        helpers(self.tasks(), &self.trace.tables.shares)
    }

    pub fn codelets(&self) -> impl Iterator<Item = (u16, &Arc<str>)> {
        self.codelets.iter().map(|(number, name)| (*number, name))
    }

    pub fn codelet(&self, number: u16) -> &Arc<str> {
        &self.codelets[&number]
    }

    pub fn colour(&self, codelet: u16) -> Colour {
        palette::codelet(self.codelet(codelet))
    }

    /// The position in `workers` of a worker that a task, a share or a state names.
    pub fn lane(&self, worker: u16) -> usize {
        self.worker_rows[&worker]
    }

    /// The row of a task.
    pub fn row(&self, task: u32) -> Option<u32> {
        if let Some(rows) = &self.task_rows {
            return rows.get(&task).copied();
        }
        let tasks = self.tasks();
        // Nothing is missing from most traces.
        if tasks.get(task as usize).is_some_and(|row| row.task == task) {
            return Some(task);
        }
        let found = tasks.binary_search_by_key(&task, |row| row.task);
        found.ok().map(|row| row as u32)
    }

    /// What the trace is of, for titles.
    pub fn title(&self) -> String {
        let manifest = &self.trace.manifest;
        let (matrix, run) = (manifest.matrix_name(), &manifest.run);
        format!("{} {matrix} {}", manifest.kind.name(), run.scheduler)
    }
}
