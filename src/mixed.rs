//! Mixed precision: A is factorized in single precision, and x refined to the accuracy of double.
//!
//! Takes what [`solve_analysed`] takes; gives the same, with a report of the refinement. Where single precision is not enough
//! the factorization is made again in double, and the reason said.

use crate::error::Error;
use crate::factorization::recorded;
use crate::progress::Progress;
use crate::solution::{Solution, solve_analysed};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;
use treeqr_matrices::{Csc, c32, c64};
use treeqr_solver::{
    Deficient, FactorOptions, FactorScalar, RefineOptions, Refinement, Scaled, SolveError,
    SolveOptions, Symbolic, check_rhs, refine,
};

/// A scalar of double precision, with its counterpart in single.
pub trait MixedScalar: FactorScalar {
    /// The counterpart.
    type Single: FactorScalar;
}

impl MixedScalar for f64 {
    type Single = f32;
}

impl MixedScalar for c64 {
    type Single = c32;
}

/// Why single precision was not enough.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fallback {
    /// A tolerance for the rank was given, which is meant for pivots of double precision.
    Tolerance,
    /// The factorization in single precision met a pivot that is nothing: the matrix has not full rank, or nearly so.
    NoPivot,
    /// R in single precision says too little about A: its condition number is too large for that.
    IllConditioned,
    /// Refinement did not come to its end.
    NotConverged,
}

impl Fallback {
    /// What JSON calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Fallback::Tolerance => "tolerance",
            Fallback::NoPivot => "no_pivot",
            Fallback::IllConditioned => "ill_conditioned",
            Fallback::NotConverged => "not_converged",
        }
    }
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fallback::Tolerance => "a tolerance for the rank needs pivots in double precision",
            Fallback::NoPivot => "a pivot vanished in single precision",
            Fallback::IllConditioned => "A is too ill-conditioned for single precision",
            Fallback::NotConverged => "refinement did not converge",
        })
    }
}

/// x, what it took, and how it was refined.
#[derive(Debug)]
pub struct MixedSolution<T> {
    /// x. The run is that of the factorization that x is from; the time of the solve has the refinement in it, and the time of the
    /// factorization both, where there were two.
    pub solution: Solution<T>,
    /// What the refinement did; none where the factorization in single precision came to no end.
    pub refinement: Option<Refinement>,
    /// Why the factorization was made again in double precision, if it was.
    pub fallback: Option<Fallback>,
}

/// As [`solve_analysed`], with the factorization in single precision of A with its columns (the rows of a wide A) scaled by
/// powers of two, so that nothing over- or underflows, and with x refined as [`RefineOptions`] says. Q is not kept, whatever
/// A's shape and `options.keep_q` say. What lacks rank, and what has a tolerance for it in `options`, is factorized in double precision;
/// else the rank is that of A with scaled columns.
///
/// x is as accurate as one from a factorization in double precision; where it can't be shown to be, there is one.
///
/// # Errors
/// [`Error::Solve`], as [`solve_analysed`].
pub fn solve_mixed<T: MixedScalar>(
    symbolic: &Arc<Symbolic>,
    a: &Csc<T>,
    b: &[T],
    nrhs: usize,
    options: &FactorOptions,
    refinement: &RefineOptions,
    progress: &Progress,
) -> Result<MixedSolution<T>, Error> {
    let begin = Instant::now();
    check_rhs(b, a.nrows(), nrhs)?;
    check_finite(a)?;
    let mut refine_options = refinement.clone();
    refine_options.solve = SolveOptions::from(options);
    let single = FactorOptions {
        keep_q: false,
        // Refinement finds out what R is worth.
        tolerance: Some(0.0),
        deficient: Deficient::Refuse,
        ..options.clone()
    };
    if options.tolerance.is_some() {
        let solution = solve_analysed(symbolic, a, b, nrhs, options, progress)?;
        return Ok(MixedSolution {
            solution,
            refinement: None,
            fallback: Some(Fallback::Tolerance),
        });
    }
    let scaled = Scaled::by_columns(a);
    let low = scaled.matrix().to_precision::<T::Single>();
    let done = recorded(symbolic, &low, &[], 0, &single, progress);
    drop(low);
    let (report, fallback) = match done {
        Err(Error::Solve(SolveError::RankDeficient { .. })) => (None, Fallback::NoPivot),
        Err(error) => return Err(error),
        Ok(recorded) => {
            let factorize_time = begin.elapsed();
            let _span = tracing::info_span!("refine", nrhs).entered();
            let (x, report) = refine(&scaled, &recorded.factors, b, nrhs, None, &refine_options)?;
            if report.succeeded() {
                let rank = recorded.factors.rank_details().clone();
                let (_, run) = recorded.close();
                let solution = Solution {
                    x,
                    rank,
                    symbolic: symbolic.clone(),
                    run,
                    factorize_time,
                    solve_time: begin.elapsed() - factorize_time,
                };
                return Ok(MixedSolution {
                    solution,
                    refinement: Some(report),
                    fallback: None,
                });
            }
            let why = if report.trusted() {
                Fallback::NotConverged
            } else {
                Fallback::IllConditioned
            };
            (Some(report), why)
        }
    };
    drop(scaled);
    tracing::warn!(why = %fallback, "factorized again in double precision");
    let lost = begin.elapsed();
    let mut solution = solve_analysed(symbolic, a, b, nrhs, options, progress)?;
    solution.factorize_time += lost;
    Ok(MixedSolution {
        solution,
        refinement: report,
        fallback: Some(fallback),
    })
}

/// Values that are not finite are named as they are in A, not in its scaled copy.
fn check_finite<T: FactorScalar>(a: &Csc<T>) -> Result<(), SolveError> {
    match a.first_non_finite() {
        Some((row, col)) => Err(SolveError::MatrixNotFinite {
            row: row + 1,
            col: col + 1,
        }),
        None => Ok(()),
    }
}
