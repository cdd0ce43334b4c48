//! Entries in every row of R, without forming R or W^T W.
//!
//! Takes the rows of W (columns numbered by a postordered elimination tree) and the tree; gives |R(k, :)|, the diagonal
//! included. Gilbert, Li, Ng, Peyton, "Computing row and column counts for sparse QR and LU factorization" (BIT 41,
//! 2001): the leaves of the row subtrees are counted, their overlaps taken off at least common ancestors, and the sums
//! flow up the tree. Nearly linear in nnz.

use super::etree::NONE;

/// Rows sorted by their first column: rows with first column k are `ids[start[k]..start[k + 1]]`.
pub(crate) struct RowsByFirst {
    pub start: Vec<usize>,
    pub ids: Vec<u32>,
}

impl RowsByFirst {
    /// From the first column of every row, O(rows + columns).
    pub fn new(ncols: usize, first: &[u32]) -> Self {
        // The start of column k lies at k + 1 as long as rows are put in, and moves on with each of them.
        let mut start = vec![0usize; ncols + 2];
        for &f in first {
            start[f as usize + 2] += 1;
        }
        for k in 2..start.len() {
            start[k] += start[k - 1];
        }
        let mut ids = vec![0u32; first.len()];
        for (&f, i) in first.iter().zip(0..) {
            let slot = &mut start[f as usize + 1];
            ids[*slot] = i;
            *slot += 1;
        }
        start.pop();
        Self { start, ids }
    }

    /// The rows whose first column is `k`.
    pub fn of(&self, k: usize) -> &[u32] {
        &self.ids[self.start[k]..self.start[k + 1]]
    }
}

/// |R(k, :)| for every k; `row(i)` lists the columns of row i, `place` numbers them by the postordered tree.
pub(crate) fn row_counts<'a>(
    parent: &[u32],
    by_first: &RowsByFirst,
    place: &[u32],
    row: impl Fn(u32) -> &'a [u32],
) -> Vec<u32> {
    let n = parent.len();
    // first_descendant[k]: smallest node of the subtree of k; in a postorder the subtree is first_descendant[k]..=k.
    let mut first_descendant: Vec<u32> = (0..n as u32).collect();
    for k in 0..n {
        if parent[k] != NONE {
            let p = parent[k] as usize;
            first_descendant[p] = first_descendant[p].min(first_descendant[k]);
        }
    }
    let mut count: Vec<i64> = (0..n)
        .map(|k| i64::from(first_descendant[k] == k as u32))
        .collect();
    let mut ancestor: Vec<u32> = (0..n as u32).collect();
    // Per column: the largest first descendant of a leaf seen so far, and the last leaf. None is NONE, and so less than all when one is added.
    let mut seen_up_to = vec![NONE; n];
    let mut last_leaf = vec![NONE; n];
    for k in 0..n as u32 {
        if parent[k as usize] != NONE {
            count[parent[k as usize] as usize] -= 1;
        }
        let mut before: &[u32] = &[];
        for &i in by_first.of(k as usize) {
            // A row of the same columns adds nothing.
            let columns = row(i);
            if columns == before {
                continue;
            }
            before = columns;
            for &j in columns {
                let j = place[j as usize];
                let after = seen_up_to[j as usize].wrapping_add(1);
                let is_leaf = j > k && first_descendant[k as usize] >= after;
                if !is_leaf {
                    continue;
                }
                seen_up_to[j as usize] = first_descendant[k as usize];
                count[k as usize] += 1;
                let before = std::mem::replace(&mut last_leaf[j as usize], k);
                if before != NONE {
                    count[find(&mut ancestor, before) as usize] -= 1;
                }
            }
        }
        if parent[k as usize] != NONE {
            ancestor[k as usize] = parent[k as usize];
        }
    }
    for k in 0..n {
        if parent[k] != NONE {
            count[parent[k] as usize] += count[k];
        }
    }
    count.into_iter().map(|c| c as u32).collect()
}

/// Root of the set of `v`, with path compression.
fn find(ancestor: &mut [u32], v: u32) -> u32 {
    let mut root = v;
    while ancestor[root as usize] != root {
        root = ancestor[root as usize];
    }
    let mut at = v;
    while at != root {
        at = std::mem::replace(&mut ancestor[at as usize], root);
    }
    root
}
