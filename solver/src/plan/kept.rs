//! What stays of a front in tiles when it is done, and how it lies in memory then.
//!
//! Tiles are as high as the reduction wants them: where the pivot rows end or the staircase runs through one, much of it is no part of R
//! or V. On problems with wide fronts that was 40 % of all that stayed. So buffers are cut to what they hold:
//!
//! ```text
//!     a tile with R                 V of a panel's tile, in blocks of ib columns
//!   +----------+                  +--+--+--+--+
//!   |    R     | kept             |  |  |  |  |   each down to where the staircase leaves
//!   +----------+                  |  |  |  |  |   it, rounded up to a cache line; in a
//!   |          |                  +--+  |  |  |   head, also from its diagonal on only;
//!   |          |                     +--+  |  |   T as it is
//!   +----------+                        +--+--+
//! ```
//!
//! What a panel's column holds of R and V is as it stays when the panel is done, and what it holds besides is needed no more: it is cut, and
//! freed, while the others are worked on, whose V and T have yet to come. A front that may live on a device is left as it is.

use super::handles::Buffer;
use super::panel::{Step, steps, tile_reach};
use super::{Plan, codelet};
use crate::analysis::partition::Tiling;
use std::ops::Range;
use treeqr_runtime::Access::{ReadWrite, Write};
use treeqr_runtime::{Handle, TaskSpec};

/// When a buffer is freed or cut: `params[1..4]` of the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// When the front's parent has these tile columns of its contribution block, of which the buffer holds some. The right-hand sides
    /// come behind the last one.
    Left { from: usize, to: usize },
    /// When this panel is done: the tiles of its column, its V and T; with the last panel also what belongs to none.
    Panel(usize),
}

impl Stage {
    /// That of a task that cleans, by its parameters.
    pub fn of(params: &[u32; 6]) -> Stage {
        match params[1] {
            0 => Stage::Left {
                from: params[2] as usize,
                to: params[3] as usize,
            },
            k => Stage::Panel(k as usize - 1),
        }
    }

    fn params(self) -> [u32; 3] {
        match self {
            Stage::Left { from, to } => [0, from as u32, to as u32],
            Stage::Panel(k) => [k as u32 + 1, 0, 0],
        }
    }
}

/// A part of a buffer: the first `ld` of every `from_ld` scalars, which lie together when it is cut, behind the parts before it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    from: usize,
    from_ld: usize,
    ld: usize,
    columns: usize,
}

/// A buffer that is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub handle: Handle,
    /// Scalars before and after.
    pub entries: (usize, usize),
    parts: Vec<Part>,
}

impl Cut {
    /// What stays of a buffer.
    pub fn copy<T: Copy>(&self, buffer: &[T], kept: &mut Vec<T>) {
        assert_eq!(buffer.len(), self.entries.0);
        kept.clear();
        kept.reserve_exact(self.entries.1);
        for part in &self.parts {
            for column in 0..part.columns {
                let column = &buffer[part.from + column * part.from_ld..];
                kept.extend_from_slice(&column[..part.ld]);
            }
        }
        assert_eq!(kept.len(), self.entries.1);
    }
}

/// Some columns of V and the rows that they have entries in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VBlock {
    /// Reflectors of the panel.
    pub columns: Range<usize>,
    /// Rows from the top of V on.
    pub rows: Range<usize>,
    /// Its place in the buffer, in scalars; columns follow each other.
    pub at: usize,
}

impl VBlock {
    fn entries(&self) -> usize {
        self.columns.len() * self.rows.len()
    }
}

/// Whether `kept` of `all` scalars is little enough to move them.
fn pays(kept: usize, all: usize) -> bool {
    kept + all / 8 <= all
}

impl Tiling {
    /// The leading dimension of tile (i, j) of a front that is done and has so many pivots, for a tile that holds R.
    pub(crate) fn rows_of_r(&self, npiv: usize, is_cut: bool, i: usize, j: usize) -> usize {
        let (top, height) = (self.rows[i] as usize, self.height(i));
        let end = npiv.min(self.cols[j + 1] as usize);
        let kept = end.saturating_sub(top).min(height);
        match is_cut && pays(kept, height) {
            true => kept,
            false => height,
        }
    }
}

