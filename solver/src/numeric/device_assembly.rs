//! Assembly on a device: what `assemble.rs` does, for tiles that lie there, so that a front need not travel between its parent and
//! itself.
//!
//! Takes tasks whose data is on the device; gives lists of indices and launches to its stream. A list is of use for one task, is
//! small beside the tile, and goes to the stream's scratch in order with the kernels: nobody waits for it, and nobody keeps it.

use super::FactorScalar;
use super::app::App;
use super::assemble::packed_start;
use super::device::tile;
use crate::analysis::groups::Unit;
use crate::plan::Plan;
use crate::plan::tasks::RHS;
use treeqr_kernels::device::{self, Block, Part, PartLayout, Target, scalar_kind};
use treeqr_runtime::{DeviceTask, TaskFailure};

/// Entries of A that go to a tile at once.
const PIECE: usize = 4096;

/// Bytes of an index on a device.
const INDEX_BYTES: usize = size_of::<u32>();

/// Bytes of scratch that the lists of any task need.
pub(super) fn list_bytes<T: FactorScalar>(plan: &Plan<'_>) -> usize {
    let mut most = 0;
    for u in 0..plan.sym.units.len() {
        let Unit::Tiled(f) = plan.unit(u) else {
            continue;
        };
        let f = *f as usize;
        let t = plan.tiling(f);
        let (rows, columns) = t.grid();
        let widest = (0..columns).map(|j| t.width(j)).max().unwrap_or(0);
        let highest = (0..rows).map(|i| t.height(i)).max().unwrap_or(0);
        let entries = PIECE.min(highest * widest.max(plan.shape.nrhs));
        most = most.max(entries * (size_of::<T>() + INDEX_BYTES));
        for &c in &plan.front(f).children {
            for source in plan.sources(c as usize) {
                let (rows, cols) = (source.rows, source.cols);
                let indices = rows.1 - rows.0 + cols.1 - cols.0 + plan.shape.nrhs;
                most = most.max(indices * INDEX_BYTES);
            }
        }
    }
    most
}

/// The places of `map` whose targets lie in `from..to`; it increases.
fn within(map: &[u32], from: u32, to: u32) -> std::ops::Range<usize> {
    map.partition_point(|&x| x < from)..map.partition_point(|&x| x < to)
}

impl<T: FactorScalar> App<'_, T> {
    /// As [`Self::init_block`].
    pub(super) fn launch_init_block(&self, task: &mut DeviceTask<'_>) -> Result<(), TaskFailure> {
        let [f, i, j, ..] = task.task().params;
        let (mut values, mut places) = (Vec::new(), Vec::new());
        self.own_entries(f as usize, i as usize, j, |place, value| {
            values.push(value);
            places.push(u32::try_from(place).expect("tiles have sizes of 31 bits"));
        });
        let (to, on_values) = (task.scatter(0), task.scratch());
        let stream = task.stream();
        for (values, places) in values.chunks(PIECE).zip(places.chunks(PIECE)) {
            let on_places = on_values + size_of_val(values) as u64;
            stream.put(bytemuck::cast_slice(values), on_values)?;
            stream.put(bytemuck::cast_slice(places), on_places)?;
            let scalar = scalar_kind::<T>();
            device::place(stream, scalar, values.len(), on_values, on_places, to)?;
        }
        Ok(())
    }

    /// As [`Self::block_copy`].
    pub(super) fn launch_block_copy(&self, task: &mut DeviceTask<'_>) -> Result<(), TaskFailure> {
        let [f, c, s, ..] = task.task().params;
        let (f, c, scalar) = (f as usize, c as usize, scalar_kind::<T>());
        let plan = &self.plan;
        let source = plan.sources(c)[s as usize];
        let (t, child) = (plan.tiling(f), plan.front(c));
        let rows = &plan.sym.tree.rowmap(c)[source.rows.0..source.rows.1];
        let cols = &plan.sym.tree.colmap(c)[source.cols.0..source.cols.1];
        let nrhs = if source.with_rhs {
            plan.shape.nrhs as u32
        } else {
            0
        };
        let lists: Vec<u32> = { rows.iter().chain(cols).copied() }
            .chain(0..nrhs)
            .collect();
        let (on_rows, from) = (task.scratch(), task.read(0));
        let list = |k: usize| on_rows + (k * INDEX_BYTES) as u64;
        task.stream().put(bytemuck::cast_slice(&lists), on_rows)?;

        // Where entry (row, col) of the contribution block, or row `row` of right-hand side `col`, lies in a tile of the child.
        let npiv = child.npiv as usize;
        let in_tile = |row: usize, col: usize| {
            let t = plan.sym.tilings[c].as_ref()?;
            let height = t.height(source.i as usize);
            let i = npiv + row - t.rows[source.i as usize] as usize;
            let j = match source.j {
                RHS => col,
                j => npiv + col - t.cols[j as usize] as usize,
            };
            let at = tile(scalar, from, height, i + j * height);
            Some(PartLayout::Tile(at))
        };
        for (k, (i, j, _)) in plan.targets(f, c, &source).into_iter().enumerate() {
            let (top, bottom) = (t.rows[i as usize], t.rows[i as usize + 1]);
            let here = within(rows, top, bottom);
            let row = source.rows.0 + here.start;
            let to = Block {
                address: task.scatter(k + 1),
                ld: t.height(i as usize),
            };
            let (left, across, col) = match j {
                RHS => (0, 0..nrhs as usize, 0),
                j => {
                    let (left, right) = (t.cols[j as usize], t.cols[j as usize + 1]);
                    let across = within(cols, left, right);
                    (left, across.clone(), source.cols.0 + across.start)
                }
            };
            let packed = || match j {
                RHS => {
                    let height = child.cb_rows as usize;
                    let start = packed_start(child, child.cb_cols() as usize);
                    PartLayout::Tile(tile(scalar, from, height, start + row))
                }
                _ => PartLayout::Packed {
                    address: from,
                    rows: child.cb_rows as usize,
                },
            };
            let part = Part {
                from: in_tile(row, col).unwrap_or_else(packed),
                row,
                col,
                size: (here.len(), across.len()),
                trapezoid: j != RHS,
            };
            let behind = if j == RHS { cols.len() } else { across.start };
            let indices = (list(here.start), list(rows.len() + behind));
            let target = Target {
                tile: to,
                corner: (top, left),
            };
            device::extend(task.stream(), scalar, &part, indices, &target)?;
        }
        Ok(())
    }
}
