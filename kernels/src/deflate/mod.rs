//! `deflate`: the QR factorization of a block in which some pivot columns depend on those before them.

pub(crate) mod bands;
pub(crate) mod panel;

use crate::householder::{careful, is_safe, reflector};
use crate::packed::One;
use crate::scalar::KernelScalar;
use crate::simd::arch;
use crate::stair::Stair;
use crate::view::{MatMut, MatRef};
use panel::{Panel, panel_scratch};
use pulp::{Simd, WithSimd};
use treeqr_matrices::{RealScalar, Scalar};

/// Columns of a panel.
const WIDTH: usize = 32;

/// What [`deflate`] found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Deflated {
    /// Pivot columns that are live: rows of R.
    pub pivots: usize,
    /// Reflectors, and rows that are left: those of R, then those of the echelon form to the right of the pivots.
    pub rows: usize,
    /// Sum of the squares of all that was dropped from dead columns.
    pub dropped2: f64,
}

/// Elements of scratch for [`deflate`] on m x (n + nrhs).
pub fn deflate_scratch<T: KernelScalar>(m: usize, n: usize, nrhs: usize) -> usize {
    panel_scratch::<T>(m, n + nrhs, WIDTH.min(n))
}

/// A = Q R by Heath's method: a pivot column of which no more than the tolerance is left is dead and gets no row of R.
///
/// ```text
///   x x x x x            r r r r r      column 1 is dead: what was left of it is dropped, and rows 1, 2, 3 go on
///   . x x x x            v . r r r
///   . x x x x     ->     . . v r r      live = [0, 2, 3, 4], npiv = 3: two pivots, four rows
///   . . x x x            . . v v r
///   . . . x x            . . . v v
/// ```
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `a` | m x (n + nrhs) | the block, zero below the staircase, and full columns beside it | row i: R from column live\[i\] on; below it in that column, V; zeros in what is left of dead columns; Q^H of the columns beside |
/// | `n`, `npiv` | | columns that are reduced; the first of them are the pivots, held against the tolerance. In the others only what is exactly zero is passed over | |
/// | `tolerance` | | a norm up to this counts as zero; not negative | |
/// | `stair` | n | over the rows of `a`; that of column j may lie above its diagonal | |
/// | `live` | min(m, n) | anything | the column of each reflector, increasing; as many as [`Deflated::rows`] |
/// | `tau` | min(m, n) | anything | the factor of each reflector, 0 for the identity |
/// | `scratch` | [`deflate_scratch`] | anything | anything |
///
/// Reflector i has its head in row i and reaches row stair\[live\[i\]\] - 1: [`apply_packed`](crate::apply_packed) applies them, with
/// these as its staircase.
///
/// # Panics
/// When the shapes or the staircase don't fit, the tolerance is negative, or the scratch is too small.
///
/// # Cost
/// [`deflate_flops`](crate::deflate_flops), known when it is done.
///
/// # Accuracy
/// ||A - QR|| <= c m eps ||A|| + sqrt(dropped2).
///
/// # References
/// Heath, "Some extensions of an algorithm for sparse linear least squares problems", 1982; Davis, "Algorithm 915,
/// SuiteSparseQR", section 2.3.
#[allow(clippy::too_many_arguments)]
pub fn deflate<T: KernelScalar>(
    mut a: MatMut<T>,
    n: usize,
    npiv: usize,
    tolerance: f64,
    stair: Stair,
    live: &mut [u32],
    tau: &mut [T],
    scratch: &mut [T],
) -> Deflated {
    let (m, cols) = (a.nrows(), a.ncols());
    assert!(
        npiv <= n && n <= cols,
        "deflate {npiv} pivots of {n} columns of {cols}"
    );
    assert!(tolerance >= 0.0, "deflate with tolerance {tolerance}");
    stair.check(m, n);
    let k = m.min(n);
    assert!(
        live.len() == k && tau.len() == k,
        "deflate: {} columns and {} taus for {k} reflectors",
        live.len(),
        tau.len()
    );
    let mut out = Deflated::default();
    let mut r = 0;
    for c0 in (0..n).step_by(WIDTH) {
        let c1 = (c0 + WIDTH).min(n);
        let r0 = r;
        for j in c0..c1 {
            let h = stair.rows(j, m).max(r);
            let (mut left, right) = a
                .rb_mut()
                .submatrix(r, 0, h - r, c1)
                .split_at_col_mut(j + 1);
            let column = left.col_mut(j);
            let limit = if j < npiv { tolerance } else { 0.0 };
            match eliminate(column, limit) {
                Pivot::Dead { norm } => {
                    column.fill(T::zero());
                    out.dropped2 += norm * norm;
                }
                Pivot::Live { tau: t } => {
                    if t != T::zero() {
                        let (v, tau, c) = (&column[1..], t.conj(), right);
                        arch().dispatch(One { v, tau, c });
                    }
                    (live[r], tau[r]) = (j as u32, t);
                    r += 1;
                    out.pivots += usize::from(j < npiv);
                }
            }
        }
        let h = stair.rows(c1 - 1, m).max(r);
        let (live, tau) = (&live[r0..r], &tau[r0..r]);
        let panel = Panel { live, tau, stair };
        let (left, right) = a.rb_mut().split_at_col_mut(c1);
        panel.apply(left.rb(), right, r0, h, None, scratch);
    }
    out.rows = r;
    out
}

