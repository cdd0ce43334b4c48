//! Twins of `geqrt` and `gemqrt`.

use super::{larf, larfg, larft_column};
use crate::gemqrt::blocks;
use crate::{KernelScalar, MatMut, MatRef, Op, Stair};

/// Twin of [`crate::geqrt`].
pub fn geqrt<T: KernelScalar>(mut a: MatMut<T>, stair: Stair, ib: usize, mut t: MatMut<T>) {
    let (m, n) = (a.nrows(), a.ncols());
    let k = m.min(n);
    let mut taus = vec![];
    for j in 0..k {
        let h = stair.rows(j, m).max(j + 1);
        let (mut left, mut right) = a.rb_mut().split_at_col_mut(j + 1);
        let (head, v) = left.col_mut(j)[j..h].split_first_mut().expect("h > j");
        let tau = larfg(head, v);
        for c in 0..n - j - 1 {
            let (head, c) = right.col_mut(c)[j..h].split_first_mut().expect("h > j");
            larf(tau.conj(), v, head, c);
        }
        taus.push(tau);
    }
    // Column j of V with its unit diagonal and all zeros.
    let v = |j: usize, i: usize| match i.cmp(&j) {
        std::cmp::Ordering::Less => T::zero(),
        std::cmp::Ordering::Equal => T::one(),
        std::cmp::Ordering::Greater if i < stair.rows(j, m) => a.at(i, j),
        std::cmp::Ordering::Greater => T::zero(),
    };
    for j0 in blocks(Op::ConjTrans, k, ib) {
        let kb = ib.min(k - j0);
        let mut block: Vec<Vec<T>> = vec![];
        for (j, &tau) in taus.iter().enumerate().skip(j0).take(kb) {
            let products: Vec<T> = (j0..j)
                .map(|i| (0..m).map(|r| v(i, r).conj() * v(j, r)).sum())
                .collect();
            larft_column(&mut block, tau, &products);
        }
        for (j, column) in block.iter().enumerate() {
            t.col_mut(j0 + j)[..kb].fill(T::zero());
            t.col_mut(j0 + j)[..column.len()].copy_from_slice(column);
        }
    }
}

/// Twin of [`crate::gemqrt`]: reads only the diagonals of T.
pub fn gemqrt<T: KernelScalar>(
    op: Op,
    v: MatRef<T>,
    stair: Stair,
    ib: usize,
    t: MatRef<T>,
    mut c: MatMut<T>,
) {
    let m = c.nrows();
    let ib = ib.min(v.ncols());
    for j in blocks(op, v.ncols(), 1) {
        let h = stair.rows(j, m).max(j + 1);
        let tau = t.at(j % ib, j);
        let tau = if op == Op::NoTrans { tau } else { tau.conj() };
        for col in 0..c.ncols() {
            let (head, c) = c.col_mut(col)[j..h].split_first_mut().expect("h > j");
            larf(tau, &v.col(j)[j + 1..h], head, c);
        }
    }
}
