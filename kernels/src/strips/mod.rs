//! A block of reflectors applied to strips of a few columns, each of which stays in the nearest cache until it is done.
//!
//! Takes V, op(T) and two tiles of C; gives the tiles with the block applied. A library's product reads and writes C once for
//! W = V^H C and once more for C -= V W, a whole tile apart; here both happen on a few columns (eight with AVX-512, six with AVX2, half as many complex ones), and V, which all strips share, comes from the second-level cache:
//!
//! ```text
//!     W = C1 + V^H C2       V by rows, packed once: a row of V times an entry of each column
//!    TW = -op(T) W          without the zeros of T
//!    C1 = C1 + TW
//!    C2 = C2 + V TW         V by columns, as it is; from the last rows of C2 upwards, as these were read last
//! ```
//!
//! Where C has no C1 and at least as many columns as rows, T goes into V once for all of them: -V op(T)^H is what is packed by rows, and W is TW.
//!
//! Reflectors of a front end in different rows: products leave out what is zero for that reason (`steps`).
//!
//! What is left of the columns goes through a padded copy, so that a column's result depends on nothing but that column.

mod micro;
mod steps;
#[cfg(test)]
mod tests;

use crate::block::{Factor, Op};
use crate::panel::line;
use crate::simd::{Lanes, arch, lanes};
use crate::view::{MatMut, MatRef};
use micro::{Adjoint, Apart, InPairs, Triangle, Update, last_rows};
use pulp::{Simd, WithSimd};
use std::sync::OnceLock;
use steps::Steps;

/// Columns of a strip, at most.
pub(crate) const WIDE: usize = 8;
/// Products are summed over so many rows at a time, and these sums then: rounding errors grow with the root of a tall front's
/// height.
const ROWS: usize = 256;

/// Whether strips are quicker than the products of a library: with AVX-512 and AVX2, where that was measured.
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
    *PAY.get_or_init(|| arch().dispatch(Bytes) >= 32)
}

/// The leading dimension of op(T) and W for `k` reflectors: whole cache lines.
pub(crate) fn leading<T>(k: usize) -> usize {
    k.next_multiple_of(line::<T>())
}

/// Elements of scratch for `k` reflectors on `m` rows.
pub(crate) fn strips_scratch<T>(m: usize, k: usize) -> usize {
    let lines = |rows: usize| rows.next_multiple_of(line::<T>());
    leading::<T>(k) * (m + 2 * WIDE) + (2 * k + WIDE) * lines(m) + (lines(m) + lines(k)) * WIDE
}

/// `[C1; C2] = op(I - [I; V] T [I; V]^H) [C1; C2]`, without C1 `C2 = op(I - V T V^H) C2`.
pub(crate) struct Strips<'a, T> {
    pub op: Op,
    pub place: Factor,
    /// m x k, zeros from row `rows` on.
    pub v: MatRef<'a, T>,
    /// Rows of C2 that V reaches; those behind them are there so that vectors are whole, and stay as they are.
    pub rows: usize,
    /// op(T), or -op(T)^H to go into V: k columns of [`leading`] rows, zeros below row k and in [`WIDE`] more columns.
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
        let real = size_of::<T::Sum<S>>() == size_of::<T::V<S>>();
        match (size_of::<S::f64s>(), real) {
            // AVX2: 12 sums, two vectors and a factor take 15 of 16 registers.
            (32, true) => self.run::<S, 2, 6>(s),
            (32, false) => self.run::<S, 2, 3>(s),
            // 24 sums, three vectors and a factor take 28 of 32.
            (_, true) => self.run::<S, 3, WIDE>(s),
            (_, false) => self.run::<S, 3, { WIDE / 2 }>(s),
        }
    }
}

impl<T: Lanes> Strips<'_, T> {
    /// With micro-kernels of at most R vectors by N columns.
    #[inline(always)]
    fn run<S: Simd, const R: usize, const N: usize>(self, s: S) {
        let (op, place, v, rows, factor) = (self.op, self.place, self.v, self.rows, self.factor);
        let (mut c1, mut c2) = (self.c1, self.c2);
        assert!(place == Factor::Between || c1.is_none(), "T into V with C1");
        let (m, n, k) = (c2.nrows(), c2.ncols(), v.ncols());
        let ld = leading::<T>(k);
        assert!(rows <= m, "{rows} rows of {m}");
        let (by_rows, rest) = self.scratch.split_at_mut(rows * ld);
        let (w, rest) = rest.split_at_mut(ld * N);
        let (tw, rest) = rest.split_at_mut(ld * N);
        let height = m.next_multiple_of(line::<T>());
        let (with_factor, rest) = rest.split_at_mut(k.next_multiple_of(N) * height);
        let steps = Steps::of(v, rows);
        let first = match place {
            Factor::Between => v,
            Factor::IntoV => times::<S, T, R, N>(s, v, &steps, factor, with_factor),
        };
        let first_steps = match (place, op) {
            // V op(T)^H has in each column all that come after it.
            (Factor::IntoV, Op::NoTrans) => Steps::full(k, rows),
            _ => steps,
        };
        pack::<S, T>(first.submatrix(0, 0, rows, k), &first_steps, by_rows, R);
        let (panels, rest) = rest.split_at_mut(k * height);
        let is_packed = conflicts::<S, T>(v);
        if is_packed {
            pack_panels::<S, T>(v, panels, R);
        }
        let block = Block {
            op,
            place,
            v,
            rows,
            factor,
            by_rows,
            panels: is_packed.then_some(&*panels),
            first_steps: &first_steps,
            steps: &steps,
        };
        let whole = n / N * N;
        for j in (0..whole).step_by(N) {
            let c1 = c1.as_mut().map(|c1| c1.rb_mut().submatrix(0, j, k, N));
            let c2 = c2.rb_mut().submatrix(0, j, m, N);
            block.strip::<S, R, N>(s, c1, c2, w, tw);
        }
        let left = n - whole;
        if left == 0 {
            return;
        }
        let c1 = c1.map(|c1| c1.submatrix(0, whole, k, left));
        let c2 = c2.submatrix(0, whole, m, left);
        block.last::<S, R, N>(s, c1, c2, w, tw, rest);
    }
}

