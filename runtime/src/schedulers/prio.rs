//! `prio`: one central priority queue; first in, first out inside one priority.

use super::queue::PriorityQueue;
use super::{Scene, Scheduler, SchedulerEntry, Wake};
use crate::spec::WorkerId;
use crate::sync::{AtomicUsize, Mutex, Ordering, lock};
use crate::task::ReadyTask;

pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "prio",
    about: "one central queue by priority, oldest first inside one priority",
    uses_models: false,
    create: |scene| {
        Box::new(Prio {
            scene,
            queue: Mutex::default(),
            len: AtomicUsize::new(0),
        })
    },
};

struct Prio<'s> {
    scene: Scene<'s>,
    queue: Mutex<PriorityQueue>,
    /// Length of `queue`, so that a pop from an empty one takes no lock. Written under the lock.
    len: AtomicUsize,
}

impl Scheduler for Prio<'_> {
    fn push(&self, task: ReadyTask, _: Option<WorkerId>) -> Wake {
        let mut queue = lock(&self.queue);
        queue.push(task);
        self.len.store(queue.len(), Ordering::Release);
        self.scene.wake_able()
    }

    fn pop(&self, worker: WorkerId) -> Option<ReadyTask> {
        if self.queued() == 0 {
            return None;
        }
        let mut queue = lock(&self.queue);
        let task = queue.pop_oldest(|task| self.scene.can_run(worker, task));
        self.len.store(queue.len(), Ordering::Release);
        task
    }

    fn queued(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }
}
