//! From triplets (row, column, value) to compressed columns.
//!
//! Two ways, chosen by looking at the input once: triplets that are already sorted by column and then by row (most files
//! are) only need their column starts; all others go through two counting sorts by column, coarse and fine, and then every
//! column is sorted by itself, in parallel. Both leave duplicates summed in the order in which they came.

use crate::pattern::{Pattern, SparseError, check_dimensions, split};
use crate::scalar::Scalar;
use crate::sparse::Csc;
use rayon::prelude::*;
use std::sync::Arc;

/// Entries of a bucket, about: they stay in the cache, and hide what a parallel task costs.
const BUCKET: usize = 1 << 14;
/// More buckets than this can't be written to side by side without missing the cache.
const MAX_BUCKETS: usize = 512;
/// Entries of a column that is sorted by insertion.
const SHORT: usize = 32;

impl<T: Scalar> Csc<T> {
    /// A matrix from triplets (row, column, value), from 0, in any order; duplicates are summed in the order in which
    /// they come. O(nnz + m + n) when sorted by column and row, and O(nnz log(longest column)) at worst.
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
        check(nrows, ncols, rows, cols, values)?;
        let parts = [(rows, cols, values)];
        if !is_sorted(&parts) {
            return Ok(Scattered::new(ncols, &parts).columns(nrows));
        }
        let colptr = column_starts(ncols, &parts);
        Ok(assemble(
            nrows,
            ncols,
            colptr,
            rows.to_vec(),
            values.to_vec(),
        ))
    }

    /// As [`Self::from_triplets`], but keeps the arrays of rows and values when they are sorted already.
    ///
    /// # Errors
    /// As [`Self::from_triplets`].
    pub fn from_owned_triplets(
        nrows: usize,
        ncols: usize,
        rows: Vec<u32>,
        cols: Vec<u32>,
        values: Vec<T>,
    ) -> Result<Self, SparseError> {
        check(nrows, ncols, &rows, &cols, &values)?;
        let all = Triplets { rows, cols, values };
        Ok(Self::from_parts(nrows, ncols, vec![all]))
    }

    /// From triplets within the matrix, in parts that lie one behind the other.
    pub(crate) fn from_parts(nrows: usize, ncols: usize, parts: Vec<Triplets<T>>) -> Self {
        let views: Vec<View<'_, T>> = parts.iter().map(Triplets::view).collect();
        if !is_sorted(&views) {
            let scattered = Scattered::new(ncols, &views);
            drop(parts);
            return scattered.columns(nrows);
        }
        if views.len() != 1 {
            return joined(nrows, ncols, &views);
        }
        let colptr = column_starts(ncols, &views);
        let only = parts.into_iter().next().expect("one part");
        assemble(nrows, ncols, colptr, only.rows, only.values)
    }
}

/// Entries in the order in which they came.
pub(crate) struct Triplets<T> {
    rows: Vec<u32>,
    cols: Vec<u32>,
    values: Vec<T>,
}

/// Rows, columns and values of triplets.
type View<'a, T> = (&'a [u32], &'a [u32], &'a [T]);

impl<T: Copy> Triplets<T> {
    pub fn with_capacity(entries: usize) -> Self {
        Self {
            rows: Vec::with_capacity(entries),
            cols: Vec::with_capacity(entries),
            values: Vec::with_capacity(entries),
        }
    }

    #[inline(always)]
    pub fn push(&mut self, i: u32, j: u32, value: T) {
        self.rows.push(i);
        self.cols.push(j);
        self.values.push(value);
    }

    pub fn view(&self) -> View<'_, T> {
        (&self.rows, &self.cols, &self.values)
    }
}

