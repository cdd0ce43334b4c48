//! What goes on at a time: tasks, operations, tree nodes, bytes on links.
//!
//! Takes the tables; gives [`Steps`]. Their integrals are the sums over the rows they come from.

use super::graph::fronts;
use super::steps::Steps;
use crate::trace::Trace;
use crate::trace::schema::{FrontKind, Role};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// How many tasks there are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TasksOverTime {
    /// Submitted and not yet done.
    pub unfinished: Steps,
    /// Ready, and no worker has taken them.
    pub ready: Steps,
    /// Running.
    pub running: Steps,
    /// Workers: fewer ready tasks than this may leave some without one.
    pub workers: u64,
}

/// Tasks submitted, ready and running.
pub fn tasks_over_time(trace: &Trace) -> TasksOverTime {
    let rows = || trace.tables.tasks.iter();
    let count = |spans: Vec<(u64, u64)>| {
        let (from, to) = spans.into_iter().map(|(a, b)| (a, b.max(a))).unzip();
        Steps::count(from, to)
    };
    TasksOverTime {
        unfinished: count(rows().map(|t| (t.submit_ns, t.end_ns)).collect()),
        ready: count(rows().map(|t| (t.ready_ns, t.pop_ns)).collect()),
        running: count(rows().map(|t| (t.start_ns, t.end_ns)).collect()),
        workers: trace.tables.workers.len() as u64,
    }
}

/// GFlop/s of all workers, each task's operations spread evenly over its time.
pub fn flops_over_time(trace: &Trace) -> Steps {
    let tasks = trace.tables.tasks.iter().filter(|t| t.flops > 0);
    // A flop a nanosecond is a GFlop/s.
    Steps::rate(tasks.map(|t| (t.start_ns, t.end_ns, t.flops as f64)))
}

/// How many tree nodes are worked on. A node is active from the start of its first task to the end of its last one;
/// tasks that clean up or solve do not count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodesOverTime {
    /// Active nodes in tiles: many tasks each.
    pub parallel: Steps,
    /// Active nodes that stay whole: one task a group.
    pub sequential: Steps,
    /// Nodes in tiles with a task that runs.
    pub parallel_running: Steps,
}

/// Active nodes. Nodes that the tree does not have count as parallel.
pub fn nodes_over_time(trace: &Trace) -> NodesOverTime {
    let fronts = fronts(trace);
    let roles: HashMap<u16, Role> = trace
        .tables
        .codelets
        .iter()
        .map(|c| (c.codelet, c.role))
        .collect();
    let idle_role = |role: Option<&Role>| matches!(role, Some(Role::Clean | Role::Solve));
    let mut spans: Vec<_> = (trace.tables.tasks.iter())
        .filter(|t| !idle_role(roles.get(&t.codelet)))
        .map(|t| (t.node, t.start_ns, t.end_ns.max(t.start_ns)))
        .collect();
    spans.sort_unstable();
    // From and to of each.
    let (mut parallel, mut sequential, mut running) =
        <([Vec<u64>; 2], [Vec<u64>; 2], [Vec<u64>; 2])>::default();
    let push = |to: &mut [Vec<u64>; 2], span: (u64, u64)| {
        to[0].push(span.0);
        to[1].push(span.1);
    };
    for node in spans.chunk_by(|a, b| a.0 == b.0) {
        let tiled = fronts
            .get(&node[0].0)
            .is_none_or(|f| f.kind == FrontKind::Tiled);
        let end = node.iter().map(|s| s.2).max().unwrap_or(0);
        let alive = (node[0].1, end);
        if !tiled {
            push(&mut sequential, alive);
            continue;
        }
        push(&mut parallel, alive);
        let mut open = (node[0].1, node[0].2);
        for &(_, from, to) in node {
            if from > open.1 {
                push(&mut running, open);
                open = (from, to);
            }
            open.1 = open.1.max(to);
        }
        push(&mut running, open);
    }
    let count = |[from, to]: [Vec<u64>; 2]| Steps::count(from, to);
    NodesOverTime {
        parallel: count(parallel),
        sequential: count(sequential),
        parallel_running: count(running),
    }
}

/// What goes over a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkOverTime {
    /// Memory node that gives.
    pub source_node: u16,
    /// Memory node that takes.
    pub target_node: u16,
    /// How many transfers.
    pub transfers: u64,
    /// How much in all.
    pub bytes: u64,
    /// Sum of the transfers' times; more than the time in which it carried something where some overlap.
    pub busy_ns: u64,
    /// Bytes per second, each transfer's spread evenly over its time.
    pub bytes_per_s: Steps,
}

/// From and to, as memory nodes.
type Link = (u16, u16);

/// From, to, bytes.
type Carried = (u64, u64, f64);

/// Transfers by link.
pub fn transfers_over_time(trace: &Trace) -> Vec<LinkOverTime> {
    let mut links: BTreeMap<Link, Vec<Carried>> = BTreeMap::new();
    let mut sums: BTreeMap<Link, (u64, u64)> = BTreeMap::new();
    for t in &trace.tables.transfers {
        let link = (t.source_node, t.target_node);
        let spans = links.entry(link).or_default();
        spans.push((t.start_ns, t.end_ns, t.bytes as f64));
        let sum = sums.entry(link).or_default();
        sum.0 = sum.0.saturating_add(t.bytes);
        sum.1 = sum.1.saturating_add(t.end_ns.saturating_sub(t.start_ns));
    }
    let link = |(link, spans): (Link, Vec<Carried>)| LinkOverTime {
        source_node: link.0,
        target_node: link.1,
        transfers: spans.len() as u64,
        bytes: sums[&link].0,
        busy_ns: sums[&link].1,
        bytes_per_s: Steps::rate(spans.into_iter()).scaled(1e9),
    };
    links.into_iter().map(link).collect()
}
