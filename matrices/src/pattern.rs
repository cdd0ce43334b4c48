//! Where the nonzeros are, without their values: all that an analysis of a sparse matrix needs.
//!
//! Row indices are `u32` and column pointers `usize`: a dimension fits 32 bits, a count need not.

use rayon::prelude::*;
use std::ops::Range;

/// Entries that a thread of its own is worth where a pattern is transposed, and most such threads: each goes through all columns.
const WORTH_A_PART: usize = 1 << 15;
const MOST_PARTS: usize = 8;

/// Where the nonzeros of a sparse matrix are, column by column.
///
/// Invariants, held by every constructor: `colptr` has `ncols + 1` entries, starts at 0 and never decreases; the rows of
/// a column are strictly increasing and below `nrows`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub(crate) nrows: usize,
    pub(crate) ncols: usize,
    pub(crate) colptr: Vec<usize>,
    pub(crate) rowidx: Vec<u32>,
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
    #[inline]
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// Number of columns.
    #[inline]
    pub fn ncols(&self) -> usize {
        self.ncols
    }

    /// Number of entries, explicit zeros included.
    #[inline]
    pub fn nnz(&self) -> usize {
        self.rowidx.len()
    }

    /// Start of every column in [`Self::rowidx`], and the end of the last one.
    #[inline]
    pub fn colptr(&self) -> &[usize] {
        &self.colptr
    }

    /// Row of every entry, column after column.
    #[inline]
    pub fn rowidx(&self) -> &[u32] {
        &self.rowidx
    }

    /// The rows of one column, increasing.
    #[inline]
    pub fn col(&self, j: usize) -> &[u32] {
        &self.rowidx[self.colptr[j]..self.colptr[j + 1]]
    }

    /// The transposed pattern, and for each of its entries the position of that entry in `self`. O(nnz + m + n), on the current rayon pool.
    pub fn transpose(&self) -> (Pattern, Vec<usize>) {
        let mut from = vec![0usize; self.nnz()];
        let mut rest = &mut from[..];
        let part = |len: usize| {
            let (part, others) = std::mem::take(&mut rest).split_at_mut(len);
            rest = others;
            part
        };
        let transposed = self.transposed_telling(part, |part, slot, p| part[slot] = p);
        (transposed, from)
    }

    /// The transposed pattern alone. O(nnz + m + n), on the current rayon pool.
    pub fn transposed(&self) -> Pattern {
        self.transposed_telling(|_| (), |(), _, _| {})
    }

    /// The transposed pattern, made in parts, on the current rayon pool. `part` is asked for something for the next so many of its entries; `tell` is told of
    /// each of these, by its place among them, what position it has in `self`. O(nnz + m + n).
    pub fn transposed_telling<P: Send>(
        &self,
        mut part: impl FnMut(usize) -> P,
        tell: impl Fn(&mut P, usize, usize) + Sync,
    ) -> Pattern {
        let (m, n, nnz) = (self.nrows, self.ncols, self.nnz());
        let threads = rayon::current_num_threads().min(MOST_PARTS);
        let parts = (nnz / WORTH_A_PART).clamp(1, threads);
        let ranges = || (0..parts).map(|t| t * m / parts..(t + 1) * m / parts);
        // The start of column i lies at i + 1 as long as entries are put in, and moves on with each of them, to that of i + 1.
        let mut colptr = vec![0usize; m + 2];
        let lens = || ranges().map(|rows| rows.len());
        let counts: Vec<_> = ranges().zip(split(&mut colptr[2..], lens())).collect();
        counts.into_par_iter().for_each(|(rows, count)| {
            for j in 0..n {
                for &i in &self.rowidx[self.within(j, &rows)] {
                    count[i as usize - rows.start] += 1;
                }
            }
        });
        for i in 2..colptr.len() {
            colptr[i] += colptr[i - 1];
        }
        let mut rowidx = vec![0u32; nnz];
        let bases: Vec<usize> = ranges().map(|rows| colptr[rows.start + 1]).collect();
        let ends = bases.iter().skip(1).copied().chain([nnz]);
        let entries: Vec<usize> = ends.zip(&bases).map(|(end, base)| end - base).collect();
        let slots =
            split(&mut colptr[1..=m], lens()).zip(split(&mut rowidx, entries.iter().copied()));
        let told = entries.iter().map(|&len| part(len));
        let all: Vec<_> = ranges().zip(bases).zip(slots.zip(told)).collect();
        all.into_par_iter()
            .for_each(|((rows, base), ((next, columns), mut told))| {
                for j in 0..n {
                    for p in self.within(j, &rows) {
                        let slot = &mut next[self.rowidx[p] as usize - rows.start];
                        columns[*slot - base] = j as u32;
                        tell(&mut told, *slot - base, p);
                        *slot += 1;
                    }
                }
            });
        colptr.pop();
        Pattern {
            nrows: n,
            ncols: m,
            colptr,
            rowidx,
        }
    }

    /// What [`Self::restricted`] is told of a row that does not come along.
    pub const LEFT_OUT: u32 = u32::MAX;

    /// Some columns without some rows: row i becomes row `place[i]` of `nrows`, unless that is [`Self::LEFT_OUT`]. O(m, and the entries
    /// of these columns).
    ///
    /// # Panics
    /// When there is no such column, or the places are not one for each row, increasing and below `nrows`.
    pub fn restricted(&self, cols: &[u32], place: &[u32], nrows: usize) -> Pattern {
        let places = place.iter().filter(|&&p| p != Self::LEFT_OUT);
        assert!(
            place.len() == self.nrows
                && places.clone().is_sorted_by(|a, b| a < b)
                && places.max().is_none_or(|&last| (last as usize) < nrows),
            "{} places for {} rows that become {nrows}",
            place.len(),
            self.nrows
        );
        let most = cols.iter().map(|&j| self.col(j as usize).len()).sum();
        let mut rowidx = Vec::with_capacity(most);
        let mut colptr = Vec::with_capacity(cols.len() + 1);
        colptr.push(0);
        for &j in cols {
            let rows = self.col(j as usize).iter().map(|&i| place[i as usize]);
            rowidx.extend(rows.filter(|&p| p != Self::LEFT_OUT));
            colptr.push(rowidx.len());
        }
        Pattern {
            nrows,
            ncols: cols.len(),
            colptr,
            rowidx,
        }
    }

    /// The positions of the entries of column j in some rows.
    #[inline(always)]
    fn within(&self, j: usize, rows: &Range<usize>) -> Range<usize> {
        let all = self.colptr[j]..self.colptr[j + 1];
        let before = |row: usize| self.rowidx[all.clone()].partition_point(|&i| (i as usize) < row);
        let start = match rows.start {
            0 => all.start,
            row => all.start + before(row),
        };
        let end = match rows.end {
            row if row == self.nrows => all.end,
            row => all.start + before(row),
        };
        start..end
    }
}

/// Parts of a list, of these lengths.
pub(crate) fn split<T>(
    mut list: &mut [T],
    lens: impl Iterator<Item = usize>,
) -> impl Iterator<Item = &mut [T]> {
    lens.map(move |len| {
        let (part, rest) = std::mem::take(&mut list).split_at_mut(len);
        list = rest;
        part
    })
}

pub(crate) fn check_dimensions(nrows: usize, ncols: usize) -> Result<(), SparseError> {
    if nrows >= u32::MAX as usize || ncols >= u32::MAX as usize {
        return Err(SparseError::TooLarge { nrows, ncols });
    }
    Ok(())
}
