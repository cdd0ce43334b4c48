//! The loops: four columns of R by one, two or four vectors.
#![allow(clippy::needless_range_loop)] // an index runs over several arrays at once

use super::{Upper, block_columns};
use crate::simd::{Lanes, lanes};
use crate::view::{MatMut, MatRef};
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Columns that are gone through together.
pub(super) const FOUR: usize = 4;

/// Calls a function object for four vectors at a time, then two, then one.
macro_rules! by_vectors {
    ($count:expr, $at:ident, $n:ident, $body:expr) => {{
        let mut $at = 0;
        while $at + 4 <= $count {
            const $n: usize = 4;
            $body;
            $at += $n;
        }
        if $at + 2 <= $count {
            const $n: usize = 2;
            $body;
            $at += $n;
        }
        if $at < $count {
            const $n: usize = 1;
            $body;
        }
    }};
}

/// Ranges of `step` up to `end`.
#[inline(always)]
fn ranges(end: usize, step: usize) -> impl DoubleEndedIterator<Item = Range<usize>> {
    (0..end.div_ceil(step)).map(move |k| {
        let start = k * step;
        start..start.saturating_add(step).min(end)
    })
}

/// Z -= A X.
#[inline(always)]
pub(super) fn product<S: Simd, T: Lanes>(s: S, a: MatRef<T>, x: MatRef<T>, mut z: MatMut<T>) {
    let (m, w) = (z.nrows(), z.ncols());
    if m == 0 {
        return;
    }
    for columns in ranges(a.ncols(), block_columns::<T>(m, w)) {
        by_vectors!(w, at, N, {
            let z = z.rb_mut().submatrix(0, at, m, N).into_columns::<N>();
            let x = std::array::from_fn(|y| &x.col(at + y)[columns.clone()]);
            let a = a.submatrix(0, columns.start, m, columns.len());
            s.vectorize(ProductPart::<T, N> { a, x, z });
        });
    }
}

struct ProductPart<'a, 'z, T, const N: usize> {
    a: MatRef<'a, T>,
    x: [&'a [T]; N],
    z: [&'z mut [T]; N],
}

impl<T: Lanes, const N: usize> WithSimd for ProductPart<'_, '_, T, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, s: S) {
        let (a, k) = (self.a, self.a.ncols());
        let mut j = 0;
        while j + FOUR <= k {
            let v: [&[T]; FOUR] = std::array::from_fn(|c| a.col(j + c));
            let x = std::array::from_fn(|c| std::array::from_fn(|y| self.x[y][j + c]));
            take(s, v, x, self.z.each_mut().map(|z| &mut **z));
            j += FOUR;
        }
        while j < k {
            let x = [std::array::from_fn(|y| self.x[y][j])];
            take(s, [a.col(j)], x, self.z.each_mut().map(|z| &mut **z));
            j += 1;
        }
    }
}

/// Y -= A^H Z.
#[inline(always)]
pub(super) fn product_adjoint<S: Simd, T: Lanes>(
    s: S,
    a: MatRef<T>,
    z: MatRef<T>,
    mut y: MatMut<T>,
) {
    let (m, w) = (z.nrows(), z.ncols());
    if m == 0 {
        return;
    }
    for columns in ranges(a.ncols(), block_columns::<T>(m, w)) {
        by_vectors!(w, at, N, {
            let y = y.rb_mut().submatrix(columns.start, at, columns.len(), N);
            let y = y.into_columns::<N>();
            let z = std::array::from_fn(|y| z.col(at + y));
            let a = a.submatrix(0, columns.start, m, columns.len());
            s.vectorize(AdjointPart::<T, N> { a, z, y });
        });
    }
}

