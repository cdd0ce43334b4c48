//! Which dependencies are shown: all, or those on the critical path.
//!
//! Takes the tasks' durations and dependencies; gives edges between rows of the task table. Dependencies on tasks that the
//! trace does not have are left out.

use super::Dependencies;
use super::view::View;

/// An edge: the row of the predecessor, the row of the task that waited.
pub(super) type Edge = (u32, u32);

/// The edges to show, in the order of the tasks that waited.
pub(super) fn chosen(view: &View<'_>, dependencies: Dependencies) -> Vec<Edge> {
    match dependencies {
        Dependencies::None => Vec::new(),
        Dependencies::All => all(view),
        Dependencies::Critical => critical(view, all(view)),
    }
}

fn all(view: &View<'_>) -> Vec<Edge> {
    let rows = view.trace.tables.dependencies.iter();
    let mut edges: Vec<Edge> = rows
        .filter(|row| row.predecessor < row.task)
        .filter_map(|row| Some((view.row(row.predecessor)?, view.row(row.task)?)))
        .collect();
    edges.sort_unstable_by_key(|&(predecessor, task)| (task, predecessor));
    edges
}

/// The longest path by durations: one pass over the tasks in the order of submission, which is topological.
fn critical(view: &View<'_>, edges: Vec<Edge>) -> Vec<Edge> {
    let tasks = view.tasks();
    let numbers = |&(_, task): &Edge| tasks[task as usize].task;
    let mut edges = edges;
    edges.sort_by_key(numbers);
    let duration = |row: u32| {
        let task = &tasks[row as usize];
        task.end_ns.saturating_sub(task.start_ns)
    };
    let mut length: Vec<u64> = (0..tasks.len() as u32).map(duration).collect();
    let mut longest_before: Vec<Option<u32>> = vec![None; tasks.len()];
    // All edges into a task come before those out of it.
    for &(predecessor, task) in &edges {
        let through = length[predecessor as usize] + duration(task);
        let (length, before) = (
            &mut length[task as usize],
            &mut longest_before[task as usize],
        );
        if through > *length || before.is_none() {
            (*length, *before) = (through, Some(predecessor));
        }
    }
    let last = (0..tasks.len() as u32).max_by_key(|&row| length[row as usize]);
    let mut path = Vec::new();
    let mut at = last;
    while let Some(task) = at {
        at = longest_before[task as usize];
        path.extend(at.map(|predecessor| (predecessor, task)));
    }
    path.reverse();
    path
}
