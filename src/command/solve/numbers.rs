//! In which numbers a system is solved: real or complex by what the files hold, single or double by `--precision`.
//!
//! A real b with a complex A is read as complex. A complex b with a real A is solved as two real right-hand sides, its real
//! and its imaginary part: that is the same x for a quarter of the flops.

use super::super::cli::SolveArgs;
use super::super::failure::Failure;
use super::super::input::Precision;
use super::Outcome;
use super::work::{Numbers, solve_in};
use treeqr::matrices::Source;
use treeqr::{
    Csc, Dense, Error, FactorOptions, FactorScalar, Fallback, MixedScalar, Progress, RefineOptions,
    Refinement, Scalar, Solution, c32, c64, solve_analysed, solve_mixed,
};

/// How a system in T is solved.
type Solved<T> = (Solution<T>, Option<Refinement>, Option<Fallback>);

/// Reads, solves, and writes x, in the numbers that the files and the flag ask for.
pub fn solve(args: &SolveArgs) -> Result<Outcome, Failure> {
    let complex = Source::from(args.matrix.clone()).is_complex();
    let rhs = args.rhs.clone().map(Source::from);
    let split = !complex && rhs.is_some_and(|rhs| rhs.is_complex());
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

/// A in T, b and x in X, and all in one precision.
struct InOne<T, X>(std::marker::PhantomData<(T, X)>);

/// A in T, b and x in X, factorized in single precision.
struct InTwo<T, X>(std::marker::PhantomData<(T, X)>);

impl<T: FactorScalar, X: Scalar> Numbers for InOne<T, X> {
    type Matrix = T;
    type Vector = X;

    fn solve(
        symbolic: &std::sync::Arc<treeqr::Symbolic>,
        a: &Csc<T>,
        b: &Dense<T>,
        options: &FactorOptions,
        progress: &Progress,
    ) -> Result<Solved<T>, Error> {
        let solution = solve_analysed(symbolic, a, b.values(), b.ncols(), options, progress)?;
        Ok((solution, None, None))
    }
}

impl<T: MixedScalar, X: Scalar> Numbers for InTwo<T, X> {
    type Matrix = T;
    type Vector = X;

    fn solve(
        symbolic: &std::sync::Arc<treeqr::Symbolic>,
        a: &Csc<T>,
        b: &Dense<T>,
        options: &FactorOptions,
        progress: &Progress,
    ) -> Result<Solved<T>, Error> {
        let refine = RefineOptions::default();
        let (values, nrhs) = (b.values(), b.ncols());
        let mixed = solve_mixed(symbolic, a, values, nrhs, options, &refine, progress)?;
        Ok((mixed.solution, mixed.refinement, mixed.fallback))
    }
}
