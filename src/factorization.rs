//! A = Q R with Q kept, for right-hand sides that come later.

use crate::error::Error;
use crate::progress::Progress;
use crate::run::{Record, Run, RunKind};
use crate::watch::Session;
use std::sync::Arc;
use treeqr_matrices::Csc;
use treeqr_runtime::{Config, RunError, RunStats};
use treeqr_solver::{
    FactorOptions, FactorScalar, Factors, PriorityReport, Rank, RunShape, SolveError, SolveOptions,
    Symbolic,
};

/// A factorized matrix.
pub struct Factorization<T> {
    factors: Factors<T>,
    run: Run,
    solve: SolveOptions,
    options: FactorOptions,
}

/// Factorizes A = Q R (A^H = Q R for a wide A) and keeps Q, whatever `options.keep_q` says.
///
/// # Errors
/// [`Error::Solve`]: another pattern than the analysed one, values that are not finite, linearly dependent columns (rows,
/// when A is wide) where [`FactorOptions::deficient`] refuses them, and whatever ends the run.
pub fn factorize<T: FactorScalar>(
    symbolic: &Arc<Symbolic>,
    a: &Csc<T>,
    options: &FactorOptions,
) -> Result<Factorization<T>, Error> {
    factorize_watched(symbolic, a, options, &Progress::default())
}

/// As [`factorize`], for another thread to see how far it has come.
///
/// # Errors
/// As [`factorize`].
pub fn factorize_watched<T: FactorScalar>(
    symbolic: &Arc<Symbolic>,
    a: &Csc<T>,
    options: &FactorOptions,
    progress: &Progress,
) -> Result<Factorization<T>, Error> {
    let options = FactorOptions {
        keep_q: true,
        ..options.clone()
    };
    let (factors, run) = recorded(symbolic, a, &[], 0, &options, progress)?.close();
    let solve = SolveOptions::from(&options);
    Ok(Factorization {
        factors,
        run,
        solve,
        options,
    })
}

impl<T: FactorScalar> Factorization<T> {
    /// x for one right-hand side with an entry for every row of A.
    ///
    /// # Errors
    /// [`Error::Solve`]: a wrong length, values that are not finite.
    pub fn solve(&self, b: &[T]) -> Result<Vec<T>, Error> {
        self.solve_many(b, 1)
    }

    /// The solutions for `nrhs` right-hand sides, one column after the other: on as many of the threads of the factorization as
    /// the work is worth. Nothing is recorded: a small solve takes less time than that.
    ///
    /// # Errors
    /// As [`Self::solve`], and whatever ends the run.
    pub fn solve_many(&self, b: &[T], nrhs: usize) -> Result<Vec<T>, Error> {
        let _span = tracing::info_span!("solve", nrhs).entered();
        Ok(self.factors.solve_with(b, nrhs, &self.solve, &())?)
    }

    /// As [`Self::solve_many`], recorded as `progress` says, for another thread to see how far it has come. Every such solve has a
    /// record of its own, from which [`trace`](crate::trace()) makes a trace of its own; several may run at once.
    ///
    /// # Errors
    /// As [`Self::solve_many`]. [`Progress::take_unfinished`] then has what was recorded.
    pub fn solve_recorded(
        &self,
        b: &[T],
        nrhs: usize,
        progress: &Progress,
    ) -> Result<(Vec<T>, Record), Error> {
        let _span = tracing::info_span!("solve", nrhs).entered();
        let plan = self.factors.plan_solve(nrhs, &self.solve)?;
        let record = self.run.record();
        let mut session = Session::new(progress, record.shape(), record.prediction().clone());
        let watched = session.begin(RunKind::Solve(plan));
        match self.factors.solve_with(b, nrhs, &self.solve, &watched) {
            Ok(x) => Ok((x, session.close())),
            Err(error) => {
                session.fail();
                Err(error.into())
            }
        }
    }

    /// Factorizes `a`, a matrix with other values in the same places, into the memory of these factors, with the options that they
    /// were made with; nothing is analysed again. The result is bitwise that of [`factorize`].
    ///
    /// The memory of the fronts is kept from here on. It is from the beginning, and then even the first refactorization needs none from
    /// the system, if [`FactorOptions::keep_storage`] was set. See [`Factors::refactorize`].
    ///
    /// ```
    /// use treeqr::matrices::gallery;
    /// use treeqr::{Csc, FactorOptions, Options, analyse, factorize};
    ///
    /// let network = gallery::make("survey-20x10")?;
    /// let (mut a, b) = (network.matrix, network.rhs.expect("a survey has observations"));
    /// let symbolic = analyse(a.pattern(), &Options::default())?;
    /// let mut factorization = factorize(&symbolic, &a, &FactorOptions::default())?;
    /// let x = factorization.solve(&b)?;
    /// for step in 0..3 {
    ///     let values = a.values().iter().map(|v| 2.0 * v).collect();
    ///     a = Csc::new(a.pattern().clone(), values)?;
    ///     factorization.refactorize(&a)?;
    ///     assert!((factorization.solve(&b)?[0] * f64::powi(2.0, step + 1) - x[0]).abs() < 1e-9);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`factorize`]. Whatever the error, the old factors are gone then: solves give
    /// [`SolveError::NoFactors`](crate::solver::SolveError::NoFactors) until a refactorization succeeds.
    pub fn refactorize(&mut self, a: &Csc<T>) -> Result<(), Error> {
        let options = self.options.clone();
        self.refactorize_watched(a, &options, &Progress::default())
    }

