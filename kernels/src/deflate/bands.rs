//! Reflectors that end soon below their heads, four at a time: what few rows beyond the pivots leave of a panel.
//!
//! ```text
//!     V of four       C, a strip of columns, row by row
//!     1 . . .         c c c c c c c c           a row of V times a row of C: no sum goes across a vector, however short a
//!     v 1 . .         c c c c c c c c           reflector is
//!     v v 1 .         c c c c c c c c
//!     . v v 1         c c c c c c c c           C = C - V (T^H (V^H C)), and nothing above or below the band is multiplied
//!     . . v v         c c c c c c c c
//!     . . . v         c c c c c c c c
//! ```
//!
//! The strip is copied in and out. What becomes of a column depends on nothing but that column.

#![allow(clippy::needless_range_loop)] // an index runs over several arrays at once

use super::panel::Panel;
use crate::panel::line;
use crate::scalar::KernelScalar;
use crate::simd::{Lanes, arch, lanes};
use crate::view::{MatMut, MatRef};
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Reflectors that go together.
const GROUP: usize = 4;
/// Lines of the cache in a row of a strip, at most.
const LINES: usize = 3;

/// Elements of the factors of `k` reflectors.
pub(super) fn factors_len(k: usize) -> usize {
    k.div_ceil(GROUP) * GROUP * GROUP
}

/// Elements of scratch for `k` reflectors on `rows` rows.
pub(super) fn bands_scratch<T>(rows: usize, k: usize) -> usize {
    let width = LINES * line::<T>();
    k.next_multiple_of(GROUP) * rows + rows * width + line::<T>()
}

/// The rows of each group, from the head of its first to the end of its last; the head of the panel's first is row 0 of `m`.
fn groups<T: KernelScalar>(
    panel: &Panel<T>,
    r0: usize,
    m: usize,
) -> impl Iterator<Item = Range<usize>> {
    let k = panel.live.len();
    (0..k).step_by(GROUP).map(move |first| {
        let last = (first + GROUP).min(k) - 1;
        first..panel.tail(last, r0, m).end - r0
    })
}

/// V of the groups, row after row, with its heads and zeros; behind it what is left of `out`. `left` has the reflectors.
fn pack<'s, T: KernelScalar>(
    panel: &Panel<T>,
    left: MatRef<T>,
    r0: usize,
    out: &'s mut [T],
) -> (&'s mut [T], &'s mut [T]) {
    let (k, m) = (panel.live.len(), left.nrows());
    let len = groups(panel, r0, m).map(|rows| rows.len() * GROUP).sum();
    let (packed, rest) = out.split_at_mut(len);
    packed.fill(T::zero());
    let mut to = &mut *packed;
    for rows in groups(panel, r0, m) {
        let (group, others) = to.split_at_mut(rows.len() * GROUP);
        for x in 0..GROUP.min(k - rows.start) {
            let i = rows.start + x;
            group[x * GROUP + x] = T::one();
            let tail = &left.col(panel.live[i] as usize)[panel.tail(i, r0, m)];
            let below = group[(x + 1) * GROUP..].chunks_exact_mut(GROUP);
            for (to, &v) in below.zip(tail) {
                to[x] = v;
            }
        }
        to = others;
    }
    (packed, rest)
}

/// -T^H of each group, row by row, in the first [`factors_len`] of `out`.
pub(super) fn factors<T: KernelScalar>(
    panel: &Panel<T>,
    left: MatRef<T>,
    r0: usize,
    out: &mut [T],
    scratch: &mut [T],
) {
    let mut packed = &*pack(panel, left, r0, scratch).0;
    let all = out
        .chunks_exact_mut(GROUP * GROUP)
        .zip(panel.tau.chunks(GROUP));
    for ((factor, taus), rows) in all.zip(groups(panel, r0, left.nrows())) {
        let (v, rest) = packed.split_at(rows.len() * GROUP);
        factor_of(v, taus, factor);
        packed = rest;
    }
}

