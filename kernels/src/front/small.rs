//! A small front, one reflector after the other, without T.
//!
//! The front is copied into aligned scratch, where every column is a whole number of vectors; on the way back only what lies
//! above the staircase is written. Each column is passed over once for every reflector: the pass that applies reflector j
//! also takes the products that reflector j + 1 needs (see `panel::base`, which does the same for eight columns).
#![allow(clippy::needless_range_loop)] // an index runs over several arrays at once

use super::front_leading;
use crate::householder::{careful, is_safe, reflector};
use crate::scalar::KernelScalar;
use crate::simd::{arch, lanes};
use crate::stair::Stair;
use crate::view::MatMut;
use pulp::{Simd, WithSimd};
use treeqr_matrices::Scalar;

/// The most lanes that a vector has.
const MOST: usize = 16;

/// Elements of scratch for a front of `m` rows and `cols` columns.
pub(super) fn small_scratch<T>(m: usize, cols: usize) -> usize {
    front_leading::<T>(m) * (cols + 2) + 2 * cols + 64 / size_of::<T>()
}

/// `front_qr` for small fronts.
pub(crate) fn small_here<T: KernelScalar>(
    a: MatMut<T>,
    n: usize,
    stair: Stair,
    tau: &mut [T],
    scratch: &mut [T],
) {
    let cols = a.ncols();
    let ld = front_leading::<T>(a.nrows());
    let skip = scratch.as_ptr().align_offset(64).min(64 / size_of::<T>());
    let (store, rest) = scratch[skip..].split_at_mut(ld * cols);
    let (v, rest) = rest.split_at_mut(ld);
    let (x, rest) = rest.split_at_mut(ld);
    let (dots, rest) = rest.split_at_mut(cols);
    let w = &mut rest[..cols];
    arch().dispatch(Small {
        a,
        n,
        stair,
        tau,
        store,
        ld,
        v,
        x,
        dots,
        w,
    });
}

struct Small<'a, T> {
    a: MatMut<'a, T>,
    n: usize,
    stair: Stair<'a>,
    tau: &'a mut [T],
    /// The copy.
    store: &'a mut [T],
    ld: usize,
    /// The reflector that is being applied, with its unit.
    v: &'a mut [T],
    /// The tail of the column that comes next, zero above it.
    x: &'a mut [T],
    /// x^H a for the columns to the right.
    dots: &'a mut [T],
    /// What the reflector is multiplied by in each column, negative.
    w: &'a mut [T],
}

impl<T: KernelScalar> WithSimd for Small<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, s: S) {
        let (m, k) = (self.a.nrows(), self.tau.len());
        let masks = Masks::new();
        self.load(s);
        let mut square = None;
        for j in 0..k {
            let h = self.stair.rows(j, m);
            self.tau[j] = T::zero();
            if h <= j + 1 {
                square = None;
                continue;
            }
            let mut norm2 = match square {
                Some(x) => x,
                None => self.begin(s, &masks, j, h),
            };
            let head = &mut self.store[j * self.ld + j];
            let alpha = *head;
            let mut scale = T::one();
            let tau;
            if is_safe(norm2)
                && is_safe(norm2 + alpha.abs2())
                && self.dots[j + 1..].iter().all(|x| x.is_finite())
            {
                let r = reflector(alpha, norm2);
                *head = r.beta;
                (tau, scale) = (r.tau, r.scale);
            } else {
                let rows = h.next_multiple_of(lanes::<S, T>());
                tau = careful(
                    head,
                    &mut self.x[j / lanes::<S, T>() * lanes::<S, T>()..rows],
                );
                if tau == T::zero() {
                    square = None;
                    continue;
                }
                for c in j + 1..self.dots.len() {
                    self.dots[c] = (j + 1..h)
                        .map(|i| self.x[i].conj() * self.store[c * self.ld + i])
                        .sum();
                }
            }
            self.tau[j] = tau;
            for c in j + 1..self.w.len() {
                let head = self.store[c * self.ld + j];
                self.w[c] = -(tau.conj() * (head + scale.conj() * self.dots[c]));
            }
            let next = if j + 1 < k {
                self.stair.rows(j + 1, m)
            } else {
                0
            };
            norm2 = self.pass(s, &masks, j, h, next, scale);
            square = Some(norm2);
        }
        self.store(s);
    }
}

