//! Bytes held over time, and their peak against the prediction.
//!
//! Takes the memory events; gives [`Steps`] and peaks. A memory node follows what the store counted itself, so a peak is
//! right even where two threads' events have changed places; a tree node is the sum of its own events.

use super::graph::span_ns;
use super::steps::Steps;
use crate::trace::Trace;
use crate::trace::schema::Memory;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Bytes over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemoryOverTime {
    /// All memory nodes together.
    pub total: Steps,
    /// By memory node.
    pub memory_nodes: Vec<HeldOverTime>,
    /// The tree nodes that once held most, the largest peak first.
    pub tree_nodes: Vec<HeldOverTime>,
    /// All other tree nodes together.
    pub other_tree_nodes: Steps,
}

/// What one node holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeldOverTime {
    /// Its number.
    pub node: u32,
    /// Its largest value.
    pub peak_bytes: f64,
    /// Bytes.
    pub bytes: Steps,
}

/// Bytes by memory node, and by the `top` tree nodes with the largest peaks. O(events log events).
pub fn memory_over_time(trace: &Trace, top: usize) -> MemoryOverTime {
    let events = &trace.tables.memory;
    let (mut total, mut held) = (Steps::default(), BTreeMap::<u16, (u64, Steps)>::new());
    let mut sum = trace.manifest.run.host_bytes;
    if sum > 0 || !events.is_empty() {
        let begin = span_ns(trace).0;
        let host = held.entry(0).or_default();
        host.0 = sum;
        host.1.set(begin, sum as f64);
        total.set(begin, sum as f64);
    }
    for e in events {
        let node = held.entry(e.memory_node).or_default();
        sum = sum.wrapping_sub(node.0).wrapping_add(e.after_bytes);
        node.0 = e.after_bytes;
        node.1.set(e.time_ns, e.after_bytes as f64);
        total.set(e.time_ns, sum as f64);
    }
    let memory_nodes = held
        .into_iter()
        .map(|(node, (_, bytes))| of(node.into(), bytes));

    let mut by_node: HashMap<u32, Vec<&Memory>> = HashMap::new();
    for e in events {
        by_node.entry(e.node).or_default().push(e);
    }
    let mut peaks: Vec<_> = by_node
        .iter()
        .map(|(&node, rows)| (peak(rows), node))
        .collect();
    peaks.sort_unstable_by_key(|&(peak, node)| (std::cmp::Reverse(peak), node));
    peaks.truncate(top);
    let shown: Vec<_> = peaks
        .iter()
        .map(|&(_, node)| of(node, running(by_node[&node].iter().copied())))
        .collect();
    let apart: std::collections::HashSet<u32> = peaks.iter().map(|p| p.1).collect();
    MemoryOverTime {
        total,
        memory_nodes: memory_nodes.collect(),
        tree_nodes: shown,
        other_tree_nodes: running(events.iter().filter(|e| !apart.contains(&e.node))),
    }
}

fn of(node: u32, bytes: Steps) -> HeldOverTime {
    let peak_bytes = bytes.max();
    HeldOverTime {
        node,
        peak_bytes,
        bytes,
    }
}

fn peak(rows: &[&Memory]) -> i128 {
    let mut held = 0_i128;
    let after = |e: &&Memory| {
        held += i128::from(e.delta_bytes);
        held
    };
    rows.iter().map(after).max().unwrap_or(0)
}

fn running<'a>(events: impl Iterator<Item = &'a Memory>) -> Steps {
    let (mut out, mut held) = (Steps::default(), 0_i128);
    for e in events {
        held += i128::from(e.delta_bytes);
        out.set(e.time_ns, held as f64);
    }
    out
}

/// The peak of a factorization (of a solve, if there is only that) and what was said of it before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemoryPeak {
    /// Largest number of bytes that the run added on the host.
    pub peak_bytes: u64,
    /// When it was reached first.
    pub at_ns: Option<u64>,
    /// The peak of a run without workers, by the analysis.
    pub predicted_bytes: Option<u64>,
    /// Peak over prediction. Tasks that run ahead make it larger than 1.
    pub of_prediction: Option<f64>,
    /// The limit on the host's bytes, those from before the run included.
    pub limit_bytes: Option<u64>,
    /// Largest number of bytes on the host, those from before the run included, over the limit.
    pub of_limit: Option<f64>,
    /// Bytes that the run left on the host.
    pub left_bytes: i64,
    /// Bytes of the factors, by the analysis.
    pub predicted_left_bytes: Option<u64>,
    /// Peaks of all memory nodes, what was there before included.
    pub memory_nodes: Vec<NodePeak>,
}

/// The peak of a memory node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NodePeak {
    /// Its number.
    pub memory_node: u16,
    /// Largest number of bytes.
    pub peak_bytes: u64,
}

/// Peak against prediction and limit. O(events).
pub fn memory_peak(trace: &Trace) -> MemoryPeak {
    let manifest = &trace.manifest;
    let before = manifest.run.host_bytes;
    let (mut host, mut at_ns, mut left) = (before, None, 0_i128);
    let factorization = Some(manifest.factorization()).filter(|numbers| !numbers.is_empty());
    let mut peaks: BTreeMap<u16, u64> = BTreeMap::new();
    for e in &trace.tables.memory {
        let peak = peaks.entry(e.memory_node).or_default();
        *peak = (*peak).max(e.after_bytes);
        let numbers = factorization.as_ref();
        if e.memory_node != 0 || numbers.is_some_and(|n| !n.contains(&e.task.into())) {
            continue;
        }
        left += i128::from(e.delta_bytes);
        if e.after_bytes > host {
            (host, at_ns) = (e.after_bytes, Some(e.time_ns));
        }
    }
    let ratio = |a: u64, b: Option<u64>| b.filter(|&b| b > 0).map(|b| a as f64 / b as f64);
    let peak_bytes = host - before;
    let predicted = |key: &str| manifest.predicted(key).filter(|_| factorization.is_some());
    let (predicted_bytes, limit_bytes) = (predicted("peak_bytes"), manifest.run.memory_limit_bytes);
    let peak = |(memory_node, peak_bytes)| NodePeak {
        memory_node,
        peak_bytes,
    };
    MemoryPeak {
        peak_bytes,
        at_ns,
        predicted_bytes,
        of_prediction: ratio(peak_bytes, predicted_bytes),
        limit_bytes,
        of_limit: ratio(host, limit_bytes),
        left_bytes: left.clamp(i64::MIN.into(), i64::MAX.into()) as i64,
        predicted_left_bytes: predicted("factor_bytes"),
        memory_nodes: peaks.into_iter().map(peak).collect(),
    }
}
