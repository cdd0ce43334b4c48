//! Other values, same pattern: the factors again, in the memory that they have.
//!
//! Takes factors and a matrix with the pattern that was analysed; leaves the factors of that matrix, bitwise those of a new
//! factorization. Nothing of the analysis is done again. Knows no task.

use super::FactorScalar;
use super::factorize::{FactorOptions, Factored, Task, complete_deficient, factorize_in};
use super::factors::Factors;
use super::priorities::PriorityReport;
use crate::error::SolveError;
use crate::plan::Prediction;
use treeqr_matrices::Csc;
use treeqr_runtime::{DataStore, Observer, RunStats};

/// What a factorization took whose factors took the place of others.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refactored {
    /// What the analysis said this run would do.
    pub prediction: Prediction,
    /// What the runtime says of it.
    pub stats: RunStats,
    /// How the priorities of the tasks came about.
    pub priorities: PriorityReport,
    /// The tolerance that the pivots were held against.
    pub tolerance: f64,
}

impl<T: FactorScalar> Factors<T> {
    /// Factorizes `a`, which has the pattern of the matrix before; the factors take the place of the old ones and are bitwise those
    /// that [`factorize`](crate::factorize) gives. `rhs` has as many right-hand sides as before, and Q is kept if it was; of `options`
    /// all else counts, and the result depends on the same of them as there.
    ///
    /// Memory for fronts and factors is that of the run before, which from here on is kept between factorizations. A run
    /// without workers takes none from the system if the one before was a refactorization too, or had
    /// [`FactorOptions::keep_storage`]. One with workers may take some, where more fronts are in memory at the same time than ever
    /// before; what it takes stays.
    ///
    /// # Errors
    /// As [`factorize`](crate::factorize). Then the old factors are gone too, whatever the error: all solves say
    /// [`SolveError::NoFactors`] until a refactorization succeeds.
    pub fn refactorize<O: Observer>(
        &mut self,
        a: &Csc<T>,
        rhs: &[T],
        options: &FactorOptions,
        observer: &O,
    ) -> Result<Refactored, SolveError> {
        // Until all is done there are no factors, even if something panics on the way.
        (self.rank, self.deficiency, self.split) = (None, None, None);
        let mut store = std::mem::replace(&mut self.store, DataStore::new(0));
        store.recycle();
        let symbolic = self.symbolic.clone();
        let task = Task {
            symbolic: &symbolic,
            a,
            rhs,
            nrhs: self.shape.nrhs,
            options: &FactorOptions {
                keep_q: self.shape.keep_q,
                keep_storage: true,
                ..options.clone()
            },
        };
        let layout = Some(self.layout.clone());
        match factorize_in(&mut store, layout, &task, observer) {
            Ok(done) => match complete_deficient(&done.factors, options, observer) {
                Ok(()) => Ok(self.replace(done)),
                Err(error) => {
                    self.store = done.factors.store;
                    self.store.recycle();
                    Err(error)
                }
            },
            Err(error) => {
                store.recycle();
                self.store = store;
                Err(error)
            }
        }
    }

    fn replace(&mut self, done: Factored<T>) -> Refactored {
        *self = done.factors;
        Refactored {
            prediction: done.prediction,
            stats: done.stats,
            priorities: done.priorities,
            tolerance: done.tolerance,
        }
    }

    /// Whether there are factors: not after a [`refactorize`](Self::refactorize) that failed.
    pub fn is_whole(&self) -> bool {
        self.rank.is_some()
    }

    pub(crate) fn check_whole(&self) -> Result<(), SolveError> {
        if self.is_whole() {
            Ok(())
        } else {
            Err(SolveError::NoFactors)
        }
    }

    /// Bytes that are kept beside the factors for the fronts of the next [`refactorize`](Self::refactorize).
    pub fn kept_bytes(&self) -> u64 {
        self.store.pooled_bytes()
    }

    /// Gives these bytes back to the system.
    pub fn release_storage(&mut self) {
        self.store.release_pool();
    }
}
