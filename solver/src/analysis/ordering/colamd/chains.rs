//! The elimination tree as it grows.
//!
//! Columns that leave together are a chain: the row of R of each is that of the one before without its first entry. The last one's parent is the first
//! column of the element that they leave behind to be eliminated. That is the pivot that takes the element in; where it left as part of
//! a larger one, its columns are kept to see which was first. An element is the exact union of its rows, so the lengths of R's rows are known, too:
//! no other pass over the matrix is needed for them (compare `analysis/etree.rs` and `analysis/counts.rs`).

use crate::analysis::etree::{CountedTree, NONE};

/// Columns that left together.
struct Chain {
    /// How many columns have left with them.
    end: u32,
    /// Entries of the first one's row of R.
    width: u32,
    /// The column that the last one hangs on, if that is known.
    above: u32,
}

/// All chains.
#[derive(Default)]
pub(super) struct Chains {
    all: Vec<Chain>,
    /// The chain that left an element behind, by the element's row.
    of_row: Vec<u32>,
    /// Chains whose elements left as parts of others, with the ends of their columns in `inner_columns`.
    inner: Vec<(u32, usize)>,
    inner_columns: Vec<u32>,
}

impl Chains {
    /// For so many rows, which are no elements.
    pub fn new(rows: usize) -> Self {
        Chains {
            of_row: vec![NONE; rows],
            ..Chains::default()
        }
    }

    /// The columns that have left since the last chain, `end` in all with them; the first one's row of R has `width` entries. `element` is the row of what they
    /// leave behind.
    pub fn add(&mut self, end: usize, width: u32, element: Option<u32>) {
        if let Some(row) = element {
            self.of_row[row as usize] = self.all.len() as u32;
        }
        self.all.push(Chain {
            end: end as u32,
            width,
            above: NONE,
        });
    }

    /// The element of this row, if it is one, is taken in by a pivot.
    pub fn hang(&mut self, row: u32, pivot: u32) {
        let chain = std::mem::replace(&mut self.of_row[row as usize], NONE);
        if chain != NONE {
            self.all[chain as usize].above = pivot;
        }
    }

    /// The element of this row, if it is one, leaves as part of another; `columns` gives its own.
    pub fn leave_within<'c>(&mut self, row: u32, columns: impl FnOnce() -> &'c [u32]) {
        let chain = std::mem::replace(&mut self.of_row[row as usize], NONE);
        if chain != NONE {
            self.inner_columns.extend_from_slice(columns());
            self.inner.push((chain, self.inner_columns.len()));
        }
    }

    /// The tree, when all columns have left in this order.
    pub fn tree(&mut self, order: Vec<u32>) -> CountedTree {
        let mut place = vec![NONE; order.len()];
        for (&c, k) in order.iter().zip(0..) {
            place[c as usize] = k;
        }
        let mut begin = 0;
        for &(chain, end) in &self.inner {
            let columns = &self.inner_columns[begin..end];
            let first = columns.iter().min_by_key(|&&c| place[c as usize]);
            self.all[chain as usize].above = *first.expect("an element has columns");
            begin = end;
        }
        let mut parent: Vec<u32> = (1..=order.len() as u32).collect();
        let mut counts = Vec::with_capacity(order.len());
        for chain in std::mem::take(&mut self.all) {
            let columns = chain.end - counts.len() as u32;
            counts.extend((0..columns).map(|k| chain.width - k));
            parent[chain.end as usize - 1] = match chain.above {
                NONE => NONE,
                above => place[above as usize],
            };
        }
        CountedTree {
            order,
            parent,
            counts,
        }
    }
}
