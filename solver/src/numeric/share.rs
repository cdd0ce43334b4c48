//! Tasks that are cut by columns while they run: for workers that have nothing to do.
//!
//! Takes what a kernel works on and how it does a part; gives the same result, done by one worker or by several. Knows no front.
//!
//! A tile that is large enough for a device keeps a core busy for a long time, and so does a panel at the top of the tree or the last front
//! of a group. Cut in advance they would be tasks too small for a device or for the scheduler's pains; so they are cut by whoever
//! runs them, into as many parts as there are workers to take them. The numbers do not depend on it (`treeqr_kernels::column_parts`).

use super::FactorScalar;
use super::app::Scratch;
use std::sync::{Mutex, PoisonError};
use treeqr_kernels::{MatMut, Update, column_parts};
use treeqr_runtime::TaskContext;

/// What can be cut between two columns.
pub(super) trait Columns: Sized {
    fn columns(&self) -> usize;
    fn split_at(self, column: usize) -> (Self, Self);
}

impl<T> Columns for MatMut<'_, T> {
    fn columns(&self) -> usize {
        self.ncols()
    }

    fn split_at(self, column: usize) -> (Self, Self) {
        self.split_at_col_mut(column)
    }
}

/// Two tiles of one tile column.
impl<T> Columns for (MatMut<'_, T>, MatMut<'_, T>) {
    fn columns(&self) -> usize {
        self.0.ncols()
    }

    fn split_at(self, column: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at_col_mut(column);
        let (below_left, below_right) = self.1.split_at_col_mut(column);
        ((left, below_left), (right, below_right))
    }
}

impl<T: FactorScalar> Columns for Update<'_, T> {
    fn columns(&self) -> usize {
        self.columns()
    }

    fn split_at(self, column: usize) -> (Self, Self) {
        self.split_at(column)
    }
}

/// A part has at least so many operations: some tens of microseconds, where handing it over takes about one.
const PART_FLOPS: u64 = 1 << 20;
/// Tiles that wide are cut ahead of anybody being idle: they take a core longer than others take to become so.
const WIDE: usize = 512;
/// Then into parts that wide: packing V for each of them costs a percent or two.
const WIDE_PART: usize = 128;
/// Parts for each worker that is there, so that all end at about the same time.
const PARTS_PER_WORKER: usize = 2;

/// Into how many parts a task is cut that has `columns` and `flops` before it.
fn parts(task: &TaskContext<'_>, columns: usize, flops: u64) -> usize {
    let ahead = match columns {
        WIDE.. if task.is_shared() => columns / WIDE_PART,
        _ => 1,
    };
    let now = match task.idle_workers() {
        0 => 1,
        idle => PARTS_PER_WORKER * (idle + 1),
    };
    let worthwhile = usize::try_from(flops / PART_FLOPS).unwrap_or(usize::MAX);
    now.max(ahead).min(worthwhile.max(1))
}

/// Does `body` for all columns of `all`, which together have `flops`, at once or in parts, each with the scratch of its worker.
pub(super) fn by_columns<T: FactorScalar, C: Columns + Send>(
    task: &TaskContext<'_>,
    scratch: &mut Scratch<T>,
    flops: u64,
    all: C,
    body: impl Fn(C, &mut Scratch<T>) + Sync,
) {
    let columns = all.columns();
    let cuts = column_parts(columns, parts(task, columns, flops));
    if cuts.len() == 1 {
        return body(all, scratch);
    }
    let mut rest = all;
    let mut cells = Vec::with_capacity(cuts.len());
    for cut in cuts {
        let (part, others) = rest.split_at(cut.len());
        cells.push(Mutex::new(Some(part)));
        rest = others;
    }
    task.share(cells.len(), scratch, |part, scratch| {
        let cell = cells[part]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        body(cell.expect("each part once"), scratch);
    });
}

/// Does the update of a kernel in which the calling worker still is: `within` is what the kernel has for it.
pub(super) fn update<T: FactorScalar>(
    task: &TaskContext<'_>,
    scratch: &mut Scratch<T>,
    rest: Update<'_, T>,
    within: &mut [T],
) {
    let (columns, flops) = (rest.columns(), rest.flops());
    if parts(task, columns, flops) == 1 {
        return rest.apply(within);
    }
    by_columns(task, scratch, flops, rest, |part, scratch| {
        part.apply(&mut scratch.parts);
    });
}
