//! What the tasks will do, counted from the plan: numbers of tasks, flops, memory, critical path.
//!
//! Times here are of a model with fixed rates per codelet: priorities come from them unless cost models are asked for, and
//! so must not depend on a measurement. Memory is that of a run in the order of submission.

use super::kept::Stage;
use super::{Plan, RunShape, codelet};
use crate::analysis::groups::Unit;
use crate::symbolic::Symbolic;
use std::sync::{Mutex, PoisonError};
use treeqr_runtime::{Access, TaskSpec};

/// What a factorization will do.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Flops of all tasks.
    pub flops: u64,
    /// Tasks by codelet, in the order of [`crate::CODELETS`].
    pub tasks: [u64; 9],
    /// Data accesses of all tasks.
    pub accesses: u64,
    /// Buffers allocated, and buffers freed.
    pub buffers: (u64, u64),
    /// Largest sum of buffers at a time when the tasks run in the order of submission, in bytes.
    pub peak_bytes: usize,
    /// Buffers that are left at the end: the factors, in bytes.
    pub factor_bytes: usize,
    /// Working memory of one worker, in bytes; not in the sums above.
    pub scratch_bytes: usize,
    /// What A itself takes meanwhile: values, and for each a row and a place among them, in bytes; not in the sums above.
    pub matrix_bytes: usize,
    /// What it takes, beside the factors, to bring in the dense rows that were split off, in bytes; about half of it stays. Not in the
    /// sums above; 0 where there are none.
    pub update_bytes: usize,
    /// Flops along the longest path through the task graph.
    pub critical_path_flops: u64,
    /// Time of all tasks in the model, in ns.
    pub model_ns: f64,
    /// Time along the longest path in the model, in ns.
    pub critical_path_ns: f64,
}

impl Prediction {
    /// Number of tasks.
    pub fn task_count(&self) -> u64 {
        self.tasks.iter().sum()
    }

    /// Time of all tasks over that of the longest path, in the model: how many workers the graph can keep busy.
    pub fn average_parallelism(&self) -> f64 {
        if self.critical_path_ns > 0.0 {
            self.model_ns / self.critical_path_ns
        } else {
            1.0
        }
    }
}

/// The last prediction of an analysis: a run of that shape is planned, watched and checked against it.
#[derive(Debug, Default)]
pub(crate) struct Predicted(Mutex<Option<(RunShape, Prediction)>>);

impl Clone for Predicted {
    /// Without it: the copy may be changed.
    fn clone(&self) -> Self {
        Predicted::default()
    }
}

impl Symbolic {
    /// What a factorization of this shape will do. O(tasks) the first time.
    pub fn predict(&self, shape: RunShape) -> Prediction {
        self.predicted(shape, || Plan::new(self, shape).predict())
    }

    /// The same for a plan that is there.
    pub(crate) fn predict_plan(&self, plan: &Plan<'_>) -> Prediction {
        self.predicted(plan.shape, || plan.predict())
    }

    fn predicted(&self, shape: RunShape, predict: impl FnOnce() -> Prediction) -> Prediction {
        let last = || {
            self.predicted
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some((_, prediction)) = last().as_ref().filter(|(of, _)| *of == shape) {
            return prediction.clone();
        }
        // Nobody waits for it: of two threads that come here at the same time one works in vain.
        let prediction = predict();
        *last() = Some((shape, prediction.clone()));
        prediction
    }
}

/// Model time of a task, in ns.
pub(crate) fn model_ns(plan: &Plan<'_>, task: &TaskSpec) -> f64 {
    let rate = match task.codelet {
        codelet::GEQRT => 20.0,
        codelet::TPQRT => 25.0,
        codelet::GEMQRT | codelet::TPMQRT => 45.0,
        codelet::DO_SUBTREE => {
            let Unit::Group(fronts) = plan.unit(task.params[0] as usize) else {
                return 0.0;
            };
            let entries: f64 = fronts
                .iter()
                .map(|&f| {
                    let front = plan.front(f as usize);
                    f64::from(front.m) * f64::from(front.n)
                })
                .sum();
            return 1000.0 + 400.0 * fronts.len() as f64 + 0.5 * entries + task.flops as f64 / 20.0;
        }
        // Copies: some ten microseconds for a tile; what matters is that they are not free.
        _ => return 10_000.0,
    };
    1000.0 + task.flops as f64 / rate
}

/// When a handle may be used next, by the dependencies of the sequential task flow.
#[derive(Clone, Copy, Default)]
struct Times {
    written: f64,
    read: f64,
    scattered: f64,
}

/// Longest paths ending in each task of a sequence: feed it the tasks in order (or in reverse order: the edges turn round
/// and the paths are those that start in the task).
struct LongestPath {
    times: Vec<Times>,
}

impl LongestPath {
    fn new(handles: usize) -> Self {
        LongestPath {
            times: vec![Times::default(); handles],
        }
    }

