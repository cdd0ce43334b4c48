//! `ws`: one deque per worker, and stealing round-robin; priorities are ignored.
//!
//! A worker pushes to its own deque and pops its newest task (whose data it has just touched); what the submission makes
//! ready is dealt round-robin. A worker without tasks steals the oldest task of the next worker that has one, going on
//! from the victim before. The deques are crossbeam's; the lock is on the owner's end only, for the submission's pushes.
//! Where workers differ, a task goes to the next worker that can run it, and thieves keep to workers of their own kind
//! (a thief can't see what it takes before it has it).

use super::{Scene, Scheduler, SchedulerEntry, Wake};
use crate::spec::WorkerId;
use crate::sync::{AtomicUsize, Mutex, Ordering, lock};
use crate::task::ReadyTask;
use crossbeam_deque::{Steal, Stealer, Worker};

pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "ws",
    about: "one deque per worker, newest first; thieves take the oldest, round-robin",
    uses_models: false,
    create: |scene| Box::new(Ws::new(scene)),
};

struct Ws<'s> {
    scene: Scene<'s>,
    seats: Vec<Seat>,
    /// Whose turn it is to get a task from the submission.
    turn: AtomicUsize,
}

struct Seat {
    own: Mutex<Worker<ReadyTask>>,
    stealer: Stealer<ReadyTask>,
    /// The victim of the last theft.
    victim: AtomicUsize,
}

impl<'s> Ws<'s> {
    fn new(scene: Scene<'s>) -> Self {
        let seat = |worker| {
            let own = Worker::new_lifo();
            Seat {
                stealer: own.stealer(),
                own: Mutex::new(own),
                victim: AtomicUsize::new(worker),
            }
        };
        Ws {
            scene,
            seats: (0..scene.workers()).map(seat).collect(),
            turn: AtomicUsize::new(0),
        }
    }

    fn steal(&self, worker: WorkerId) -> Option<ReadyTask> {
        let workers = self.seats.len();
        let last = self.seats[worker].victim.load(Ordering::Relaxed);
        loop {
            let mut lost_a_race = false;
            for step in 1..=workers {
                let victim = (last + step) % workers;
                if victim == worker || self.scene.place(victim) != self.scene.place(worker) {
                    continue;
                }
                match self.seats[victim].stealer.steal() {
                    Steal::Success(task) => {
                        self.seats[worker].victim.store(victim, Ordering::Relaxed);
                        return Some(task);
                    }
                    Steal::Retry => lost_a_race = true,
                    Steal::Empty => {}
                }
            }
            if !lost_a_race {
                return None;
            }
        }
    }
}

impl Scheduler for Ws<'_> {
    fn push(&self, task: ReadyTask, by: Option<WorkerId>) -> Wake {
        let workers = self.seats.len();
        let first = by.unwrap_or_else(|| self.turn.fetch_add(1, Ordering::Relaxed) % workers);
        let target = self.scene.capable_from(first, &task);
        lock(&self.seats[target].own).push(task);
        match by {
            _ if !self.scene.is_uniform() => Wake::All,
            Some(_) => Wake::Any,
            None => Wake::Prefer(target),
        }
    }

    fn pop(&self, worker: WorkerId) -> Option<ReadyTask> {
        let own = lock(&self.seats[worker].own).pop();
        own.or_else(|| self.steal(worker))
    }

    fn queued(&self) -> usize {
        self.seats.iter().map(|seat| seat.stealer.len()).sum()
    }
}