/// What all strips share.
struct Block<'a, T> {
    op: Op,
    place: Factor,
    v: MatRef<'a, T>,
    rows: usize,
    factor: &'a [T],
    /// conj(V), or that of -V op(T)^H: for each of the [`groups`] of its columns, row after row, zeros beyond column k.
    by_rows: &'a [T],
    /// V as the second product reads it, if not from where it is: [`groups`] of its rows, the last ones first, each column by column.
    panels: Option<&'a [T]>,
    /// Of `by_rows`, and of V.
    first_steps: &'a Steps,
    steps: &'a Steps,
}

/// Whether columns of V fall onto so few sets of the nearest cache that they drive one another and C out. With AVX2, that
/// cache has eight ways or so; with AVX-512, more, and packing gained nothing where it was measured.
fn conflicts<S: Simd, T: Lanes>(v: MatRef<T>) -> bool {
    size_of::<T::V<S>>() == 32 && (v.ld() * size_of::<T>()).is_multiple_of(1024)
}

impl<T: Lanes> Block<'_, T> {
    /// At most N columns, by a padded copy in `copies`.
    #[inline(always)]
    fn last<S: Simd, const R: usize, const N: usize>(
        &self,
        s: S,
        mut c1: Option<MatMut<T>>,
        mut c2: MatMut<T>,
        w: &mut [T],
        tw: &mut [T],
        copies: &mut [T],
    ) {
        let (m, k, left, ld) = (
            c2.nrows(),
            self.v.ncols(),
            c2.ncols(),
            leading::<T>(self.v.ncols()),
        );
        let lines = |rows: usize| rows.next_multiple_of(line::<T>());
        let (below, rest) = copies.split_at_mut(lines(m) * N);
        let above = &mut rest[..lines(k) * N];
        let mut copy2 = MatMut::new(below, m, N, lines(m));
        let mut copy1 = MatMut::new(above, k, N, lines(k));
        let fill = |c: MatRef<T>, copy: &mut MatMut<T>| {
            for y in 0..N {
                match y < left {
                    true => copy.col_mut(y).copy_from_slice(c.col(y)),
                    false => copy.col_mut(y).fill(T::zero()),
                }
            }
        };
        fill(c2.rb(), &mut copy2);
        if let Some(c1) = &c1 {
            fill(c1.rb(), &mut copy1);
        }
        let above = c1.is_some().then(|| copy1.rb_mut());
        let (w, tw) = (&mut w[..ld * N], &mut tw[..ld * N]);
        self.strip::<S, R, N>(s, above, copy2.rb_mut(), w, tw);
        for y in 0..left {
            c2.col_mut(y).copy_from_slice(copy2.col(y));
            if let Some(c1) = &mut c1 {
                c1.col_mut(y).copy_from_slice(copy1.col(y));
            }
        }
    }

    #[inline(always)]
    fn strip<S: Simd, const R: usize, const N: usize>(
        &self,
        s: S,
        c1: Option<MatMut<T>>,
        c2: MatMut<T>,
        w: &mut [T],
        tw: &mut [T],
    ) {
        let k = self.v.ncols();
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
        for r in groups(k.div_ceil(l), R) {
            let (v, others) = rest.split_at(self.rows * r * l);
            let end = self.first_steps.rows(at + r * l);
            let v = v[..end * r * l].chunks(ROWS * r * l);
            for (v, start) in v.zip((0..end).step_by(ROWS)) {
                let rows = start..(start + ROWS).min(end);
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
                    _ => s.vectorize(Adjoint::<T, R, N> {
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
        if self.place == Factor::IntoV {
            second::<S, T, R, N>(s, self.v, self.panels, self.steps, w, ld, &mut c2);
            return;
        }
        let triangle = Triangle::<T, N> {
            op,
            factor,
            w,
            tw,
            c1: c1.as_mut(),
            ld,
            k,
        };
        match line::<T>() / l {
            1 => s.vectorize(triangle),
            _ => s.vectorize(InPairs(triangle)),
        }
        second::<S, T, R, N>(s, self.v, self.panels, self.steps, tw, ld, &mut c2);
    }
}

/// C2 += V TW, from the last rows upwards; `panels` is V packed, if it is.
#[inline(always)]
fn second<S: Simd, T: Lanes, const R: usize, const N: usize>(
    s: S,
    v: MatRef<T>,
    panels: Option<&[T]>,
    steps: &Steps,
    tw: &[T],
    ld: usize,
    c2: &mut [&mut [T]; N],
) {
    let l = lanes::<S, T>();
    let row = v.nrows() / l * l;
    if row < v.nrows() {
        last_rows::<S, T, N>(s, v, tw, ld, c2, row);
    }
    let update = Update::<T, R, N> {
        v,
        panels,
        steps,
        tw,
        ld,
        c2,
    };
    // Where the distance of columns of TW is known, one register holds all of their addresses.
    match ld {
        8 => s.vectorize(Apart::<8, _>(update)),
        16 => s.vectorize(Apart::<16, _>(update)),
        24 => s.vectorize(Apart::<24, _>(update)),
        32 => s.vectorize(Apart::<32, _>(update)),
        _ => s.vectorize(Apart::<0, _>(update)),
    }
}

/// V times `factor`, in `to`.
#[inline(always)]
fn times<'a, S: Simd, T: Lanes, const R: usize, const N: usize>(
    s: S,
    v: MatRef<T>,
    steps: &Steps,
    factor: &[T],
    to: &'a mut [T],
) -> MatRef<'a, T> {
    let (m, k) = (v.nrows(), v.ncols());
    let (ld, height) = (leading::<T>(k), m.next_multiple_of(line::<T>()));
    to.fill(T::zero());
    for (to, factor) in to
        .chunks_exact_mut(N * height.max(1))
        .zip(factor.chunks(N * ld))
    {
        let mut columns = MatMut::new(to, m, N, height).into_columns();
        second::<S, T, R, N>(s, v, None, steps, factor, ld, &mut columns);
    }
    MatRef::new(to, m, k, height)
}

/// Vectors in parts of at most `most`, two or three; 4 is 2 + 2.
#[inline(always)]
fn groups(mut vectors: usize, most: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let r = match vectors {
            0 => return None,
            4 => 2,
            n => n.min(most),
        };
        vectors -= r;
        Some(r)
    })
}

