//! Triangular systems with R: one front's rows of it, and the rows of the singletons.
//!
//! Takes R and a block of vectors, columns one after the other; changes the block in place. Knows no tree.

use crate::analysis::cleanup::Singleton;
use crate::analysis::partition::Tiling;
use crate::numeric::{FactorScalar, RBlock};
use crate::rank::{take, take_all};
use std::ops::Range;

/// Columns of a tile that are done by single columns before the rows above take all of them at once.
const STRIP: usize = 32;

/// Columns of the factorized matrix and the values there, of a row on which a singleton pivots.
pub(super) type Row<T> = Vec<(u32, T)>;

/// A front's part of R x = c. `z` has `n` rows, x at the bottom and c in the `npiv` on top, which become x.
/// 2 nnz flops a column.
pub(crate) fn solve_front<T: FactorScalar>(r: &RBlock<'_, T>, npiv: usize, n: usize, z: &mut [T]) {
    if let Some(tiles) = Tiles::of(r) {
        return tiles.solve(n, z);
    }
    for j in (0..n).rev() {
        if j < npiv {
            divide(z, n, j, r.diagonal(j));
        }
        r.column(j, |row, values| take_multiple(z, n, j, row, values));
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
    if let Some(tiles) = Tiles::of(r) {
        return tiles.solve_adjoint(n, z);
    }
    for j in 0..n {
        r.column(j, |row, values| take_product(z, n, j, row, values));
        if j < npiv {
            divide(z, n, j, r.diagonal(j).conj());
        }
    }
}

/// As [`solve_front`] for a front in tiles, with other loops: `z` has its rows one after the other, `w` entries each, one of every vector.
/// Most of it are matrix products.
pub(crate) fn solve_tiles<T: FactorScalar>(r: &RBlock<'_, T>, n: usize, w: usize, z: &mut [T]) {
    let tiles = Tiles::of(r).expect("a front in tiles");
    assert_eq!(z.len(), n * w, "a row for every column");
    tiles.solve_rows(w, z);
}

/// z_j / d.
fn divide<T: FactorScalar>(z: &mut [T], n: usize, j: usize, d: T) {
    z.iter_mut().skip(j).step_by(n).for_each(|x| *x /= d);
}

/// Takes x_j times a part of column j, from `row` on, from what is above.
fn take_multiple<T: FactorScalar>(z: &mut [T], n: usize, j: usize, row: usize, values: &[T]) {
    let values = above_diagonal(j, row, values);
    for column in z.chunks_exact_mut(n) {
        let x = column[j];
        let part = &mut column[row..row + values.len()];
        for (t, &v) in part.iter_mut().zip(values) {
            *t -= v * x;
        }
    }
}

/// Takes the product of a part of column j, from `row` on, with what is above from y_j.
fn take_product<T: FactorScalar>(z: &mut [T], n: usize, j: usize, row: usize, values: &[T]) {
    let values = above_diagonal(j, row, values);
    for column in z.chunks_exact_mut(n) {
        let known = &column[row..row + values.len()];
        column[j] -= dot(values, known);
    }
}

/// R of a front in tiles, gone through tile by tile: each lies in memory as one piece, which is read at twice the speed of columns
/// that go through many of them. The operations on each number, and their order, are those of the columns.
struct Tiles<'r, 'a, T> {
    tiles: &'r [&'a [T]],
    tiling: &'a Tiling,
    npiv: usize,
}

impl<'r, 'a, T: FactorScalar> Tiles<'r, 'a, T> {
    fn of(r: &'r RBlock<'a, T>) -> Option<Self> {
        match r {
            RBlock::Packed { .. } => None,
            RBlock::Tiled {
                tiles,
                tiling,
                npiv,
            } => Some(Tiles {
                tiles,
                tiling,
                npiv: *npiv,
            }),
        }
    }

    /// Columns of tiles.
    fn width(&self) -> usize {
        self.tiling.cols.len() - 1
    }

    /// The columns of tile column `q`.
    fn columns(&self, q: usize) -> Range<usize> {
        let cols = &self.tiling.cols;
        cols[q] as usize..cols[q + 1] as usize
    }

    /// Rows of tiles of tile column `q` whose tiles are all above the diagonal, and behind them those on it.
    fn rows(&self, q: usize) -> (Range<usize>, Range<usize>) {
        let (all, columns) = (self.tiles.len() / self.width(), self.columns(q));
        let bottom = |p: usize| (self.tiling.rows[p + 1] as usize).min(self.npiv);
        let top = |p: usize| self.tiling.rows[p] as usize;
        let above = (0..all).take_while(|&p| bottom(p) <= columns.start).count();
        let end = (0..all).take_while(|&p| top(p) < columns.end).count();
        (0..above, above..end.max(above))
    }

