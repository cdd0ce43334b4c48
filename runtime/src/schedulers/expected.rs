//! The machinery of `dm`, `dmda`, `dmdas` and `dmdasd`: each task is queued, when it becomes ready, at the worker where
//! it is expected to end first.
//!
//! Takes predicted durations and transfers from the world; gives each worker its own queue. Knows no way to measure.
//!
//! ```text
//!   a worker    exp_start     when what is queued can begin            exp_len       predicted length of what is queued
//!               pipeline_len  predicted length of what is running
//!
//!   push        for every worker that can run the task
//!                 avail   = max(exp_start, now) + exp_len           (dmdasd: + the queued work of >= its priority)
//!                 end     = max(avail, now + transfer) + length     (dm: transfer = 0)
//!                 fitness = alpha (end - smallest end) + beta transfer,  alpha = beta = 1; the smallest wins, the first of
//!                                                                        equals
//!   commit      exp_len += max(0, now + transfer - exp_end) + length,   exp_end = max(exp_start, now) + exp_len;
//!               prefetch the data; append (dmda), or behind all of >= priority (dmdas, dmdasd)
//!   pop         the first; with data_first, of those with its priority the one that lacks the fewest bytes here;
//!               its work moves from exp_len to pipeline_len, exp_start = max(now + pipeline_len, exp_start)
//!   done        pipeline_len loses it,                      exp_start = max(now + pipeline_len, exp_start)
//! ```
//!
//! A kind of worker for which the task has no model yet comes first: of such workers the one with the fewest tasks, the
//! first of equals. So every pair of codelet and kind is measured before it is trusted.

use super::{Scene, Scheduler, Wake};
use crate::spec::{TaskId, WorkerId};
use crate::sync::{AtomicU64, AtomicUsize, Mutex, Ordering, lock};
use crate::task::{ReadyTask, Task};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// In what the four differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    /// Transfers count in the decision, and data is brought ahead.
    pub(super) transfers: bool,
    /// Queues are sorted by priority.
    pub(super) by_priority: bool,
    /// Of tasks of the first's priority, those go first whose data is there.
    pub(super) data_first: bool,
    /// Only work of at least the task's priority counts as queued before it.
    pub(super) only_ahead: bool,
}

const ALPHA: f64 = 1.0;
const BETA: f64 = 1.0;

pub(super) struct Expected<'s> {
    scene: Scene<'s>,
    policy: Policy,
    seats: Mutex<Vec<Seat>>,
    /// Lengths of the queues, so that a pop from an empty one takes no lock. Written under the lock.
    lens: Vec<AtomicUsize>,
    /// Tasks so far: the age of the next.
    pushed: AtomicU64,
}

#[derive(Default)]
pub(super) struct Seat {
    queue: BTreeMap<(Reverse<i64>, u64), Queued>,
    pub(super) exp_start: f64,
    pub(super) exp_len: f64,
    pub(super) pipeline_len: f64,
    /// Assigned and not popped; more than are in `queue` while data is prefetched.
    assigned: usize,
    running: Vec<(TaskId, f64)>,
}

struct Queued {
    task: ReadyTask,
    /// Its part of `exp_len`.
    work: f64,
}

/// Where a task goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) worker: WorkerId,
    /// Predicted; 0 if unknown.
    pub(super) length: f64,
    pub(super) transfer: f64,
}

impl<'s> Expected<'s> {
    pub(super) fn new(scene: Scene<'s>, policy: Policy) -> Self {
        let workers = scene.workers();
        Expected {
            scene,
            policy,
            seats: Mutex::new(
                std::iter::repeat_with(Seat::default)
                    .take(workers)
                    .collect(),
            ),
            lens: std::iter::repeat_with(Default::default)
                .take(workers)
                .collect(),
            pushed: AtomicU64::new(0),
        }
    }

    /// The decision, at time `now`.
    fn choose(&self, seats: &[Seat], task: &Task, now: f64) -> Choice {
        let world = self.scene.world();
        let mut ends: Vec<(f64, Choice)> = Vec::with_capacity(seats.len());
        let mut unknown: Option<Choice> = None;
        // Neighbours are mostly alike: each question is asked once for them.
        let mut last = None;
        for worker in self.scene.able(0..seats.len(), task) {
            let place = self.scene.place(worker);
            let (length, transfer) = match last {
                Some((known, costs)) if known == place => costs,
                _ => {
                    let transfer = match self.policy.transfers && !self.scene.is_uniform() {
                        true => world.transfer_ns(task, place.memory),
                        false => 0.0,
                    };
                    (world.duration_ns(task, place.arch), transfer)
                }
            };
            last = Some((place, (length, transfer)));
            let seat = &seats[worker];
            match length {
                None => {
                    let load = |w: WorkerId| seats[w].assigned + seats[w].running.len();
                    if unknown.is_none_or(|best| load(worker) < load(best.worker)) {
                        unknown = Some(Choice {
                            worker,
                            length: 0.0,
                            transfer,
                        });
                    }
                }
                Some(length) if unknown.is_none() => {
                    let queued = match self.policy.only_ahead {
                        true => seat.ahead_of(task.priority()),
                        false => seat.exp_len,
                    };
                    let avail = seat.exp_start.max(now) + queued;
                    let end = avail.max(now + transfer) + length;
                    let choice = Choice {
                        worker,
                        length,
                        transfer,
                    };
                    ends.push((end, choice));
                }
                Some(_) => {}
            }
        }
        if let Some(choice) = unknown {
            return choice;
        }
        let smallest = ends
            .iter()
            .map(|(end, _)| *end)
            .fold(f64::INFINITY, f64::min);
        let fitness =
            |(end, choice): &(f64, Choice)| ALPHA * (end - smallest) + BETA * choice.transfer;
        let best = ends
            .iter()
            .min_by(|a, b| fitness(a).total_cmp(&fitness(b)))
            .expect("a task that no worker can run is not accepted");
        best.1
    }

