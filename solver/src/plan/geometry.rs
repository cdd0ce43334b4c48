//! What a task works on, in rows, columns and entries; and all tasks of a factorization as a graph without times.
//!
//! Takes an analysis and the shape of a run; tells, of a codelet and its parameters, the block behind them. For traces and for
//! models of time: nothing here is used by a factorization.

use super::kept::Stage;
use super::predict::{bottom_levels, model_ns};
use super::tasks::RHS;
use super::{Plan, RunShape, codelet};
use crate::analysis::groups::Unit;
use crate::symbolic::{FrontTiles, Symbolic};
use treeqr_runtime::{CodeletId, TaskSpec};

/// What a task works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskGeometry {
    /// Panel step of a front in tiles.
    pub panel: Option<u32>,
    /// Tile row.
    pub tile_row: Option<u32>,
    /// Tile column; none for right-hand sides, which follow the last one.
    pub tile_col: Option<u32>,
    /// The front whose contribution block is copied or cleaned.
    pub child: Option<u32>,
    /// Rows of the block.
    pub rows: u32,
    /// Columns of the block.
    pub cols: u32,
    /// Reflectors made or applied; fronts of a group.
    pub inner: u32,
    /// Entries cleared (`init_front`), brought in (`init_block`, `block_copy`), moved (`clean_front`), or, for `do_subtree`, of all its fronts.
    pub entries: u64,
}

/// A task of the graph.
#[derive(Clone, Debug)]
pub struct GraphTask {
    /// Codelet, node, accesses, flops, and its bottom level as priority.
    pub spec: TaskSpec,
    /// What it works on.
    pub geometry: TaskGeometry,
    /// Bytes that it takes.
    pub allocated_bytes: u64,
    /// Bytes that it gives back.
    pub freed_bytes: u64,
}

/// The tasks of a factorization, as they would be submitted.
pub struct TaskGraph<'s> {
    plan: Plan<'s>,
}

impl Symbolic {
    /// The tasks of a factorization of this shape. O(fronts); the tasks are made when they are asked for.
    pub fn task_graph(&self, shape: RunShape) -> TaskGraph<'_> {
        TaskGraph {
            plan: Plan::new(self, shape),
        }
    }
}

