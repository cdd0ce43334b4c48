//! The rows of R of a node that changed, in block columns as the tasks have left them: what lies below R there are reflectors.
//!
//! ```text
//!      r r r r | r r r r     each block column has rows of its own, no fewer than R has there;
//!      v r r r | r r r r     v: not read here
//!      v v v r | r r r r
//!      ---------v v r r r
//! ```

use super::rework::Reworked;
use crate::numeric::FactorScalar;
use std::ops::Range;
use treeqr_kernels::MatRef;
use treeqr_runtime::{DataStore, Handle};

/// Columns whose triangle is gone through by single columns. A block column has a multiple of it, or is the only one.
pub(super) const STRIP: usize = 32;

/// R by block columns.
#[derive(Debug)]
pub(super) struct BlockColumns<T> {
    /// Columns of a block column; the last one may have fewer.
    pub width: u32,
    pub columns: Vec<BlockColumn<T>>,
}

/// Some columns, one after the other.
#[derive(Debug)]
pub(super) struct BlockColumn<T> {
    /// From one column to the next.
    pub rows: usize,
    pub values: Values<T>,
}

/// Where they are.
#[derive(Debug)]
pub(super) enum Values<T> {
    Own(Vec<T>),
    /// In the store of the run.
    Kept(Handle),
}

/// To read R.
pub(super) struct View<'a, T> {
    width: usize,
    /// By block column: its entries, and from one column to the next.
    columns: Vec<(&'a [T], usize)>,
}

impl<T: FactorScalar> Reworked<T> {
    /// R, with the store of the run that made it.
    pub fn view<'a>(&'a self, store: &'a DataStore) -> View<'a, T> {
        let values = |block: &'a BlockColumn<T>| match &block.values {
            Values::Own(values) => &values[..],
            Values::Kept(handle) => store.get_as(*handle).expect("a block column is kept"),
        };
        let columns = self.r.columns.iter();
        View {
            width: self.r.width as usize,
            columns: columns.map(|b| (values(b), b.rows)).collect(),
        }
    }

    /// Rows of R that begin before column `j`.
    pub fn before(&self, j: usize) -> usize {
        self.live.partition_point(|&l| (l as usize) < j)
    }

    /// Whether column `j` has row `row` of R for its own.
    pub fn is_live(&self, j: usize, row: usize) -> bool {
        self.live.get(row).is_some_and(|&l| l as usize == j)
    }

    /// Entries of R.
    pub fn entries(&self) -> usize {
        let n = self.cols.len();
        self.live.iter().map(|&l| n - l as usize).sum()
    }

    /// Entries that R takes in memory.
    pub fn stored(&self) -> usize {
        let (n, width) = (self.cols.len(), self.r.width as usize);
        let columns = self.r.columns.iter().enumerate();
        columns
            .map(|(k, block)| block.rows * width.min(n - k * width))
            .sum()
    }
}

impl<'a, T: FactorScalar> View<'a, T> {
    /// The first `rows` entries of column `j`.
    pub fn column(&self, j: usize, rows: usize) -> &'a [T] {
        let (values, ld) = self.columns[j / self.width];
        &values[j % self.width * ld..][..rows]
    }

    /// The entries of some columns of one block column from row `row` on, and how far it is from one column to the next. Nothing where
    /// there is no such row.
    pub fn from(&self, columns: &Range<usize>, row: usize) -> (&'a [T], usize) {
        let (values, ld) = self.columns[columns.start / self.width];
        if row >= ld {
            return (&[], ld);
        }
        (&values[columns.start % self.width * ld + row..], ld)
    }

    /// The first `rows` rows of some columns of one block column.
    pub fn part(&self, columns: &Range<usize>, rows: usize) -> MatRef<'a, T> {
        let (values, ld) = self.from(columns, 0);
        MatRef::new(values, rows, columns.len(), ld.max(1))
    }

    /// Columns cut at the bounds of block columns, and at multiples of `step` where it is not 0.
    pub fn cut(
        &self,
        columns: Range<usize>,
        step: usize,
    ) -> impl Iterator<Item = Range<usize>> + use<T> {
        let mut start = columns.start;
        let step = if step == 0 { self.width } else { step };
        std::iter::from_fn(move || {
            let end = ((start / step + 1) * step).min(columns.end);
            let part = start..end;
            start = end;
            (!part.is_empty()).then_some(part)
        })
    }
}
