//! Pruning: which fronts become one task together.
//!
//! Takes the tree, the tilings and the number of workers; gives the units of submission. A tiled front is a unit of many
//! tasks. Fronts that are whole blocks are too small for a task each: connected ones are grouped from the leaves up, as
//! long as a group stays below a part of the total time that leaves every worker enough of them. A group is a subtree of
//! the tree of fronts, except for parts that were closed as groups (or tiled) before; their contribution blocks it reads.
//!
//! The grouping changes who runs when, never what is computed.

use super::partition::Tiling;
use crate::symbolic::Tree;

/// What is submitted in one go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Fronts of one `do_subtree` task, in postorder; the last one is the top.
    Group(Vec<u32>),
    /// A front in tiles.
    Tiled(u32),
}

impl Unit {
    /// The front whose contribution block leaves the unit.
    pub fn top(&self) -> u32 {
        match self {
            Unit::Group(fronts) => *fronts.last().expect("a group has a front"),
            Unit::Tiled(f) => *f,
        }
    }
}

/// Groups a worker should have to choose from.
const GROUPS_PER_WORKER: f64 = 24.0;
/// Groups take no less than this: a task costs about a microsecond to submit and schedule.
const MIN_GROUP_NS: f64 = 50_000.0;

/// A front that takes more than a group may still has small children in its group, as far as they take this part of its time together: there may
/// be hundreds of them, and each would be a task.
const SMALL_PART: f64 = 0.125;

/// Time of a block front by the model that the groups are balanced with, in ns: flops, entries and a fixed part.
pub(crate) fn block_front_ns(flops: u64, m: u32, n: u32) -> f64 {
    let width = f64::from(m.min(n));
    let rate = 40.0 * width / (width + 64.0);
    400.0 + 0.5 * f64::from(m) * f64::from(n) + flops as f64 / rate.max(0.5)
}

/// Units in the order of submission (children first), and the unit of every front. O(fronts).
pub(crate) fn group(
    tree: &Tree,
    tilings: &[Option<Box<Tiling>>],
    flops: &[u64],
    threads: usize,
) -> (Vec<Unit>, Vec<u32>) {
    let count = tree.fronts.len();
    let cost: Vec<f64> = (0..count)
        .map(|f| block_front_ns(flops[f], tree.fronts[f].m, tree.fronts[f].n))
        .collect();
    let total: f64 = cost.iter().sum();
    let limit = (total / (GROUPS_PER_WORKER * threads.max(1) as f64)).max(MIN_GROUP_NS);

    // joins[f]: front f is in the group of its parent. open[f]: cost of the group that f is the top of, so far.
    let mut joins = vec![false; count];
    let mut open = vec![0.0; count];
    for f in 0..count {
        open[f] = cost[f];
        if tilings[f].is_some() {
            continue;
        }
        let mut candidates: Vec<u32> = tree.fronts[f]
            .children
            .iter()
            .copied()
            .filter(|&c| tilings[c as usize].is_none())
            .collect();
        // Small ones first: what does not fit any more stays a group of its own.
        candidates.sort_by(|&a, &b| {
            open[a as usize]
                .total_cmp(&open[b as usize])
                .then(a.cmp(&b))
        });
        let limit = limit.max(cost[f] * (1.0 + SMALL_PART));
        for c in candidates {
            if open[f] + open[c as usize] > limit {
                break;
            }
            open[f] += open[c as usize];
            joins[c as usize] = true;
        }
    }

    let mut top = vec![0u32; count];
    for f in (0..count).rev() {
        top[f] = match tree.fronts[f].parent {
            Some(p) if joins[f] => top[p as usize],
            _ => f as u32,
        };
    }
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
    for f in 0..count {
        members[top[f] as usize].push(f as u32);
    }
    let mut units = Vec::new();
    let mut unit_of = vec![0u32; count];
    for (f, list) in members.into_iter().enumerate() {
        if list.is_empty() {
            continue;
        }
        for &g in &list {
            unit_of[g as usize] = units.len() as u32;
        }
        units.push(if tilings[f].is_some() {
            Unit::Tiled(f as u32)
        } else {
            Unit::Group(list)
        });
    }
    (units, unit_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, analyse};
    use treeqr_kernels::{Stair, front_qr_flops};
    use treeqr_matrices::gallery;

    #[test]
    fn a_group_is_within_its_limit_or_a_large_front_with_small_ones() {
        let a = gallery::make("ba-100x4000").expect("gallery").matrix;
        let threads = 48;
        let options = Options {
            threads,
            ..Options::default()
        };
        let symbolic = analyse(a.pattern(), &options).expect("analysis");
        let cost = |f: usize| {
            let front = &symbolic.tree.fronts[f];
            let stair = Stair::Rows(symbolic.tree.stair(f));
            let flops = front_qr_flops::<f64>(front.m as usize, front.n as usize, 0, stair);
            block_front_ns(flops, front.m, front.n)
        };
        let total: f64 = (0..symbolic.tree.fronts.len()).map(cost).sum();
        let limit = (total / (GROUPS_PER_WORKER * threads as f64)).max(MIN_GROUP_NS);
        let mut large = 0;
        for unit in &symbolic.units {
            let Unit::Group(fronts) = unit else { continue };
            let (top, all) = (
                cost(unit.top() as usize),
                fronts.iter().map(|&f| cost(f as usize)).sum::<f64>(),
            );
            let most = limit.max(top * (1.0 + SMALL_PART));
            assert!(all <= most * (1.0 + 1e-12), "{all} of {most}");
            large += usize::from(all > limit && fronts.len() > 1);
        }
        assert!(
            large > 0,
            "no front above the limit has children in its group"
        );
    }
}