    /// As [`Self::refactorize`], with other options from here on, for another thread to see how far it has come. Q is kept.
    ///
    /// # Errors
    /// As [`Self::refactorize`]. [`Progress::take_unfinished`] then has what was recorded.
    pub fn refactorize_watched(
        &mut self,
        a: &Csc<T>,
        options: &FactorOptions,
        progress: &Progress,
    ) -> Result<(), Error> {
        self.solve = SolveOptions::from(options);
        self.options = FactorOptions {
            keep_q: true,
            ..options.clone()
        };
        let factors = &mut self.factors;
        let shape = RunShape::of::<T>(0, true);
        let mut session = Session::new(progress, shape, factors.symbolic().predict(shape));
        let watched = session.begin(RunKind::Factorize);
        match factors.refactorize(a, &[], &self.options, &watched) {
            Ok(done) => {
                let record = session.close();
                self.run = Run::new(record, done.stats, done.priorities, done.tolerance);
                Ok(())
            }
            Err(SolveError::Run(RunError::Device(failure)))
                if !options.run.accelerators.is_empty() =>
            {
                tracing::warn!(%failure, "a device has failed: all is computed again on the CPU");
                drop(session);
                self.refactorize_watched(a, &on_cpu(options), progress)?;
                self.run.device_failure = Some(failure.to_string());
                Ok(())
            }
            Err(error) => {
                session.fail();
                Err(error.into())
            }
        }
    }

    /// The rank of A, and what it was decided by.
    ///
    /// # Panics
    /// When the last refactorization failed.
    pub fn rank(&self) -> &Rank {
        self.factors.rank_details()
    }

    /// R and Q. With dense rows split off ([`Symbolic::dense_rows`]) these are correct as an orthogonal factorization, but R is not
    /// triangular; analyse with [`DenseRows::None`](crate::DenseRows::None) for one that is.
    pub fn factors(&self) -> &Factors<T> {
        &self.factors
    }

    /// The analysis that it was made with.
    pub fn symbolic(&self) -> &Arc<Symbolic> {
        self.factors.symbolic()
    }

    /// What it took, or the last refactorization that succeeded.
    pub fn run(&self) -> &Run {
        &self.run
    }
}

/// A factorization with the recorder attached, which goes on to what comes after it.
pub(crate) struct Recorded<'p, T> {
    pub factors: Factors<T>,
    pub session: Session<'p>,
    stats: RunStats,
    priorities: PriorityReport,
    tolerance: f64,
    device_failure: Option<String>,
}

impl<T> Recorded<'_, T> {
    /// The end of what is recorded.
    pub fn close(self) -> (Factors<T>, Run) {
        let record = self.session.close();
        let mut run = Run::new(record, self.stats, self.priorities, self.tolerance);
        run.device_failure = self.device_failure;
        (self.factors, run)
    }
}

/// Factorizes, and records it.
pub(crate) fn recorded<'p, T: FactorScalar>(
    symbolic: &Arc<Symbolic>,
    a: &Csc<T>,
    b: &[T],
    nrhs: usize,
    options: &FactorOptions,
    progress: &'p Progress,
) -> Result<Recorded<'p, T>, Error> {
    // Of a wide A nothing is carried along.
    let carried = if symbolic.transposed() { 0 } else { nrhs };
    let shape = RunShape::of::<T>(carried, options.keep_q);
    let mut session = Session::new(progress, shape, symbolic.predict(shape));
    let watched = session.begin(RunKind::Factorize);
    match treeqr_solver::factorize(symbolic, a, b, nrhs, options, &watched) {
        Ok(done) => {
            let (bound, threads) = (done.stats.bound_workers, done.stats.threads);
            if options.run.bind && !options.sequential && bound < threads {
                tracing::info!(
                    bound,
                    threads,
                    "not every worker is pinned to a core of its own"
                );
            }
            Ok(Recorded {
                factors: done.factors,
                session,
                stats: done.stats,
                priorities: done.priorities,
                tolerance: done.tolerance,
                device_failure: None,
            })
        }
        Err(SolveError::Run(RunError::Device(failure))) if !options.run.accelerators.is_empty() => {
            // All that was on the device is lost, and nothing else: A and b are the caller's.
            tracing::warn!(%failure, "a device has failed: all is computed again on the CPU");
            drop(session);
            let options = on_cpu(options);
            let mut again = recorded(symbolic, a, b, nrhs, &options, progress)?;
            again.device_failure = Some(failure.to_string());
            Ok(again)
        }
        Err(error) => {
            session.fail();
            Err(error.into())
        }
    }
}

/// The same without devices.
fn on_cpu(options: &FactorOptions) -> FactorOptions {
    FactorOptions {
        run: Config {
            accelerators: Vec::new(),
            ..options.run.clone()
        },
        ..options.clone()
    }
}
