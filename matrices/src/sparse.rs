//! Compressed sparse columns: [`Pattern`] (where the nonzeros are) and [`Csc`] (with their values).
//!
//! Row indices are `u32` and column pointers `usize`: a dimension fits 32 bits, a count need not.

use crate::scalar::{RealScalar, Scalar};
use rayon::prelude::*;
use std::sync::Arc;

/// Where the nonzeros of a sparse matrix are, column by column.
///
/// Invariants, held by every constructor: `colptr` has `ncols + 1` entries, starts at 0 and never decreases; the rows of
/// a column are strictly increasing and below `nrows`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    nrows: usize,
    ncols: usize,
    colptr: Vec<usize>,
    rowidx: Vec<u32>,
}

/// Why arrays do not describe a sparse matrix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SparseError {
    /// A dimension does not fit the 32-bit index type.
    #[error("a matrix of {nrows} x {ncols} is too large: dimensions must stay below 2^32 - 1")]
    TooLarge {
        /// Rows asked for.
        nrows: usize,
        /// Columns asked for.
        ncols: usize,
    },
    /// An entry lies outside of the matrix.
    #[error("entry {entry} is at row {row}, column {col} (from 0) of a {nrows} x {ncols} matrix")]
    OutOfRange {
        /// Position in the input, from 0.
        entry: usize,
        /// Row of the entry, from 0.
        row: usize,
        /// Column of the entry, from 0.
        col: usize,
        /// Rows of the matrix.
        nrows: usize,
        /// Columns of the matrix.
        ncols: usize,
    },
    /// Arrays whose lengths do not belong together.
    #[error("arrays of different lengths: {what}")]
    Lengths {
        /// Which lengths differ.
        what: String,
    },
    /// Column pointers that decrease or do not span the row indices.
    #[error("column pointers do not describe a matrix at column {col}")]
    BadPointers {
        /// The first column (from 0) whose pointers are wrong.
        col: usize,
    },
    /// Row indices of a column that are not strictly increasing.
    #[error("row indices of column {col} (from 0) are not strictly increasing")]
    Unsorted {
        /// The first such column, from 0.
        col: usize,
    },
}

