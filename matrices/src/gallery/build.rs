//! Triplets that grow, and what a family hands back.

use crate::sparse::Csc;

/// Entries of a matrix in the making.
#[derive(Default)]
pub(super) struct Triplets {
    pub rows: Vec<u32>,
    pub cols: Vec<u32>,
    pub values: Vec<f64>,
}

impl Triplets {
    pub fn with_capacity(n: usize) -> Self {
        Self {
            rows: Vec::with_capacity(n),
            cols: Vec::with_capacity(n),
            values: Vec::with_capacity(n),
        }
    }

    /// Adds an entry; row and column from 0.
    pub fn push(&mut self, row: usize, col: usize, value: f64) {
        self.rows.push(row as u32);
        self.cols.push(col as u32);
        self.values.push(value);
    }

    /// The matrix, duplicates summed.
    pub fn matrix(self, nrows: usize, ncols: usize) -> Csc<f64> {
        Csc::from_owned_triplets(nrows, ncols, self.rows, self.cols, self.values)
            .expect("the family's size was checked and its entries lie within")
    }

    /// The matrix without a right-hand side.
    pub fn finish(self, nrows: usize, ncols: usize) -> Built {
        Built {
            matrix: self.matrix(nrows, ncols),
            rhs: None,
            weights: None,
        }
    }
}

/// What a family's constructor gives.
pub(super) struct Built {
    pub matrix: Csc<f64>,
    pub rhs: Option<Vec<f64>>,
    pub weights: Option<Vec<f64>>,
}

/// The binomial coefficient, about: for estimates of sizes.
pub(super) fn choose(n: f64, k: f64) -> f64 {
    if k > n {
        return 0.0;
    }
    let k = k.min(n - k);
    let mut product = 1.0;
    let mut i = 0.0;
    // Past this, no limit holds any more.
    while i < k && product < 1e30 {
        product *= (n - i) / (i + 1.0);
        i += 1.0;
    }
    product
}
