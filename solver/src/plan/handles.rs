//! Which buffer is which handle, how large it is, and what becomes of it when the front's work is done.
//!
//! A group has two buffers: the factors of its fronts, packed, and the contribution block of its top. A front in tiles of
//! p x q has, row by row: its tiles; per tile of a panel the T factors (behind a copy of V where the tile was factorized
//! by geqrt); the same for the steps of the binary tree; its tiles of the right-hand sides.

use super::panel::{Step, steps};
use super::tasks::RHS;
use super::{Layout, Plan};
use crate::analysis::groups::Unit;
use std::ops::Range;
use treeqr_runtime::{Handle, TaskSpec};

/// The buffer for V and T of a step of a panel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    pub handle: Handle,
    pub bytes: usize,
    /// Whether the kernel that makes them writes every entry: the last block of reflectors leaves rows of T alone when it is narrower
    /// than the others.
    pub is_overwritten: bool,
}

/// What a buffer of a front in tiles is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffer {
    /// A tile.
    Tile { i: usize, j: usize },
    /// V and T of a step of panel k.
    Factor { k: usize },
    /// Tile row i of the right-hand sides.
    Rhs { i: usize },
}

impl Plan<'_> {
    pub(super) fn number_handles(&self) -> Layout {
        let mut next = 0u32;
        let mut out = Layout {
            base: Vec::with_capacity(self.sym.units.len() + 1),
            factor_at: vec![0; self.sym.tree.fronts.len()],
            factor_len: vec![0; self.sym.units.len()],
        };
        for (u, unit) in self.sym.units.iter().enumerate() {
            out.base.push(next);
            match unit {
                Unit::Group(fronts) => {
                    let mut len = 0;
                    for &f in fronts {
                        out.factor_at[f as usize] = len;
                        len += self.block_factor_entries(f as usize);
                    }
                    out.factor_len[u] = len;
                    next += 2;
                }
                Unit::Tiled(f) => {
                    let (p, q) = self.tiling(*f as usize).grid();
                    let panels = self.tiling(*f as usize).panels;
                    // The analysis has seen to it that the sum is a number of 32 bits.
                    next += (p * q + 2 * p * panels + p) as u32;
                }
            }
        }
        out.base.push(next);
        out
    }

    /// Handles in all.
    pub fn handles(&self) -> usize {
        *self.layout.base.last().expect("one entry more than units") as usize
    }

    /// Scalars that a block front leaves in its group's factor buffer: R, Q^H b of its pivots, and V with tau if kept.
    pub fn block_factor_entries(&self, f: usize) -> usize {
        let front = self.front(f);
        let q = if self.shape.keep_q {
            self.block_v_entries(f) + front.reflectors()
        } else {
            0
        };
        front.r_entries() + front.npiv as usize * self.shape.nrhs + q
    }

    /// Entries of V of a block front, unit diagonal left out.
    pub fn block_v_entries(&self, f: usize) -> usize {
        let stair = self.sym.tree.stair(f);
        (0..self.front(f).reflectors())
            .map(|j| (stair[j] as usize).saturating_sub(j + 1))
            .sum()
    }

    /// Place of a block front in its group's factor buffer, in scalars.
    pub fn factor_at(&self, f: usize) -> usize {
        self.layout.factor_at[f]
    }

    pub fn group_factor(&self, u: usize) -> Handle {
        Handle(self.layout.base[u])
    }

    pub fn group_cb(&self, u: usize) -> Handle {
        Handle(self.layout.base[u] + 1)
    }

    pub fn group_factor_bytes(&self, u: usize) -> usize {
        self.layout.factor_len[u] * self.shape.scalar_bytes
    }

    /// Zero when nothing is left for a parent.
    pub fn group_cb_bytes(&self, u: usize) -> usize {
        let top = self.front(self.unit(u).top() as usize);
        if top.parent.is_none() {
            0
        } else {
            top.cb_entries(self.shape.nrhs) * self.shape.scalar_bytes
        }
    }

    pub fn tile(&self, f: usize, i: usize, j: usize) -> Handle {
        let q = self.tiling(f).grid().1;
        Handle(self.layout.base[self.unit_of(f)] + (i * q + j) as u32)
    }

    /// T of geqrt or tpqrt on tile (i, k), behind V in the case of geqrt.
    pub fn factor(&self, f: usize, i: usize, k: usize) -> Handle {
        let t = self.tiling(f);
        let (p, q) = t.grid();
        Handle(self.layout.base[self.unit_of(f)] + (p * q + i * t.panels + k) as u32)
    }

    /// V and T of the step of the binary tree that eliminates the head (i, k).
    pub fn tree_factor(&self, f: usize, i: usize, k: usize) -> Handle {
        let t = self.tiling(f);
        let (p, q) = t.grid();
        Handle(self.layout.base[self.unit_of(f)] + (p * q + p * t.panels + i * t.panels + k) as u32)
    }

    pub fn rhs(&self, f: usize, i: usize) -> Handle {
        let t = self.tiling(f);
        let (p, q) = t.grid();
        Handle(self.layout.base[self.unit_of(f)] + (p * q + 2 * p * t.panels + i) as u32)
    }

    /// Tile rows that exist at all: those that reach above the staircase of the last column.
    pub fn tile_rows(&self, f: usize) -> usize {
        *self.tiling(f).depth.last().expect("a front has a column") as usize
    }

    /// Every buffer of a front in tiles, with its size in bytes.
    pub fn front_buffers(&self, f: usize) -> Vec<(Handle, usize)> {
        let columns = 0..self.tiling(f).grid().1;
        let of_column = |j: usize| {
            let factors = self.panel_factors(f, j).into_iter();
            let factors = factors.map(|factor| (factor.handle, factor.bytes));
            self.column_tiles(f, j as u32).into_iter().chain(factors)
        };
        let mut out: Vec<_> = columns.flat_map(of_column).collect();
        out.extend(self.column_tiles(f, RHS));
        out
    }

    /// The tiles of tile column `j` of a front; of column [`RHS`] those of the right-hand sides.
    fn column_tiles(&self, f: usize, j: u32) -> Vec<(Handle, usize)> {
        let t = self.tiling(f);
        let bytes = |entries: usize| entries * self.shape.scalar_bytes;
        if j == RHS {
            let rows = if self.shape.nrhs > 0 {
                self.tile_rows(f)
            } else {
                0
            };
            return (0..rows)
                .map(|i| (self.rhs(f, i), bytes(t.height(i) * self.shape.nrhs)))
                .collect();
        }
        let j = j as usize;
        let tiles = 0..t.depth[j] as usize;
        tiles
            .map(|i| (self.tile(f, i, j), bytes(t.height(i) * t.width(j))))
            .collect()
    }

    /// The buffers for V and T of panel `k` of a front; none where it is no panel.
    pub fn panel_factors(&self, f: usize, k: usize) -> Vec<Factor> {
        let t = self.tiling(f);
        match k < t.panels {
            true => steps(t, k)
                .into_iter()
                .map(|step| self.factor_of(f, k, step))
                .collect(),
            false => Vec::new(),
        }
    }

    fn factor_of(&self, f: usize, k: usize, step: Step) -> Factor {
        let t = self.tiling(f);
        let (handle, entries) = self.step_factor(f, k, step);
        let reflectors = match step {
            Step::Head { i } => (t.height(i) - t.offset(i, k)).min(t.width(k)),
            Step::Flat { .. } | Step::Tree { .. } => t.width(k),
        };
        Factor {
            handle,
            bytes: entries * self.shape.scalar_bytes,
            is_overwritten: reflectors.is_multiple_of(t.inner_block(self.shape.scalar_bytes)),
        }
    }

    /// Whether V and T are taken by the tasks that make them, when the children's contribution blocks are gone, and not with the front:
    /// where these tasks are the CPUs'.
    pub fn takes_factors_late(&self, f: usize) -> bool {
        self.is_for_cpus(f)
    }

    /// What a task of a panel takes so.
    pub fn factor_taken(&self, task: &TaskSpec) -> Option<Factor> {
        let f = task.params[0] as usize;
        let (k, step) = Step::of(task.codelet, &task.params)?;
        self.takes_factors_late(f)
            .then(|| self.factor_of(f, k, step))
    }

    /// What is taken with tile column `j`: its tiles, or those of the right-hand sides, and V and T where they do not come later.
    pub fn taken_with_column(&self, f: usize, j: u32) -> (Vec<(Handle, usize)>, Vec<Factor>) {
        let factors = match j == RHS || self.takes_factors_late(f) {
            true => Vec::new(),
            false => self.panel_factors(f, j as usize),
        };
        (self.column_tiles(f, j), factors)
    }

    /// The buffer for T (and V) of a step of panel k, with its scalars.
    pub fn step_factor(&self, f: usize, k: usize, step: Step) -> (Handle, usize) {
        let t = self.tiling(f);
        let (ib, w) = (t.inner_block(self.shape.scalar_bytes), t.width(k));
        match step {
            Step::Head { i } => {
                let rows = t.height(i) - t.offset(i, k);
                let reflectors = rows.min(w);
                (self.factor(f, i, k), (rows + ib) * reflectors)
            }
            Step::Flat { i, .. } => (self.factor(f, i, k), ib * w),
            Step::Tree { b, .. } => (self.tree_factor(f, b, k), (w + ib) * w),
        }
    }

    /// The buffers of a front in tiles that do not stay: all that holds neither R, nor Q^H b, nor (if Q is kept) reflectors.
    pub fn front_releases(&self, f: usize) -> Vec<(Handle, usize)> {
        self.releases_in(f, 0..self.tiling(f).columns_and_rhs())
    }

    /// Those of some tile columns; the right-hand sides come behind the last one.
    pub fn releases_in(&self, f: usize, columns: Range<usize>) -> Vec<(Handle, usize)> {
        let t = self.tiling(f);
        let npiv = self.front(f).npiv;
        let (p, q) = t.grid();
        let mut out = Vec::new();
        for j in columns.start..columns.end.min(q) {
            let mut keeps_v = vec![false; p];
            if self.shape.keep_q && j < t.panels {
                for step in steps(t, j) {
                    if let Step::Flat { i, .. } = step {
                        keeps_v[i] = true;
                    }
                }
            }
            // Rows of R start at the diagonal: a tile in the pivot rows holds some unless all of it lies below.
            let stays = |i: usize| keeps_v[i] || t.rows[i] < npiv.min(t.cols[j + 1]);
            let tiles = self.column_tiles(f, j as u32).into_iter().enumerate();
            out.extend(tiles.filter(|&(i, _)| !stays(i)).map(|(_, tile)| tile));
            if !self.shape.keep_q {
                let factors = self.panel_factors(f, j).into_iter();
                out.extend(factors.map(|factor| (factor.handle, factor.bytes)));
            }
        }
        if columns.contains(&q) {
            let tiles = self.column_tiles(f, RHS).into_iter().zip(&t.rows);
            out.extend(tiles.filter(|&(_, &top)| top >= npiv).map(|(tile, _)| tile));
        }
        out
    }

    /// What a buffer of front f, which is in tiles, is there for.
    pub fn buffer(&self, f: usize, handle: Handle) -> Buffer {
        let t = self.tiling(f);
        let (p, q) = t.grid();
        let at = (handle.0 - self.layout.base[self.unit_of(f)]) as usize;
        let (tiles, factors) = (p * q, 2 * p * t.panels);
        match at {
            at if at < tiles => Buffer::Tile {
                i: at / q,
                j: at % q,
            },
            at if at < tiles + factors => Buffer::Factor {
                k: (at - tiles) % t.panels,
            },
            at => Buffer::Rhs {
                i: at - tiles - factors,
            },
        }
    }
}
