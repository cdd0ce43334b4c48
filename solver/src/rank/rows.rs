//! Back substitution for a block of vectors, entry by entry: all vectors' entries of one row lie side by side. So a row is taken from
//! another by one short loop, however small the node, and large parts of R by matrix products.

use super::packed::View;
use crate::numeric::FactorScalar;
use treeqr_kernels::{Beta, MatMut, MatRef};

/// Columns of a triangle that are done by single columns before the rows above them take all of them at once.
const PANEL: usize = 32;

/// Takes `values` times the entries `x` of a row from as many rows.
pub(crate) fn take<T: FactorScalar>(rows: &mut [T], values: &[T], x: &[T]) {
    if let &[x] = x {
        for (row, &v) in rows.iter_mut().zip(values) {
            *row -= v * x;
        }
        return;
    }
    for (row, &v) in rows.chunks_exact_mut(x.len()).zip(values) {
        for (t, &x) in row.iter_mut().zip(x) {
            *t -= v * x;
        }
    }
}

/// Takes R times the rows `x`, `w` entries each, from `rows`. R has a row for each of those and columns `ld` apart.
pub(crate) fn take_all<T: FactorScalar>(rows: &mut [T], r: &[T], ld: usize, x: &[T], w: usize) {
    let (to, from) = (rows.len() / w, x.len() / w);
    if to == 0 || from == 0 {
        return;
    }
    if w == 1 || to * from < 16 {
        let columns = r.chunks(ld).zip(x.chunks_exact(w));
        return columns.for_each(|(column, x)| take(rows, &column[..to], x));
    }
    T::gemm_transpose(
        Beta::One,
        MatMut::new(rows, w, to, w),
        -T::one(),
        MatRef::new(x, w, from, w),
        MatRef::new(r, to, from, ld),
    );
}

/// The entries of a row, over its pivot.
pub(crate) fn divide<T: FactorScalar>(row: &mut [T], pivot: T) {
    row.iter_mut().for_each(|x| *x /= pivot);
}

/// R in trapezoidal form: what a node has at its pivots.
pub(super) struct Trapezoid<'a, T> {
    /// By packed columns.
    pub r: View<'a, T>,
    /// The columns that have a row, increasing.
    pub live: Live<'a>,
}

/// Which columns have one.
#[derive(Clone, Copy)]
pub(super) enum Live<'a> {
    All,
    These(&'a [u32]),
}

impl Live<'_> {
    /// Rows above that of column `j`, or above where it would be.
    fn before(self, j: usize) -> usize {
        match self {
            Live::All => j,
            Live::These(live) => live.partition_point(|&l| (l as usize) < j),
        }
    }
}

impl<T: FactorScalar> Trapezoid<'_, T> {
    /// R x = c in the first `top` columns: `z` has a row for every live one of them, c on entry and x on exit; columns that have no row have
    /// the x that `given` copies, or zeros.
    pub fn solve(
        &self,
        top: usize,
        w: usize,
        z: &mut [T],
        mut given: impl FnMut(usize, &mut [T]),
        scratch: &mut Vec<T>,
    ) {
        // Where columns end, from the last panel to the first.
        let mut ends = Vec::with_capacity(top);
        let (mut row, mut at) = (0, 0);
        for j in 0..top {
            let is_live = match self.live {
                Live::All => true,
                Live::These(live) => live.get(row).is_some_and(|&l| l as usize == j),
            };
            row += usize::from(is_live);
            at += row;
            ends.push(at);
        }
        for c0 in (0..top.div_ceil(PANEL)).rev().map(|panel| panel * PANEL) {
            let c1 = (c0 + PANEL).min(top);
            let (r0, r1) = (self.live.before(c0), self.live.before(c1));
            let width = c1 - c0;
            scratch.clear();
            scratch.resize(width * (w + r0), T::zero());
            let (x, above) = scratch.split_at_mut(width * w);
            let mut row = r1;
            for j in (c0..c1).rev() {
                let start = if j == 0 { 0 } else { ends[j - 1] };
                let column = self.r.column(j, start, ends[j] - start);
                let x = &mut x[(j - c0) * w..][..w];
                let below = &mut z[r0 * w..row * w];
                if column.len() == row && self.is_live(j, row) {
                    let (rows, own) = below.split_at_mut((row - 1 - r0) * w);
                    divide(own, column[row - 1]);
                    take(rows, &column[r0..row - 1], own);
                    x.copy_from_slice(own);
                    row -= 1;
                } else {
                    given(j, x);
                    take(below, &column[r0..row], x);
                }
                above[(j - c0) * r0..][..r0].copy_from_slice(&column[..r0]);
            }
            take_all(&mut z[..r0 * w], above, r0.max(1), x, w);
        }
    }

    /// Whether column `j` has row `row` - 1 for its own.
    fn is_live(&self, j: usize, row: usize) -> bool {
        match self.live {
            Live::All => true,
            Live::These(live) => row > 0 && live[row - 1] as usize == j,
        }
    }
}