/// Elements of the factors of [`deflate_factors`] for n columns.
pub fn deflate_factors_len(n: usize) -> usize {
    n.div_ceil(WIDTH) * WIDTH * WIDTH
}

/// The triangular factors of the panels that [`deflate`] has reduced, for any number of [`deflate_apply`].
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `v` | m x n | as `deflate` has left its columns | |
/// | `stair` | n | that of `deflate` | |
/// | `live`, `tau` | [`Deflated::rows`] | as `deflate` has left them | |
/// | `t` | [`deflate_factors_len`] | anything | the factors |
/// | `scratch` | [`deflate_scratch`] | anything | anything |
///
/// # Panics
/// When the shapes or the staircase don't fit, or the scratch is too small.
pub fn deflate_factors<T: KernelScalar>(
    v: MatRef<T>,
    stair: Stair,
    live: &[u32],
    tau: &[T],
    t: &mut [T],
    scratch: &mut [T],
) {
    let m = v.nrows();
    let blocks = t.chunks_exact_mut(WIDTH * WIDTH);
    for ((r0, h, panel), t) in panels((m, v.ncols()), stair, live, tau).zip(blocks) {
        panel.factors(v, r0, h, t, scratch);
    }
}

/// The panels of columns that [`deflate`] has reduced: the row of the first head of each, the row behind its last, and itself.
fn panels<'a, T: Copy>(
    (m, n): (usize, usize),
    stair: Stair<'a>,
    live: &'a [u32],
    tau: &'a [T],
) -> impl Iterator<Item = (usize, usize, Panel<'a, T>)> {
    stair.check(m, n);
    assert!(
        live.len() == tau.len() && live.len() <= m.min(n),
        "deflate: {} columns and {} taus of {m} x {n}",
        live.len(),
        tau.len()
    );
    let mut r0 = 0;
    (0..n).step_by(WIDTH).map(move |c0| {
        let c1 = (c0 + WIDTH).min(n);
        let r = r0 + live[r0..].partition_point(|&j| (j as usize) < c1);
        let h = stair.rows(c1 - 1, m).max(r);
        let panel = Panel {
            live: &live[r0..r],
            tau: &tau[r0..r],
            stair,
        };
        let first = r0;
        r0 = r;
        (first, h, panel)
    })
}

/// Elements of scratch for [`deflate_apply`] with n columns that were reduced, on m x c.
pub fn deflate_apply_scratch<T: KernelScalar>(m: usize, n: usize, c: usize) -> usize {
    deflate_scratch::<T>(m, n, c)
}

