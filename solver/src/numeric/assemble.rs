//! Assembly: entries of A and contribution blocks into fronts. Copies only, so the order does not change a bit.
//!
//! A contribution block goes to its parent by two increasing maps, one for rows and one for columns. A run of consecutive rows that is
//! long is copied at once. Most are not: rows come in the order of their staircases, and those of other children come between.

use super::FactorScalar;
use super::app::App;
use crate::plan::Factor;
use crate::plan::kept::Stage;
use crate::plan::tasks::RHS;
use crate::symbolic::Front;
use treeqr_runtime::{Access, ScatterBuffer, TaskContext, TaskFailure};

/// Rows of a contribution block that go to rows of the parent, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    /// To consecutive ones from `to` on.
    Together { from: usize, to: usize, len: usize },
    /// Each to its own: runs so short that a call for each would take longer than its copy.
    Apart { from: usize, len: usize },
}

/// Runs of at least so many rows are copied at once.
const LONG: usize = 8;

/// Where rows of a contribution block go in a block or tile of the parent.
pub(super) struct RowTargets<'a> {
    /// By row of the contribution block, rows of the parent.
    map: &'a [u32],
    /// The parent's row that is the target's first.
    top: u32,
    runs: Vec<Run>,
}

impl<'a> RowTargets<'a> {
    /// For the rows `rows.0..rows.1` of a contribution block, of which those are copied that go to the parent's rows
    /// `bounds.0..bounds.1`. `map` increases.
    pub fn new(map: &'a [u32], rows: (usize, usize), bounds: (u32, u32)) -> Self {
        let part = &map[rows.0..rows.1];
        let mut from = rows.0 + part.partition_point(|&to| to < bounds.0);
        let end = rows.0 + part.partition_point(|&to| to < bounds.1);
        let mut runs = Vec::new();
        while from < end {
            let to = map[from];
            let next = map[from..end].iter().zip(to..);
            let len = next.take_while(|&(&to, at)| to == at).count();
            match runs.last_mut() {
                _ if len >= LONG => runs.push(Run::Together {
                    from,
                    to: (to - bounds.0) as usize,
                    len,
                }),
                Some(Run::Apart { len: before, .. }) => *before += len,
                _ => runs.push(Run::Apart { from, len }),
            }
            from += len;
        }
        Self {
            map,
            top: bounds.0,
            runs,
        }
    }

    /// Copies the rows before `limit` of a column of the contribution block; `column.0` holds the rows from `column.1` on.
    #[inline]
    pub fn copy<T: Copy>(
        &self,
        column: (&[T], usize),
        limit: usize,
        target: &mut (impl TargetColumn<T> + ?Sized),
    ) {
        let (values, first) = column;
        for &run in &self.runs {
            let (Run::Together { from, len, .. } | Run::Apart { from, len }) = run;
            if from >= limit {
                break;
            }
            let len = len.min(limit - from);
            let values = &values[from - first..][..len];
            match run {
                Run::Together { to, .. } => target.put_run(to, values),
                Run::Apart { .. } => target.put_each(&self.map[from..][..len], self.top, values),
            }
        }
    }
}

/// A column of a block or tile that rows of contribution blocks go to.
pub(super) trait TargetColumn<T> {
    /// Sets rows counted from `first` on.
    fn put_each(&mut self, rows: &[u32], first: u32, values: &[T]);
    /// Sets consecutive rows.
    fn put_run(&mut self, row: usize, values: &[T]);
}

impl<T: Copy> TargetColumn<T> for [T] {
    #[inline(always)]
    fn put_each(&mut self, rows: &[u32], first: u32, values: &[T]) {
        for (&row, &value) in rows.iter().zip(values) {
            self[(row - first) as usize] = value;
        }
    }

    #[inline(always)]
    fn put_run(&mut self, row: usize, values: &[T]) {
        self[row..][..values.len()].copy_from_slice(values);
    }
}

/// A column of a tile that others write at the same time.
struct TileColumn<'a, 'b, T> {
    tile: &'a ScatterBuffer<'b, T>,
    /// Its first place.
    base: usize,
}

