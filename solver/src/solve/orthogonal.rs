//! Q and Q^H of one front, applied to a block of vectors.
//!
//! Takes the front's reflectors, as packed columns or in tiles; changes the block in place. Knows no tree.

use crate::analysis::groups::Unit;
use crate::numeric::{FactorScalar, Factors};
use crate::plan::Plan;
use crate::plan::panel::{Step, steps, tile_stair, triangle_stair};
use treeqr_kernels::{
    MatMut, MatRef, Op, Stair, apply_packed, gemqrt, gemqrt_scratch, tpmqrt, tpmqrt_scratch,
};

/// Elements of scratch that [`FrontQ::apply`] needs for any front and `w` vectors.
pub(super) fn scratch_len<T: FactorScalar>(plan: &Plan<'_>, w: usize) -> usize {
    let tilings = plan.sym.tilings.iter().flatten();
    let most = tilings.map(|t| {
        let width = (0..t.panels).map(|k| t.width(k)).max().unwrap_or(0);
        let height = (0..t.grid().0).map(|i| t.height(i)).max().unwrap_or(0);
        let ib = t.inner_block(size_of::<T>());
        gemqrt_scratch::<T>(height, w, width, ib).max(tpmqrt_scratch::<T>(height, w, width, ib))
    });
    most.max().unwrap_or(0)
}

/// The orthogonal factors of the fronts.
pub(super) struct FrontQ<'a, T> {
    pub factors: &'a Factors<T>,
    pub plan: &'a Plan<'a>,
    pub scratch: &'a mut [T],
}

impl<T: FactorScalar> FrontQ<'_, T> {
    /// Q or Q^H of front `f` on its block of m rows. 4 nnz(H) flops a column.
    pub fn apply(&mut self, op: Op, f: usize, z: &mut [T]) {
        let plan = self.plan;
        let front = plan.front(f);
        let rows = front.m as usize;
        if rows == 0 {
            return;
        }
        let w = z.len() / rows;
        let mut z = MatMut::new(z, rows, w, rows);
        match plan.unit(plan.unit_of(f)) {
            Unit::Group(_) => {
                let factors = self.factors.block_factors(plan, f);
                let tau = &factors[factors.len() - front.reflectors()..];
                let start = factors.len() - tau.len() - plan.block_v_entries(f);
                let v = &factors[start..factors.len() - tau.len()];
                apply_packed(op, v, Stair::Rows(plan.sym.tree.stair(f)), tau, z);
            }
            Unit::Tiled(_) => {
                let t = plan.tiling(f);
                let mut order: Vec<(usize, Step)> = (0..t.panels)
                    .flat_map(|k| steps(t, k).into_iter().map(move |s| (k, s)))
                    .collect();
                if op == Op::NoTrans {
                    order.reverse();
                }
                for (k, step) in order {
                    self.apply_step(op, f, k, step, z.rb_mut());
                }
            }
        }
    }

    fn apply_step(&mut self, op: Op, f: usize, k: usize, step: Step, z: MatMut<'_, T>) {
        let plan = self.plan;
        let t = plan.tiling(f);
        let (w, ib, cols) = (t.width(k), t.inner_block(size_of::<T>()), z.ncols());
        let front_stair = plan.sym.tree.stair(f);
        let get = |handle| {
            self.factors
                .store
                .get_as::<T>(handle)
                .expect("reflectors are kept")
        };
        let factor = get(plan.step_factor(f, k, step).0);
        match step {
            Step::Head { i } => {
                let rows = t.height(i) - t.offset(i, k);
                let reflectors = rows.min(w);
                let stair = tile_stair(t, front_stair, i, k);
                let (v, tf) = factor.split_at(rows * reflectors);
                let (v, tf) = (
                    MatRef::new(v, rows, reflectors, rows),
                    MatRef::new(tf, ib, reflectors, ib),
                );
                let c = z.submatrix(t.rows[i] as usize + t.offset(i, k), 0, rows, cols);
                gemqrt(op, v, Stair::Rows(&stair), ib, tf, c, self.scratch);
            }
            Step::Flat { a, i } => {
                let stair = tile_stair(t, front_stair, i, k);
                let v = MatRef::new(get(plan.tile(f, i, k)), t.height(i), w, t.height(i));
                let tf = MatRef::new(factor, ib, w, ib);
                let (c1, c2) = two_blocks(
                    z,
                    t.rows[a] as usize + t.offset(a, k),
                    w,
                    t.rows[i] as usize,
                    t.height(i),
                );
                tpmqrt(op, v, Stair::Rows(&stair), ib, tf, c1, c2, self.scratch);
            }
            Step::Tree { a, b } => {
                let stair = triangle_stair(t, front_stair, b, k);
                let (v, tf) = factor.split_at(w * w);
                let (v, tf) = (MatRef::new(v, w, w, w), MatRef::new(tf, ib, w, ib));
                let (c1, c2) = two_blocks(
                    z,
                    t.rows[a] as usize + t.offset(a, k),
                    w,
                    t.rows[b] as usize,
                    w,
                );
                tpmqrt(op, v, Stair::Rows(&stair), ib, tf, c1, c2, self.scratch);
            }
        }
    }
}

/// Rows `r1..r1 + n1` and `r2..r2 + n2` of a block, where the second lie below the first.
fn two_blocks<T>(
    z: MatMut<'_, T>,
    r1: usize,
    n1: usize,
    r2: usize,
    n2: usize,
) -> (MatMut<'_, T>, MatMut<'_, T>) {
    let cols = z.ncols();
    let (upper, lower) = z.split_at_row_mut(r2);
    (
        upper.submatrix(r1, 0, n1, cols),
        lower.submatrix(0, 0, n2, cols),
    )
}
