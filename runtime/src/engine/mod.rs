//! The machinery of a run: submission on one side, workers on the other, a scheduler between them.
//!
//! ```text
//!   submit.rs    infer dependencies ---> ready? ---> Engine::make_ready --> scheduler.push, sleep.wake
//!   worker.rs    scheduler.pop ---> execute.rs ---> Engine::complete --> successors ready? ---> the same
//!   run.rs       starts the threads, submits, waits          sequential.rs   the same events without any of it
//! ```
//!
//! Takes an application, a store, an observer; gives results or the first error. Knows no policy.

pub(crate) mod execute;
pub(crate) mod run;
pub(crate) mod sequential;
mod sleep;
pub(crate) mod submit;
mod worker;

use crate::codelet::Application;
use crate::error::RunError;
use crate::machine::Machine;
use crate::observer::Observer;
use crate::schedulers::{Scheduler, Wake};
use crate::spec::WorkerId;
use crate::store::SharedStore;
use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering, lock};
use crate::task::{ReadyTask, Task};
use crate::topology::Platform;
use sleep::Sleep;

/// What the threads of one run share.
struct Engine<'r, A: Application, O: Observer> {
    app: &'r A,
    store: SharedStore<'r>,
    observer: &'r O,
    platform: &'r Platform,
    bind: bool,
    flush_denormals: bool,
    machine: &'r Machine,
    scheduler: Box<dyn Scheduler + 'r>,
    sleep: Sleep,
    /// Tasks submitted and not done, and one for the submission until it is over.
    unfinished: AtomicUsize,
    /// The first error ends the run.
    stopped: AtomicBool,
    error: Mutex<Option<RunError>>,
    bound_workers: AtomicUsize,
    flushing_workers: AtomicUsize,
}

impl<A: Application, O: Observer> Engine<'_, A, O> {
    /// Ends the run; tasks that have not started never will. The first error is the one that is returned.
    fn fail(&self, error: RunError) {
        lock(&self.error).get_or_insert(error);
        self.stop();
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.sleep.wake_all();
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Whether there is and will be nothing to do.
    fn is_over(&self) -> bool {
        self.is_stopped() || self.unfinished.load(Ordering::Acquire) == 0
    }

    /// The submission or a task is over.
    fn one_less(&self) {
        if self.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.sleep.wake_all();
        }
    }

    /// The submission made `task` ready.
    fn make_ready(&self, task: ReadyTask) {
        let wake = self.scheduler.push(task, None);
        self.sleep.wake(wake);
    }

    /// `worker` has done `task`, at `end`; it will pop next.
    fn complete(&self, task: &Task, worker: WorkerId, end: u64) {
        // The worker itself will take one of the tasks that it makes ready (or something better): nobody is woken for
        // the first, so a chain of tasks stays on one worker and costs no wake-up a link.
        let mut one_for_me = false;
        self.scheduler.done(task, worker);
        for successor in task.finish() {
            if O::ACTIVE {
                successor.stamp_ready(end);
            }
            if successor.arrive() {
                match self.scheduler.push(successor, Some(worker)) {
                    Wake::Any if !one_for_me => one_for_me = true,
                    wake => self.sleep.wake(wake),
                }
            }
        }
        self.one_less();
    }
}
