//! One block of reflectors in compact WY form, applied: the products that hold nearly all flops.

use crate::scalar::{Beta, KernelScalar};
use crate::view::{MatMut, MatRef};

/// Which of the two: Q or its adjoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// C becomes Q C.
    NoTrans,
    /// C becomes Q^H C.
    ConjTrans,
}

/// Elements of scratch that [`apply`] needs for `kb` reflectors on `n` columns.
pub(crate) fn apply_scratch(kb: usize, n: usize) -> usize {
    2 * kb * n
}

/// `[C1; C2] = op(I - [I; V] T [I; V]^H) [C1; C2]`; without C1 it is `C2 = op(I - V T V^H) C2`.
///
/// | argument | size |
/// | --- | --- |
/// | `v` | m x k, all entries are read |
/// | `t` | k x k, upper triangular with zeros written below the diagonal |
/// | `c1` | k x n |
/// | `c2` | m x n |
pub(crate) fn apply<T: KernelScalar>(
    op: Op,
    v: MatRef<T>,
    t: MatRef<T>,
    c1: Option<MatMut<T>>,
    mut c2: MatMut<T>,
    scratch: &mut [T],
) {
    let (k, n) = (v.ncols(), c2.ncols());
    if k == 0 || n == 0 {
        return;
    }
    let (w, rest) = scratch.split_at_mut(k * n);
    let mut w = MatMut::new(w, k, n, k);
    let mut tw = MatMut::new(rest, k, n, k);
    let mut beta = Beta::Zero;
    if let Some(c1) = &c1 {
        for j in 0..n {
            w.col_mut(j).copy_from_slice(c1.col(j));
        }
        beta = Beta::One;
    }
    T::gemm_adjoint(beta, w.rb_mut(), T::one(), v, c2.rb());
    match op {
        Op::NoTrans => T::gemm(Beta::Zero, tw.rb_mut(), T::one(), t, w.rb()),
        Op::ConjTrans => T::gemm_adjoint(Beta::Zero, tw.rb_mut(), T::one(), t, w.rb()),
    }
    if let Some(mut c1) = c1 {
        for j in 0..n {
            for (c, &x) in c1.col_mut(j).iter_mut().zip(tw.col(j)) {
                *c -= x;
            }
        }
    }
    T::gemm(Beta::One, c2.rb_mut(), -T::one(), v, tw.rb());
}
