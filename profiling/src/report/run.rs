//! What the panels of a report share: the tasks in the page's order, and what was computed of them once.
//!
//! Takes a trace; gives a [`Run`], or what is wrong with a row. Knows no panel.

use crate::hints::Computed;
use crate::models::Models;
use crate::palette::{self, Colour};
use crate::panels::subject::Subject;
use crate::panels::{PanelError, PanelOptions};
use crate::trace::Trace;
use crate::trace::schema::{Role, Task, WorkerKind};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Codelets and models have numbers of one byte, and 0 is none.
const MOST_KINDS: usize = 254;
/// Times and operations are numbers that a double holds exactly.
const LARGEST: u64 = (1 << 53) - 1;

/// What a position in the page's list of codelets stands for.
pub(super) struct CodeletKind {
    pub name: String,
    pub role: Role,
    pub colour: Colour,
}

pub(super) struct Run<'t> {
    pub trace: &'t Trace,
    pub subject: Subject<'t>,
    /// Length of the time axis.
    pub span_ns: u64,
    pub codelets: Vec<CodeletKind>,
    positions: HashMap<u16, u8>,
    pub computed: Computed,
    /// By the position of a codelet, and whether it ran on a device.
    model_of: HashMap<(u8, bool), u8>,
    /// By row of the trace's table: above its model's limit.
    pub slow: Vec<bool>,
    /// By row of the trace's table: so in the other run too.
    pub slow_twice: Vec<bool>,
    /// By row of the trace's table.
    pub on_path: Vec<bool>,
    /// Rows of the trace's table by worker, then by start: the rows of the page.
    pub order: Vec<u32>,
    /// Where each worker's rows begin, and where the last one's end.
    pub lanes: Vec<u32>,
    /// Rows of the trace's table by id.
    pub by_id: Vec<u32>,
}

impl<'t> Run<'t> {
    /// O(n log n).
    pub fn of(trace: &'t Trace) -> Result<Self, PanelError> {
        let subject = Subject::new(trace, &PanelOptions::default())?;
        let tasks = subject.tasks();
        let by_id = check(&subject)?;
        let mut codelets = Vec::new();
        let mut positions = HashMap::new();
        let ran: HashSet<u16> = tasks.iter().map(|task| task.codelet).collect();
        for (number, name, role) in subject.codelets().filter(|c| ran.contains(&c.0)) {
            positions.insert(number, codelets.len() as u8);
            codelets.push(CodeletKind {
                name: name.to_owned(),
                role,
                colour: palette::codelet(name),
            });
        }
        let computed = Computed::of(trace);
        let models = &computed.models;
        for (found, table) in [
            (codelets.len(), "codelets"),
            (models.groups.len(), "codelets"),
        ] {
            if found > MOST_KINDS {
                let message =
                    format!("{found} kinds of tasks, and a report has room for {MOST_KINDS}");
                return Err(wrong(table, MOST_KINDS, message));
            }
        }
        let model_of = model_positions(models, &codelets);
        let mut slow = vec![false; tasks.len()];
        mark(
            &mut slow,
            tasks,
            &by_id,
            models.anomalies().iter().map(|a| a.task),
        );
        let mut on_path = vec![false; tasks.len()];
        mark(
            &mut on_path,
            tasks,
            &by_id,
            computed.path.tasks.iter().copied(),
        );
        let (order, lanes) = order(&subject);
        Ok(Run {
            trace,
            span_ns: subject.last_ns.max(1),
            codelets,
            positions,
            model_of,
            computed,
            slow,
            slow_twice: vec![false; tasks.len()],
            on_path,
            order,
            lanes,
            by_id,
            subject,
        })
    }

    /// Notes which tasks are slow in the other run too.
    pub fn mark_twice(&mut self, ids: impl Iterator<Item = u32>) {
        mark(
            &mut self.slow_twice,
            self.trace.tables.tasks.as_slice(),
            &self.by_id,
            ids,
        );
    }

