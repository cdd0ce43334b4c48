//! A = Q R with Q kept, for right-hand sides that come later.

use crate::error::Error;
use crate::progress::{Progress, RecordOptions, Watched};
use crate::run::{Record, Run, SystemRecord};
use std::sync::Arc;
use std::time::Instant;
use treeqr_matrices::Csc;
use treeqr_profiling::system::SystemRecorder;
use treeqr_profiling::{Expected, Recorder, RecorderOptions};
use treeqr_solver::{
    FactorOptions, FactorScalar, Factors, Prediction, Rank, RunShape, SolveOptions, Symbolic,
};

/// A factorized matrix.
pub struct Factorization<T> {
    factors: Factors<T>,
    run: Run,
    solve: SolveOptions,
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
    let (factors, run) = recorded(symbolic, a, &[], 0, &options, progress)?;
    let solve = SolveOptions::from(&options);
    Ok(Factorization {
        factors,
        run,
        solve,
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
    /// the work is worth.
    ///
    /// # Errors
    /// As [`Self::solve`], and whatever ends the run.
    pub fn solve_many(&self, b: &[T], nrhs: usize) -> Result<Vec<T>, Error> {
        let _span = tracing::info_span!("solve", nrhs).entered();
        Ok(self.factors.solve_with(b, nrhs, &self.solve, &())?)
    }

    /// The rank of A, and what it was decided by.
    pub fn rank(&self) -> &Rank {
        self.factors.rank_details()
    }

    /// R and Q.
    pub fn factors(&self) -> &Factors<T> {
        &self.factors
    }

    /// The analysis that it was made with.
    pub fn symbolic(&self) -> &Arc<Symbolic> {
        self.factors.symbolic()
    }

    /// What it took.
    pub fn run(&self) -> &Run {
        &self.run
    }
}

/// The recorder's options for a run with this prediction.
fn room_for(prediction: &Prediction, options: &RecordOptions) -> RecorderOptions {
    let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    RecorderOptions {
        expected: Some(Expected {
            tasks: size(prediction.task_count()),
            accesses: size(prediction.accesses),
            memory_events: size(prediction.buffers.0 + prediction.buffers.1),
        }),
        memory_bytes: options.memory_bytes,
        spill_dir: Some(options.spill_dir.clone()),
        ..RecorderOptions::default()
    }
}

/// The factorization with the recorder attached, which is told what is predicted.
pub(crate) fn recorded<T: FactorScalar>(
    symbolic: &Arc<Symbolic>,
    a: &Csc<T>,
    b: &[T],
    nrhs: usize,
    options: &FactorOptions,
    progress: &Progress,
) -> Result<(Factors<T>, Run), Error> {
    let shape = RunShape::of::<T>(nrhs, options.keep_q);
    let prediction = symbolic.predict(shape);
    progress.begin(prediction.flops);
    let modules = progress.options().modules;
    let system = (!modules.is_empty()).then(|| SystemRecorder::new(modules));
    let room = room_for(&prediction, progress.options());
    let (recorder, origin) = (Recorder::new(room), Instant::now());
    let watched = Watched {
        recorder: &recorder,
        system: system.as_ref(),
        progress,
    };
    let done = treeqr_solver::factorize(symbolic, a, b, nrhs, options, &watched);
    let system = system.map(|system| SystemRecord::new(modules, system.finish()));
    let record = Record::new(shape, prediction, origin, recorder, system);
    match done {
        Ok(done) => {
            let (bound, threads) = (done.stats.bound_workers, done.stats.threads);
            if options.run.bind && !options.sequential && bound < threads {
                tracing::info!(
                    bound,
                    threads,
                    "not every worker is pinned to a core of its own"
                );
            }
            let run = Run::new(record, done.stats, done.priorities, done.tolerance);
            Ok((done.factors, run))
        }
        Err(error) => {
            progress.leave(record);
            Err(error.into())
        }
    }
}
