//! Exact flop counts.
//!
//! Counted is what the plain, unblocked Householder algorithm does on the staircase: a reflector of length L > 1 costs 3 L to
//! generate and 4 L for every column that it is applied to; one of length 1 or less is the identity and costs nothing. What
//! the T factors and the inner block add is not counted, so the numbers don't depend on `ib`. An operation on complex numbers
//! counts as four on real ones. All counts are exact integers and cost O(n) to compute; a sum of counts is the count of the
//! whole. A count that 64 bits can't hold is the largest that they can.

use crate::scalar::KernelScalar;
use crate::stair::Stair;

/// Flops of one scalar operation of type `T`: 1 or 4.
fn unit<T: KernelScalar>() -> u64 {
    if T::IS_COMPLEX { 4 } else { 1 }
}

/// The sum, in operations on real numbers.
fn total<T: KernelScalar>(counts: impl Iterator<Item = u64>) -> u64 {
    let sum = counts.fold(0u64, u64::saturating_add);
    sum.saturating_mul(unit::<T>())
}

/// The reflectors' lengths go through here: generation and application to `cols` columns.
fn reflector(length: usize, cols: usize) -> u64 {
    if length <= 1 {
        0
    } else {
        (length as u64).saturating_mul(3 + 4 * cols as u64)
    }
}

/// Flops of [`geqrt`](crate::geqrt) on an m x n tile.
///
/// # Panics
/// When the staircase is not one for m x n.
pub fn geqrt_flops<T: KernelScalar>(m: usize, n: usize, stair: Stair) -> u64 {
    front_qr_flops::<T>(m, n, 0, stair)
}

/// Flops of [`gemqrt`](crate::gemqrt) with `k` reflectors on an m x n tile.
///
/// # Panics
/// When the staircase is not one for m x k.
pub fn gemqrt_flops<T: KernelScalar>(m: usize, n: usize, k: usize, stair: Stair) -> u64 {
    apply_packed_flops::<T>(m, n, k, stair)
}

/// Flops of [`tpqrt`](crate::tpqrt) on an n x n triangle over an m x n tile.
///
/// # Panics
/// When the staircase is not one for m x n.
pub fn tpqrt_flops<T: KernelScalar>(m: usize, n: usize, stair: Stair) -> u64 {
    stair.check(m, n);
    let all = (0..n).map(|j| reflector(stair.rows(j, m) + 1, n - j - 1));
    total::<T>(all)
}

/// Flops of [`tpmqrt`](crate::tpmqrt) with `k` reflectors on tiles of k x n over m x n.
///
/// # Panics
/// When the staircase is not one for m x k.
pub fn tpmqrt_flops<T: KernelScalar>(m: usize, n: usize, k: usize, stair: Stair) -> u64 {
    stair.check(m, k);
    let all = (0..k).map(|j| application(stair.rows(j, m) + 1, n));
    total::<T>(all)
}

/// Flops of [`front_qr`](crate::front_qr) on m x (n + nrhs).
///
/// # Panics
/// When the staircase is not one for m x n.
pub fn front_qr_flops<T: KernelScalar>(m: usize, n: usize, nrhs: usize, stair: Stair) -> u64 {
    stair.check(m, n);
    let all =
        (0..m.min(n)).map(|j| reflector(stair.rows(j, m).saturating_sub(j), n + nrhs - j - 1));
    total::<T>(all)
}

/// Flops of [`apply_packed`](crate::apply_packed) with `k` reflectors on an m x n block.
///
/// # Panics
/// When the staircase is not one for m x k.
pub fn apply_packed_flops<T: KernelScalar>(m: usize, n: usize, k: usize, stair: Stair) -> u64 {
    stair.check(m, k);
    let all = (0..k).map(|j| application(stair.rows(j, m).saturating_sub(j), n));
    total::<T>(all)
}

/// Flops of [`deflate`](crate::deflate) on m x (n + nrhs), from the columns `live` that it made reflectors of.
///
/// # Panics
/// When the staircase is not one for m x n.
pub fn deflate_flops<T: KernelScalar>(
    m: usize,
    n: usize,
    nrhs: usize,
    stair: Stair,
    live: &[u32],
) -> u64 {
    stair.check(m, n);
    let length = |i: usize, j: usize| stair.rows(j, m).saturating_sub(i);
    let all = live
        .iter()
        .enumerate()
        .map(|(i, &j)| reflector(length(i, j as usize), n + nrhs - j as usize - 1));
    total::<T>(all)
}

/// Flops of [`deflate_apply`](crate::deflate_apply) with the reflectors of the columns `live` on m x n.
///
/// # Panics
/// When the staircase reaches below row m.
pub fn deflate_apply_flops<T: KernelScalar>(m: usize, n: usize, stair: Stair, live: &[u32]) -> u64 {
    let length = |(i, &j): (usize, &u32)| stair.rows(j as usize, m).saturating_sub(i);
    let all = live.iter().enumerate().map(length);
    total::<T>(all.map(|length| application(length, n)))
}

fn application(length: usize, cols: usize) -> u64 {
    if length <= 1 {
        0
    } else {
        (4 * length as u64).saturating_mul(cols as u64)
    }
}
