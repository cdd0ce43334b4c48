//! Tasks that are done by several workers: a task in parts, and those who have nothing else to do.
//!
//! Takes the parts of a running task; gives them to its worker and to workers without a task, and comes back when all are done. Knows no
//! scheduler: to a policy a task is on one worker, and a helper is a worker that found nothing.
//!
//! ```text
//!   owner    publish the parts, wake -> take parts until none is left -> wait for those that others have -> go on
//!   helper   found no task -> take parts until none is left -> look for a task again
//! ```
//!
//! Parts are taken one at a time from a counter, so nothing is decided ahead: who comes late gets fewer, and without helpers the
//! owner does them all, at the price of a counter. A helper's part is short beside a task, so what it might have run instead waits
//! little. These are malleable tasks (Drozdowski, Scheduling for Parallel Processing, 2009, chapter 7), with processors that come as they get free.

use super::sleep::Sleep;
use crate::schedulers::Wake;
use crate::spec::TaskId;
use crate::sync::{Apart, Arc, AtomicU64, AtomicUsize, Mutex, Ordering, lock, yield_now};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

/// What does a part: its number, and the scratch of the worker that does it.
pub(crate) type Body<'b> = dyn Fn(usize, &mut dyn Any) + Sync + 'b;

/// What a running task sees of its fellow workers.
pub(crate) trait Company {
    /// How many CPU workers look for work or sleep for want of it.
    fn idle(&self) -> usize;
    /// Does all parts of `task`, with whoever helps, and gives the nanoseconds of these; `own` is the calling worker's scratch.
    fn share(&self, task: TaskId, parts: usize, body: &Body<'_>, own: &mut dyn Any) -> u64;
}

/// How often the owner asks for the last parts before it lets another thread have its processor.
const ASK: u32 = 200;

/// The tasks in parts that are open, and how many workers might help.
pub(crate) struct Board {
    jobs: Mutex<Vec<Arc<Job>>>,
    /// How many of them have parts that nobody has taken: a look costs one load.
    open: Apart<AtomicUsize>,
    idle: Apart<AtomicUsize>,
}

struct Job {
    task: TaskId,
    /// Valid until `done` has reached `parts`, and called for parts that are not done alone.
    body: &'static Body<'static>,
    parts: usize,
    /// The next part that nobody has; beyond `parts` there are none.
    next: AtomicUsize,
    done: AtomicUsize,
    /// Nanoseconds of helpers.
    helped: AtomicU64,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Job {
    /// Does parts until none is left; how many. The time of a helper is measured.
    fn work(&self, board: &Board, own: &mut dyn Any, helps: bool) -> usize {
        let mut mine = 0;
        loop {
            let part = self.next.fetch_add(1, Ordering::Relaxed);
            if part >= self.parts {
                return mine;
            }
            if part + 1 == self.parts {
                board.open.0.fetch_sub(1, Ordering::Relaxed);
            }
            let begin = helps.then(Instant::now);
            // Unwind safety: the panic goes on in the owner, whose task has then failed.
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| (self.body)(part, own))) {
                lock(&self.panic).get_or_insert(payload);
            }
            mine += 1;
            if let Some(begin) = begin {
                let ns = begin.elapsed().as_nanos() as u64;
                self.helped.fetch_add(ns, Ordering::Relaxed);
            }
            self.done.fetch_add(1, Ordering::Release);
        }
    }

    fn has_parts(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.parts
    }
}

impl Board {
    pub(crate) fn new() -> Self {
        Board {
            jobs: Mutex::new(Vec::new()),
            open: Apart(AtomicUsize::new(0)),
            idle: Apart(AtomicUsize::new(0)),
        }
    }

    /// A worker that could help has begun to look for work.
    pub(crate) fn arrive(&self) {
        self.idle.0.fetch_add(1, Ordering::Relaxed);
    }

    /// It has found a task, or the run is over.
    pub(crate) fn leave(&self) {
        self.idle.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many could help.
    pub(crate) fn idle(&self) -> usize {
        self.idle.0.load(Ordering::Relaxed)
    }

    /// Whether it is worth a look. A worker on its way to sleep looks after its announcement.
    pub(crate) fn is_open(&self) -> bool {
        self.open.0.load(Ordering::Relaxed) > 0
    }

    /// See [`Company::share`]; `sleep` are those who may be called.
    ///
    /// # Panics
    /// As the first part that did, when all are over.
    pub(crate) fn share(
        &self,
        sleep: &Sleep,
        task: TaskId,
        parts: usize,
        body: &Body<'_>,
        own: &mut dyn Any,
    ) -> u64 {
        // SAFETY: the reference is used in `work` alone, for a part below `parts` that was taken from `next`, which gives each part once, and that
        // counts as done after the call has returned. This function leaves when all parts are done, so not before the last of these
        // calls; nothing between here and there unwinds: `work` catches what a part throws, and `Published` waits in any case.
        let body = unsafe { std::mem::transmute::<&Body<'_>, &'static Body<'static>>(body) };
        let job = Arc::new(Job {
            task,
            body,
            parts,
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            helped: AtomicU64::new(0),
            panic: Mutex::new(None),
        });
        let published = Published {
            board: self,
            job: &job,
        };
        lock(&self.jobs).push(job.clone());
        self.open.0.fetch_add(1, Ordering::Relaxed);
        sleep.wake(Wake::Any);
        job.work(self, own, false);
        drop(published);
        if let Some(payload) = lock(&job.panic).take() {
            resume_unwind(payload);
        }
        job.helped.load(Ordering::Relaxed)
    }

    /// Does parts of the task that has been open longest; which task, how many, and the `clock` when it had found it. `own` is the scratch of the calling
    /// worker.
    pub(crate) fn help(
        &self,
        sleep: &Sleep,
        own: &mut dyn Any,
        clock: impl FnOnce() -> u64,
    ) -> Option<(TaskId, usize, u64)> {
        let found = lock(&self.jobs).iter().find(|job| job.has_parts()).cloned();
        let job = found?;
        let begin = clock();
        // One wake-up a task, so each helper calls the next one while there is enough left.
        if job.next.load(Ordering::Relaxed) + 1 < job.parts {
            sleep.wake(Wake::Any);
        }
        let parts = job.work(self, own, true);
        (parts > 0).then_some((job.task, parts, begin))
    }
}

/// A job that is on the board.
struct Published<'b> {
    board: &'b Board,
    job: &'b Arc<Job>,
}

/// No part of it runs any more, and none begins.
impl Drop for Published<'_> {
    fn drop(&mut self) {
        let job = self.job;
        lock(&self.board.jobs).retain(|other| !Arc::ptr_eq(other, job));
        let mut asked = 0_u32;
        while job.done.load(Ordering::Acquire) < job.parts {
            asked += 1;
            if asked.is_multiple_of(ASK) || cfg!(loom) {
                yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}
