//! Copies of triangles and trapezoids between tiles.

use crate::scalar::KernelScalar;
use crate::stair::Stair;
use crate::view::{MatMut, MatRef};

/// The V of `geqrt` written out: unit diagonal, zeros above it, and what `a` holds between it and the staircase.
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `a` | m x n, n >= k | as `geqrt` left it; not read below the staircase | |
/// | `stair` | k, or more | over the rows of `a` | |
/// | `v` | m x k, k = min(m, n) at most | anything | unit lower trapezoid |
///
/// With it `gemqrt` can run while somebody changes the R part of the tile.
///
/// # Panics
/// When the shapes don't fit.
pub fn copy_v<T: KernelScalar>(a: MatRef<T>, stair: Stair, mut v: MatMut<T>) {
    let (m, k) = (v.nrows(), v.ncols());
    assert!(
        a.nrows() == m && a.ncols() >= k && k <= m,
        "copy_v from {} x {} to {m} x {k}",
        a.nrows(),
        a.ncols()
    );
    for j in 0..k {
        let (from, to) = (a.col(j), v.col_mut(j));
        to[..j].fill(T::zero());
        to[j] = T::one();
        let end = stair.rows(j, m).max(j + 1);
        to[j + 1..end].copy_from_slice(&from[j + 1..end]);
        to[end..].fill(T::zero());
    }
}

/// The upper triangle or trapezoid of `a`, with zeros written below it. Both are m x n.
///
/// After a triangle-on-triangle `tpqrt` this makes the V that `tpmqrt` wants.
///
/// # Panics
/// When the shapes differ.
pub fn copy_upper<T: KernelScalar>(a: MatRef<T>, mut to: MatMut<T>) {
    let (m, n) = (to.nrows(), to.ncols());
    assert!(
        a.nrows() == m && a.ncols() == n,
        "copy_upper from {} x {} to {m} x {n}",
        a.nrows(),
        a.ncols()
    );
    for j in 0..n {
        let (from, to) = (a.col(j), to.col_mut(j));
        let h = (j + 1).min(m);
        to[..h].copy_from_slice(&from[..h]);
        to[h..].fill(T::zero());
    }
}
