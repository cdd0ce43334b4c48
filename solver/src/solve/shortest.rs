//! The shortest solutions for a wide A from R alone, for factors without Q.
//!
//! With W = A^H = Q R the shortest x with A x = b is Q R^{-H} b = W z with R^H R z = b, the semi-normal equations of second kind. Its error is
//! about that of a solution with Q, eps cond(A), and only its residual is larger, by cond(A) (J. W. Demmel and N. J. Higham, *Improved error
//! bounds for underdetermined system solvers*, SIAM J. Matrix Anal. Appl. 14, 1993, section 4). A correction for b - A x mends that: in the norm
//! of R^{-H} r it contracts by 2 eps cond(A). Without full rank z is zero in dead columns and W z in the range of the live ones; the same
//! holds with their condition.
//!
//! What is left of b after a correction says whether it was enough. Where it was not, R says too little about A, and Q is needed.

use super::options::SolveOptions;
use super::plan::SolvePlan;
use super::quality::CONSISTENT;
use crate::error::SolveError;
use crate::numeric::magnitude::{ordinary_columns, shifted};
use crate::numeric::{FactorScalar, Factors, check_rhs};
use std::borrow::Cow;
use treeqr_matrices::{Csc, RealScalar, norm2};
use treeqr_runtime::Observer;

/// A residual of so many times eps (||A|| ||x|| + ||b||) is as small as one with Q.
const ENOUGH: f64 = 0.1;
/// One of so many, or of more than is called consistent, is too large after a correction.
const TOO_MUCH: f64 = 64.0;
/// Solutions of the semi-normal equations for a right-hand side: x, and a correction.
const STEPS: usize = 2;

/// The shortest solutions for some right-hand sides, step by step: each step is a run of its own, for somebody to look on.
///
/// ```text
/// let mut shortest = Shortest::new(&factors, &a, &b, nrhs, &options)?;
/// while !shortest.is_done() {
///     shortest.step(&observer)?;
/// }
/// let x = shortest.finish()?;
/// ```
pub struct Shortest<'a, T: FactorScalar> {
    factors: &'a Factors<T>,
    options: &'a SolveOptions,
    nrhs: usize,
    /// A as it is factorized, over a power of two, and the right-hand sides over powers of their own.
    a: Cow<'a, Csc<T>>,
    b: Cow<'a, [T]>,
    powers: Vec<i32>,
    norm: f64,
    x: Vec<T>,
    /// b - A x.
    left: Vec<T>,
    /// Which right-hand sides are in the range of A, without full rank.
    solvable: Option<Vec<bool>>,
    steps: usize,
}

impl<'a, T: FactorScalar> Shortest<'a, T> {
    /// For `nrhs` right-hand sides, columns of as many entries as A has rows; `a` is the matrix that was factorized. O(nnz) where its values
    /// are far from 1.
    ///
    /// # Errors
    /// [`SolveError`]: a wrong length, values that are not finite; [`SolveError::NotRefined`] where the live columns are too ill conditioned;
    /// [`SolveError::DenseRows`] where dense rows are split off.
    ///
    /// # Panics
    /// When A is not wide, or has another shape than the factorized matrix.
    pub fn new(
        factors: &'a Factors<T>,
        a: &'a Csc<T>,
        b: &'a [T],
        nrhs: usize,
        options: &'a SolveOptions,
    ) -> Result<Self, SolveError> {
        let symbolic = &factors.symbolic;
        assert!(symbolic.transposed, "A is not wide");
        let shape = (symbolic.nrows(), symbolic.ncols());
        assert_eq!((a.nrows(), a.ncols()), shape, "factors");
        check_rhs(b, a.nrows(), nrhs)?;
        factors.check_whole()?;
        factors.check_unsplit("x without Q")?;
        let a = match factors.exponent {
            0 => Cow::Borrowed(a),
            by => {
                let values = a.values().iter().map(|&v| shifted(v, -by)).collect();
                let scaled = Csc::new(a.pattern().clone(), values);
                Cow::Owned(scaled.expect("a value for each"))
            }
        };
        let (b, powers) = ordinary_columns(b, a.nrows());
        let shortest = Shortest {
            norm: a.norm_frobenius().to_f64(),
            x: vec![T::zero(); a.ncols() * nrhs],
            left: b.to_vec(),
            solvable: None,
            steps: 0,
            factors,
            options,
            nrhs,
            a,
            b,
            powers,
        };
        let digits = T::Real::EPSILON.to_f64().sqrt();
        let condition = factors.rank_details().condition;
        if factors.deficiency.is_some() && condition.is_none_or(|c| c * digits > 1.0) {
            return Err(shortest.too_little());
        }
        Ok(shortest)
    }

