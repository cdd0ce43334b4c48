//! The tasks of a unit, in the order of submission. This order is the meaning of the factorization.
//!
//! A group is one task. A front in tiles reads as the algorithm: take in A and the children, let the children go, and reduce
//! panel by panel.

use super::kept::Stage;
use super::panel::{Step, steps, tile_stair, triangle_stair};
use super::{Plan, codelet};
use crate::analysis::groups::Unit;
use std::collections::HashSet;
use treeqr_kernels::{Stair, gemqrt_flops, geqrt_flops, tpmqrt_flops, tpqrt_flops};
use treeqr_runtime::Access::{Read, ReadWrite, Write};
use treeqr_runtime::{CodeletId, Handle, TaskSpec};

/// In the place of a tile column: the right-hand sides.
pub(crate) const RHS: u32 = u32::MAX;

impl Plan<'_> {
    /// The tasks of unit `u`, appended to `out`.
    pub fn unit_tasks(&self, u: usize, out: &mut Vec<TaskSpec>) {
        match self.unit(u) {
            Unit::Group(fronts) => self.group_tasks(u, fronts, out),
            Unit::Tiled(f) => self.tiled_tasks(*f as usize, out),
        }
    }

    fn group_tasks(&self, u: usize, fronts: &[u32], out: &mut Vec<TaskSpec>) {
        let top = self.unit(u).top();
        let mut task =
            spec(codelet::DO_SUBTREE, top, [u as u32, 0, 0, 0]).with(self.group_factor(u), Write);
        if self.group_cb_bytes(u) > 0 {
            task = task.with(self.group_cb(u), Write);
        }
        let outside = self.outside_children(u, fronts);
        for &c in &outside {
            for source in self.sources(c) {
                task = task.with(source.handle, Read);
            }
        }
        let flops = self.sym.block_flops();
        let real = fronts
            .iter()
            .map(|&f| flops[f as usize].with(self.shape.nrhs))
            .sum();
        out.push(task.flops(self.flops(real)));
        for c in outside {
            self.push_clean(c, out);
        }
        // A group whose top leaves nothing has no contribution block, and so nothing to clean.
    }

    /// Children of a group's fronts that belong to other units, in the order of their parents.
    pub fn outside_children(&self, u: usize, fronts: &[u32]) -> Vec<usize> {
        let children = fronts
            .iter()
            .flat_map(|&f| &self.front(f as usize).children);
        children
            .map(|&c| c as usize)
            .filter(|&c| self.unit_of(c) != u)
            .collect()
    }

    /// Frees what the front leaves behind, once its parent has it all.
    pub(super) fn push_clean(&self, c: usize, out: &mut Vec<TaskSpec>) {
        let u = self.unit_of(c);
        match self.unit(u) {
            Unit::Tiled(_) => self.push_clean_tiled(c, self.all_left(c), out),
            Unit::Group(_) => {
                let task = spec(codelet::CLEAN_FRONT, c as u32, [c as u32, 0, 0, 0]);
                out.push(task.with(self.group_cb(u), Write));
            }
        }
    }

    fn tiled_tasks(&self, f: usize, out: &mut Vec<TaskSpec>) {
        let before = out.len();
        self.assemble(f, out);
        // What a device sends home once nothing changes it: all that stays when the front is gone.
        let host_only = self.tiling(f).host_only;
        let released = (self.sym.options.for_devices && !host_only).then(|| {
            let releases = self.front_releases(f).into_iter();
            releases.map(|(handle, _)| handle).collect::<HashSet<_>>()
        });
        for k in 0..self.tiling(f).panels {
            self.reduce_panel(f, k, released.as_ref(), out);
            if self.is_cut(f) {
                self.push_clean_tiled(f, Stage::Panel(k), out);
            }
        }
        if self.front(f).parent.is_none() {
            self.push_clean(f, out);
        }
        let t = self.tiling(f);
        for task in &mut out[before..] {
            task.host_only = t.host_only || self.factor_taken(task).is_some();
            task.device_first = t.device_first;
        }
    }

    /// Reduces panel k and updates the tiles to its right. `released` is what goes with the front, if a device may have it.
    fn reduce_panel(
        &self,
        f: usize,
        k: usize,
        released: Option<&HashSet<Handle>>,
        out: &mut Vec<TaskSpec>,
    ) {
        let t = self.tiling(f);
        let stair = self.sym.tree.stair(f);
        let q = t.grid().1;
        let w = t.width(k);
        let nrhs = self.shape.nrhs;
        // Columns to update: tile column, width.
        let mut right: Vec<(u32, usize)> = (k + 1..q).map(|j| (j as u32, t.width(j))).collect();
        if nrhs > 0 {
            right.push((RHS, nrhs));
        }
        let at = |i: usize, j: u32| {
            if j == RHS {
                self.rhs(f, i)
            } else {
                self.tile(f, i, j as usize)
            }
        };
        let makes = match self.takes_factors_late(f) {
            true => Write,
            false => ReadWrite,
        };
        let steps = steps(t, k);
        // The factors of this panel, and the rows of R that no later panel reaches, when the last step of the panel is done with them.
        let stays = |handle: Handle| released.is_some_and(|released| !released.contains(&handle));
        let is_done = |i: usize| k + 1 == t.panels || t.diagonal(k + 1).0 > i;
        let end = steps.len();
        for (s, step) in steps.into_iter().enumerate() {
            let is_last = s + 1 == end;
            let settled = |mut task: TaskSpec, places: &[(usize, bool)]| {
                for &(place, settled) in places {
                    if settled && stays(task.accesses[place].0) {
                        task = task.last(place);
                    }
                }
                task
            };
            let (factor, _) = self.step_factor(f, k, step);
            let params = |i: usize, a: usize, j: u32, tree: u32| {
                [f as u32, k as u32, i as u32, a as u32, j, tree]
            };
            match step {
                Step::Head { i } => {
                    let rows = t.height(i) - t.offset(i, k);
                    let stair = tile_stair(t, stair, i, k);
                    let stair = Stair::Rows(&stair);
                    let task = full(
                        codelet::GEQRT,
                        f,
                        params(i, i, 0, 0),
                        geqrt_flops::<f64>(rows, w, stair),
                        self,
                    )
                    .with(self.tile(f, i, k), ReadWrite)
                    .with(factor, makes);
                    out.push(settled(task, &[(0, is_last), (1, true)]));
                    for &(j, width) in &right {
                        let flops = gemqrt_flops::<f64>(rows, width, rows.min(w), stair);
                        let task = full(codelet::GEMQRT, f, params(i, i, j, 0), flops, self)
                            .with(factor, Read)
                            .with(at(i, j), ReadWrite);
                        out.push(settled(task, &[(1, is_last && is_done(i))]));
                    }
                }
                Step::Flat { a, i } => {
                    let stair = tile_stair(t, stair, i, k);
                    let stair = Stair::Rows(&stair);
                    let rows = t.height(i);
                    let task = full(
                        codelet::TPQRT,
                        f,
                        params(i, a, 0, 0),
                        tpqrt_flops::<f64>(rows, w, stair),
                        self,
                    )
                    .with(self.tile(f, a, k), ReadWrite)
                    .with(self.tile(f, i, k), ReadWrite)
                    .with(factor, makes);
                    out.push(settled(task, &[(0, is_last), (1, true), (2, true)]));
                    for &(j, width) in &right {
                        let flops = tpmqrt_flops::<f64>(rows, width, w, stair);
                        let task = full(codelet::TPMQRT, f, params(i, a, j, 0), flops, self)
                            .with(self.tile(f, i, k), Read)
                            .with(factor, Read)
                            .with(at(a, j), ReadWrite)
                            .with(at(i, j), ReadWrite);
                        out.push(settled(task, &[(2, is_last && is_done(a))]));
                    }
                }
                Step::Tree { a, b } => {
                    let stair = triangle_stair(t, stair, b, k);
                    let stair = Stair::Rows(&stair);
                    let task = full(
                        codelet::TPQRT,
                        f,
                        params(b, a, 0, 1),
                        tpqrt_flops::<f64>(w, w, stair),
                        self,
                    )
                    .with(self.tile(f, a, k), ReadWrite)
                    .with(self.tile(f, b, k), ReadWrite)
                    .with(factor, makes);
                    out.push(settled(task, &[(0, is_last), (1, true), (2, true)]));
                    for &(j, width) in &right {
                        let flops = tpmqrt_flops::<f64>(w, width, w, stair);
                        let task = full(codelet::TPMQRT, f, params(b, a, j, 1), flops, self)
                            .with(factor, Read)
                            .with(at(a, j), ReadWrite)
                            .with(at(b, j), ReadWrite);
                        out.push(settled(task, &[(1, is_last && is_done(a))]));
                    }
                }
            }
        }
    }
}

pub(super) fn spec(codelet: CodeletId, node: u32, [a, b, c, d]: [u32; 4]) -> TaskSpec {
    TaskSpec::new(codelet, node).params([a, b, c, d, 0, 0])
}

fn full(
    codelet: CodeletId,
    f: usize,
    params: [u32; 6],
    real_flops: u64,
    plan: &Plan<'_>,
) -> TaskSpec {
    TaskSpec::new(codelet, f as u32)
        .params(params)
        .flops(plan.flops(real_flops))
}