/// -T^H of a group: its row j is -conj(tau j) times that of the identity less what the reflectors before j take of v j.
fn factor_of<T: KernelScalar>(v: &[T], taus: &[T], factor: &mut [T]) {
    let mut gram = [[T::zero(); GROUP]; GROUP];
    for row in v.as_chunks::<GROUP>().0 {
        for j in 1..GROUP {
            for l in 0..j {
                gram[j][l] += row[j].conj() * row[l];
            }
        }
    }
    factor.fill(T::zero());
    for (j, tau) in taus.iter().enumerate() {
        let minus = -tau.conj();
        for l in 0..j {
            let by = gram[j][l] * minus;
            for i in 0..=l {
                let x = factor[l * GROUP + i] * by;
                factor[j * GROUP + i] += x;
            }
        }
        factor[j * GROUP + j] = minus;
    }
}

/// Q^H of a panel on `right`, whose row 0 is that of the first head; `factors` as [`factors`] has left them.
pub(crate) fn apply_here<T: KernelScalar>(
    panel: &Panel<T>,
    left: MatRef<T>,
    r0: usize,
    factors: &[T],
    right: MatMut<T>,
    scratch: &mut [T],
) {
    let (packed, scratch) = pack(panel, left, r0, scratch);
    let skip = scratch.as_ptr().align_offset(64).min(line::<T>());
    arch().dispatch(Bands {
        panel,
        r0,
        m: left.nrows(),
        packed,
        factors,
        right,
        strip: &mut scratch[skip..],
    });
}

struct Bands<'a, T> {
    panel: &'a Panel<'a, T>,
    r0: usize,
    m: usize,
    packed: &'a [T],
    factors: &'a [T],
    right: MatMut<'a, T>,
    strip: &'a mut [T],
}

impl<T: KernelScalar> WithSimd for Bands<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        // A complex sum takes two registers; four reflectors have a sum each for every vector of a row.
        let real = size_of::<T::Sum<S>>() == size_of::<T::V<S>>();
        match (size_of::<S::f64s>(), real) {
            (32, true) => self.run::<S, 2>(s),
            (32, false) => self.run::<S, 1>(s),
            (_, true) => self.run::<S, LINES>(s),
            (_, false) => self.run::<S, 2>(s),
        }
    }
}

impl<T: KernelScalar> Bands<'_, T> {
    /// With rows of N vectors.
    #[inline(always)]
    fn run<S: Simd, const N: usize>(mut self, s: S) {
        let (rows, cols) = (self.right.nrows(), self.right.ncols());
        let width = N * lanes::<S, T>();
        let strip = &mut self.strip[..rows * width];
        for j in (0..cols).step_by(width) {
            let wide = width.min(cols - j);
            copy_in(self.right.rb().submatrix(0, j, rows, wide), strip, width);
            if wide < width {
                for row in strip.chunks_exact_mut(width) {
                    row[wide..].fill(T::zero());
                }
            }
            let mut packed = self.packed;
            let factors = self.factors.chunks_exact(GROUP * GROUP);
            for (rows, factor) in groups(self.panel, self.r0, self.m).zip(factors) {
                let (v, rest) = packed.split_at(rows.len() * GROUP);
                let c = &mut strip[rows.start * width..rows.end * width];
                s.vectorize(Four::<T, N> { v, factor, c });
                packed = rest;
            }
            copy_out(
                strip,
                self.right.rb_mut().submatrix(0, j, rows, wide),
                width,
            );
        }
    }
}

/// Rows and columns that are turned at a time.
const TURN: usize = 8;

