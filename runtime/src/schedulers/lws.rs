//! `lws`: one priority queue per worker; thieves go to the nearest worker by hardware distance.
//!
//! * Push: to the pushing worker's own queue; what the submission makes ready goes to the workers in turn.
//! * Pop: own queue, highest priority, oldest first.
//! * Steal: from the nearest worker that is busy and has tasks, one task: highest priority, newest. The owner of tasks
//!   that is idle is left alone, it is about to take them. A queue that somebody else has locked is passed over and
//!   looked at again before the thief gives up.
//!
//! Where workers differ, a push goes on from its target to the next worker that can run the task, and thieves pass over
//! what they can't run.
//!
//! A worker is *busy* from a pop that gave it a task to its next pop.

use super::queue::PriorityQueue;
use super::{Scene, Scheduler, SchedulerEntry, Wake};
use crate::spec::WorkerId;
use crate::sync::{AtomicBool, AtomicUsize, Mutex, MutexGuard, Ordering, TryLockError, lock};
use crate::task::{ReadyTask, Task};

pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "lws",
    about: "one queue by priority per worker; thieves take from the nearest busy worker",
    uses_models: false,
    create: |scene| Box::new(Lws::new(scene)),
};

struct Lws<'s> {
    scene: Scene<'s>,
    seats: Vec<Seat>,
    /// Whose turn it is to get a task from the submission.
    turn: AtomicUsize,
}

/// On cache lines of its own.
#[repr(align(128))]
struct Seat {
    queue: Mutex<PriorityQueue>,
    /// Length of `queue`. Written under its lock.
    len: AtomicUsize,
    busy: AtomicBool,
    /// The other workers, nearest first.
    victims: Vec<WorkerId>,
}

impl Seat {
    fn take(
        &self,
        mut queue: MutexGuard<'_, PriorityQueue>,
        which: impl FnOnce(&mut PriorityQueue) -> Option<ReadyTask>,
    ) -> Option<ReadyTask> {
        let task = which(&mut queue);
        self.len.store(queue.len(), Ordering::Release);
        task
    }

    fn is_empty(&self) -> bool {
        self.len.load(Ordering::Acquire) == 0
    }
}

impl<'s> Lws<'s> {
    fn new(scene: Scene<'s>) -> Self {
        let seat = |worker| Seat {
            queue: Mutex::default(),
            len: AtomicUsize::new(0),
            busy: AtomicBool::new(false),
            victims: scene.nearest(worker).to_vec(),
        };
        Lws {
            scene,
            seats: (0..scene.workers()).map(seat).collect(),
            turn: AtomicUsize::new(0),
        }
    }

    fn steal(&self, worker: WorkerId) -> Option<ReadyTask> {
        let thief = &self.seats[worker];
        let fit = |task: &Task| self.scene.can_run(worker, task);
        loop {
            let mut lost_a_race = false;
            for &victim in &thief.victims {
                let victim = &self.seats[victim];
                if victim.is_empty() || !victim.busy.load(Ordering::Acquire) {
                    continue;
                }
                let queue = match victim.queue.try_lock() {
                    Ok(queue) => queue,
                    Err(TryLockError::Poisoned(held)) => held.into_inner(),
                    Err(TryLockError::WouldBlock) => {
                        lost_a_race = true;
                        continue;
                    }
                };
                if let Some(task) = victim.take(queue, |queue| queue.pop_newest(fit)) {
                    return Some(task);
                }
            }
            if !lost_a_race {
                return None;
            }
            std::hint::spin_loop();
        }
    }
}

impl Scheduler for Lws<'_> {
    fn push(&self, task: ReadyTask, by: Option<WorkerId>) -> Wake {
        let workers = self.seats.len();
        let first = by.unwrap_or_else(|| self.turn.fetch_add(1, Ordering::Relaxed) % workers);
        let target = self.scene.capable_from(first, &task);
        let seat = &self.seats[target];
        let mut queue = lock(&seat.queue);
        queue.push(task);
        seat.len.store(queue.len(), Ordering::Release);
        drop(queue);
        match by {
            _ if !self.scene.is_uniform() => Wake::All,
            Some(_) => Wake::Any,
            None => Wake::Prefer(target),
        }
    }

    fn pop(&self, worker: WorkerId) -> Option<ReadyTask> {
        let seat = &self.seats[worker];
        seat.busy.store(false, Ordering::Release);
        let own = match seat.is_empty() {
            true => None,
            false => seat.take(lock(&seat.queue), |queue| queue.pop_oldest(|_| true)),
        };
        let task = own.or_else(|| self.steal(worker))?;
        seat.busy.store(true, Ordering::Release);
        Some(task)
    }

    fn queue_length(&self, worker: WorkerId) -> usize {
        self.seats[worker].len.load(Ordering::Relaxed)
    }

    fn queued(&self) -> usize {
        let lens = self.seats.iter().map(|seat| &seat.len);
        lens.map(|len| len.load(Ordering::Acquire)).sum()
    }
}
