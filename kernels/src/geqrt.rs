//! `geqrt`: the QR factorization of a tile.

use crate::block::{Factor, apply_scratch, whole_vectors};
use crate::panel::{Heads, Panel, panel_scratch};
use crate::scalar::KernelScalar;
use crate::stair::Stair;
use crate::update::Update;
use crate::view::MatMut;

/// Elements of scratch for [`geqrt`] on an m x n tile with inner block `ib`.
pub fn geqrt_scratch<T: KernelScalar>(m: usize, n: usize, ib: usize) -> usize {
    let ib = ib.min(m.min(n));
    panel_scratch::<T>(m, ib) + apply_scratch::<T>(m, n - ib, ib)
}

/// A = Q R on an m x n tile, in blocks of `ib` reflectors in compact WY form.
///
/// ```text
///   x x x x            r r r r
///   x x x x            v r r r
///   . x x x    ->      . v r r        stair = [2, 4, 4, 5]; '.' is neither touched nor counted
///   . x x x            . v v r
///   . . . x            . . . v
/// ```
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `a` | m x n | the tile, zero below the staircase | R on and above the diagonal, V below it; its unit diagonal is implicit |
/// | `stair` | n | over the rows of `a` | |
/// | `t` | ib x k, k = min(m, n) | anything | block b of ib columns: its upper triangular factor, zeros below; tau j at (j mod ib, j) |
/// | `scratch` | [`geqrt_scratch`] | anything | anything |
///
/// Reflector j acts on the rows j..stair\[j\]; with one row or none it is the identity (tau = 0). So it is when the column is
/// zero below its head. R's diagonal is real where tau is not 0, with the sign opposite to the real part of what it
/// annihilates from. `t` may be larger; when k < ib only its first k rows are used.
///
/// # Panics
/// When the shapes or the staircase don't fit, `ib` is 0, or the scratch is too small.
///
/// # Cost
/// [`geqrt_flops`](crate::geqrt_flops), and about 2 ib / n of it more for T.
///
/// # Accuracy
/// Backward stable: ||A - QR|| <= c m eps ||A||, column by column, for all finite columns whose norms don't overflow.
///
/// # References
/// Schreiber and Van Loan 1989 (compact WY); Elmroth and Gustavson 2000 (recursive panel); LAPACK's `xGEQRT3`.
pub fn geqrt<T: KernelScalar>(
    a: MatMut<T>,
    stair: Stair,
    ib: usize,
    t: MatMut<T>,
    scratch: &mut [T],
) {
    geqrt_with(a, stair, ib, t, scratch, &mut |rest, scratch| {
        rest.apply(scratch)
    });
}

/// As [`geqrt`], with each update done by `update`, which also gets scratch for the whole of it.
pub fn geqrt_with<T: KernelScalar>(
    mut a: MatMut<T>,
    stair: Stair,
    ib: usize,
    mut t: MatMut<T>,
    scratch: &mut [T],
    update: &mut dyn FnMut(Update<'_, T>, &mut [T]),
) {
    let (m, n) = (a.nrows(), a.ncols());
    let k = m.min(n);
    stair.check(m, n);
    assert!(ib > 0, "geqrt with ib = 0");
    let ib = ib.min(k);
    assert!(
        t.nrows() >= ib && t.ncols() >= k,
        "geqrt of {m} x {n}: T is {} x {}, not {ib} x {k}",
        t.nrows(),
        t.ncols()
    );
    if k == 0 {
        return;
    }
    let (mut panel, scratch) = Panel::new(scratch, m, ib);
    for j0 in (0..k).step_by(ib) {
        let kb = ib.min(k - j0);
        let t = t.rb_mut().submatrix(0, j0, kb, kb);
        reduce_block(a.rb_mut(), stair, j0, t, &mut panel, scratch, update);
    }
}

/// Reduces as many columns of `a` from `j0` on as `t` has, and has `update` apply their reflectors to all columns right of them.
pub(crate) fn reduce_block<T: KernelScalar>(
    a: MatMut<T>,
    stair: Stair,
    j0: usize,
    mut t: MatMut<T>,
    panel: &mut Panel<'_, T>,
    scratch: &mut [T],
    update: &mut dyn FnMut(Update<'_, T>, &mut [T]),
) {
    let (m, n, kb) = (a.nrows(), a.ncols(), t.ncols());
    let rows = |j: usize| stair.rows(j0 + j, m).saturating_sub(j0);
    let h = rows(kb - 1);
    let (left, right) = a.submatrix(j0, 0, m - j0, n).split_at_col_mut(j0 + kb);
    let mut left = left.submatrix(0, j0, m - j0, kb);
    panel.load(left.rb(), rows);
    panel.factor(Heads::Inside, h, kb, t.rb_mut());
    panel.store_inside(left.rb_mut(), rows);
    let whole = whole_vectors::<T>(j0, j0 + h, m);
    let cols = right.ncols();
    let right = right.submatrix(0, 0, whole, cols);
    let rest = Update {
        v: panel.v(whole, kb),
        rows: h,
        t: t.rb(),
        place: Factor::of(h, cols),
        c1: None,
        c2: right,
    };
    update(rest, scratch);
}
