//! Faults on purpose, for tests: what a run does when something goes wrong must be seen at every place where it can.
//!
//! Takes which task shall panic, which allocation shall fail and which worker shall be slow; says when it is time. Knows no task
//! but its number.

use crate::sync::{AtomicU64, Ordering};
use std::time::Instant;

/// Which faults a run shall have; none by default. Tests run all `k` of a small problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// This task, by its place in the order of submission from 0, panics instead of running.
    pub panic_in_task: Option<u32>,
    /// This worker takes so many times as long for each task, by waiting when it is done: a core that is slow. No results
    /// depend on it.
    pub slow_worker: Option<(usize, u32)>,
    /// This allocation by a task fails, of a buffer or of working memory, counted from 0 as they happen, over all workers.
    pub fail_allocation: Option<u64>,
    /// What a task takes with [`TaskContext::allocate_for_overwrite`](crate::TaskContext::allocate_for_overwrite) or
    /// [`working_memory`](crate::TaskContext::working_memory) is filled with bytes 0xFF first, NaN in every format. No result depends on it,
    /// unless a task reads of it what it has not written.
    pub poison: bool,
}

/// The faults of one run, at work.
pub(crate) struct ActiveFaults {
    faults: Faults,
    allocations: AtomicU64,
}

impl ActiveFaults {
    pub(crate) fn new(faults: Faults) -> Self {
        ActiveFaults {
            faults,
            allocations: AtomicU64::new(0),
        }
    }

    /// Panics if this is the task that shall.
    pub(crate) fn in_task(&self, id: u32) {
        if self.faults.panic_in_task == Some(id) {
            panic!("a fault was asked for in task {id}");
        }
    }

    /// Makes a task of `worker` take longer, of what `begin` gave.
    pub(crate) fn after_task(&self, worker: usize, begin: Option<Instant>) {
        if let (Some((_, factor)), Some(begin)) = (self.slow(worker), begin) {
            let until = begin + begin.elapsed() * factor;
            while Instant::now() < until {
                std::hint::spin_loop();
            }
        }
    }

    /// The beginning of a task of `worker`, where that matters.
    pub(crate) fn before_task(&self, worker: usize) -> Option<Instant> {
        self.slow(worker).map(|_| Instant::now())
    }

    fn slow(&self, worker: usize) -> Option<(usize, u32)> {
        self.faults.slow_worker.filter(|slow| slow.0 == worker)
    }

    /// Whether buffers that are to be overwritten hold NaN first.
    pub(crate) fn poison(&self) -> bool {
        self.faults.poison
    }

    /// Whether the allocation that is about to happen shall fail.
    pub(crate) fn in_allocation(&self) -> bool {
        let Some(fault) = self.faults.fail_allocation else {
            return false;
        };
        self.allocations.fetch_add(1, Ordering::Relaxed) == fault
    }
}
