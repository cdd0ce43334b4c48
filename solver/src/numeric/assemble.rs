//! Assembly: entries of A and contribution blocks into fronts. Copies only, so the order does not change a bit.
//!
//! A contribution block goes to its parent by two increasing maps, one for rows and one for columns; both fall into runs
//! of consecutive numbers, and a run of rows is copied at once.

use super::FactorScalar;
use super::app::App;
use crate::plan::kept::Stage;
use crate::plan::tasks::RHS;
use crate::symbolic::Front;
use treeqr_runtime::{Access, ScatterBuffer, TaskContext, TaskFailure};

/// Consecutive rows of a contribution block that go to consecutive rows of the parent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub from: usize,
    pub to: usize,
    pub len: usize,
}

/// The runs of `map[rows.0..rows.1]`, cut where the target leaves `bounds`: only those inside are given, with targets
/// relative to `bounds.0`.
pub(super) fn runs(map: &[u32], rows: (usize, usize), bounds: (u32, u32)) -> Vec<Run> {
    let mut out: Vec<Run> = Vec::new();
    let inside = map[rows.0..rows.1].iter().enumerate();
    for (k, &to) in inside.filter(|&(_, &to)| to >= bounds.0 && to < bounds.1) {
        let (from, to) = (rows.0 + k, (to - bounds.0) as usize);
        match out.last_mut() {
            Some(run) if run.from + run.len == from && run.to + run.len == to => run.len += 1,
            _ => out.push(Run { from, to, len: 1 }),
        }
    }
    out
}

/// Where column `j` of a packed contribution block starts; column `cb_cols` and beyond are right-hand sides.
pub(super) fn packed_start(front: &Front, j: usize) -> usize {
    let (rows, cols) = (front.cb_rows as usize, front.cb_cols() as usize);
    // Columns before `full` are those of the triangle.
    let full = rows.saturating_sub(1);
    let triangle = |j: usize| j * (j + 1) / 2;
    match j {
        j if j <= full => triangle(j),
        j if j <= cols => triangle(full.min(cols)) + (j - full.min(cols)) * rows,
        j => packed_start(front, cols) + (j - cols) * rows,
    }
}

impl<T: FactorScalar> App<'_, T> {
    /// Takes the memory of one tile column of a front.
    pub fn init_front(
        &self,
        task: &TaskContext<'_>,
        scratch: &mut super::app::Scratch<T>,
    ) -> Result<(), TaskFailure> {
        self.after_groups(scratch);
        let [f, j, ..] = task.task().params;
        let f = f as usize;
        let mut buffers = self.plan.column_buffers(f, j);
        // Entries of A and of the children are scattered into zeros; V and T come whole.
        if j != RHS {
            let factors = self.plan.column_factors(f, j as usize);
            buffers.truncate(buffers.len() - factors.len());
            for (handle, bytes, is_overwritten) in factors {
                if is_overwritten {
                    task.allocate_for_overwrite(handle, bytes)?;
                } else {
                    task.allocate(handle, bytes)?;
                }
            }
        }
        let t = self.plan.tiling(f);
        for (i, (handle, bytes)) in buffers.into_iter().enumerate() {
            let untouched = if j == RHS {
                0
            } else {
                t.untouched_columns(self.plan.sym.tree.stair(f), i, j as usize)
            };
            let written_from = untouched * t.height(i) * size_of::<T>();
            task.allocate_to_write(handle, bytes, written_from)?;
        }
        Ok(())
    }

    /// Puts the entries of A (or of the right-hand sides) into one tile.
    pub fn init_block(
        &self,
        task: &TaskContext<'_>,
        _: &mut super::app::Scratch<T>,
    ) -> Result<(), TaskFailure> {
        let [f, i, j, ..] = task.task().params;
        let tile = task.scatter::<T>(0);
        self.own_entries(f as usize, i as usize, j, |place, value| {
            tile.set(place, value);
        });
        Ok(())
    }

    /// Shows the entries of A (or of the right-hand sides) in a tile: place in the tile and value.
    #[inline]
    pub(super) fn own_entries(&self, f: usize, i: usize, j: u32, mut visit: impl FnMut(usize, T)) {
        let t = self.plan.tiling(f);
        let own = &self.plan.sym.tree.own;
        let front = self.plan.front(f);
        let (top, bottom) = (t.rows[i], t.rows[i + 1]);
        let height = t.height(i);
        for k in front.own_start..front.own_end {
            let local = own.local[k];
            if local < top || local >= bottom {
                continue;
            }
            let row = (local - top) as usize;
            if j == RHS {
                for c in 0..self.plan.shape.nrhs {
                    visit(
                        row + c * height,
                        self.rhs[own.row[k] as usize + c * self.rhs_rows()],
                    );
                }
                continue;
            }
            let (left, right) = (t.cols[j as usize], t.cols[j as usize + 1]);
            let range = own.start[k]..own.start[k + 1];
            let cols = &own.col[range.clone()];
            let first = cols.partition_point(|&c| c < left);
            for (&c, &p) in cols[first..].iter().zip(&own.position[range][first..]) {
                if c >= right {
                    break;
                }
                visit(row + (c - left) as usize * height, self.value(p));
            }
        }
    }

    /// Copies one buffer of a child's contribution block into the tiles of its parent.
    pub fn block_copy(
        &self,
        task: &TaskContext<'_>,
        scratch: &mut super::app::Scratch<T>,
    ) -> Result<(), TaskFailure> {
        self.after_groups(scratch);
        let [f, c, s, ..] = task.task().params;
        let (f, c) = (f as usize, c as usize);
        let source = self.plan.sources(c)[s as usize];
        let t = self.plan.tiling(f);
        let (rowmap, colmap) = (self.plan.sym.tree.rowmap(c), self.plan.sym.tree.colmap(c));
        let data = task.read::<T>(0);
        let view = CbView::of(self, c, source.i, source.j, &data);
        for (k, (i, j, _)) in self.plan.targets(f, c, &source).into_iter().enumerate() {
            let tile: ScatterBuffer<'_, T> = task.scatter(k + 1);
            let (i, height) = (i as usize, t.height(i as usize));
            let runs = runs(rowmap, source.rows, (t.rows[i], t.rows[i + 1]));
            if j == RHS {
                for col in 0..self.plan.shape.nrhs {
                    copy_runs(&runs, view.rhs_col(col), usize::MAX, |to, part| {
                        tile.write_run(to + col * height, part);
                    });
                }
                continue;
            }
            let (left, right) = (t.cols[j as usize], t.cols[j as usize + 1]);
            for (col, &to) in colmap
                .iter()
                .enumerate()
                .take(source.cols.1)
                .skip(source.cols.0)
            {
                if to < left || to >= right {
                    continue;
                }
                let base = (to - left) as usize * height;
                copy_runs(&runs, view.col(col), view.rows(col), |to, part| {
                    tile.write_run(base + to, part)
                });
            }
        }
        Ok(())
    }

    /// Frees what the parent does not need any more, and cuts buffers to what they hold of the factors.
    pub fn clean_front(
        &self,
        task: &TaskContext<'_>,
        _: &mut super::app::Scratch<T>,
    ) -> Result<(), TaskFailure> {
        let spec = task.task();
        let (f, stage) = (spec.params[0] as usize, Stage::of(&spec.params));
        let mut cuts = self.plan.cuts(f, stage).into_iter();
        let mut kept = Vec::new();
        for (index, &(handle, access)) in spec.accesses.iter().enumerate() {
            if access != Access::ReadWrite {
                task.free(handle);
                continue;
            }
            let cut = cuts.next().expect("a cut for every buffer that stays");
            assert_eq!(cut.handle, handle, "in the same order");
            cut.copy(&task.read::<T>(index), &mut kept);
            task.allocate_for_overwrite(handle, size_of_val(&kept[..]))?;
            task.write::<T>(index).copy_from_slice(&kept);
        }
        if let Some(gate) = &self.gate {
            gate.give_back(self.plan.memory_of(task.task()).freed_bytes as u64);
        }
        Ok(())
    }
}

