//! Vertices with the same neighbours, themselves included, as one: a minimum-fill order may have them next to each other
//! (Ashcraft 1995, "Compressed graphs and the minimum degree algorithm").

use super::super::graph::Graph;
use super::super::groups::{Groups, mixed};
use super::graph::Weighted;
use rayon::prelude::*;

/// The graph of the groups, and the groups.
pub(crate) struct Compressed {
    pub graph: Weighted,
    pub groups: Groups,
}

/// Compresses a graph whose vertices stand for `weight` columns each.
pub(crate) fn compress(g: &Graph, weight: impl Fn(u32) -> u32) -> Compressed {
    let n = g.len();
    let of = |v: u32| g.of(v);
    // A sum over the closed neighbourhood tells nearly all apart; lists are compared where it does not.
    let key = |v: u32| {
        let others = of(v).iter().map(|&u| mixed(u));
        others.fold(mixed(v), u64::wrapping_add)
    };
    let mut by_key: Vec<(u64, u32)> = (0..n as u32).into_par_iter().map(|v| (key(v), v)).collect();
    by_key.par_sort_unstable();
    let mut head: Vec<u32> = (0..n as u32).collect();
    for equal in by_key.chunk_by(|a, b| a.0 == b.0) {
        for (k, &(_, v)) in equal.iter().enumerate().skip(1) {
            let mut before = equal[..k].iter().map(|&(_, u)| head[u as usize]);
            if let Some(h) = before.find(|&h| same(of, h, v)) {
                head[v as usize] = h;
            }
        }
    }

    let groups = Groups::by_head(&head);
    let all = 0..groups.len() as u32;
    let weights = |k: u32| groups.members(k).iter().map(|&v| weight(v)).sum();
    let mut graph = Weighted {
        weight: all.clone().map(weights).collect(),
        ..Weighted::default()
    };
    if groups.are_single() {
        (graph.start, graph.neighbours) = (g.start.clone(), g.neighbours.clone());
    } else {
        graph.start.push(0);
        for k in all {
            // The order of vertices tells that of groups.
            let others = of(groups.head(k)).iter();
            let others = others.filter(|&&u| head[u as usize] == u);
            graph
                .neighbours
                .extend(others.map(|&u| groups.of(u)).filter(|&u| u != k));
            graph.start.push(graph.neighbours.len());
        }
    }
    graph.edge = vec![1; graph.neighbours.len()];
    Compressed { graph, groups }
}

/// Whether v and u are adjacent and have the same neighbours besides.
fn same<'a>(of: impl Fn(u32) -> &'a [u32], v: u32, u: u32) -> bool {
    let others = |of: &'a [u32]| of.iter().filter(move |&&k| k != v && k != u);
    let (a, b) = (of(v), of(u));
    a.len() == b.len() && a.binary_search(&u).is_ok() && others(a).eq(others(b))
}