    /// The first row of a tile, and its part of column j on and above the diagonal.
    fn part(&self, p: usize, q: usize, j: usize) -> (usize, &'a [T]) {
        let (top, height) = (self.tiling.rows[p] as usize, self.tiling.height(p));
        let rows = self.npiv.min(j + 1).saturating_sub(top).min(height);
        let local = j - self.tiling.cols[q] as usize;
        let tile = self.tiles[p * self.width() + q];
        match rows {
            0 => (top, &[]),
            _ => (top, &tile[local * height..][..rows]),
        }
    }

    /// The diagonal entry that a part of column j ends with, if it does.
    fn diagonal(j: usize, row: usize, values: &[T]) -> Option<T> {
        let ends = row + values.len() == j + 1;
        values.last().copied().filter(|_| ends)
    }

    fn solve(&self, n: usize, z: &mut [T]) {
        for q in (0..self.width()).rev() {
            let (above, on) = self.rows(q);
            for j in self.columns(q).rev() {
                let parts = on.clone().map(|p| self.part(p, q, j));
                let diagonal = parts
                    .clone()
                    .find_map(|(row, values)| Self::diagonal(j, row, values));
                if let Some(diagonal) = diagonal {
                    divide(z, n, j, diagonal);
                }
                parts.for_each(|(row, values)| take_multiple(z, n, j, row, values));
            }
            for p in above {
                for j in self.columns(q).rev() {
                    let (row, values) = self.part(p, q, j);
                    take_multiple(z, n, j, row, values);
                }
            }
        }
    }

    /// [`Self::solve`] on rows of `w` entries.
    fn solve_rows(&self, w: usize, z: &mut [T]) {
        for q in (0..self.width()).rev() {
            let (above, on) = self.rows(q);
            let columns = self.columns(q);
            for c0 in columns.clone().step_by(STRIP).rev() {
                let c1 = (c0 + STRIP).min(columns.end);
                for j in (c0..c1).rev() {
                    let (rows, x) = z[..(j + 1) * w].split_at_mut(j * w);
                    let parts = on.clone().map(|p| self.part(p, q, j));
                    let diagonal =
                        (parts.clone()).find_map(|(row, values)| Self::diagonal(j, row, values));
                    if let Some(diagonal) = diagonal {
                        x.iter_mut().for_each(|x| *x /= diagonal);
                    }
                    for (row, values) in parts {
                        let values = above_diagonal(j, row, values);
                        let skip = c0.saturating_sub(row).min(values.len());
                        let (row, values) = (row + skip, &values[skip..]);
                        take(&mut rows[row * w..], values, x);
                    }
                }
                let (rows, x) = z[..c1 * w].split_at_mut(c0 * w);
                for p in on.clone() {
                    let (top, end) = self.span(p, c0);
                    self.take_strip(p, q, c0, &mut rows[top * w..end * w], x, w);
                }
            }
            let (rows, x) = z[..columns.end * w].split_at_mut(columns.start * w);
            for p in above {
                let (top, end) = self.span(p, columns.start);
                let rows = &mut rows[top * w..end * w];
                self.take_strip(p, q, columns.start, rows, x, w);
            }
        }
    }

    /// Rows of R in row `p` of tiles, those before row `end`.
    fn span(&self, p: usize, end: usize) -> (usize, usize) {
        let top = self.tiling.rows[p] as usize;
        let bottom = (self.tiling.rows[p + 1] as usize).min(self.npiv).min(end);
        (top.min(bottom), bottom)
    }

    /// Takes tile (p, q), from column `c0` on, times the rows `x` from the first rows of its own.
    fn take_strip(&self, p: usize, q: usize, c0: usize, rows: &mut [T], x: &[T], w: usize) {
        if rows.is_empty() {
            return;
        }
        let height = self.tiling.height(p);
        let local = c0 - self.tiling.cols[q] as usize;
        let tile = self.tiles[p * self.width() + q];
        take_all(rows, &tile[local * height..], height, x, w);
    }

    fn solve_adjoint(&self, n: usize, z: &mut [T]) {
        for q in 0..self.width() {
            let (above, on) = self.rows(q);
            for p in above {
                for j in self.columns(q) {
                    let (row, values) = self.part(p, q, j);
                    take_product(z, n, j, row, values);
                }
            }
            for j in self.columns(q) {
                for p in on.clone() {
                    let (row, values) = self.part(p, q, j);
                    take_product(z, n, j, row, values);
                    if let Some(diagonal) = Self::diagonal(j, row, values) {
                        divide(z, n, j, diagonal.conj());
                    }
                }
            }
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

/// A part of column j, from `row` on, without the diagonal entry if it ends with that.
fn above_diagonal<T>(j: usize, row: usize, values: &[T]) -> &[T] {
    let with_diagonal = !values.is_empty() && row + values.len() == j + 1;
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
