//! `auto`: the candidate with the least predicted time, what the ordering costs included.
//!
//! COLAMD is cheap and often enough. Nested dissection needs the graph of W22' W22 and a time that grows with it; it is tried when
//! the factorization that COLAMD leads to would take longer than that, and METIS beside it, on another core, when it would take
//! much longer. Candidates are compared by their fronts, built to the end: the exact flops, and the time by the model of the
//! amalgamation. Those of the winner are used.

use super::{OrderingInput, dissection, graph, metis};
use crate::analysis::structure::Structure;
use crate::error::AnalyseError;

/// Nested dissection in ns a vertex, and ns a pair of columns that meet in a row (a pair may meet in many). Fixed, so
/// that the choice does not depend on the machine; they need only be right within a factor of two.
const NS_PER_VERTEX: f64 = 4000.0;
const NS_PER_PAIR: f64 = 25.0;
/// Workers that a factorization is taken to have when its time is compared with that of an ordering.
const WORKERS: f64 = 2.0;
/// METIS is tried too where the factorization would take so many times as long as the ordering: neither of the two is always the better
/// one.
const WORTH_BOTH: f64 = 8.0;

/// The best of the candidates, and why, in one sentence.
pub(crate) fn choose(
    input: &OrderingInput<'_>,
    build: impl Fn(&[u32]) -> Structure + Sync,
) -> Result<(Structure, &'static str, String), AnalyseError> {
    let by_colamd = build(&super::colamd::order(input)?);
    let vertices = input.cols.ncols() as f64;
    let ordering_ns = NS_PER_VERTEX * vertices + NS_PER_PAIR * graph::work(input) as f64;
    let colamd_ns = by_colamd.time_ns() / WORKERS;
    if colamd_ns < ordering_ns {
        let why = format!(
            "{} with COLAMD: less work than a nested dissection",
            flops(by_colamd.flops())
        );
        return Ok((by_colamd, "colamd", why));
    }
    let graph = graph::column_intersection(input);
    let dissected = || Some(build(&dissection::of_graph(&graph)));
    // METIS refuses what does not fit its indices: then there is a candidate less.
    let by_metis = || metis::of_graph(&graph).ok().map(|order| build(&order));
    let (by_nd, by_metis) = if colamd_ns > WORTH_BOTH * ordering_ns {
        rayon::join(dissected, by_metis)
    } else {
        (dissected(), None)
    };
    let candidates = [
        ("nd", "nested dissection", by_nd),
        ("metis", "METIS", by_metis),
        ("colamd", "COLAMD", Some(by_colamd)),
    ];
    let candidates: Vec<_> = candidates
        .into_iter()
        .filter_map(|(name, told, structure)| Some((name, told, structure?)))
        .collect();
    let each = candidates.iter();
    let why: Vec<String> = each
        .map(|(_, told, structure)| format!("{} with {told}", flops(structure.flops())))
        .collect();
    let best = candidates
        .into_iter()
        .min_by(|a, b| a.2.time_ns().total_cmp(&b.2.time_ns()));
    let (name, _, structure) = best.expect("COLAMD is one");
    Ok((structure, name, why.join(", ")))
}

/// Flops, to be read.
pub(crate) fn flops(x: u64) -> String {
    let x = x as f64;
    let (scale, prefix) = match x {
        x if x >= 1e12 => (1e12, "T"),
        x if x >= 1e9 => (1e9, "G"),
        x if x >= 1e6 => (1e6, "M"),
        x if x >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    format!("{:.3} {prefix}flop", x / scale)
}
