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
//! loose fronts take from it; a sparse one, spread out) and *outer* (numbering of W, the result of a sweep down). Bundles write
//! separate parts of them.
//!
//! A sweep may be restricted to a *part* of the tree, another in each block: bundles without a front in it have no task, and
//! edges that would carry zeros, or what nobody asks for, do not exist.

use super::bundles::Bundles;
use super::reach::Part;
use super::sweep::{BEGIN, END, Sweep};
use crate::symbolic::Front;
use std::ops::Range;
use treeqr_matrices::Csc;
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
    /// In the numbering of W.
    pub outer: Given<'a, T>,
    pub keep_rest: bool,
    /// Whether the head is wanted besides what a sweep down makes of it.
    pub keep_head: bool,
    /// Whether the last vector of a block is none: it is not among those of `outer`, and becomes ||R e_j||_1 at the pivots. Of a sweep with R^H.
    pub sums: bool,
    /// Where it has something to do; everywhere if none.
    pub part: Option<Part>,
}

impl<'a, T> Up<'a, T> {
    /// Q^H b, all of it, everywhere.
    pub fn with_q(b: &'a [T]) -> Self {
        Up {
            sweep: Sweep::QAdjoint,
            outer: Given::Dense(b),
            keep_rest: true,
            keep_head: false,
            sums: false,
            part: None,
        }
    }
}

/// Vectors of the caller.
#[derive(Clone, Copy)]
pub(super) enum Given<'a, T> {
    /// A right-hand side after the other.
    Dense(&'a [T]),
    /// Its columns are the right-hand sides.
    Sparse(&'a Csc<T>),
}

/// A sweep down: from head and rest to outer.
pub(super) struct Down<'a, T> {
    pub sweep: Sweep,
    pub head: Head<'a, T>,
    /// Zero if empty.
    pub rest: &'a [T],
    /// Where it has something to do; everywhere if none.
    pub part: Option<Part>,
}

