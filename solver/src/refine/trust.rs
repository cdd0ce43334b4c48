//! Whether R says enough about A: where it shrinks vectors most, A must do the same.
//!
//! Two steps of inverse iteration with R^H R find a w on which R is small. R of a matrix that is singular to R's precision
//! is small there by rounding alone, and then A w, computed in A's precision, is something else: larger by about the root of
//! the order, or smaller by as much as A is closer to being singular. A solution along w would be arbitrary, and its residual
//! would not show it.

use crate::numeric::FactorScalar;
use treeqr_matrices::{Csc, RealScalar, Scalar, norm2};

/// What the test found.
#[derive(Clone, Copy)]
pub(super) struct Trust {
    /// From below: ||R^{-1}||.
    pub inverse_norm: f64,
    /// ||W w|| / ||R w||.
    pub isometry: f64,
}

/// Rounds of inverse iteration. The first already magnifies what R^{-1} magnifies most by the square of it.
const ROUNDS: usize = 2;

/// A test on its way: its vector goes through the tree beside those of the corrections, which reads R once for all of them.
pub(super) struct Probe<T> {
    w: Vec<T>,
    rounds: usize,
    found: Trust,
}

impl<T: FactorScalar> Probe<T> {
    pub fn new(a: &Csc<T>) -> Self {
        Probe {
            w: signs(a.nrows().min(a.ncols())),
            rounds: ROUNDS,
            found: Trust {
                inverse_norm: 0.0,
                isometry: 1.0,
            },
        }
    }

    /// What R^H R z = w is to be solved for next; nothing when the test is over.
    pub fn wants(&self) -> Option<&[T]> {
        (self.rounds > 0).then_some(&self.w)
    }

    /// What was found so far.
    pub fn found(&self) -> Trust {
        self.found
    }

    /// Takes z, and the norm of R^{-H} w.
    pub fn take(&mut self, a: &Csc<T>, wide: bool, z: &[T], t: f64) {
        let norm = norm2(z).to_f64();
        let image = norm2(&times_w(a, wide, z)).to_f64();
        self.found = Trust {
            inverse_norm: norm / t,
            isometry: image / t,
        };
        self.rounds -= 1;
        // NaN ends here too.
        if !(norm > 0.0 && norm.is_finite()) {
            self.rounds = 0;
            return;
        }
        let by = T::from_f64(1.0 / norm, 0.0).re();
        self.w.clear();
        self.w.extend(z.iter().map(|v| v.scale(by)));
    }
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
