//! From the diagonal of R to a rank.
//!
//! Takes factors of the first pass; gives the rank, and what changes in R where it is not full. With the default tolerance Heath's
//! method may find a rank that is too high: without column exchanges, live columns can depend on each other to working
//! precision although no pivot is small, and what rounding leaves of a dependent column then grows above the tolerance.
//! R is singular to working precision in this case. An estimate of its condition finds that out, and the tolerance is raised,
//! tenfold at a time, until it is over. A tolerance of the user's stays as it is.

use super::inverse_norm::inverse_norm;
use super::nodes::Nodes;
use super::run::{Deficiency, deflate_all};
use super::runner::Runner;
use super::tolerance::{default_tolerance, is_singular, largest_column, rank_deficient};
use super::{Deficient, Rank};
use crate::error::SolveError;
use crate::numeric::{FactorOptions, FactorScalar, Factors};
use std::convert::Infallible;
use treeqr_matrices::{Csc, RealScalar};
use treeqr_runtime::Observer;

/// The tolerance is raised up to so many times: from 1e-12 of the columns' norms, say, to 1e-4.
const RAISES: u32 = 8;

/// Finds the rank of `factors`, which are those of `a`.
///
/// # Errors
/// [`SolveError::RankDeficient`] where the options ask for it, [`SolveError::Overflow`], and whatever ends a run.
pub(crate) fn find<T: FactorScalar, O: Observer>(
    factors: &Factors<T>,
    a: &Csc<T>,
    options: &FactorOptions,
    observer: &O,
) -> Result<(Rank, Option<Deficiency<T>>), SolveError> {
    let transposed = factors.symbolic.transposed;
    let largest = largest_column(a, transposed);
    let default = default_tolerance(a, largest);
    let mut tolerance = options.tolerance.unwrap_or(default);
    let nodes = Nodes::new(factors);
    let scanning = tracing::debug_span!("diagonal");
    let mut scan = scanning.in_scope(|| nodes.scan(tolerance))?;
    match scan.first {
        None if scan.doubtful == 0 || options.deficient == Deficient::Refuse => {
            let rank = Rank {
                rank: nodes.order.len(),
                dead: Vec::new(),
                dropped_norm: 0.0,
                tolerance,
                raised_from: None,
                condition: None,
                smallest_pivot: scan.smallest_pivot,
                doubtful: scan.doubtful,
            };
            return Ok((rank, None));
        }
        Some((column, pivot)) if options.deficient == Deficient::Refuse => {
            return Err(rank_deficient(transposed, column, pivot, tolerance));
        }
        _ => {}
    }
    let runner = Runner::new(options, observer);
    let norm = a.norm_frobenius().to_f64();
    for raised in 0.. {
        let (deficiency, mut rank) = deflate_all(&nodes, &scan, (tolerance, norm), &runner)?;
        let estimating = tracing::debug_span!("condition");
        let inverse = estimating.in_scope(|| inverse_norm_of(&nodes, &deficiency, largest));
        rank.condition = Some(largest * inverse);
        rank.raised_from = (raised > 0).then_some(default);
        let may_raise = options.tolerance.is_none() && raised < RAISES;
        if !(may_raise && is_singular::<T>(largest, inverse)) {
            tracing::info!(
                rank = rank.rank,
                dead = rank.dead.len(),
                dropped_norm = rank.dropped_norm,
                tolerance,
                "rank"
            );
            let deficient = !rank.is_full();
            return Ok((rank, deficient.then_some(deficiency)));
        }
        tolerance *= 10.0;
        scan = nodes.scan(tolerance)?;
    }
    unreachable!("the tolerance is not raised for ever")
}

/// ||R^{-1}|| of the live part of R, from below.
fn inverse_norm_of<T: FactorScalar>(
    nodes: &Nodes<'_, T>,
    deficiency: &Deficiency<T>,
    largest: f64,
) -> f64 {
    let n = nodes.order.len();
    let adjoint = |v: &[T], w: usize| Ok(deficiency.solve_r_adjoint_of(nodes, v, w));
    let solve = |u: &[T], w: usize| Ok(deficiency.solve_r_of(nodes, u, w));
    let found: Result<f64, Infallible> = inverse_norm(n, largest, adjoint, solve);
    found.unwrap_or_else(|never| match never {})
}
