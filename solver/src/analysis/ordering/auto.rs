//! `auto`: the candidate with the least predicted time, what the ordering costs included.
//!
//! COLAMD is cheap and often enough. METIS needs the graph of W22' W22 and a time that grows with it; it is tried when
//! the factorization that COLAMD leads to would take longer than that. Candidates are compared by their fronts, built to
//! the end: the exact flops, and the time by the model of the amalgamation. Those of the winner are used.

use super::{OrderingInput, graph};
use crate::analysis::structure::Structure;
use crate::error::AnalyseError;

/// Nested dissection in ns a vertex, and ns a pair of columns that meet in a row (a pair may meet in many). Fixed, so
/// that the choice does not depend on the machine; they need only be right within a factor of two.
const NS_PER_VERTEX: f64 = 4000.0;
const NS_PER_PAIR: f64 = 25.0;
/// Workers that a factorization is taken to have when its time is compared with that of an ordering.
const WORKERS: f64 = 2.0;

/// The best of the candidates, and why, in one sentence.
pub(crate) fn choose(
    input: &OrderingInput<'_>,
    build: impl Fn(&[u32]) -> Structure,
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
    let by_metis = match super::metis::order(input) {
        Ok(order) => build(&order),
        Err(e) => return Ok((by_colamd, "colamd", format!("METIS was not possible: {e}"))),
    };
    let why = format!(
        "{} with METIS, {} with COLAMD",
        flops(by_metis.flops()),
        flops(by_colamd.flops())
    );
    if by_metis.time_ns() < by_colamd.time_ns() {
        Ok((by_metis, "metis", why))
    } else {
        Ok((by_colamd, "colamd", why))
    }
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
