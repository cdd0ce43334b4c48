//! Each part against what it must hold: separators separate, refinement never loses, leaves are of minimum degree, fill has the
//! order of the theory.

use super::super::graph::{ColumnGraph, Graph};
use super::super::groups::Groups;
use super::compress::compress;
use super::gain::Heap;
use super::graph::{Random, Weighted};
use super::refine::{Aim, Refiner, SEPARATOR, Split};
use super::separator::{Method, Place};
use super::separator::{Room, once};
use super::{Manner, leaf, separator};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

const AIMS: [Aim; 3] = [Aim::Light, Aim::Fair, Aim::Even];

fn graph(n: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Graph {
    let mut lists = vec![BTreeSet::new(); n];
    for (a, b) in edges.into_iter().filter(|(a, b)| a != b) {
        lists[a].insert(b as u32);
        lists[b].insert(a as u32);
    }
    let mut g = Graph {
        start: vec![0],
        neighbours: Vec::new(),
    };
    for list in lists {
        g.neighbours.extend(list);
        g.start.push(g.neighbours.len());
    }
    g
}

/// k x k points with their four neighbours.
fn grid(k: usize) -> Graph {
    let right = (0..k * k).filter(|v| v % k + 1 < k).map(|v| (v, v + 1));
    let down = (0..k * k - k).map(|v| (v, v + k));
    graph(k * k, right.chain(down))
}

fn random_graph(random: &mut Random) -> Graph {
    let n = 2 + random.below(400);
    let edges: Vec<_> = (0..random.below(5 * n))
        .map(|_| {
            // Few hubs, many leaves.
            let b = random.below(n);
            (
                random.below(n),
                if random.below(3) == 0 { b % 7 } else { b },
            )
        })
        .map(|(a, b)| (a, b.min(n - 1)))
        .collect();
    graph(n, edges)
}

fn weighted(g: &Graph) -> Weighted {
    compress(g, |_| 1).graph
}

/// A graph of columns of which no two have the same rows.
fn of_columns(g: &Graph) -> ColumnGraph<'static> {
    let each: Vec<u32> = (0..g.len() as u32).collect();
    let g = Graph {
        start: g.start.clone(),
        neighbours: g.neighbours.clone(),
    };
    ColumnGraph::new(Cow::Owned(Groups::by_head(&each)), g)
}

#[test]
fn what_is_given_up_is_not_cut() {
    let given_up = AtomicBool::new(true);
    for k in [12, 80] {
        let g = grid(k);
        for aim in AIMS {
            assert_eq!(super::unless(&given_up, &of_columns(&g), with(aim)), None);
            let room = &mut Room::default();
            let place = Place::whole(0);
            let split = separator::separate(&weighted(&g), place, by(aim), room, &given_up);
            assert!(split.side.iter().all(|&side| side == 0));
        }
    }
}

fn by(aim: Aim) -> Method {
    Method { aim, ways: 2 }
}

fn with(aim: Aim) -> Manner {
    let aim = Some(aim);
    Manner { aim, attempt: 0 }
}

fn of_graph(g: &Graph, aim: Aim) -> Vec<u32> {
    let found = super::unless(&AtomicBool::new(false), &of_columns(g), with(aim));
    found.expect("nobody gives it up").0
}

#[test]
fn the_aim_follows_from_the_graph() {
    let suits = |g: &Graph| {
        let (order, Method { aim, .. }) =
            super::unless(&AtomicBool::new(false), &of_columns(g), Manner::default())
                .expect("an order");
        assert_eq!(order, of_graph(g, aim), "{aim:?}");
        aim
    };
    assert_eq!(suits(&grid(40)), Aim::Light);
    // A row of hubs, and 60 vertices for every two of them that follow each other.
    let hubs = 30;
    let leaves = (0..60 * (hubs - 1)).map(|k| (k / 60, hubs + k));
    let both = leaves.flat_map(|(hub, leaf)| [(hub, leaf), (hub + 1, leaf)]);
    assert_eq!(suits(&graph(61 * hubs - 60, both)), Aim::Fair);
    // Six random neighbours each: half of all vertices separate the rest.
    let random = &mut Random::new(9);
    let n = 1500;
    let edges: Vec<_> = (0..3 * n).map(|k| (k % n, random.below(n))).collect();
    assert_eq!(suits(&graph(n, edges)), Aim::Even);
    // A band of 40 to either side: light separators, but many neighbours.
    let band = (0..n).flat_map(|v| (1..=40).map(move |d| (v, (v + d).min(n - 1))));
    assert_eq!(suits(&graph(n, band)), Aim::Even);
}

