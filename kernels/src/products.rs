//! Products of a few columns, for panels and triangular factors: there the matrix product of a library spends its time on packing.
//!
//! All lengths are whole vectors and all widths are multiples of four, as panels have them.
#![allow(clippy::needless_range_loop)] // an index runs over several arrays at once

use crate::scalar::KernelScalar;
use crate::simd::lanes;
use pulp::{Simd, WithSimd};

/// C += A^H B; the columns of A and B are `ld` apart, C is p x q.
pub(crate) struct Adjoint<'a, T> {
    pub a: &'a [T],
    pub b: &'a [T],
    pub ld: usize,
    /// The rows that are multiplied, a whole number of vectors.
    pub rows: std::ops::Range<usize>,
    pub c: &'a mut [T],
    pub ldc: usize,
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
                let a: [&[T::V<S>]; 4] = std::array::from_fn(|x| &a[x][..n]);
                let b: [&[T::V<S>]; 4] = std::array::from_fn(|x| &b[x][..n]);
                let mut acc = [[T::splat(s, T::zero()); 4]; 4];
                for r in 0..n {
                    let b = [b[0][r], b[1][r], b[2][r], b[3][r]];
                    for x in 0..4 {
                        let a = a[x][r];
                        for y in 0..4 {
                            acc[y][x] = T::conj_fma(s, a, b[y], acc[y][x]);
                        }
                    }
                }
                for (y, acc) in acc.iter().enumerate() {
                    let c = &mut self.c[(j + y) * self.ldc + i..][..4];
                    for x in 0..4 {
                        c[x] += T::reduce(s, acc[x]);
                    }
                }
            }
        }
    }
}

/// C -= A B, or C = A B, on the same rows of A and C.
pub(crate) struct Product<'a, T> {
    /// C = A B.
    pub replace: bool,
    /// k columns, `lda` apart.
    pub a: &'a [T],
    pub lda: usize,
    /// k x q, `ldb` apart.
    pub b: &'a [T],
    pub ldb: usize,
    /// q columns, `ldc` apart.
    pub c: &'a mut [T],
    pub ldc: usize,
    /// A whole number of vectors.
    pub rows: std::ops::Range<usize>,
    pub k: usize,
    pub q: usize,
}

impl<T: KernelScalar> WithSimd for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let rows = self.rows.clone();
        for j in (0..self.q).step_by(4) {
            let b = &self.b[j * self.ldb..];
            let mut chunks = self.c[j * self.ldc..].chunks_mut(self.ldc);
            let mut c: [&mut [T::V<S>]; 4] = std::array::from_fn(|_| {
                T::vectors_mut::<S>(&mut chunks.next().expect("four columns")[rows.clone()]).0
            });
            let n = c[0].len();
            let mut r = 0;
            while r + 4 <= n {
                strip::<S, T, 4>(
                    s,
                    &self.a[rows.start..],
                    self.lda,
                    b,
                    self.ldb,
                    &mut c,
                    r,
                    self.k,
                    self.replace,
                );
                r += 4;
            }
            if r + 2 <= n {
                strip::<S, T, 2>(
                    s,
                    &self.a[rows.start..],
                    self.lda,
                    b,
                    self.ldb,
                    &mut c,
                    r,
                    self.k,
                    self.replace,
                );
                r += 2;
            }
            if r < n {
                strip::<S, T, 1>(
                    s,
                    &self.a[rows.start..],
                    self.lda,
                    b,
                    self.ldb,
                    &mut c,
                    r,
                    self.k,
                    self.replace,
                );
            }
        }
    }
}

/// R vectors of four columns, from vector r on.
#[allow(clippy::too_many_arguments)] // the innermost loop
#[inline(always)]
fn strip<S: Simd, T: KernelScalar, const R: usize>(
    s: S,
    a: &[T],
    lda: usize,
    b: &[T],
    ldb: usize,
    c: &mut [&mut [T::V<S>]; 4],
    r: usize,
    k: usize,
    replace: bool,
) {
    let mut acc = [[T::splat(s, T::zero()); R]; 4];
    let width = R * lanes::<S, T>();
    let b: [&[T]; 4] = std::array::from_fn(|y| &b[y * ldb..][..k]);
    for l in 0..k {
        let a = T::vectors::<S>(&a[l * lda + r * lanes::<S, T>()..][..width]).0;
        for y in 0..4 {
            let b = T::splat(s, b[y][l]);
            for x in 0..R {
                acc[y][x] = T::fma(s, b, a[x], acc[y][x]);
            }
        }
    }
    let minus = T::splat(s, -T::one());
    for y in 0..4 {
        let c = &mut c[y][r..r + R];
        for x in 0..R {
            c[x] = if replace {
                acc[y][x]
            } else {
                T::fma(s, minus, acc[y][x], c[x])
            };
        }
    }
}