struct AdjointPart<'a, 'y, T, const N: usize> {
    a: MatRef<'a, T>,
    z: [&'a [T]; N],
    y: [&'y mut [T]; N],
}

impl<T: Lanes, const N: usize> WithSimd for AdjointPart<'_, '_, T, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let (a, k) = (self.a, self.a.ncols());
        let mut j = 0;
        while j + FOUR <= k {
            let v: [&[T]; FOUR] = std::array::from_fn(|c| a.col(j + c));
            let dots = dots(s, v, self.z);
            for c in 0..FOUR {
                for y in 0..N {
                    self.y[y][j + c] -= dots[c][y];
                }
            }
            j += FOUR;
        }
        while j < k {
            let [dots] = dots(s, [a.col(j)], self.z);
            for y in 0..N {
                self.y[y][j] -= dots[y];
            }
            j += 1;
        }
    }
}

/// R x = c for a triangle.
#[inline(always)]
pub(super) fn triangle<S: Simd, T: Lanes>(s: S, r: Upper<'_, T>, mut z: MatMut<T>) {
    let (k, w) = (z.nrows(), z.ncols());
    for columns in ranges(k, block_columns::<T>(k, w)).rev() {
        by_vectors!(w, at, N, {
            let z = z.rb_mut().submatrix(0, at, k, N).into_columns::<N>();
            let columns = columns.clone();
            s.vectorize(TrianglePart::<T, N> { r, columns, z });
        });
    }
}

struct TrianglePart<'a, 'z, T, const N: usize> {
    r: Upper<'a, T>,
    /// They begin at a multiple of four.
    columns: Range<usize>,
    z: [&'z mut [T]; N],
}

impl<T: Lanes, const N: usize> WithSimd for TrianglePart<'_, '_, T, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, s: S) {
        let (r, start) = (self.r, self.columns.start);
        let mut end = self.columns.end;
        let odd = (end - start) % FOUR;
        for _ in 0..odd {
            self.group::<S, 1>(s, r, end - 1);
            end -= 1;
        }
        while end > start {
            end -= FOUR;
            self.group::<S, FOUR>(s, r, end);
        }
    }
}

impl<T: Lanes, const N: usize> TrianglePart<'_, '_, T, N> {
    /// C columns from `j` on.
    #[inline(always)]
    fn group<S: Simd, const C: usize>(&mut self, s: S, r: Upper<'_, T>, j: usize) {
        let columns: [&[T]; C] = std::array::from_fn(|c| r.col(j + c, j + c + 1));
        let mut x = [[T::zero(); N]; C];
        for y in 0..N {
            let own = &mut self.z[y][j..j + C];
            for c in (0..C).rev() {
                let value = own[c] / columns[c][j + c];
                own[c] = value;
                x[c][y] = value;
                for i in 0..c {
                    own[i] -= columns[c][j + i] * value;
                }
            }
        }
        let above = columns.map(|column| &column[..j]);
        take(s, above, x, self.z.each_mut().map(|z| &mut z[..j]));
    }
}

/// R^H y = c for a triangle.
#[inline(always)]
pub(super) fn triangle_adjoint<S: Simd, T: Lanes>(s: S, r: Upper<'_, T>, mut z: MatMut<T>) {
    let (k, w) = (z.nrows(), z.ncols());
    for columns in ranges(k, block_columns::<T>(k, w)) {
        by_vectors!(w, at, N, {
            let z = z.rb_mut().submatrix(0, at, k, N).into_columns::<N>();
            let columns = columns.clone();
            s.vectorize(TriangleAdjointPart::<T, N> { r, columns, z });
        });
    }
}

struct TriangleAdjointPart<'a, 'z, T, const N: usize> {
    r: Upper<'a, T>,
    columns: Range<usize>,
    z: [&'z mut [T]; N],
}

impl<T: Lanes, const N: usize> WithSimd for TriangleAdjointPart<'_, '_, T, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, s: S) {
        let (r, Range { mut start, end }) = (self.r, self.columns.clone());
        while start + FOUR <= end {
            self.group::<S, FOUR>(s, r, start);
            start += FOUR;
        }
        while start < end {
            self.group::<S, 1>(s, r, start);
            start += 1;
        }
    }
}

