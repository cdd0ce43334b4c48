//! The tasks of a unit, in the order of submission. This order is the meaning of the factorization.
//!
//! A group is one task. A front in tiles reads as the algorithm: activate, take in A and the children, let the children
//! go, and reduce panel by panel.

use super::kept::Stage;
use super::panel::{Step, steps, tile_stair, triangle_stair};
use super::{Plan, codelet};
use crate::analysis::groups::Unit;
use std::collections::HashSet;
use treeqr_kernels::{Stair, gemqrt_flops, geqrt_flops, tpmqrt_flops, tpqrt_flops};
use treeqr_runtime::Access::{Read, ReadWrite, Scatter, Write};
use treeqr_runtime::{CodeletId, Handle, TaskSpec};

/// In the place of a tile column: the right-hand sides.
pub(crate) const RHS: u32 = u32::MAX;

/// A part of a contribution block that is copied at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// Its buffer.
    pub handle: Handle,
    /// Tile row and tile column; (0, 0) for the packed block of a group, column [`RHS`] for right-hand sides.
    pub i: u32,
    pub j: u32,
    /// Rows of the contribution block.
    pub rows: (usize, usize),
    /// Columns of the contribution block; empty for right-hand sides.
    pub cols: (usize, usize),
    /// Whether the right-hand sides are in it.
    pub with_rhs: bool,
}

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

    /// The buffers that hold the contribution block of front c, the top of its unit.
    pub fn sources(&self, c: usize) -> Vec<Source> {
        let front = self.front(c);
        let u = self.unit_of(c);
        let (cb_rows, cb_cols) = (front.cb_rows as usize, front.cb_cols() as usize);
        let nrhs = self.shape.nrhs;
        if let Unit::Group(_) = self.unit(u) {
            let handle = self.group_cb(u);
            return vec![Source {
                handle,
                i: 0,
                j: 0,
                rows: (0, cb_rows),
                cols: (0, cb_cols),
                with_rhs: nrhs > 0,
            }];
        }
        let (p, q) = self.tiling(c).grid();
        let npiv = front.npiv;
        let local = |(from, to): (u32, u32)| ((from - npiv) as usize, (to - npiv) as usize);
        let mut out = Vec::new();
        for i in 0..p {
            let Some(rows) = self.cb_rows_in(c, i) else {
                continue;
            };
            let rows = local(rows);
            for j in 0..q {
                let Some(cols) = self.cb_in_tile(c, i, j) else {
                    continue;
                };
                let handle = self.tile(c, i, j);
                out.push(Source {
                    handle,
                    i: i as u32,
                    j: j as u32,
                    rows,
                    cols: local(cols),
                    with_rhs: false,
                });
            }
            if nrhs > 0 {
                let handle = self.rhs(c, i);
                out.push(Source {
                    handle,
                    i: i as u32,
                    j: RHS,
                    rows,
                    cols: (0, 0),
                    with_rhs: true,
                });
            }
        }
        out
    }

    /// The rows of a front in tiles that tile row i has of its contribution block.
    pub fn cb_rows_in(&self, f: usize, i: usize) -> Option<(u32, u32)> {
        let (front, t) = (self.front(f), self.tiling(f));
        let (from, to) = (
            t.rows[i].max(front.npiv),
            t.rows[i + 1].min(front.npiv + front.cb_rows),
        );
        (from < to).then_some((from, to))
    }

    /// The columns of a front in tiles that tile (i, j) has of its contribution block.
    pub fn cb_in_tile(&self, f: usize, i: usize, j: usize) -> Option<(u32, u32)> {
        let t = self.tiling(f);
        let (top, _) = self.cb_rows_in(f, i)?;
        let (from, to) = (t.cols[j].max(self.front(f).npiv), t.cols[j + 1]);
        // Nothing of the trapezoid lies in tiles below the diagonal.
        (from < to && top < to && t.exists(i, j)).then_some((from, to))
    }

    /// Frees what the front leaves behind, once its parent has it all.
    fn push_clean(&self, c: usize, out: &mut Vec<TaskSpec>) {
        let u = self.unit_of(c);
        match self.unit(u) {
            Unit::Tiled(_) => self.push_clean_tiled(c, Stage::Left, out),
            Unit::Group(_) => {
                let task = spec(codelet::CLEAN_FRONT, c as u32, [c as u32, 0, 0, 0]);
                out.push(task.with(self.group_cb(u), Write));
            }
        }
    }

    fn tiled_tasks(&self, f: usize, out: &mut Vec<TaskSpec>) {
        let before = out.len();
        self.activate(f, out);
        for &c in &self.front(f).children {
            self.copy_child(f, c as usize, out);
            self.push_clean(c as usize, out);
        }
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

    /// Takes the front's memory, by tile columns, and the rows of A. The first column waits until every child has begun to
    /// leave rows, and the others wait for the first: activated all at once, the fronts would fill the memory.
    fn activate(&self, f: usize, out: &mut Vec<TaskSpec>) {
        let t = self.tiling(f);
        let columns = (0..t.grid().1 as u32).chain((self.shape.nrhs > 0).then_some(RHS));
        for j in columns {
            let mut task = spec(codelet::INIT_FRONT, f as u32, [f as u32, j, 0, 0]);
            let (tiles, factors) = self.taken_with_column(f, j);
            let tiles = tiles.iter().map(|tile| tile.0);
            for handle in tiles.chain(factors.iter().map(|factor| factor.handle)) {
                task = task.with(handle, Write);
            }
            if j == 0 {
                for &c in &self.front(f).children {
                    if let Some(source) = self.sources(c as usize).first() {
                        task = task.with(source.handle, Read);
                    }
                }
            } else {
                task = task.with(self.tile(f, 0, 0), Read);
            }
            out.push(task);
        }
        for &(i, j) in &t.own_tiles {
            let handle = self.tile(f, i as usize, j as usize);
            out.push(
                spec(codelet::INIT_BLOCK, f as u32, [f as u32, i, j, 0]).with(handle, Scatter),
            );
        }
        if self.shape.nrhs > 0 {
            for &i in &t.own_rows {
                let handle = self.rhs(f, i as usize);
                out.push(
                    spec(codelet::INIT_BLOCK, f as u32, [f as u32, i, RHS, 0])
                        .with(handle, Scatter),
                );
            }
        }
    }

    /// Copies a child's contribution block, buffer by buffer: a tile can be taken as soon as it is ready.
    fn copy_child(&self, f: usize, c: usize, out: &mut Vec<TaskSpec>) {
        for (s, source) in self.sources(c).into_iter().enumerate() {
            let mut task = spec(
                codelet::BLOCK_COPY,
                f as u32,
                [f as u32, c as u32, s as u32, 0],
            )
            .with(source.handle, Read);
            for (_, _, handle) in self.targets(f, c, &source) {
                task = task.with(handle, Scatter);
            }
            out.push(task);
        }
    }

    /// Tiles of front f that a part of its child's contribution block goes to: tile row, tile column ([`RHS`] for the
    /// right-hand sides) and handle.
    pub fn targets(&self, f: usize, c: usize, source: &Source) -> Vec<(u32, u32, Handle)> {
        let t = self.tiling(f);
        let tree = &self.sym.tree;
        // The maps increase: a range of rows (columns) goes to a range of tile rows (columns).
        let span = |bounds: &[u32], map: &[u32], (from, to): (usize, usize)| {
            let place = |x: u32| bounds.partition_point(|&b| b <= x) - 1;
            place(map[from])..place(map[to - 1]) + 1
        };
        let rows = span(&t.rows, tree.rowmap(c), source.rows);
        let mut out = Vec::new();
        if source.cols.0 < source.cols.1 {
            for j in span(&t.cols, tree.colmap(c), source.cols) {
                for i in rows.clone().filter(|&i| t.exists(i, j)) {
                    out.push((i as u32, j as u32, self.tile(f, i, j)));
                }
            }
        }
        if source.with_rhs {
            out.extend(rows.map(|i| (i as u32, RHS, self.rhs(f, i))));
        }
        out
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

fn spec(codelet: CodeletId, node: u32, [a, b, c, d]: [u32; 4]) -> TaskSpec {
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
