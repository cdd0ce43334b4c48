//! A small vertex separator of a graph, by levels (Karypis and Kumar 1998): coarsened, split where it is small, refined on the way
//! back.

use super::coarsen::coarsen;
use super::graph::{Random, Weighted};
use super::heap::Heap;
use super::refine::{Aim, Refiner, SEPARATOR, Split};
use rayon::prelude::*;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Vertices at which coarsening ends.
const COARSE: usize = 60;
/// Splits that are tried on the coarsest graph.
const TRIES: u64 = 8;
/// Passes of refinement to either side, on a level and on the coarsest graph.
const PASSES: usize = 3;
const PASSES_ON_COARSEST: usize = 10;
/// Above so many vertices a graph of middle size is split several times, down to the coarsest, and the best goes on.
const LARGE: usize = 3000;
/// How often.
const WAYS: u64 = 5;

/// Splits g. The same for the same seed, whatever the number of threads; any way, when it is given up.
pub(crate) fn separate(g: &Weighted, seed: u64, aim: Aim, given_up: &AtomicBool) -> Split {
    let random = &mut Random::new(seed);
    if g.len() < LARGE {
        return once(g, random, aim, given_up);
    }
    let levels = descend(g, (g.len() / 8).clamp(600, 4000), random, given_up);
    let middle = levels.last().map_or(g, |level| &level.graph);
    let ways = (1..=if given_up.load(Relaxed) { 1 } else { WAYS }).into_par_iter();
    let splits = ways.map(|way| {
        let random = &mut Random::new(seed.wrapping_add(way << 40));
        once(middle, random, aim, given_up)
    });
    let best = splits
        .collect::<Vec<_>>()
        .into_iter()
        .min_by(Split::compare);
    ascend(g, &levels, best.expect("some ways"), given_up)
}

/// Down to the coarsest graph and back; nothing is split, when it is given up.
fn once(g: &Weighted, random: &mut Random, aim: Aim, given_up: &AtomicBool) -> Split {
    let levels = descend(g, COARSE, random, given_up);
    let coarsest = levels.last().map_or(g, |level| &level.graph);
    // Where descending has ended early there is no coarse graph, and trying would take long.
    if given_up.load(Relaxed) {
        return Split::new(g, vec![0; g.len()], aim);
    }
    let tries = (0..TRIES).map(|_| {
        let mut split = grow(coarsest, random, aim);
        improve(coarsest, &mut split, PASSES_ON_COARSEST);
        split
    });
    let best = tries.min_by(Split::compare);
    ascend(g, &levels, best.expect("some tries"), given_up)
}

/// A coarser graph, and for every vertex of the finer one the one that it became.
struct Level {
    graph: Weighted,
    became: Vec<u32>,
}

/// Coarser and coarser graphs, until one has `enough` vertices or hardly fewer than the one before.
fn descend(g: &Weighted, enough: usize, random: &mut Random, given_up: &AtomicBool) -> Vec<Level> {
    let heaviest = (1.5 * g.total() as f64 / enough as f64) as u64 + 1;
    let mut levels: Vec<Level> = Vec::new();
    loop {
        let finest = levels.last().map_or(g, |level| &level.graph);
        let n = finest.len();
        if n <= enough || given_up.load(Relaxed) {
            return levels;
        }
        let Some((graph, became)) = coarsen(finest, heaviest, random, given_up) else {
            return levels;
        };
        if graph.len() as f64 > 0.95 * n as f64 {
            return levels;
        }
        levels.push(Level { graph, became });
    }
}

/// The split of the coarsest graph on the finest.
fn ascend(g: &Weighted, levels: &[Level], mut split: Split, given_up: &AtomicBool) -> Split {
    for k in (0..levels.len()).rev() {
        let finer = if k == 0 { g } else { &levels[k - 1].graph };
        let became = levels[k].became.iter();
        split.side = became.map(|&c| split.side[c as usize]).collect();
        if !given_up.load(Relaxed) {
            improve(finer, &mut split, PASSES);
        }
    }
    split
}

fn improve(g: &Weighted, split: &mut Split, passes: usize) {
    let most = (split.most() * g.total() as f64) as u64;
    Refiner::new(g.len()).refine(g, split, most, passes);
}

/// Side 0 grows from a vertex, the separator before it, until the sides are equal. Next is what has least behind it.
fn grow(g: &Weighted, random: &mut Random, aim: Aim) -> Split {
    let n = g.len();
    let mut split = Split::new(g, vec![1; n], aim);
    let mut frontier = Heap::new(n);
    let mut behind: Vec<i64> = (0..n as u32)
        .map(|v| {
            g.of(v)
                .iter()
                .map(|&u| i64::from(g.weight[u as usize]))
                .sum()
        })
        .collect();
    let first = random.below(n);
    let mut start = (0..n).map(|k| ((first + k) % n) as u32);
    while split.weight[0] < split.weight[1] {
        let v = match frontier.peek() {
            Some(v) => v,
            // Another component.
            None => match start.find(|&s| split.side[s as usize] == 1) {
                Some(s) => {
                    enter(g, &mut split, &mut frontier, &mut behind, s);
                    s
                }
                None => break,
            },
        };
        frontier.remove(v);
        split.put(g, v, 0);
        for &u in g.of(v) {
            if split.side[u as usize] == 1 {
                enter(g, &mut split, &mut frontier, &mut behind, u);
            }
        }
    }
    split
}

/// v comes from side 1 into the separator: its neighbours there have less behind them.
fn enter(g: &Weighted, split: &mut Split, frontier: &mut Heap, behind: &mut [i64], v: u32) {
    split.put(g, v, SEPARATOR);
    let weight = i64::from(g.weight[v as usize]);
    for &u in g.of(v) {
        behind[u as usize] -= weight;
        frontier.change(u, -behind[u as usize]);
    }
    frontier.set(v, -behind[v as usize]);
}