impl<T: Lanes, const N: usize> TriangleAdjointPart<'_, '_, T, N> {
    /// C columns from `j` on.
    #[inline(always)]
    fn group<S: Simd, const C: usize>(&mut self, s: S, r: Upper<'_, T>, j: usize) {
        let columns: [&[T]; C] = std::array::from_fn(|c| r.col(j + c, j + c + 1));
        let known: [&[T]; N] = std::array::from_fn(|y| &self.z[y][..j]);
        let dots = dots(s, columns.map(|column| &column[..j]), known);
        for y in 0..N {
            let own = &mut self.z[y][j..j + C];
            for c in 0..C {
                let mut value = own[c] - dots[c][y];
                for i in 0..c {
                    value -= columns[c][j + i].conj() * own[i];
                }
                own[c] = value / columns[c][j + c].conj();
            }
        }
    }
}

/// Takes the columns times x from each vector.
#[inline(always)]
fn take<S: Simd, T: Lanes, const C: usize, const N: usize>(
    s: S,
    columns: [&[T]; C],
    x: [[T; N]; C],
    z: [&mut [T]; N],
) {
    let rows = columns[0].len();
    if rows == 0 {
        return;
    }
    let mut factors = [[T::splat(s, T::zero()); N]; C];
    for c in 0..C {
        for y in 0..N {
            factors[c][y] = T::splat(s, -x[c][y]);
        }
    }
    let columns = columns.map(|column| &column[..rows]);
    let mut z = z.map(|z| &mut z[..rows]);
    let l = lanes::<S, T>();
    let whole = rows / l;
    let mut bodies: [&[T::V<S>]; C] = [&[]; C];
    for c in 0..C {
        bodies[c] = &T::vectors::<S>(columns[c]).0[..whole];
    }
    {
        let z = z.each_mut().map(|z| &mut T::vectors_mut::<S>(z).0[..whole]);
        for i in 0..whole {
            for y in 0..N {
                let mut sum = z[y][i];
                for c in 0..C {
                    sum = T::fma(s, factors[c][y], bodies[c][i], sum);
                }
                z[y][i] = sum;
            }
        }
    }
    let done = whole * l;
    if done == rows {
        return;
    }
    let mut tails = [T::splat(s, T::zero()); C];
    for c in 0..C {
        tails[c] = T::partial_load(s, &columns[c][done..]);
    }
    for y in 0..N {
        let z = &mut z[y][done..];
        let mut sum = T::partial_load(s, z);
        for c in 0..C {
            sum = T::fma(s, factors[c][y], tails[c], sum);
        }
        T::partial_store(s, z, sum);
    }
}

/// The products of the columns, conjugated, with each vector.
#[inline(always)]
fn dots<S: Simd, T: Lanes, const C: usize, const N: usize>(
    s: S,
    columns: [&[T]; C],
    z: [&[T]; N],
) -> [[T; N]; C] {
    let rows = columns[0].len();
    if rows == 0 {
        return [[T::zero(); N]; C];
    }
    let columns = columns.map(|column| &column[..rows]);
    let z = z.map(|z| &z[..rows]);
    let l = lanes::<S, T>();
    let whole = rows / l;
    let mut bodies: [&[T::V<S>]; C] = [&[]; C];
    let mut vectors: [&[T::V<S>]; N] = [&[]; N];
    for c in 0..C {
        bodies[c] = &T::vectors::<S>(columns[c]).0[..whole];
    }
    for y in 0..N {
        vectors[y] = &T::vectors::<S>(z[y]).0[..whole];
    }
    let mut sums = [[T::splat(s, T::zero()); N]; C];
    for i in 0..whole {
        for c in 0..C {
            let v = bodies[c][i];
            for y in 0..N {
                sums[c][y] = T::conj_fma(s, v, vectors[y][i], sums[c][y]);
            }
        }
    }
    let done = whole * l;
    if done < rows {
        for c in 0..C {
            let v = T::partial_load(s, &columns[c][done..]);
            for y in 0..N {
                let tail = T::partial_load(s, &z[y][done..]);
                sums[c][y] = T::conj_fma(s, v, tail, sums[c][y]);
            }
        }
    }
    let mut out = [[T::zero(); N]; C];
    for c in 0..C {
        for y in 0..N {
            out[c][y] = T::reduce(s, sums[c][y]);
        }
    }
    out
}
