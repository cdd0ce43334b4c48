//! Q and Q^H of one front, applied to a block of vectors.
//!
//! Takes the front's reflectors, as packed columns or in tiles; changes the block in place. Knows no tree.

use crate::analysis::groups::Unit;
use crate::numeric::{FactorScalar, Factors};
use crate::plan::Plan;
use crate::plan::kept::VBlock;
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

    fn apply_step(&mut self, op: Op, f: usize, k: usize, step: Step, mut z: MatMut<'_, T>) {
        let plan = self.plan;
        let t = plan.tiling(f);
        let (ib, cols) = (t.inner_block(size_of::<T>()), z.ncols());
        let front_stair = plan.sym.tree.stair(f);
        let get = |handle| {
            self.factors
                .store
                .get_as::<T>(handle)
                .expect("reflectors are kept")
        };
        let factor = get(plan.step_factor(f, k, step).0);
        let row = |i: usize| t.rows[i] as usize + t.offset(i, k);
        let stair = match step {
            Step::Head { i } | Step::Flat { i, .. } => tile_stair(t, front_stair, i, k),
            Step::Tree { b, .. } => triangle_stair(t, front_stair, b, k),
        };
        let mut blocks = plan.v_blocks(f, k, step);
        let reflectors = blocks.last().map_or(0, |block| block.columns.end);
        // T lies behind V, or alone.
        let tf = &factor[factor.len() - ib * reflectors..];
        let v = match step {
            Step::Flat { i, .. } => get(plan.tile(f, i, k)),
            _ => factor,
        };
        if op == Op::NoTrans {
            blocks.reverse();
        }
        for VBlock { columns, rows, at } in blocks {
            let (width, height) = (columns.len(), rows.len());
            let v = MatRef::new(&v[at..], height, width, height);
            let tf = MatRef::new(&tf[ib * columns.start..], ib, width, ib);
            let reach = |&reach: &u32| reach.saturating_sub(rows.start as u32);
            let stair: Vec<u32> = stair[columns.clone()].iter().map(reach).collect();
            let stair = Stair::Rows(&stair);
            let z = z.rb_mut();
            match step {
                Step::Head { i } => {
                    let c = z.submatrix(row(i) + rows.start, 0, height, cols);
                    gemqrt(op, v, stair, ib, tf, c, self.scratch);
                }
                Step::Flat { a, i } | Step::Tree { a, b: i } => {
                    let (r1, r2) = (row(a) + columns.start, t.rows[i] as usize);
                    let (c1, c2) = two_blocks(z, r1, width, r2, height);
                    tpmqrt(op, v, stair, ib, tf, c1, c2, self.scratch);
                }
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
