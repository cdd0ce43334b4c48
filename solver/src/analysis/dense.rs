//! Dense rows and columns of W.
//!
//! A row of d entries makes a clique of its columns in the graph of W^H W: a single dense row fills R. Such rows can be
//! left out of the factorization and brought in afterwards (`split`). Takes the pattern of W; gives the sets of rows that may be
//! worth it. What each leads to is found out by an analysis without them, and compared in predicted flops.
//!
//! Dense columns fill nothing but their own row of R if they are eliminated last.

use super::cleanup::{Reduced, places};
use super::structure::Structure;
use super::work::Work;
use crate::options::DenseRows;
use treeqr_matrices::Pattern;

/// So many times the mean are far above it.
const FAR: usize = 10;
/// A split must save this factor of the flops, ...
const CLEARLY: f64 = 2.0;
/// ... and this many: less is a matter of milliseconds.
const WORTHWHILE: f64 = 1e7;

/// Entries above which a row of a matrix with `ncols` columns tells an ordering nothing.
pub(crate) fn limit(ncols: usize) -> usize {
    (10.0 * (ncols as f64).sqrt()).max(16.0) as usize
}

/// The sets of rows of W to try, each increasing. O(m).
pub(super) fn candidates(work: &Work, asked: DenseRows) -> Vec<Vec<u32>> {
    let (rows, n) = (&work.rows, work.cols.ncols());
    let length = |i: &u32| rows.col(*i as usize).len();
    let all = || 0..rows.ncols() as u32;
    match asked {
        DenseRows::None => Vec::new(),
        DenseRows::Count(k) => {
            let mut longest: Vec<u32> = all().filter(|i| length(i) > 0).collect();
            longest.sort_by_key(|i| (std::cmp::Reverse(length(i)), *i));
            longest.truncate(k);
            longest.sort_unstable();
            vec![longest]
        }
        DenseRows::Auto => {
            let filled = all().filter(|i| length(i) > 0).count();
            let far = FAR * rows.nnz() / filled.max(1);
            let longer = |than: usize| -> Vec<u32> { all().filter(|i| length(i) > than).collect() };
            let surely = longer(limit(n).max(far));
            if surely.is_empty() {
                return Vec::new();
            }
            // Where some are dense, those that are shorter and yet far above the mean may be of their kind.
            let mut sets = vec![surely];
            let perhaps = longer(far.max(16));
            if perhaps.len() > sets[0].len() {
                sets.push(perhaps);
            }
            // Rows that are many are not the exception.
            sets.retain(|set| set.len() <= n / 4);
            sets
        }
    }
}

/// Flops of bringing in k rows when the rest has given an R of `nnz_r` entries: k solves with R^H there and one back with each
/// solution, and the dense QR factorization of [K^H; I].
pub(crate) fn update_flops(nnz_r: u64, n: usize, k: usize) -> f64 {
    let (n, k) = (n as f64, k as f64);
    4.0 * nnz_r as f64 * k + 2.0 * (n + k) * k * k
}

/// What the parts of a split cost, or a matrix that is not split (k = 0).
pub(super) fn flops(structure: &Structure, n: usize, k: usize) -> f64 {
    let fronts = structure.flops() as f64;
    if k == 0 {
        return fronts;
    }
    fronts + update_flops(structure.nnz_r(), n, k)
}

/// Whether a split is worth its trouble.
pub(super) fn pays(whole: f64, split: f64) -> bool {
    whole >= CLEARLY * split && whole - split >= WORTHWHILE
}

/// W22 without the columns `dense` (increasing), by columns and by rows, and which of its columns are left; no pattern where
/// that is all of them. Rows that become empty are left out.
pub(super) fn without_columns(
    reduced: &Reduced,
    dense: &[u32],
) -> (Vec<u32>, Option<(Pattern, Pattern)>) {
    if dense.is_empty() {
        return (Vec::new(), None);
    }
    let (cols, rows) = (&reduced.cols, &reduced.rows);
    let (m, n) = (cols.nrows(), cols.ncols());
    let sparse: Vec<u32> = (0..n as u32)
        .filter(|j| dense.binary_search(j).is_err())
        .collect();
    let new_col = places(&sparse, n);
    let is_filled = |i: &u32| {
        let mut columns = rows.col(*i as usize).iter();
        columns.any(|&j| new_col[j as usize] != Pattern::LEFT_OUT)
    };
    let filled: Vec<u32> = (0..m as u32).filter(is_filled).collect();
    let new_row = places(&filled, m);
    let left = rayon::join(
        || cols.restricted(&sparse, &new_row, filled.len()),
        || rows.restricted(&filled, &new_col, sparse.len()),
    );
    (sparse, Some(left))
}

/// Columns that are dense beside the others, increasing; none where too many are.
pub(super) fn columns(cols: &Pattern) -> Vec<u32> {
    let (m, n) = (cols.nrows(), cols.ncols());
    let far = FAR * cols.nnz() / n.max(1);
    let limit = limit(m.min(n)).max(far);
    let dense: Vec<u32> = (0..n as u32)
        .filter(|&j| cols.col(j as usize).len() > limit)
        .collect();
    if dense.len() > n / 4 {
        return Vec::new();
    }
    dense
}
