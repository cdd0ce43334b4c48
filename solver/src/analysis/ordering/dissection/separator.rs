//! A small vertex separator of a graph, by levels (Karypis and Kumar 1998): coarsened, split where it is small, refined on the way
//! back.

use super::coarsen::Coarsener;
use super::gain::Heap;
use super::graph::{Random, Weighted};
use super::refine::{Aim, Refiner, SEPARATOR, Split};
use rayon::prelude::*;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Vertices at which coarsening ends. With more of them splits are no better, and take longer.
const COARSE: usize = 25;
/// Weight of a vertex of a coarser graph, at most, in units of the average vertex of the finer one: else some become half a side.
const HEAVIEST: u64 = 6;
/// Splits that are tried on the coarsest graph. More of them are no better: the best there is not the best in the end.
const TRIES: usize = 4;
/// Passes of refinement to either side, on a level and on the coarsest graph.
const PASSES: usize = 3;
const PASSES_ON_COARSEST: usize = 10;
/// The levels of the tree of cuts that are near its top.
const LEVELS: u32 = 3;

/// How the parts of a graph are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Method {
    pub aim: Aim,
    /// Ways down to a coarse graph and back, of which the best counts, near the top of the tree.
    pub ways: u64,
}

/// Buffers of one thread, for one cut after the other.
#[derive(Default)]
pub(crate) struct Room {
    coarsener: Coarsener,
    refiner: Refiner,
    /// Of [`grow`].
    frontier: Heap,
    behind: Vec<i64>,
}

/// Splits g. The same for the same place, whatever the number of threads; any way, when it is given up.
pub(crate) fn separate(
    g: &Weighted,
    place: Place,
    method: Method,
    room: &mut Room,
    given_up: &AtomicBool,
) -> Split {
    let way =
        |way: u64, room: &mut Room| once(g, &mut place.random(way), method.aim, room, given_up);
    if place.level >= LEVELS || method.ways == 1 {
        return way(0, room);
    }
    let splits: Vec<_> = (0..method.ways)
        .into_par_iter()
        .map_init(Room::default, |room, k| way(k, room))
        .collect();
    let best = splits.into_iter().min_by(Split::compare);
    best.expect("some ways")
}

/// Down to the coarsest graph and back; nothing is split, when it is given up.
pub(crate) fn once(
    g: &Weighted,
    random: &mut Random,
    aim: Aim,
    room: &mut Room,
    given_up: &AtomicBool,
) -> Split {
    let levels = descend(g, COARSE, random, &mut room.coarsener, given_up);
    let coarsest = levels.last().map_or(g, |level| &level.graph);
    // Where descending has ended early there is no coarse graph, and trying would take long.
    if given_up.load(Relaxed) {
        return Split::new(g, vec![0; g.len()], aim);
    }
    let tries = (0..TRIES).map(|_| {
        let mut split = grow(coarsest, random, aim, room);
        improve(coarsest, &mut split, PASSES_ON_COARSEST, &mut room.refiner);
        split
    });
    let best = tries.min_by(Split::compare).expect("some tries");
    ascend(g, &levels, best, &mut room.refiner, given_up)
}

/// A part's place in the tree of cuts, from which its random numbers come.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// 1 for the whole, 2 k and 2 k + 1 for the halves of k, as far as that goes.
    number: u64,
    level: u32,
}

impl Place {
    /// The whole; each attempt has other random numbers.
    pub fn whole(attempt: u64) -> Self {
        Place {
            number: 1 | attempt << 40,
            level: 0,
        }
    }

    pub fn halves(self) -> [Self; 2] {
        [0, 1].map(|half| Place {
            number: self.number.wrapping_mul(2).wrapping_add(half),
            level: self.level + 1,
        })
    }

    pub fn random(self, way: u64) -> Random {
        Random::new(self.number.wrapping_add(way << 32))
    }
}

/// A coarser graph, and for every vertex of the finer one the one that it became.
struct Level {
    graph: Weighted,
    became: Vec<u32>,
}

/// Coarser and coarser graphs, until one has `enough` vertices or hardly fewer than the one before.
fn descend(
    g: &Weighted,
    enough: usize,
    random: &mut Random,
    coarsener: &mut Coarsener,
    given_up: &AtomicBool,
) -> Vec<Level> {
    let heaviest = (1.5 * g.total() as f64 / enough as f64) as u64 + 1;
    let mut levels: Vec<Level> = Vec::new();
    loop {
        let finest = levels.last().map_or(g, |level| &level.graph);
        let n = finest.len();
        if n <= enough || given_up.load(Relaxed) {
            return levels;
        }
        let heaviest = heaviest.min((HEAVIEST * g.total()).div_ceil(n as u64));
        let Some((graph, became)) = coarsener.coarsen(finest, heaviest, random, given_up) else {
            return levels;
        };
        if graph.len() as f64 > 0.95 * n as f64 {
            return levels;
        }
        levels.push(Level { graph, became });
    }
}

/// The split of the coarsest graph on the finest.
fn ascend(
    g: &Weighted,
    levels: &[Level],
    mut split: Split,
    refiner: &mut Refiner,
    given_up: &AtomicBool,
) -> Split {
    for k in (0..levels.len()).rev() {
        let finer = if k == 0 { g } else { &levels[k - 1].graph };
        let became = levels[k].became.iter();
        split.side = became.map(|&c| split.side[c as usize]).collect();
        if !given_up.load(Relaxed) {
            improve(finer, &mut split, PASSES, refiner);
        }
    }
    split
}

fn improve(g: &Weighted, split: &mut Split, passes: usize, refiner: &mut Refiner) {
    let most = (split.most() * g.total() as f64) as u64;
    refiner.refine(g, split, most, passes);
}

/// Side 0 grows from a vertex, the separator before it, until the sides are equal. Next is what has least behind it.
fn grow(g: &Weighted, random: &mut Random, aim: Aim, room: &mut Room) -> Split {
    let n = g.len();
    let mut split = Split::new(g, vec![1; n], aim);
    let (frontier, behind) = (&mut room.frontier, &mut room.behind);
    frontier.fit(n);
    behind.clear();
    behind.extend((0..n as u32).map(|v| {
        let weights = g.of(v).iter().map(|&u| i64::from(g.weight[u as usize]));
        weights.sum::<i64>()
    }));
    let first = random.below(n);
    let mut start = (0..n).map(|k| ((first + k) % n) as u32);
    while split.weight[0] < split.weight[1] {
        let v = match frontier.peek() {
            Some(v) => v,
            // Another component.
            None => match start.find(|&s| split.side[s as usize] == 1) {
                Some(s) => {
                    enter(g, &mut split, frontier, behind, s);
                    s
                }
                None => break,
            },
        };
        frontier.remove(v);
        split.put(g, v, 0);
        for &u in g.of(v) {
            if split.side[u as usize] == 1 {
                enter(g, &mut split, frontier, behind, u);
            }
        }
    }
    frontier.clear();
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