impl Pattern {
    /// A pattern from its arrays, checked in O(nnz).
    ///
    /// # Errors
    /// [`SparseError`] when an invariant of the type does not hold.
    pub fn new(
        nrows: usize,
        ncols: usize,
        colptr: Vec<usize>,
        rowidx: Vec<u32>,
    ) -> Result<Self, SparseError> {
        check_dimensions(nrows, ncols)?;
        if colptr.len() != ncols + 1 || colptr[0] != 0 || colptr[ncols] != rowidx.len() {
            return Err(SparseError::BadPointers { col: 0 });
        }
        for col in 0..ncols {
            if colptr[col] > colptr[col + 1] || colptr[col + 1] > rowidx.len() {
                return Err(SparseError::BadPointers { col });
            }
            let rows = &rowidx[colptr[col]..colptr[col + 1]];
            if rows.windows(2).any(|w| w[0] >= w[1]) {
                return Err(SparseError::Unsorted { col });
            }
            if let Some(&row) = rows.last().filter(|&&r| r as usize >= nrows) {
                let entry = colptr[col + 1] - 1;
                return Err(SparseError::OutOfRange {
                    entry,
                    row: row as usize,
                    col,
                    nrows,
                    ncols,
                });
            }
        }
        Ok(Self {
            nrows,
            ncols,
            colptr,
            rowidx,
        })
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// Number of columns.
    pub fn ncols(&self) -> usize {
        self.ncols
    }

    /// Number of entries, explicit zeros included.
    pub fn nnz(&self) -> usize {
        self.rowidx.len()
    }

    /// Start of every column in [`Self::rowidx`], and the end of the last one.
    pub fn colptr(&self) -> &[usize] {
        &self.colptr
    }

    /// Row of every entry, column after column.
    pub fn rowidx(&self) -> &[u32] {
        &self.rowidx
    }

    /// The rows of one column, increasing.
    pub fn col(&self, j: usize) -> &[u32] {
        &self.rowidx[self.colptr[j]..self.colptr[j + 1]]
    }

    /// The transposed pattern, and for each of its entries the position of that entry in `self`. O(nnz + m + n).
    pub fn transpose(&self) -> (Pattern, Vec<usize>) {
        let mut colptr = vec![0usize; self.nrows + 1];
        for &i in &self.rowidx {
            colptr[i as usize + 1] += 1;
        }
        for i in 0..self.nrows {
            colptr[i + 1] += colptr[i];
        }
        let mut next = colptr.clone();
        let mut rowidx = vec![0u32; self.nnz()];
        let mut from = vec![0usize; self.nnz()];
        for j in 0..self.ncols {
            for p in self.colptr[j]..self.colptr[j + 1] {
                let slot = &mut next[self.rowidx[p] as usize];
                rowidx[*slot] = j as u32;
                from[*slot] = p;
                *slot += 1;
            }
        }
        (
            Pattern {
                nrows: self.ncols,
                ncols: self.nrows,
                colptr,
                rowidx,
            },
            from,
        )
    }
}

fn check_dimensions(nrows: usize, ncols: usize) -> Result<(), SparseError> {
    if nrows >= u32::MAX as usize || ncols >= u32::MAX as usize {
        return Err(SparseError::TooLarge { nrows, ncols });
    }
    Ok(())
}

/// A sparse matrix in compressed columns. The pattern is shared: new values for the same pattern cost no copy of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Csc<T> {
    pattern: Arc<Pattern>,
    values: Vec<T>,
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
        Ok(Self { pattern, values })
    }

    /// A matrix from triplets (row, column, value), from 0, in any order; duplicates are summed in the order in which
    /// they come. O(nnz + m + n).
    ///
    /// ```
    /// let a = treeqr_matrices::Csc::from_triplets(2, 2, &[0, 1, 0], &[0, 1, 0], &[1.0, 2.0, 3.0])?;
    /// assert_eq!(a.values(), &[4.0, 2.0]);
    /// # Ok::<(), treeqr_matrices::SparseError>(())
    /// ```
    ///
    /// # Errors
    /// [`SparseError`] for arrays of different lengths and for entries outside of the matrix.
    pub fn from_triplets(
        nrows: usize,
        ncols: usize,
        rows: &[u32],
        cols: &[u32],
        values: &[T],
    ) -> Result<Self, SparseError> {
        check_dimensions(nrows, ncols)?;
        if rows.len() != cols.len() || rows.len() != values.len() {
            let what = format!(
                "{} rows, {} columns, {} values",
                rows.len(),
                cols.len(),
                values.len()
            );
            return Err(SparseError::Lengths { what });
        }
        let outside = |(&i, &j): (&u32, &u32)| i as usize >= nrows || j as usize >= ncols;
        if let Some(entry) = rows.iter().zip(cols).position(outside) {
            let (row, col) = (rows[entry] as usize, cols[entry] as usize);
            return Err(SparseError::OutOfRange {
                entry,
                row,
                col,
                nrows,
                ncols,
            });
        }
        // Two stable counting sorts, by row and then by column, leave every column sorted and duplicates adjacent in
        // their original order.
        let (rowptr, by_row) =
            counting_sort(nrows, rows.iter().map(|&i| i as usize), 0..rows.len());
        drop(rowptr);
        let (start, order) = counting_sort(
            ncols,
            by_row.iter().map(|&p| cols[p] as usize),
            by_row.iter().copied(),
        );
        let mut colptr = vec![0usize; ncols + 1];
        let mut rowidx = Vec::with_capacity(rows.len());
        let mut out: Vec<T> = Vec::with_capacity(rows.len());
        for j in 0..ncols {
            let first = rowidx.len();
            for &p in &order[start[j]..start[j + 1]] {
                if rowidx.len() > first && rowidx.last() == Some(&rows[p]) {
                    *out.last_mut().expect("values follow row indices") += values[p];
                } else {
                    rowidx.push(rows[p]);
                    out.push(values[p]);
                }
            }
            colptr[j + 1] = rowidx.len();
        }
        Ok(Self {
            pattern: Arc::new(Pattern {
                nrows,
                ncols,
                colptr,
                rowidx,
            }),
            values: out,
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

    /// Values of the entries, to be changed in place.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
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
            values,
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
        let norms = (0..self.ncols())
            .into_par_iter()
            .map(|j| norm2(self.col(j).1));
        norms.reduce(T::Real::zero, RealScalar::max)
    }

    /// The position (row, column) of the first value that is NaN or infinite, if there is one.
    pub fn first_non_finite(&self) -> Option<(usize, usize)> {
        let p = self.values.iter().position(|v| !v.is_finite())?;
        let j = self.pattern.colptr.partition_point(|&start| start <= p) - 1;
        Some((self.pattern.rowidx[p] as usize, j))
    }
}

/// The 2-norm of a vector, scaled against overflow and underflow.
pub fn norm2<T: Scalar>(x: &[T]) -> T::Real {
    let largest = x
        .iter()
        .map(|v| v.re().abs().max(v.im().abs()))
        .fold(T::Real::zero(), RealScalar::max);
    if largest == T::Real::zero() || !largest.is_finite() {
        return largest;
    }
    let one = T::Real::one();
    // Dividing by a subnormal would overflow; its magnitude is lost to scaling anyway.
    let scale = largest.max(T::Real::MIN_POSITIVE);
    let sum: T::Real = x.iter().map(|v| v.scale(one / scale).abs2()).sum();
    scale * sum.sqrt()
}

/// Stable counting sort: positions `items` ordered by their `keys` (both in the same order), with the start of each key.
fn counting_sort(
    nkeys: usize,
    keys: impl Iterator<Item = usize> + Clone,
    items: impl Iterator<Item = usize>,
) -> (Vec<usize>, Vec<usize>) {
    let mut start = vec![0usize; nkeys + 1];
    let mut count = 0;
    for k in keys.clone() {
        start[k + 1] += 1;
        count += 1;
    }
    for k in 0..nkeys {
        start[k + 1] += start[k];
    }
    let mut next = start.clone();
    let mut order = vec![0usize; count];
    for (k, item) in keys.zip(items) {
        order[next[k]] = item;
        next[k] += 1;
    }
    (start, order)
}
