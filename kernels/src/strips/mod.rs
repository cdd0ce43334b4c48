//! A block of reflectors applied to strips of a few columns, each of which stays in the nearest cache until it is done.
//!
//! Takes V, op(T) and two tiles of C; gives the tiles with the block applied. A library's product reads and writes C once for
//! W = V^H C and once more for C -= V W, a whole tile apart; here both happen on eight columns (four complex ones), and V, which all strips share, comes from the second-level cache:
//!
//! ```text
//!     W = C1 + V^H C2       V by rows, packed once: a row of V times an entry of each column
//!    TW = -op(T) W          without the zeros of T
//!    C1 = C1 + TW
//!    C2 = C2 + V TW         V by columns, as it is; from the last rows of C2 upwards, as these were read last
//! ```
//!
//! What is left of the columns goes through a padded copy, so that a column's result depends on nothing but that column.

mod micro;
#[cfg(test)]
mod tests;

use crate::block::Op;
use crate::panel::line;
use crate::simd::{Lanes, arch, lanes};
use crate::view::{MatMut, MatRef};
use micro::{Adjoint, Triangle, Update, last_rows};
use pulp::{Simd, WithSimd};
use std::sync::OnceLock;

/// Vectors of the micro-kernels' tiles, at most.
const TALL: usize = 3;
/// Columns of a strip: 24 sums, three vectors and a factor take 28 of 32 registers.
const WIDE: usize = 8;
/// Products are summed over so many rows at a time, and these sums then: rounding errors grow with the root of a tall front's
/// height.
const ROWS: usize = 256;

/// Whether strips are quicker than the products of a library: where vectors are 64 bytes and registers 32. With AVX2 the micro-kernels
/// are too small for what a call of them takes.
pub(crate) fn pay() -> bool {
    struct Bytes;
    impl WithSimd for Bytes {
        type Output = usize;

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> usize {
            size_of::<S::f64s>()
        }
    }
    static PAY: OnceLock<bool> = OnceLock::new();
    *PAY.get_or_init(|| arch().dispatch(Bytes) == 64)
}

/// The leading dimension of op(T) and W for `k` reflectors: whole cache lines.
pub(crate) fn leading<T>(k: usize) -> usize {
    k.next_multiple_of(line::<T>())
}

/// Elements of scratch for `k` reflectors on `m` rows.
pub(crate) fn strips_scratch<T>(m: usize, k: usize) -> usize {
    let lines = |rows: usize| rows.next_multiple_of(line::<T>());
    leading::<T>(k) * (m + 2 * WIDE) + (lines(m) + lines(k)) * WIDE
}

/// `[C1; C2] = op(I - [I; V] T [I; V]^H) [C1; C2]`, without C1 `C2 = op(I - V T V^H) C2`.
pub(crate) struct Strips<'a, T> {
    pub op: Op,
    /// m x k, zeros from row `rows` on.
    pub v: MatRef<'a, T>,
    /// Rows of C2 that V reaches; those behind them are there so that vectors are whole, and stay as they are.
    pub rows: usize,
    /// op(T): k columns of [`leading`] rows, zeros below row k.
    pub factor: &'a [T],
    /// k x n.
    pub c1: Option<MatMut<'a, T>>,
    /// m x n.
    pub c2: MatMut<'a, T>,
    /// [`strips_scratch`], aligned to a cache line.
    pub scratch: &'a mut [T],
}

impl<T: Lanes> WithSimd for Strips<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        // A complex sum takes two registers.
        if size_of::<T::Sum<S>>() == size_of::<T::V<S>>() {
            self.run::<S, WIDE>(s);
        } else {
            self.run::<S, { WIDE / 2 }>(s);
        }
    }
}

impl<T: Lanes> Strips<'_, T> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, s: S) {
        let (op, v, rows, factor) = (self.op, self.v, self.rows, self.factor);
        let (mut c1, mut c2) = (self.c1, self.c2);
        let (m, n, k) = (c2.nrows(), c2.ncols(), v.ncols());
        let ld = leading::<T>(k);
        assert!(rows <= m, "{rows} rows of {m}");
        let (by_rows, rest) = self.scratch.split_at_mut(rows * ld);
        let (w, rest) = rest.split_at_mut(ld * N);
        let (tw, rest) = rest.split_at_mut(ld * N);
        pack::<S, T>(v.submatrix(0, 0, rows, k), by_rows);
        let block = Block {
            op,
            v,
            rows,
            factor,
            by_rows,
        };
        let whole = n / N * N;
        for j in (0..whole).step_by(N) {
            let c1 = c1.as_mut().map(|c1| c1.rb_mut().submatrix(0, j, k, N));
            let c2 = c2.rb_mut().submatrix(0, j, m, N);
            block.strip::<S, N>(s, c1, c2, w, tw);
        }
        if whole == n {
            return;
        }
        let left = n - whole;
        let lines = |rows: usize| rows.next_multiple_of(line::<T>());
        let (below, rest) = rest.split_at_mut(lines(m) * N);
        let above = &mut rest[..lines(k) * N];
        let mut copy2 = MatMut::new(below, m, N, lines(m));
        let mut copy1 = MatMut::new(above, k, N, lines(k));
        let last = |c: MatRef<T>, copy: &mut MatMut<T>| {
            for y in 0..N {
                match y < left {
                    true => copy.col_mut(y).copy_from_slice(c.col(whole + y)),
                    false => copy.col_mut(y).fill(T::zero()),
                }
            }
        };
        last(c2.rb(), &mut copy2);
        if let Some(c1) = &c1 {
            last(c1.rb(), &mut copy1);
        }
        let above = c1.is_some().then(|| copy1.rb_mut());
        block.strip::<S, N>(s, above, copy2.rb_mut(), w, tw);
        for y in 0..left {
            c2.col_mut(whole + y).copy_from_slice(copy2.col(y));
            if let Some(c1) = &mut c1 {
                c1.col_mut(whole + y).copy_from_slice(copy1.col(y));
            }
        }
    }
}

