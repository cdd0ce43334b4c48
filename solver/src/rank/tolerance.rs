//! What counts as negligible.
//!
//! The tolerance is that of SuiteSparseQR (Davis, Algorithm 915, section 2.3): 20 (m + n) eps max_j ||A(:, j)||_2.

use crate::error::SolveError;
use crate::numeric::FactorScalar;
use treeqr_matrices::{Csc, RealScalar};

/// The default tolerance for W, the matrix that is factorized (its columns are the rows of A when A is wide).
pub(crate) fn default_tolerance<T: FactorScalar>(a: &Csc<T>, transposed: bool) -> f64 {
    let norm = if transposed {
        max_row_norm(a)
    } else {
        a.max_column_norm().to_f64()
    };
    20.0 * (a.nrows() + a.ncols()) as f64 * <T::Real as RealScalar>::EPSILON.to_f64() * norm
}

fn max_row_norm<T: FactorScalar>(a: &Csc<T>) -> f64 {
    // Scaled by the largest entry, so that no square overflows or vanishes.
    let largest = a
        .values()
        .iter()
        .map(|v| v.abs().to_f64())
        .fold(0.0, f64::max);
    if largest == 0.0 {
        return 0.0;
    }
    let mut squares = vec![0f64; a.nrows()];
    for (&i, v) in a.pattern().rowidx().iter().zip(a.values()) {
        let scaled = v.abs().to_f64() / largest;
        squares[i as usize] += scaled * scaled;
    }
    largest * squares.into_iter().fold(0.0, f64::max).sqrt()
}

/// The error that names the column of W as a column (or row) of A.
pub(crate) fn rank_deficient(
    transposed: bool,
    column: u32,
    pivot: f64,
    tolerance: f64,
) -> SolveError {
    SolveError::RankDeficient {
        what: if transposed { "row" } else { "column" },
        index: column as usize + 1,
        pivot,
        tolerance,
    }
}
