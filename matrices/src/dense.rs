//! Dense matrices: right-hand sides and solutions, one vector a column.

use crate::pattern::SparseError;
use crate::scalar::{RealScalar, Scalar};

/// A dense matrix in column-major order without padding: entry (i, j) is `values[i + j * nrows]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense<T> {
    nrows: usize,
    ncols: usize,
    values: Vec<T>,
}

impl<T: Scalar> Dense<T> {
    /// A matrix from its values, column after column.
    ///
    /// # Errors
    /// [`SparseError::Lengths`] when there are not `nrows * ncols` values.
    pub fn new(nrows: usize, ncols: usize, values: Vec<T>) -> Result<Self, SparseError> {
        if nrows.checked_mul(ncols) != Some(values.len()) {
            return Err(SparseError::Lengths {
                what: format!("{nrows} x {ncols} and {} values", values.len()),
            });
        }
        Ok(Self {
            nrows,
            ncols,
            values,
        })
    }

    /// One vector as a matrix of one column.
    pub fn from_vector(values: Vec<T>) -> Self {
        Self {
            nrows: values.len(),
            ncols: 1,
            values,
        }
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// Number of columns.
    pub fn ncols(&self) -> usize {
        self.ncols
    }

    /// All values, column after column.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// All values, to be changed in place.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// All values, column after column, without a copy.
    pub fn into_values(self) -> Vec<T> {
        self.values
    }

    /// One column.
    ///
    /// # Panics
    /// When `j` is not below the number of columns.
    pub fn col(&self, j: usize) -> &[T] {
        assert!(j < self.ncols, "column {j} of {}", self.ncols);
        &self.values[j * self.nrows..(j + 1) * self.nrows]
    }

    /// The same matrix with values of another precision, each rounded to the nearest.
    pub fn to_precision<U: Scalar>(&self) -> Dense<U> {
        let cast = |v: &T| U::from_f64(v.re().to_f64(), v.im().to_f64());
        Dense {
            nrows: self.nrows,
            ncols: self.ncols,
            values: self.values.iter().map(cast).collect(),
        }
    }
}