    /// What the next step will run. Nothing is seen of it without full rank. O(fronts).
    pub fn plan(&self) -> SolvePlan {
        match self.factors.deficiency {
            None => self.factors.plan_kept_normal(self.nrhs, self.options),
            Some(_) => SolvePlan::nothing(self.nrhs),
        }
    }

    /// x, or a correction. 4 nnz(R) + 4 nnz(A) flops each.
    ///
    /// # Errors
    /// Whatever ends the run.
    pub fn step<O: Observer>(&mut self, observer: &O) -> Result<(), SolveError> {
        let (factors, nrhs) = (self.factors, self.nrhs);
        let z = match &factors.deficiency {
            None => {
                let [_, z] = factors.solve_kept_normal(&self.left, nrhs, self.options, observer)?;
                z
            }
            Some(deficiency) => {
                let known = self.solvable.take();
                let (y, solvable) = factors.nearest_head(
                    deficiency,
                    (&self.left, nrhs),
                    known.as_deref(),
                    self.options,
                )?;
                self.solvable = Some(known.unwrap_or(solvable));
                deficiency.solve_r(factors, &y, nrhs)
            }
        };
        let (m, n) = (self.a.nrows(), self.a.ncols());
        self.left.copy_from_slice(&self.b);
        let columns = self
            .x
            .chunks_exact_mut(n.max(1))
            .zip(z.chunks_exact(m.max(1)));
        for ((x, z), left) in columns.zip(self.left.chunks_exact_mut(m.max(1))) {
            self.a.adjoint_mul_add(T::one(), z, x);
            self.a.mul_add(-T::one(), x, left);
        }
        self.steps += 1;
        Ok(())
    }

    /// Whether there is nothing to be corrected any more.
    pub fn is_done(&self) -> bool {
        let is_one = |&solvable: &bool| solvable;
        let all = self.solvable.as_ref().is_none_or(|s| s.iter().all(is_one));
        let enough = ENOUGH * T::Real::EPSILON.to_f64();
        self.steps >= STEPS || self.steps > 0 && all && self.is_left_at_most(enough)
    }

    /// x: the solutions, one column after the other.
    ///
    /// # Errors
    /// [`SolveError::NotRefined`] where a correction was not enough; [`SolveError::SolutionOverflow`].
    pub fn finish(self) -> Result<Vec<T>, SolveError> {
        let too_much = CONSISTENT.max(TOO_MUCH * T::Real::EPSILON.to_f64());
        if !self.is_left_at_most(too_much) {
            return Err(self.too_little());
        }
        let n = self.a.ncols();
        let x = self.factors.unscaled(self.x, n, &self.powers);
        self.factors.finite(x, n)
    }

    /// Whether each residual of a right-hand side in the range of A is at most so many times ||A|| ||x|| + ||b||.
    fn is_left_at_most(&self, bound: f64) -> bool {
        let (m, n) = (self.a.nrows().max(1), self.a.ncols().max(1));
        let length = |v: &[T]| norm2(v).to_f64();
        let vectors = self.x.chunks_exact(n).zip(self.b.chunks_exact(m));
        let vectors = vectors.zip(self.left.chunks_exact(m)).enumerate();
        let is_solvable = |k: usize| self.solvable.as_ref().is_none_or(|s| s[k]);
        vectors
            .filter(|(k, _)| is_solvable(*k))
            .all(|(_, ((x, b), left))| length(left) <= bound * (self.norm * length(x) + length(b)))
    }

    fn too_little(&self) -> SolveError {
        let known = self.factors.rank_details().condition;
        let estimate = || self.factors.condition_estimate(self.options).ok();
        SolveError::NotRefined {
            condition: known.or_else(estimate).unwrap_or(f64::INFINITY),
            corrections: self.steps.saturating_sub(1),
        }
    }
}

impl<T: FactorScalar> Factors<T> {
    /// The shortest solutions for a wide A from R alone: `a` is the matrix that was factorized. 4 nnz(R) + 4 nnz(A) flops each, twice where
    /// a correction is needed.
    ///
    /// # Errors
    /// [`SolveError`]: as [`Shortest::new`] and [`Shortest::finish`], and whatever ends a run.
    ///
    /// # Panics
    /// As [`Shortest::new`].
    pub fn solve_shortest(
        &self,
        a: &Csc<T>,
        b: &[T],
        nrhs: usize,
        options: &SolveOptions,
    ) -> Result<Vec<T>, SolveError> {
        let mut shortest = Shortest::new(self, a, b, nrhs, options)?;
        while !shortest.is_done() {
            shortest.step(&())?;
        }
        shortest.finish()
    }
}
