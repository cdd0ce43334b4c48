//! x where dense rows are split off: as by QR, and then corrected by its residual.
//!
//! x = P'^{-1} (Q'^H b)_1 for least squares, x = A^H P'^{-1} P'^{-H} b for the shortest x of a wide A (C. Paige, *An error analysis of a
//! method for solving matrix equations*, Math. Comp. 27, 1973: no worse than with Q'). Both lose digits where S is much closer to being
//! singular than W. A correction solves P'^H P' z = A^H (b - A x), or = b - A x, in the same precision: what it tends to does not
//! depend on the digits that P' has lost (A. Björck, *Stability analysis of the method of seminormal equations*, Linear Algebra Appl.
//! 88/89, 1987). The size of P'^{-H} A^H r, or of r, says whether it was good for anything.

use super::Split;
use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors};
use crate::rank::inverse_norm;
use crate::solve::{SolveOptions, SolvePlan, Sweep};
use treeqr_matrices::{RealScalar, Scalar, norm2};
use treeqr_runtime::Observer;

/// Corrections, at most.
const CORRECTIONS: usize = 3;
/// One that does not shrink the error by this is the last.
const WORTHWHILE: f64 = 0.5;

impl<T: FactorScalar> Factors<T> {
    /// The solutions for right-hand sides that come now.
    pub(crate) fn split_solve<O: Observer>(
        &self,
        split: &Split<T>,
        b: &[T],
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        if self.symbolic.transposed {
            return self.split_shortest(split, b, nrhs, options, observer);
        }
        let head = self.sparse_q_head(b, nrhs, options, observer)?;
        self.split_least_squares(split, &head, b, nrhs, options)
    }

    /// The solutions for those that were given to the factorization.
    pub(crate) fn split_solution(
        &self,
        split: &Split<T>,
        options: &SolveOptions,
    ) -> Result<Vec<T>, SolveError> {
        let heads = self.kept_heads();
        self.split_least_squares(split, &heads, &split.b, self.nrhs(), options)
    }

    /// From Q^H b of S.
    fn split_least_squares(
        &self,
        split: &Split<T>,
        heads: &[T],
        b: &[T],
        nrhs: usize,
        options: &SolveOptions,
    ) -> Result<Vec<T>, SolveError> {
        let (m, n) = (self.symbolic.nrows(), self.symbolic.ncols());
        let rows = &self.symbolic.dense_rows;
        let dense = (0..nrhs).flat_map(|c| rows.iter().map(move |&i| b[c * m + i as usize]));
        let frames = split.up(heads, dense, nrhs);
        let head = split.heads_of(&frames, nrhs);
        let mut x = self.split_solve_r(split, &head, nrhs, options)?;
        self.project(split, &mut x, nrhs);
        let step = |x: &[T]| -> Result<(Vec<T>, Vec<f64>), SolveError> {
            let mut g = vec![T::zero(); n * nrhs];
            for c in 0..nrhs {
                let mut r = b[c * m..(c + 1) * m].to_vec();
                split.a.mul_add(-T::one(), &x[c * n..(c + 1) * n], &mut r);
                let g = &mut g[c * n..(c + 1) * n];
                split.a.adjoint_mul_add(T::one(), &r, g);
            }
            let y = self.split_solve_r_adjoint(split, &g, nrhs, options, &())?;
            let errors = norms(&y, nrhs);
            Ok((y, errors))
        };
        let correct = |y: &[T]| {
            let mut z = self.split_solve_r(split, y, nrhs, options)?;
            self.project(split, &mut z, nrhs);
            Ok(z)
        };
        let sizes = norms(b, nrhs);
        corrected::<T>(x, nrhs, &sizes, step, correct)
    }

    /// For a wide A: x = A^H z with P'^H P' z = b. It is in the row space of A whatever digits P' has lost, which Q' would not be.
    fn split_shortest<O: Observer>(
        &self,
        split: &Split<T>,
        b: &[T],
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        let (m, n) = (self.symbolic.nrows(), self.symbolic.ncols());
        let mut wanted = b.to_vec();
        self.project(split, &mut wanted, nrhs);
        let y = self.split_solve_r_adjoint(split, &wanted, nrhs, options, observer)?;
        let z = self.split_solve_r(split, &y, nrhs, options)?;
        let image = |z: &[T]| {
            let mut x = vec![T::zero(); n * nrhs];
            for (x, z) in x.chunks_exact_mut(n).zip(z.chunks_exact(m)) {
                split.a.adjoint_mul_add(T::one(), z, x);
            }
            x
        };
        let step = |x: &[T]| -> Result<(Vec<T>, Vec<f64>), SolveError> {
            let mut r = wanted.clone();
            for (r, x) in r.chunks_exact_mut(m).zip(x.chunks_exact(n)) {
                split.a.mul_add(-T::one(), x, r);
            }
            self.project(split, &mut r, nrhs);
            let errors = norms(&r, nrhs);
            Ok((r, errors))
        };
        let correct = |r: &[T]| {
            let y = self.split_solve_r_adjoint(split, r, nrhs, options, &())?;
            // z itself may be so large that digits of x are lost in A^H z; its corrections are not.
            Ok(image(&self.split_solve_r(split, &y, nrhs, options)?))
        };
        let sizes = norms(b, nrhs);
        corrected::<T>(image(&z), nrhs, &sizes, step, correct)
    }

