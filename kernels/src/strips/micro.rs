//! The innermost loops of a strip, each compiled on its own so that its sums stay in registers: R vectors of rows, N columns.
#![allow(clippy::needless_range_loop)] // an index runs over several arrays at once

use super::groups;
use super::steps::Steps;
use crate::block::Op;
use crate::simd::{Lanes, lanes};
use crate::view::MatRef;
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// W += V^H C2, its rows from `at` on, by some rows of V and C2.
pub(super) struct Adjoint<'a, 'b, T, const R: usize, const N: usize> {
    /// These rows of conj(V), one after the other.
    pub v: &'a [T],
    pub c2: &'a [&'b mut [T]; N],
    pub rows: Range<usize>,
    pub w: &'a mut [T],
    pub ld: usize,
    pub at: usize,
}

impl<T: Lanes, const R: usize, const N: usize> WithSimd for Adjoint<'_, '_, T, R, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let l = lanes::<S, T>();
        let m = self.rows.len();
        let mut c: [&[T]; N] = [&[]; N];
        for y in 0..N {
            c[y] = &self.c2[y][self.rows.start..][..m];
        }
        let mut acc = [[T::sum_of(s, T::splat(s, T::zero())); R]; N];
        let v = T::vectors::<S>(self.v).0;
        if R == 1 {
            // So few sums would wait for one another: those of every second row on their own.
            let mut odd = [T::sum_of(s, T::splat(s, T::zero())); N];
            let (pairs, last) = v.as_chunks::<2>();
            for (v, i) in pairs.iter().zip((0..m).step_by(2)) {
                for y in 0..N {
                    let (x0, x1) = (T::factor(s, c[y][i]), T::factor(s, c[y][i + 1]));
                    acc[y][0] = T::add_product(s, x0, v[0], acc[y][0]);
                    odd[y] = T::add_product(s, x1, v[1], odd[y]);
                }
            }
            for y in 0..N {
                if let [v] = last {
                    let x = T::factor(s, c[y][m - 1]);
                    acc[y][0] = T::add_product(s, x, *v, acc[y][0]);
                }
                let sum = T::vadd(s, T::value(s, acc[y][0]), T::value(s, odd[y]));
                let w = &mut self.w[y * self.ld + self.at..][..l];
                let w = &mut T::vectors_mut::<S>(w).0[0];
                *w = T::vadd(s, *w, sum);
            }
            return;
        }
        for (v, i) in v.chunks_exact(R).zip(0..m) {
            for y in 0..N {
                let x = T::factor(s, c[y][i]);
                for r in 0..R {
                    acc[y][r] = T::add_product(s, x, v[r], acc[y][r]);
                }
            }
        }
        for y in 0..N {
            let w = &mut self.w[y * self.ld + self.at..][..R * l];
            let w = T::vectors_mut::<S>(w).0;
            for r in 0..R {
                w[r] = T::vadd(s, w[r], T::value(s, acc[y][r]));
            }
        }
    }
}

/// TW = -op(T) W, and C1 += TW.
pub(super) struct Triangle<'a, 'b, T, const N: usize> {
    pub op: Op,
    pub factor: &'a [T],
    pub w: &'a [T],
    pub tw: &'a mut [T],
    pub c1: Option<&'a mut [&'b mut [T]; N]>,
    pub ld: usize,
    pub k: usize,
}

impl<T: Lanes, const N: usize> WithSimd for Triangle<'_, '_, T, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        self.rows::<S, 1>(s);
    }
}

/// Two vectors of rows at a time, where vectors are shorter than cache lines: so many sums don't wait for one another.
pub(super) struct InPairs<'a, 'b, T, const N: usize>(pub Triangle<'a, 'b, T, N>);

impl<T: Lanes, const N: usize> WithSimd for InPairs<'_, '_, T, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        self.0.rows::<S, 2>(s);
    }
}

impl<T: Lanes, const N: usize> Triangle<'_, '_, T, N> {
    #[inline(always)]
    fn rows<S: Simd, const R: usize>(mut self, s: S) {
        let (l, k, ld) = (lanes::<S, T>(), self.k, self.ld);
        let minus = T::splat(s, -T::one());
        for at in (0..k).step_by(R * l) {
            // What of these rows is not zero.
            let inner = match self.op {
                Op::ConjTrans => 0..(at + R * l).min(k),
                Op::NoTrans => at..k,
            };
            let len = inner.len();
            let mut w: [&[T]; N] = [&[]; N];
            for y in 0..N {
                w[y] = &self.w[y * ld + inner.start..][..len];
            }
            let mut acc = [[T::sum_of(s, T::splat(s, T::zero())); R]; N];
            let columns = self.factor[inner.start * ld + at..].chunks(ld);
            for (t, j) in columns.zip(0..len) {
                let t = T::vectors::<S>(&t[..R * l]).0;
                for y in 0..N {
                    let x = T::factor(s, w[y][j]);
                    for r in 0..R {
                        acc[y][r] = T::add_product(s, x, t[r], acc[y][r]);
                    }
                }
            }
            for y in 0..N {
                let tw = T::vectors_mut::<S>(&mut self.tw[y * ld + at..][..R * l]).0;
                for r in 0..R {
                    let sum = T::value(s, acc[y][r]);
                    tw[r] = T::vmul(s, minus, sum);
                    if let Some(c1) = &mut self.c1 {
                        let sum = T::fma(s, minus, sum, load(s, c1[y], at + r * l));
                        store(s, c1[y], at + r * l, sum);
                    }
                }
            }
        }
    }
}