    /// Length of the longest path up to and with this task.
    fn visit(&mut self, task: &TaskSpec, length: f64) -> f64 {
        let mut start: f64 = 0.0;
        for &(h, access) in &task.accesses {
            let t = self.times[h.0 as usize];
            start = start.max(match access {
                Access::Read => t.written.max(t.scattered),
                Access::Scatter => t.written.max(t.read),
                Access::Write | Access::ReadWrite => t.written.max(t.read).max(t.scattered),
            });
        }
        let end = start + length;
        for &(h, access) in &task.accesses {
            let t = &mut self.times[h.0 as usize];
            match access {
                Access::Read => t.read = t.read.max(end),
                Access::Scatter => t.scattered = t.scattered.max(end),
                Access::Write | Access::ReadWrite => {
                    *t = Times {
                        written: end,
                        read: 0.0,
                        scattered: 0.0,
                    }
                }
            }
        }
        end
    }
}

impl Plan<'_> {
    pub fn predict(&self) -> Prediction {
        let mut out = Prediction {
            flops: 0,
            tasks: [0; 9],
            accesses: 0,
            buffers: (0, 0),
            peak_bytes: 0,
            factor_bytes: 0,
            scratch_bytes: self.scratch().bytes(self.shape.scalar_bytes),
            matrix_bytes: self.sym.nnz() * (self.shape.scalar_bytes + 2 * size_of::<u32>()),
            update_bytes: self.sym.update_entries() * self.shape.scalar_bytes,
            critical_path_flops: 0,
            model_ns: 0.0,
            critical_path_ns: 0.0,
        };
        let mut by_flops = LongestPath::new(self.handles());
        let mut by_time = LongestPath::new(self.handles());
        let mut longest_flops: f64 = 0.0;
        let mut now = 0usize;
        let mut tasks = Vec::new();
        for u in 0..self.sym.units.len() {
            tasks.clear();
            self.unit_tasks(u, &mut tasks);
            for task in &tasks {
                let ns = model_ns(self, task);
                out.flops += task.flops;
                out.tasks[task.codelet.0 as usize] += 1;
                out.model_ns += ns;
                longest_flops = longest_flops.max(by_flops.visit(task, task.flops as f64));
                out.critical_path_ns = out.critical_path_ns.max(by_time.visit(task, ns));
                out.accesses += task.accesses.len() as u64;
                let memory = self.memory_of(task);
                now += memory.allocated_bytes;
                out.peak_bytes = out.peak_bytes.max(now);
                now -= memory.freed_bytes;
                out.buffers.0 += memory.allocated;
                out.buffers.1 += memory.freed;
            }
        }
        out.critical_path_flops = longest_flops as u64;
        out.factor_bytes = now;
        out
    }

    /// What a task allocates, and what it frees.
    pub fn memory_of(&self, task: &TaskSpec) -> MemoryUse {
        let at = task.params[0] as usize;
        let mut out = MemoryUse::default();
        let mut take = |bytes: usize| {
            out.allocated += 1;
            out.allocated_bytes += bytes;
        };
        match task.codelet {
            codelet::DO_SUBTREE => {
                take(self.group_factor_bytes(at));
                if self.group_cb_bytes(at) > 0 {
                    take(self.group_cb_bytes(at));
                }
            }
            codelet::INIT_FRONT => {
                let (tiles, factors) = self.taken_with_column(at, task.params[1]);
                tiles.iter().for_each(|tile| take(tile.1));
                factors.iter().for_each(|factor| take(factor.bytes));
            }
            codelet::GEQRT | codelet::TPQRT => {
                if let Some(factor) = self.factor_taken(task) {
                    take(factor.bytes);
                }
            }
            codelet::CLEAN_FRONT => {
                let stage = Stage::of(&task.params);
                let mut free = |bytes: usize| {
                    out.freed += 1;
                    out.freed_bytes += bytes;
                };
                match self.unit(self.unit_of(at)) {
                    Unit::Group(_) => free(self.group_cb_bytes(self.unit_of(at))),
                    Unit::Tiled(_) => {
                        let released = self.releases_at(at, stage).into_iter();
                        released.for_each(|(_, bytes)| free(bytes));
                    }
                }
                // One after the other, so that there is never more than before.
                for cut in self.cuts(at, stage) {
                    free((cut.entries.0 - cut.entries.1) * self.shape.scalar_bytes);
                    out.allocated += 1;
                }
            }
            _ => {}
        }
        out
    }
}

/// Buffers and bytes that a task takes and gives back.
#[derive(Default)]
pub(crate) struct MemoryUse {
    allocated: u64,
    pub allocated_bytes: usize,
    freed: u64,
    pub freed_bytes: usize,
}

/// The bottom level of every task, in ns: the longest path from its start to the end of the graph, where tasks take as long
/// as `duration_ns` says. O(tasks).
pub(crate) fn bottom_levels(
    plan: &Plan<'_>,
    mut duration_ns: impl FnMut(&TaskSpec) -> f64,
) -> Vec<i64> {
    let mut tasks = Vec::new();
    let mut levels = Vec::new();
    let mut path = LongestPath::new(plan.handles());
    for u in (0..plan.sym.units.len()).rev() {
        tasks.clear();
        plan.unit_tasks(u, &mut tasks);
        levels.extend(
            tasks
                .iter()
                .rev()
                .map(|task| path.visit(task, duration_ns(task)) as i64),
        );
    }
    levels.reverse();
    levels
}
