//! The plan of a factorization: its data handles with their sizes, and its tasks in the order of submission.
//!
//! Takes a [`Symbolic`] and what is asked of this run (size of a scalar, right-hand sides, whether Q stays); gives tasks
//! as data. The predictions and the factorization read the same plan, so they agree to the unit.
//!
//! | file | subject |
//! | --- | --- |
//! | `handles` | which buffer is which handle, how large it is, when it is freed |
//! | `kept` | what stays of a front in tiles, and how it lies in memory then |
//! | `panel` | the reduction of one panel: flat within groups of tiles, then a binary tree |
//! | `tasks` | the tasks of a unit |
//! | `assembly` | those by which a front in tiles takes in A and its children |
//! | `geometry` | what a task works on; all tasks as a graph |
//! | `predict` | counts, flops, memory, critical path and bottom levels, from the tasks |

mod assembly;
mod geometry;
mod handles;
pub(crate) mod kept;
pub(crate) mod panel;
mod predict;
mod scratch;
pub(crate) mod tasks;

use crate::analysis::groups::Unit;
use crate::analysis::partition::Tiling;
use crate::symbolic::{Front, Symbolic};
pub use geometry::{GraphTask, TaskGeometry, TaskGraph};
pub(crate) use handles::Factor;
pub use predict::Prediction;
pub(crate) use predict::{Predicted, bottom_levels, model_ns};
pub use scratch::CODELETS;
pub(crate) use scratch::{ScratchSize, is_own};
use std::sync::Arc;
use treeqr_kernels::KernelScalar;

/// Codelets, in the order of their table.
pub(crate) mod codelet {
    use treeqr_runtime::CodeletId;
    pub const INIT_FRONT: CodeletId = CodeletId(0);
    pub const INIT_BLOCK: CodeletId = CodeletId(1);
    pub const BLOCK_COPY: CodeletId = CodeletId(2);
    pub const DO_SUBTREE: CodeletId = CodeletId(3);
    pub const GEQRT: CodeletId = CodeletId(4);
    pub const GEMQRT: CodeletId = CodeletId(5);
    pub const TPQRT: CodeletId = CodeletId(6);
    pub const TPMQRT: CodeletId = CodeletId(7);
    pub const CLEAN_FRONT: CodeletId = CodeletId(8);
    /// Names by id.
    pub const NAMES: [&str; 9] = [
        "init_front",
        "init_block",
        "block_copy",
        "do_subtree",
        "geqrt",
        "gemqrt",
        "tpqrt",
        "tpmqrt",
        "clean_front",
    ];
}

/// What is asked of a run, besides the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunShape {
    /// Bytes of a scalar.
    pub scalar_bytes: usize,
    /// Complex operations count as four real ones.
    pub complex: bool,
    /// Right-hand sides that Q^H is applied to on the way.
    pub nrhs: usize,
    /// Whether the reflectors are kept.
    pub keep_q: bool,
}

impl RunShape {
    /// For scalars of type T.
    pub fn of<T: KernelScalar>(nrhs: usize, keep_q: bool) -> Self {
        RunShape {
            scalar_bytes: size_of::<T>(),
            complex: T::IS_COMPLEX,
            nrhs,
            keep_q,
        }
    }
}

/// Handles, sizes and tasks of one factorization.
pub(crate) struct Plan<'s> {
    pub sym: &'s Symbolic,
    pub shape: RunShape,
    layout: Arc<Layout>,
}

/// The numbering of the handles, shared by all plans of one shape.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// First handle of every unit, and the number of handles.
    base: Vec<u32>,
    /// Per front of a group: its place in the group's factor buffer, in scalars.
    factor_at: Vec<usize>,
    /// Per unit that is a group: scalars of its factor buffer.
    factor_len: Vec<usize>,
}

impl<'s> Plan<'s> {
    pub fn new(sym: &'s Symbolic, shape: RunShape) -> Self {
        let mut plan = Plan {
            sym,
            shape,
            layout: Arc::default(),
        };
        plan.layout = Arc::new(plan.number_handles());
        plan
    }

    /// The plan that this numbering was made for.
    pub fn with_layout(sym: &'s Symbolic, shape: RunShape, layout: Arc<Layout>) -> Self {
        Plan { sym, shape, layout }
    }

    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    pub fn front(&self, f: usize) -> &'s Front {
        &self.sym.tree.fronts[f]
    }

    pub fn unit(&self, u: usize) -> &'s Unit {
        &self.sym.units[u]
    }

    pub fn unit_of(&self, f: usize) -> usize {
        self.sym.unit_of[f] as usize
    }

    /// The tiling of a front that has one.
    pub fn tiling(&self, f: usize) -> &'s Tiling {
        self.sym.tilings[f].as_ref().expect("a front in tiles")
    }

    /// Whether front f, which is in tiles, was cut for the CPUs and not for devices.
    pub fn is_for_cpus(&self, f: usize) -> bool {
        !self.sym.options.for_devices || self.tiling(f).host_only
    }

    /// Flops in real operations to flops of this run's scalar.
    pub fn flops(&self, real: u64) -> u64 {
        if self.shape.complex { 4 * real } else { real }
    }
}
