//! What counts as negligible.
//!
//! The tolerance is that of SuiteSparseQR (Davis, Algorithm 915, section 2.3): 20 (m + n) eps max_j ||A(:, j)||_2.

use crate::error::SolveError;
use crate::numeric::FactorScalar;
use crate::numeric::magnitude::{floor_log2, shift};
use treeqr_matrices::{Csc, RealScalar, largest_part};

/// The largest norm of a column of W, the matrix that is factorized (its columns are the rows of A when A is wide).
pub(crate) fn largest_column<T: FactorScalar>(a: &Csc<T>, transposed: bool) -> f64 {
    if transposed {
        max_row_norm(a)
    } else {
        a.max_column_norm().to_f64()
    }
}

/// The default tolerance for columns of that norm.
pub(crate) fn default_tolerance<T: FactorScalar>(a: &Csc<T>, largest_column: f64) -> f64 {
    20.0 * (a.nrows() + a.ncols()) as f64 * epsilon::<T>() * largest_column
}

fn epsilon<T: FactorScalar>() -> f64 {
    <T::Real as RealScalar>::EPSILON.to_f64()
}

/// Of a matrix with columns of norm `largest_column` and an inverse of this norm, whether it is singular to working precision: a
/// solution with it may have no digit that is right.
pub(super) fn is_singular<T: FactorScalar>(largest_column: f64, inverse: f64) -> bool {
    let condition = largest_column * inverse;
    condition.is_nan() || condition > 0.1 / epsilon::<T>()
}

fn max_row_norm<T: FactorScalar>(a: &Csc<T>) -> f64 {
    let largest_square = |by: f64| {
        let mut squares = vec![0f64; a.nrows()];
        for (&i, v) in a.pattern().rowidx().iter().zip(a.values()) {
            let scaled = v.abs().to_f64() * by;
            squares[i as usize] += scaled * scaled;
        }
        largest_part(&squares)
    };
    // What vanished is in no row that counts.
    let square = largest_square(1.0);
    if square.is_finite() && square > SAFE {
        return square.sqrt();
    }
    // Scaled by the power of two of the largest entry, so that no square overflows or vanishes.
    let largest = largest_part(a.values()).to_f64();
    if largest == 0.0 {
        return 0.0;
    }
    let power = floor_log2(largest).clamp(-1022, 1022);
    shift(largest_square(2f64.powi(-power)).sqrt(), power)
}

/// Sums of squares above it are right to the last digits.
const SAFE: f64 = 1e-270;

/// Whether a matrix of this condition costs a solution no more than a quarter of the digits.
pub(super) fn is_well_conditioned<T: FactorScalar>(condition: f64) -> bool {
    condition <= epsilon::<T>().powf(-0.25)
}

/// Whether it costs no more than half of them: what is computed with it may serve then, if a look at it says so.
pub(super) fn may_serve<T: FactorScalar>(condition: f64) -> bool {
    condition <= epsilon::<T>().powf(-0.5)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows and columns of all magnitudes, whose squares are no numbers of the format.
    #[test]
    fn the_largest_norm_is_found_at_all_magnitudes() {
        let (rows, cols) = ([0, 0, 1, 2, 2, 2], [0, 1, 1, 0, 2, 3]);
        // Rows (3 2), (2), (5 -3 tiny) and columns (3 5), (2 2), (-3), (tiny); rows (3 2), (2), (-2 5 0) and columns (3 -2), (2 2), (5), (0).
        let cases = [
            ([3.0, 2.0, 2.0, 5.0, -3.0, 1e-200], 34f64, 34f64),
            ([3.0, 2.0, 2.0, -2.0, 5.0, 0.0], 25.0, 29.0),
        ];
        for power in [-1000, -540, -300, 0, 300, 510, 1000] {
            let by = 2f64.powi(power);
            for (values, columns, of_rows) in cases {
                let values = values.map(|v| v * by);
                let a = Csc::from_triplets(3, 4, &rows, &cols, &values).expect("in range");
                for (transposed, square) in [(false, columns), (true, of_rows)] {
                    let (found, norm) = (largest_column(&a, transposed), square.sqrt() * by);
                    assert!((found - norm).abs() <= 1e-15 * norm, "2^{power}: {found:e}");
                }
            }
        }
        let none = Csc::<f64>::from_triplets(2, 3, &[], &[], &[]).expect("in range");
        assert_eq!(largest_column(&none, true), 0.0);
    }
}
