//! The codelets of a front in tiles on a device: each finds addresses and staircase, as in `tiles.rs`, and asks for one kernel.
//!
//! Takes tasks whose data is on the device; gives lists of launches and products to its stream. Tiles, V and T lie in the same way as on
//! the host, so tasks of one front run here and there as policies decide. Allocation and small fronts stay on the host; assembly is in
//! `device_assembly.rs`.

use super::FactorScalar;
use super::app::App;
use super::device_assembly::list_bytes;
use super::tiles::{At, at};
use crate::analysis::groups::Unit;
use crate::plan::panel::{tile_stair, triangle_stair};
use crate::plan::{Plan, codelet};
use treeqr_devices::ScalarKind;
use treeqr_kernels::device::{
    self, Block, MOST_COLUMNS, ge_scratch_bytes, scalar_kind, tp_scratch_bytes,
};
use treeqr_kernels::{Op, Stair};
use treeqr_runtime::{CodeletId, DeviceTask, LaunchCode, TaskFailure};

/// Where the entries of a tile begin on the device; it is `height` rows high.
pub(super) fn tile(scalar: ScalarKind, address: u64, height: usize, offset: usize) -> Block {
    Block {
        address: address + (offset * scalar.bytes()) as u64,
        ld: height,
    }
}

/// V of `rows` x `columns` and T behind it, in one buffer.
fn factor(
    scalar: ScalarKind,
    address: u64,
    rows: usize,
    columns: usize,
    ib: usize,
) -> (Block, Block) {
    let v = tile(scalar, address, rows, 0);
    let t = Block {
        address: address + (rows * columns * scalar.bytes()) as u64,
        ld: ib,
    };
    (v, t)
}

/// Bytes of scratch that the largest task of a plan needs on a device.
pub(super) fn device_scratch<T: FactorScalar>(plan: &Plan<'_>) -> u64 {
    let scalar = scalar_kind::<T>();
    let units = (0..plan.sym.units.len()).filter_map(|u| match plan.unit(u) {
        Unit::Tiled(f) => Some(plan.tiling(*f as usize)),
        Unit::Group(_) => None,
    });
    let of = |t: &crate::analysis::partition::Tiling| {
        let (rows, columns) = t.grid();
        let widest = (0..columns).map(|j| t.width(j)).max().unwrap_or(0);
        let highest = (0..rows).map(|i| t.height(i)).max().unwrap_or(0);
        let (n, ib) = (widest.max(plan.shape.nrhs), t.inner_block(size_of::<T>()));
        let bytes = tp_scratch_bytes(scalar, highest.max(widest), n, ib);
        bytes.max(ge_scratch_bytes(scalar, n, ib)) as u64
    };
    let kernels = units.map(of).max().unwrap_or(0);
    kernels.max(list_bytes::<T>(plan) as u64)
}

