//! Triangular systems with R: one front's rows of it, and the rows of the singletons.
//!
//! Takes R and a block of vectors, columns one after the other; changes the block in place. Knows no tree.

use crate::analysis::cleanup::Singleton;
use crate::numeric::{FactorScalar, RBlock};

/// Columns of the factorized matrix and the values there, of a row on which a singleton pivots.
pub(super) type Row<T> = Vec<(u32, T)>;

/// A front's part of R x = c. `z` has `n` rows, x at the bottom and c in the `npiv` on top, which become x.
/// 2 nnz flops a column.
pub(crate) fn solve_front<T: FactorScalar>(r: &RBlock<'_, T>, npiv: usize, n: usize, z: &mut [T]) {
    for j in (0..n).rev() {
        if j < npiv {
            let diagonal = r.diagonal(j);
            z.iter_mut().skip(j).step_by(n).for_each(|x| *x /= diagonal);
        }
        r.column(j, |row, values| {
            let values = above_diagonal(j, row, values);
            for column in z.chunks_exact_mut(n) {
                let x = column[j];
                let part = &mut column[row..row + values.len()];
                for (t, &v) in part.iter_mut().zip(values) {
                    *t -= v * x;
                }
            }
        });
    }
}

/// A front's part of R^H y = c. `z` has `n` rows of c, from which what lies below in the tree has been taken; y takes the
/// place of the `npiv` on top, and is taken from the others. 2 nnz flops a column.
pub(crate) fn solve_front_adjoint<T: FactorScalar>(
    r: &RBlock<'_, T>,
    npiv: usize,
    n: usize,
    z: &mut [T],
) {
    for j in 0..n {
        r.column(j, |row, values| {
            let values = above_diagonal(j, row, values);
            for column in z.chunks_exact_mut(n) {
                let known = &column[row..row + values.len()];
                column[j] -= dot(values, known);
            }
        });
        if j < npiv {
            let diagonal = r.diagonal(j).conj();
            z.iter_mut().skip(j).step_by(n).for_each(|y| *y /= diagonal);
        }
    }
}

/// Sums that go on side by side, enough to fill the processor's vectors and to hide the time of an addition: one sum alone takes
/// longer than reading R from memory.
const SUMS: usize = 8;

/// x^H y of slices of one length. Always in the same order of additions.
fn dot<T: FactorScalar>(x: &[T], y: &[T]) -> T {
    let (blocks_x, rest_x) = x.as_chunks::<SUMS>();
    let (blocks_y, rest_y) = y.as_chunks::<SUMS>();
    let rest = |sum: T| {
        let rest = rest_x.iter().zip(rest_y);
        rest.fold(sum, |sum, (x, &y)| sum + x.conj() * y)
    };
    if blocks_x.is_empty() {
        return rest(T::zero());
    }
    let mut sums = [T::zero(); SUMS];
    for (x, y) in blocks_x.iter().zip(blocks_y) {
        for ((sum, x), &y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x.conj() * y;
        }
    }
    rest(sums.iter().copied().sum())
}

/// A part of column j, from `row` on, without the diagonal entry.
fn above_diagonal<T>(j: usize, row: usize, values: &[T]) -> &[T] {
    let with_diagonal = row + values.len() == j + 1;
    &values[..values.len() - usize::from(with_diagonal)]
}

/// The singletons' part of R x = c for one column: `c(s)` in elimination order; in `x` the other columns are known.
pub(super) fn solve_singletons<T: FactorScalar>(
    singletons: &[Singleton],
    rows: &[Row<T>],
    c: impl Fn(usize) -> T,
    x: &mut [T],
) {
    for (s, single) in singletons.iter().enumerate().rev() {
        let mut value = c(s);
        let mut pivot = T::one();
        for &(col, v) in &rows[s] {
            if col == single.col {
                pivot = v;
            } else {
                value -= v * x[col as usize];
            }
        }
        x[single.col as usize] = value / pivot;
    }
}

/// The singletons' part of R^H y = c for one column: y goes to the head of `y`, and is taken from `c`.
pub(super) fn solve_singletons_adjoint<T: FactorScalar>(
    singletons: &[Singleton],
    rows: &[Row<T>],
    c: &mut [T],
    y: &mut [T],
) {
    for (s, single) in singletons.iter().enumerate() {
        let pivot = rows[s].iter().find(|e| e.0 == single.col);
        let pivot = pivot.expect("a singleton has its pivot").1;
        let value = c[single.col as usize] / pivot.conj();
        y[s] = value;
        for &(col, v) in rows[s].iter().filter(|e| e.0 != single.col) {
            c[col as usize] -= v.conj() * value;
        }
    }
}
