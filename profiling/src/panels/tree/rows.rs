//! The rows of the elimination tree over time: what each front had, and when.
//!
//! Takes a subject; gives rows. Knows no page.

use crate::panels::subject::Subject;
use crate::trace::schema::{FrontKind, Role};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A row: a front, and the groups below it.
#[derive(Default)]
pub(super) struct Row {
    pub node: u32,
    /// From the first allocation to the last release.
    pub life: Option<(f64, f64)>,
    /// Tasks of the front itself.
    pub tasks: Vec<(f64, f64)>,
    pub assemblies: Vec<(f64, f64)>,
    /// Groups whose parent it is, or which it is itself.
    pub groups: Vec<(f64, f64)>,
    /// Tasks of a solve, which come when the front has long been done.
    pub solves: Vec<(f64, f64)>,
    /// Marked tasks.
    pub marked: Vec<(f64, f64)>,
}

/// The front in whose row a front is drawn.
pub(crate) fn home(subject: &Subject<'_>, node: u32) -> u32 {
    let Some(front) = subject.front(node) else {
        return node;
    };
    let top = match subject.front(front.task_node) {
        Some(top) if front.kind == FrontKind::Grouped => top,
        _ => front,
    };
    match (top.kind, top.parent) {
        (FrontKind::Tiled, _) | (_, None) => top.node,
        (_, Some(parent)) => match subject.front(parent) {
            // Above a group there is no other group, unless groups were cut.
            Some(above) if above.kind == FrontKind::Tiled => above.node,
            _ => top.node,
        },
    }
}

/// By the first submission of a task for the node, or for a group in its row.
pub(super) fn rows(subject: &Subject<'_>, marked: &BTreeSet<u32>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut of_node: HashMap<u32, usize> = HashMap::new();
    let mut tasks: Vec<_> = subject.tasks().iter().collect();
    tasks.sort_by_key(|task| task.submit_ns);
    for task in tasks {
        let node = home(subject, task.node);
        let k = *of_node.entry(node).or_insert_with(|| {
            rows.push(Row {
                node,
                ..Row::default()
            });
            rows.len() - 1
        });
        let row = &mut rows[k];
        let span = subject.span(task);
        if marked.contains(&task.task) {
            row.marked.push(span);
        }
        match subject.role(task.codelet) {
            Role::Solve => row.solves.push(span),
            Role::Subtree => row.groups.push(span),
            Role::Assemble => {
                row.assemblies.push(span);
                row.tasks.push(span);
            }
            _ => row.tasks.push(span),
        }
    }
    for piece in subject.pieces().filter(|piece| !piece.own) {
        let role = subject.role(piece.task.codelet);
        if let Some(&k) = of_node.get(&home(subject, piece.task.node))
            && !matches!(role, Role::Solve | Role::Subtree)
        {
            rows[k].tasks.push(subject.worked(&piece));
        }
    }
    for (node, life) in lives_of(subject) {
        // A group's memory is its parent's business: the row says when the front itself had some.
        if let Some(&k) = of_node.get(&node) {
            rows[k].life = Some(life);
        }
    }
    for row in &mut rows {
        if let Some(life) = &mut row.life {
            // What stays, as the factors, is no longer used when the last task is over.
            let last = row.tasks.iter().map(|span| span.1).fold(life.1, f64::max);
            life.1 = last;
        }
    }
    rows
}

/// From the first allocation of a node to its last release. A release belongs to the node that the memory had been taken for.
fn lives_of(subject: &Subject<'_>) -> BTreeMap<u32, (f64, f64)> {
    let mut owner: HashMap<u32, u32> = HashMap::new();
    let mut lives: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    let tasks = subject.tasks().iter();
    let solves: HashSet<u32> = tasks
        .filter(|task| subject.solves(task))
        .map(|task| task.task)
        .collect();
    let events = subject.trace.tables.memory.iter();
    for row in events.filter(|row| !solves.contains(&row.task)) {
        let at = subject.since(row.time_ns);
        if row.delta_bytes > 0 {
            owner.insert(row.handle, row.node);
        }
        let node = owner.get(&row.handle).copied().unwrap_or(row.node);
        let life = lives.entry(node).or_insert((at, at));
        *life = (life.0.min(at), life.1.max(at));
    }
    lives
}
