//! Where StarVZ draws the nodes of the elimination tree.
//!
//! Takes fronts and tasks; gives a row for each node that has tasks, and for the root above all. As in StarVZ:
//!
//! * nodes with kernels `*qrt` are rows from 1 on, in the order in which the first such task was submitted, of height 1;
//! * pruned nodes, which one `do_subtree` task does, lie on their parent's row;
//! * nodes below them have no tasks and are absent;
//! * a root above all others, numbered after them, has no tasks; panels drop the edges to it.
//!
//! Where StarVZ has no answer: pruned nodes without a parent get rows of their own above the others, in the same order.

use super::super::view::View;
use super::rows::Atree;
use crate::trace::schema::FrontKind;
use std::collections::{HashMap, HashSet};

pub(super) struct Tree {
    pub rows: Vec<Atree>,
    by_node: HashMap<u32, u32>,
}

impl Tree {
    pub fn new(view: &View<'_>) -> Self {
        let fronts = &view.trace.tables.fronts;
        let mut first: HashMap<u32, u32> = HashMap::new();
        let mut pruned: HashMap<u32, u32> = HashMap::new();
        for task in view.tasks() {
            let name = view.codelet(task.codelet);
            let firsts = match () {
                () if name.contains("qrt") => &mut first,
                () if name.contains("do_subtree") => &mut pruned,
                () => continue,
            };
            let known = firsts.entry(task.node).or_insert(task.task);
            *known = task.task.min(*known);
        }
        let parents: HashMap<u32, Option<u32>> = fronts
            .iter()
            .map(|front| (front.node, front.parent))
            .collect();
        let mut order: Vec<(u32, u32)> = first.iter().map(|(node, task)| (*task, *node)).collect();
        order.sort_unstable();
        let orphan = |node: &u32| parents.get(node).copied().flatten().is_none();
        let mut alone: Vec<(u32, u32)> = pruned
            .iter()
            .filter(|(node, _)| orphan(node))
            .map(|(node, task)| (*task, *node))
            .collect();
        alone.sort_unstable();
        let placed = order.iter().chain(&alone).zip(1..);
        let position: HashMap<u32, u32> = placed.map(|((_, node), row)| (*node, row)).collect();

        let root = fronts.iter().map(|front| front.node + 1).max().unwrap_or(0);
        let shown = || {
            fronts
                .iter()
                .filter(|front| front.kind != FrontKind::Grouped)
        };
        let with_children: HashSet<u32> =
            shown().map(|front| front.parent.unwrap_or(root)).collect();
        let mut rows: Vec<Atree> = shown()
            .map(|front| {
                let is_pruned = front.kind == FrontKind::GroupTop;
                let own = position.get(&front.node);
                let above = || position.get(&front.parent?);
                let position = own.or_else(|| is_pruned.then(above).flatten());
                Atree {
                    parent: Some(front.parent.unwrap_or(root).to_string()),
                    anode: front.node.to_string(),
                    depth: front.depth.into(),
                    intermediary: with_children.contains(&front.node),
                    node_type: Some(if is_pruned { "Pruned" } else { "Not Pruned" }.into()),
                    position: position.map(|&row| row.into()),
                    height: position.map(|_| 1.0),
                }
            })
            .collect();
        let numbers = shown().map(|front| front.node).zip(0..);
        let by_node = numbers.collect();
        if !rows.is_empty() {
            rows.push(Atree {
                parent: None,
                anode: root.to_string(),
                depth: 0.0,
                intermediary: true,
                node_type: None,
                position: None,
                height: None,
            });
        }
        Tree { rows, by_node }
    }

    pub fn row(&self, node: u32) -> Option<&Atree> {
        self.by_node.get(&node).map(|&row| &self.rows[row as usize])
    }
}
