//! `random`: each task goes to a worker drawn by lot, and nobody steals. The baseline: what a policy must beat.
//!
//! The lots are the same in every run (splitmix64 from a fixed start), but which task draws which depends on the order in
//! which tasks become ready.

use super::{Scene, Scheduler, SchedulerEntry, Wake};
use crate::spec::WorkerId;
use crate::sync::{AtomicU64, AtomicUsize, Mutex, Ordering, lock};
use crate::task::ReadyTask;
use std::collections::VecDeque;

pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "random",
    about: "each task to a worker drawn by lot: the baseline",
    uses_models: false,
    create: |scene| {
        Box::new(Random {
            scene,
            seats: std::iter::repeat_with(Seat::default)
                .take(scene.workers())
                .collect(),
            state: AtomicU64::new(0),
        })
    },
};

struct Random<'s> {
    scene: Scene<'s>,
    seats: Vec<Seat>,
    state: AtomicU64,
}

/// On cache lines of its own.
#[repr(align(128))]
#[derive(Default)]
struct Seat {
    queue: Mutex<VecDeque<ReadyTask>>,
    /// Length of `queue`. Written under its lock.
    len: AtomicUsize,
}

impl Random<'_> {
    fn draw(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let z = self.state.fetch_add(STEP, Ordering::Relaxed);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Scheduler for Random<'_> {
    fn push(&self, task: ReadyTask, _: Option<WorkerId>) -> Wake {
        let lot = self.draw() % self.seats.len() as u64;
        let target = self.scene.capable_from(lot as usize, &task);
        let seat = &self.seats[target];
        let mut queue = lock(&seat.queue);
        queue.push_back(task);
        seat.len.store(queue.len(), Ordering::Release);
        Wake::Only(target)
    }

    fn pop(&self, worker: WorkerId) -> Option<ReadyTask> {
        let seat = &self.seats[worker];
        if seat.len.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut queue = lock(&seat.queue);
        let task = queue.pop_front();
        seat.len.store(queue.len(), Ordering::Release);
        task
    }

    fn queue_length(&self, worker: WorkerId) -> usize {
        self.seats[worker].len.load(Ordering::Relaxed)
    }

    fn queued(&self) -> usize {
        let lens = self.seats.iter().map(|seat| &seat.len);
        lens.map(|len| len.load(Ordering::Acquire)).sum()
    }
}