/// C2 += V TW on whole vectors of rows, the last ones first.
pub(super) struct Update<'a, 'b, T, const R: usize, const N: usize> {
    pub v: MatRef<'a, T>,
    /// V packed: [`groups`] of vectors of its rows, the last ones first, each column by column.
    pub panels: Option<&'a [T]>,
    /// Which rows each reflector has.
    pub steps: &'a Steps,
    pub tw: &'a [T],
    pub ld: usize,
    pub c2: &'a mut [&'b mut [T]; N],
}

/// The update, whose columns of TW are D elements apart; 0 if that is for `ld` to tell.
pub(super) struct Apart<const D: usize, U>(pub U);

impl<T: Lanes, const R: usize, const N: usize, const D: usize> WithSimd
    for Apart<D, Update<'_, '_, T, R, N>>
{
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let update = self.0;
        let (v, l) = (update.v, lanes::<S, T>());
        let (m, k) = (v.nrows(), v.ncols());
        let ld = if D > 0 { D } else { update.ld };
        assert!(k <= ld, "{k} reflectors, columns {ld} apart");
        let mut tw: [&[T]; N] = [&[]; N];
        for y in 0..N {
            tw[y] = &update.tw[y * ld..][..k];
        }
        let mut c: [&mut [T::V<S>]; N] = std::array::from_fn(|_| &mut [][..]);
        for (y, column) in update.c2.iter_mut().enumerate() {
            c[y] = &mut T::vectors_mut::<S>(column).0[..m / l];
        }
        let mut panels = update.panels;
        let (mut at, mut first) = (m / l, k);
        for r in groups(m / l, R) {
            at -= r;
            first = update.steps.first_below(at * l, first);
            let v = match &mut panels {
                Some(rest) => {
                    let (panel, others) = rest.split_at(r * l * k);
                    *rest = others;
                    MatRef::new(panel, r * l, k, r * l).columns(first, 0..r * l)
                }
                None => v.columns(first, at * l..(at + r) * l),
            };
            let v = v.zip(first..k);
            match r {
                1 => rows::<S, T, 1, N>(s, v, &tw, &mut c, at),
                2 => rows::<S, T, 2, N>(s, v, &tw, &mut c, at),
                _ => rows::<S, T, R, N>(s, v, &tw, &mut c, at),
            }
        }
    }
}

/// C2 += V TW on R vectors of rows, from vector `at` of C2 on; columns of V come with their numbers.
#[inline(always)]
fn rows<'a, S: Simd, T: Lanes, const R: usize, const N: usize>(
    s: S,
    v: impl Iterator<Item = (&'a [T], usize)>,
    tw: &[&[T]; N],
    c: &mut [&mut [T::V<S>]; N],
    at: usize,
) {
    // Sums that begin with C2 would wait for it to come.
    let mut acc = [[T::sum_of(s, T::splat(s, T::zero())); R]; N];
    for (v, j) in v {
        let v = &T::vectors::<S>(v).0[..R];
        for y in 0..N {
            let x = T::factor(s, tw[y][j]);
            for r in 0..R {
                acc[y][r] = T::add_product(s, x, v[r], acc[y][r]);
            }
        }
    }
    for y in 0..N {
        let c = &mut c[y][at..][..R];
        for r in 0..R {
            c[r] = T::vadd(s, c[r], T::value(s, acc[y][r]));
        }
    }
}

/// C2 += V TW on the rows from `row` on, fewer than a vector.
#[inline(always)]
pub(super) fn last_rows<S: Simd, T: Lanes, const N: usize>(
    s: S,
    v: MatRef<T>,
    tw: &[T],
    ld: usize,
    c2: &mut [&mut [T]; N],
    row: usize,
) {
    let mut acc = [T::splat(s, T::zero()); N];
    for y in 0..N {
        acc[y] = T::partial_load(s, &c2[y][row..]);
    }
    for j in 0..v.ncols() {
        let v = T::partial_load(s, &v.col(j)[row..]);
        for y in 0..N {
            acc[y] = T::fma(s, T::splat(s, tw[y * ld + j]), v, acc[y]);
        }
    }
    for y in 0..N {
        T::partial_store(s, &mut c2[y][row..], acc[y]);
    }
}

/// A vector from `at` on, zeros beyond the end.
#[inline(always)]
fn load<S: Simd, T: Lanes>(s: S, x: &[T], at: usize) -> T::V<S> {
    let x = &x[at.min(x.len())..];
    match x.get(..lanes::<S, T>()) {
        Some(x) => T::vectors::<S>(x).0[0],
        None => T::partial_load(s, x),
    }
}

/// Writes a vector from `at` on, as far as there is place.
#[inline(always)]
fn store<S: Simd, T: Lanes>(s: S, x: &mut [T], at: usize, value: T::V<S>) {
    let at = at.min(x.len());
    let x = &mut x[at..];
    match x.get_mut(..lanes::<S, T>()) {
        Some(x) => T::vectors_mut::<S>(x).0[0] = value,
        None => T::partial_store(s, x, value),
    }
}
