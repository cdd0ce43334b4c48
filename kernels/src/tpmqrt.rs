//! `tpmqrt`: Q or Q^H of a `tpqrt`, applied to a pair of tiles.

use crate::block::{Op, apply, apply_scratch, whole_vectors};
use crate::gemqrt::blocks;
use crate::scalar::KernelScalar;
use crate::stair::Stair;
use crate::view::{MatMut, MatRef};

/// Elements of scratch for [`tpmqrt`] with `k` reflectors and inner block `ib` on tiles of k x n over m x n.
pub fn tpmqrt_scratch<T: KernelScalar>(m: usize, n: usize, k: usize, ib: usize) -> usize {
    apply_scratch::<T>(m, n, ib.min(k))
}

/// `[C1; C2] = op(Q) [C1; C2]`, with Q from [`tpqrt`](crate::tpqrt).
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `v` | m x k | V of `tpqrt`, with zeros written below the staircase (see [`copy_upper`](crate::copy_upper)) | |
/// | `stair` | k | that of `tpqrt` | |
/// | `t` | ib x k | as `tpqrt` left it | |
/// | `c1` | k x n, or more rows, which are not touched | the tile beside R | |
/// | `c2` | m x n | the tile beside B | rows below the last step of the staircase are not touched |
/// | `scratch` | [`tpmqrt_scratch`] | anything | anything |
///
/// # Panics
/// When the shapes or the staircase don't fit, `ib` is 0, or the scratch is too small.
///
/// # Cost
/// [`tpmqrt_flops`](crate::tpmqrt_flops), and about ib / (2 m) of it more for T; all of it in matrix products.
///
/// # References
/// Buttari, Langou, Kurzak and Dongarra 2009 (LAPACK Working Note 191); LAPACK's `xTPMQRT`.
#[allow(clippy::too_many_arguments)] // LAPACK's order: op, the factors, the operands, the workspace
pub fn tpmqrt<T: KernelScalar>(
    op: Op,
    v: MatRef<T>,
    stair: Stair,
    ib: usize,
    t: MatRef<T>,
    mut c1: MatMut<T>,
    mut c2: MatMut<T>,
    scratch: &mut [T],
) {
    let (m, n, k) = (c2.nrows(), c2.ncols(), v.ncols());
    stair.check(m, k);
    assert!(ib > 0, "tpmqrt with ib = 0");
    let ib = ib.min(k);
    assert!(
        v.nrows() == m && c1.nrows() >= k && c1.ncols() == n && t.nrows() >= ib && t.ncols() >= k,
        "tpmqrt on {} x {} over {m} x {n}: V is {} x {k}, T is {} x {}, ib {ib}",
        c1.nrows(),
        c1.ncols(),
        v.nrows(),
        t.nrows(),
        t.ncols()
    );
    for j0 in blocks(op, k, ib) {
        let kb = ib.min(k - j0);
        let h = stair.rows(j0 + kb - 1, m);
        let whole = whole_vectors::<T>(0, h, m);
        let v = v.submatrix(0, j0, whole, kb);
        let t = t.submatrix(0, j0, kb, kb);
        let c1 = c1.rb_mut().submatrix(j0, 0, kb, n);
        let c2 = c2.rb_mut().submatrix(0, 0, whole, n);
        apply(op, v, h, t, Some(c1), c2, scratch);
    }
}
