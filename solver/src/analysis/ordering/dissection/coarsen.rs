//! A graph of about half the size: pairs of vertices become one.
//!
//! Heavy-edge matching (Karypis and Kumar 1998, "A fast and high quality multilevel scheme for partitioning irregular graphs",
//! section 3.1), vertices of low degree first. Many are left over around hubs; two of them that share a hub are no pair, for what they share besides is
//! nothing, and a cut of such pairs is worse than one of the graph itself (decision 0009).

use super::graph::{Random, Weighted};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

const NONE: u32 = u32::MAX;

/// So many vertices are looked at before it is asked again whether to go on.
const SOME: usize = 4096;

/// Buffers of [`coarsen`](Self::coarsen), for one graph after the other.
#[derive(Default)]
pub(crate) struct Coarsener {
    /// The partner of every vertex; itself where there is none.
    mate: Vec<u32>,
    members: Vec<(u32, u32)>,
    shuffled: Vec<u32>,
    by_degree: Vec<u32>,
    class_start: Vec<usize>,
    lists: Lists,
}

/// Buffers of [`contract_part`].
#[derive(Default)]
struct Lists {
    /// The vertices of the list at hand.
    list: Vec<u32>,
    /// By vertex the weight of the edge to it, zero where there is none yet.
    sum: Vec<u32>,
}

/// `n` times `value`.
fn refill<T: Copy>(list: &mut Vec<T>, n: usize, value: T) {
    list.clear();
    list.resize(n, value);
}

impl Coarsener {
    /// The coarser graph, and for every vertex the one that it becomes; none, when it is given up. `heaviest` bounds the weight of what two
    /// become.
    pub fn coarsen(
        &mut self,
        g: &Weighted,
        heaviest: u64,
        random: &mut Random,
        given_up: &AtomicBool,
    ) -> Option<(Weighted, Vec<u32>)> {
        self.matching(g, heaviest, random, given_up)?;
        let mut coarse = vec![NONE; g.len()];
        let members = &mut self.members;
        members.clear();
        for v in 0..g.len() as u32 {
            if coarse[v as usize] == NONE {
                let u = self.mate[v as usize];
                coarse[v as usize] = members.len() as u32;
                coarse[u as usize] = members.len() as u32;
                members.push((v, u));
            }
        }
        let coarser = contract(g, &coarse, members, &mut self.lists, given_up);
        (!given_up.load(Relaxed)).then_some((coarser, coarse))
    }

    /// Finds partners; none, when it is given up.
    fn matching(
        &mut self,
        g: &Weighted,
        heaviest: u64,
        random: &mut Random,
        given_up: &AtomicBool,
    ) -> Option<()> {
        let n = g.len();
        self.sort_by_degree(g, random);
        let mate = &mut self.mate;
        refill(mate, n, NONE);
        for (k, &v) in self.by_degree.iter().enumerate() {
            if k.is_multiple_of(SOME) && given_up.load(Relaxed) {
                return None;
            }
            if mate[v as usize] != NONE {
                continue;
            }
            let room = heaviest.saturating_sub(u64::from(g.weight[v as usize]));
            let mut best = (0, v);
            for (u, w) in g.edges(v) {
                if w > best.0 && mate[u as usize] == NONE && u64::from(g.weight[u as usize]) <= room
                {
                    best = (w, u);
                }
            }
            mate[v as usize] = best.1;
            mate[best.1 as usize] = v;
        }
        Some(())
    }

    /// Vertices by the logarithm of their degree, without order among equals.
    fn sort_by_degree(&mut self, g: &Weighted, random: &mut Random) {
        let n = g.len();
        self.shuffled.clear();
        self.shuffled.extend(0..n as u32);
        random.shuffle(&mut self.shuffled);
        let average = (g.neighbours.len() / n.max(1)).max(1);
        let class = |v: u32| (g.of(v).len().min(2 * average)) as u32;
        let start = &mut self.class_start;
        refill(start, 2 * average + 2, 0);
        for &v in &self.shuffled {
            start[class(v) as usize + 1] += 1;
        }
        for k in 1..start.len() {
            start[k] += start[k - 1];
        }
        refill(&mut self.by_degree, n, 0);
        for &v in &self.shuffled {
            let at = &mut start[class(v) as usize];
            self.by_degree[*at] = v;
            *at += 1;
        }
    }
}

/// Edges of a graph that is contracted in parts, on all threads.
const LARGE: usize = 400_000;

fn contract(
    g: &Weighted,
    coarse: &[u32],
    members: &[(u32, u32)],
    lists: &mut Lists,
    given_up: &AtomicBool,
) -> Weighted {
    if g.neighbours.len() < LARGE {
        return contract_part(g, coarse, 0..members.len(), members, lists, given_up);
    }
    let size = members.len().div_ceil(2 * rayon::current_num_threads());
    let parts: Vec<Weighted> = (0..members.len().div_ceil(size))
        .into_par_iter()
        .map(|k| {
            let range = k * size..((k + 1) * size).min(members.len());
            contract_part(g, coarse, range, members, &mut Lists::default(), given_up)
        })
        .collect();
    let entries = parts.iter().map(|part| part.neighbours.len()).sum();
    let mut out = Weighted::with_capacity(members.len(), entries);
    for part in parts {
        let before = out.neighbours.len();
        out.neighbours.extend_from_slice(&part.neighbours);
        out.edge.extend_from_slice(&part.edge);
        out.weight.extend_from_slice(&part.weight);
        out.start
            .extend(part.start[1..].iter().map(|&p| before + p));
    }
    out
}

/// The lists of some vertices of the coarser graph; those so far, when it is given up.
fn contract_part(
    g: &Weighted,
    coarse: &[u32],
    range: Range<usize>,
    members: &[(u32, u32)],
    lists: &mut Lists,
    given_up: &AtomicBool,
) -> Weighted {
    let entries = members[range.clone()].iter().map(|&(v, u)| {
        let second = if u == v { 0 } else { g.of(u).len() };
        g.of(v).len() + second
    });
    let mut out = Weighted::with_capacity(range.len(), entries.sum());
    // Whether an edge is there can't be foretold, and so nothing branches on it.
    let Lists { list, sum } = lists;
    refill(sum, members.len(), 0);
    for c in range {
        if c.is_multiple_of(SOME) && given_up.load(Relaxed) {
            return out;
        }
        let (v, u) = members[c];
        let most = g.of(v).len() + g.of(u).len() + 1;
        if list.len() < most {
            list.resize(most, 0);
        }
        // An edge within the pair comes to nobody's list.
        sum[c] = 1;
        let list = &mut list[..most];
        let (mut count, mut weight) = (0, 0);
        for &member in &[v, u][..1 + usize::from(u != v)] {
            weight += g.weight[member as usize];
            for (w, edge) in g.edges(member) {
                let to = coarse[w as usize];
                let sum = &mut sum[to as usize];
                list[count] = to;
                count += usize::from(*sum == 0);
                *sum += edge;
            }
        }
        sum[c] = 0;
        let list = &list[..count];
        out.neighbours.extend_from_slice(list);
        let weights = list.iter().map(|&to| std::mem::take(&mut sum[to as usize]));
        out.edge.extend(weights);
        out.weight.push(weight);
        out.start.push(out.neighbours.len());
    }
    out
}
