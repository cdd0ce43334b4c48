//! `gemqrt`: Q or Q^H of a `geqrt`, applied to a tile.

use crate::block::{Op, apply, apply_scratch, whole_vectors};
use crate::scalar::KernelScalar;
use crate::stair::Stair;
use crate::view::{MatMut, MatRef};

/// Elements of scratch for [`gemqrt`] with `k` reflectors and inner block `ib` on an m x n tile.
pub fn gemqrt_scratch<T: KernelScalar>(m: usize, n: usize, k: usize, ib: usize) -> usize {
    apply_scratch::<T>(m, n, ib.min(k))
}

/// C = op(Q) C, with Q from [`geqrt`](crate::geqrt).
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `v` | m x k | as [`copy_v`](crate::copy_v) wrote it: unit lower trapezoid, zero below the staircase | |
/// | `stair` | k | that of `geqrt` | |
/// | `t` | ib x k | as `geqrt` left it | |
/// | `c` | m x n | C | op(Q) C; rows below the last step of the staircase are not touched |
/// | `scratch` | [`gemqrt_scratch`] | anything | anything |
///
/// # Panics
/// When the shapes or the staircase don't fit, `ib` is 0, or the scratch is too small.
///
/// # Cost
/// [`gemqrt_flops`](crate::gemqrt_flops), and about ib / m of it more for T; all of it in matrix products.
///
/// # References
/// Schreiber and Van Loan 1989; LAPACK's `xGEMQRT`.
pub fn gemqrt<T: KernelScalar>(
    op: Op,
    v: MatRef<T>,
    stair: Stair,
    ib: usize,
    t: MatRef<T>,
    mut c: MatMut<T>,
    scratch: &mut [T],
) {
    let (m, n, k) = (c.nrows(), c.ncols(), v.ncols());
    stair.check(m, k);
    assert!(ib > 0, "gemqrt with ib = 0");
    let ib = ib.min(k);
    assert!(
        v.nrows() == m && k <= m && t.nrows() >= ib && t.ncols() >= k,
        "gemqrt on {m} x {n}: V is {} x {k}, T is {} x {}, ib {ib}",
        v.nrows(),
        t.nrows(),
        t.ncols()
    );
    for j0 in blocks(op, k, ib) {
        let kb = ib.min(k - j0);
        let h = stair.rows(j0 + kb - 1, m).saturating_sub(j0);
        let whole = whole_vectors::<T>(j0, j0 + h, m);
        let v = v.submatrix(j0, j0, whole, kb);
        let t = t.submatrix(0, j0, kb, kb);
        let c = c.rb_mut().submatrix(j0, 0, whole, n);
        apply(op, v, h, t, None, c, scratch);
    }
}

/// The first columns of the blocks of `k` reflectors, in the order in which `op` applies them.
pub(crate) fn blocks(op: Op, k: usize, ib: usize) -> impl Iterator<Item = usize> {
    let count = if k == 0 { 0 } else { k.div_ceil(ib) };
    (0..count).map(move |b| match op {
        Op::ConjTrans => b * ib,
        Op::NoTrans => (count - 1 - b) * ib,
    })
}