/// Entries of the Cholesky factor, the diagonal included, by playing the elimination.
fn fill(g: &Graph, order: &[u32]) -> usize {
    let n = order.len();
    let mut lists: Vec<BTreeSet<u32>> = (0..n)
        .map(|v| {
            g.neighbours[g.start[v]..g.start[v + 1]]
                .iter()
                .copied()
                .collect()
        })
        .collect();
    let mut entries = 0;
    for &v in order {
        let around: Vec<u32> = std::mem::take(&mut lists[v as usize]).into_iter().collect();
        entries += 1 + around.len();
        for &u in &around {
            lists[u as usize].remove(&v);
            lists[u as usize].extend(around.iter().filter(|&&w| w != u));
        }
    }
    entries
}

#[test]
fn orders_are_permutations_and_the_same_on_any_number_of_threads() {
    let mut random = Random::new(1);
    let mut graphs: Vec<Graph> = (0..40).map(|_| random_graph(&mut random)).collect();
    graphs.push(grid(70));
    graphs.push(graph(0, []));
    graphs.push(graph(1, []));
    graphs.push(graph(500, []));
    graphs.push(graph(
        300,
        (0..300).flat_map(|a| (0..a).map(move |b| (a, b))),
    ));
    let pool = |threads| {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        builder.build().expect("threads")
    };
    let (one, four) = (pool(1), pool(4));
    for (g, aim) in graphs.iter().flat_map(|g| AIMS.map(|aim| (g, aim))) {
        let order = one.install(|| of_graph(g, aim));
        assert_eq!(order, four.install(|| of_graph(g, aim)));
        let mut sorted = order;
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..g.start.len() as u32 - 1));
    }
}

#[test]
fn separators_separate_and_keep_a_balance() {
    let (mut random, given_up) = (Random::new(2), AtomicBool::new(false));
    let mut used = Room::default();
    for seed in 0..60 {
        let g = weighted(&random_graph(&mut random));
        if g.len() < 3 {
            continue;
        }
        let aim = AIMS[seed as usize % 2];
        // In buffers that were used for other graphs, larger and smaller, as in new ones.
        let place = Place::whole(seed);
        let in_room = |room: &mut Room| once(&g, &mut place.random(0), aim, room, &given_up);
        assert_eq!(in_room(&mut used).side, in_room(&mut Room::default()).side);
        let split = separator::separate(&g, place, by(aim), &mut used, &given_up);
        for v in 0..g.len() as u32 {
            for &u in g.of(v) {
                let sides = [split.side[v as usize], split.side[u as usize]];
                assert!(
                    sides != [0, 1] && sides != [1, 0],
                    "{v} and {u} are adjacent"
                );
            }
        }
        let again = Split::new(&g, split.side.clone(), aim);
        assert_eq!(split.weight, again.weight);
    }
    // The best cut of a grid is a line; a good one is not much longer.
    for aim in AIMS {
        let split = separator::separate(
            &weighted(&grid(64)),
            Place::whole(0),
            by(aim),
            &mut Room::default(),
            &AtomicBool::new(false),
        );
        assert!(split.weight[2] <= 72, "{:?}", split.weight);
        let most = (aim.most() * 64.0 * 64.0) as u64;
        assert!(split.weight[0].max(split.weight[1]) <= most);
    }
}

#[test]
fn refinement_never_makes_a_separator_worse() {
    let mut random = Random::new(3);
    for aim in AIMS.iter().copied().cycle().take(100) {
        let g = weighted(&random_graph(&mut random));
        // Every vertex beside side 0 is in the separator.
        let mut side: Vec<u8> = (0..g.len()).map(|_| random.below(2) as u8).collect();
        for v in 0..g.len() as u32 {
            let beside = g.of(v).iter().any(|&u| side[u as usize] == 0);
            if side[v as usize] == 1 && beside {
                side[v as usize] = SEPARATOR;
            }
        }
        let mut split = Split::new(&g, side, aim);
        let before = split.cost();
        Refiner::default().refine(&g, &mut split, g.total(), 3);
        assert!(split.cost() <= before);
        let again = Split::new(&g, split.side.clone(), aim);
        assert_eq!(split.weight, again.weight);
        for v in 0..g.len() as u32 {
            let apart = |u: &u32| split.side[v as usize] + split.side[*u as usize] != 1;
            assert!(g.of(v).iter().all(apart));
        }
    }
}

