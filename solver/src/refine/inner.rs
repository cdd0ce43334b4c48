//! R^{-1} and R^{-H} of factors of one precision, for vectors of another.
//!
//! Vectors are scaled to norm 1 on their way in, so that single precision holds them; all columns go through the tree
//! together.

use crate::error::SolveError;
use crate::numeric::magnitude::shift;
use crate::numeric::{FactorScalar, Factors};
use crate::solve::SolveOptions;
use treeqr_matrices::{RealScalar, Scalar, norm2};

/// R as a preconditioner.
pub(super) struct Inner<'a, L> {
    pub factors: &'a Factors<L>,
    /// The R that is wanted is this one over 2 to this power.
    pub exponent: i32,
    pub options: &'a SolveOptions,
}

/// For each column of S: the norm of t = R^{-H} s, and z = R^{-1} t.
pub(super) struct Solved<T> {
    pub t_norms: Vec<f64>,
    pub z: Vec<T>,
}

impl<L: FactorScalar> Inner<'_, L> {
    /// Solves R^H R z = s for every column.
    pub fn solve<T: FactorScalar>(&self, s: &[T], ncols: usize) -> Result<Solved<T>, SolveError> {
        let n = s.len() / ncols.max(1);
        let exponent = self.exponent - self.factors.exponent;
        let norms: Vec<f64> = s.chunks_exact(n).map(|s| norm2(s).to_f64()).collect();
        let mut low: Vec<L> = Vec::with_capacity(s.len());
        for (column, &norm) in s.chunks_exact(n).zip(&norms) {
            let by = if norm > 0.0 { 1.0 / norm } else { 0.0 };
            low.extend(column.iter().map(|v| cast::<T, L>(*v, by)));
        }
        let [t, low] = self
            .factors
            .solve_kept_normal(&low, ncols, self.options, &())?;
        let t_norms = t.chunks_exact(n).zip(&norms);
        let t_norms = t_norms.map(|(t, norm)| shift(norm2(t).to_f64() * norm, exponent));
        let t_norms = t_norms.collect();
        let mut z = Vec::with_capacity(s.len());
        for (column, &norm) in low.chunks_exact(n).zip(&norms) {
            let by = shift(norm, 2 * exponent);
            z.extend(column.iter().map(|v| cast::<L, T>(*v, by)));
        }
        Ok(Solved { t_norms, z })
    }
}

/// The number nearest to v times a factor.
fn cast<T: Scalar, U: Scalar>(v: T, by: f64) -> U {
    U::from_f64(v.re().to_f64() * by, v.im().to_f64() * by)
}