/// 0 and 1 in the lanes before and after an edge, and unit vectors, all by unaligned loads.
struct Masks<T> {
    step: [T; 2 * MOST],
    unit: [T; 2 * MOST],
}

impl<T: KernelScalar> Masks<T> {
    #[inline(always)]
    fn new() -> Self {
        let mut step = [T::one(); 2 * MOST];
        step[..MOST].fill(T::zero());
        let mut unit = [T::zero(); 2 * MOST];
        unit[MOST] = T::one();
        Self { step, unit }
    }
    /// 1 after lane p.
    #[inline(always)]
    fn after<S: Simd>(&self, p: usize) -> T::V<S> {
        T::vectors::<S>(&self.step[MOST - 1 - p..][..lanes::<S, T>()]).0[0]
    }
    /// 1 in lane p.
    #[inline(always)]
    fn unit<S: Simd>(&self, p: usize) -> T::V<S> {
        T::vectors::<S>(&self.unit[MOST - p..][..lanes::<S, T>()]).0[0]
    }
}

impl<T: KernelScalar> Small<'_, T> {
    /// Rows of column `c` that may be nonzero.
    #[inline(always)]
    fn height(&self, c: usize) -> usize {
        let m = self.a.nrows();
        if c < self.n { self.stair.rows(c, m) } else { m }
    }

    #[inline(always)]
    fn load<S: Simd>(&mut self, s: S) {
        for c in 0..self.a.ncols() {
            let h = self.height(c);
            let (from, rest) = T::vectors::<S>(&self.a.col(c)[..h]);
            let to = T::vectors_mut::<S>(&mut self.store[c * self.ld..][..self.ld]).0;
            let (body, tail) = to.split_at_mut(from.len());
            for (to, &from) in body.iter_mut().zip(from) {
                *to = from;
            }
            if let Some((first, more)) = tail.split_first_mut() {
                *first = T::partial_load(s, rest);
                for x in more {
                    *x = T::splat(s, T::zero());
                }
            }
        }
    }

    #[inline(always)]
    fn store<S: Simd>(&mut self, s: S) {
        for c in 0..self.a.ncols() {
            let h = self.height(c);
            let from = T::vectors::<S>(&self.store[c * self.ld..][..self.ld]).0;
            let (to, rest) = T::vectors_mut::<S>(&mut self.a.col_mut(c)[..h]);
            for (to, &from) in to.iter_mut().zip(from) {
                *to = from;
            }
            if !rest.is_empty() {
                T::partial_store(s, rest, from[to.len()]);
            }
        }
    }

    /// The tail of column j and its products, by themselves; gives the squared norm.
    #[inline(always)]
    fn begin<S: Simd>(&mut self, s: S, masks: &Masks<T>, j: usize, h: usize) -> T::Real {
        let (b, p) = (j / lanes::<S, T>(), j % lanes::<S, T>());
        let n = h.div_ceil(lanes::<S, T>());
        let x = T::vectors_mut::<S>(self.x).0;
        let col = T::vectors::<S>(&self.store[j * self.ld..][..self.ld]).0;
        let mut square = T::splat(s, T::zero());
        for i in b..n {
            let mut a = col[i];
            if i == b {
                a = T::vmul(s, masks.after::<S>(p), a);
            }
            x[i] = a;
            square = T::conj_fma(s, a, a, square);
        }
        let x = &x[b..n];
        for (c, col) in self.store.chunks_exact(self.ld).enumerate().skip(j + 1) {
            let a = &T::vectors::<S>(col).0[b..n];
            let mut acc = T::splat(s, T::zero());
            for (&x, &a) in x.iter().zip(a) {
                acc = T::conj_fma(s, x, a, acc);
            }
            self.dots[c] = T::reduce(s, acc);
        }
        T::reduce(s, square).re()
    }

    /// Applies reflector j of height h, and takes the products of the next column with height `next`.
    #[inline(always)]
    fn pass<S: Simd>(
        &mut self,
        s: S,
        masks: &Masks<T>,
        j: usize,
        h: usize,
        next: usize,
        scale: T,
    ) -> T::Real {
        let lanes = lanes::<S, T>();
        let (b, p) = (j / lanes, j % lanes);
        let (b1, p1) = ((j + 1) / lanes, (j + 1) % lanes);
        let n = h.div_ceil(lanes);
        let n1 = next.div_ceil(lanes).max(n);
        let v = T::vectors_mut::<S>(self.v).0;
        let x = T::vectors_mut::<S>(self.x).0;
        let (left, right) = self.store.split_at_mut((j + 1) * self.ld);
        let own = T::vectors_mut::<S>(&mut left[j * self.ld..]).0;
        let scale = T::splat(s, scale);
        for i in b..n {
            let tail = T::vmul(s, scale, x[i]);
            if i == b {
                // R above, its new diagonal, and the first of V.
                let after = masks.after::<S>(p);
                let minus = T::splat(s, -T::one());
                let v_and_r = T::fma(s, T::vmul(s, minus, after), own[i], own[i]);
                own[i] = T::fma(s, T::splat(s, T::one()), tail, v_and_r);
                v[i] = T::fma(s, T::splat(s, T::one()), masks.unit::<S>(p), tail);
            } else {
                own[i] = tail;
                v[i] = tail;
            }
        }
        if right.is_empty() {
            return T::Real::zero();
        }
        let (first, right) = right.split_at_mut(self.ld);
        let first = T::vectors_mut::<S>(first).0;
        let w = T::splat(s, self.w[j + 1]);
        let mut square = T::splat(s, T::zero());
        for i in b..n1 {
            let mut a = first[i];
            if i < n {
                a = T::fma(s, w, v[i], a);
                first[i] = a;
            }
            if i <= b1 {
                a = if i == b1 {
                    T::vmul(s, masks.after::<S>(p1), a)
                } else {
                    T::splat(s, T::zero())
                };
            }
            x[i] = a;
            square = T::conj_fma(s, a, a, square);
        }
        let (v, x) = (&v[b..n], &x[b..n1]);
        let mut c = j + 2;
        let mut fours = right.chunks_exact_mut(4 * self.ld);
        for four in &mut fours {
            group::<S, T, 4>(
                s,
                four,
                self.ld,
                b,
                v,
                x,
                &self.w[c..c + 4],
                &mut self.dots[c..c + 4],
            );
            c += 4;
        }
        let rest = fours.into_remainder();
        match rest.len() / self.ld {
            3 => group::<S, T, 3>(s, rest, self.ld, b, v, x, &self.w[c..], &mut self.dots[c..]),
            2 => group::<S, T, 2>(s, rest, self.ld, b, v, x, &self.w[c..], &mut self.dots[c..]),
            1 => group::<S, T, 1>(s, rest, self.ld, b, v, x, &self.w[c..], &mut self.dots[c..]),
            _ => {}
        }
        T::reduce(s, square).re()
    }
}

