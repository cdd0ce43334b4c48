//! Tasks and dependencies by row: predecessors of each row, and the rows in an order in which predecessors come first.
//!
//! Takes the tables; gives rows. Edges that name no task of the trace, or run against the order of submission, are counted
//! and left out, so that what is left has no cycle whatever the trace.

use crate::inspect::Numbers;
use crate::trace::Trace;
use crate::trace::schema::{Front, Task};
use std::collections::{BTreeMap, HashMap};

/// The task graph. O(tasks log tasks + edges); 12 bytes a task and 4 an edge.
pub(crate) struct Graph {
    /// Rows by the number of their task: predecessors first.
    pub order: Vec<u32>,
    first: Vec<usize>,
    before: Vec<u32>,
    /// Edges left out.
    pub left_out: u64,
}

impl Graph {
    pub fn of(trace: &Trace) -> Self {
        let (tasks, edges) = (&trace.tables.tasks, &trace.tables.dependencies);
        let numbers = Numbers::of(tasks.iter().map(|t| t.task));
        let rows = |edge: &crate::trace::schema::Dependency| {
            let forward = edge.predecessor < edge.task;
            let rows = (numbers.row(edge.predecessor)?, numbers.row(edge.task)?);
            forward.then_some(rows)
        };
        let mut first = vec![0; tasks.len() + 1];
        let mut left_out = 0;
        for edge in edges {
            match rows(edge) {
                Some((_, task)) => first[task + 1] += 1,
                None => left_out += 1,
            }
        }
        for k in 0..tasks.len() {
            first[k + 1] += first[k];
        }
        let mut next = first.clone();
        let mut before = vec![0; first[tasks.len()]];
        for (predecessor, task) in edges.iter().filter_map(rows) {
            before[next[task]] = predecessor as u32;
            next[task] += 1;
        }
        let mut order: Vec<u32> = (0..tasks.len() as u32).collect();
        // Nearly always they are in order.
        order.sort_by_key(|&row| tasks[row as usize].task);
        Graph {
            order,
            first,
            before,
            left_out,
        }
    }

    /// Rows of the direct predecessors of a row.
    pub fn predecessors(&self, row: u32) -> &[u32] {
        let row = row as usize;
        &self.before[self.first[row]..self.first[row + 1]]
    }
}

/// Time in a task.
pub(crate) fn duration_ns(task: &Task) -> u64 {
    task.end_ns.saturating_sub(task.start_ns)
}

/// Name of a codelet; `codelet_N` for one that the table does not have.
pub(crate) fn codelet_names(trace: &Trace) -> BTreeMap<u16, String> {
    let rows = trace.tables.codelets.iter();
    let mut names: BTreeMap<_, _> = rows.map(|c| (c.codelet, c.name.clone())).collect();
    for task in &trace.tables.tasks {
        let unknown = || format!("codelet_{}", task.codelet);
        names.entry(task.codelet).or_insert_with(unknown);
    }
    names
}

/// Fronts by their number.
pub(crate) fn fronts(trace: &Trace) -> HashMap<u32, &Front> {
    trace.tables.fronts.iter().map(|f| (f.node, f)).collect()
}

/// The run: from its beginning to its end, or to that of its last task if the manifest says less.
pub(crate) fn span_ns(trace: &Trace) -> (u64, u64) {
    let (run, tasks) = (&trace.manifest.run, &trace.tables.tasks);
    let starts = tasks.iter().map(|t| t.start_ns);
    let ends = tasks.iter().map(|t| t.end_ns);
    let from = starts.fold(run.begin_ns, u64::min);
    (from, ends.fold(run.end_ns.max(from), u64::max))
}
