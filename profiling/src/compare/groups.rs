//! By codelet and by tree node: how many tasks, how long, and how a task of one run compares with the same task of the other.

use super::matching::Pairs;
use crate::account::{codelet_names, duration_ns, span_ns};
use crate::inspect::{Piece, pieces};
use crate::trace::Trace;
use crate::trace::schema::Task;
use serde::Serialize;
use std::collections::BTreeMap;

/// All tasks of one codelet, in the first run and in the second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CodeletCompared {
    /// Its name.
    pub codelet: String,
    /// How many.
    pub tasks: [u64; 2],
    /// Time of workers in them.
    pub time_ns: [u64; 2],
    /// Their operations.
    pub flops: [u64; 2],
    /// Second less first.
    pub difference_ns: i64,
    /// Pairs of the same task with the same operations.
    pub pairs: u64,
    /// Median over the pairs of the second duration over the first; none without pairs.
    pub median_ratio: Option<f64>,
}

/// All tasks that carry one tree node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeCompared {
    /// Its number.
    pub node: u32,
    /// How many.
    pub tasks: [u64; 2],
    /// Time of workers in them.
    pub time_ns: [u64; 2],
    /// Second less first.
    pub difference_ns: i64,
    /// Start of its first task since the beginning of the run; none where it has none.
    pub from_ns: [Option<u64>; 2],
    /// End of its last.
    pub to_ns: [Option<u64>; 2],
}

impl NodeCompared {
    /// From its first task to its last, second less first; none where one has none.
    pub fn life_difference_ns(&self) -> Option<i64> {
        let life = |side: usize| Some(self.to_ns[side]?.saturating_sub(self.from_ns[side]?));
        Some(less(life(1)?, life(0)?))
    }
}

/// a - b.
fn less(a: u64, b: u64) -> i64 {
    let ns = i128::from(a) - i128::from(b);
    // Symmetric: a difference is never the one number without a negative.
    ns.clamp(-i128::from(i64::MAX), i64::MAX.into()) as i64
}

#[derive(Clone, Copy, Default)]
struct Sums {
    tasks: u64,
    time_ns: u64,
    flops: u64,
    life: Option<(u64, u64)>,
}

impl Sums {
    fn add(&mut self, p: &Piece<'_>, from: u64) {
        let t = p.task;
        self.tasks += p.tasks();
        self.time_ns = self.time_ns.saturating_add(p.duration_ns());
        self.flops = self.flops.saturating_add(p.flops);
        let (start, end) = (t.start_ns - from, t.end_ns.max(t.start_ns) - from);
        let life = self.life.unwrap_or((start, end));
        self.life = Some((life.0.min(start), life.1.max(end)));
    }
}

/// O(n log n).
pub(super) fn codelets(a: &Trace, b: &Trace, pairs: &Pairs) -> Vec<CodeletCompared> {
    let names = [a, b].map(codelet_names);
    let mut sums: BTreeMap<&str, [Sums; 2]> = BTreeMap::new();
    for (side, trace) in [a, b].into_iter().enumerate() {
        let from = span_ns(trace).0;
        for p in pieces(&trace.tables.tasks, &trace.tables.shares) {
            sums.entry(&names[side][&p.task.codelet]).or_default()[side].add(&p, from);
        }
    }
    let mut logs: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (x, y) in pairs.same_work(a, b) {
        let (x, y) = (&a.tables.tasks[x], &b.tables.tasks[y]);
        let log = |t: &Task| (duration_ns(t).max(1) as f64).ln();
        logs.entry(&names[0][&x.codelet])
            .or_default()
            .push(log(y) - log(x));
    }
    let mut out: Vec<_> = (sums.into_iter())
        .map(|(codelet, both)| {
            let mut logs = logs.remove(codelet).unwrap_or_default();
            let time_ns = both.map(|s| s.time_ns);
            CodeletCompared {
                codelet: codelet.to_owned(),
                tasks: both.map(|s| s.tasks),
                time_ns,
                flops: both.map(|s| s.flops),
                difference_ns: less(time_ns[1], time_ns[0]),
                pairs: logs.len() as u64,
                median_ratio: median(&mut logs).map(f64::exp),
            }
        })
        .collect();
    // Stable: equal differences stay in the order of names.
    out.sort_by_key(|c| std::cmp::Reverse(c.difference_ns.unsigned_abs()));
    out
}

/// The middle one, or the mean of both: of negated values it is the negated median, exactly.
fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let (low, high) = (values.get(n.checked_sub(1)? / 2)?, values.get(n / 2)?);
    Some(0.5 * (low + high))
}

/// O(n log n).
pub(super) fn nodes(a: &Trace, b: &Trace) -> Vec<NodeCompared> {
    let mut sums: BTreeMap<u32, [Sums; 2]> = BTreeMap::new();
    for (side, trace) in [a, b].into_iter().enumerate() {
        let from = span_ns(trace).0;
        for p in pieces(&trace.tables.tasks, &trace.tables.shares) {
            sums.entry(p.task.node).or_default()[side].add(&p, from);
        }
    }
    let mut out: Vec<_> = (sums.into_iter())
        .map(|(node, both)| {
            let time_ns = both.map(|s| s.time_ns);
            NodeCompared {
                node,
                tasks: both.map(|s| s.tasks),
                time_ns,
                difference_ns: less(time_ns[1], time_ns[0]),
                from_ns: both.map(|s| s.life.map(|l| l.0)),
                to_ns: both.map(|s| s.life.map(|l| l.1)),
            }
        })
        .collect();
    out.sort_by_key(|n| std::cmp::Reverse(n.difference_ns.unsigned_abs()));
    out
}
