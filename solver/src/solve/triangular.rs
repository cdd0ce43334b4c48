//! Triangular systems with R: one front's rows of it, and the rows of the singletons.
//!
//! Takes R and a block of vectors, columns one after the other; changes the block in place. Knows no tree.

use super::tiles::Tiles;
use crate::analysis::cleanup::Singleton;
use crate::numeric::{FactorScalar, RBlock};
use treeqr_kernels::{MatMut, add_abs_sums, trsv_packed, trsv_packed_adjoint};

/// Columns of the factorized matrix and the values there, of a row on which a singleton pivots.
pub(super) type Row<T> = Vec<(u32, T)>;

/// A front's part of R x = c. `z` has `n` rows, x at the bottom and c in the `npiv` on top, which become x.
/// 2 nnz flops a column.
pub(crate) fn solve_front<T: FactorScalar>(r: &RBlock<'_, T>, n: usize, z: &mut [T]) {
    let z = block(n, z);
    match r {
        RBlock::Packed { data, npiv } => trsv_packed(packed(data, *npiv, n), *npiv, z),
        RBlock::Tiled { .. } => Tiles::of(r).expect("a front in tiles").solve(z),
    }
}

/// A front's part of R^H y = c. `z` has `n` rows of c, from which what lies below in the tree has been taken; y takes the
/// place of the `npiv` on top, and is taken from the others. 2 nnz flops a column.
pub(crate) fn solve_front_adjoint<T: FactorScalar>(r: &RBlock<'_, T>, n: usize, z: &mut [T]) {
    let z = block(n, z);
    match r {
        RBlock::Packed { data, npiv } => trsv_packed_adjoint(packed(data, *npiv, n), *npiv, z),
        RBlock::Tiled { .. } => Tiles::of(r).expect("a front in tiles").solve_adjoint(z),
    }
}

/// Adds the sums of |r| over the columns of a front's rows of R to `sums`, which has an entry for every column.
pub(crate) fn add_column_sums<T: FactorScalar>(r: &RBlock<'_, T>, n: usize, sums: &mut [T]) {
    match r {
        RBlock::Packed { data, npiv } => {
            let mut rest = packed(data, *npiv, n);
            let columns = (0..n).map(|j| {
                let (column, others) = rest.split_at((*npiv).min(j + 1));
                rest = others;
                column
            });
            add_abs_sums(columns, sums);
        }
        RBlock::Tiled { .. } => Tiles::of(r)
            .expect("a front in tiles")
            .add_column_sums(sums),
    }
}

/// The entries of R in what belongs to a front.
fn packed<T>(data: &[T], npiv: usize, n: usize) -> &[T] {
    &data[..npiv * (npiv + 1) / 2 + npiv * (n - npiv)]
}

fn block<T>(n: usize, z: &mut [T]) -> MatMut<'_, T> {
    let w = z.len().checked_div(n).unwrap_or(0);
    MatMut::new(z, n, w, n.max(1))
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

/// The singletons' part of the sums of |r| over the columns of R: complete for their own columns, in `y`; for the others in `c`.
pub(super) fn add_singleton_sums<T: FactorScalar>(
    singletons: &[Singleton],
    rows: &[Row<T>],
    c: &mut [T],
    y: &mut [T],
) {
    for (s, single) in singletons.iter().enumerate() {
        for &(col, v) in &rows[s] {
            c[col as usize] += T::from_real(v.abs());
        }
        y[s] = c[single.col as usize];
    }
}
