//! Products of a few tall columns, for panels: there the matrix product of a library spends its time on packing.
//!
//! All lengths are whole vectors and all widths are multiples of four, as panels have them.

use crate::scalar::KernelScalar;
use pulp::{Simd, WithSimd};

/// C += A^H B; the columns of A and B are `ld` apart, C is p x q with p rows a column.
pub(super) struct Adjoint<'a, T> {
    pub a: &'a [T],
    pub b: &'a [T],
    pub ld: usize,
    /// The rows that are multiplied.
    pub rows: std::ops::Range<usize>,
    pub c: &'a mut [T],
    pub p: usize,
    pub q: usize,
}

impl<T: KernelScalar> WithSimd for Adjoint<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        for j in (0..self.q).step_by(4) {
            for i in (0..self.p).step_by(4) {
                let a: [&[T::V<S>]; 4] = std::array::from_fn(|x| {
                    T::vectors::<S>(&self.a[(i + x) * self.ld..][self.rows.clone()]).0
                });
                let b: [&[T::V<S>]; 4] = std::array::from_fn(|x| {
                    T::vectors::<S>(&self.b[(j + x) * self.ld..][self.rows.clone()]).0
                });
                let n = a[0].len();
                let (a, b) = (a.map(|x| &x[..n]), b.map(|x| &x[..n]));
                let mut acc = [[T::splat(s, T::zero()); 4]; 4];
                for r in 0..n {
                    let b = b.map(|x| x[r]);
                    for x in 0..4 {
                        let a = a[x][r];
                        for y in 0..4 {
                            acc[y][x] = T::conj_fma(s, a, b[y], acc[y][x]);
                        }
                    }
                }
                for (y, acc) in acc.iter().enumerate() {
                    let c = &mut self.c[(j + y) * self.p + i..][..4];
                    for x in 0..4 {
                        c[x] += T::reduce(s, acc[x]);
                    }
                }
            }
        }
    }
}

/// B -= A C with A and B of columns `ld` apart and C of p x q.
pub(super) struct Update<'a, T> {
    pub a: &'a [T],
    pub b: &'a mut [T],
    pub ld: usize,
    pub rows: std::ops::Range<usize>,
    pub c: &'a [T],
    pub p: usize,
    pub q: usize,
}

impl<T: KernelScalar> WithSimd for Update<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let a = |l: usize| T::vectors::<S>(&self.a[l * self.ld..][self.rows.clone()]).0;
        for (j, b) in self.b.chunks_mut(4 * self.ld).take(self.q / 4).enumerate() {
            let c = &self.c[4 * j * self.p..][..4 * self.p];
            let mut chunks = b.chunks_mut(self.ld);
            let mut b: [&mut [T::V<S>]; 4] = std::array::from_fn(|_| {
                T::vectors_mut::<S>(&mut chunks.next().expect("four columns")[self.rows.clone()]).0
            });
            let n = b[0].len();
            let mut b = b.each_mut().map(|b| &mut b[..n]);
            let mut r = 0;
            while r + 4 <= n {
                strip::<S, T, 4>(s, self.p, &a, c, &mut b, r);
                r += 4;
            }
            while r < n {
                strip::<S, T, 1>(s, self.p, &a, c, &mut b, r);
                r += 1;
            }
        }
    }
}

/// R vectors of four columns.
#[inline(always)]
fn strip<'a, S: Simd, T: KernelScalar, const R: usize>(
    s: S,
    p: usize,
    a: &impl Fn(usize) -> &'a [T::V<S>],
    c: &[T],
    b: &mut [&mut [T::V<S>]; 4],
    r: usize,
) {
    let mut acc: [[T::V<S>; R]; 4] = std::array::from_fn(|y| std::array::from_fn(|x| b[y][r + x]));
    for l in 0..p {
        let a: [T::V<S>; R] = a(l)[r..r + R].try_into().expect("R vectors");
        for y in 0..4 {
            let c = T::splat(s, -c[y * p + l]);
            for x in 0..R {
                acc[y][x] = T::fma(s, c, a[x], acc[y][x]);
            }
        }
    }
    for y in 0..4 {
        for x in 0..R {
            b[y][r + x] = acc[y][x];
        }
    }
}

/// W = T^H W for a p x p upper triangle and p x q, in place.
pub(super) struct TriangleAdjoint<'a, T> {
    pub t: &'a [T],
    pub ldt: usize,
    pub w: &'a mut [T],
    pub p: usize,
}

impl<T: KernelScalar> WithSimd for TriangleAdjoint<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _s: S) {
        for w in self.w.chunks_exact_mut(self.p) {
            for i in (0..self.p).rev() {
                let t = &self.t[i * self.ldt..][..=i];
                let mut sum = T::zero();
                for (t, w) in t.iter().zip(&w[..=i]) {
                    sum += t.conj() * *w;
                }
                w[i] = sum;
            }
        }
    }
}

/// W = -T1 W T2 for upper triangles of p x p and q x q, in place.
pub(super) struct TwoTriangles<'a, T> {
    pub t1: &'a [T],
    pub t2: &'a [T],
    pub ldt: usize,
    pub w: &'a mut [T],
    pub p: usize,
    pub q: usize,
}

impl<T: KernelScalar> WithSimd for TwoTriangles<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _s: S) {
        let p = self.p;
        for w in self.w.chunks_exact_mut(p) {
            for l in 0..p {
                let x = w[l];
                let t = &self.t1[l * self.ldt..][..=l];
                for (w, t) in w[..l].iter_mut().zip(t) {
                    *w += *t * x;
                }
                w[l] = t[l] * x;
            }
        }
        for j in (0..self.q).rev() {
            let (left, w) = self.w.split_at_mut(j * p);
            let w = &mut w[..p];
            let t = &self.t2[j * self.ldt..][..=j];
            for w in w.iter_mut() {
                *w = -(*w * t[j]);
            }
            for (left, t) in left.chunks_exact(p).zip(t) {
                for (w, l) in w.iter_mut().zip(left) {
                    *w -= *l * *t;
                }
            }
        }
    }
}
