//! Who works where: workers used by tree node and by depth.
//!
//! Takes tasks and fronts; gives exact steps node by node, or parts of all workers in bins for stacked pictures.

use super::graph::{fronts, span_ns};
use super::steps::{Steps, edges};
use crate::inspect::{Piece, pieces};
use crate::trace::Trace;
use crate::trace::schema::{FrontKind, Task};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// The life of a tree node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeActivity {
    /// The number that its tasks carry: for a group its top's.
    pub node: u32,
    /// The parent; none for roots and for what the tree does not have.
    pub parent: Option<u32>,
    /// As in the table of fronts.
    pub depth: Option<u32>,
    /// Whether it is a group of fronts that stay whole.
    pub group: bool,
    /// Start of its first task, or its first memory event. Solves with its factors are no part of its life.
    pub from_ns: u64,
    /// End of its last task, or its last release of memory.
    pub to_ns: u64,
    /// Its tasks.
    pub tasks: u64,
    /// Their operations.
    pub flops: u64,
    /// The workers' time in them, with those who helped.
    pub busy_ns: u64,
    /// How many workers are in them.
    pub running: Steps,
}

/// The life of every tree node that was worked on, by number. O(n log n); 32 bytes a task.
pub fn node_activity(trace: &Trace) -> Vec<NodeActivity> {
    let fronts = fronts(trace);
    let solves = trace.tables.solves();
    let mut by_node: BTreeMap<u32, Vec<Piece<'_>>> = BTreeMap::new();
    let all = pieces(&trace.tables.tasks, &trace.tables.shares);
    for p in all.filter(|p| !solves.contains(&p.task.task)) {
        by_node.entry(p.task.node).or_default().push(p);
    }
    let mut memory: HashMap<u32, (u64, u64)> = HashMap::new();
    let events = trace.tables.memory.iter();
    for e in events.filter(|e| !solves.contains(&e.task)) {
        let life = memory.entry(e.node).or_insert((u64::MAX, 0));
        life.0 = life.0.min(e.time_ns);
        if e.delta_bytes < 0 {
            life.1 = life.1.max(e.time_ns);
        }
    }
    let of = |(node, pieces): (u32, Vec<Piece<'_>>)| {
        let front = fronts.get(&node);
        let rows = || pieces.iter();
        let (first, last) = memory.get(&node).copied().unwrap_or((u64::MAX, 0));
        NodeActivity {
            node,
            parent: front.and_then(|f| f.parent),
            depth: front.map(|f| f.depth),
            group: front.is_some_and(|f| f.kind != FrontKind::Tiled),
            from_ns: rows().map(|p| p.task.start_ns).fold(first, u64::min),
            to_ns: rows().map(|p| p.task.end_ns).fold(last, u64::max),
            tasks: rows().map(Piece::tasks).sum(),
            flops: rows().map(|p| p.flops).fold(0, u64::saturating_add),
            busy_ns: (rows().map(Piece::duration_ns)).fold(0, u64::saturating_add),
            running: Steps::count(
                rows().map(|p| p.start_ns).collect(),
                rows().map(|p| p.end_ns.max(p.start_ns)).collect(),
            ),
        }
    };
    by_node.into_iter().map(of).collect()
}

/// Parts of all workers over time, to be stacked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UseOverTime {
    /// Edges of the bins: one more than there are bins.
    pub edges_ns: Vec<u64>,
    /// How many workers are 1.
    pub workers: u64,
    /// The stacked rows.
    pub rows: Vec<UseRow>,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UseRow {
    /// The node or the depth; none for all others together.
    pub key: Option<u32>,
    /// The workers' time in its tasks.
    pub busy_ns: u64,
    /// Part of all workers in each bin, 0 to 1; the rows add up to what the workers did.
    pub share: Vec<f64>,
}

/// Use by depth of the tree, from the roots down, over the run. Tasks of no front come last.
/// O(tasks log bins), and a number for each depth and bin.
pub fn use_by_depth(trace: &Trace, bins: usize) -> UseOverTime {
    let fronts = fronts(trace);
    let depth = |t: &Task| fronts.get(&t.node).map(|f| f.depth);
    let mut out = used(trace, bins, depth);
    out.rows.sort_by_key(|row| (row.key.is_none(), row.key));
    out
}

/// Use by tree node over the run: the `top` nodes with most time, and all others together.
pub fn use_by_node(trace: &Trace, bins: usize, top: usize) -> UseOverTime {
    let mut busy: HashMap<u32, u64> = HashMap::new();
    for p in pieces(&trace.tables.tasks, &trace.tables.shares) {
        let sum = busy.entry(p.task.node).or_default();
        *sum = sum.saturating_add(p.duration_ns());
    }
    let mut nodes: Vec<_> = busy.into_iter().collect();
    nodes.sort_unstable_by_key(|&(node, busy)| (std::cmp::Reverse(busy), node));
    nodes.truncate(top);
    let place: HashMap<u32, usize> = nodes.iter().enumerate().map(|(k, n)| (n.0, k)).collect();
    let mut out = used(trace, bins, |t| place.get(&t.node).map(|_| t.node));
    out.rows
        .sort_by_key(|row| row.key.map_or(usize::MAX, |node| place[&node]));
    out
}

fn used(trace: &Trace, bins: usize, key: impl Fn(&Task) -> Option<u32>) -> UseOverTime {
    let (from, to) = span_ns(trace);
    let edges_ns = edges(from, to, bins);
    let bins = edges_ns.len().saturating_sub(1);
    let workers = trace.tables.workers.len() as u64;
    let mut rows: HashMap<Option<u32>, UseRow> = HashMap::new();
    for p in pieces(&trace.tables.tasks, &trace.tables.shares) {
        let key = key(p.task);
        let row = rows.entry(key).or_insert_with(|| UseRow {
            key,
            busy_ns: 0,
            share: vec![0.0; bins],
        });
        row.busy_ns = row.busy_ns.saturating_add(p.duration_ns());
        let mut bin = edges_ns.partition_point(|&e| e <= p.start_ns).max(1) - 1;
        let mut at = p.start_ns;
        while at < p.end_ns && bin < bins {
            let until = p.end_ns.min(edges_ns[bin + 1]);
            row.share[bin] += (until - at) as f64;
            (at, bin) = (until, bin + 1);
        }
    }
    let mut rows: Vec<_> = rows.into_values().collect();
    for row in &mut rows {
        for (share, edge) in row.share.iter_mut().zip(edges_ns.windows(2)) {
            *share /= (edge[1] - edge[0]) as f64 * workers.max(1) as f64;
        }
    }
    UseOverTime {
        edges_ns,
        workers,
        rows,
    }
}
