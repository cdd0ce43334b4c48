//! Twins of `tpqrt` and `tpmqrt`.

use super::{larf, larfg, larft_column};
use crate::gemqrt::blocks;
use crate::{KernelScalar, MatMut, MatRef, Op, Stair};

/// Twin of [`crate::tpqrt`].
pub fn tpqrt<T: KernelScalar>(
    mut r: MatMut<T>,
    mut b: MatMut<T>,
    stair: Stair,
    ib: usize,
    mut t: MatMut<T>,
) {
    let (m, n) = (b.nrows(), b.ncols());
    let mut taus = vec![];
    for j in 0..n {
        let h = stair.rows(j, m);
        let (mut left, mut right) = b.rb_mut().split_at_col_mut(j + 1);
        let v = &mut left.col_mut(j)[..h];
        let tau = larfg(&mut r.col_mut(j)[j], v);
        for c in 0..n - j - 1 {
            let head = &mut r.col_mut(j + 1 + c)[j];
            larf(tau.conj(), v, head, &mut right.col_mut(c)[..h]);
        }
        taus.push(tau);
    }
    for j0 in blocks(Op::ConjTrans, n, ib) {
        let kb = ib.min(n - j0);
        let mut block: Vec<Vec<T>> = vec![];
        for (j, &tau) in taus.iter().enumerate().skip(j0).take(kb) {
            let products: Vec<T> = (j0..j)
                .map(|i| {
                    let h = stair.rows(i, m);
                    (0..h).map(|r| b.at(r, i).conj() * b.at(r, j)).sum()
                })
                .collect();
            larft_column(&mut block, tau, &products);
        }
        for (j, column) in block.iter().enumerate() {
            t.col_mut(j0 + j)[..kb].fill(T::zero());
            t.col_mut(j0 + j)[..column.len()].copy_from_slice(column);
        }
    }
}

/// Twin of [`crate::tpmqrt`]: reads only the diagonals of T.
#[allow(clippy::too_many_arguments)] // as its twin
pub fn tpmqrt<T: KernelScalar>(
    op: Op,
    v: MatRef<T>,
    stair: Stair,
    ib: usize,
    t: MatRef<T>,
    mut c1: MatMut<T>,
    mut c2: MatMut<T>,
) {
    let (m, k) = (c2.nrows(), v.ncols());
    let ib = ib.min(k);
    for j in blocks(op, k, 1) {
        let h = stair.rows(j, m);
        let tau = t.at(j % ib, j);
        let tau = if op == Op::NoTrans { tau } else { tau.conj() };
        for col in 0..c2.ncols() {
            let head = &mut c1.col_mut(col)[j];
            larf(tau, &v.col(j)[..h], head, &mut c2.col_mut(col)[..h]);
        }
    }
}
