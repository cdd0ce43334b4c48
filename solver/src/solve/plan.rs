//! What a solve will run, and what a task of one works on.
//!
//! Takes tasks; gives counts, and reads their parameters back. Knows no factor and no vector.
//!
//! | parameter | |
//! | --- | --- |
//! | 0, 1 | bundle, block |
//! | 2 | right-hand sides of the block |
//! | 3 | fronts of the bundle |
//! | 4, 5 | entries of the factors that it reads (`solve_begin`: of the vectors that it clears), lower and upper half |

use super::sweep::SOLVE_CODELETS;
use crate::plan::TaskGeometry;
use treeqr_runtime::TaskSpec;

/// What a solve will run: by [`Factors::plan_solve`](crate::Factors::plan_solve) and
/// [`Factors::plan_solution`](crate::Factors::plan_solution).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SolvePlan {
    /// Right-hand sides.
    pub nrhs: usize,
    /// Workers; 0 where all tasks run on the calling thread.
    pub workers: usize,
    /// Blocks of right-hand sides.
    pub blocks: usize,
    /// Bundles of fronts: of each, one task a block and sweep.
    pub bundles: usize,
    /// Tasks by codelet, in the order of [`SOLVE_CODELETS`].
    pub tasks: [u64; SOLVE_CODELETS.len()],
    /// Accesses of all tasks.
    pub accesses: u64,
    /// Allocations and releases, at most.
    pub memory_events: u64,
    /// Floating-point operations.
    pub flops: u64,
}

impl SolvePlan {
    /// Without a task: all is done on the calling thread.
    pub(crate) fn nothing(nrhs: usize) -> Self {
        SolvePlan {
            nrhs,
            ..SolvePlan::default()
        }
    }

    /// Tasks of all codelets.
    pub fn task_count(&self) -> u64 {
        self.tasks.iter().sum()
    }

    /// Adds the tasks of so many blocks.
    pub(super) fn add(&mut self, tasks: &[TaskSpec], blocks: u64) {
        for task in tasks {
            self.tasks[usize::from(task.codelet.0)] += blocks;
            self.accesses += blocks * task.accesses.len() as u64;
            self.flops += blocks * task.flops;
        }
    }
}

/// The last four parameters of a task.
pub(super) fn size_params(columns: usize, fronts: usize, entries: u64) -> [u32; 4] {
    let (low, high) = (entries as u32, (entries >> 32) as u32);
    [columns as u32, fronts as u32, low, high]
}

/// What a task of a solve works on, by its parameters: `cols` are right-hand sides, `inner` the fronts of its bundle,
/// `entries` those of the factors that it reads; for `solve_begin` those of the vectors that it clears.
pub fn solve_geometry(params: &[u32; 6]) -> TaskGeometry {
    let [_, _, cols, inner, low, high] = *params;
    TaskGeometry {
        cols,
        inner,
        entries: u64::from(low) | u64::from(high) << 32,
        ..TaskGeometry::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_come_back_from_parameters() {
        let [a, b, c, d] = size_params(32, 7, (5 << 32) + 3);
        let read = solve_geometry(&[1, 2, a, b, c, d]);
        assert_eq!(
            (read.cols, read.inner, read.entries),
            (32, 7, (5 << 32) + 3)
        );
    }
}
