//! Compressed sparse columns with values: [`Csc`], its products with vectors and its norms.
//!
//! Where the entries are is a [`Pattern`]; how they are sorted into columns is in `triplets.rs`.

use crate::norms::{first_non_finite, norm2};
use crate::pattern::{Pattern, SparseError};
use crate::scalar::{RealScalar, Scalar};
use rayon::prelude::*;
use std::sync::Arc;

/// Entries from which on what looks at each of them has all threads: to wake one takes as long as it takes for some thousands.
const WORTH_THREADS: usize = 1 << 15;

/// A sparse matrix in compressed columns. Pattern and values are shared: a clone costs no copy of either, new values for the same pattern
/// none of that.
#[derive(Clone, Debug, PartialEq)]
pub struct Csc<T> {
    pub(crate) pattern: Arc<Pattern>,
    pub(crate) values: Arc<Vec<T>>,
}

impl<T: Scalar> Csc<T> {
    /// A matrix from a pattern and the values of its entries, in the same order.
    ///
    /// # Errors
    /// [`SparseError::Lengths`] when there is not one value per entry.
    pub fn new(pattern: impl Into<Arc<Pattern>>, values: Vec<T>) -> Result<Self, SparseError> {
        let pattern = pattern.into();
        if pattern.nnz() != values.len() {
            return Err(SparseError::Lengths {
                what: format!("{} entries and {} values", pattern.nnz(), values.len()),
            });
        }
        Ok(Self {
            pattern,
            values: Arc::new(values),
        })
    }

    /// Where the nonzeros are.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// Values of the entries, in the order of the pattern.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Values of the entries, to be changed in place; a copy of its own where a clone shares them.
    pub fn values_mut(&mut self) -> &mut [T] {
        let values: &mut Vec<T> = Arc::make_mut(&mut self.values);
        values
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.pattern.nrows
    }

    /// Number of columns.
    pub fn ncols(&self) -> usize {
        self.pattern.ncols
    }

    /// Number of entries, explicit zeros included.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// Rows and values of one column.
    #[inline]
    pub fn col(&self, j: usize) -> (&[u32], &[T]) {
        let range = self.pattern.colptr[j]..self.pattern.colptr[j + 1];
        (&self.pattern.rowidx[range.clone()], &self.values[range])
    }

    /// The conjugate transpose A^H (the transpose for real types). O(nnz + m + n).
    pub fn adjoint(&self) -> Csc<T> {
        let (pattern, from) = self.pattern.transpose();
        let values = from.iter().map(|&p| self.values[p].conj()).collect();
        Csc {
            pattern: Arc::new(pattern),
            values: Arc::new(values),
        }
    }

    /// y = y + alpha A x.
    ///
    /// # Panics
    /// When the lengths of `x` and `y` are not the numbers of columns and rows.
    pub fn mul_add(&self, alpha: T, x: &[T], y: &mut [T]) {
        assert_eq!(
            (x.len(), y.len()),
            (self.ncols(), self.nrows()),
            "A x: shapes"
        );
        for (j, &xj) in x.iter().enumerate() {
            let (rows, values) = self.col(j);
            let scaled = alpha * xj;
            for (&i, &a) in rows.iter().zip(values) {
                y[i as usize] += a * scaled;
            }
        }
    }

    /// y = y + alpha A^H x.
    ///
    /// # Panics
    /// When the lengths of `x` and `y` are not the numbers of rows and columns.
    pub fn adjoint_mul_add(&self, alpha: T, x: &[T], y: &mut [T]) {
        assert_eq!(
            (x.len(), y.len()),
            (self.nrows(), self.ncols()),
            "A^H x: shapes"
        );
        for (j, yj) in y.iter_mut().enumerate() {
            let (rows, values) = self.col(j);
            let dot: T = rows
                .iter()
                .zip(values)
                .map(|(&i, &a)| a.conj() * x[i as usize])
                .sum();
            *yj += alpha * dot;
        }
    }

    /// The Frobenius norm, scaled against overflow and underflow.
    pub fn norm_frobenius(&self) -> T::Real {
        norm2(&self.values)
    }

    /// The largest 2-norm of a column.
    pub fn max_column_norm(&self) -> T::Real {
        let norm = |j| norm2(self.col(j).1);
        let (columns, none) = (0..self.ncols(), T::Real::zero());
        match self.nnz() < WORTH_THREADS {
            true => columns.map(norm).fold(none, RealScalar::max),
            false => (columns.into_par_iter().map(norm)).reduce(|| none, RealScalar::max),
        }
    }

    /// The position (row, column) of the first value that is NaN or infinite, if there is one.
    pub fn first_non_finite(&self) -> Option<(usize, usize)> {
        let p = first_non_finite(&self.values)?;
        let j = self.pattern.colptr.partition_point(|&start| start <= p) - 1;
        Some((self.pattern.rowidx[p] as usize, j))
    }
}
