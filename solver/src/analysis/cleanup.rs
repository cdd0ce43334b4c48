//! What needs no factorization comes off first: empty rows and column singletons.
//!
//! Takes W; gives the singletons in elimination order and the reduced matrix W22 that is left:
//!
//! ```text
//!         [ R11  R12 ]   R11 upper triangular, its rows are rows of W as they stand
//!   P W Q = [  0   W22 ]   no empty row, every column at least two entries (or none at all)
//! ```
//!
//! A column with one entry in the rows that are left gives its row to R unchanged; taking that row away may leave
//! further columns with one entry. Davis, "Algorithm 915, SuiteSparseQR", section 2.1, does the same by value; here it
//! is the pattern alone that decides, and a singleton whose value is negligible is found as a small diagonal entry of R.

use super::work::Work;
use std::sync::Arc;
use treeqr_matrices::Pattern;

/// A row of W that is a row of R, and the column that it pivots on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Singleton {
    /// Row of W.
    pub row: u32,
    /// Column of W.
    pub col: u32,
}

/// W22 with its own numbering.
pub(crate) struct Reduced {
    /// Singletons in the order of their elimination: row k has no entry in the columns of singletons before k.
    pub singletons: Vec<Singleton>,
    /// Rows of W that are left, increasing.
    pub row_ids: Vec<u32>,
    /// Columns of W that are left, increasing.
    pub col_ids: Vec<u32>,
    /// W22 by columns; W's own pattern where nothing comes off, as below.
    pub cols: Arc<Pattern>,
    /// W22 by rows.
    pub rows: Arc<Pattern>,
}

/// W22 of W without the rows `left_out` (increasing), which count as empty. O(nnz + m + n).
pub(crate) fn reduce(work: &Work, left_out: &[u32]) -> Reduced {
    let (m, n) = (work.cols.nrows(), work.cols.ncols());
    let mut row_left: Vec<bool> = (0..m).map(|i| !work.rows.col(i).is_empty()).collect();
    let mut col_left = vec![true; n];
    let mut count: Vec<usize> = (0..n).map(|j| work.cols.col(j).len()).collect();
    for &i in left_out {
        row_left[i as usize] = false;
        work.rows
            .col(i as usize)
            .iter()
            .for_each(|&j| count[j as usize] -= 1);
    }
    let mut singletons = Vec::new();
    let mut queue: Vec<u32> = (0..n as u32).filter(|&j| count[j as usize] == 1).collect();
    let mut head = 0;
    while head < queue.len() {
        let col = queue[head];
        head += 1;
        // Its one row may have gone with another singleton meanwhile: then the column is structurally dependent.
        let Some(&row) = work
            .cols
            .col(col as usize)
            .iter()
            .find(|&&i| row_left[i as usize])
        else {
            continue;
        };
        singletons.push(Singleton { row, col });
        row_left[row as usize] = false;
        col_left[col as usize] = false;
        for &j in work.rows.col(row as usize) {
            let j = j as usize;
            count[j] -= 1;
            if count[j] == 1 && col_left[j] {
                queue.push(j as u32);
            }
        }
    }

    let left = |flags: &[bool]| -> Vec<u32> {
        (0..flags.len() as u32)
            .filter(|&i| flags[i as usize])
            .collect()
    };
    let (row_ids, col_ids) = (left(&row_left), left(&col_left));
    if (row_ids.len(), col_ids.len()) == (m, n) {
        return Reduced {
            singletons,
            row_ids,
            col_ids,
            cols: work.cols.clone(),
            rows: work.rows.clone(),
        };
    }
    let (new_row, new_col) = (places(&row_ids, m), places(&col_ids, n));
    let (rows, cols) = rayon::join(
        || work.rows.restricted(&row_ids, &new_col, col_ids.len()),
        || work.cols.restricted(&col_ids, &new_row, row_ids.len()),
    );
    Reduced {
        singletons,
        row_ids,
        col_ids,
        cols: Arc::new(cols),
        rows: Arc::new(rows),
    }
}

/// Of each of `count` rows or columns its place among those that are left.
pub(super) fn places(left: &[u32], count: usize) -> Vec<u32> {
    let mut places = vec![Pattern::LEFT_OUT; count];
    for (k, &i) in left.iter().enumerate() {
        places[i as usize] = k as u32;
    }
    places
}
