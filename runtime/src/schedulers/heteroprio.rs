//! `heteroprio`: buckets of like tasks; each kind of worker looks through them in an order of its own, what it is good at
//! first, and takes from a bucket where another kind is faster only while that kind has plenty to do there.
//!
//! * A bucket holds, first in first out, the tasks of one codelet that the same kinds of workers can run. It knows these
//!   kinds, the fastest of them, and per kind a slow factor: how many times longer than on the fastest it takes there.
//! * Order of kind a: falling slow factor on the best *other* kind over that on a; of equals the bucket that is older. So
//!   a device begins with what it accelerates most, and a CPU with what a device accelerates least.
//! * Pop by a worker of kind a: while its own queue is shorter than its prefetch depth, it takes from the front of the
//!   first bucket in a's order that has tasks and where a is the fastest, or
//!
//! ```text
//!       tasks in the bucket / workers of the fastest kind  >=  slow factor of a
//! ```
//!
//!   Then it runs the task of highest priority of its own queue. If it has none, it steals from the next worker of its
//!   kind, going round, the best that this one has.
//! * Prefetch depth: 2 for workers with a memory of their own, whose data is then brought ahead; 1 on the host.
//!
//! Slow factors come from the cost models, over the tasks that were pushed so far. Until all kinds of a bucket are measured
//! any of them may take from it.
//!
//! `heteroprio25` has every slow factor fixed at 25, as a published study had it, and leaves CPUs idle where a device is less
//! than 25 times faster. It is there for the comparison.

use super::queue::PriorityQueue;
use super::{Arch, Scene, Scheduler, SchedulerEntry, Wake};
use crate::spec::{CodeletId, WorkerId};
use crate::store::MemoryNode;
use crate::sync::{AtomicUsize, Mutex, Ordering, lock};
use crate::task::{ReadyTask, Task};
use std::collections::VecDeque;

pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "heteroprio",
    about: "buckets of like tasks; each kind of worker begins with what it is best at",
    uses_models: true,
    create: |scene| Box::new(Heteroprio::new(scene, None)),
};

pub(super) const FIXED: SchedulerEntry = SchedulerEntry {
    name: "heteroprio25",
    about: "heteroprio that thinks a device 25 times as fast as a CPU whatever the task: what a naive model costs",
    uses_models: true,
    create: |scene| Box::new(Heteroprio::new(scene, Some(25.0))),
};

const DEVICE_DEPTH: usize = 2;

struct Heteroprio<'s> {
    scene: Scene<'s>,
    /// Workers by kind.
    crews: Vec<Vec<WorkerId>>,
    /// The slow factor of all, instead of the measured ones.
    fixed_slow_factor: Option<f64>,
    state: Mutex<State>,
    /// Tasks in buckets and own queues. Written under the lock.
    len: AtomicUsize,
}

#[derive(Default)]
struct State {
    buckets: Vec<Bucket>,
    /// By worker.
    own: Vec<PriorityQueue>,
}

struct Bucket {
    codelet: CodeletId,
    /// By kind, as all that follows.
    allowed: Vec<bool>,
    /// Predicted time of the tasks that were pushed while all kinds were measured.
    time: Vec<f64>,
    measured: bool,
    queue: VecDeque<ReadyTask>,
}

impl Bucket {
    /// The fastest kind; the first of equals.
    fn fastest(&self) -> Arch {
        let kinds = (0..self.allowed.len()).filter(|&a| self.allowed[a]);
        let fastest = kinds.min_by(|&a, &b| self.time[a].total_cmp(&self.time[b]));
        Arch(fastest.expect("somebody can run every task") as u16)
    }

    /// Time on `arch` over that on the fastest kind; 1 as long as it is not known.
    fn slow_factor(&self, arch: Arch) -> f64 {
        let fastest = self.time[self.fastest().0 as usize];
        if fastest > 0.0 {
            self.time[arch.0 as usize] / fastest
        } else {
            1.0
        }
    }

    /// Time on the best other kind over that on `arch`; infinite where there is no other.
    fn advantage(&self, arch: Arch) -> f64 {
        let arch = arch.0 as usize;
        let others = (0..self.allowed.len()).filter(|&other| other != arch && self.allowed[other]);
        let best = others
            .map(|other| self.time[other])
            .fold(f64::INFINITY, f64::min);
        if self.time[arch] > 0.0 {
            best / self.time[arch]
        } else if best.is_infinite() {
            best
        } else {
            1.0
        }
    }

