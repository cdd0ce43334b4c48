//! A large node as several tasks: its block in columns of blocks, each a buffer of the run.
//!
//! ```text
//!   deflate_begin        what the block is made of: rows of R, rows from below                 after the nodes below
//!   deflate_fill k       block column k
//!   deflate_panel j      Heath's method on block column j: which columns are dead is decided here
//!   deflate_update j k   the reflectors of j on k                                              for all k > j
//!   deflate_collect j    reflectors and rows that go up, out of block column j, where R stays
//!   deflate_end          the node as it is now
//! ```
//!
//! How many rows there are, and whether anything is to be done at all, is known when the node begins; the tasks are submitted before. So
//! their number is that of the most columns that the node can have, and those that turn out to have nothing to do do nothing.
//! Decisions and numbers are the same on any number of workers.

use super::blocks::{BlockColumn, Values};
use super::closure::Work;
use super::nodes::Nodes;
use super::rework::{Asked, Block, Columns, Piece, Reduced, Reworked, Rows, divide, reduce};
use super::room;
use crate::numeric::FactorScalar;
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};
use treeqr_kernels::{
    MatMut, MatRef, Stair, deflate_apply, deflate_apply_flops, deflate_apply_scratch,
    deflate_factors, deflate_factors_len,
};
use treeqr_runtime::{Handle, TaskContext, TaskFailure};

/// Columns of a block column, multiples of the kernel's panels: of nodes with so many columns.
const WIDTHS: [(usize, usize); 2] = [(1024, 128), (0, 64)];
/// A node is large from so many columns on.
const LARGE: usize = 256;

/// The state of one large node.
pub(super) struct Large<T> {
    pub node: usize,
    suspect: bool,
    /// Columns of a block column.
    width: usize,
    /// Block columns, and the handle of the first.
    pub count: usize,
    pub first: u32,
    /// Entries of its block columns if no rows come from below.
    expected: usize,
    /// What the block is made of, where there is something to do.
    setup: RwLock<Option<Setup<T>>>,
    panels: Vec<OnceLock<Panel<T>>>,
    pieces: Vec<Mutex<Option<Piece<T>>>>,
}

struct Setup<T> {
    block: Block,
    taken: Vec<Rows<T>>,
}

/// A block column that is reduced.
struct Panel<T> {
    /// Rows that those before have.
    row: usize,
    reduced: Reduced<T>,
    /// The columns of its reflectors, counted in the block column.
    live: Vec<u32>,
    /// Their triangular factors, for all block columns on the right.
    t: Vec<T>,
}

/// Whether a node is large.
pub(super) fn is_large(work: &Work) -> bool {
    work.columns as usize >= LARGE
}

