//! Which dependencies are shown: all, or those on the critical path.
//!
//! Takes the tasks' durations and dependencies; gives edges between rows of the task table. Dependencies on tasks that the
//! trace does not have are left out.

use super::Dependencies;
use super::view::View;
use crate::account::critical_path;

/// An edge: the row of the predecessor, the row of the task that waited.
pub(super) type Edge = (u32, u32);

/// The edges to show, in the order of the tasks that waited.
pub(super) fn chosen(view: &View<'_>, dependencies: Dependencies) -> Vec<Edge> {
    match dependencies {
        Dependencies::None => Vec::new(),
        Dependencies::All => all(view),
        Dependencies::Critical => critical(view),
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

/// Those of the longest chain by durations.
fn critical(view: &View<'_>) -> Vec<Edge> {
    let path = critical_path(view.trace).tasks;
    let edge = |pair: &[u32]| Some((view.row(pair[0])?, view.row(pair[1])?));
    path.windows(2).filter_map(edge).collect()
}
