//! Vertices with the same neighbours, themselves included, as one: a minimum-fill order may have them next to each other
//! (Ashcraft 1995, "Compressed graphs and the minimum degree algorithm").

use super::graph::Weighted;
use rayon::prelude::*;

/// The graph of the groups, and the groups: members of group k are `members[start[k]..start[k + 1]]`.
pub(crate) struct Compressed {
    pub graph: Weighted,
    start: Vec<usize>,
    members: Vec<u32>,
}

impl Compressed {
    pub fn members(&self, group: u32) -> &[u32] {
        &self.members[self.start[group as usize]..self.start[group as usize + 1]]
    }
}

/// Compresses a graph that is given by sorted adjacency lists.
pub(crate) fn compress(start: &[usize], neighbours: &[u32]) -> Compressed {
    let n = start.len() - 1;
    let of = |v: u32| &neighbours[start[v as usize]..start[v as usize + 1]];
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

    // Groups are numbered by their first members, so that the order of vertices tells that of groups.
    let mut group = vec![0u32; n];
    let mut heads = Vec::with_capacity(n);
    for v in 0..n {
        if head[v] as usize == v {
            group[v] = heads.len() as u32;
            heads.push(v as u32);
        } else {
            group[v] = group[head[v] as usize];
        }
    }
    let mut first = vec![0usize; heads.len() + 1];
    group.iter().for_each(|&k| first[k as usize + 1] += 1);
    for k in 0..heads.len() {
        first[k + 1] += first[k];
    }

    let mut next = first.clone();
    let mut members = vec![0u32; n];
    for (v, &k) in group.iter().enumerate() {
        members[next[k as usize]] = v as u32;
        next[k as usize] += 1;
    }

    let mut graph = Weighted {
        weight: first.windows(2).map(|w| (w[1] - w[0]) as u32).collect(),
        ..Weighted::default()
    };
    if heads.len() == n {
        (graph.start, graph.neighbours) = (start.to_vec(), neighbours.to_vec());
    } else {
        graph.start.push(0);
        for &v in &heads {
            let others = of(v).iter().filter(|&&u| head[u as usize] == u);
            let others = others.map(|&u| group[u as usize]);
            graph
                .neighbours
                .extend(others.filter(|&k| k != group[v as usize]));
            graph.start.push(graph.neighbours.len());
        }
    }
    graph.edge = vec![1; graph.neighbours.len()];
    Compressed {
        graph,
        start: first,
        members,
    }
}

/// A number without order for v (Vigna's splitmix64).
pub(crate) fn mixed(v: u32) -> u64 {
    let mut z = (u64::from(v) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Whether v and u are adjacent and have the same neighbours besides.
fn same<'a>(of: impl Fn(u32) -> &'a [u32], v: u32, u: u32) -> bool {
    let others = |of: &'a [u32]| of.iter().filter(move |&&k| k != v && k != u);
    let (a, b) = (of(v), of(u));
    a.len() == b.len() && a.binary_search(&u).is_ok() && others(a).eq(others(b))
}