    /// What [`Self::split_solve`] shows to its observer: its first sweep, where that is one of the tree.
    pub(crate) fn plan_split(&self, nrhs: usize, options: &SolveOptions) -> SolvePlan {
        match (self.symbolic.transposed, &self.deficiency) {
            (false, _) => self.plan_sweep(Sweep::QAdjoint, nrhs, options),
            (true, None) => self.plan_sweep(Sweep::RAdjoint, nrhs, options),
            (true, Some(_)) => SolvePlan::nothing(nrhs),
        }
    }

    /// Takes away what lies in the null space of W, where shortest solutions are wanted.
    fn project(&self, split: &Split<T>, x: &mut [T], nrhs: usize) {
        if let Some(null) = &split.null {
            null.project(x, nrhs);
        }
    }

    /// Vectors that span the null space of W: for every dead column one that has 1 there, and what explains it in the live ones.
    pub(crate) fn null_vectors(&self) -> Result<Vec<T>, SolveError> {
        let split = self.split.as_ref().expect("there are dense rows");
        let (n, alive, nl) = (self.symbolic.work_cols(), split.revived(), split.live.len());
        let gone = &split.t.order()[alive..];
        let mut heads = vec![T::zero(); n * gone.len()];
        for (j, head) in heads.chunks_exact_mut(n).enumerate() {
            let at = alive + j;
            head[..nl].copy_from_slice(&split.y[at * nl..(at + 1) * nl]);
            head[nl..nl + alive].copy_from_slice(split.t.beside(j));
        }
        let options = SolveOptions::of_nobody();
        let mut z = self.split_solve_r(split, &heads, gone.len(), options)?;
        for (z, &e) in z.chunks_exact_mut(n).zip(gone) {
            z.iter_mut().for_each(|v| *v = -*v);
            z[split.dead[e as usize] as usize] = T::one();
        }
        Ok(z)
    }

    /// ||P'^{-1}|| from below, for W with columns of norm `largest`.
    pub(super) fn inverse_norm(&self, largest: f64) -> f64 {
        let split = self.split.as_ref().expect("there are dense rows");
        let options = SolveOptions::of_nobody();
        let adjoint = |v: &[T], w| self.split_solve_r_adjoint(split, v, w, options, &());
        let solve = |u: &[T], w| self.split_solve_r(split, u, w, options);
        // A run that fails says nothing good.
        inverse_norm(self.symbolic.work_cols(), largest, adjoint, solve).unwrap_or(f64::INFINITY)
    }
}

impl<T: FactorScalar> Split<T> {
    fn heads_of(&self, frames: &[T], nrhs: usize) -> Vec<T> {
        let n = self.live.len() + self.dead.len();
        let mut heads = vec![T::zero(); n * nrhs];
        let each = frames.chunks_exact(self.rows());
        for (head, frame) in heads.chunks_exact_mut(n).zip(each) {
            self.head_of(frame, head);
        }
        heads
    }
}

/// The norm of every column.
fn norms<T: Scalar>(x: &[T], ncols: usize) -> Vec<f64> {
    let n = x.len() / ncols.max(1);
    (0..ncols)
        .map(|c| norm2(&x[c * n..(c + 1) * n]).to_f64())
        .collect()
}

/// x, corrected as long as that helps, each column for itself. `step` gives what the correction is made of, and how large the error
/// is; what is `EPSILON` of `sizes` is rounding.
fn corrected<T: FactorScalar>(
    mut x: Vec<T>,
    nrhs: usize,
    sizes: &[f64],
    step: impl Fn(&[T]) -> Result<(Vec<T>, Vec<f64>), SolveError>,
    correct: impl Fn(&[T]) -> Result<Vec<T>, SolveError>,
) -> Result<Vec<T>, SolveError> {
    let n = x.len() / nrhs.max(1);
    let epsilon = <T::Real as RealScalar>::EPSILON.to_f64();
    let (mut y, mut errors) = step(&x)?;
    let open = |error: f64, size: f64| error > epsilon * size;
    let mut more: Vec<bool> = errors
        .iter()
        .zip(sizes)
        .map(|(&e, &s)| open(e, s))
        .collect();
    for _ in 0..CORRECTIONS {
        if !more.contains(&true) {
            break;
        }
        let z = correct(&y)?;
        let mut next = x.clone();
        for c in (0..nrhs).filter(|&c| more[c]) {
            let column = c * n..(c + 1) * n;
            let each = next[column.clone()].iter_mut().zip(&z[column]);
            each.for_each(|(x, &z)| *x += z);
        }
        let smaller;
        (y, smaller) = step(&next)?;
        for c in 0..nrhs {
            if !more[c] {
                continue;
            }
            if smaller[c] < errors[c] {
                let column = c * n..(c + 1) * n;
                x[column.clone()].copy_from_slice(&next[column]);
            }
            more[c] = smaller[c] < WORTHWHILE * errors[c] && open(smaller[c], sizes[c]);
            errors[c] = errors[c].min(smaller[c]);
        }
    }
    Ok(x)
}