/// C = Q^H C for a block whose columns lie beside those that [`deflate`] has reduced: what it would have done to them.
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `v` | m x n | as `deflate` has left its columns | |
/// | `stair` | n | that of `deflate` | |
/// | `live`, `tau` | [`Deflated::rows`] | as `deflate` has left them | |
/// | `t` | [`deflate_factors_len`] | from [`deflate_factors`] | |
/// | `c` | m x c | C | Q^H C |
/// | `scratch` | [`deflate_apply_scratch`] | anything | anything |
///
/// # Panics
/// When the shapes or the staircase don't fit, or the scratch is too small.
///
/// # Cost
/// [`deflate_apply_flops`](crate::deflate_apply_flops).
pub fn deflate_apply<T: KernelScalar>(
    v: MatRef<T>,
    stair: Stair,
    live: &[u32],
    tau: &[T],
    t: &[T],
    mut c: MatMut<T>,
    scratch: &mut [T],
) {
    let (m, n) = (v.nrows(), v.ncols());
    assert!(
        c.nrows() == m && t.len() == deflate_factors_len(n),
        "deflate_apply: {m} x {n} with {} factors on {} rows",
        t.len(),
        c.nrows()
    );
    let blocks = t.chunks_exact(WIDTH * WIDTH);
    for ((r0, h, panel), t) in panels((m, n), stair, live, tau).zip(blocks) {
        panel.apply(v, c.rb_mut(), r0, h, Some(t), scratch);
    }
}

/// What became of a column.
enum Pivot<T> {
    Dead { norm: f64 },
    Live { tau: T },
}

/// Makes the reflector of a column, from its head on, if more than `limit` is left of it.
fn eliminate<T: KernelScalar>(column: &mut [T], limit: f64) -> Pivot<T> {
    let Some((head, tail)) = column.split_first_mut() else {
        return Pivot::Dead { norm: 0.0 };
    };
    let square = arch().dispatch(Squares(tail));
    let all = square + head.abs2();
    let safe = is_safe(all) && (is_safe(square) || square == T::Real::zero());
    let norm = if safe {
        all.to_f64().sqrt()
    } else {
        careful_norm(*head, tail)
    };
    // Not "norm <= limit", so that NaN is dead, too: whoever sums what was dropped sees it.
    if norm.is_nan() || norm <= limit {
        return Pivot::Dead { norm };
    }
    if safe {
        let h = reflector(*head, square);
        *head = h.beta;
        tail.iter_mut().for_each(|x| *x *= h.scale);
        return Pivot::Live { tau: h.tau };
    }
    Pivot::Live {
        tau: careful(head, tail),
    }
}

/// The sum of |x|^2.
struct Squares<'a, T>(&'a [T]);

impl<T: KernelScalar> WithSimd for Squares<'_, T> {
    type Output = T::Real;

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) -> T::Real {
        let (body, tail) = T::vectors::<S>(self.0);
        let tail = T::partial_load(s, tail);
        // Four sums, so that none waits for the one before.
        let mut sums = [T::splat(s, T::zero()); 4];
        let (fours, ones) = body.as_chunks::<4>();
        for x in fours {
            for i in 0..4 {
                sums[i] = T::conj_fma(s, x[i], x[i], sums[i]);
            }
        }
        for (&x, sum) in ones.iter().chain([&tail]).zip(&mut sums) {
            *sum = T::conj_fma(s, x, x, *sum);
        }
        let low = T::vadd(s, sums[0], sums[1]);
        let high = T::vadd(s, sums[2], sums[3]);
        T::reduce(s, T::vadd(s, low, high)).re()
    }
}

/// Without overflow or underflow.
fn careful_norm<T: KernelScalar>(head: T, tail: &[T]) -> f64 {
    let parts = || tail.iter().chain([&head]).map(|x| x.abs().to_f64());
    let top = parts().fold(0.0, |top: f64, x| if x > top { x } else { top });
    if top == 0.0 {
        return 0.0;
    }
    top * parts().map(|x| (x / top) * (x / top)).sum::<f64>().sqrt()
}
