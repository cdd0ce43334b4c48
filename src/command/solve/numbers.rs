//! In which numbers a system is solved: real or complex by what the files hold, single or double by `--precision`.
//!
//! A real b with a complex A is read as complex. A complex b with a real A is solved as two real right-hand sides, its real
//! and its imaginary part: that is the same x for a quarter of the flops.

use super::super::cli::SolveArgs;
use super::super::failure::Failure;
use super::super::input::Precision;
use super::Outcome;
use super::work::{Numbers, Solved, Task, solve_in};
use std::time::Instant;
use treeqr::devices::ScalarKind;
use treeqr::matrices::Source;
use treeqr::{
    Error, FactorOptions, FactorScalar, Factors, MixedScalar, Progress, RefineOptions, Refinement,
    Scalar, Scaled, SolveOptions, c32, c64, refine, scalar_kind, solve_mixed, solve_then,
};

/// Reads, solves, and writes x, in the numbers that the files and the flag ask for.
pub fn solve(args: &SolveArgs) -> Result<Outcome, Failure> {
    if args.rank_check && args.precision == Precision::Mixed {
        let message =
            "--rank-check needs R in the precision of x, which --precision mixed does not have";
        return Err(Failure::input(message).hint("--precision double"));
    }
    if args.save_factors.is_some() && args.precision == Precision::Mixed {
        let message = "--save-factors saves R and Q, and --precision mixed keeps no Q";
        return Err(Failure::input(message).hint("--precision double, or single"));
    }
    let complex = matrix_of(args).is_complex();
    let split = !complex && args.rhs.as_ref().is_some_and(Source::is_complex);
    match (args.precision, complex, split) {
        (Precision::Double, false, false) => solve_in::<InOne<f64, f64>>(args),
        (Precision::Double, false, true) => solve_in::<InOne<f64, c64>>(args),
        (Precision::Double, true, _) => solve_in::<InOne<c64, c64>>(args),
        (Precision::Single, false, false) => solve_in::<InOne<f32, f32>>(args),
        (Precision::Single, false, true) => solve_in::<InOne<f32, c32>>(args),
        (Precision::Single, true, _) => solve_in::<InOne<c32, c32>>(args),
        (Precision::Mixed, false, false) => solve_in::<InTwo<f64, f64>>(args),
        (Precision::Mixed, false, true) => solve_in::<InTwo<f64, c64>>(args),
        (Precision::Mixed, true, _) => solve_in::<InTwo<c64, c64>>(args),
    }
}

/// Where the matrix comes from. Without --factors there is one.
pub fn matrix_of(args: &SolveArgs) -> &Source {
    args.matrix.as_ref().expect("clap asks for it")
}

/// Singular values that a rank is held against.
pub const CHECKED: usize = 6;

/// A in T, b and x in X, and all in one precision.
pub struct InOne<T, X>(std::marker::PhantomData<(T, X)>);

/// A in T, b and x in X, factorized in single precision.
struct InTwo<T, X>(std::marker::PhantomData<(T, X)>);

impl<T: FactorScalar, X: Scalar> Numbers for InOne<T, X> {
    type Matrix = T;
    type Vector = X;

    fn scalars() -> Vec<ScalarKind> {
        vec![scalar_kind::<T>()]
    }

    fn solve(
        task: &Task<'_, T>,
        options: &FactorOptions,
        progress: &Progress,
    ) -> Result<Solved<T>, Error> {
        let (symbolic, a) = (task.symbolic, task.a);
        let (b, nrhs) = (task.b.values(), task.b.ncols());
        let solve = SolveOptions::from(options);
        let refine_options = RefineOptions {
            solve: solve.clone(),
            ..RefineOptions::default()
        };
        let then = |factors: &Factors<T>, x: &mut Vec<T>| {
            let (begin, full) = (Instant::now(), factors.rank_details().is_full());
            let condition = full
                .then(|| factors.condition_estimate(&solve))
                .transpose()?;
            let condition_time = condition.map(|_| begin.elapsed());
            let check = task.rank_check;
            let check = check.then(|| factors.rank_check(CHECKED, &solve));
            let check = check.transpose()?;
            if let Some(output) = task.save.take() {
                output.write_with(|mut out| factors.save(&mut out))?;
            }
            let taken = begin.elapsed();
            let refinement = if task.refine {
                let scaled = Scaled::evenly(a);
                let done = refine(&scaled, factors, b, nrhs, Some(x), &refine_options)?;
                *x = done.0;
                Some(done.1)
            } else {
                None
            };
            Ok((condition, condition_time, taken, refinement, check))
        };
        let (mut solution, more) = solve_then(symbolic, a, b, nrhs, options, progress, then)?;
        let (condition, condition_time, taken, refinement, rank_check) = more;
        // It is no part of what x takes.
        solution.solve_time = solution.solve_time.saturating_sub(taken);
        Ok(Solved {
            solution,
            condition,
            condition_time,
            refinement,
            fallback: None,
            rank_check,
        })
    }
}

impl<T: MixedScalar, X: Scalar> Numbers for InTwo<T, X> {
    type Matrix = T;
    type Vector = X;

    fn scalars() -> Vec<ScalarKind> {
        vec![scalar_kind::<T::Single>(), scalar_kind::<T>()]
    }

    fn solve(
        task: &Task<'_, T>,
        options: &FactorOptions,
        progress: &Progress,
    ) -> Result<Solved<T>, Error> {
        let refine = RefineOptions::default();
        let (b, nrhs) = (task.b.values(), task.b.ncols());
        let mixed = solve_mixed(task.symbolic, task.a, b, nrhs, options, &refine, progress)?;
        let known = |r: &Refinement| r.trusted().then_some(r.condition);
        Ok(Solved {
            solution: mixed.solution,
            condition: mixed.refinement.as_ref().and_then(known),
            condition_time: None,
            refinement: mixed.refinement,
            fallback: mixed.fallback,
            rank_check: None,
        })
    }
}
