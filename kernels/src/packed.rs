//! `apply_packed`: Q or Q^H of a front whose V was kept as packed columns.

use crate::block::Op;
use crate::scalar::KernelScalar;
use crate::stair::Stair;
use crate::view::MatMut;

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
    let mut apply_one = |j: usize, v: &[T]| {
        let tau = match op {
            Op::NoTrans => tau[j],
            Op::ConjTrans => tau[j].conj(),
        };
        if tau == T::zero() {
            return;
        }
        for col in 0..c.ncols() {
            let (head, tail) = c.col_mut(col)[j..].split_first_mut().expect("j < m");
            let tail = &mut tail[..v.len()];
            let dot: T = v.iter().zip(&*tail).map(|(&v, &c)| v.conj() * c).sum();
            let x = tau * (*head + dot);
            *head -= x;
            for (c, &v) in tail.iter_mut().zip(v) {
                *c -= v * x;
            }
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
