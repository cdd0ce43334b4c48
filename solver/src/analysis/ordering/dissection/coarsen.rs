//! A graph of about half the size: pairs of vertices become one.
//!
//! Heavy-edge matching (Karypis and Kumar 1998, "A fast and high quality multilevel scheme for partitioning irregular graphs",
//! section 3.1), vertices of low degree first; where many are left over, as around hubs, two that share a neighbour are a pair too.

use super::graph::{Random, Weighted};

const NONE: u32 = u32::MAX;

/// The coarser graph, and for every vertex the one that it becomes. `heaviest` bounds the weight of what two become.
pub(crate) fn coarsen(g: &Weighted, heaviest: u64, random: &mut Random) -> (Weighted, Vec<u32>) {
    let mate = matching(g, heaviest, random);
    let mut coarse = vec![NONE; g.len()];
    let mut members = Vec::with_capacity(g.len());
    for v in 0..g.len() as u32 {
        if coarse[v as usize] == NONE {
            let u = mate[v as usize];
            coarse[v as usize] = members.len() as u32;
            coarse[u as usize] = members.len() as u32;
            members.push((v, u));
        }
    }
    (contract(g, &coarse, &members), coarse)
}

/// The partner of every vertex; itself where there is none.
fn matching(g: &Weighted, heaviest: u64, random: &mut Random) -> Vec<u32> {
    let n = g.len();
    let mut mate = vec![NONE; n];
    let mut left = 0;
    for v in by_degree(g, random) {
        if mate[v as usize] != NONE {
            continue;
        }
        let room = heaviest.saturating_sub(u64::from(g.weight[v as usize]));
        let mut best = (0, v);
        for (u, w) in g.edges(v) {
            if w > best.0 && mate[u as usize] == NONE && u64::from(g.weight[u as usize]) <= room {
                best = (w, u);
            }
        }
        mate[v as usize] = best.1;
        mate[best.1 as usize] = v;
        left += usize::from(best.1 == v);
    }
    if left > n / 10 {
        second_neighbours(g, heaviest, &mut mate);
    }
    mate
}

/// Pairs among those that are left over and share a neighbour.
fn second_neighbours(g: &Weighted, heaviest: u64, mate: &mut [u32]) {
    let mut waiting = vec![NONE; g.len()];
    for v in 0..g.len() as u32 {
        if mate[v as usize] != v {
            continue;
        }
        for &u in g.of(v) {
            let other = waiting[u as usize];
            let free = other != NONE && other != v && mate[other as usize] == other;
            let fits = |o: u32| {
                u64::from(g.weight[o as usize]) + u64::from(g.weight[v as usize]) <= heaviest
            };
            if free && fits(other) {
                mate[v as usize] = other;
                mate[other as usize] = v;
                break;
            }
            if !free {
                waiting[u as usize] = v;
            }
        }
    }
}

/// Vertices by the logarithm of their degree, without order among equals.
fn by_degree(g: &Weighted, random: &mut Random) -> Vec<u32> {
    let n = g.len();
    let mut shuffled: Vec<u32> = (0..n as u32).collect();
    random.shuffle(&mut shuffled);
    let average = (g.neighbours.len() / n.max(1)).max(1);
    let class = |v: u32| (g.of(v).len().min(2 * average)) as u32;
    let mut start = vec![0usize; 2 * average + 2];
    for &v in &shuffled {
        start[class(v) as usize + 1] += 1;
    }
    for k in 1..start.len() {
        start[k] += start[k - 1];
    }
    let mut out = vec![0u32; n];
    for v in shuffled {
        let at = &mut start[class(v) as usize];
        out[*at] = v;
        *at += 1;
    }
    out
}

fn contract(g: &Weighted, coarse: &[u32], members: &[(u32, u32)]) -> Weighted {
    let n = members.len();
    let mut out = Weighted {
        start: Vec::with_capacity(n + 1),
        neighbours: Vec::with_capacity(g.neighbours.len()),
        weight: Vec::with_capacity(n),
        edge: Vec::with_capacity(g.neighbours.len()),
    };
    out.start.push(0);
    // Where the edge to a vertex lies, if it is beyond the start of the list at hand.
    let mut place = vec![0usize; n];
    for (c, &(v, u)) in members.iter().enumerate() {
        let begin = out.neighbours.len();
        let mut add = |w: u32, weight: u32| {
            let to = coarse[w as usize];
            if to as usize == c {
                return;
            }
            let at = place[to as usize];
            if at > begin {
                out.edge[at - 1] += weight;
            } else {
                out.neighbours.push(to);
                out.edge.push(weight);
                place[to as usize] = out.neighbours.len();
            }
        };
        g.edges(v).for_each(|(w, weight)| add(w, weight));
        let mut weight = g.weight[v as usize];
        if u != v {
            g.edges(u).for_each(|(w, weight)| add(w, weight));
            weight += g.weight[u as usize];
        }
        out.weight.push(weight);
        out.start.push(out.neighbours.len());
    }
    out
}