    pub fn tasks(&self) -> &'t [Task] {
        self.subject.tasks()
    }

    /// Rows of the page with their tasks.
    pub fn rows(&self) -> impl Iterator<Item = (usize, &'t Task)> + '_ {
        let tasks = self.tasks();
        self.order
            .iter()
            .map(move |&row| (row as usize, &tasks[row as usize]))
    }

    pub fn position(&self, codelet: u16) -> u8 {
        self.positions[&codelet]
    }

    /// Place of its model in the page's list.
    pub fn model(&self, task: &Task) -> Option<u8> {
        let device = self.subject.workers[self.subject.lane(task.worker)].is_device;
        let key = (self.position(task.codelet), device);
        (task.flops > 0).then(|| self.model_of.get(&key).copied())?
    }

    /// Since the beginning of the run; what was before it is at its beginning.
    pub fn ns(&self, time_ns: u64) -> u64 {
        time_ns.saturating_sub(self.subject.begin_ns)
    }

    /// A span within the axis, as beginning and length.
    pub fn span(&self, start_ns: u64, end_ns: u64) -> (u64, u64) {
        let (start, end) = (self.ns(start_ns), self.ns(end_ns).min(self.span_ns));
        let start = start.min(end);
        (start, end - start)
    }
}

/// Sets the rows of tasks by their ids.
fn mark(rows: &mut [bool], tasks: &[Task], by_id: &[u32], ids: impl Iterator<Item = u32>) {
    for id in ids {
        if let Ok(k) = by_id.binary_search_by_key(&id, |&row| tasks[row as usize].task) {
            rows[by_id[k] as usize] = true;
        }
    }
}

fn model_positions(models: &Models, codelets: &[CodeletKind]) -> HashMap<(u8, bool), u8> {
    let groups = models.groups.iter().enumerate();
    groups
        .flat_map(|(k, group)| {
            let same = codelets.iter().enumerate();
            let same = same.filter(move |(_, codelet)| codelet.name == group.codelet);
            same.map(move |(c, _)| ((c as u8, group.kind == WorkerKind::Device), k as u8))
        })
        .collect()
}

/// Rows by worker and start, and where each worker's begin.
fn order(subject: &Subject<'_>) -> (Vec<u32>, Vec<u32>) {
    let tasks = subject.tasks();
    let mut order: Vec<u32> = (0..tasks.len() as u32).collect();
    let lane = |row: u32| subject.lane(tasks[row as usize].worker) as u32;
    let lane_of: Vec<u32> = order.iter().map(|&row| lane(row)).collect();
    order.sort_unstable_by_key(|&row| {
        let task = &tasks[row as usize];
        (lane_of[row as usize], task.start_ns, task.end_ns, task.task)
    });
    let mut counts = vec![0_u32; subject.workers.len() + 1];
    for lane in lane_of {
        counts[lane as usize + 1] += 1;
    }
    for lane in 1..counts.len() {
        counts[lane] += counts[lane - 1];
    }
    (order, counts)
}

pub(super) fn wrong(table: &'static str, k: usize, message: String) -> PanelError {
    PanelError::Malformed {
        table,
        row: k + 1,
        message,
    }
}

/// What no page can show beyond what no panel can; gives rows by id.
fn check(subject: &Subject<'_>) -> Result<Vec<u32>, PanelError> {
    let tasks = subject.tasks();
    for (k, task) in tasks.iter().enumerate() {
        let id = task.task;
        if !(task.submit_ns..=task.start_ns).contains(&task.ready_ns) {
            let message = format!("task {id} is not ready between its submission and its start");
            return Err(wrong("tasks", k, message));
        }
        if task.flops > LARGEST || task.end_ns - subject.begin_ns > LARGEST {
            let message =
                format!("task {id} has an end or a number of operations that no run reaches");
            return Err(wrong("tasks", k, message));
        }
    }
    let mut by_id: Vec<u32> = (0..tasks.len() as u32).collect();
    // Nearly always they are in order.
    by_id.sort_by_key(|&row| tasks[row as usize].task);
    for pair in by_id.windows(2) {
        let task = &tasks[pair[1] as usize];
        if task.task == tasks[pair[0] as usize].task {
            let message = format!("task {} is there twice", task.task);
            return Err(wrong("tasks", pair[1] as usize, message));
        }
    }
    for (k, edge) in subject.trace.tables.dependencies.iter().enumerate() {
        if edge.predecessor >= edge.task {
            let message = format!(
                "task {} waits for {}, which comes later",
                edge.task, edge.predecessor
            );
            return Err(wrong("dependencies", k, message));
        }
    }
    let mut names: BTreeMap<u16, usize> = BTreeMap::new();
    for (k, worker) in subject.trace.tables.workers.iter().enumerate() {
        if names.insert(worker.worker, k).is_some() {
            return Err(wrong(
                "workers",
                k,
                format!("worker {} is there twice", worker.worker),
            ));
        }
    }
    Ok(by_id)
}
