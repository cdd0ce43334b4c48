//! `eager`: one central queue, first in, first out; priorities are ignored.

use super::{Scheduler, SchedulerEntry, Wake};
use crate::spec::WorkerId;
use crate::sync::{AtomicUsize, Mutex, Ordering, lock};
use crate::task::ReadyTask;
use std::collections::VecDeque;

pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "eager",
    about: "one central queue, first in, first out",
    create: |_| Box::new(Eager::default()),
};

#[derive(Default)]
struct Eager {
    queue: Mutex<VecDeque<ReadyTask>>,
    /// Length of `queue`, so that a pop from an empty one takes no lock. Written under the lock.
    len: AtomicUsize,
}

impl Scheduler for Eager {
    fn push(&self, task: ReadyTask, _: Option<WorkerId>) -> Wake {
        let mut queue = lock(&self.queue);
        queue.push_back(task);
        self.len.store(queue.len(), Ordering::Release);
        Wake::Any
    }

    fn pop(&self, _: WorkerId) -> Option<ReadyTask> {
        if self.queued() == 0 {
            return None;
        }
        let mut queue = lock(&self.queue);
        let task = queue.pop_front();
        self.len.store(queue.len(), Ordering::Release);
        task
    }

    fn queued(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }
}
