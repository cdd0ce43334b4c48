//! Nested dissection (George 1973) on the graph of W22' W22, both halves of every cut at the same time.
//!
//! The graph is compressed, then cut by small vertex separators, which come last in the order, until the parts are small enough for
//! minimum degree. The result depends on the graph alone: not on the number of threads.
//!
//! ```text
//!   compress -> dissect: separator (coarsen, refine) -> halves ... -> leaf
//! ```

mod coarsen;
mod compress;
mod graph;
mod heap;
mod leaf;
mod refine;
mod separator;
#[cfg(test)]
mod tests;

pub(super) use refine::Aim;

use super::OrderingInput;
use super::graph::ColumnGraph;
use crate::error::AnalyseError;
use graph::Weighted;
use refine::{SEPARATOR, Split};
use std::borrow::Cow;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Parts with no more vertices are ordered by minimum degree.
const LEAF: usize = 100;
/// The halves of parts with more vertices are dissected at the same time.
const PARALLEL: usize = 1000;
/// Neighbours of a vertex on average, and the first separator's part of the whole, from which on separators are to be light for what they
/// cut: graphs that no space is small enough for, and stencils of many points (decision 0009).
const MANY: usize = 64;
const HEAVY: f64 = 0.2;

pub(super) fn order(input: &OrderingInput<'_>) -> Result<Vec<u32>, AnalyseError> {
    let found = unless(&AtomicBool::new(false), &ColumnGraph::of(input), None);
    Ok(found.expect("nobody gives it up").0)
}

/// An elimination order of a graph, and the aim of its separators: the one that is asked for, or that suits the graph. None when it is given
/// up meanwhile.
pub(super) fn unless(
    given_up: &AtomicBool,
    g: &ColumnGraph<'_>,
    aim: Option<Aim>,
) -> Option<(Vec<u32>, Aim)> {
    let weight = |v: u32| g.groups.members(v).len() as u32;
    let compressing = tracing::debug_span!("compress");
    let compressed = compressing.in_scope(|| compress::compress(&g.graph, weight));
    let whole = &compressed.graph;
    let (aim, first) = match aim {
        Some(aim) => (aim, None),
        None => tracing::debug_span!("first cut").in_scope(|| suited(whole, given_up)),
    };
    let mut groups = vec![0u32; whole.len()];
    let part = Part {
        graph: Cow::Borrowed(whole),
        ids: (0..whole.len() as u32).collect(),
    };
    let cutting = tracing::debug_span!("cuts", vertices = whole.len());
    cutting.in_scope(|| dissect(whole, part, (ROOT, first), &mut groups, aim, given_up));
    if given_up.load(Relaxed) {
        return None;
    }
    let mut order = Vec::with_capacity(g.groups.vertices());
    for &k in &groups {
        let begin = order.len();
        for &v in compressed.groups.members(k) {
            order.extend_from_slice(g.groups.members(v));
        }
        order[begin..].sort_unstable();
    }
    Some((order, aim))
}

/// The number of the whole in the tree of cuts.
const ROOT: u64 = 1;

/// The aim that suits a graph, and its first cut if that was asked.
fn suited(g: &Weighted, given_up: &AtomicBool) -> (Aim, Option<Split>) {
    if g.neighbours.len() >= MANY * g.len() {
        return (Aim::Even, None);
    }
    if g.len() <= LEAF {
        return (Aim::Light, None);
    }
    let split = separator::separate(g, ROOT, Aim::Light, given_up);
    let separator = split.weight[usize::from(SEPARATOR)];
    if separator as f64 > HEAVY * g.total() as f64 {
        return (Aim::Even, None);
    }
    (Aim::Light, Some(split))
}

/// A subgraph, and the numbers that its vertices have in the whole, increasing.
struct Part<'a> {
    graph: Cow<'a, Weighted>,
    ids: Vec<u32>,
}

/// Writes the vertices of the part into `out`; anything, when it is given up. The seed is the part's number in the tree of cuts; its cut may be known.
fn dissect(
    whole: &Weighted,
    part: Part<'_>,
    (seed, cut): (u64, Option<Split>),
    out: &mut [u32],
    aim: Aim,
    given_up: &AtomicBool,
) {
    let n = part.graph.len();
    if given_up.load(Relaxed) {
        return;
    }
    if n <= LEAF {
        if n > 0 {
            leaf::order(whole, &part.ids, out);
        }
        return;
    }
    let split = cut.unwrap_or_else(|| separator::separate(&part.graph, seed, aim, given_up));
    let [a, b] = part.graph.halves(&split.side).map(|(graph, local)| {
        let ids = local.iter().map(|&k| part.ids[k as usize]).collect();
        let graph = Cow::Owned(graph);
        Part { graph, ids }
    });
    if a.ids.len().max(b.ids.len()) == n {
        // No cut was found, as on a part that is all but complete.
        out.copy_from_slice(&part.ids);
        return;
    }
    let (first, rest) = out.split_at_mut(a.ids.len());
    let (second, last) = rest.split_at_mut(b.ids.len());
    let between = (0..n as u32).filter(|&v| split.in_separator(v));
    for (place, v) in last.iter_mut().zip(between) {
        *place = part.ids[v as usize];
    }
    drop((part, split));
    let low = (seed.wrapping_mul(2), None);
    let high = (seed.wrapping_mul(2).wrapping_add(1), None);
    if n > PARALLEL {
        rayon::join(
            || dissect(whole, a, low, first, aim, given_up),
            || dissect(whole, b, high, second, aim, given_up),
        );
    } else {
        dissect(whole, a, low, first, aim, given_up);
        dissect(whole, b, high, second, aim, given_up);
    }
}
