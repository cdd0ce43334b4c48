//! Whether R says enough about A: where it shrinks vectors most, A must do the same.
//!
//! Two steps of inverse iteration with R^H R find a w on which R is small. R of a matrix that is singular to R's precision
//! is small there by rounding alone, and then A w, computed in A's precision, is something else: larger by about the root of
//! the order, or smaller by as much as A is closer to being singular. A solution along w would be arbitrary, and its residual
//! would not show it.

use super::inner::Inner;
use crate::error::SolveError;
use crate::numeric::FactorScalar;
use treeqr_matrices::{Csc, RealScalar, Scalar, norm2};

/// What the test found.
pub(super) struct Trust {
    /// From below: ||R^{-1}||.
    pub inverse_norm: f64,
    /// ||W w|| / ||R w||.
    pub isometry: f64,
}

/// Rounds of inverse iteration. The first already magnifies what R^{-1} magnifies most by the square of it.
const ROUNDS: usize = 2;

/// Tests R on one vector. The cost of two corrections.
pub(super) fn test<T: FactorScalar, L: FactorScalar>(
    a: &Csc<T>,
    wide: bool,
    inner: &Inner<'_, L>,
) -> Result<Trust, SolveError> {
    let n = a.nrows().min(a.ncols());
    let mut w: Vec<T> = signs(n);
    let mut trust = Trust {
        inverse_norm: 0.0,
        isometry: 1.0,
    };
    for _ in 0..ROUNDS {
        let solved = inner.solve(&w, 1)?;
        w = solved.z;
        let (t, norm) = (solved.t_norms[0], norm2(&w).to_f64());
        trust.inverse_norm = norm / t;
        let image = norm2(&times_w(a, wide, &w)).to_f64();
        trust.isometry = image / t;
        // NaN ends here too.
        if !(norm > 0.0 && norm.is_finite()) {
            break;
        }
        let by = 1.0 / norm;
        w.iter_mut()
            .for_each(|v| *v = v.scale(T::from_f64(by, 0.0).re()));
    }
    Ok(trust)
}

/// W p.
pub(super) fn times_w<T: Scalar>(a: &Csc<T>, wide: bool, p: &[T]) -> Vec<T> {
    if wide {
        let mut q = vec![T::zero(); a.ncols()];
        a.adjoint_mul_add(T::one(), p, &mut q);
        q
    } else {
        let mut q = vec![T::zero(); a.nrows()];
        a.mul_add(T::one(), p, &mut q);
        q
    }
}

/// A vector of 1 and -1 without any structure, always the same.
fn signs<T: Scalar>(n: usize) -> Vec<T> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let sign = |_| {
        // Marsaglia's xorshift.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if state >> 63 == 0 {
            T::one()
        } else {
            -T::one()
        }
    };
    (0..n).map(sign).collect()
}
