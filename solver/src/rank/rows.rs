//! Back substitution for a block of vectors, entry by entry: all vectors' entries of one row lie side by side. So a row is taken from
//! another by one short loop, however small the node, and large parts of R by matrix products.

use super::blocks::{STRIP, View};
use crate::numeric::FactorScalar;
use std::ops::Range;
use treeqr_kernels::{Beta, MatMut, MatRef};

/// Columns whose rows are done before the rows above take all of them at once: what strips of them take stays in the caches.
const BLOCK: usize = 128;

/// Rows of R that are copied before a product with many vectors.
const CHUNK: usize = 64;
/// So many vectors.
const WIDE: usize = 32;

/// Takes `values` times the entries `x` of a row from as many rows.
pub(crate) fn take<T: FactorScalar>(rows: &mut [T], values: &[T], x: &[T]) {
    if let &[x] = x {
        for (row, &v) in rows.iter_mut().zip(values) {
            *row -= v * x;
        }
        return;
    }
    for (row, &v) in rows.chunks_exact_mut(x.len()).zip(values) {
        for (t, &x) in row.iter_mut().zip(x) {
            *t -= v * x;
        }
    }
}

/// Takes R times the rows `x`, `w` entries each, from `rows`. R has a row for each of those and columns `ld` apart.
pub(crate) fn take_all<T: FactorScalar>(rows: &mut [T], r: &[T], ld: usize, x: &[T], w: usize) {
    let (to, from) = (rows.len() / w, x.len() / w);
    if to == 0 || from == 0 {
        return;
    }
    if w == 1 || to * from < 16 {
        let columns = r.chunks(ld).zip(x.chunks_exact(w));
        return columns.for_each(|(column, x)| take(rows, &column[..to], x));
    }
    let x = MatRef::new(x, w, from, w);
    if to <= CHUNK || w < WIDE {
        let (z, r) = (MatMut::new(rows, w, to, w), MatRef::new(r, to, from, ld));
        return T::gemm_transpose(Beta::One, z, -T::one(), x, r);
    }
    // The product takes a row of R after the other: with columns far apart every entry is waited for by itself.
    let mut near: Vec<T> = Vec::with_capacity(CHUNK * from);
    for (k, rows) in rows.chunks_mut(CHUNK * w).enumerate() {
        let height = rows.len() / w;
        near.clear();
        for j in 0..from {
            near.extend_from_slice(&r[j * ld + k * CHUNK..][..height]);
        }
        let (z, r) = (
            MatMut::new(rows, w, height, w),
            MatRef::new(&near, height, from, height),
        );
        T::gemm_transpose(Beta::One, z, -T::one(), x, r);
    }
}

/// The entries of a row, over its pivot.
pub(crate) fn divide<T: FactorScalar>(row: &mut [T], pivot: T) {
    row.iter_mut().for_each(|x| *x /= pivot);
}

/// R in trapezoidal form: what a node has at its pivots.
pub(super) struct Trapezoid<'a, T> {
    pub r: Source<'a, T>,
    /// The columns that have a row, increasing.
    pub live: Live<'a>,
}

/// Where R is.
pub(super) enum Source<'a, T> {
    /// A triangle by packed columns.
    Packed(&'a [T]),
    Blocks(View<'a, T>),
}

/// Which columns have one.
#[derive(Clone, Copy)]
pub(super) enum Live<'a> {
    All,
    These(&'a [u32]),
}

impl Live<'_> {
    /// Rows above that of column `j`, or above where it would be.
    fn before(self, j: usize) -> usize {
        match self {
            Live::All => j,
            Live::These(live) => live.partition_point(|&l| (l as usize) < j),
        }
    }

    /// Whether column `j` has row `row` for its own.
    fn has(self, j: usize, row: usize) -> bool {
        match self {
            Live::All => row == j,
            Live::These(live) => live.get(row).is_some_and(|&l| l as usize == j),
        }
    }
}

impl<T: FactorScalar> Trapezoid<'_, T> {
    /// R x = c in the first `top` columns: `z` has a row for every live one of them, c on entry and x on exit; columns that have no row have
    /// the x that `given` copies, or zeros.
    pub fn solve(
        &self,
        top: usize,
        w: usize,
        z: &mut [T],
        mut given: impl FnMut(usize, &mut [T]),
        scratch: &mut Vec<T>,
    ) {
        for b0 in (0..top.div_ceil(BLOCK)).rev().map(|block| block * BLOCK) {
            let b1 = (b0 + BLOCK).min(top);
            let high = self.live.before(b0);
            scratch.clear();
            scratch.resize((b1 - b0) * w, T::zero());
            for c0 in (b0..b1).step_by(STRIP).rev() {
                let c1 = (c0 + STRIP).min(b1);
                let (r0, mut row) = (self.live.before(c0), self.live.before(c1));
                for j in (c0..c1).rev() {
                    let x = &mut scratch[(j - b0) * w..][..w];
                    if row > r0 && self.live.has(j, row - 1) {
                        row -= 1;
                        let column = self.column(j, row + 1);
                        let (rows, own) = z[r0 * w..(row + 1) * w].split_at_mut((row - r0) * w);
                        divide(own, column[row]);
                        take(rows, &column[r0..row], own);
                        x.copy_from_slice(own);
                    } else {
                        given(j, x);
                        take(&mut z[r0 * w..row * w], &self.column(j, row)[r0..], x);
                    }
                }
                self.take_columns(c0..c1, (b0, high..r0), w, z, scratch);
            }
            self.take_columns(b0..b1, (b0, 0..high), w, z, scratch);
        }
    }

    /// The first `rows` entries of a column.
    fn column(&self, j: usize, rows: usize) -> &[T] {
        match &self.r {
            Source::Packed(r) => &r[j * (j + 1) / 2..][..rows],
            Source::Blocks(r) => r.column(j, rows),
        }
    }

    /// Takes some columns times their x from some rows above; `scratch` has x from column `b0` on.
    fn take_columns(
        &self,
        columns: Range<usize>,
        (b0, rows): (usize, Range<usize>),
        w: usize,
        z: &mut [T],
        scratch: &mut Vec<T>,
    ) {
        if rows.is_empty() {
            return;
        }
        let z = &mut z[rows.start * w..rows.end * w];
        let known = |part: &Range<usize>| (part.start - b0) * w..(part.end - b0) * w;
        match &self.r {
            Source::Packed(_) => {
                // They begin at other distances from each other.
                let (height, end) = (rows.len(), scratch.len());
                for j in columns.clone() {
                    scratch.extend_from_slice(&self.column(j, rows.end)[rows.start..]);
                }
                let (x, r) = scratch.split_at(end);
                take_all(z, r, height, &x[known(&columns)], w);
                scratch.truncate(end);
            }
            Source::Blocks(r) => {
                for part in r.cut(columns, 0) {
                    let (r, ld) = r.from(&part, rows.start);
                    take_all(z, r, ld, &scratch[known(&part)], w);
                }
            }
        }
    }
}
