//! The condition number of R in the 1-norm, which is that of W up to a factor of the order: ||R||_1 as it is, ||R^{-1}||_1
//! estimated from a few solves.
//!
//! N. Higham, *FORTRAN codes for estimating the one-norm of a real or complex matrix, with applications to condition
//! estimation*, ACM TOMS 14, 1988, after W. Hager 1984; it is what LAPACK's condition numbers are from.

use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors};
use crate::solve::SolveOptions;
use treeqr_matrices::{RealScalar, Scalar};

/// Rounds of two solves; mostly two are made.
const ROUNDS: usize = 5;

impl<T: FactorScalar> Factors<T> {
    /// An estimate of ||R||_1 ||R^{-1}||_1, seldom less than a third of it and never more but for rounding. About five solves
    /// with R and as many with R^H. Q is not needed.
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
        let inverse = |x: &[T]| self.solve_kept_r(x, x.len() / n.max(1), options, &());
        let adjoint = |x: &[T]| self.solve_kept_r_adjoint(x, 1, options, &());
        let mut x = vec![T::from_f64(1.0 / n as f64, 0.0); n];
        // Shows what the rounds below can be misled by. Together with the first: reading R is what takes the time.
        let slope = 1.0 / (n.max(2) - 1) as f64;
        x.extend((0..n).map(|i| {
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            T::from_f64(sign * (1.0 + i as f64 * slope), 0.0)
        }));
        let mut v = inverse(&x)?;
        let other = 2.0 * norm1(&v[n..]) / (3 * n) as f64;
        x.truncate(n);
        v.truncate(n);
        let mut estimate = norm1(&v);
        let mut last = None;
        for _ in 0..ROUNDS {
            let directions: Vec<T> = v.iter().map(|&v| direction(v)).collect();
            let gradient = adjoint(&directions)?;
            let sizes = gradient.iter().map(|g| g.abs().to_f64());
            let Some((j, _)) = sizes.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)) else {
                break;
            };
            if last == Some(j) {
                break;
            }
            last = Some(j);
            x.fill(T::zero());
            x[j] = T::one();
            v = inverse(&x)?;
            let next = norm1(&v);
            if next <= estimate {
                break;
            }
            estimate = next;
        }
        Ok(self.r_norm1() * estimate.max(other))
    }

    /// ||R||_1 of R as it is kept; with dense rows split off the largest 2-norm of a column of W, which is one of R, since that R is
    /// never formed. O(nnz(R)).
    fn r_norm1(&self) -> f64 {
        if let Some(split) = &self.split {
            return split.largest_column(self.symbolic.transposed);
        }
        let mut sums = vec![0f64; self.symbolic.work_cols()];
        for &(col, value) in self.singleton_rows.iter().flatten() {
            sums[col as usize] += value.abs().to_f64();
        }
        let (plan, tree) = (self.plan(), &self.symbolic.tree);
        for (f, front) in tree.fronts.iter().enumerate() {
            let r = self.r(&plan, f);
            let columns = &tree.cols(f)[..front.n as usize];
            for (j, &position) in columns.iter().enumerate() {
                let sum = &mut sums[tree.col_order[position as usize] as usize];
                r.column(j, |_, values| {
                    *sum += values.iter().map(|v| v.abs().to_f64()).sum::<f64>();
                });
            }
        }
        sums.into_iter().fold(0.0, f64::max)
    }
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
