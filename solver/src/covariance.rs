//! Entries of (A^H A)^{-1} = R^{-1} R^{-H}: variances and covariances of a least-squares solution, up to the variance of the
//! observations.
//!
//! Takes R of a tall or square A; gives columns, or the diagonal, by solves with R^H and R for blocks of unit vectors, of which R^H sees only
//! the part of the tree above them: 2 nnz(R) flops an entry of the diagonal at most, twice that a column. For many entries of the
//! diagonal the sparse inverse subset is cheaper. A. Björck, *Numerical Methods for Least Squares Problems*, 1996, section 2.8.3.

use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors};
use crate::solve::SolveOptions;
use treeqr_matrices::{Csc, RealScalar, norm2};

/// Unit vectors that are solved for together.
const BLOCK: usize = 64;

impl<T: FactorScalar> Factors<T> {
    /// Columns of (A^H A)^{-1}, one after the other: entry i of that for column j, times the variance of the observations, is
    /// the covariance of x_i and x_j. [`Self::inverse_subset`] has the entries on the pattern of R all at once.
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
        self.check_inverse()?;
        let mut out = Vec::with_capacity(self.symbolic.ncols() * columns.len());
        for block in columns.chunks(BLOCK) {
            let y = self.solve_r_adjoint_sparse(&self.units(block), options, &())?;
            out.extend(self.solve_r_with(&y, block.len(), options, &())?);
        }
        Ok(out)
    }

    /// Diagonal entries of (A^H A)^{-1}: ||R^{-H} e_j||^2, or from [`Self::inverse_subset`] where that takes fewer flops. The standard
    /// error of x_j is the root of that times the variance of the observations, which ||b - A x||^2 / (m - n) estimates.
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
        self.check_inverse()?;
        let n = self.symbolic.ncols();
        for &column in columns {
            assert!(column < n, "column {column} of {n}");
        }
        let place = self.places();
        if self.inverse_subset_is_cheaper(columns, &place) {
            let all = self.inverse_subset(options)?.diagonal();
            return Ok(columns.iter().map(|&j| all[j]).collect());
        }
        // Neighbours in the elimination order have most of their ways in common.
        let mut sorted: Vec<usize> = (0..columns.len()).collect();
        sorted.sort_by_key(|&k| place[columns[k]]);
        let mut out = vec![0.0; columns.len()];
        for block in sorted.chunks(BLOCK) {
            let of: Vec<usize> = block.iter().map(|&k| columns[k]).collect();
            let y = self.solve_r_adjoint_sparse(&self.units(&of), options, &())?;
            for (&k, y) in block.iter().zip(y.chunks_exact(n)) {
                out[k] = norm2(y).to_f64().powi(2);
            }
        }
        Ok(out)
    }

    /// Place of every column of W in the elimination order.
    fn places(&self) -> Vec<u32> {
        let mut place = vec![0; self.symbolic.work_cols()];
        for (p, column) in (0..).zip(self.symbolic.column_order()) {
            place[column as usize] = p;
        }
        place
    }

    /// Whether all entries on the pattern of R take fewer flops than these of the diagonal. A solve is counted as its way to the root.
    fn inverse_subset_is_cheaper(&self, columns: &[usize], place: &[u32]) -> bool {
        if self.split.is_some() {
            return false;
        }
        let sym = &self.symbolic;
        let fronts = &sym.tree.fronts;
        let mut way: Vec<u64> = fronts
            .iter()
            .map(|front| front.r_entries() as u64)
            .collect();
        for f in (0..fronts.len()).rev() {
            if let Some(parent) = fronts[f].parent {
                way[f] += way[parent as usize];
            }
        }
        let pivots = columns.iter().map(|&j| place[j] as usize);
        let pivots = pivots.filter_map(|p| p.checked_sub(sym.singletons.len()));
        let front = |pivot: usize| fronts.partition_point(|f| f.first_pivot as usize <= pivot) - 1;
        let solves: u64 = pivots.map(|p| 2 * way[front(p)]).sum();
        // All the pivot blocks alone are more than this: then the structure need not be looked at.
        let least: u64 = fronts.iter().map(|f| u64::from(f.npiv).pow(3)).sum();
        least < solves && self.inverse_subset_flops() < self.plan().flops(solves)
    }

    fn units(&self, columns: &[usize]) -> Csc<T> {
        let n = self.symbolic.ncols();
        for &column in columns {
            assert!(column < n, "column {column} of {n}");
        }
        let rows: Vec<u32> = columns.iter().map(|&j| j as u32).collect();
        let places: Vec<u32> = (0..columns.len() as u32).collect();
        let ones = vec![T::one(); columns.len()];
        Csc::from_triplets(n, columns.len(), &rows, &places, &ones).expect("columns of A")
    }
}
