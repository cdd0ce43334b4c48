//! Triangular systems with the R of a front in tiles.
//!
//! Takes R and a block of vectors, by columns or by rows; changes the block in place. Knows no tree.

use crate::analysis::partition::Tiling;
use crate::numeric::{FactorScalar, RBlock};
use crate::rank::{take, take_all};
use std::ops::Range;
use treeqr_kernels::{MatMut, MatRef, add_abs_sums, gemv, gemv_adjoint, trsv, trsv_adjoint};

/// Columns of a tile that are done by single columns before the rows above take all of them at once.
const STRIP: usize = 32;

/// As [`solve_front`](super::solve_front) for a front in tiles, with other loops: `z` has its rows one after the other, `w` entries each, one of every vector.
/// Most of it are matrix products.
pub(crate) fn solve_tiles<T: FactorScalar>(r: &RBlock<'_, T>, n: usize, w: usize, z: &mut [T]) {
    let tiles = Tiles::of(r).expect("a front in tiles");
    assert_eq!(z.len(), n * w, "a row for every column");
    tiles.solve_rows(w, z);
}

/// R of a front in tiles, gone through tile by tile: each lies in memory as one piece, which is read at twice the speed of columns
/// that go through many of them.
///
/// ```text
///      a tile with some of the diagonal       rows a..b of R, columns of the tile
///        top  +-----+-----------+----+
///             |     |   above   |    |        above: a rectangle
///          a  |  .  +-----------+ be-|        [a, b): a triangle
///             |     |    \      |hind|        behind: a rectangle, of columns that pivot in tiles below
///          b  +-----+-----------+----+
/// ```
pub(super) struct Tiles<'r, 'a, T> {
    tiles: &'r [&'a [T]],
    tiling: &'a Tiling,
    npiv: usize,
    is_cut: bool,
}

impl<'r, 'a, T: FactorScalar> Tiles<'r, 'a, T> {
    pub fn of(r: &'r RBlock<'a, T>) -> Option<Self> {
        match r {
            RBlock::Packed { .. } => None,
            RBlock::Tiled {
                tiles,
                tiling,
                npiv,
                is_cut,
            } => Some(Tiles {
                tiles,
                tiling,
                npiv: *npiv,
                is_cut: *is_cut,
            }),
        }
    }

    /// Tile (p, q) and its leading dimension.
    fn tile(&self, p: usize, q: usize) -> (&'a [T], usize) {
        let ld = self.tiling.rows_of_r(self.npiv, self.is_cut, p, q);
        (self.tiles[p * self.width() + q], ld)
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
        let (tile, ld) = self.tile(p, q);
        match rows {
            0 => (top, &[]),
            _ => (top, &tile[local * ld..][..rows]),
        }
    }