impl<T: FactorScalar> TargetColumn<T> for TileColumn<'_, '_, T> {
    #[inline(always)]
    fn put_each(&mut self, rows: &[u32], first: u32, values: &[T]) {
        self.tile.write_each(self.base, (rows, first), values);
    }

    #[inline(always)]
    fn put_run(&mut self, row: usize, values: &[T]) {
        self.tile.write_run(self.base + row, values);
    }
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

/// Takes the memory for V and T of a step of a panel.
pub(super) fn take_factor(task: &TaskContext<'_>, factor: Factor) -> Result<(), TaskFailure> {
    match factor.is_overwritten {
        true => task.allocate_for_overwrite(factor.handle, factor.bytes)?,
        false => task.allocate(factor.handle, factor.bytes)?,
    }
    Ok(())
}

impl<T: FactorScalar> App<'_, T> {
    /// Takes the memory of one tile column of a front.
    pub fn init_front(
        &self,
        task: &TaskContext<'_>,
        scratch: &mut super::app::Scratch<T>,
    ) -> Result<(), TaskFailure> {
        scratch.after_groups();
        let [f, j, ..] = task.task().params;
        let f = f as usize;
        let (tiles, factors) = self.plan.taken_with_column(f, j);
        for factor in factors {
            take_factor(task, factor)?;
        }
        // Entries of A and of the children are scattered into zeros.
        let t = self.plan.tiling(f);
        for (i, (handle, bytes)) in tiles.into_iter().enumerate() {
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
        for k in own.inside(front, (top, bottom)) {
            let row = (own.local[k] - top) as usize;
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
            let positions = own.position.range(range.start + first..range.end);
            for (&c, p) in cols[first..].iter().zip(positions) {
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
        scratch.after_groups();
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
            let rows = RowTargets::new(rowmap, source.rows, (t.rows[i], t.rows[i + 1]));
            let column = |col: usize| TileColumn {
                tile: &tile,
                base: col * height,
            };
            if j == RHS {
                for col in 0..self.plan.shape.nrhs {
                    rows.copy(view.rhs_col(col), usize::MAX, &mut column(col));
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
                let mut target = column((to - left) as usize);
                rows.copy(view.col(col), view.rows(col), &mut target);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Increasing numbers below `end`: with probability `dense` of eight each.
    fn increasing(end: u32, dense: u32, seed: &mut u32) -> Vec<u32> {
        (0..end)
            .filter(|_| {
                *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *seed >> 29 < dense
            })
            .collect()
    }

    #[test]
    fn rows_go_where_the_map_says_whatever_their_runs() {
        let mut seed = 1;
        for (end, dense) in [(1, 8), (7, 4), (40, 8), (90, 2), (200, 7), (300, 5)] {
            // Long runs among short ones.
            let mut map = increasing(end, dense, &mut seed);
            map.extend(end + 3..end + 25);
            map.extend(
                increasing(60, dense, &mut seed)
                    .iter()
                    .map(|x| end + 25 + x),
            );
            let rows = (map.len() / 9, map.len() - map.len() / 7);
            for bounds in [(0, 2 * end + 200), (end / 3, end + 12), (end + 5, end + 5)] {
                // A column that begins in the middle of a tile, as those of a contribution block do.
                let first = rows.0.saturating_sub(2);
                let column: Vec<f64> = (first..map.len()).map(|x| x as f64).collect();
                for limit in [rows.0, (rows.0 + rows.1) / 2, usize::MAX] {
                    let mut target = vec![-1.0; (bounds.1 - bounds.0) as usize];
                    let mut wanted = target.clone();
                    for k in (rows.0..rows.1.min(limit))
                        .filter(|&k| (bounds.0..bounds.1).contains(&map[k]))
                    {
                        wanted[(map[k] - bounds.0) as usize] = k as f64;
                    }
                    RowTargets::new(&map, rows, bounds).copy(
                        (&column, first),
                        limit,
                        &mut target[..],
                    );
                    assert_eq!(target, wanted, "{end} {dense} {bounds:?} {limit}");
                }
            }
        }
    }
}
