//! `prio`: one central priority queue; first in, first out inside one priority.

use super::doors::TwoDoors;
use super::{Scene, Scheduler, SchedulerEntry, Wake};
use crate::spec::WorkerId;
use crate::task::{ReadyTask, Task};

pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "prio",
    about: "one central queue by priority, oldest first inside one priority",
    uses_models: false,
    create: |scene| {
        Box::new(Prio {
            scene,
            queue: TwoDoors::default(),
        })
    },
};

struct Prio<'s> {
    scene: Scene<'s>,
    queue: TwoDoors,
}

impl Scheduler for Prio<'_> {
    fn push(&self, task: ReadyTask, by: Option<WorkerId>) -> Wake {
        match by {
            Some(_) => self.queue.push(task),
            None => self.queue.bring(task),
        }
        self.scene.wake_able()
    }

    fn pop(&self, worker: WorkerId) -> Option<ReadyTask> {
        if self.queue.is_empty() {
            return None;
        }
        let fit = |task: &Task| self.scene.can_run(worker, task);
        self.queue.pop(|queue| queue.pop_oldest(fit))
    }

    fn queued(&self) -> usize {
        self.queue.len()
    }
}
