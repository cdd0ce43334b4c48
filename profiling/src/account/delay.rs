//! How long ready tasks waited, and how fast tasks were, by what they are and where they ran.
//!
//! Takes tasks and fronts; gives distributions and rates.

use super::graph::{codelet_names, fronts};
use crate::inspect::{Piece, pieces};
use crate::trace::Trace;
use serde::Serialize;
use std::collections::BTreeMap;

/// From ready to start, for the tasks of a codelet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Delay {
    /// The codelet's name.
    pub codelet: String,
    /// How many tasks.
    pub tasks: u64,
    /// The mean.
    pub mean_ns: f64,
    /// Of the mean, what lay between a worker's taking the task and its start: waiting for data.
    pub mean_taken_ns: f64,
    /// Quantiles 0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99 and 1: the smallest delay that so many of the tasks do not exceed.
    pub quantiles_ns: [u64; 8],
}

/// The levels of [`Delay::quantiles_ns`].
const LEVELS: [f64; 8] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0];

/// Delays by codelet, in the order of their numbers. O(tasks log tasks).
pub fn delays(trace: &Trace) -> Vec<Delay> {
    let names = codelet_names(trace);
    let mut by_codelet: BTreeMap<u16, (Vec<u64>, f64)> = BTreeMap::new();
    for t in &trace.tables.tasks {
        let of = by_codelet.entry(t.codelet).or_default();
        of.0.push(t.start_ns.saturating_sub(t.ready_ns));
        of.1 += t.start_ns.saturating_sub(t.pop_ns.max(t.ready_ns)) as f64;
    }
    let delay = |(codelet, (mut times, taken)): (u16, (Vec<u64>, f64))| {
        times.sort_unstable();
        let n = times.len();
        let at = |level: f64| times[((level * n as f64).ceil() as usize).clamp(1, n) - 1];
        Delay {
            codelet: names[&codelet].clone(),
            tasks: n as u64,
            mean_ns: times.iter().map(|&t| t as f64).sum::<f64>() / n as f64,
            mean_taken_ns: taken / n as f64,
            quantiles_ns: LEVELS.map(at),
        }
    };
    by_codelet.into_iter().map(delay).collect()
}

/// How fast a group of tasks was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// The number of what they have in common; none for tasks whose front the tree does not have.
    pub key: Option<u32>,
    /// How many.
    pub tasks: u64,
    /// Their operations.
    pub flops: u64,
    /// Time in them, over all workers: with those who helped.
    pub busy_ns: u64,
    /// Start of the first.
    pub from_ns: u64,
    /// End of the last.
    pub to_ns: u64,
    /// Operations by time in them: the speed of one worker. None where they took no time.
    pub gflops_busy: Option<f64>,
    /// Operations by the time from the first start to the last end: of all that worked on them.
    pub gflops_span: Option<f64>,
}

/// Rates, each list by key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rates {
    /// All tasks; none for a run without.
    pub all: Option<Rate>,
    /// By codelet number.
    pub codelets: Vec<Rate>,
    /// By the tree node of the tasks.
    pub nodes: Vec<Rate>,
    /// By depth in the tree.
    pub depths: Vec<Rate>,
    /// By worker.
    pub workers: Vec<Rate>,
}

/// GFlop/s by codelet, node, depth and worker. O(tasks log groups).
pub fn rates(trace: &Trace) -> Rates {
    let fronts = fronts(trace);
    let by = |key: &dyn Fn(&Piece<'_>) -> Option<u32>| {
        let mut groups: BTreeMap<Option<u32>, Rate> = BTreeMap::new();
        for p in pieces(&trace.tables.tasks, &trace.tables.shares) {
            let key = key(&p);
            let rate = groups.entry(key).or_insert(Rate {
                key,
                tasks: 0,
                flops: 0,
                busy_ns: 0,
                from_ns: u64::MAX,
                to_ns: 0,
                gflops_busy: None,
                gflops_span: None,
            });
            rate.tasks += p.tasks();
            rate.flops = rate.flops.saturating_add(p.flops);
            rate.busy_ns = rate.busy_ns.saturating_add(p.duration_ns());
            rate.from_ns = rate.from_ns.min(p.start_ns);
            // A helper looks at the clock when the task may be over.
            rate.to_ns = rate.to_ns.max(p.end_ns.min(p.task.end_ns));
        }
        let mut rates: Vec<_> = groups.into_values().collect();
        for rate in &mut rates {
            // A flop a nanosecond is a GFlop/s.
            let over = |ns: u64| (ns > 0).then(|| rate.flops as f64 / ns as f64);
            let span = rate.to_ns.saturating_sub(rate.from_ns);
            (rate.gflops_busy, rate.gflops_span) = (over(rate.busy_ns), over(span));
        }
        rates
    };
    Rates {
        all: by(&|_| None).pop(),
        codelets: by(&|p| Some(p.task.codelet.into())),
        nodes: by(&|p| Some(p.task.node)),
        depths: by(&|p| fronts.get(&p.task.node).map(|f| f.depth)),
        workers: by(&|p| Some(p.worker.into())),
    }
}