/// What all strips share.
struct Block<'a, T> {
    op: Op,
    v: MatRef<'a, T>,
    rows: usize,
    factor: &'a [T],
    /// conj(V): for each of the [`groups`] of its columns, row after row, zeros beyond column k.
    by_rows: &'a [T],
}

impl<T: Lanes> Block<'_, T> {
    #[inline(always)]
    fn strip<S: Simd, const N: usize>(
        &self,
        s: S,
        c1: Option<MatMut<T>>,
        c2: MatMut<T>,
        w: &mut [T],
        tw: &mut [T],
    ) {
        let (m, k) = (self.v.nrows(), self.v.ncols());
        let (l, ld) = (lanes::<S, T>(), leading::<T>(k));
        let (op, factor) = (self.op, self.factor);
        let mut c1: Option<[&mut [T]; N]> = c1.map(MatMut::into_columns);
        let mut c2: [&mut [T]; N] = c2.into_columns();

        for (y, w) in w.chunks_exact_mut(ld).enumerate() {
            let known = c1.as_ref().map_or(0, |c1| {
                w[..k].copy_from_slice(&c1[y][..k]);
                k
            });
            w[known..].fill(T::zero());
        }
        let mut rest = self.by_rows;
        let mut at = 0;
        for r in groups(k.div_ceil(l)) {
            let (v, others) = rest.split_at(self.rows * r * l);
            for (v, start) in v.chunks(ROWS * r * l).zip((0..self.rows).step_by(ROWS)) {
                let rows = start..(start + ROWS).min(self.rows);
                let (c2, w) = (&c2, &mut *w);
                match r {
                    1 => s.vectorize(Adjoint::<T, 1, N> {
                        v,
                        c2,
                        rows,
                        w,
                        ld,
                        at,
                    }),
                    2 => s.vectorize(Adjoint::<T, 2, N> {
                        v,
                        c2,
                        rows,
                        w,
                        ld,
                        at,
                    }),
                    _ => s.vectorize(Adjoint::<T, 3, N> {
                        v,
                        c2,
                        rows,
                        w,
                        ld,
                        at,
                    }),
                }
            }
            (rest, at) = (others, at + r * l);
        }
        let (above, from, to) = (c1.as_mut(), &*w, &mut *tw);
        s.vectorize(Triangle::<T, N> {
            op,
            factor,
            w: from,
            tw: to,
            c1: above,
            ld,
            k,
        });
        let mut row = m / l * l;
        if row < m {
            last_rows::<S, T, N>(s, self.v, tw, ld, &mut c2, row);
        }
        for r in groups(m / l) {
            row -= r * l;
            let v = self.v.submatrix(row, 0, r * l, k);
            let (tw, c2) = (&*tw, &mut c2);
            match r {
                1 => s.vectorize(Update::<T, 1, N> { v, tw, c2, ld, row }),
                2 => s.vectorize(Update::<T, 2, N> { v, tw, c2, ld, row }),
                _ => s.vectorize(Update::<T, 3, N> { v, tw, c2, ld, row }),
            }
        }
    }
}

/// Vectors in parts of 3; the last four as 2 + 2.
#[inline(always)]
fn groups(mut vectors: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let r = match vectors {
            0 => return None,
            4 => 2,
            n => n.min(TALL),
        };
        vectors -= r;
        Some(r)
    })
}

#[inline(always)]
fn pack<S: Simd, T: Lanes>(v: MatRef<T>, by_rows: &mut [T]) {
    let (m, k) = (v.nrows(), v.ncols());
    let mut rest = by_rows;
    let mut first = 0;
    for r in groups(k.div_ceil(lanes::<S, T>())) {
        let width = r * lanes::<S, T>();
        let (part, others) = rest.split_at_mut(m * width);
        pack_columns(v.submatrix(0, first, m, width.min(k - first)), part, width);
        (rest, first) = (others, first + width);
    }
}

#[inline(always)]
fn pack_columns<T: Lanes>(v: MatRef<T>, to: &mut [T], width: usize) {
    let (m, k) = (v.nrows(), v.ncols());
    if k < width {
        to.fill(T::zero());
    }
    // Lines are written whole.
    let lines = k / 8 * 8;
    for j in (0..lines).step_by(8) {
        let columns: [&[T]; 8] = std::array::from_fn(|x| &v.col(j + x)[..m]);
        for (to, i) in to.chunks_exact_mut(width).zip(0..m) {
            let to = &mut to[j..j + 8];
            for x in 0..8 {
                to[x] = columns[x][i].conj();
            }
        }
    }
    for j in lines..k {
        for (to, x) in to.chunks_exact_mut(width).zip(v.col(j)) {
            to[j] = x.conj();
        }
    }
}
