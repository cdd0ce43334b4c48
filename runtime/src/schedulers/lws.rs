//! `lws`: one priority queue per worker; thieves go to the nearest worker by hardware distance.
//!
//! * Push: to the pushing worker's own queue; what the submission makes ready goes to the workers in turn.
//! * Pop: own queue, highest priority, oldest first.
//! * Steal: from the nearest worker that is busy and has tasks, one task: highest priority, newest. The owner of tasks
//!   that is idle is left alone, it is about to take them. A queue that somebody else has locked is passed over and
//!   looked at again before the thief gives up.
//!
//! A worker is *busy* from a pop that gave it a task to its next pop.

use super::queue::PriorityQueue;
use super::{Scheduler, SchedulerEntry, Wake};
use crate::spec::WorkerId;
use crate::sync::{AtomicBool, AtomicUsize, Mutex, MutexGuard, Ordering, TryLockError, lock};
use crate::task::ReadyTask;
use crate::topology::Platform;

pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "lws",
    about: "one queue by priority per worker; thieves take from the nearest busy worker",
    create: |platform| Box::new(Lws::new(platform)),
};

struct Lws {
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
        which: fn(&mut PriorityQueue) -> Option<ReadyTask>,
    ) -> Option<ReadyTask> {
        let task = which(&mut queue);
        self.len.store(queue.len(), Ordering::Release);
        task
    }

    fn is_empty(&self) -> bool {
        self.len.load(Ordering::Acquire) == 0
    }
}

impl Lws {
    fn new(platform: &Platform) -> Self {
        let seat = |worker| Seat {
            queue: Mutex::default(),
            len: AtomicUsize::new(0),
            busy: AtomicBool::new(false),
            victims: platform.nearest(worker).to_vec(),
        };
        Lws {
            seats: (0..platform.workers()).map(seat).collect(),
            turn: AtomicUsize::new(0),
        }
    }

    fn steal(&self, thief: &Seat) -> Option<ReadyTask> {
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
                if let Some(task) = victim.take(queue, PriorityQueue::pop_newest) {
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

impl Scheduler for Lws {
    fn push(&self, task: ReadyTask, by: Option<WorkerId>) -> Wake {
        let workers = self.seats.len();
        let target = by.unwrap_or_else(|| self.turn.fetch_add(1, Ordering::Relaxed) % workers);
        let seat = &self.seats[target];
        let mut queue = lock(&seat.queue);
        queue.push(task);
        seat.len.store(queue.len(), Ordering::Release);
        drop(queue);
        match by {
            Some(_) => Wake::Any,
            None => Wake::Prefer(target),
        }
    }

    fn pop(&self, worker: WorkerId) -> Option<ReadyTask> {
        let seat = &self.seats[worker];
        seat.busy.store(false, Ordering::Release);
        let own = match seat.is_empty() {
            true => None,
            false => seat.take(lock(&seat.queue), PriorityQueue::pop_oldest),
        };
        let task = own.or_else(|| self.steal(seat))?;
        seat.busy.store(true, Ordering::Release);
        Some(task)
    }

    fn queued(&self) -> usize {
        let lens = self.seats.iter().map(|seat| &seat.len);
        lens.map(|len| len.load(Ordering::Acquire)).sum()
    }
}
