//! Nested dissection (George 1973) on the graph of W22' W22, both halves of every cut at the same time.
//!
//! The graph is compressed, then cut by small vertex separators, which come last in the order, until the parts are small enough for
//! minimum degree. The result depends on the graph alone: not on the number of threads.
//!
//! ```text
//!   compress -> first cut -> dissect: separator (coarsen, refine) -> halves ... -> leaf
//! ```

mod coarsen;
mod compress;
mod first;
mod gain;
mod graph;
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
use refine::Split;
use separator::{Method, Place, Room};
use std::borrow::Cow;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Parts with no more vertices are ordered by minimum degree.
const LEAF: usize = 100;
/// The halves of parts with more vertices are dissected at the same time.
const PARALLEL: usize = 1000;

/// How a graph is dissected.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Manner {
    /// What the separators aim at; what suits the graph, if not told.
    pub aim: Option<Aim>,
    /// Each attempt has other random numbers.
    pub attempt: u64,
}

pub(super) fn order(input: &OrderingInput<'_>) -> Result<Vec<u32>, AnalyseError> {
    let manner = Manner::default();
    let found = unless(&AtomicBool::new(false), &ColumnGraph::of(input), manner);
    Ok(found.expect("nobody gives it up").0)
}

/// An elimination order of a graph, and how the graph was cut. None when it is given up meanwhile.
pub(super) fn unless(
    given_up: &AtomicBool,
    g: &ColumnGraph<'_>,
    manner: Manner,
) -> Option<(Vec<u32>, Method)> {
    let weight = |v: u32| g.groups.members(v).len() as u32;
    let compressing = tracing::debug_span!("compress");
    let compressed = compressing.in_scope(|| compress::compress(&g.graph, weight));
    let whole = &compressed.graph;
    let place = Place::whole(manner.attempt);
    let first_cut = tracing::debug_span!("first cut");
    let (method, first) = match whole.len() > LEAF {
        true => {
            let cut = || first::cut(whole, place, manner.aim, given_up);
            let (method, split) = first_cut.in_scope(cut);
            (method, Some(split))
        }
        // Nothing is cut.
        false => (
            Method {
                aim: Aim::Light,
                ways: 1,
            },
            None,
        ),
    };
    let mut groups = vec![0u32; whole.len()];
    let part = Part {
        graph: Cow::Borrowed(whole),
        ids: (0..whole.len() as u32).collect(),
    };
    let cutting = tracing::debug_span!("cuts", vertices = whole.len());
    cutting.in_scope(|| {
        let room = &mut Room::default();
        dissect(
            whole,
            part,
            (place, first),
            &mut groups,
            method,
            room,
            given_up,
        );
    });
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
    Some((order, method))
}

/// A subgraph, and the numbers that its vertices have in the whole, increasing.
struct Part<'a> {
    graph: Cow<'a, Weighted>,
    ids: Vec<u32>,
}

/// Writes the vertices of the part into `out`; anything, when it is given up. Its cut may be known.
fn dissect(
    whole: &Weighted,
    part: Part<'_>,
    (place, cut): (Place, Option<Split>),
    out: &mut [u32],
    method: Method,
    room: &mut Room,
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
    let split =
        cut.unwrap_or_else(|| separator::separate(&part.graph, place, method, room, given_up));
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
    let [low, high] = place.halves().map(|place| (place, None));
    if n > PARALLEL {
        rayon::join(
            || dissect(whole, a, low, first, method, room, given_up),
            || {
                let room = &mut Room::default();
                dissect(whole, b, high, second, method, room, given_up);
            },
        );
    } else {
        dissect(whole, a, low, first, method, room, given_up);
        dissect(whole, b, high, second, method, room, given_up);
    }
}