/// Where a sweep down has its head from.
pub(super) enum Head<'a, T> {
    /// The sweep up before it.
    Up,
    /// The caller, in elimination order.
    Given(&'a [T]),
    /// The caller: columns of head and rest, one below the other.
    Sparse(&'a Csc<T>),
    /// Q^H b as the factorization left it.
    Kept,
}

impl<'a, T> Down<'a, T> {
    /// R x = c, everywhere.
    pub fn given(c: &'a [T]) -> Self {
        Down {
            sweep: Sweep::R,
            head: Head::Given(c),
            rest: &[],
            part: None,
        }
    }

    /// R x = Q^H b, as the factorization left that.
    pub const KEPT: Self = Down {
        sweep: Sweep::R,
        head: Head::Kept,
        rest: &[],
        part: None,
    };
}

/// What is to be done, for `nrhs` right-hand sides.
pub(super) struct Program<'a, T> {
    pub up: Option<Up<'a, T>>,
    pub down: Option<Down<'a, T>>,
    pub nrhs: usize,
    pub fronts: &'a [Front],
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
pub(super) const VECTORS: usize = 4;

impl Vector {
    /// In the order of their numbers.
    pub const ALL: [Vector; VECTORS] = [Vector::Head, Vector::Rest, Vector::Left, Vector::Outer];
}

fn block_width(nrhs: usize) -> usize {
    if nrhs < WIDE_FROM { NARROW } else { WIDE }
}

/// The right-hand sides of every block, for so many.
pub(super) fn blocks_of(nrhs: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    let width = block_width(nrhs);
    (0..nrhs.div_ceil(width)).map(move |block| block * width..((block + 1) * width).min(nrhs))
}

impl<T> Program<'_, T> {
    pub fn blocks(&self) -> usize {
        blocks_of(self.nrhs).len()
    }

    /// The right-hand sides of a block.
    pub fn columns(&self, block: usize) -> Range<usize> {
        let width = block_width(self.nrhs);
        block * width..((block + 1) * width).min(self.nrhs)
    }

    /// The most right-hand sides of a block.
    pub fn width(&self) -> usize {
        self.nrhs.min(block_width(self.nrhs))
    }

    /// Whether any sweep is restricted.
    pub fn is_restricted(&self) -> bool {
        self.part(true).or(self.part(false)).is_some()
    }

    fn part(&self, up: bool) -> Option<&Part> {
        if up {
            self.up.as_ref().and_then(|up| up.part.as_ref())
        } else {
            self.down.as_ref().and_then(|down| down.part.as_ref())
        }
    }

    /// Whether a sweep has something to do at front `f`, for the right-hand sides of a block.
    pub fn needs(&self, sweep: Sweep, block: usize, f: usize) -> bool {
        self.part(sweep.is_up())
            .is_none_or(|part| part.has(block, f))
    }

    /// Whether a sweep has something to do at front `f` for any of the right-hand sides.
    pub fn ever_needs(&self, sweep: Sweep, f: usize) -> bool {
        (self.part(sweep.is_up())).is_none_or(|part| (0..self.blocks()).any(|b| part.has(b, f)))
    }

    /// Whether it has a task for a bundle.
    fn has_task(&self, sweep: Sweep, bundles: &Bundles, block: usize, u: usize) -> bool {
        let mut fronts = bundles.fronts(u).iter();
        fronts.any(|&f| self.needs(sweep, block, f as usize))
    }

    /// Whether something goes along the edge between bundle `u` and its parent.
    pub fn has_edge(&self, sweep: Sweep, bundles: &Bundles, block: usize, u: usize) -> bool {
        let Some(above) = bundles.parent(u) else {
            return false;
        };
        let meets = |&f: &u32| match self.fronts[f as usize].parent {
            Some(p) if bundles.of(p as usize) == above as usize => {
                self.needs(sweep, block, f as usize) && self.needs(sweep, block, p as usize)
            }
            _ => false,
        };
        self.part(sweep.is_up()).is_none() || bundles.fronts(u).iter().any(meets)
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
            Vector::Head => self.up.is_some() || self.sparse_head().is_some(),
            Vector::Rest => match &self.up {
                Some(up) => up.keep_rest,
                None => {
                    let below = self.sparse_head().filter(|_| {
                        let down = self.down.as_ref();
                        down.is_some_and(|down| down.sweep.is_q())
                    });
                    below.is_some()
                }
            },
            Vector::Left => self.up.as_ref().is_some_and(|up| {
                let changed = up.sweep == Sweep::RAdjoint && self.reaches_out;
                changed || matches!(up.outer, Given::Sparse(_))
            }),
            Vector::Outer => self.down.is_some(),
        }
    }

    /// The caller's sparse columns of head and rest.
    pub fn sparse_head(&self) -> Option<&Csc<T>> {
        match self.down.as_ref()?.head {
            Head::Sparse(c) => Some(c),
            _ => None,
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
        let alone = |sweep: Sweep, u: usize| !sweep.is_q() && bundles.is_loose(u);
        // The edges come last in both: first the bundle's own, then those of its children.
        if let Some(up) = &self.up {
            let sweep = up.sweep;
            for u in (0..bundles.len()).filter(|&u| self.has_task(sweep, bundles, block, u)) {
                let access = if alone(sweep, u) { ReadWrite } else { Read };
                let task = with(spec(sweep.codelet(), u), &[Head, Rest], Scatter);
                let task = with(task, &[Left], access);
                let (own, below) = (Write, ReadWrite);
                out.push(self.with_edges(task, sweep, bundles, block, u, own, below));
            }
        }
        if let Some(down) = &self.down {
            let sweep = down.sweep;
            // What comes from above or, where nothing has come up, from the caller.
            let given: &[Vector] = if self.up.is_some() {
                &[Head]
            } else {
                &[Head, Rest]
            };
            let bundles_down = (0..bundles.len()).rev();
            for u in bundles_down.filter(|&u| self.has_task(sweep, bundles, block, u)) {
                let access = if alone(sweep, u) { ReadWrite } else { Scatter };
                let task = with(spec(sweep.codelet(), u), &[Outer], access);
                let task = with(task, given, Read);
                let (own, below) = (ReadWrite, Write);
                out.push(self.with_edges(task, sweep, bundles, block, u, own, below));
            }
            let task = with(outside(END), given, ReadWrite);
            out.push(with(task, &[Left, Outer], ReadWrite));
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a bundle of a block of a sweep, and its accesses"
    )]
    fn with_edges(
        &self,
        mut task: TaskSpec,
        sweep: Sweep,
        bundles: &Bundles,
        block: usize,
        u: usize,
        own: treeqr_runtime::Access,
        below: treeqr_runtime::Access,
    ) -> TaskSpec {
        if self.has_edge(sweep, bundles, block, u) {
            task = task.with(self.edge(bundles, block, u), own);
        }
        for c in self.below(sweep, bundles, block, u) {
            task = task.with(self.edge(bundles, block, c as usize), below);
        }
        task
    }

    /// The bundles below `u` that something goes to or comes from, increasing.
    pub fn below<'s>(
        &'s self,
        sweep: Sweep,
        bundles: &'s Bundles,
        block: usize,
        u: usize,
    ) -> impl Iterator<Item = u32> + 's {
        let children = bundles.children(u).iter().copied();
        children.filter(move |&c| self.has_edge(sweep, bundles, block, c as usize))
    }
}