impl<T: FactorScalar> App<'_, T> {
    /// The device's code of a codelet, if it has one for the inner blocks of this plan.
    pub(super) fn launched(&self, id: CodeletId) -> Option<LaunchCode<Self>> {
        let code: LaunchCode<Self> = match id {
            codelet::INIT_BLOCK => Self::launch_init_block,
            codelet::BLOCK_COPY => Self::launch_block_copy,
            codelet::GEQRT => Self::launch_geqrt,
            codelet::GEMQRT => Self::launch_gemqrt,
            codelet::TPQRT => Self::launch_tpqrt,
            codelet::TPMQRT => Self::launch_tpmqrt,
            _ => return None,
        };
        let tilings = self.plan.sym.tilings.iter().flatten();
        { tilings }
            .all(|t| t.inner_block(size_of::<T>()) <= MOST_COLUMNS)
            .then_some(code)
    }

    /// As [`Self::geqrt`].
    fn launch_geqrt(&self, task: &mut DeviceTask<'_>) -> Result<(), TaskFailure> {
        let scalar = scalar_kind::<T>();
        let head = self.head(&at(task.task()));
        let (rows, w, ib) = (head.rows, head.w, head.ib);
        let a = tile(scalar, task.write(0), head.height, head.offset);
        let (v, tf) = factor(scalar, task.write(1), rows, head.reflectors, ib);
        let (stair, scratch) = (Stair::Rows(&head.stair), task.scratch());
        let stream = task.stream();
        device::geqrt(stream, scalar, (rows, w), a, stair, ib, v, tf, scratch)?;
        Ok(())
    }

    /// As [`Self::gemqrt`].
    fn launch_gemqrt(&self, task: &mut DeviceTask<'_>) -> Result<(), TaskFailure> {
        let (at, scalar) = (at(task.task()), scalar_kind::<T>());
        let head = self.head(&at);
        let (rows, reflectors, ib) = (head.rows, head.reflectors, head.ib);
        let (v, tf) = factor(scalar, task.read(0), rows, reflectors, ib);
        let c = tile(scalar, task.write(1), head.height, head.offset);
        let size = (rows, self.width(at.f, at.j), reflectors);
        let (stair, scratch) = (Stair::Rows(&head.stair), task.scratch());
        let op = Op::ConjTrans;
        device::gemqrt(
            task.stream(),
            scalar,
            op,
            size,
            v,
            stair,
            ib,
            tf,
            c,
            scratch,
        )?;
        Ok(())
    }

    /// As [`Self::tpqrt`].
    fn launch_tpqrt(&self, task: &mut DeviceTask<'_>) -> Result<(), TaskFailure> {
        let At {
            f, k, i, a, tree, ..
        } = at(task.task());
        let (t, scalar) = (self.plan.tiling(f), scalar_kind::<T>());
        let (w, ib) = (t.width(k), t.inner_block(size_of::<T>()));
        let front = self.plan.sym.tree.stair(f);
        let r = tile(scalar, task.write(0), t.height(a), t.offset(a, k));
        let b = tile(scalar, task.write(1), t.height(i), 0);
        let (at, scratch) = (task.write(2), task.scratch());
        let stream = task.stream();
        if tree {
            let stair = triangle_stair(t, front, i, k);
            let stair = Stair::Rows(&stair);
            let (v, tf) = factor(scalar, at, w, w, ib);
            device::tpqrt(stream, scalar, (w, w), r, b, stair, ib, tf, scratch)?;
            device::copy_upper(stream, scalar, (w, w), b, v)?;
        } else {
            let stair = tile_stair(t, front, i, k);
            let stair = Stair::Rows(&stair);
            let tf = tile(scalar, at, ib, 0);
            let size = (t.height(i), w);
            device::tpqrt(stream, scalar, size, r, b, stair, ib, tf, scratch)?;
        }
        Ok(())
    }

    /// As [`Self::tpmqrt`].
    fn launch_tpmqrt(&self, task: &mut DeviceTask<'_>) -> Result<(), TaskFailure> {
        let At {
            f,
            k,
            i,
            a,
            j,
            tree,
        } = at(task.task());
        let (t, scalar) = (self.plan.tiling(f), scalar_kind::<T>());
        let (w, ib, cols) = (t.width(k), t.inner_block(size_of::<T>()), self.width(f, j));
        let front = self.plan.sym.tree.stair(f);
        let (v, tf, stair, rows) = if tree {
            let (v, tf) = factor(scalar, task.read(0), w, w, ib);
            (v, tf, triangle_stair(t, front, i, k), w)
        } else {
            let rows = t.height(i);
            let v = tile(scalar, task.read(0), rows, 0);
            let tf = tile(scalar, task.read(1), ib, 0);
            (v, tf, tile_stair(t, front, i, k), rows)
        };
        let first = if tree { 1 } else { 2 };
        let c1 = tile(scalar, task.write(first), t.height(a), t.offset(a, k));
        let c2 = tile(scalar, task.write(first + 1), t.height(i), 0);
        let (stair, scratch) = (Stair::Rows(&stair), task.scratch());
        let (op, size) = (Op::ConjTrans, (rows, cols, w));
        let stream = task.stream();
        device::tpmqrt(stream, scalar, op, size, v, stair, ib, tf, c1, c2, scratch)?;
        Ok(())
    }
}
