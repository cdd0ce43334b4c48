//! The factors as matrices of their own: R, its permutations, Q by columns, and Q as Householder vectors.
//!
//! Takes the factors; gives matrices for A P = Q R (A^H P = Q R for a wide A), P from [`Symbolic::column_order`](crate::Symbolic::column_order). Where the
//! rank is not full R is upper trapezoidal, with a row for each live pivot.
//!
//! | file | subject |
//! | --- | --- |
//! | `mod` | R and the columns of Q |
//! | `householder` | H, tau and the order of rows |

mod householder;

pub use householder::Householder;

use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors};
use crate::solve::SolveOptions;
use treeqr_matrices::{Csc, Dense, Pattern};

/// Columns of Q that are made together.
const BLOCK: usize = 128;

impl<T: FactorScalar> Factors<T> {
    /// R with its columns in elimination order ([`Symbolic::column_order`](crate::Symbolic::column_order)): upper triangular where the rank is full,
    /// upper trapezoidal with as many rows as the [rank](Self::rank) else. [`Self::trapezoid`] has the columns in their own numbering. Zeros are
    /// left out. None with dense rows split off. O(nnz(R)).
    pub fn r_matrix(&self) -> Option<Csc<T>> {
        let r = self.trapezoid()?;
        let (mut colptr, mut rowidx) = (vec![0], Vec::with_capacity(r.nnz()));
        let mut values = Vec::with_capacity(r.nnz());
        for column in self.symbolic.column_order() {
            let (rows, of) = r.col(column as usize);
            rowidx.extend_from_slice(rows);
            values.extend_from_slice(of);
            colptr.push(rowidx.len());
        }
        let pattern = Pattern::new(r.nrows(), r.ncols(), colptr, rowidx);
        let pattern = pattern.expect("columns of a matrix in another order");
        Some(Csc::new(pattern, values).expect("a value for every entry"))
    }

    /// The columns of Q that R belongs to, one for each row of [`Self::r_matrix`]: an orthonormal basis of the range of A (of A^H for a wide
    /// A), to within what was dropped. 4 nnz(H) flops a column at most: columns of a subtree touch only that.
    ///
    /// # Errors
    /// [`SolveError::NoQ`] when Q was not kept; [`SolveError::Run`].
    pub fn q_economy(&self, options: &SolveOptions) -> Result<Dense<T>, SolveError> {
        let (rows, n) = (self.symbolic.work_rows(), self.symbolic.work_cols());
        let mut live = vec![true; n];
        for &place in self.deficiency.iter().flat_map(|d| d.dead_places()) {
            live[place as usize] = false;
        }
        let live: Vec<u32> = (0..n as u32).filter(|&p| live[p as usize]).collect();
        let mut values = Vec::with_capacity(rows * live.len());
        if live.is_empty() {
            self.check_q("Q")?;
        }
        for places in live.chunks(BLOCK) {
            let columns: Vec<u32> = (0..places.len() as u32).collect();
            let ones = vec![T::one(); places.len()];
            let units = Csc::from_triplets(n, places.len(), places, &columns, &ones);
            let units = units.expect("places of R");
            values.extend(self.apply_q_sparse(&units, options, &())?);
        }
        Ok(Dense::new(rows, live.len(), values).expect("as many rows each"))
    }
}