#[inline(always)]
fn pack<S: Simd, T: Lanes>(v: MatRef<T>, steps: &Steps, by_rows: &mut [T], most: usize) {
    let (m, k) = (v.nrows(), v.ncols());
    let mut rest = by_rows;
    let mut first = 0;
    for r in groups(k.div_ceil(lanes::<S, T>()), most) {
        let width = r * lanes::<S, T>();
        let (part, others) = rest.split_at_mut(m * width);
        let (rows, columns) = (steps.rows(first + width), width.min(k - first));
        let part = &mut part[..rows * width];
        pack_columns(v.submatrix(0, first, rows, columns), part, width);
        (rest, first) = (others, first + width);
    }
}

#[inline(always)]
fn pack_panels<S: Simd, T: Lanes>(v: MatRef<T>, to: &mut [T], most: usize) {
    let (m, k, l) = (v.nrows(), v.ncols(), lanes::<S, T>());
    let mut row = m / l * l;
    let mut rest = to;
    for r in groups(m / l, most) {
        row -= r * l;
        let (panel, others) = rest.split_at_mut(r * l * k);
        for (to, j) in panel.chunks_exact_mut(r * l).zip(0..k) {
            to.copy_from_slice(&v.col(j)[row..][..r * l]);
        }
        rest = others;
    }
}

#[inline(always)]
fn pack_columns<T: Lanes>(v: MatRef<T>, to: &mut [T], width: usize) {
    let k = v.ncols();
    if k < width {
        to.fill(T::zero());
    }
    // Lines are written whole.
    let mut j = 0;
    while j + 8 <= k {
        pack_few::<T, 8>(v, to, width, j);
        j += 8;
    }
    if j + 4 <= k {
        pack_few::<T, 4>(v, to, width, j);
        j += 4;
    }
    while j < k {
        pack_few::<T, 1>(v, to, width, j);
        j += 1;
    }
}

/// C columns from `j` on.
#[inline(always)]
fn pack_few<T: Lanes, const C: usize>(v: MatRef<T>, to: &mut [T], width: usize, j: usize) {
    let m = v.nrows();
    let columns: [&[T]; C] = std::array::from_fn(|x| &v.col(j + x)[..m]);
    for (to, i) in to.chunks_exact_mut(width).zip(0..m) {
        let to = &mut to[j..j + C];
        for x in 0..C {
            to[x] = columns[x][i].conj();
        }
    }
}
