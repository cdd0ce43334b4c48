//! Tasks that took longer than their model in both runs, or in one.
//!
//! The same task slow twice has a reason in the matrix or in the tiling: numbers, shapes. Slow once it was perturbed. A few are slow twice
//! by chance: with shares p and q of n pairs, p q n of them if the two had nothing to do with each other.

use super::Side;
use super::matching::Pairs;
use crate::account::duration_ns;
use crate::models::Anomaly;
use serde::Serialize;
use std::collections::HashMap;

/// Anomalous tasks of two runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AnomaliesCompared {
    /// Pairs of the same work: those that can be compared.
    pub pairs: u64,
    /// Anomalous ones of the first run among them, and of the second.
    pub anomalous: [u64; 2],
    /// How many would be anomalous in both by chance.
    pub by_chance: f64,
    /// In both; the most time lost in the run that lost less first, so that a perturbation in one does not lead.
    pub both: Vec<PairedTask>,
    /// In the first alone, the most time lost first.
    pub only_first: Vec<PairedTask>,
    /// In the second alone.
    pub only_second: Vec<PairedTask>,
    /// Anomalous tasks without a partner, of the first run and of the second.
    pub unmatched: [u64; 2],
}

/// The same task in the first run and in the second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairedTask {
    /// Its numbers.
    pub task: [u32; 2],
    /// Its codelet.
    pub codelet: String,
    /// Its tree node.
    pub node: u32,
    /// Its panel step.
    pub panel: Option<u32>,
    /// Its tile row.
    pub tile_row: Option<u32>,
    /// Its tile column.
    pub tile_col: Option<u32>,
    /// Its child.
    pub child: Option<u32>,
    /// Who ran it.
    pub worker: [u16; 2],
    /// How long it took.
    pub duration_ns: [u64; 2],
    /// Duration over the expectation of its run's model, where it was anomalous.
    pub ratio: [Option<f64>; 2],
    /// Time above the expectations, where it was anomalous.
    pub lost_ns: f64,
}

impl AnomaliesCompared {
    /// O(n log n).
    pub(super) fn of([a, b]: [Side<'_>; 2], pairs: &Pairs) -> Self {
        let found = |s: Side<'_>| -> HashMap<u32, Anomaly> {
            let anomalies = s.computed.models.anomalies().iter();
            anomalies.map(|x| (x.task, *x)).collect()
        };
        let (first, second) = (found(a), found(b));
        let mut out = AnomaliesCompared::default();
        // With what the run that lost less has lost.
        let mut lists: [Vec<(f64, PairedTask)>; 3] = Default::default();
        for (x, y) in pairs.same_work(a.trace, b.trace) {
            out.pairs += 1;
            let (x, y) = (&a.trace.tables.tasks[x], &b.trace.tables.tasks[y]);
            let both = [first.get(&x.task), second.get(&y.task)];
            for (count, anomaly) in out.anomalous.iter_mut().zip(both) {
                *count += u64::from(anomaly.is_some());
            }
            let list = match both {
                [Some(_), Some(_)] => &mut lists[0],
                [Some(_), None] => &mut lists[1],
                [None, Some(_)] => &mut lists[2],
                [None, None] => continue,
            };
            let lost = |found: &Anomaly| found.duration_ns as f64 - found.expected_ns;
            let least = both
                .into_iter()
                .flatten()
                .map(lost)
                .fold(f64::INFINITY, f64::min);
            let group = both[0].map(|found| &a.computed.models.groups[found.group]);
            let group = group.or(both[1].map(|found| &b.computed.models.groups[found.group]));
            let paired = PairedTask {
                task: [x.task, y.task],
                codelet: group.map_or_else(String::new, |g| g.codelet.clone()),
                node: x.node,
                panel: x.panel,
                tile_row: x.tile_row,
                tile_col: x.tile_col,
                child: x.child,
                worker: [x.worker, y.worker],
                duration_ns: [duration_ns(x), duration_ns(y)],
                ratio: both.map(|found| found.map(|found| found.ratio)),
                lost_ns: both.into_iter().flatten().map(lost).sum(),
            };
            list.push((least, paired));
        }
        let [in_both, in_first, in_second] = lists.map(|mut list| {
            list.sort_by(|x, y| y.0.total_cmp(&x.0));
            list.into_iter().map(|(_, task)| task).collect()
        });
        (out.both, out.only_first, out.only_second) = (in_both, in_first, in_second);
        let [p, q] = out.anomalous;
        out.by_chance = p as f64 * q as f64 / out.pairs.max(1) as f64;
        out.unmatched = [
            (first.len() as u64).saturating_sub(p),
            (second.len() as u64).saturating_sub(q),
        ];
        out
    }
}
