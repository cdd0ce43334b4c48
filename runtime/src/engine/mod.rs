//! The machinery of a run: submission on one side, workers on the other, a scheduler between them.
//!
//! ```text
//!   submit.rs    infer dependencies ---> ready? ---> Engine::make_ready --> scheduler.push, sleep.wake
//!   worker.rs    scheduler.pop ---> execute.rs ---> Engine::complete --> successors ready? ---> the same
//!   share.rs     a running task in parts ---> workers without a task
//!   tally.rs     how many are unfinished: the window of the submission, the end of the run
//!   run.rs       starts the threads, submits, waits          sequential.rs   the same events without any of it
//! ```
//!
//! Takes an application, a store, an observer; gives results or the first error. Knows no policy.

mod device_log;
pub(crate) mod execute;
mod live;
#[cfg(all(test, loom))]
mod loom;
pub(crate) mod run;
pub(crate) mod sequential;
pub(crate) mod share;
mod sleep;
pub(crate) mod submit;
mod tally;
mod worker;

use crate::cancel::CancelHandle;
use crate::erased::AnyApplication;
use crate::error::RunError;
use crate::faults::ActiveFaults;
use crate::machine::Machine;
use crate::observer::Observer;
use crate::schedulers::{Scheduler, Wake};
use crate::spec::{TaskId, WorkerId};
use crate::store::SharedStore;
use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering, lock};
use crate::task::{ReadyTask, Task};
use crate::throttle::Throttle;
use crate::topology::Platform;
use share::{Board, Body, Company};
use sleep::Sleep;
use std::any::Any;
use tally::{Reached, Tally};

/// What the threads of one run share.
struct Engine<'r, O: Observer> {
    app: &'r dyn AnyApplication,
    store: SharedStore<'r>,
    observer: &'r O,
    platform: &'r Platform,
    bind: bool,
    flush_denormals: bool,
    machine: &'r Machine<'r>,
    scheduler: Box<dyn Scheduler + 'r>,
    sleep: Sleep,
    board: Board,
    /// Whether workers without a task help with those of others.
    share: bool,
    tally: Tally,
    throttle: Throttle,
    cancel: &'r CancelHandle,
    faults: ActiveFaults,
    /// The first error ends the run.
    stopped: AtomicBool,
    error: Mutex<Option<RunError>>,
    bound_workers: AtomicUsize,
    flushing_workers: AtomicUsize,
}

impl<O: Observer> Engine<'_, O> {
    /// Ends the run; tasks that have not started never will. The first error is the one that is returned.
    fn fail(&self, error: RunError) {
        lock(&self.error).get_or_insert(error);
        self.stop();
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.sleep.wake_all();
        self.tally.release();
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Ends the run if somebody has cancelled it; whether it has ended. Whoever is about to do something new asks: the
    /// submission before each task, a worker before each task. That is enough for all to hear of it, since nobody waits
    /// but for a task that runs or is about to.
    fn heed_cancel(&self) -> bool {
        let cancelled = self.cancel.is_cancelled();
        if cancelled {
            self.fail(RunError::Cancelled);
        }
        cancelled
    }

    /// Whether there is and will be nothing to do.
    fn is_over(&self) -> bool {
        self.is_stopped() || self.tally.is_complete()
    }

    /// A task or the submission is over.
    fn heed(&self, reached: Reached) {
        if reached == Reached::End {
            self.sleep.wake_all();
        }
    }

    /// The submission made `task` ready.
    fn make_ready(&self, task: ReadyTask) {
        if let Some(task) = self.throttle.admit(task) {
            let wake = self.scheduler.push(task, None);
            self.sleep.wake(wake);
        }
    }

    /// `worker` has done `task`, at `end`; it will pop next.
    fn complete(&self, task: &Task, worker: WorkerId, end: u64) {
        // The worker itself will take one of the tasks that it makes ready (or something better): nobody is woken for
        // the first, so a chain of tasks stays on one worker and costs no wake-up a link.
        let mut one_for_me = false;
        let mut push = |task| match self.scheduler.push(task, Some(worker)) {
            Wake::Any if !one_for_me => one_for_me = true,
            wake => self.sleep.wake(wake),
        };
        self.scheduler.done(task, worker);
        for successor in task.finish() {
            if O::ACTIVE {
                successor.stamp_ready(end);
            }
            if successor.arrive() {
                self.throttle.admit(successor).map(&mut push);
            }
        }
        self.throttle.done(task.codelet()).map(push);
        self.heed(self.tally.one_done());
    }
}

impl<O: Observer> Company for Engine<'_, O> {
    fn idle(&self) -> usize {
        self.board.idle()
    }

    fn share(&self, task: TaskId, parts: usize, body: &Body<'_>, own: &mut dyn Any) -> u64 {
        self.board.share(&self.sleep, task, parts, body, own)
    }
}
