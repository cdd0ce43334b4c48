//! The fronts: which columns and rows each holds, and its staircase.
//!
//! Takes the rows of W22 (columns numbered by the postordered tree) and the amalgamated groups of pivot columns; gives
//! for every front its columns, row count, staircase, and the parent that its contribution block goes to.
//!
//! A front holds the rows of W that start in its pivot columns and the contribution blocks of its children:
//!
//! ```text
//!           pivots   | contribution columns          after the factorization
//!     ...x x x x x x x x x                           R R R R R R R R R
//!     ...x x x x x x x x x    rows sorted by their     R R R R R R R R
//!        . x x x x x x x x    first column: stair[j]     c c c c c c c   contribution block,
//!        . . x x x x x x x    rows may be nonzero          c c c c c c   upper trapezoidal
//!        . . . . x x x x x    in column j                    c c c c c
//!        . . . . . . x x x                                     (V below)
//! ```
//!
//! The tree is the row-merge tree (George & Ng 1987): a front's parent is where the first row of its contribution block
//! starts, which the column elimination tree predicts but may place lower. A front that leaves no row has no parent.

use super::counts::RowsByFirst;
use super::supernodes::Forest;

/// A front before its final numbering. Columns are numbered by the postordered elimination tree.
pub(crate) struct RawFront {
    /// Pivot columns first, increasing, then the others, increasing.
    pub cols: Vec<u32>,
    pub npiv: u32,
    /// Rows from W, by first column and then by number.
    pub own_rows: Vec<u32>,
    /// Number of rows.
    pub m: u32,
    /// stair[j]: leading rows that may be nonzero in column j.
    pub stair: Vec<u32>,
    /// Rows of the contribution block.
    pub cb_rows: u32,
    /// First column (local) of the contribution block: the columns before are zero in all of its rows.
    pub cb_first: u32,
    pub parent: Option<u32>,
    pub children: Vec<u32>,
}

impl RawFront {
    /// Calls `visit(r, lead)` for every row r of the contribution block (from 0) with the local column it starts in.
    pub fn for_each_lead(&self, mut visit: impl FnMut(u32, u32)) {
        let mut j = self.cb_first;
        for r in 0..self.cb_rows {
            let k = self.npiv + r;
            j = j.max(k);
            while self.stair[j as usize] <= k {
                j += 1;
            }
            visit(r, j);
        }
    }
}

/// First column j >= k with stair[j] > k: where row k of a factorized front starts.
fn lead(stair: &[u32], k: u32) -> u32 {
    k + stair[k as usize..].partition_point(|&s| s <= k) as u32
}

/// O(sum of the fronts' columns and of nnz), sorting apart. `row(i)` lists the columns of row i.
pub(crate) fn build<'a, R: Iterator<Item = u32>>(
    ncols: usize,
    forest: Forest,
    by_first: &RowsByFirst,
    row: impl Fn(u32) -> R + 'a,
) -> Vec<RawFront> {
    let mut owner = vec![0u32; ncols];
    for (f, pivots) in forest.pivots.iter().enumerate() {
        for &k in pivots {
            owner[k as usize] = f as u32;
        }
    }
    let count = forest.pivots.len();
    let mut children_of: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut fronts: Vec<RawFront> = Vec::with_capacity(count);
    // local[k]: place of column k in the front at hand, valid where stamp[k] is that front.
    let mut local = vec![0u32; ncols];
    let mut stamp = vec![u32::MAX; ncols];
    for (f, pivots) in forest.pivots.into_iter().enumerate() {
        let id = f as u32;
        let npiv = pivots.len();
        let mut cols = pivots;
        for (j, &k) in cols.iter().enumerate() {
            local[k as usize] = j as u32;
            stamp[k as usize] = id;
        }
        let own_rows: Vec<u32> = cols
            .iter()
            .flat_map(|&k| by_first.of(k as usize).iter().copied())
            .collect();
        let mut add = |k: u32| {
            if stamp[k as usize] != id {
                stamp[k as usize] = id;
                cols.push(k);
            }
        };
        for &i in &own_rows {
            row(i).for_each(&mut add);
        }
        let children = std::mem::take(&mut children_of[f]);
        for &c in &children {
            let child: &RawFront = &fronts[c as usize];
            child.cols[child.cb_first as usize..]
                .iter()
                .copied()
                .for_each(&mut add);
        }
        cols[npiv..].sort_unstable();
        for (j, &k) in cols.iter().enumerate().skip(npiv) {
            local[k as usize] = j as u32;
        }

        let n = cols.len();
        let mut stair = vec![0u32; n];
        for (j, &k) in cols[..npiv].iter().enumerate() {
            stair[j] += by_first.of(k as usize).len() as u32;
        }
        for &c in &children {
            let child = &fronts[c as usize];
            child.for_each_lead(|_, lead| {
                stair[local[child.cols[lead as usize] as usize] as usize] += 1
            });
        }
        for j in 1..n {
            stair[j] += stair[j - 1];
        }
        let m = stair[n - 1];
        let cb_rows = (m.min(n as u32)).saturating_sub(npiv as u32);
        let cb_first = if cb_rows > 0 {
            lead(&stair, npiv as u32)
        } else {
            n as u32
        };
        let parent = (cb_rows > 0).then(|| owner[cols[cb_first as usize] as usize]);
        if let Some(p) = parent {
            children_of[p as usize].push(id);
        }
        fronts.push(RawFront {
            cols,
            npiv: npiv as u32,
            own_rows,
            m,
            stair,
            cb_rows,
            cb_first,
            parent,
            children,
        });
    }
    fronts
}
