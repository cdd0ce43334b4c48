//! The codelets of a front in tiles: each finds its tiles and staircase and calls one kernel.

use super::FactorScalar;
use super::app::{App, Scratch};
use super::assemble::take_factor;
use super::share::{self, by_columns};
use crate::plan::panel::{tile_stair, triangle_stair};
use crate::plan::tasks::RHS;
use treeqr_kernels::{
    MatMut, MatRef, Op, Stair, Update, copy_upper, copy_v, gemqrt, geqrt_with, tpmqrt, tpqrt_with,
};
use treeqr_runtime::{TaskContext, TaskFailure, TaskSpec};

/// What the parameters of a tile task say.
pub(super) struct At {
    pub(super) f: usize,
    /// Panel.
    pub(super) k: usize,
    /// The tile row that is factorized or eliminated.
    pub(super) i: usize,
    /// The tile row of the triangle that it is eliminated with.
    pub(super) a: usize,
    /// The tile column that is updated.
    pub(super) j: u32,
    /// A step of the binary tree: tile i counts by its triangle only.
    pub(super) tree: bool,
}

pub(super) fn at(task: &TaskSpec) -> At {
    let [f, k, i, a, j, tree] = task.params;
    At {
        f: f as usize,
        k: k as usize,
        i: i as usize,
        a: a as usize,
        j,
        tree: tree == 1,
    }
}

/// What `geqrt` and `gemqrt` work on: a tile from the panel's first row on.
pub(super) struct Head {
    pub height: usize,
    pub w: usize,
    pub offset: usize,
    /// Rows from `offset` on.
    pub rows: usize,
    pub reflectors: usize,
    pub ib: usize,
    pub stair: Vec<u32>,
}

