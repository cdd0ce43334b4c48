//! A with the columns of W (the rows of a wide A) scaled by powers of two to norms of about 1.
//!
//! Takes A of any magnitude; gives a copy whose values fit every precision, exactly the same up to powers of two, and the
//! way between vectors of the one and of the other. What is below 2^-126 of its column's norm may vanish in single.

use crate::numeric::magnitude::{shift, shifted};
use treeqr_matrices::{Csc, RealScalar, Scalar};

/// A scaled copy of A.
#[derive(Clone, Debug)]
pub struct Scaled<T> {
    matrix: Csc<T>,
    /// By column of W: the copy is A over 2 to this power.
    exponents: Vec<i32>,
    /// R of the copy is R of what was factorized over 2 to this power.
    pub(super) factor_exponent: i32,
    /// Whether W is the conjugate transpose of A.
    pub(super) wide: bool,
}

impl<T: Scalar> Scaled<T> {
    /// Every column of W by itself. What is to be factorized is [`Self::matrix`], in any precision. O(nnz).
    pub fn by_columns(a: &Csc<T>) -> Self {
        let wide = a.nrows() < a.ncols();
        let exponents = if wide {
            row_exponents(a)
        } else {
            (0..a.ncols()).map(|j| norm_exponent(a.col(j).1)).collect()
        };
        Self::with(a, exponents, 0)
    }

    /// All alike, for factors of A itself. O(nnz).
    pub fn evenly(a: &Csc<T>) -> Self {
        let largest = a.values().iter().map(|v| v.abs().to_f64());
        let exponent = exponent(largest.fold(0.0, f64::max));
        let columns = a.nrows().min(a.ncols());
        Self::with(a, vec![exponent; columns], exponent)
    }

    fn with(a: &Csc<T>, exponents: Vec<i32>, factor_exponent: i32) -> Self {
        let wide = a.nrows() < a.ncols();
        let mut values = a.values().to_vec();
        let colptr = a.pattern().colptr();
        for j in 0..a.ncols() {
            let range = colptr[j]..colptr[j + 1];
            let rows = &a.pattern().rowidx()[range.clone()];
            for (value, &i) in values[range].iter_mut().zip(rows) {
                let column = if wide { i as usize } else { j };
                *value = shifted(*value, -exponents[column]);
            }
        }
        Scaled {
            matrix: Csc::new(a.pattern().clone(), values).expect("a value for each"),
            exponents,
            factor_exponent,
            wide,
        }
    }

    /// The copy. It shares the pattern of A.
    pub fn matrix(&self) -> &Csc<T> {
        &self.matrix
    }

    /// b for the copy, over 2 to the power that is given too, so that its norm is about 1.
    pub(super) fn rhs(&self, b: &[T]) -> (Vec<T>, i32) {
        let own = |i: usize| if self.wide { self.exponents[i] } else { 0 };
        let size = |(i, v): (usize, &T)| {
            let size = v.abs().to_f64();
            (size > 0.0 && size.is_finite()).then(|| exponent(size) - own(i))
        };
        let common = b.iter().enumerate().filter_map(size).max().unwrap_or(0);
        let each = b.iter().enumerate();
        let scaled = each.map(|(i, &v)| shifted(v, -(own(i) + common)));
        (scaled.collect(), common)
    }

    /// x from the solution y for a scaled b.
    pub(super) fn solution(&self, y: &[T], common: i32) -> Vec<T> {
        let own = |j: usize| if self.wide { 0 } else { self.exponents[j] };
        let each = y.iter().enumerate();
        each.map(|(j, &v)| shifted(v, common - own(j))).collect()
    }

    /// The inverse of [`Self::solution`].
    pub(super) fn start(&self, x: &[T], common: i32) -> Vec<T> {
        let own = |j: usize| if self.wide { 0 } else { self.exponents[j] };
        let each = x.iter().enumerate();
        each.map(|(j, &v)| shifted(v, own(j) - common)).collect()
    }
}

/// The power of two nearest to a size, 0 for what has none.
fn exponent(size: f64) -> i32 {
    if size > 0.0 && size.is_finite() {
        size.log2().round() as i32
    } else {
        0
    }
}

/// The power of two nearest to the 2-norm, which itself may not be a number of the format.
fn norm_exponent<T: Scalar>(column: &[T]) -> i32 {
    let largest = exponent(column.iter().map(|v| v.abs().to_f64()).fold(0.0, f64::max));
    let squares = column.iter().map(|&v| shifted_abs(v, -largest).powi(2));
    largest + exponent(squares.sum::<f64>().sqrt())
}

fn row_exponents<T: Scalar>(a: &Csc<T>) -> Vec<i32> {
    let entries = || {
        a.pattern()
            .rowidx()
            .iter()
            .map(|&i| i as usize)
            .zip(a.values())
    };
    let mut largest = vec![0f64; a.nrows()];
    for (i, v) in entries() {
        largest[i] = largest[i].max(v.abs().to_f64());
    }
    let largest: Vec<i32> = largest.into_iter().map(exponent).collect();
    let mut squares = vec![0f64; a.nrows()];
    for (i, &v) in entries() {
        squares[i] += shifted_abs(v, -largest[i]).powi(2);
    }
    let norms = largest.iter().zip(squares);
    norms.map(|(&e, sum)| e + exponent(sum.sqrt())).collect()
}

fn shifted_abs<T: Scalar>(v: T, by: i32) -> f64 {
    shift(v.re().to_f64(), by).hypot(shift(v.im().to_f64(), by))
}

#[cfg(test)]
mod tests {
    use super::*;
    use treeqr_matrices::c64;

    #[test]
    fn columns_get_norms_of_about_one_and_vectors_go_there_and_back() {
        let one = |re, im| c64::new(re, im);
        let values = vec![one(3e300, 4e300), one(1e300, 0.0), one(0.0, 2e-310)];
        for (rows, cols, i, j) in [(3, 2, [0, 2, 1], [0, 0, 1]), (2, 3, [0, 0, 1], [0, 2, 1])] {
            let a = Csc::from_triplets(rows, cols, &i, &j, &values).expect("triplets");
            let scaled = Scaled::by_columns(&a);
            let columns = if rows < cols {
                scaled.matrix().adjoint()
            } else {
                scaled.matrix().clone()
            };
            for k in 0..2 {
                let norm = treeqr_matrices::norm2(columns.col(k).1);
                assert!((0.7..=1.5).contains(&norm), "{norm}");
            }
            let x: Vec<c64> = (0..cols).map(|k| one(k as f64, 1.0)).collect();
            assert_eq!(scaled.solution(&scaled.start(&x, 7), 7), x);
            let b: Vec<c64> = (0..rows).map(|k| one(1e-290, k as f64)).collect();
            let (small, _) = scaled.rhs(&b);
            let norm = treeqr_matrices::norm2(&small);
            assert!((0.5..4.0).contains(&norm), "{norm}");
        }
    }
}
