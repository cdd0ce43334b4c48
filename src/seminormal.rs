//! R alone, for right-hand sides that come later: Q is not kept, A is.
//!
//! Takes an analysed pattern and A; gives x by the corrected semi-normal equations R^H R z = A^H r (for a wide A R^H R z = r, with the
//! correction A^H z), as conjugate gradients or one after the other, until corrections are rounding. See `solver`'s `refine`.

use crate::error::Error;
use crate::factorization::recorded;
use crate::progress::Progress;
use crate::run::Run;
use std::sync::Arc;
use treeqr_matrices::Csc;
use treeqr_solver::{
    Deficient, FactorOptions, FactorScalar, Factors, RefineOptions, Refinement, Scaled, SolveError,
    SolveOptions, Symbolic, refine,
};

/// A matrix and its R. Takes the memory of R and of the values of A, where [`Factorization`](crate::Factorization) takes that of R and Q.
pub struct SeminormalFactorization<T> {
    factors: Factors<T>,
    scaled: Scaled<T>,
    run: Run,
    refinement: RefineOptions,
}

/// Factorizes A = Q R (A^H = Q R for a wide A) and keeps R, and a copy of A, whatever `options.keep_q` says.
///
/// # Errors
/// As [`factorize`](crate::factorize); where the rank is not full always [`SolveError::RankDeficient`], since without Q there is no solution then.
pub fn factorize_seminormal<T: FactorScalar>(
    symbolic: &Arc<Symbolic>,
    a: &Csc<T>,
    options: &FactorOptions,
    refinement: &RefineOptions,
) -> Result<SeminormalFactorization<T>, Error> {
    let options = FactorOptions {
        keep_q: false,
        deficient: Deficient::Refuse,
        ..options.clone()
    };
    let progress = Progress::default();
    let (factors, run) = recorded(symbolic, a, &[], 0, &options, &progress)?.close();
    Ok(SeminormalFactorization {
        factors,
        scaled: Scaled::evenly(a),
        run,
        refinement: RefineOptions {
            solve: SolveOptions::from(&options),
            ..refinement.clone()
        },
    })
}

impl<T: FactorScalar> SeminormalFactorization<T> {
    /// x for one right-hand side with an entry for every row of A.
    ///
    /// # Errors
    /// [`Error::Solve`]: a wrong length, values that are not finite, and [`SolveError::NotRefined`] where corrections do not come to the accuracy
    /// that A's precision allows.
    pub fn solve(&self, b: &[T]) -> Result<Vec<T>, Error> {
        let (x, report) = self.solve_many(b, 1)?;
        if report.succeeded() {
            return Ok(x);
        }
        Err(Error::Solve(SolveError::NotRefined {
            condition: report.condition,
            corrections: report.corrections(),
        }))
    }

    /// The solutions for `nrhs` right-hand sides, one column after the other, with a report of every correction. Where
    /// [`Refinement::succeeded`] is false x is not to be trusted.
    ///
    /// # Errors
    /// As [`Self::solve`], but for the last.
    pub fn solve_many(&self, b: &[T], nrhs: usize) -> Result<(Vec<T>, Refinement), Error> {
        let _span = tracing::info_span!("solve", nrhs).entered();
        let done = refine(&self.scaled, &self.factors, b, nrhs, None, &self.refinement)?;
        Ok(done)
    }

    /// R.
    pub fn factors(&self) -> &Factors<T> {
        &self.factors
    }

    /// Bytes of R and of the values of A.
    pub fn bytes(&self) -> u64 {
        let values = self.scaled.matrix().nnz() * size_of::<T>();
        self.factors.bytes() + values as u64
    }

    /// What it took.
    pub fn run(&self) -> &Run {
        &self.run
    }
}