    fn gives_to(&self, arch: Arch, crews: &[Vec<WorkerId>], fixed: Option<f64>) -> bool {
        if !self.allowed[arch.0 as usize] || self.queue.is_empty() {
            return false;
        }
        let fastest = self.fastest();
        !self.measured
            || fastest == arch
            || self.queue.len() as f64 / crews[fastest.0 as usize].len() as f64
                >= fixed.unwrap_or_else(|| self.slow_factor(arch))
    }
}

impl<'s> Heteroprio<'s> {
    fn new(scene: Scene<'s>, fixed_slow_factor: Option<f64>) -> Self {
        let mut crews = vec![Vec::new(); scene.archs()];
        for worker in 0..scene.workers() {
            crews[scene.place(worker).arch.0 as usize].push(worker);
        }
        Heteroprio {
            scene,
            crews,
            fixed_slow_factor,
            state: Mutex::new(State {
                buckets: Vec::new(),
                own: std::iter::repeat_with(PriorityQueue::default)
                    .take(scene.workers())
                    .collect(),
            }),
            len: AtomicUsize::new(0),
        }
    }

    /// The kinds that can run `task`.
    fn allowed(&self, task: &Task) -> Vec<bool> {
        let can = |crew: &Vec<WorkerId>| {
            let able = self.scene.able(crew.iter().copied(), task).count();
            !crew.is_empty() && able == crew.len()
        };
        self.crews.iter().map(can).collect()
    }

    fn depth(&self, worker: WorkerId) -> usize {
        if self.scene.place(worker).memory == MemoryNode::HOST {
            1
        } else {
            DEVICE_DEPTH
        }
    }

    /// The next task from the buckets for a worker of kind `arch`.
    fn take(&self, buckets: &mut [Bucket], arch: Arch) -> Option<ReadyTask> {
        let giving = buckets
            .iter_mut()
            .filter(|bucket| bucket.gives_to(arch, &self.crews, self.fixed_slow_factor));
        // The first of the largest: `max_by` would take the last.
        let best = giving.reduce(|best, next| {
            if next.advantage(arch) > best.advantage(arch) {
                next
            } else {
                best
            }
        });
        best?.queue.pop_front()
    }
}

impl Scheduler for Heteroprio<'_> {
    fn push(&self, task: ReadyTask, _: Option<WorkerId>) -> Wake {
        let world = self.scene.world();
        let allowed = self.allowed(&task);
        let times: Vec<Option<f64>> = (0..self.crews.len())
            .map(|a| match allowed[a] && self.crews.len() > 1 {
                true => world.duration_ns(&task, Arch(a as u16)),
                false => Some(0.0),
            })
            .collect();
        let mut state = lock(&self.state);
        let buckets = &mut state.buckets;
        let same = |bucket: &Bucket| bucket.codelet == task.codelet() && bucket.allowed == allowed;
        let at = buckets.iter().position(same).unwrap_or_else(|| {
            buckets.push(Bucket {
                codelet: task.codelet(),
                time: vec![0.0; allowed.len()],
                allowed,
                measured: false,
                queue: VecDeque::new(),
            });
            buckets.len() - 1
        });
        let bucket = &mut buckets[at];
        bucket.measured = times.iter().all(Option::is_some);
        if bucket.measured {
            for (sum, time) in bucket.time.iter_mut().zip(times) {
                *sum += time.unwrap_or(0.0);
            }
        }
        bucket.queue.push_back(task);
        self.len.fetch_add(1, Ordering::Release);
        self.scene.wake_able()
    }

    fn pop(&self, worker: WorkerId) -> Option<ReadyTask> {
        if self.queued() == 0 {
            return None;
        }
        let arch = self.scene.place(worker).arch;
        let mut state = lock(&self.state);
        let State { buckets, own } = &mut *state;
        while own[worker].len() < self.depth(worker) {
            let Some(task) = self.take(buckets, arch) else {
                break;
            };
            if !self.scene.is_uniform() {
                // Under the lock: nobody may pop the task while its data is on the way.
                let memory = self.scene.place(worker).memory;
                self.scene.world().prefetch(&task, memory);
            }
            own[worker].push(task);
        }
        let crew = &self.crews[arch.0 as usize];
        let me = crew.iter().position(|&w| w == worker).unwrap_or(0);
        let victims = crew[me..].iter().chain(&crew[..me]);
        let task = { victims }.find_map(|&victim| own[victim].pop_oldest(|_| true))?;
        self.len.fetch_sub(1, Ordering::Release);
        Some(task)
    }

    fn queued(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }
}
