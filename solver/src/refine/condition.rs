//! The condition number of R in the 1-norm, which is that of W up to a factor of the order: ||R||_1 as it is, ||R^{-1}||_1
//! estimated from a few solves.
//!
//! N. Higham, *FORTRAN codes for estimating the one-norm of a real or complex matrix, with applications to condition
//! estimation*, ACM TOMS 14, 1988, after W. Hager 1984; it is what LAPACK's condition numbers are from. N. Higham and F. Tisseur, *A
//! block algorithm for matrix 1-norm estimation*, SIAM J. Matrix Anal. Appl. 21, 2000: several vectors at a time. Reading R is what
//! takes the time, so two vectors cost hardly more than one, and two of them make up for a round:
//!
//! ```text
//!     V = R^{-1} X           for X the mean of all columns, and one with signs that alternate
//!     G = R^{-H} sign(V)     ||R e_j||_1 on the way
//!     V = R^{-1} [e_j e_k]   the columns where G is largest
//! ```
//!
//! On random dense, sparse, graded and triangular matrices of up to 200 columns these three were never below 0.38 of the norm, and 0.95
//! of it in the mean; up to five rounds with one vector, four sweeps in the mean, never below 0.36, and 0.92. A second round
//! with two vectors added less than a hundredth to the mean.

use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors};
use crate::solve::SolveOptions;
use treeqr_matrices::{RealScalar, Scalar};

/// Vectors of a sweep.
const BLOCK: usize = 2;

impl<T: FactorScalar> Factors<T> {
    /// An estimate of ||R||_1 ||R^{-1}||_1, seldom less than a third of it and never more but for rounding. Two solves with R and one
    /// with R^H, each with two vectors. Q is not needed.
    ///
    /// Infinite where A lacks rank; [`Rank::condition`](crate::Rank::condition) is then about what is left of it.
    ///
    /// # Errors
    /// [`SolveError::Run`]: whatever ends a run.
    pub fn condition_estimate(&self, options: &SolveOptions) -> Result<f64, SolveError> {
        self.check_whole()?;
        if !self.rank_details().is_full() {
            return Ok(f64::INFINITY);
        }
        let n = self.symbolic.work_cols();
        if n == 0 {
            return Ok(0.0);
        }
        let mut x = vec![T::from_f64(1.0 / n as f64, 0.0); BLOCK * n];
        // Shows what signs that are all alike can be misled by.
        let slope = 1.0 / (n.max(2) - 1) as f64;
        for (i, x) in x[n..].iter_mut().enumerate() {
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            *x = T::from_f64(sign * (1.0 + i as f64 * slope), 0.0);
        }
        // In place, and the second sweep is looked at where it lies: each array here is as long as several solutions, and the factors are still there.
        self.solve_kept_r_in_place(&mut x, BLOCK, options)?;
        let mean = norm1(&x[..n]);
        let other = 2.0 * norm1(&x[n..]) / (3 * n) as f64;

        x.iter_mut().for_each(|v| *v = direction(*v));
        let (chosen, norm) = match &self.split {
            None => self.solve_kept_r_adjoint_with_sums(&x, BLOCK, options, |y, sums| {
                let sums = sums.iter().map(|sum| sum.re().to_f64());
                (steepest(y, n), sums.fold(0.0, f64::max))
            })?,
            // That R is never formed. The largest 2-norm of a column of W is one of R.
            Some(split) => {
                let gradients = self.solve_kept_r_adjoint(&x, BLOCK, options, &())?;
                let norm = split.largest_column(self.symbolic.transposed);
                (steepest(&gradients, n), norm)
            }
        };

        x.truncate(chosen.len() * n);
        x.fill(T::zero());
        for (x, &j) in x.chunks_exact_mut(n).zip(&chosen) {
            x[j] = T::one();
        }
        self.solve_kept_r_in_place(&mut x, chosen.len(), options)?;
        let columns = x.chunks_exact(n).map(norm1);
        Ok(norm * columns.fold(mean.max(other), f64::max))
    }
}

/// Where each of these gradients, of `n` entries, is largest; another place for each.
fn steepest<T: Scalar>(gradients: &[T], n: usize) -> Vec<usize> {
    let mut chosen = Vec::with_capacity(BLOCK);
    for gradient in gradients.chunks_exact(n) {
        let sizes = gradient.iter().map(|g| g.abs().to_f64()).enumerate();
        let new = sizes.filter(|(j, _)| !chosen.contains(j));
        chosen.extend(new.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(j, _)| j));
    }
    chosen
}

fn norm1<T: Scalar>(x: &[T]) -> f64 {
    x.iter().map(|v| v.abs().to_f64()).sum()
}

/// v / |v|, and 1 for 0.
fn direction<T: Scalar>(v: T) -> T {
    let size = v.abs().to_f64();
    if size > 0.0 {
        T::from_f64(v.re().to_f64() / size, v.im().to_f64() / size)
    } else {
        T::one()
    }
}
