//! The reflectors of some columns that `deflate` has reduced, on the columns beside them.

use super::bands::{self, bands_scratch, factors_len};
use crate::block::{FEW, Op, apply, apply_scratch};
use crate::packed::One;
use crate::scalar::KernelScalar;
use crate::simd::arch;
use crate::stair::Stair;
use crate::strips;
use crate::view::{MatMut, MatRef};
use std::ops::Range;

/// Reflectors that reach so many rows beyond their panel are applied as one block: that multiplies with the zeros above the heads.
const TALL: usize = 128;
/// As [`TALL`], where vectors are short and others are applied one by one.
const TALL_WITHOUT: usize = 4;

/// Whether `k` reflectors on `rows` rows are applied as one block.
fn is_tall(rows: usize, k: usize) -> bool {
    rows >= k + if strips::pay() { TALL } else { TALL_WITHOUT }
}

/// Elements of scratch for `k` reflectors on m x cols.
pub(super) fn panel_scratch<T: KernelScalar>(m: usize, cols: usize, k: usize) -> usize {
    let block = m * k + 2 * k * k + apply_scratch::<T>(m, cols, k);
    block.max(factors_len(k) + bands_scratch::<T>(m, k))
}

/// The reflectors of one panel, before they are applied to the columns on its right.
#[derive(Clone, Copy)]
pub struct Panel<'a, T> {
    /// The columns of the reflectors, and their factors.
    pub live: &'a [u32],
    pub tau: &'a [T],
    pub stair: Stair<'a>,
}

impl<T: KernelScalar> Panel<'_, T> {
    /// The rows of reflector i below its head, of `m`; the head of the first is in row `r0`.
    pub(super) fn tail(&self, i: usize, r0: usize, m: usize) -> Range<usize> {
        let below = r0 + i + 1;
        below..self.stair.rows(self.live[i] as usize, m).max(below)
    }

    /// V with its unit diagonal and its zeros, from row `r0` to row `h`, in `out`.
    fn explicit<'v>(
        &self,
        left: MatRef<T>,
        r0: usize,
        h: usize,
        out: &'v mut [T],
    ) -> MatRef<'v, T> {
        let (rows, k, m) = (h - r0, self.live.len(), left.nrows());
        let mut v = MatMut::new(out, rows, k, rows);
        for i in 0..k {
            let to = v.col_mut(i);
            let tail = &left.col(self.live[i] as usize)[self.tail(i, r0, m)];
            to[..i].fill(T::zero());
            to[i] = T::one();
            to[i + 1..=i + tail.len()].copy_from_slice(tail);
            to[i + 1 + tail.len()..].fill(T::zero());
        }
        MatRef::new(out, rows, k, rows)
    }

    /// The triangular factors for [`Self::apply`], in the first k x k of `t`, or fewer elements.
    pub(super) fn factors(
        &self,
        left: MatRef<T>,
        r0: usize,
        h: usize,
        t: &mut [T],
        scratch: &mut [T],
    ) {
        if is_tall(h - r0, self.live.len()) {
            let (own, scratch) = scratch.split_at_mut((h - r0) * self.live.len());
            self.factor(self.explicit(left, r0, h, own), t, scratch);
        } else if strips::pay() {
            bands::factors(self, left, r0, t, scratch);
        }
    }

    /// T of the compact WY form, in the first k x k of `t`.
    fn factor(&self, v: MatRef<T>, t: &mut [T], scratch: &mut [T]) {
        let k = self.live.len();
        let mut gram = MatMut::new(scratch, k, k, k.max(1));
        T::gemm_adjoint(crate::Beta::Zero, gram.rb_mut(), T::one(), v, v);
        let mut t = MatMut::new(t, k, k, k.max(1));
        for j in 0..k {
            // T(0..j, j) = -tau T(0..j, 0..j) (V^H v_j)
            let (before, mut column) = t.rb_mut().split_at_col_mut(j);
            let column = column.col_mut(0);
            column.fill(T::zero());
            for l in 0..j {
                let by = -self.tau[j] * gram.at(l, j);
                for (sum, &x) in column[..=l].iter_mut().zip(before.rb().col(l)) {
                    *sum += x * by;
                }
            }
            column[j] = self.tau[j];
        }
    }

    /// Q^H on the columns `right`; `left` has the reflectors. The head of the first is in row `r0`, the last reaches row `h` - 1. `t`
    /// is what [`Self::factors`] gives, where that is known.
    pub(super) fn apply(
        &self,
        left: MatRef<T>,
        right: MatMut<T>,
        r0: usize,
        h: usize,
        t: Option<&[T]>,
        scratch: &mut [T],
    ) {
        let (m, cols) = (right.nrows(), right.ncols());
        let k = self.live.len();
        if cols == 0 || self.tau.iter().all(|&t| t == T::zero()) {
            return;
        }
        let is_tall = is_tall(h - r0, k);
        if cols <= FEW || !is_tall && !strips::pay() {
            // By columns: what all of the reflectors change of one stays in the nearest cache.
            let mut right = right;
            for c in 0..cols {
                for (i, &tau) in self.tau.iter().enumerate().filter(|t| *t.1 != T::zero()) {
                    let r = r0 + i;
                    let v = &left.col(self.live[i] as usize)[self.tail(i, r0, m)];
                    let c = right.rb_mut().submatrix(r, c, v.len() + 1, 1);
                    let tau = tau.conj();
                    arch().dispatch(One { v, tau, c });
                }
            }
            return;
        }
        let rows = h - r0;
        if !is_tall {
            let (own, scratch) = scratch.split_at_mut(factors_len(k));
            let t = t.unwrap_or_else(|| {
                bands::factors(self, left, r0, own, scratch);
                own
            });
            let right = right.submatrix(r0, 0, rows, cols);
            T::apply_bands(self, left, r0, t, right, scratch);
            return;
        }
        let (v, scratch) = scratch.split_at_mut(rows * k);
        let (gram, scratch) = scratch.split_at_mut(k * k);
        let (own, scratch) = scratch.split_at_mut(k * k);
        let v = self.explicit(left, r0, h, v);
        let t = match t {
            Some(t) => t,
            None => {
                self.factor(v, own, gram);
                own
            }
        };
        let t = MatRef::new(t, k, k, k);
        let right = right.submatrix(r0, 0, rows, cols);
        let rows = right.nrows();
        apply(Op::ConjTrans, v, rows, t, None, right, scratch);
    }
}