    fn now(&self) -> f64 {
        self.scene.world().now_ns() as f64
    }

    #[cfg(test)]
    pub(super) fn with_seat<R>(&self, worker: WorkerId, look: impl FnOnce(&Seat) -> R) -> R {
        look(&lock(&self.seats)[worker])
    }
}

impl Seat {
    fn ahead_of(&self, priority: i64) -> f64 {
        let ahead = self.queue.range(..=(Reverse(priority), u64::MAX));
        ahead.map(|(_, queued)| queued.work).sum()
    }

    fn start_no_earlier(&mut self, now: f64) {
        self.exp_start = self.exp_start.max(now + self.pipeline_len);
    }
}

impl Scheduler for Expected<'_> {
    fn push(&self, task: ReadyTask, _: Option<WorkerId>) -> Wake {
        let now = self.now();
        let mut seats = lock(&self.seats);
        let Choice {
            worker,
            length,
            transfer,
        } = self.choose(&seats, &task, now);
        let seat = &mut seats[worker];
        let exp_end = seat.exp_start.max(now) + seat.exp_len;
        let work = (now + transfer - exp_end).max(0.0) + length;
        seat.exp_len += work;
        seat.assigned += 1;
        if self.policy.transfers && !self.scene.is_uniform() {
            // Copies take time: nobody waits for them, and nobody can pop the task before it is queued.
            drop(seats);
            let memory = self.scene.place(worker).memory;
            self.scene.world().prefetch(&task, memory);
            seats = lock(&self.seats);
        }
        let seat = &mut seats[worker];
        let level = Reverse(if self.policy.by_priority {
            task.priority()
        } else {
            0
        });
        let age = self.pushed.fetch_add(1, Ordering::Relaxed);
        seat.queue.insert((level, age), Queued { task, work });
        self.lens[worker].store(seat.queue.len(), Ordering::Release);
        Wake::Only(worker)
    }

    fn pop(&self, worker: WorkerId) -> Option<ReadyTask> {
        if self.lens[worker].load(Ordering::Acquire) == 0 {
            return None;
        }
        let now = self.now();
        let mut seats = lock(&self.seats);
        let seat = &mut seats[worker];
        let (&first, _) = seat.queue.first_key_value()?;
        let mut key = first;
        if self.policy.data_first && !self.scene.is_uniform() {
            let memory = self.scene.place(worker).memory;
            let missing = |task: &Task| self.scene.world().missing(task, memory);
            let level = seat.queue.range(first..=(first.0, u64::MAX));
            let nearest = level.min_by_key(|(_, queued)| missing(&queued.task));
            key = nearest.map_or(first, |(&key, _)| key);
        }
        let Queued { task, work } = seat.queue.remove(&key)?;
        seat.assigned -= 1;
        // Sums of differences drift; an empty queue has no work.
        seat.exp_len = match seat.assigned {
            0 => 0.0,
            _ => (seat.exp_len - work).max(0.0),
        };
        seat.pipeline_len += work;
        seat.running.push((task.id(), work));
        seat.start_no_earlier(now);
        self.lens[worker].store(seat.queue.len(), Ordering::Release);
        Some(task)
    }

    fn done(&self, task: &Task, worker: WorkerId) {
        let now = self.now();
        let seat = &mut lock(&self.seats)[worker];
        if let Some(at) = seat.running.iter().position(|(id, _)| *id == task.id()) {
            let (_, work) = seat.running.swap_remove(at);
            seat.pipeline_len = match seat.running.is_empty() {
                true => 0.0,
                false => (seat.pipeline_len - work).max(0.0),
            };
            seat.start_no_earlier(now);
        }
    }

    fn queue_length(&self, worker: WorkerId) -> usize {
        self.lens[worker].load(Ordering::Relaxed)
    }

    fn queued(&self) -> usize {
        let lens = self.lens.iter();
        lens.map(|len| len.load(Ordering::Acquire)).sum()
    }
}