/// a += v w and x^H a for G columns.
#[allow(clippy::too_many_arguments)] // the innermost loop
#[inline(always)]
fn group<S: Simd, T: KernelScalar, const G: usize>(
    s: S,
    cols: &mut [T],
    ld: usize,
    b: usize,
    v: &[T::V<S>],
    x: &[T::V<S>],
    w: &[T],
    dots: &mut [T],
) {
    let mut chunks = cols.chunks_exact_mut(ld);
    let cols: [&mut [T::V<S>]; G] = std::array::from_fn(|_| {
        let col = T::vectors_mut::<S>(chunks.next().expect("G columns")).0;
        &mut col[b..b + x.len()]
    });
    let w: [T::V<S>; G] = std::array::from_fn(|g| T::splat(s, w[g]));
    let mut acc = [T::splat(s, T::zero()); G];
    let (x, x_below) = x.split_at(v.len());
    for i in 0..v.len() {
        for g in 0..G {
            let a = T::fma(s, w[g], v[i], cols[g][i]);
            cols[g][i] = a;
            acc[g] = T::conj_fma(s, x[i], a, acc[g]);
        }
    }
    for (i, &x) in x_below.iter().enumerate() {
        for g in 0..G {
            acc[g] = T::conj_fma(s, x, cols[g][v.len() + i], acc[g]);
        }
    }
    for g in 0..G {
        dots[g] = T::reduce(s, acc[g]);
    }
}
