//! From a column order to fronts: tree, counts, supernodes, fronts.

use super::cleanup::Reduced;
use super::counts::{RowsByFirst, row_counts};
use super::fronts::{self, RawFront};
use super::{etree, supernodes};
use treeqr_kernels::{Stair, front_qr_flops};

/// What one column order leads to.
pub(crate) struct Structure {
    /// Columns of W22 in the postordered elimination order.
    pub order: Vec<u32>,
    /// Fronts, children before parents.
    pub fronts: Vec<RawFront>,
}

impl Structure {
    /// The fronts for `order`, a permutation of the columns of W22.
    pub fn new(reduced: &Reduced, order: &[u32]) -> Self {
        let (order, parent) = etree::postordered_etree(&reduced.cols, order);
        let mut place = vec![0u32; order.len()];
        for (k, &j) in order.iter().enumerate() {
            place[j as usize] = k as u32;
        }
        let columns_of = |i: u32| {
            reduced
                .rows
                .col(i as usize)
                .iter()
                .map(|&j| place[j as usize])
        };
        let rows = 0..reduced.row_ids.len() as u32;
        let first: Vec<u32> = rows
            .map(|i| columns_of(i).min().expect("no empty row"))
            .collect();
        let by_first = RowsByFirst::new(order.len(), &first);
        let counts = row_counts(&parent, &by_first, columns_of);
        let start = supernodes::fundamental(&parent, &counts);
        let fronts = fronts::build(&start, &by_first, columns_of);
        Structure { order, fronts }
    }

    /// Flops of the fronts as whole blocks, in real arithmetic.
    pub fn flops(&self) -> u64 {
        let flops = |f: &RawFront| {
            front_qr_flops::<f64>(f.m as usize, f.cols.len(), 0, Stair::Rows(&f.stair))
        };
        self.fronts.iter().map(flops).sum()
    }

    /// Entries of R in the fronts.
    pub fn nnz_r(&self) -> u64 {
        let entries = |f: &RawFront| {
            let (k, n) = (u64::from(f.npiv), f.cols.len() as u64);
            k * n - k * k.saturating_sub(1) / 2
        };
        self.fronts.iter().map(entries).sum()
    }

    /// Time of the fronts one after the other by the model of the amalgamation, in ns.
    pub fn time_ns(&self) -> f64 {
        self.fronts.iter().map(|f| f.time_ns).sum()
    }
}
