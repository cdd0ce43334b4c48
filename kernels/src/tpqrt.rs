//! `tpqrt`: a triangle and a tile below it become one triangle.

use crate::block::{Factor, apply_scratch, whole_vectors};
use crate::panel::{Heads, Panel, panel_scratch};
use crate::scalar::KernelScalar;
use crate::stair::Stair;
use crate::update::Update;
use crate::view::MatMut;

/// Elements of scratch for [`tpqrt`] on an n x n triangle over an m x n tile with inner block `ib`.
pub fn tpqrt_scratch<T: KernelScalar>(m: usize, n: usize, ib: usize) -> usize {
    let ib = ib.min(n);
    panel_scratch::<T>(m, ib) + apply_scratch::<T>(m, n - ib, ib)
}

/// `[R; B] = Q [R'; 0]`: a triangle on top of a tile, in blocks of `ib` reflectors in compact WY form.
///
/// ```text
///   r r r              r'r'r'
///     r r                r'r'
///       r     ->           r'
///   -----              -----
///   b b b              v v v
///   . b b              . v v        stair = [1, 2, 3]: a triangle on a triangle
///   . . b              . . v
/// ```
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `r` | n x n | R in its upper triangle; the rest is neither read nor written | R' |
/// | `b` | m x n | B; below the staircase anything, neither used nor changed | V |
/// | `stair` | n | over the rows of `b`; a triangle is stair\[j\] = j + 1 | |
/// | `t` | ib x n | anything | block b of ib columns: its upper triangular factor, zeros below; tau j at (j mod ib, j) |
/// | `scratch` | [`tpqrt_scratch`] | anything | anything |
///
/// The j-th reflector is `[e_j; v_j]`; with no row in B it is the identity (tau = 0).
///
/// # Panics
/// When the shapes or the staircase don't fit, `ib` is 0, or the scratch is too small.
///
/// # Cost
/// [`tpqrt_flops`](crate::tpqrt_flops), and about 2 ib / n of it more for T.
///
/// # Accuracy
/// As [`geqrt`](crate::geqrt).
///
/// # References
/// Elmroth and Gustavson 2000; Buttari, Langou, Kurzak and Dongarra 2009 (LAPACK Working Note 191); LAPACK's `xTPQRT`.
pub fn tpqrt<T: KernelScalar>(
    r: MatMut<T>,
    b: MatMut<T>,
    stair: Stair,
    ib: usize,
    t: MatMut<T>,
    scratch: &mut [T],
) {
    tpqrt_with(r, b, stair, ib, t, scratch, &mut |rest, scratch| {
        rest.apply(scratch)
    });
}

/// As [`tpqrt`], with each update done by `update`, which also gets scratch for the whole of it.
pub fn tpqrt_with<T: KernelScalar>(
    mut r: MatMut<T>,
    mut b: MatMut<T>,
    stair: Stair,
    ib: usize,
    mut t: MatMut<T>,
    scratch: &mut [T],
    update: &mut dyn FnMut(Update<'_, T>, &mut [T]),
) {
    let (m, n) = (b.nrows(), b.ncols());
    stair.check(m, n);
    assert!(ib > 0, "tpqrt with ib = 0");
    let ib = ib.min(n);
    assert!(
        r.nrows() >= n && r.ncols() == n && t.nrows() >= ib && t.ncols() >= n,
        "tpqrt of {m} x {n}: R is {} x {}, T is {} x {}, ib {ib}",
        r.nrows(),
        r.ncols(),
        t.nrows(),
        t.ncols()
    );
    if n == 0 {
        return;
    }
    let (mut panel, scratch) = Panel::new(scratch, m, ib);
    for j0 in (0..n).step_by(ib) {
        let kb = ib.min(n - j0);
        let rows = |j: usize| stair.rows(j0 + j, m);
        let h = rows(kb - 1);
        let (left, right) = b.rb_mut().split_at_col_mut(j0 + kb);
        let mut left = left.submatrix(0, j0, m, kb);
        let (r_left, r_right) = r.rb_mut().submatrix(j0, 0, kb, n).split_at_col_mut(j0 + kb);
        let mut r_left = r_left.submatrix(0, j0, kb, kb);
        let mut t = t.rb_mut().submatrix(0, j0, kb, kb);
        panel.load(left.rb(), rows);
        panel.load_heads(r_left.rb());
        panel.factor(Heads::Above, h, kb, t.rb_mut());
        panel.store_above(left.rb_mut(), r_left.rb_mut(), rows);
        let cols = right.ncols();
        let whole = whole_vectors::<T>(0, h, m);
        let right = right.submatrix(0, 0, whole, cols);
        let rest = Update {
            v: panel.v(whole, kb),
            rows: h,
            t: t.rb(),
            place: Factor::Between,
            c1: Some(r_right),
            c2: right,
        };
        update(rest, scratch);
    }
}
