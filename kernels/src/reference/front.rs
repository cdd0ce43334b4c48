//! Twins of `front_qr` and `apply_packed`.

use super::{larf, larfg};
use crate::gemqrt::blocks;
use crate::{KernelScalar, MatMut, Op, Stair};

/// Twin of [`crate::front_qr`].
pub fn front_qr<T: KernelScalar>(mut a: MatMut<T>, n: usize, stair: Stair, tau: &mut [T]) {
    let (m, cols) = (a.nrows(), a.ncols());
    for (j, tau) in tau.iter_mut().enumerate().take(m.min(n)) {
        let h = stair.rows(j, m).max(j + 1);
        let (mut left, mut right) = a.rb_mut().split_at_col_mut(j + 1);
        let (head, v) = left.col_mut(j)[j..h].split_first_mut().expect("h > j");
        *tau = larfg(head, v);
        for c in 0..cols - j - 1 {
            let (head, c) = right.col_mut(c)[j..h].split_first_mut().expect("h > j");
            larf(tau.conj(), v, head, c);
        }
    }
}

/// Twin of [`crate::apply_packed`].
pub fn apply_packed<T: KernelScalar>(op: Op, v: &[T], stair: Stair, tau: &[T], mut c: MatMut<T>) {
    let m = c.nrows();
    let length = |j: usize| stair.rows(j, m).saturating_sub(j + 1);
    for j in blocks(op, tau.len(), 1) {
        let start: usize = (0..j).map(length).sum();
        let v = &v[start..start + length(j)];
        let tau = if op == Op::NoTrans {
            tau[j]
        } else {
            tau[j].conj()
        };
        for col in 0..c.ncols() {
            let (head, c) = c.col_mut(col)[j..].split_first_mut().expect("j < m");
            larf(tau, v, head, &mut c[..v.len()]);
        }
    }
}
