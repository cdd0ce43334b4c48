//! How a front in tiles takes in A and its children: tile column by tile column.
//!
//! A child's contribution block goes to increasing columns of its parent. So when a tile column of the parent is there, so is all that
//! some tile columns of the child wait for: they are copied and freed before the next column is taken. All the parent's columns at
//! once, beside all the contribution blocks, were the peak of most factorizations.

use super::kept::Stage;
use super::tasks::{RHS, spec};
use super::{Plan, codelet};
use crate::analysis::groups::Unit;
use std::collections::BTreeMap;
use std::ops::Range;
use treeqr_runtime::Access::{Read, Scatter, Write};
use treeqr_runtime::{Handle, TaskSpec};

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

/// Parts of a child's contribution block that are taken in with a tile column of its parent.
struct Arrival {
    child: usize,
    /// Their places among the child's, and themselves.
    sources: Vec<(usize, Source)>,
    /// The child's tile columns that are let go then, if it is in tiles.
    left: Range<usize>,
}

impl Plan<'_> {
    /// Takes the front's memory, A and the children, and lets go of what the children have left.
    pub(super) fn assemble(&self, f: usize, out: &mut Vec<TaskSpec>) {
        let t = self.tiling(f);
        let mut own = t.own_tiles.clone();
        own.sort_by_key(|&(i, j)| (j, i));
        let mut own = own.into_iter().peekable();
        let arrivals = self.arrivals(f);
        for (j, arrivals) in arrivals.into_iter().enumerate() {
            self.activate(f, j as u32, out);
            while let Some((i, j)) = own.next_if(|&(_, column)| column as usize == j) {
                let handle = self.tile(f, i as usize, j as usize);
                let task = spec(codelet::INIT_BLOCK, f as u32, [f as u32, i, j, 0]);
                out.push(task.with(handle, Scatter));
            }
            if j == 0 && self.shape.nrhs > 0 {
                self.activate_rhs(f, out);
            }
            for arrival in arrivals {
                self.take_in(f, &arrival, out);
            }
        }
    }

    /// By tile column of front f: what its children have for it and those before it, and for none behind it.
    fn arrivals(&self, f: usize) -> Vec<Vec<Arrival>> {
        let mut out = Vec::new();
        out.resize_with(self.tiling(f).grid().1, Vec::new);
        for &c in &self.front(f).children {
            let child = c as usize;
            let by_column = self.sources_by_column(f, child);
            let tiling = self.sym.tilings[child].as_ref();
            let end = tiling.map_or(0, |t| t.columns_and_rhs());
            let (mut from, count) = (0, by_column.len());
            for (k, (column, sources)) in by_column.into_iter().enumerate() {
                let to = sources.iter().map(|(_, source)| source.j as usize + 1);
                let to = match k + 1 == count {
                    true => end,
                    false => to.max().unwrap_or(from),
                };
                out[column].push(Arrival {
                    child,
                    sources,
                    left: from..to,
                });
                from = to;
            }
        }
        out
    }

    /// The parts of a child's contribution block by the last tile column of front f that they go to, and the right-hand sides with the
    /// last ones. Not empty, even if the block is.
    fn sources_by_column(&self, f: usize, c: usize) -> BTreeMap<usize, Vec<(usize, Source)>> {
        let (t, colmap) = (self.tiling(f), self.sym.tree.colmap(c));
        let sources = self.sources(c);
        let column = |source: &Source| {
            let has_columns = source.cols.0 < source.cols.1;
            has_columns.then(|| t.column_of(colmap[source.cols.1 - 1]))
        };
        let last = sources.iter().filter_map(column).max().unwrap_or(0);
        let mut out = BTreeMap::from([(last, Vec::new())]);
        for (s, source) in sources.into_iter().enumerate() {
            let column = column(&source).unwrap_or(last);
            out.entry(column).or_default().push((s, source));
        }
        out
    }

    /// Takes the memory of a tile column, or of the right-hand sides. The first column waits until every child has begun to leave rows,
    /// and the others wait for the first: activated all at once, the fronts would fill the memory.
    fn activate(&self, f: usize, j: u32, out: &mut Vec<TaskSpec>) {
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

    /// The right-hand sides: their memory, and those of the rows of A.
    fn activate_rhs(&self, f: usize, out: &mut Vec<TaskSpec>) {
        self.activate(f, RHS, out);
        for &i in &self.tiling(f).own_rows {
            let handle = self.rhs(f, i as usize);
            let task = spec(codelet::INIT_BLOCK, f as u32, [f as u32, i, RHS, 0]);
            out.push(task.with(handle, Scatter));
        }
    }

    /// Copies parts of a child's contribution block, buffer by buffer, as a tile can be taken as soon as it is ready, and frees them.
    fn take_in(&self, f: usize, arrival: &Arrival, out: &mut Vec<TaskSpec>) {
        let c = arrival.child;
        for (s, source) in &arrival.sources {
            let params = [f as u32, c as u32, *s as u32, 0];
            let mut task = spec(codelet::BLOCK_COPY, f as u32, params).with(source.handle, Read);
            for (_, _, handle) in self.targets(f, c, source) {
                task = task.with(handle, Scatter);
            }
            out.push(task);
        }
        match self.sym.tilings[c] {
            Some(_) => {
                let Range {
                    start: from,
                    end: to,
                } = arrival.left;
                self.push_clean_tiled(c, Stage::Left { from, to }, out);
            }
            None => self.push_clean(c, out),
        }
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::options::Options;
    use crate::plan::RunShape;
    use std::collections::HashMap;
    use treeqr_matrices::gallery;

    /// For each front in tiles: what of a child goes to no column behind a column is copied and freed before the next column is taken.
    #[test]
    fn children_go_while_their_parent_comes() {
        let mut freed_early = 0;
        for (name, for_devices) in [
            ("grid3d-10", false),
            ("grid3d-10", true),
            ("lp-600", false),
            ("TF11", false),
        ] {
            let a = gallery::make(name).expect("gallery").matrix;
            let options = Options {
                mb: Some(32),
                nb: Some(16),
                ordering: "nd".to_owned(),
                for_devices,
                ..Options::default()
            };
            let symbolic = analyse(a.pattern(), &options).expect("sizes that fit");
            let plan = Plan::new(&symbolic, RunShape::of::<f64>(1, true));
            for unit in &symbolic.units {
                let Unit::Tiled(f) = unit else { continue };
                freed_early += check(&plan, *f as usize);
            }
        }
        assert!(freed_early > 1000, "{freed_early}");
    }

    fn check(plan: &Plan<'_>, f: usize) -> usize {
        let mut tasks = Vec::new();
        plan.assemble(f, &mut tasks);
        let (mut taken, mut copied, mut freed) = (HashMap::new(), HashMap::new(), HashMap::new());
        for (place, task) in tasks.iter().enumerate() {
            let handle = task.accesses.first().expect("an access").0;
            let before = match task.codelet {
                codelet::INIT_FRONT => taken.insert(task.params[1], place),
                codelet::BLOCK_COPY => copied.insert(handle, place),
                codelet::CLEAN_FRONT => {
                    let handles = task.accesses.iter().map(|access| access.0);
                    handles.fold(None, |before, handle| {
                        before.or(freed.insert(handle, place))
                    })
                }
                _ => None,
            };
            assert_eq!(before, None, "task {place} does what was done");
        }
        let mut early = 0;
        for &c in &plan.front(f).children {
            for source in plan.sources(c as usize) {
                let copied = copied[&source.handle];
                // One that holds R besides may stay as it is.
                let Some(&freed) = freed.get(&source.handle) else {
                    continue;
                };
                assert!(copied < freed);
                let targets = plan.targets(f, c as usize, &source);
                assert!(targets.iter().all(|target| taken[&target.1] < copied));
                let columns = targets.iter().map(|target| target.1);
                let last = columns.filter(|&j| j != RHS).max();
                if let Some(&next) = last.and_then(|last| taken.get(&(last + 1))) {
                    assert!(freed < next, "front {f}, child {c}, {source:?}");
                    early += 1;
                }
            }
        }
        early
    }
}
