//! How good a solution is, computed from A, b and x alone.

use treeqr_matrices::{Csc, RealScalar, Scalar, norm2};

/// Norms and residuals of one solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// ||x||.
    pub solution_norm: f64,
    /// ||b - A x||.
    pub residual_norm: f64,
    /// For a least-squares problem ||A^H r|| / (||A||_F ||r||), which is zero at the solution. Where A x = b is consistent
    /// (and always when A is not tall) ||r|| / (||A||_F ||x|| + ||b||), the backward error.
    pub normal_residual: f64,
    /// Which of the two `normal_residual` is: true for the backward error.
    pub consistent: bool,
}

/// A residual below this part of ||A|| ||x|| + ||b|| is rounding: A^H r would only measure noise.
pub(crate) const CONSISTENT: f64 = 1e-13;

/// The quality of x as a solution for b. O(nnz).
///
/// # Panics
/// When x or b does not have the length that A asks for.
pub fn quality<T: Scalar>(a: &Csc<T>, x: &[T], b: &[T]) -> Quality {
    judge(a, x, b, a.nrows() <= a.ncols())
}

/// The same where the rank is not full: then A x = b may have no solution whatever the shape of A, and x is held against the
/// least-squares problem.
///
/// # Panics
/// As [`quality`].
pub fn quality_deficient<T: Scalar>(a: &Csc<T>, x: &[T], b: &[T]) -> Quality {
    judge(a, x, b, false)
}

fn judge<T: Scalar>(a: &Csc<T>, x: &[T], b: &[T], solvable: bool) -> Quality {
    let mut r = b.to_vec();
    a.mul_add(-T::one(), x, &mut r);
    let (norm_a, norm_x) = (a.norm_frobenius().to_f64(), norm2(x).to_f64());
    let residual_norm = norm2(&r).to_f64();
    let scale = norm_a * norm_x + norm2(b).to_f64();
    let backward = if residual_norm == 0.0 {
        0.0
    } else {
        residual_norm / scale
    };
    let limit = CONSISTENT.max(8.0 * <T::Real as RealScalar>::EPSILON.to_f64());
    let consistent = solvable || backward <= limit;
    let normal_residual = if consistent {
        backward
    } else {
        let mut g = vec![T::zero(); a.ncols()];
        a.adjoint_mul_add(T::one(), &r, &mut g);
        norm2(&g).to_f64() / (norm_a * residual_norm)
    };
    Quality {
        solution_norm: norm_x,
        residual_norm,
        normal_residual,
        consistent,
    }
}