    /// The rows of tile (p, q) that are of R, and its columns in `columns`.
    fn piece(&self, p: usize, q: usize, rows: Range<usize>, columns: Range<usize>) -> Piece<'a, T> {
        let top = self.tiling.rows[p] as usize;
        let (tile, ld) = self.tile(p, q);
        let at = (columns.start - self.tiling.cols[q] as usize) * ld + rows.start - top;
        let values = if rows.is_empty() || columns.is_empty() {
            &[]
        } else {
            &tile[at..]
        };
        Piece {
            r: MatRef::new(values, rows.len(), columns.len(), ld),
            row: rows.start,
            col: columns.start,
        }
    }

    /// A tile above the diagonal.
    fn whole(&self, p: usize, q: usize) -> Piece<'a, T> {
        let (top, bottom) = self.span(p, self.npiv);
        self.piece(p, q, top..bottom, self.columns(q))
    }

    /// A tile with some of the diagonal.
    fn crossed(&self, p: usize, q: usize) -> Crossed<'a, T> {
        let (top, bottom) = self.span(p, self.npiv);
        let columns = self.columns(q);
        let (a, b) = (columns.start.max(top), columns.end.min(bottom));
        Crossed {
            above: self.piece(p, q, top..a, a..b),
            triangle: self.piece(p, q, a..b, a..b),
            // Where the diagonal goes on below there are no such columns.
            behind: self.piece(p, q, top..b, b..columns.end),
        }
    }

    /// The diagonal entry that a part of column j ends with, if it does.
    fn diagonal(j: usize, row: usize, values: &[T]) -> Option<T> {
        let ends = row + values.len() == j + 1;
        values.last().copied().filter(|_| ends)
    }

    pub fn solve(&self, mut z: MatMut<T>) {
        for q in (0..self.width()).rev() {
            let (above, on) = self.rows(q);
            for p in on.rev() {
                let part = self.crossed(p, q);
                part.behind.take(z.rb_mut());
                trsv(part.triangle.r, part.triangle.rows(z.rb_mut()));
                part.above.take(z.rb_mut());
            }
            for p in above {
                self.whole(p, q).take(z.rb_mut());
            }
        }
    }

    /// Adds the sums of |r| over the columns to `sums`.
    pub fn add_column_sums(&self, sums: &mut [T]) {
        for q in 0..self.width() {
            let (above, on) = self.rows(q);
            let columns = self.columns(q);
            for p in above.start..on.end {
                let parts = columns.clone().map(|j| self.part(p, q, j).1);
                add_abs_sums(parts, &mut sums[columns.clone()]);
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
        let local = c0 - self.tiling.cols[q] as usize;
        let (tile, ld) = self.tile(p, q);
        take_all(rows, &tile[local * ld..], ld, x, w);
    }

    pub fn solve_adjoint(&self, mut z: MatMut<T>) {
        for q in 0..self.width() {
            let (above, on) = self.rows(q);
            for p in above {
                self.whole(p, q).take_adjoint(z.rb_mut());
            }
            for p in on {
                let part = self.crossed(p, q);
                part.above.take_adjoint(z.rb_mut());
                trsv_adjoint(part.triangle.r, part.triangle.rows(z.rb_mut()));
                part.behind.take_adjoint(z.rb_mut());
            }
        }
    }
}

/// Some rows and columns of R, from (row, col) on.
struct Piece<'a, T> {
    r: MatRef<'a, T>,
    row: usize,
    col: usize,
}

/// A tile with some of the diagonal, as [`Tiles`] draws it.
struct Crossed<'a, T> {
    above: Piece<'a, T>,
    triangle: Piece<'a, T>,
    behind: Piece<'a, T>,
}

impl<T: FactorScalar> Piece<'_, T> {
    /// Its rows of the vectors.
    fn rows<'z>(&self, z: MatMut<'z, T>) -> MatMut<'z, T> {
        let w = z.ncols();
        z.submatrix(self.row, 0, self.r.nrows(), w)
    }

    /// Takes R x from its rows, with x from further below.
    fn take(&self, z: MatMut<'_, T>) {
        let w = z.ncols();
        let (above, x) = z.split_at_row_mut(self.col);
        let x = x.rb().submatrix(0, 0, self.r.ncols(), w);
        gemv(self.r, x, self.rows(above));
    }

    /// Takes R^H y from what belongs to its columns, with y from further above.
    fn take_adjoint(&self, z: MatMut<'_, T>) {
        let w = z.ncols();
        let (mut above, below) = z.split_at_row_mut(self.col);
        let y = self.rows(above.rb_mut());
        gemv_adjoint(self.r, y.rb(), below.submatrix(0, 0, self.r.ncols(), w));
    }
}

/// A part of column j, from `row` on, without the diagonal entry if it ends with that.
fn above_diagonal<T>(j: usize, row: usize, values: &[T]) -> &[T] {
    let with_diagonal = !values.is_empty() && row + values.len() == j + 1;
    &values[..values.len() - usize::from(with_diagonal)]
}
