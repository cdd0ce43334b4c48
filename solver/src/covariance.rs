//! Entries of (A^H A)^{-1} = R^{-1} R^{-H}: variances and covariances of a least-squares solution, up to the variance of the
//! observations.
//!
//! Takes R of a tall or square A; gives columns, or the diagonal, by solves with R^H and R for blocks of unit vectors: 2 nnz(R)
//! flops an entry of the diagonal, twice that a column. A. Björck, *Numerical Methods for Least Squares Problems*, 1996,
//! section 2.8.3.

use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors};
use crate::solve::SolveOptions;
use treeqr_matrices::{RealScalar, norm2};

/// Unit vectors that are solved for together.
const BLOCK: usize = 64;

impl<T: FactorScalar> Factors<T> {
    /// Columns of (A^H A)^{-1}, one after the other: entry i of that for column j, times the variance of the observations, is
    /// the covariance of x_i and x_j.
    ///
    /// # Errors
    /// [`SolveError::RankDeficient`], since A^H A is singular then; [`SolveError::Run`]: whatever ends a run.
    ///
    /// # Panics
    /// When A is wide, where A^H A is singular, or when a column is none of A.
    pub fn covariance_columns(
        &self,
        columns: &[usize],
        options: &SolveOptions,
    ) -> Result<Vec<T>, SolveError> {
        self.check_rank()?;
        let mut out = Vec::with_capacity(self.symbolic.ncols() * columns.len());
        for block in columns.chunks(BLOCK) {
            let y = self.solve_r_adjoint_with(&self.units(block), block.len(), options, &())?;
            out.extend(self.solve_r_with(&y, block.len(), options, &())?);
        }
        Ok(out)
    }

    /// Diagonal entries of (A^H A)^{-1}: ||R^{-H} e_j||^2. The standard error of x_j is the root of that times the variance of the
    /// observations, which ||b - A x||^2 / (m - n) estimates.
    ///
    /// # Errors
    /// As [`Self::covariance_columns`].
    ///
    /// # Panics
    /// As [`Self::covariance_columns`].
    pub fn variances(
        &self,
        columns: &[usize],
        options: &SolveOptions,
    ) -> Result<Vec<f64>, SolveError> {
        self.check_rank()?;
        let n = self.symbolic.ncols();
        let mut out = Vec::with_capacity(columns.len());
        for block in columns.chunks(BLOCK) {
            let y = self.solve_r_adjoint_with(&self.units(block), block.len(), options, &())?;
            out.extend(y.chunks_exact(n).map(|y| norm2(y).to_f64().powi(2)));
        }
        Ok(out)
    }

    fn check_rank(&self) -> Result<(), SolveError> {
        self.check_whole()?;
        let rank = self.rank_details();
        match rank.dead.first() {
            None => Ok(()),
            Some(&column) => Err(SolveError::RankDeficient {
                what: "column",
                index: column as usize + 1,
                pivot: 0.0,
                tolerance: rank.tolerance,
            }),
        }
    }

    fn units(&self, columns: &[usize]) -> Vec<T> {
        assert!(!self.symbolic.transposed(), "A^H A of a wide A is singular");
        let n = self.symbolic.ncols();
        let mut units = vec![T::zero(); n * columns.len()];
        for (k, &column) in columns.iter().enumerate() {
            assert!(column < n, "column {column} of {n}");
            units[k * n + column] = T::one();
        }
        units
    }
}