/// Calls `write(to, values)` for the parts of the runs that lie above `limit` (rows of the contribution block).
/// `column.0` holds the rows from `column.1` on.
pub(super) fn copy_runs<T: Copy>(
    runs: &[Run],
    column: (&[T], usize),
    limit: usize,
    mut write: impl FnMut(usize, &[T]),
) {
    let (values, first) = column;
    for run in runs {
        if run.from >= limit {
            break;
        }
        let len = run.len.min(limit - run.from);
        write(run.to, &values[run.from - first..run.from - first + len]);
    }
}

/// A buffer with (a part of) a contribution block, packed or a tile.
pub(super) struct CbView<'a, T> {
    front: &'a Front,
    data: &'a [T],
    /// For a tile: its height and the row and column of the front at its corner. For a packed block: none.
    tile: Option<(usize, usize, usize)>,
}

impl<'a, T: FactorScalar> CbView<'a, T> {
    /// The buffer of front c that is packed, or its tile (i, j).
    pub fn of(app: &'a App<'_, T>, c: usize, i: u32, j: u32, data: &'a [T]) -> Self {
        let front = app.plan.front(c);
        let tile = app.plan.sym.tilings[c].as_ref().map(|t| {
            let left = if j == RHS {
                0
            } else {
                t.cols[j as usize] as usize
            };
            (t.height(i as usize), t.rows[i as usize] as usize, left)
        });
        CbView { front, data, tile }
    }

    /// A packed block.
    pub fn packed(front: &'a Front, data: &'a [T]) -> Self {
        CbView {
            front,
            data,
            tile: None,
        }
    }

    /// Rows of column `j` of the contribution block that may be nonzero.
    pub fn rows(&self, j: usize) -> usize {
        self.front.cb_col_rows(j)
    }

    /// Column `j` of the contribution block: values, and the row of the contribution block that they start with.
    pub fn col(&self, j: usize) -> (&'a [T], usize) {
        match self.tile {
            None => {
                let start = packed_start(self.front, j);
                (&self.data[start..start + self.rows(j)], 0)
            }
            Some((height, top, left)) => {
                let col = self.front.npiv as usize + j - left;
                self.tile_col(height, top, col)
            }
        }
    }

    /// Right-hand side `c`, likewise.
    pub fn rhs_col(&self, c: usize) -> (&'a [T], usize) {
        match self.tile {
            None => {
                let start = packed_start(self.front, self.front.cb_cols() as usize + c);
                (&self.data[start..start + self.front.cb_rows as usize], 0)
            }
            Some((height, top, _)) => self.tile_col(height, top, c),
        }
    }

    fn tile_col(&self, height: usize, top: usize, col: usize) -> (&'a [T], usize) {
        let values = &self.data[col * height..(col + 1) * height];
        // Rows above the contribution block belong to R.
        let npiv = self.front.npiv as usize;
        let skip = npiv.saturating_sub(top);
        (&values[skip..], top + skip - npiv)
    }
}
