//! From A and b to x, with nothing kept that x does not need.

use crate::error::Error;
use crate::factorization::{Recorded, recorded};
use crate::progress::Progress;
use crate::run::{Run, RunKind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use treeqr_matrices::Csc;
use treeqr_runtime::Config;
use treeqr_solver::{
    FactorOptions, FactorScalar, Factors, Options, Rank, Shortest, SolveError, SolveOptions,
    Symbolic, check_rhs,
};

/// The options of all steps.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Of the analysis.
    pub analysis: Options,
    /// Of the factorization.
    pub factorization: FactorOptions,
}

impl Settings {
    /// The defaults on `threads` workers.
    pub fn with_threads(threads: usize) -> Self {
        Settings {
            analysis: Options {
                threads,
                ..Options::default()
            },
            factorization: FactorOptions {
                run: Config::with_threads(threads),
                ..FactorOptions::default()
            },
        }
    }
}

/// x, and what it took.
#[derive(Debug)]
pub struct Solution<T> {
    /// The solutions, one column after the other.
    pub x: Vec<T>,
    /// The analysis.
    pub symbolic: Arc<Symbolic>,
    /// The rank of A. Where it is not full, x is the solution that [`FactorOptions::deficient`] says.
    pub rank: Rank,
    /// The run of the factorization; its record has the solve too.
    pub run: Run,
    /// Wall time of the factorization.
    pub factorize_time: Duration,
    /// Wall time from the factors to x.
    pub solve_time: Duration,
}

/// The solutions for `nrhs` right-hand sides, columns of as many entries as A has rows. A tall or square A carries them
/// along while it is factorized; for a wide one they come from R and A ([`Shortest`]). Q is not kept.
///
/// # Errors
/// [`Error::Analyse`] and [`Error::Solve`], as [`analyse`](crate::analyse) and [`factorize`](crate::factorize).
pub fn solve<T: FactorScalar>(
    a: &Csc<T>,
    b: &[T],
    nrhs: usize,
    settings: &Settings,
) -> Result<Solution<T>, Error> {
    let symbolic = crate::analyse(a.pattern(), &settings.analysis)?;
    let progress = Progress::default();
    solve_analysed(&symbolic, a, b, nrhs, &settings.factorization, &progress)
}

/// As [`solve`], for a pattern that was analysed before, and for another thread to see how far it has come.
///
/// # Errors
/// [`Error::Solve`].
pub fn solve_analysed<T: FactorScalar>(
    symbolic: &Arc<Symbolic>,
    a: &Csc<T>,
    b: &[T],
    nrhs: usize,
    options: &FactorOptions,
    progress: &Progress,
) -> Result<Solution<T>, Error> {
    let nothing = |_: &Factors<T>, _: &mut Vec<T>| Ok(());
    solve_then(symbolic, a, b, nrhs, options, progress, nothing).map(|(solution, ())| solution)
}

/// As [`solve_analysed`], with something done in between with the factors, which are gone afterwards, and with x, which it
/// may change: [`refine`](crate::refine()), [`Factors::condition_estimate`]. Its time is that of the solve. The factors have no Q, unless
/// `options.keep_q` says so, or [`Symbolic::solves_with_q`], or a wide A of which R says too little: that is factorized again.
///
/// # Errors
/// As [`solve_analysed`], and that of `then`.
pub fn solve_then<T: FactorScalar, R>(
    symbolic: &Arc<Symbolic>,
    a: &Csc<T>,
    b: &[T],
    nrhs: usize,
    options: &FactorOptions,
    progress: &Progress,
    then: impl FnOnce(&Factors<T>, &mut Vec<T>) -> Result<R, Error>,
) -> Result<(Solution<T>, R), Error> {
    let begin = Instant::now();
    check_rhs(b, a.nrows(), nrhs)?;
    let options = FactorOptions {
        keep_q: options.keep_q || symbolic.solves_with_q() || nrhs == 0,
        ..options.clone()
    };
    let solve = SolveOptions::from(&options);
    let mut recorded = recorded(symbolic, a, b, nrhs, &options, progress)?;
    let factorize_time = begin.elapsed();
    let span = tracing::info_span!("solve", nrhs).entered();
    let x = match symbolic.transposed() && !options.keep_q {
        true => shortest(&mut recorded, a, b, nrhs, &solve),
        false => with_factors(&mut recorded, b, nrhs, &solve),
    };
    let mut x = match x {
        Ok(x) => x,
        Err(SolveError::NotRefined { condition, .. }) if !options.keep_q => {
            tracing::warn!(
                condition,
                "R alone says too little about A: all is computed again, with Q"
            );
            drop((recorded, span));
            let options = FactorOptions {
                keep_q: true,
                ..options
            };
            return solve_then(symbolic, a, b, nrhs, &options, progress, then);
        }
        Err(error) => {
            recorded.session.fail();
            return Err(error.into());
        }
    };
    let rank = recorded.factors.rank_details().clone();
    let more = then(&recorded.factors, &mut x)?;
    let solve_time = begin.elapsed() - factorize_time;
    let (_, run) = recorded.close();
    let solution = Solution {
        x,
        symbolic: symbolic.clone(),
        rank,
        run,
        factorize_time,
        solve_time,
    };
    Ok((solution, more))
}

/// x by the factors, with Q where it comes after them.
fn with_factors<T: FactorScalar>(
    recorded: &mut Recorded<'_, T>,
    b: &[T],
    nrhs: usize,
    options: &SolveOptions,
) -> Result<Vec<T>, SolveError> {
    let Recorded {
        factors, session, ..
    } = recorded;
    // The shortest x of a wide A is Q R^{-H} b: there b comes last.
    let late = factors.symbolic().transposed() || nrhs == 0;
    let plan = match late {
        true => factors.plan_solve(nrhs, options)?,
        false => factors.plan_solution(options),
    };
    if plan.task_count() == 0 {
        // Nothing to be recorded: all that is left is done on this thread.
        return match late {
            true => factors.solve_with(b, nrhs, options, &()),
            false => factors.solution_with(options, &()),
        };
    }
    let watched = session.begin(RunKind::Solve(plan));
    match late {
        true => factors.solve_with(b, nrhs, options, &watched),
        false => factors.solution_with(options, &watched),
    }
}

/// x of a wide A by R and A.
fn shortest<T: FactorScalar>(
    recorded: &mut Recorded<'_, T>,
    a: &Csc<T>,
    b: &[T],
    nrhs: usize,
    options: &SolveOptions,
) -> Result<Vec<T>, SolveError> {
    let mut shortest = Shortest::new(&recorded.factors, a, b, nrhs, options)?;
    while !shortest.is_done() {
        let plan = shortest.plan();
        if plan.task_count() == 0 {
            shortest.step(&())?;
        } else {
            shortest.step(&recorded.session.begin(RunKind::Solve(plan)))?;
        }
    }
    shortest.finish()
}
