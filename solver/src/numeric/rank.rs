//! Whether the factors have full rank: no diagonal entry of R is negligible.
//!
//! The tolerance is that of SuiteSparseQR (Davis, Algorithm 915, section 2.3): 20 (m + n) eps max_j ||A(:, j)||_2. Without
//! column exchanges a small diagonal entry proves a dependence to working accuracy; the first one is named, those after it
//! mean nothing.

use super::{FactorScalar, Factors};
use crate::error::SolveError;
use treeqr_matrices::{Csc, RealScalar, Scalar};

/// The default tolerance for W, the matrix that is factorized (its columns are the rows of A when A is wide).
pub(super) fn default_tolerance<T: FactorScalar>(a: &Csc<T>, transposed: bool) -> f64 {
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

/// Finds the first negligible pivot in elimination order.
pub(super) fn check<T: FactorScalar>(
    factors: &Factors<T>,
    tolerance: f64,
) -> Result<(), SolveError> {
    let symbolic = &factors.symbolic;
    let deficient = |column: u32, pivot: f64| {
        Err(rank_deficient(
            symbolic.transposed,
            column,
            pivot,
            tolerance,
        ))
    };
    for (singleton, row) in symbolic.singletons.iter().zip(&factors.singleton_rows) {
        let pivot = row
            .iter()
            .find(|e| e.0 == singleton.col)
            .map_or(0.0, |e| e.1.abs().to_f64());
        if negligible(pivot, tolerance) {
            return deficient(singleton.col, pivot);
        }
    }
    let plan = factors.plan();
    for (f, front) in symbolic.tree.fronts.iter().enumerate() {
        let r = factors.r(&plan, f);
        for j in 0..front.npiv as usize {
            let pivot = Scalar::abs(r.diagonal(j)).to_f64();
            if negligible(pivot, tolerance) {
                return deficient(
                    symbolic.tree.col_order[front.first_pivot as usize + j],
                    pivot,
                );
            }
        }
    }
    Ok(())
}

/// Not "pivot > tolerance", so that NaN is negligible too.
fn negligible(pivot: f64, tolerance: f64) -> bool {
    pivot.is_nan() || pivot <= tolerance
}

/// The error that names the column of W as a column (or row) of A.
fn rank_deficient(transposed: bool, column: u32, pivot: f64, tolerance: f64) -> SolveError {
    SolveError::RankDeficient {
        what: if transposed { "row" } else { "column" },
        index: column as usize + 1,
        pivot,
        tolerance,
    }
}