impl Plan<'_> {
    /// Whether buffers of front f are cut as its panels are done: if it is in tiles, and the CPUs'.
    pub fn is_cut(&self, f: usize) -> bool {
        self.sym.tilings[f].is_some() && self.is_for_cpus(f)
    }

    /// The panel of front f, which is cut, after which a buffer is needed no more, or less of it; `None` for one that the parent waits for.
    fn panel_of(&self, f: usize, handle: Handle) -> Option<usize> {
        let last = self.tiling(f).panels - 1;
        let has_parent = self.front(f).parent.is_some();
        match self.buffer(f, handle) {
            Buffer::Tile { i, j } if has_parent && self.cb_in_tile(f, i, j).is_some() => None,
            Buffer::Rhs { i } if has_parent && self.cb_rows_in(f, i).is_some() => None,
            Buffer::Tile { j, .. } => Some(j.min(last)),
            Buffer::Factor { k } => Some(k),
            Buffer::Rhs { .. } => Some(last),
        }
    }

    /// All that the parent waits for.
    pub fn all_left(&self, f: usize) -> Stage {
        let to = self.tiling(f).columns_and_rhs();
        Stage::Left { from: 0, to }
    }

    /// The stages of front f, in their order.
    fn stages(&self, f: usize) -> impl Iterator<Item = Stage> + use<> {
        let panels = (0..self.tiling(f).panels).map(Stage::Panel);
        panels.chain([self.all_left(f)])
    }

    /// Tile columns that have buffers for a stage, or may have; the right-hand sides behind the last one.
    fn columns_at(&self, f: usize, stage: Stage) -> Range<usize> {
        let t = self.tiling(f);
        match stage {
            Stage::Panel(k) if k + 1 < t.panels => k..k + 1,
            Stage::Panel(k) => k..t.columns_and_rhs(),
            Stage::Left { from, to } => from..to,
        }
    }

    /// Whether a stage is that of a buffer in one of its columns.
    fn is_at(&self, f: usize, stage: Stage, handle: Handle) -> bool {
        match (stage, self.panel_of(f, handle)) {
            (Stage::Panel(k), panel) => panel == Some(k),
            (Stage::Left { .. }, panel) => panel.is_none(),
        }
    }

    /// V of a step of panel k as it lies in memory when front f is done: of a head in the buffer of its factors, else in the tile;
    /// as one block where nothing is cut.
    pub fn v_blocks(&self, f: usize, k: usize, step: Step) -> Vec<VBlock> {
        let t = self.tiling(f);
        let w = t.width(k);
        let (i, rows, columns) = match step {
            Step::Head { i } => {
                let rows = t.height(i) - t.offset(i, k);
                (i, rows, rows.min(w))
            }
            Step::Flat { i, .. } => (i, t.height(i), w),
            Step::Tree { .. } => (0, w, w),
        };
        let whole = || {
            vec![VBlock {
                columns: 0..columns,
                rows: 0..rows,
                at: 0,
            }]
        };
        if !self.is_cut(f) || matches!(step, Step::Tree { .. }) {
            return whole();
        }
        let reach = |column: usize| tile_reach(t, self.sym.tree.stair(f), i, k, column) as usize;
        let line = (64 / self.shape.scalar_bytes).max(1);
        let ib = t.inner_block(self.shape.scalar_bytes);
        let mut at = 0;
        let blocks: Vec<VBlock> = (0..columns)
            .step_by(ib)
            .map(|first| {
                let columns = first..(first + ib).min(columns);
                let reach = reach(columns.end - 1);
                let span = match step {
                    Step::Head { .. } => first..reach.max(columns.end),
                    _ => 0..reach,
                };
                let len = span.len().next_multiple_of(line).min(rows - span.start);
                let block = VBlock {
                    columns,
                    rows: span.start..span.start + len,
                    at,
                };
                at += block.entries();
                block
            })
            .collect();
        match pays(at, rows * columns) {
            true => blocks,
            false => whole(),
        }
    }

    /// Buffers of front f that are freed at a stage.
    pub fn releases_at(&self, f: usize, stage: Stage) -> Vec<(Handle, usize)> {
        let mut out = match (self.is_cut(f), stage) {
            (false, Stage::Panel(_)) => return Vec::new(),
            _ => self.releases_in(f, self.columns_at(f, stage)),
        };
        if self.is_cut(f) {
            out.retain(|&(handle, _)| self.is_at(f, stage, handle));
        }
        out
    }

    /// The buffers of front f that are cut at a stage.
    pub fn cuts(&self, f: usize, stage: Stage) -> Vec<Cut> {
        if !self.is_cut(f) {
            return Vec::new();
        }
        let mut out = self.r_cuts(f, self.columns_at(f, stage));
        out.retain(|cut| self.is_at(f, stage, cut.handle));
        if let (true, Stage::Panel(k)) = (self.shape.keep_q, stage) {
            out.extend(self.v_cuts(f, k));
        }
        out
    }

    fn r_cuts(&self, f: usize, columns: Range<usize>) -> Vec<Cut> {
        let t = self.tiling(f);
        let npiv = self.front(f).npiv;
        let mut out = Vec::new();
        for j in columns.start..columns.end.min(t.grid().1) {
            for i in 0..t.depth[j] as usize {
                let (top, end) = (t.rows[i], t.cols[j + 1]);
                if top >= npiv || top >= end {
                    break;
                }
                let (height, columns) = (t.height(i), t.width(j));
                let kept = t.rows_of_r(npiv as usize, true, i, j);
                if kept == height {
                    continue;
                }
                out.push(Cut {
                    handle: self.tile(f, i, j),
                    entries: (height * columns, kept * columns),
                    parts: vec![Part {
                        from: 0,
                        from_ld: height,
                        ld: kept,
                        columns,
                    }],
                });
            }
        }
        out
    }

    fn v_cuts(&self, f: usize, k: usize) -> Vec<Cut> {
        let t = self.tiling(f);
        let ib = t.inner_block(self.shape.scalar_bytes);
        let mut out = Vec::new();
        for step in steps(t, k) {
            // Of V and T, what V takes.
            let (handle, rows, columns, t_entries) = match step {
                Step::Head { i } => {
                    let rows = t.height(i) - t.offset(i, k);
                    let columns = rows.min(t.width(k));
                    (self.factor(f, i, k), rows, columns, ib * columns)
                }
                Step::Flat { i, .. } => (self.tile(f, i, k), t.height(i), t.width(k), 0),
                Step::Tree { .. } => continue,
            };
            let all = rows * columns;
            let blocks = self.v_blocks(f, k, step);
            let kept: usize = blocks.iter().map(VBlock::entries).sum();
            if kept == all {
                continue;
            }
            let part = |block: &VBlock| Part {
                from: block.columns.start * rows + block.rows.start,
                from_ld: rows,
                ld: block.rows.len(),
                columns: block.columns.len(),
            };
            let mut parts: Vec<Part> = blocks.iter().map(part).collect();
            if t_entries > 0 {
                parts.push(Part {
                    from: all,
                    from_ld: t_entries,
                    ld: t_entries,
                    columns: 1,
                });
            }
            out.push(Cut {
                handle,
                entries: (all + t_entries, kept + t_entries),
                parts,
            });
        }
        out
    }

    /// Frees what front f, which is in tiles, does not need after a stage, and cuts what it needs less of. `Write`: what a device
    /// holds need not come home.
    pub(super) fn push_clean_tiled(&self, f: usize, stage: Stage, out: &mut Vec<TaskSpec>) {
        let [when, from, to] = stage.params();
        let params = [f as u32, when, from, to, 0, 0];
        let mut task = TaskSpec::new(codelet::CLEAN_FRONT, f as u32).params(params);
        for (handle, _) in self.releases_at(f, stage) {
            task = task.with(handle, Write);
        }
        for cut in self.cuts(f, stage) {
            task = task.with(cut.handle, ReadWrite);
        }
        if !task.accesses.is_empty() {
            out.push(task);
        }
    }

    /// Bytes of a buffer of front f that stays, when the front is done: fewer than it was given where it is cut.
    pub fn kept_bytes(&self, f: usize) -> std::collections::HashMap<Handle, usize> {
        self.stages(f)
            .flat_map(|stage| self.cuts(f, stage))
            .map(|cut| (cut.handle, cut.entries.1 * self.shape.scalar_bytes))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::analysis::groups::Unit;
    use crate::options::Options;
    use crate::plan::RunShape;
    use crate::plan::panel::tile_stair;
    use std::collections::HashMap;
    use treeqr_matrices::gallery;

    /// The buffers of a front that is done, if each scalar was its own place at first.
    struct Done(HashMap<Handle, Vec<u64>>);

    impl Done {
        fn of(plan: &Plan<'_>, f: usize) -> Done {
            let places = |bytes: usize| (0..(bytes / plan.shape.scalar_bytes) as u64).collect();
            let buffers = plan.front_buffers(f).into_iter();
            let mut done = Done(buffers.map(|(h, bytes)| (h, places(bytes))).collect());
            for stage in plan.stages(f) {
                for (handle, _) in plan.releases_at(f, stage) {
                    done.0.remove(&handle).expect("it is released once");
                }
                for cut in plan.cuts(f, stage) {
                    let before = done.0.remove(&cut.handle).expect("it stays");
                    assert_eq!(before.len(), cut.entries.0, "it is cut once");
                    let mut kept = Vec::new();
                    cut.copy(&before, &mut kept);
                    done.0.insert(cut.handle, kept);
                }
            }
            done
        }

        /// Scalar `at` of a buffer was once at place `was`.
        #[track_caller]
        fn expect(&self, handle: Handle, at: usize, was: usize) {
            assert_eq!(self.0[&handle][at], was as u64, "at {at}");
        }
    }

    fn check_r(plan: &Plan<'_>, f: usize, done: &Done) -> usize {
        let (t, npiv) = (plan.tiling(f), plan.front(f).npiv as usize);
        let mut entries = 0;
        for j in 0..t.grid().1 {
            for c in t.cols[j] as usize..t.cols[j + 1] as usize {
                for r in 0..npiv.min(c + 1) {
                    let i = t.rows.partition_point(|&top| top as usize <= r) - 1;
                    if !t.exists(i, j) {
                        continue;
                    }
                    let (row, column) = (r - t.rows[i] as usize, c - t.cols[j] as usize);
                    let ld = t.rows_of_r(npiv, plan.is_cut(f), i, j);
                    let was = column * t.height(i) + row;
                    done.expect(plan.tile(f, i, j), column * ld + row, was);
                    entries += 1;
                }
            }
        }
        entries
    }

    fn check_v(plan: &Plan<'_>, f: usize, done: &Done) -> usize {
        let t = plan.tiling(f);
        let ib = t.inner_block(plan.shape.scalar_bytes);
        let mut entries = 0;
        for k in 0..t.panels {
            for step in steps(t, k) {
                let (i, handle, rows) = match step {
                    Step::Head { i } => (i, plan.factor(f, i, k), t.height(i) - t.offset(i, k)),
                    Step::Flat { i, .. } => (i, plan.tile(f, i, k), t.height(i)),
                    Step::Tree { .. } => continue,
                };
                let is_head = matches!(step, Step::Head { .. });
                let stair = tile_stair(t, plan.sym.tree.stair(f), i, k);
                let mut next = 0;
                for VBlock {
                    columns,
                    rows: kept,
                    at,
                } in plan.v_blocks(f, k, step)
                {
                    assert_eq!(columns.start, next, "every column once");
                    next = columns.end;
                    for c in columns.clone() {
                        let of_column = match is_head {
                            true => c..(stair[c] as usize).max(c + 1),
                            false => 0..stair[c] as usize,
                        };
                        entries += of_column.len();
                        for row in of_column {
                            let column = (c - columns.start) * kept.len();
                            let place = at + column + row - kept.start;
                            assert!(kept.contains(&row));
                            done.expect(handle, place, c * rows + row);
                        }
                    }
                }
                let factor = &done.0[&plan.factor(f, i, k)];
                let before = if is_head { rows * next } else { 0 };
                let of_t = &factor[factor.len() - ib * next..];
                assert!(
                    of_t.iter()
                        .copied()
                        .eq((before..).map(|p| p as u64).take(ib * next))
                );
                entries += of_t.len();
            }
        }
        entries
    }

    #[test]
    fn every_entry_stays_where_it_is_looked_for() {
        let (mut cut, mut whole, mut entries) = (0, 0, 0);
        for (name, sizes) in [
            ("stencil27-8", (24, 12, 5)),
            ("survey-30x20", (40, 20, 8)),
            ("TF9", (48, 16, 16)),
            ("conv2d-30", (20, 20, 7)),
        ] {
            let a = gallery::make(name).expect("gallery").matrix;
            let options = Options {
                mb: Some(sizes.0),
                nb: Some(sizes.1),
                ib: Some(sizes.2),
                bh: Some(3),
                ordering: "nd".to_owned(),
                ..Options::default()
            };
            let symbolic = analyse(a.pattern(), &options).expect("sizes that fit");
            let plan = Plan::new(&symbolic, RunShape::of::<f64>(1, true));
            for unit in &symbolic.units {
                let Unit::Tiled(f) = unit else { continue };
                let f = *f as usize;
                let done = Done::of(&plan, f);
                entries += check_r(&plan, f, &done) + check_v(&plan, f, &done);
                if plan.is_cut(f) {
                    cut += done.0.values().map(Vec::len).sum::<usize>();
                    let cuts = plan.stages(f).flat_map(|stage| plan.cuts(f, stage));
                    whole += cuts.map(|cut| cut.entries.0 - cut.entries.1).sum::<usize>();
                }
            }
        }
        whole += cut;
        assert!(entries > 100_000, "{entries}");
        assert!(cut > 100_000 && cut < whole * 5 / 6, "{cut} of {whole}");
    }
}
