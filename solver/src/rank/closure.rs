//! The nodes that may change: those with a negligible pivot, and every node that a row left free by one may reach.
//!
//! Takes the nodes and the suspects; gives a forest. It assumes the worst, that every row goes on and that all of its columns
//! are filled; what really happens is seen when it is computed.

use super::nodes::Nodes;
use crate::numeric::FactorScalar;
use std::collections::BTreeMap;

/// A node that may change.
#[derive(Debug, Default)]
pub(super) struct Work {
    pub node: u32,
    /// Whether it has a negligible pivot of its own.
    pub suspect: bool,
    /// Places in the list of those whose rows may come here, increasing.
    pub children: Vec<u32>,
    /// Columns that it may have.
    pub columns: u32,
    /// Place in the list of the one that its own rows go to.
    pub parent: Option<u32>,
}

/// The forest, children before parents. O(sum of the nodes' columns), sorting apart.
pub(super) fn closure<T: FactorScalar>(nodes: &Nodes<'_, T>, suspects: &[u32]) -> Vec<Work> {
    let mut out: Vec<Work> = Vec::new();
    // Nodes to come: whether suspect, the children so far, and the columns that come from them.
    let mut ahead: BTreeMap<u32, (Work, Vec<u32>)> = suspects
        .iter()
        .map(|&node| {
            let work = Work {
                node,
                suspect: true,
                ..Work::default()
            };
            (node, (work, Vec::new()))
        })
        .collect();
    while let Some((node, (work, mut cols))) = ahead.pop_first() {
        let end = nodes.first(node as usize) + nodes.npiv(node as usize) as u32;
        nodes.for_each_place(node as usize, |place| cols.push(place));
        cols.retain(|&p| p >= end);
        // Mostly two runs that increase, its children's and its own: merged.
        cols.sort();
        cols.dedup();
        let place = out.len() as u32;
        out.push(Work {
            columns: (nodes.npiv(node as usize) + cols.len()) as u32,
            ..work
        });
        if let Some(&first) = cols.first() {
            let parent = nodes.owner(first) as u32;
            let entry = ahead.entry(parent).or_default();
            entry.0.node = parent;
            entry.0.children.push(place);
            if entry.1.is_empty() {
                entry.1 = cols;
            } else {
                entry.1.extend(cols);
                entry.1.sort();
                entry.1.dedup();
            }
        }
    }
    for place in 0..out.len() {
        for child in out[place].children.clone() {
            out[child as usize].parent = Some(place as u32);
        }
    }
    out
}
