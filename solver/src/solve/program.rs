//! A solve as a sequential program of tasks: at most one sweep up the tree and one down, for every block of right-hand
//! sides.
//!
//! ```text
//!   for each block of right-hand sides
//!     solve_begin                     allocates its vectors; singletons on the way up
//!     for each bundle, children first      apply_q_adjoint or solve_r_adjoint    reads its children's edges, leaves its own
//!     for each bundle, parents first       solve_r or apply_q                    reads its own edge, leaves its children's
//!     solve_end                       singletons on the way down
//! ```
//!
//! The factors are read where they lie and are no data of the run. A block has four vectors, and an edge for every bundle:
//! *head* (elimination order), *rest* (what Q^H leaves below R), *left* (the right-hand side of R^H, without what singletons and
//! loose fronts take from it) and *outer* (numbering of W, the result of a sweep down). Bundles write separate parts of them.

use super::bundles::Bundles;
use super::sweep::{BEGIN, END, Sweep};
use std::ops::Range;
use treeqr_runtime::Access::{Read, ReadWrite, Scatter, Write};
use treeqr_runtime::{CodeletId, Handle, TaskSpec};

/// Right-hand sides of a block: few blocks are narrow, so that there are more tasks; many are wide, so that every entry of
/// the factors is used more often once it is read. Never by the number of workers: results may depend on it.
const NARROW: usize = 16;
const WIDE: usize = 32;
const WIDE_FROM: usize = 128;

/// A sweep up: from `outer` to head and perhaps rest.
pub(super) struct Up<'a, T> {
    pub sweep: Sweep,
    /// In the numbering of W, a right-hand side after the other.
    pub outer: &'a [T],
    pub keep_rest: bool,
}

/// A sweep down: from head and rest to outer.
pub(super) struct Down<'a, T> {
    pub sweep: Sweep,
    pub head: Head<'a, T>,
    /// Zero if empty.
    pub rest: &'a [T],
}

/// Where a sweep down has its head from.
pub(super) enum Head<'a, T> {
    /// The sweep up before it.
    Up,
    /// The caller, in elimination order.
    Given(&'a [T]),
    /// Q^H b as the factorization left it.
    Kept,
}

impl<T> Down<'_, T> {
    /// R x = Q^H b, as the factorization left that.
    pub const KEPT: Self = Down {
        sweep: Sweep::R,
        head: Head::Kept,
        rest: &[],
    };
}

/// What is to be done, for `nrhs` right-hand sides.
pub(super) struct Program<'a, T> {
    pub up: Option<Up<'a, T>>,
    pub down: Option<Down<'a, T>>,
    pub nrhs: usize,
    /// Whether R has rows outside of the trees that they reach into: those of singletons, and of loose fronts.
    pub reaches_out: bool,
}

/// The vectors of a block, and the place of its first edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vector {
    Head = 0,
    Rest = 1,
    Left = 2,
    Outer = 3,
}
const VECTORS: usize = 4;

impl Vector {
    /// In the order of their numbers.
    pub const ALL: [Vector; VECTORS] = [Vector::Head, Vector::Rest, Vector::Left, Vector::Outer];
}

impl<T> Program<'_, T> {
    pub fn blocks(&self) -> usize {
        self.nrhs.div_ceil(self.block_width())
    }

    fn block_width(&self) -> usize {
        if self.nrhs < WIDE_FROM { NARROW } else { WIDE }
    }

    /// The right-hand sides of a block.
    pub fn columns(&self, block: usize) -> Range<usize> {
        let width = self.block_width();
        block * width..((block + 1) * width).min(self.nrhs)
    }

    /// The most right-hand sides of a block.
    pub fn width(&self) -> usize {
        self.nrhs.min(self.block_width())
    }

    pub fn sweeps(&self) -> impl Iterator<Item = Sweep> {
        let up = self.up.as_ref().map(|up| up.sweep);
        up.into_iter().chain(self.down.as_ref().map(|d| d.sweep))
    }

    pub fn handles(&self, bundles: &Bundles) -> usize {
        self.blocks() * (VECTORS + bundles.len())
    }

    pub fn vector(&self, bundles: &Bundles, block: usize, vector: Vector) -> Handle {
        Handle((block * (VECTORS + bundles.len()) + vector as usize) as u32)
    }

    pub fn edge(&self, bundles: &Bundles, block: usize, u: usize) -> Handle {
        Handle((block * (VECTORS + bundles.len()) + VECTORS + u) as u32)
    }

    /// Whether this program has that vector: what nobody asks for is not computed.
    pub fn has(&self, vector: Vector) -> bool {
        match vector {
            Vector::Head => self.up.is_some(),
            Vector::Rest => self.up.as_ref().is_some_and(|up| up.keep_rest),
            Vector::Left => self
                .up
                .as_ref()
                .is_some_and(|up| up.sweep == Sweep::RAdjoint && self.reaches_out),
            Vector::Outer => self.down.is_some(),
        }
    }

    /// Tasks of one block, in the order of submission.
    pub fn tasks(&self, bundles: &Bundles, block: usize, out: &mut Vec<TaskSpec>) {
        let vector = |v| self.vector(bundles, block, v);
        let with = |mut task: TaskSpec, list: &[Vector], access| {
            for &v in list.iter().filter(|&&v| self.has(v)) {
                task = task.with(vector(v), access);
            }
            task
        };
        let spec = |codelet: CodeletId, u: usize| {
            let node = bundles.fronts(u).last().copied().unwrap_or(0);
            TaskSpec::new(codelet, node).params([u as u32, block as u32, 0, 0, 0, 0])
        };
        let outside = |codelet| TaskSpec::new(codelet, 0).params([0, block as u32, 0, 0, 0, 0]);
        use Vector::{Head, Left, Outer, Rest};
        out.push(with(outside(BEGIN), &[Head, Rest, Left, Outer], Write));
        // What a loose front needs (or changes) of a vector is where others write (or read): it has the vector for itself.
        let loose = |u: usize| bundles.is_loose(u);
        // The edges come last in both: first the bundle's own, then those of its children.
        if let Some(up) = &self.up {
            for u in 0..bundles.len() {
                let task = with(spec(up.sweep.codelet(), u), &[Head, Rest], Scatter);
                let task = with(task, &[Left], if loose(u) { ReadWrite } else { Read });
                out.push(self.with_edges(task, bundles, block, u, Write, ReadWrite));
            }
        }
        if let Some(down) = &self.down {
            for u in (0..bundles.len()).rev() {
                let alone = !down.sweep.is_q() && loose(u);
                let access = if alone { ReadWrite } else { Scatter };
                let task = with(spec(down.sweep.codelet(), u), &[Outer], access);
                let task = with(task, &[Head], Read);
                out.push(self.with_edges(task, bundles, block, u, ReadWrite, Write));
            }
            out.push(with(outside(END), &[Head, Left, Outer], ReadWrite));
        }
    }

    fn with_edges(
        &self,
        mut task: TaskSpec,
        bundles: &Bundles,
        block: usize,
        u: usize,
        own: treeqr_runtime::Access,
        below: treeqr_runtime::Access,
    ) -> TaskSpec {
        if bundles.parent(u).is_some() {
            task = task.with(self.edge(bundles, block, u), own);
        }
        for &c in bundles.children(u) {
            task = task.with(self.edge(bundles, block, c as usize), below);
        }
        task
    }
}
