//! `apply_packed`: Q or Q^H of a front whose V was kept as packed columns.

use crate::block::Op;
use crate::scalar::KernelScalar;
use crate::simd::arch;
use crate::stair::Stair;
use crate::view::MatMut;
use pulp::{Simd, WithSimd};

/// The number of elements that the packed V of `k` reflectors on `m` rows takes.
///
/// # Panics
/// When the staircase is not one for m x k.
pub fn packed_len(m: usize, k: usize, stair: Stair) -> usize {
    stair.check(m, k);
    (0..k).map(|j| stair.rows(j, m).saturating_sub(j + 1)).sum()
}

/// C = op(Q) C, with Q from [`front_qr`](crate::front_qr) and its V as packed columns.
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `v` | [`packed_len`] | for each reflector j the rows j+1..stair\[j\] of V, one after the other | |
/// | `stair` | k | that of `front_qr` | |
/// | `tau` | k | that of `front_qr` | |
/// | `c` | m x n | C | op(Q) C |
///
/// # Panics
/// When the shapes or the staircase don't fit.
///
/// # Cost
/// [`apply_packed_flops`](crate::apply_packed_flops).
pub fn apply_packed<T: KernelScalar>(op: Op, v: &[T], stair: Stair, tau: &[T], mut c: MatMut<T>) {
    let (m, k) = (c.nrows(), tau.len());
    assert!(k <= m, "{k} reflectors on {m} rows");
    let len = packed_len(m, k, stair);
    assert!(
        v.len() == len,
        "apply_packed: V has {} elements, not {len}",
        v.len()
    );
    let n = c.ncols();
    let mut apply_one = |j: usize, v: &[T]| {
        let tau = match op {
            Op::NoTrans => tau[j],
            Op::ConjTrans => tau[j].conj(),
        };
        if tau != T::zero() {
            let c = c.rb_mut().submatrix(j, 0, v.len() + 1, n);
            T::apply_one(v, tau, c);
        }
    };
    let length = |j: usize| stair.rows(j, m).saturating_sub(j + 1);
    match op {
        Op::ConjTrans => {
            let mut rest = v;
            for j in 0..k {
                let (v, next) = rest.split_at(length(j));
                apply_one(j, v);
                rest = next;
            }
        }
        Op::NoTrans => {
            let mut rest = v;
            for j in (0..k).rev() {
                let (next, v) = rest.split_at(rest.len() - length(j));
                apply_one(j, v);
                rest = next;
            }
        }
    }
}

pub(crate) fn apply_one_here<T: KernelScalar>(v: &[T], tau: T, c: MatMut<T>) {
    arch().dispatch(One { v, tau, c });
}

/// C -= tau \[1; v\] (\[1; v\]^H C)
pub(crate) struct One<'a, T> {
    pub v: &'a [T],
    pub tau: T,
    pub c: MatMut<'a, T>,
}

impl<T: KernelScalar> WithSimd for One<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, s: S) {
        let (body, tail) = T::vectors::<S>(self.v);
        let tail = T::partial_load(s, tail);
        for j in 0..self.c.ncols() {
            let (head, c) = self.c.col_mut(j).split_first_mut().expect("a head");
            let (c, rest) = T::vectors_mut::<S>(c);
            let rest_c = T::partial_load(s, rest);
            // Four sums, so that none waits for the one before.
            let mut sums = [T::splat(s, T::zero()); 4];
            let (fours, ones) = body.as_chunks::<4>();
            let (c_fours, c_ones) = c.as_chunks_mut::<4>();
            for (v, c) in fours.iter().zip(&*c_fours) {
                for x in 0..4 {
                    sums[x] = T::conj_fma(s, v[x], c[x], sums[x]);
                }
            }
            for (&v, &c) in ones.iter().zip(&*c_ones) {
                sums[0] = T::conj_fma(s, v, c, sums[0]);
            }
            sums[1] = T::conj_fma(s, tail, rest_c, sums[1]);
            let one = T::splat(s, T::one());
            let low = T::fma(s, one, sums[0], sums[1]);
            let high = T::fma(s, one, sums[2], sums[3]);
            let dot = T::reduce(s, T::fma(s, one, low, high));

            let x = self.tau * (*head + dot);
            *head -= x;
            let x = T::splat(s, -x);
            for (v, c) in fours.iter().zip(c_fours) {
                for i in 0..4 {
                    c[i] = T::fma(s, x, v[i], c[i]);
                }
            }
            for (&v, c) in ones.iter().zip(c_ones) {
                *c = T::fma(s, x, v, *c);
            }
            T::partial_store(s, rest, T::fma(s, x, tail, rest_c));
        }
    }
}
