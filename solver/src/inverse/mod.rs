//! The sparse inverse subset: entries of Z = (A^H A)^{-1} = R^{-1} R^{-H} on the pattern of R.
//!
//! Takes R of a tall or square A of full rank; gives Z where R has entries, O(nnz(R)) of them, by one sweep down the tree. A node
//! with R = \[R11 R12\] and Z22, the part of Z that belongs to its columns beyond the pivots and is known from above, has
//!
//! ```text
//!     U = R11^{-1} R12        Z12 = -U Z22        Z11 = R11^{-1} R11^{-H} + U Z22 U^H
//! ```
//!
//! K. Takahashi, J. Fagan, M.-S. Chen, *Formation of a sparse bus impedance matrix and its application to short circuit study*,
//! PICA 1973; A. Erisman, W. Tinney, *On computing certain elements of the inverse of a sparse matrix*, CACM 18, 1975; for
//! covariances A. Björck, *Numerical Methods for Least Squares Problems*, 1996, section 6.7.4.
//!
//! | file | subject |
//! | --- | --- |
//! | `structure` | the nodes with a pattern that the recurrence does not leave |
//! | `node` | the numbers of one node |
//! | `sweep` | all of them, as tasks |

mod node;
mod structure;
mod sweep;

use crate::error::SolveError;
use crate::numeric::magnitude::shifted;
use crate::numeric::{FactorScalar, Factors};
use crate::rank::Nodes;
use crate::solve::SolveOptions;
use structure::Structure;
use treeqr_matrices::RealScalar;

/// Entries of (A^H A)^{-1}: at least those where R or R^H has one, by columns of A.
pub struct InverseSubset<T> {
    structure: Structure,
    /// Place of a column of A in the elimination order.
    place: Vec<u32>,
    /// By node, pivots x columns: column by column.
    values: Vec<Vec<T>>,
}

impl<T: FactorScalar> InverseSubset<T> {
    /// Columns of A.
    pub fn order(&self) -> usize {
        self.place.len()
    }

    /// Entry (i, j); none where it was not computed.
    ///
    /// # Panics
    /// When A has no such column.
    pub fn get(&self, i: usize, j: usize) -> Option<T> {
        let (row, col) = (self.place[i], self.place[j]);
        if row <= col {
            self.upper(row, col)
        } else {
            self.upper(col, row).map(|value| value.conj())
        }
    }

    /// The entry at these places, of which the second is not the smaller one.
    fn upper(&self, row: u32, col: u32) -> Option<T> {
        let s = &self.structure;
        let node = s.owner(row);
        let (first, npiv) = (s.first[node], s.npiv(node));
        let local = match (col - first) as usize {
            pivot if pivot < npiv => pivot,
            _ => npiv + s.others[node].binary_search(&col).ok()?,
        };
        Some(self.values[node][local * npiv + (row - first) as usize])
    }

    /// The diagonal: the variances of the entries of x, over the variance of the observations.
    pub fn diagonal(&self) -> Vec<f64> {
        let all = self.place.iter();
        all.map(|&p| self.upper(p, p).expect("a diagonal").re().to_f64())
            .collect()
    }

    /// Entries that are held, in the upper triangle.
    pub fn entries(&self) -> u64 {
        self.structure.entries()
    }
}

impl<T: FactorScalar> Factors<T> {
    /// Entries of (A^H A)^{-1} on the pattern of R, as tasks over the tree. Where R has rows that reach beyond their tree (column
    /// singletons, block triangular matrices) the pattern is filled to that of a Cholesky factor of A^H A.
    /// [`Self::inverse_subset_flops`]; memory for [`InverseSubset::entries`], and on the way for the Z22 of nodes that wait.
    ///
    /// # Errors
    /// [`SolveError::RankDeficient`], since A^H A is singular then; [`SolveError::Run`]: whatever ends a run.
    ///
    /// # Panics
    /// When A is wide, where A^H A is singular.
    pub fn inverse_subset(&self, options: &SolveOptions) -> Result<InverseSubset<T>, SolveError> {
        self.check_inverse()?;
        self.check_unsplit("the inverse on the pattern of R")?;
        let nodes = Nodes::new(self);
        let structure = Structure::new(&nodes);
        let mut values = sweep::run_all(&nodes, &structure, options)?;
        // R is kept over a power of two of its own.
        let by = -2 * self.exponent;
        for value in values.iter_mut().flatten() {
            *value = shifted(*value, by);
        }
        let mut place = vec![0; nodes.order.len()];
        for (p, &column) in nodes.order.iter().enumerate() {
            place[column as usize] = p as u32;
        }
        Ok(InverseSubset {
            structure,
            place,
            values,
        })
    }

    /// Floating-point operations of [`Self::inverse_subset`], real ones as those of a solve. O(nnz(R)) integer operations at most.
    ///
    /// # Panics
    /// When A is wide.
    pub fn inverse_subset_flops(&self) -> u64 {
        assert!(!self.symbolic.transposed(), "A^H A of a wide A is singular");
        let structure = Structure::new(&Nodes::new(self));
        let real: f64 = (0..structure.len()).map(|node| structure.flops(node)).sum();
        self.plan().flops(real as u64)
    }

    /// What has an inverse of A^H A.
    pub(crate) fn check_inverse(&self) -> Result<(), SolveError> {
        assert!(!self.symbolic.transposed(), "A^H A of a wide A is singular");
        self.check_whole()?;
        let rank = self.rank_details();
        match rank.dead.first() {
            None => Ok(()),
            Some(&column) => Err(SolveError::RankDeficient {
                what: "column",
                index: column as usize + 1,
                pivot: 0.0,
                tolerance: rank.tolerance,
            }),
        }
    }
}