/// One matrix of parts that follow each other in order, in parallel: each writes its entries, and where those of its columns start that no part before it has.
fn joined<T: Scalar>(nrows: usize, ncols: usize, parts: &[View<'_, T>]) -> Csc<T> {
    let lens = || parts.iter().map(|part| part.2.len());
    let count = lens().sum();
    let (mut colptr, mut rowidx) = (vec![count; ncols + 1], vec![0u32; count]);
    let mut values = vec![T::zero(); count];
    // The columns after the last one of the part before, up to the last one of its own.
    let mut begin = 0;
    let columns = parts.iter().map(|part| {
        let end = part.1.last().map_or(begin, |&j| j as usize + 1);
        std::mem::replace(&mut begin, end)..end
    });
    let columns: Vec<_> = columns.collect();
    let starts = split(&mut colptr, columns.iter().map(|columns| columns.len()));
    let entries = split(&mut rowidx, lens()).zip(split(&mut values, lens()));
    let bases = lens().scan(0, |end, len| {
        *end += len;
        Some(*end - len)
    });
    let all = parts.iter().zip(bases).zip(columns.iter().zip(starts));
    let all: Vec<_> = all.zip(entries).collect();
    all.into_par_iter()
        .for_each(|(((part, base), (columns, starts)), (rows, values))| {
            rows.copy_from_slice(part.0);
            values.copy_from_slice(part.2);
            let mut next = 0;
            for (&j, p) in part.1.iter().zip(base..) {
                // Nothing to be done for a column that the part before has begun.
                while next < (j as usize + 1).saturating_sub(columns.start) {
                    starts[next] = p;
                    next += 1;
                }
            }
        });
    assemble(nrows, ncols, colptr, rowidx, values)
}

fn check<T>(
    nrows: usize,
    ncols: usize,
    rows: &[u32],
    cols: &[u32],
    values: &[T],
) -> Result<(), SparseError> {
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
    match rows.iter().zip(cols).position(outside) {
        Some(entry) => Err(SparseError::OutOfRange {
            entry,
            row: rows[entry] as usize,
            col: cols[entry] as usize,
            nrows,
            ncols,
        }),
        None => Ok(()),
    }
}

/// True when the entries come by column and then by row, each position once.
fn is_sorted<T: Sync>(parts: &[View<'_, T>]) -> bool {
    let key = |i: u32, j: u32| (u64::from(j) << 32) | u64::from(i);
    let ends = |(rows, cols, _): &View<'_, T>| {
        let first = key(*rows.first()?, *cols.first()?);
        Some((first, key(*rows.last()?, *cols.last()?)))
    };
    let mut after = 0;
    let follow = parts.iter().filter_map(ends).all(|(first, last)| {
        let is_later = first >= after;
        after = last + 1;
        is_later
    });
    follow
        && parts.par_iter().all(|(rows, cols, _)| {
            let mut after = 0;
            rows.iter().zip(*cols).all(|(&i, &j)| {
                let is_later = key(i, j) >= after;
                after = key(i, j) + 1;
                is_later
            })
        })
}

/// Where every column begins once the entries are in order of their columns.
fn column_starts<T>(ncols: usize, parts: &[View<'_, T>]) -> Vec<usize> {
    let mut colptr = vec![0usize; ncols + 1];
    for &j in parts.iter().flat_map(|part| part.1) {
        colptr[j as usize + 1] += 1;
    }
    for j in 0..ncols {
        colptr[j + 1] += colptr[j];
    }
    colptr
}

fn assemble<T>(
    nrows: usize,
    ncols: usize,
    colptr: Vec<usize>,
    rowidx: Vec<u32>,
    values: Vec<T>,
) -> Csc<T> {
    let pattern = Arc::new(Pattern {
        nrows,
        ncols,
        colptr,
        rowidx,
    });
    let values = Arc::new(values);
    Csc { pattern, values }
}

/// A triplet on its way to its column.
type Triplet<T> = (u32, u32, T);

/// Entries of some neighbouring columns: where they come from and where they go.
struct Bucket<'a, T> {
    triplets: &'a [Triplet<T>],
    /// Position of the first entry among all.
    base: usize,
    /// On exit, where each column of the bucket ends among all entries.
    ends: &'a mut [usize],
    rows: &'a mut [u32],
    values: &'a mut [T],
}

/// Triplets in buckets of neighbouring columns: the first of two stable passes.
struct Scattered<T> {
    ncols: usize,
    /// A bucket holds 2^shift columns.
    shift: u32,
    /// Where every bucket begins, and the end of the last one.
    starts: Vec<usize>,
    triplets: Vec<Triplet<T>>,
}

impl<T: Scalar> Scattered<T> {
    fn new(ncols: usize, parts: &[View<'_, T>]) -> Self {
        let count: usize = parts.iter().map(|part| part.2.len()).sum();
        let wanted = (count / BUCKET).clamp(1, MAX_BUCKETS);
        let shift = (0..).find(|s| ncols >> s < wanted).unwrap_or(0);
        let mut starts = vec![0usize; ncols.div_ceil(1 << shift) + 1];
        for &j in parts.iter().flat_map(|part| part.1) {
            starts[(j as usize >> shift) + 1] += 1;
        }
        for b in 1..starts.len() {
            starts[b] += starts[b - 1];
        }
        let mut triplets = vec![(0u32, 0u32, T::zero()); count];
        let mut next = starts.clone();
        for (rows, cols, values) in parts {
            for ((&i, &j), &v) in rows.iter().zip(*cols).zip(*values) {
                let slot = &mut next[j as usize >> shift];
                triplets[*slot] = (i, j, v);
                *slot += 1;
            }
        }
        Scattered {
            ncols,
            shift,
            starts,
            triplets,
        }
    }

    /// The second pass: within each bucket, in parallel, into columns that are then sorted by row. Duplicates are summed last.
    fn columns(self, nrows: usize) -> Csc<T> {
        let (ncols, shift, count) = (self.ncols, self.shift, self.triplets.len());
        let mut colptr = vec![0usize; ncols + 1];
        let mut rowidx = vec![0u32; count];
        let mut sorted = vec![T::zero(); count];
        let mut buckets = Vec::with_capacity(self.starts.len());
        let (mut rows_left, mut values_left) = (&mut rowidx[..], &mut sorted[..]);
        let columns = colptr[1..].chunks_mut(1 << shift);
        for (ends, bounds) in columns.zip(self.starts.windows(2)) {
            let (rows, values);
            (rows, rows_left) = rows_left.split_at_mut(bounds[1] - bounds[0]);
            (values, values_left) = values_left.split_at_mut(bounds[1] - bounds[0]);
            buckets.push(Bucket {
                triplets: &self.triplets[bounds[0]..bounds[1]],
                base: bounds[0],
                ends,
                rows,
                values,
            });
        }
        let repeated = buckets
            .into_par_iter()
            .map(|b| sort_bucket(b, shift))
            .reduce(|| false, |a, b| a | b);
        if repeated {
            sum_duplicates(&mut colptr, &mut rowidx, &mut sorted);
        }
        assemble(nrows, ncols, colptr, rowidx, sorted)
    }
}

/// Puts the entries of a bucket in order of columns and rows; true when a place occurs twice.
fn sort_bucket<T: Scalar>(bucket: Bucket<'_, T>, shift: u32) -> bool {
    let Bucket {
        triplets,
        base,
        ends,
        rows,
        values,
    } = bucket;
    let within = |j: u32| j as usize & ((1 << shift) - 1);
    let mut next = vec![0usize; ends.len() + 1];
    for &(_, j, _) in triplets {
        next[within(j) + 1] += 1;
    }
    for c in 0..ends.len() {
        next[c + 1] += next[c];
        ends[c] = base + next[c + 1];
    }
    for &(i, j, v) in triplets {
        let slot = &mut next[within(j)];
        rows[*slot] = i;
        values[*slot] = v;
        *slot += 1;
    }
    let (mut repeated, mut start) = (false, 0);
    for &end in ends.iter() {
        let range = start..end - base;
        start = range.end;
        let (rows, values) = (&mut rows[range.clone()], &mut values[range]);
        sort_column(rows, values);
        repeated |= rows.windows(2).any(|w| w[0] == w[1]);
    }
    repeated
}

/// Sorts a column by row, stable: by insertion when it is short.
fn sort_column<T: Scalar>(rows: &mut [u32], values: &mut [T]) {
    if rows.is_sorted() {
        return;
    }
    if rows.len() > SHORT {
        let mut pairs: Vec<(u32, T)> = rows.iter().copied().zip(values.iter().copied()).collect();
        pairs.sort_by_key(|pair| pair.0);
        for ((row, value), pair) in rows.iter_mut().zip(values).zip(pairs) {
            (*row, *value) = pair;
        }
        return;
    }
    for p in 1..rows.len() {
        let (row, value) = (rows[p], values[p]);
        let mut at = p;
        while at > 0 && rows[at - 1] > row {
            rows[at] = rows[at - 1];
            values[at] = values[at - 1];
            at -= 1;
        }
        rows[at] = row;
        values[at] = value;
    }
}

/// Adds up equal neighbours of every sorted column, from the first to the last, in place.
fn sum_duplicates<T: Scalar>(colptr: &mut [usize], rows: &mut Vec<u32>, values: &mut Vec<T>) {
    let (mut kept, mut start) = (0, 0);
    for end in &mut colptr[1..] {
        let first = kept;
        for p in start..*end {
            if kept > first && rows[kept - 1] == rows[p] {
                let v = values[p];
                values[kept - 1] += v;
            } else {
                rows[kept] = rows[p];
                values[kept] = values[p];
                kept += 1;
            }
        }
        start = std::mem::replace(end, kept);
    }
    rows.truncate(kept);
    values.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What parts that end at `cuts` give.
    fn in_parts(triplets: &[(u32, u32, f64)], cuts: &[usize]) -> Csc<f64> {
        let mut begin = 0;
        let ends = cuts.iter().copied().chain([triplets.len()]);
        let parts = ends.map(|end| {
            let mut part = Triplets::with_capacity(0);
            for &(i, j, v) in &triplets[begin..end] {
                part.push(i, j, v);
            }
            begin = end;
            part
        });
        Csc::from_parts(40, 40, parts.collect())
    }

    #[test]
    fn where_parts_end_makes_no_difference() {
        let mut triplets: Vec<(u32, u32, f64)> = (0..120)
            .map(|k| (k * 7 % 40, k / 3, f64::from(k)))
            .collect();
        triplets.sort_by_key(|t| (t.1, t.0));
        let sorted = in_parts(&triplets, &[]);
        assert_eq!(in_parts(&triplets, &[0, 17, 17, 60]), sorted);
        // Each part is in order, all of them are not: a place comes again at the beginning of the next.
        let (i, j, v) = triplets[16];
        triplets.insert(17, (i, j, 0.5));
        let twice = in_parts(&triplets, &[17, 60]);
        assert_eq!(twice.pattern(), sorted.pattern());
        let p = twice.values().iter().position(|&x| x == v + 0.5);
        assert!(p.is_some() && in_parts(&triplets, &[]) == twice);
        let (back, front) = (triplets.split_off(60), triplets);
        let shuffled = [back, front].concat();
        assert_eq!(in_parts(&shuffled, &[61]), twice);
    }
}