/// Columns into the rows of a strip, `width` elements each.
#[inline(always)]
fn copy_in<T: Copy>(from: MatRef<T>, strip: &mut [T], width: usize) {
    let (rows, cols) = (from.nrows(), from.ncols());
    let whole = (rows / TURN * TURN, cols / TURN * TURN);
    for r in (0..whole.0).step_by(TURN) {
        let strip = &mut strip[r * width..][..TURN * width];
        for j in (0..whole.1).step_by(TURN) {
            let mut block: [&[T]; TURN] = [&[]; TURN];
            for y in 0..TURN {
                block[y] = &from.col(j + y)[r..][..TURN];
            }
            for x in 0..TURN {
                let to = &mut strip[x * width + j..][..TURN];
                for y in 0..TURN {
                    to[y] = block[y][x];
                }
            }
        }
        for j in whole.1..cols {
            let from = &from.col(j)[r..][..TURN];
            for (row, &x) in strip.chunks_exact_mut(width).zip(from) {
                row[j] = x;
            }
        }
    }
    for j in 0..cols {
        let strip = strip[whole.0 * width..].chunks_exact_mut(width);
        for (row, &x) in strip.zip(&from.col(j)[whole.0..]) {
            row[j] = x;
        }
    }
}

/// The rows of a strip into columns.
#[inline(always)]
fn copy_out<T: Copy>(strip: &[T], mut to: MatMut<T>, width: usize) {
    let (rows, cols) = (to.nrows(), to.ncols());
    let whole = (rows / TURN * TURN, cols / TURN * TURN);
    for r in (0..whole.0).step_by(TURN) {
        let strip = &strip[r * width..][..TURN * width];
        for j in (0..whole.1).step_by(TURN) {
            let mut block: [&[T]; TURN] = [&[]; TURN];
            for x in 0..TURN {
                block[x] = &strip[x * width + j..][..TURN];
            }
            for y in 0..TURN {
                let to = &mut to.col_mut(j + y)[r..][..TURN];
                for x in 0..TURN {
                    to[x] = block[x][y];
                }
            }
        }
        for j in whole.1..cols {
            let to = &mut to.col_mut(j)[r..][..TURN];
            for (row, x) in strip.chunks_exact(width).zip(to) {
                *x = row[j];
            }
        }
    }
    for j in 0..cols {
        let strip = strip[whole.0 * width..].chunks_exact(width);
        for (row, x) in strip.zip(&mut to.col_mut(j)[whole.0..]) {
            *x = row[j];
        }
    }
}

/// One group on the rows of a strip, compiled on its own so that its sums stay in registers.
struct Four<'a, T, const N: usize> {
    v: &'a [T],
    factor: &'a [T],
    c: &'a mut [T],
}

impl<T: Lanes, const N: usize> WithSimd for Four<'_, T, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let v = self.v.as_chunks::<GROUP>().0;
        let factor: &[T; GROUP * GROUP] = self.factor.first_chunk().expect("a factor");
        let c = T::vectors_mut::<S>(self.c).0.as_chunks_mut::<N>().0;
        let zero = T::sum_of(s, T::splat(s, T::zero()));
        let mut w = [[zero; N]; GROUP];
        for (v, c) in v.iter().zip(&*c) {
            for x in 0..GROUP {
                let v = T::factor(s, v[x].conj());
                for y in 0..N {
                    w[x][y] = T::add_product(s, v, c[y], w[x][y]);
                }
            }
        }
        let mut tw = [[T::splat(s, T::zero()); N]; GROUP];
        for x in 0..GROUP {
            for y in 0..N {
                let mut sum = zero;
                for z in 0..=x {
                    let by = T::factor(s, factor[x * GROUP + z]);
                    sum = T::add_product(s, by, T::value(s, w[z][y]), sum);
                }
                tw[x][y] = T::value(s, sum);
            }
        }
        for (v, c) in v.iter().zip(c) {
            let mut sums = [zero; N];
            for y in 0..N {
                sums[y] = T::sum_of(s, c[y]);
            }
            for x in 0..GROUP {
                let v = T::factor(s, v[x]);
                for y in 0..N {
                    sums[y] = T::add_product(s, v, tw[x][y], sums[y]);
                }
            }
            for y in 0..N {
                c[y] = T::value(s, sums[y]);
            }
        }
    }
}