impl TaskGraph<'_> {
    /// How front `f` is cut into tiles; `None` for one that stays whole.
    pub fn front_tiles(&self, f: usize) -> Option<FrontTiles> {
        let bytes = self.plan.shape.scalar_bytes;
        self.plan.sym.front_tiles(f, bytes)
    }

    /// Pieces of data: their number, and of each its bytes (0 where the plan has none) and its tree node.
    pub fn handles(&self) -> Vec<(u64, u32)> {
        let plan = &self.plan;
        let mut out = vec![(0, 0); plan.handles()];
        for (u, unit) in plan.sym.units.iter().enumerate() {
            let top = unit.top();
            let mut set = |handle: treeqr_runtime::Handle, bytes: usize| {
                out[handle.0 as usize] = (bytes as u64, top);
            };
            match unit {
                Unit::Group(_) => {
                    set(plan.group_factor(u), plan.group_factor_bytes(u));
                    set(plan.group_cb(u), plan.group_cb_bytes(u));
                }
                Unit::Tiled(f) => {
                    let buffers = plan.front_buffers(*f as usize);
                    buffers.into_iter().for_each(|(h, bytes)| set(h, bytes));
                }
            }
        }
        out
    }

    /// Shows every task, in the order of submission. O(tasks).
    pub fn for_each(&self, mut visit: impl FnMut(GraphTask)) {
        let plan = &self.plan;
        let mut levels = bottom_levels(plan, |task| model_ns(plan, task)).into_iter();
        let mut tasks = Vec::new();
        for u in 0..self.plan.sym.units.len() {
            self.plan.unit_tasks(u, &mut tasks);
            for task in tasks.drain(..) {
                let memory = self.plan.memory_of(&task);
                visit(GraphTask {
                    geometry: self.geometry(task.codelet, &task.params),
                    spec: task.priority(levels.next().expect("a level for every task")),
                    allocated_bytes: memory.allocated_bytes as u64,
                    freed_bytes: memory.freed_bytes as u64,
                });
            }
        }
    }

    /// Flops by front: those of its tasks, or its part of its group's task. O(tasks).
    pub fn front_flops(&self) -> Vec<u64> {
        let plan = &self.plan;
        let mut out = vec![0; plan.sym.tree.fronts.len()];
        let mut tasks = Vec::new();
        for (u, unit) in plan.sym.units.iter().enumerate() {
            match unit {
                Unit::Group(fronts) => fronts.iter().for_each(|&f| {
                    let real = plan.sym.block_flops()[f as usize].with(plan.shape.nrhs);
                    out[f as usize] = plan.flops(real);
                }),
                Unit::Tiled(f) => {
                    plan.unit_tasks(u, &mut tasks);
                    out[*f as usize] = tasks.drain(..).map(|task| task.flops).sum();
                }
            }
        }
        out
    }

    /// What a task of this codelet with these parameters works on.
    pub fn geometry(&self, codelet: CodeletId, params: &[u32; 6]) -> TaskGeometry {
        match codelet {
            codelet::DO_SUBTREE => self.of_group(params[0] as usize),
            codelet::CLEAN_FRONT => self.of_clean(params),
            codelet::INIT_FRONT => self.of_column(params[0] as usize, params[1]),
            codelet::INIT_BLOCK => self.of_own_entries(params),
            codelet::BLOCK_COPY => self.of_copy(params),
            _ => self.of_kernel(codelet, params),
        }
    }

    fn of_group(&self, u: usize) -> TaskGeometry {
        let unit = self.plan.unit(u);
        let Unit::Group(fronts) = unit else {
            return TaskGeometry::default();
        };
        let top = self.plan.front(unit.top() as usize);
        let entries = |&f: &u32| {
            let front = self.plan.front(f as usize);
            u64::from(front.m) * u64::from(front.n)
        };
        TaskGeometry {
            rows: top.m,
            cols: top.n,
            inner: fronts.len() as u32,
            entries: fronts.iter().map(entries).sum(),
            ..TaskGeometry::default()
        }
    }

    fn of_column(&self, f: usize, j: u32) -> TaskGeometry {
        let scalar = self.plan.shape.scalar_bytes;
        let t = self.plan.tiling(f);
        let (tiles, factors) = self.plan.taken_with_column(f, j);
        let bytes = tiles.iter().map(|tile| tile.1);
        let bytes = bytes.chain(factors.iter().map(|factor| factor.bytes));
        let (rows, cols) = match j {
            RHS => (t.rows[self.plan.tile_rows(f)], self.plan.shape.nrhs as u32),
            j => {
                let depth = t.depth[j as usize] as usize;
                (t.rows[depth], t.width(j as usize) as u32)
            }
        };
        TaskGeometry {
            tile_col: (j != RHS).then_some(j),
            rows,
            cols,
            entries: bytes.map(|bytes| (bytes / scalar) as u64).sum(),
            ..TaskGeometry::default()
        }
    }

    fn of_clean(&self, params: &[u32; 6]) -> TaskGeometry {
        let cuts = self.plan.cuts(params[0] as usize, Stage::of(params));
        TaskGeometry {
            child: Some(params[0]),
            entries: cuts.iter().map(|cut| cut.entries.1 as u64).sum(),
            ..TaskGeometry::default()
        }
    }

    fn of_own_entries(&self, &[f, i, j, ..]: &[u32; 6]) -> TaskGeometry {
        let plan = &self.plan;
        let (front, t) = (plan.front(f as usize), plan.tiling(f as usize));
        let own = &plan.sym.tree.own;
        let rows = (t.rows[i as usize], t.rows[i as usize + 1]);
        let inside = own.inside(front, rows);
        let (entries, cols) = if j == RHS {
            let nrhs = plan.shape.nrhs;
            (inside.count() * nrhs, nrhs)
        } else {
            let cols = (t.cols[j as usize], t.cols[j as usize + 1]);
            let of_row = |k: usize| {
                let row = &own.col[own.start[k]..own.start[k + 1]];
                row.partition_point(|&c| c < cols.1) - row.partition_point(|&c| c < cols.0)
            };
            (inside.map(of_row).sum(), t.width(j as usize))
        };
        TaskGeometry {
            tile_row: Some(i),
            tile_col: (j != RHS).then_some(j),
            rows: rows.1 - rows.0,
            cols: cols as u32,
            entries: entries as u64,
            ..TaskGeometry::default()
        }
    }

    fn of_copy(&self, &[_, c, s, ..]: &[u32; 6]) -> TaskGeometry {
        let source = self.plan.sources(c as usize)[s as usize];
        let nrhs = if source.with_rhs {
            self.plan.shape.nrhs
        } else {
            0
        };
        let (top, bottom) = source.rows;
        // The contribution block is upper trapezoidal: column j reaches down to row j.
        let column = |j: usize| bottom.min(j + 1).saturating_sub(top);
        let columns = source.cols.0..source.cols.1;
        let entries = columns.map(column).sum::<usize>() + (bottom - top) * nrhs;
        TaskGeometry {
            child: Some(c),
            tile_row: Some(source.i),
            tile_col: (source.j != RHS).then_some(source.j),
            rows: (bottom - top) as u32,
            cols: (source.cols.1 - source.cols.0 + nrhs) as u32,
            entries: entries as u64,
            ..TaskGeometry::default()
        }
    }

    fn of_kernel(&self, codelet: CodeletId, &[f, k, i, a, j, tree]: &[u32; 6]) -> TaskGeometry {
        let t = self.plan.tiling(f as usize);
        let (panel, row) = (k as usize, i as usize);
        let width = t.width(panel);
        let updates = matches!(codelet, codelet::GEMQRT | codelet::TPMQRT);
        let heads = i == a && tree == 0;
        let rows = match (heads, tree) {
            (true, _) => t.height(row) - t.offset(row, panel),
            (false, 0) => t.height(row),
            (false, _) => width,
        };
        let cols = match (updates, j) {
            (false, _) => width,
            (true, RHS) => self.plan.shape.nrhs,
            (true, j) => t.width(j as usize),
        };
        let column = if updates { j } else { k };
        TaskGeometry {
            panel: Some(k),
            tile_row: Some(i),
            tile_col: (column != RHS).then_some(column),
            child: None,
            rows: rows as u32,
            cols: cols as u32,
            inner: if heads { rows.min(width) } else { width } as u32,
            entries: 0,
        }
    }
}