#[test]
fn a_leaf_is_in_an_order_of_minimum_degree() {
    let mut random = Random::new(4);
    for _ in 0..30 {
        let g = random_graph(&mut random);
        let whole = weighted(&g);
        let inside: Vec<u32> = (0..whole.len() as u32)
            .filter(|_| random.below(3) > 0)
            .collect();
        let mut order = vec![0; inside.len()];
        leaf::order(&whole, &inside, &mut order);
        let mut lists: Vec<BTreeSet<u32>> = (0..whole.len() as u32)
            .map(|v| whole.of(v).iter().copied().collect())
            .collect();
        let mut left: BTreeSet<u32> = inside.iter().copied().collect();
        for &v in &order {
            let degree = |v: &u32| lists[*v as usize].len();
            let least = left.iter().map(degree).min();
            assert_eq!(Some(degree(&v)), least);
            left.remove(&v);
            let around = std::mem::take(&mut lists[v as usize]);
            for &u in &around {
                lists[u as usize].extend(around.iter().filter(|&&w| w != u));
                lists[u as usize].remove(&v);
            }
        }
        assert!(left.is_empty());
    }
}

#[test]
fn groups_have_the_same_neighbours() {
    // Three unknowns at every point of a grid, all of them coupled with those of the neighbours.
    let points = grid(9);
    let n = points.start.len() - 1;
    let couple = |a: usize, b: usize| (0..9).map(move |k| (3 * a + k / 3, 3 * b + k % 3));
    let edges = (0..n).flat_map(|a| {
        let others = points.neighbours[points.start[a]..points.start[a + 1]].iter();
        let with_self = others.map(|&b| b as usize).chain([a]);
        with_self
            .flat_map(move |b| couple(a, b))
            .collect::<Vec<_>>()
    });
    let g = graph(3 * n, edges);
    let compressed = compress(&g, |_| 1);
    assert_eq!(compressed.graph.weight, vec![3; n]);
    assert_eq!(compressed.graph.neighbours.len(), points.neighbours.len());
    for k in 0..n as u32 {
        assert_eq!(compressed.groups.members(k), [3 * k, 3 * k + 1, 3 * k + 2]);
    }
    // Nothing to compress.
    assert_eq!(weighted(&points).len(), n);
}

#[test]
fn fill_of_grids_is_n_log_n() {
    // George 1973: 7.75 n log2 n for the nested dissection of a k x k grid; minimum degree in the leaves makes it less.
    for k in [15, 31, 60] {
        let g = grid(k);
        let n = (k * k) as f64;
        for aim in AIMS {
            let entries = fill(&g, &of_graph(&g, aim)) as f64;
            assert!(entries < 3.5 * n * n.log2(), "{entries} for k = {k}");
            // Better than the rows as they come, k + 1 entries a column.
            assert!(k < 31 || entries < 0.75 * n * (k as f64 + 1.0));
        }
    }
}

#[test]
fn a_heap_gives_the_largest_whatever_changes() {
    let mut random = Random::new(5);
    let mut heap = Heap::default();
    heap.fit(50);
    let mut model: BTreeMap<u32, i64> = BTreeMap::new();
    for _ in 0..5000 {
        let (v, gain) = (random.below(50) as u32, random.below(20) as i64 - 10);
        match random.below(4) {
            0 => {
                heap.remove(v);
                model.remove(&v);
            }
            1 => {
                heap.change(v, gain);
                model.entry(v).and_modify(|g| *g = gain);
            }
            _ => {
                heap.set(v, gain);
                model.insert(v, gain);
            }
        }
        let largest = model.iter().map(|(&v, &g)| (g, v)).max();
        assert_eq!(heap.peek(), largest.map(|(_, v)| v));
    }
    heap.clear();
    assert_eq!(heap.peek(), None);
}
