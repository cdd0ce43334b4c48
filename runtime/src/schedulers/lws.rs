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

use super::doors::{Occupied, TwoDoors};
use super::{Scene, Scheduler, SchedulerEntry, Wake};
use crate::spec::WorkerId;
use crate::sync::{Apart, AtomicBool, AtomicUsize, Ordering};
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
    turn: Apart<AtomicUsize>,
}

/// On cache lines of its own.
#[repr(align(128))]
struct Seat {
    queue: TwoDoors,
    busy: AtomicBool,
    /// The other workers, nearest first.
    victims: Vec<WorkerId>,
}

impl<'s> Lws<'s> {
    fn new(scene: Scene<'s>) -> Self {
        let seat = |worker| Seat {
            queue: TwoDoors::default(),
            busy: AtomicBool::new(false),
            victims: scene.nearest(worker).to_vec(),
        };
        Lws {
            scene,
            seats: (0..scene.workers()).map(seat).collect(),
            turn: Apart::default(),
        }
    }

    fn steal(&self, worker: WorkerId) -> Option<ReadyTask> {
        let thief = &self.seats[worker];
        let fit = |task: &Task| self.scene.can_run(worker, task);
        loop {
            let mut lost_a_race = false;
            for &victim in &thief.victims {
                let victim = &self.seats[victim];
                if victim.queue.is_empty() || !victim.busy.load(Ordering::Acquire) {
                    continue;
                }
                match victim.queue.try_pop(|queue| queue.pop_newest(fit)) {
                    Ok(None) => {}
                    Ok(task) => return task,
                    Err(Occupied) => lost_a_race = true,
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
        let first = by.unwrap_or_else(|| self.turn.0.fetch_add(1, Ordering::Relaxed) % workers);
        let target = self.scene.capable_from(first, &task);
        let queue = &self.seats[target].queue;
        match by {
            Some(_) => queue.push(task),
            None => queue.bring(task),
        }
        match by {
            _ if !self.scene.is_uniform() => Wake::All,
            Some(_) => Wake::Any,
            None => Wake::Prefer(target),
        }
    }

    fn pop(&self, worker: WorkerId) -> Option<ReadyTask> {
        let seat = &self.seats[worker];
        seat.busy.store(false, Ordering::Release);
        let own = match seat.queue.is_empty() {
            true => None,
            false => seat.queue.pop(|queue| queue.pop_oldest(|_| true)),
        };
        let task = own.or_else(|| self.steal(worker))?;
        seat.busy.store(true, Ordering::Release);
        Some(task)
    }

    fn queue_length(&self, worker: WorkerId) -> usize {
        self.seats[worker].queue.len()
    }

    fn queued(&self) -> usize {
        self.seats.iter().map(|seat| seat.queue.len()).sum()
    }
}
