//! Faults on purpose, for tests: what a run does when something goes wrong must be seen at every place where it can.
//!
//! Takes which task shall panic and which allocation shall fail; says when it is time. Knows no task but its number.

use crate::sync::{AtomicU64, Ordering};

/// Which faults a run shall have; none by default. Tests run all `k` of a small problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// This task, by its place in the order of submission from 0, panics instead of running.
    pub panic_in_task: Option<u32>,
    /// This allocation of a buffer by a task fails, counted from 0 as they happen, over all workers.
    pub fail_allocation: Option<u64>,
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

    /// Whether the allocation that is about to happen shall fail.
    pub(crate) fn in_allocation(&self) -> bool {
        let Some(fault) = self.faults.fail_allocation else {
            return false;
        };
        self.allocations.fetch_add(1, Ordering::Relaxed) == fault
    }
}