fn lock<R>(mutex: &Mutex<R>) -> std::sync::MutexGuard<'_, R> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: FactorScalar> Large<T> {
    /// Of a node with so many pivots; with block columns in the buffers from `first` on.
    pub fn new(work: &Work, pivots: usize, first: u32) -> Self {
        let columns = work.columns as usize;
        let fit = WIDTHS.iter().find(|(from, _)| columns >= *from);
        let width = fit.expect("any number of columns").1;
        let count = columns.div_ceil(width);
        Large {
            node: work.node as usize,
            suspect: work.suspect,
            width,
            count,
            first,
            expected: (0..count)
                .map(|k| width * pivots.min((k + 1) * width))
                .sum(),
            setup: RwLock::default(),
            panels: (0..count).map(|_| OnceLock::new()).collect(),
            pieces: (0..count).map(|_| Mutex::default()).collect(),
        }
    }

    /// What its block columns take if no rows come from below.
    pub fn expected_bytes(&self) -> u64 {
        (self.expected * size_of::<T>()) as u64
    }

    /// How many tasks it is.
    pub fn tasks(&self) -> usize {
        2 + 3 * self.count + self.count * (self.count - 1) / 2
    }

    pub fn handle(&self, k: usize) -> Handle {
        Handle(self.first + k as u32)
    }

    /// Block column `k`. None where nothing is to be done.
    fn columns(&self, setup: &Setup<T>, k: usize, asked: Asked) -> Option<Columns> {
        let n = setup.block.shape().1;
        let range = k * self.width..((k + 1) * self.width).min(n);
        (k * self.width < n).then(|| setup.block.columns(range, asked.nrhs))
    }

    /// Calls `work` where block column `k` has something to do.
    fn with<R>(
        &self,
        k: usize,
        asked: Asked,
        work: impl FnOnce(&Setup<T>, Columns) -> R,
    ) -> Option<R> {
        let setup = self.setup.read().unwrap_or_else(PoisonError::into_inner);
        let setup = setup.as_ref()?;
        Some(work(setup, self.columns(setup, k, asked)?))
    }

    /// Takes the rows from below; gives those that go on.
    pub fn begin(&self, nodes: &Nodes<'_, T>, below: Vec<Rows<T>>) -> Vec<Rows<T>> {
        let (taken, up) = divide(nodes, self.node, below);
        if self.suspect || !taken.is_empty() {
            let block = Block::new(nodes, self.node, &taken);
            let mut setup = self.setup.write().unwrap_or_else(PoisonError::into_inner);
            *setup = Some(Setup { block, taken });
        }
        up
    }

    pub fn fill(
        &self,
        nodes: &Nodes<'_, T>,
        k: usize,
        asked: Asked,
        task: &TaskContext<'_>,
    ) -> Result<(), TaskFailure> {
        let filled = self.with(k, asked, |setup, part| {
            let bytes = part.rows * (part.range.len() + part.sides) * size_of::<T>();
            task.allocate_to_write(self.handle(k), bytes, 0)?;
            let mut out = task.write::<T>(0);
            let (block, taken) = (&setup.block, &setup.taken);
            block.fill(nodes, self.node, taken, &part, &mut out);
            Ok(())
        });
        filled.unwrap_or(Ok(()))
    }

    pub fn panel(&self, j: usize, asked: Asked, task: &TaskContext<'_>, scratch: &mut Vec<T>) {
        let reduced = self.with(j, asked, |setup, part| {
            let row = match j {
                0 => 0,
                j => {
                    let before = self.panels[j - 1].get().expect("panels in their order");
                    before.row + before.reduced.live.len()
                }
            };
            let mut columns = task.write::<T>(0);
            let reduced = reduce(&setup.block, &part, row, asked, &mut columns, scratch);
            task.count_flops(reduced.flops);
            let (m, n) = (part.rows, part.range.len());
            let live = reduced.live.iter().map(|l| l - part.range.start as u32);
            let live: Vec<u32> = live.collect();
            let mut t = vec![T::zero(); deflate_factors_len(n)];
            if j + 1 < self.count && !live.is_empty() {
                let v = MatRef::new(&columns, m, n, m).submatrix(row, 0, m - row, n);
                let stair = setup.block.stair_from(&part.range, row);
                deflate_factors(v, Stair::Rows(&stair), &live, &reduced.tau, &mut t, scratch);
            }
            Panel {
                row,
                reduced,
                live,
                t,
            }
        });
        if let Some(panel) = reduced {
            let first = self.panels[j].set(panel).is_ok();
            assert!(first, "one task a panel");
        }
    }

    pub fn update(
        &self,
        (j, k): (usize, usize),
        asked: Asked,
        task: &TaskContext<'_>,
        scratch: &mut Vec<T>,
    ) {
        let done = self.with(k, asked, |setup, part| {
            let panel = self.panels[j].get().expect("it is reduced");
            let row = panel.row;
            if panel.live.is_empty() {
                return;
            }
            let from = j * self.width..(j + 1) * self.width;
            let (wide, n) = (part.range.len() + part.sides, from.len());
            // The reflectors reach no further below.
            let m = setup.block.columns(from.clone(), asked.nrhs).rows;
            let needed = deflate_apply_scratch::<T>(m - row, n, wide);
            room(scratch, needed);
            let (v, mut c) = (task.read::<T>(0), task.write::<T>(1));
            let stair = setup.block.stair_from(&from, row);
            let stair = Stair::Rows(&stair);
            task.count_flops(deflate_apply_flops::<T>(m - row, wide, stair, &panel.live));
            deflate_apply(
                MatRef::new(&v, m, n, m).submatrix(row, 0, m - row, n),
                stair,
                &panel.live,
                &panel.reduced.tau,
                &panel.t,
                MatMut::new(&mut c, part.rows, wide, part.rows).submatrix(row, 0, m - row, wide),
                scratch,
            );
        });
        done.unwrap_or(());
    }

    pub fn collect(&self, j: usize, asked: Asked, task: &TaskContext<'_>) {
        let piece = self.with(j, asked, |setup, part| {
            let panels = self.panels[..=j].iter().filter_map(OnceLock::get);
            let live: Vec<u32> = panels.flat_map(|p| &p.reduced.live).copied().collect();
            let block = task.read::<T>(0);
            let mut piece = setup.block.collect(&block, &part, &live, asked.keep_q);
            piece.r = BlockColumn {
                rows: part.rows,
                values: Values::Kept(self.handle(j)),
            };
            piece
        });
        *lock(&self.pieces[j]) = piece;
    }

    /// The node as it is now, and the rows that it adds to those that go up; none where nothing was to be done.
    pub fn end(
        &self,
        nodes: &Nodes<'_, T>,
        asked: Asked,
    ) -> Option<(Reworked<T>, Option<Rows<T>>)> {
        let mut setup = self.setup.write().unwrap_or_else(PoisonError::into_inner);
        let block = setup.take()?.block;
        let mut all = Reduced::default();
        for panel in self.panels.iter().filter_map(OnceLock::get) {
            all.live.extend_from_slice(&panel.reduced.live);
            all.tau.extend_from_slice(&panel.reduced.tau);
            all.dropped2 += panel.reduced.dropped2;
        }
        let pieces = self.pieces.iter().filter_map(|piece| lock(piece).take());
        Some(block.finish(nodes, all, (self.width, pieces.collect()), asked))
    }
}