impl<T: FactorScalar> App<'_, T> {
    pub(super) fn width(&self, f: usize, j: u32) -> usize {
        if j == RHS {
            self.plan.shape.nrhs
        } else {
            self.plan.tiling(f).width(j as usize)
        }
    }

    pub(super) fn head(&self, &At { f, k, i, .. }: &At) -> Head {
        let t = self.plan.tiling(f);
        let (height, w, offset) = (t.height(i), t.width(k), t.offset(i, k));
        let rows = height - offset;
        Head {
            height,
            w,
            offset,
            rows,
            reflectors: rows.min(w),
            ib: t.inner_block(size_of::<T>()),
            stair: tile_stair(t, self.plan.sym.tree.stair(f), i, k),
        }
    }

    fn take_own_factor(&self, task: &TaskContext<'_>) -> Result<(), TaskFailure> {
        let factor = self.plan.factor_taken(task.task());
        factor.map_or(Ok(()), |factor| take_factor(task, factor))
    }

    /// Accesses: the tile; the buffer for V and T.
    pub fn geqrt(
        &self,
        task: &TaskContext<'_>,
        scratch: &mut Scratch<T>,
    ) -> Result<(), TaskFailure> {
        let Head {
            height,
            w,
            offset,
            rows,
            reflectors,
            ib,
            stair,
        } = self.head(&at(task.task()));
        self.take_own_factor(task)?;
        let mut tile = task.write::<T>(0);
        let mut factor = task.write::<T>(1);
        let (v, tf) = factor.split_at_mut(rows * reflectors);
        let mut a = MatMut::new(&mut tile, height, w, height).submatrix(offset, 0, rows, w);
        let mut work = std::mem::take(&mut scratch.work);
        geqrt_with(
            a.rb_mut(),
            Stair::Rows(&stair),
            ib,
            MatMut::new(tf, ib, reflectors, ib),
            &mut work.kernel,
            &mut |rest, within| share::update(task, scratch, rest, within),
        );
        scratch.work = work;
        copy_v(
            a.rb().submatrix(0, 0, rows, reflectors),
            Stair::Rows(&stair),
            MatMut::new(v, rows, reflectors, rows),
        );
        Ok(())
    }

    /// Accesses: V and T; the tile to update.
    pub fn gemqrt(
        &self,
        task: &TaskContext<'_>,
        scratch: &mut Scratch<T>,
    ) -> Result<(), TaskFailure> {
        scratch.after_groups();
        let at = at(task.task());
        let Head {
            height,
            offset,
            rows,
            reflectors,
            ib,
            stair,
            ..
        } = self.head(&at);
        let cols = self.width(at.f, at.j);
        let factor = task.read::<T>(0);
        let mut tile = task.write::<T>(1);
        let (v, tf) = factor.split_at(rows * reflectors);
        let (v, tf) = (
            MatRef::new(v, rows, reflectors, rows),
            MatRef::new(tf, ib, reflectors, ib),
        );
        let (op, stair) = (Op::ConjTrans, Stair::Rows(&stair));
        let c = MatMut::new(&mut tile, height, cols, height).submatrix(offset, 0, rows, cols);
        by_columns(task, scratch, task.task().flops, c, |c, scratch| {
            gemqrt(op, v, stair, ib, tf, c, &mut scratch.work.kernel);
        });
        Ok(())
    }

    /// Accesses: the tile with the triangle; the tile that is eliminated; the buffer for T (behind V in the tree).
    pub fn tpqrt(
        &self,
        task: &TaskContext<'_>,
        scratch: &mut Scratch<T>,
    ) -> Result<(), TaskFailure> {
        let At {
            f, k, i, a, tree, ..
        } = at(task.task());
        let t = self.plan.tiling(f);
        let (w, ib) = (t.width(k), t.inner_block(size_of::<T>()));
        let stair = self.plan.sym.tree.stair(f);
        self.take_own_factor(task)?;
        let mut upper = task.write::<T>(0);
        let mut lower = task.write::<T>(1);
        let mut factor = task.write::<T>(2);
        let r =
            MatMut::new(&mut upper, t.height(a), w, t.height(a)).submatrix(t.offset(a, k), 0, w, w);
        let tile = MatMut::new(&mut lower, t.height(i), w, t.height(i));
        let mut work = std::mem::take(&mut scratch.work);
        let mut update = |rest: Update<'_, T>, within: &mut [T]| {
            share::update(task, scratch, rest, within);
        };
        if tree {
            let stair = triangle_stair(t, stair, i, k);
            let (v, tf) = factor.split_at_mut(w * w);
            let mut b = tile.submatrix(0, 0, w, w);
            tpqrt_with(
                r,
                b.rb_mut(),
                Stair::Rows(&stair),
                ib,
                MatMut::new(tf, ib, w, ib),
                &mut work.kernel,
                &mut update,
            );
            copy_upper(b.rb(), MatMut::new(v, w, w, w));
        } else {
            let stair = tile_stair(t, stair, i, k);
            tpqrt_with(
                r,
                tile,
                Stair::Rows(&stair),
                ib,
                MatMut::new(&mut factor, ib, w, ib),
                &mut work.kernel,
                &mut update,
            );
        }
        scratch.work = work;
        Ok(())
    }

    /// Accesses: V and T (two buffers in a flat step, one in the tree); the tile with the rows of the triangle; the tile
    /// of those that are eliminated.
    pub fn tpmqrt(
        &self,
        task: &TaskContext<'_>,
        scratch: &mut Scratch<T>,
    ) -> Result<(), TaskFailure> {
        scratch.after_groups();
        let At {
            f,
            k,
            i,
            a,
            j,
            tree,
        } = at(task.task());
        let t = self.plan.tiling(f);
        let (w, ib, cols) = (t.width(k), t.inner_block(size_of::<T>()), self.width(f, j));
        let stair = self.plan.sym.tree.stair(f);
        let first_tile = if tree { 1 } else { 2 };
        let mut upper = task.write::<T>(first_tile);
        let mut lower = task.write::<T>(first_tile + 1);
        let c1 = MatMut::new(&mut upper, t.height(a), cols, t.height(a)).submatrix(
            t.offset(a, k),
            0,
            w,
            cols,
        );
        let c2 = MatMut::new(&mut lower, t.height(i), cols, t.height(i));
        let op = Op::ConjTrans;
        let flops = task.task().flops;
        if tree {
            let factor = task.read::<T>(0);
            let (v, tf) = factor.split_at(w * w);
            let (v, tf) = (MatRef::new(v, w, w, w), MatRef::new(tf, ib, w, ib));
            let stair = triangle_stair(t, stair, i, k);
            let stair = Stair::Rows(&stair);
            let both = (c1, c2.submatrix(0, 0, w, cols));
            by_columns(task, scratch, flops, both, |(c1, c2), scratch| {
                tpmqrt(op, v, stair, ib, tf, c1, c2, &mut scratch.work.kernel);
            });
        } else {
            let (v, tf) = (task.read::<T>(0), task.read::<T>(1));
            let (v, tf) = (
                MatRef::new(&v, t.height(i), w, t.height(i)),
                MatRef::new(&tf, ib, w, ib),
            );
            let stair = tile_stair(t, stair, i, k);
            let stair = Stair::Rows(&stair);
            by_columns(task, scratch, flops, (c1, c2), |(c1, c2), scratch| {
                tpmqrt(op, v, stair, ib, tf, c1, c2, &mut scratch.work.kernel);
            });
        }
        Ok(())
    }
}
