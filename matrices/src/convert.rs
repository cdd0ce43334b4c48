//! Other precisions, and the sparse types of the `sprs` crate.
//!
//! Our own matrix to sprs always works (`From`); the other way may not (`TryFrom`), because sprs allows dimensions and
//! index types that ours does not hold.

use crate::pattern::{Pattern, SparseError};
use crate::scalar::{RealScalar, Scalar};
use crate::sparse::Csc;
use sprs::{CsMatI, SpIndex, TriMatI};
use std::sync::Arc;

impl<T: Scalar> Csc<T> {
    /// The same matrix with values of another precision, each rounded to the nearest; the pattern is shared, not copied.
    /// To a real type, imaginary parts are dropped. O(nnz).
    ///
    /// ```
    /// let a = treeqr_matrices::Csc::from_triplets(1, 1, &[0], &[0], &[0.1_f64])?;
    /// assert_eq!(a.to_precision::<f32>().values(), &[0.1_f32]);
    /// # Ok::<(), treeqr_matrices::SparseError>(())
    /// ```
    pub fn to_precision<U: Scalar>(&self) -> Csc<U> {
        let cast = |v: &T| U::from_f64(v.re().to_f64(), v.im().to_f64());
        Csc {
            pattern: self.pattern.clone(),
            values: Arc::new(self.values.iter().map(cast).collect()),
        }
    }
}

impl<T: Scalar> From<&Csc<T>> for CsMatI<T, usize> {
    /// As a sprs matrix in compressed columns, with everything copied.
    fn from(a: &Csc<T>) -> Self {
        let pattern = a.pattern();
        let rows = pattern.rowidx().iter().map(|&i| i as usize).collect();
        CsMatI::new_csc(
            (a.nrows(), a.ncols()),
            pattern.colptr().to_vec(),
            rows,
            a.values().to_vec(),
        )
    }
}

impl<T: Scalar> From<&Csc<T>> for TriMatI<T, usize> {
    /// As sprs triplets, column by column.
    fn from(a: &Csc<T>) -> Self {
        let mut triplets = TriMatI::with_capacity((a.nrows(), a.ncols()), a.nnz());
        for j in 0..a.ncols() {
            let (rows, values) = a.col(j);
            for (&i, &v) in rows.iter().zip(values) {
                triplets.add_triplet(i as usize, j, v);
            }
        }
        triplets
    }
}

impl<T: Scalar, I: SpIndex> TryFrom<&CsMatI<T, I>> for Csc<T> {
    type Error = SparseError;

    /// From a sprs matrix, compressed by columns or by rows.
    fn try_from(a: &CsMatI<T, I>) -> Result<Self, SparseError> {
        if a.is_csr() {
            let triplets = a.iter().map(|(&v, (i, j))| (i, j, v));
            return collect(a.rows(), a.cols(), triplets);
        }
        crate::pattern::check_dimensions(a.rows(), a.cols())?;
        let colptr = a.proper_indptr().iter().map(|p| p.index()).collect();
        let rows = a.indices().iter().map(|i| i.index() as u32).collect();
        Csc::new(
            Pattern::new(a.rows(), a.cols(), colptr, rows)?,
            a.data().to_vec(),
        )
    }
}

impl<T: Scalar, I: SpIndex> TryFrom<&TriMatI<T, I>> for Csc<T> {
    type Error = SparseError;

    /// From sprs triplets; duplicates are summed in the order in which they were added.
    fn try_from(a: &TriMatI<T, I>) -> Result<Self, SparseError> {
        let triplets = a
            .triplet_iter()
            .map(|(&v, (i, j))| (i.index(), j.index(), v));
        collect(a.rows(), a.cols(), triplets)
    }
}

fn collect<T: Scalar, I: SpIndex>(
    nrows: usize,
    ncols: usize,
    triplets: impl Iterator<Item = (I, I, T)>,
) -> Result<Csc<T>, SparseError> {
    crate::pattern::check_dimensions(nrows, ncols)?;
    let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (i, j, v) in triplets {
        rows.push(i.index() as u32);
        cols.push(j.index() as u32);
        values.push(v);
    }
    Csc::from_owned_triplets(nrows, ncols, rows, cols, values)
}
