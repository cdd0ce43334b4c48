//! `eager`: one central queue, first in, first out; priorities are ignored.

use super::{Scene, Scheduler, SchedulerEntry, Wake};
use crate::spec::WorkerId;
use crate::sync::{AtomicUsize, Mutex, Ordering, lock};
use crate::task::ReadyTask;
use std::collections::VecDeque;

pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "eager",
    about: "one central queue, first in, first out",
    uses_models: false,
    create: |scene| {
        Box::new(Eager {
            scene,
            queue: Mutex::default(),
            len: AtomicUsize::new(0),
        })
    },
};

struct Eager<'s> {
    scene: Scene<'s>,
    queue: Mutex<VecDeque<ReadyTask>>,
    /// Length of `queue`, so that a pop from an empty one takes no lock. Written under the lock.
    len: AtomicUsize,
}

impl Scheduler for Eager<'_> {
    fn push(&self, task: ReadyTask, _: Option<WorkerId>) -> Wake {
        let mut queue = lock(&self.queue);
        queue.push_back(task);
        self.len.store(queue.len(), Ordering::Release);
        self.scene.wake_able()
    }

    fn pop(&self, worker: WorkerId) -> Option<ReadyTask> {
        if self.queued() == 0 {
            return None;
        }
        let mut queue = lock(&self.queue);
        let first = queue
            .iter()
            .position(|task| self.scene.can_run(worker, task))?;
        let task = queue.remove(first);
        self.len.store(queue.len(), Ordering::Release);
        task
    }

    fn queued(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }
}
