//! `ws`: one deque per worker, and stealing round-robin; priorities are ignored.
//!
//! A worker pushes to its own deque and pops its newest task (whose data it has just touched); what the submission makes
//! ready is dealt round-robin. A worker without tasks steals the oldest task of the next worker that has one, going on
//! from the victim before. The deques are crossbeam's; the lock is on the owner's end only, for the submission's pushes.
//! Where workers differ, a task goes to the next worker that can run it. One that not all can run lies beside the deque, in
//! a list under a lock: a thief must see what it takes before it has it, and a deque can't show it. A worker looks there when
//! its deque is empty, a thief when the victim's is; both take the oldest that they can run.

use super::{Scene, Scheduler, SchedulerEntry, Wake};
use crate::spec::WorkerId;
use crate::sync::{Apart, AtomicUsize, Mutex, Ordering, lock};
use crate::task::{ReadyTask, Task};
use crossbeam_deque::{Steal, Stealer, Worker};
use std::collections::VecDeque;

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
    turn: Apart<AtomicUsize>,
}

/// On cache lines of its own.
#[repr(align(128))]
struct Seat {
    own: Mutex<Worker<ReadyTask>>,
    stealer: Stealer<ReadyTask>,
    /// Tasks that not every worker can run.
    special: Mutex<VecDeque<ReadyTask>>,
    /// Length of `special`. Written under its lock.
    specials: AtomicUsize,
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
                special: Mutex::default(),
                specials: AtomicUsize::new(0),
                victim: AtomicUsize::new(worker),
            }
        };
        Ws {
            scene,
            seats: (0..scene.workers()).map(seat).collect(),
            turn: Apart::default(),
        }
    }

    /// The oldest task beside the deque of `owner` that `worker` can run.
    fn special(&self, owner: WorkerId, worker: WorkerId) -> Option<ReadyTask> {
        let seat = &self.seats[owner];
        if seat.specials.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut special = lock(&seat.special);
        let mut tasks = special.iter();
        let first = tasks.position(|task| self.scene.can_run(worker, task))?;
        let task = special.remove(first);
        seat.specials.store(special.len(), Ordering::Release);
        task
    }

    fn steal(&self, worker: WorkerId) -> Option<ReadyTask> {
        let workers = self.seats.len();
        let last = self.seats[worker].victim.load(Ordering::Relaxed);
        loop {
            let mut lost_a_race = false;
            for step in 1..=workers {
                let victim = (last + step) % workers;
                if victim == worker {
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
                if let Some(task) = self.special(victim, worker) {
                    return Some(task);
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
        let first = by.unwrap_or_else(|| self.turn.0.fetch_add(1, Ordering::Relaxed) % workers);
        let target = self.scene.capable_from(first, &task);
        let seat = &self.seats[target];
        let all = |task: &Task| (0..workers).all(|worker| self.scene.can_run(worker, task));
        if self.scene.is_uniform() || all(&task) {
            lock(&seat.own).push(task);
        } else {
            let mut special = lock(&seat.special);
            special.push_back(task);
            seat.specials.store(special.len(), Ordering::Release);
        }
        match by {
            _ if !self.scene.is_uniform() => Wake::All,
            Some(_) => Wake::Any,
            None => Wake::Prefer(target),
        }
    }

    fn pop(&self, worker: WorkerId) -> Option<ReadyTask> {
        let own = lock(&self.seats[worker].own).pop();
        own.or_else(|| self.special(worker, worker))
            .or_else(|| self.steal(worker))
    }

    fn queue_length(&self, worker: WorkerId) -> usize {
        let seat = &self.seats[worker];
        seat.stealer.len() + seat.specials.load(Ordering::Relaxed)
    }

    fn queued(&self) -> usize {
        let len = |seat: &Seat| seat.stealer.len() + seat.specials.load(Ordering::Acquire);
        self.seats.iter().map(len).sum()
    }
}
