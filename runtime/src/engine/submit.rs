//! The submitting side of a run.
//!
//! Takes task after task; gives each its number, its predecessors and, when it has none, to the scheduler. Knows no
//! worker.

use super::live::Live;
use super::{Engine, execute};
use crate::dependencies::Dependencies;
use crate::error::{RunError, Stopped};
use crate::observer::{Observer, StallReason, StallRecord, Track};
use crate::spec::{TaskId, TaskSpec};
use std::time::{Duration, Instant};

/// Where an application submits its tasks; their order is the meaning of the program.
pub struct Submitter<'s> {
    sink: &'s mut dyn Sink,
}

/// What is behind a [`Submitter`]: a run with workers, or one without.
pub(super) trait Sink {
    fn submit(&mut self, spec: TaskSpec) -> Result<TaskId, Stopped>;
    fn wait_until(&mut self, done: &mut dyn FnMut(Duration) -> bool) -> Result<(), Stopped>;
}

impl<'s> Submitter<'s> {
    pub(super) fn new(sink: &'s mut dyn Sink) -> Self {
        Submitter { sink }
    }

    /// Submits a task and does not wait for it, except while the window is full. It will see the data as if all tasks submitted before had been done and
    /// none submitted later.
    ///
    /// # Errors
    /// If the run has failed or was cancelled meanwhile: hand it on with `?`, the run returns the error itself.
    ///
    /// # Panics
    /// If the codelet or a handle does not exist or no worker can run the codelet. The run then ends, and the panic goes
    /// on in the caller of [`run`](crate::run).
    #[inline]
    pub fn submit(&mut self, spec: TaskSpec) -> Result<TaskId, Stopped> {
        self.sink.submit(spec)
    }

    /// Asks `done` until it says yes, before anything more is submitted: for an application that waits for something of
    /// its own, such as memory. `done` gets the time it may take to say no: none at first, then a few milliseconds. If the
    /// first answer is no, the wait is recorded as a stall of the submission. In a sequential run all that was submitted is
    /// done: there `done` is asked once.
    ///
    /// # Errors
    /// If the run has failed or was cancelled meanwhile, as for [`Self::submit`].
    ///
    /// # Panics
    /// In a sequential run, if `done` says no: it would do so forever.
    pub fn wait_until(&mut self, mut done: impl FnMut(Duration) -> bool) -> Result<(), Stopped> {
        self.sink.wait_until(&mut done)
    }
}

/// What submits the tasks of a run, once, whatever it gives.
pub(super) type Submission<'s> = &'s mut dyn FnMut(&mut Submitter<'_>) -> Result<(), Stopped>;

/// Has `run` run what `submit` submits; gives the results of both.
pub(super) fn submitting<R, S>(
    submit: impl FnOnce(&mut Submitter<'_>) -> Result<R, Stopped>,
    run: impl FnOnce(Submission<'_>) -> Result<S, RunError>,
) -> Result<(R, S), RunError> {
    let (mut submit, mut result) = (Some(submit), None);
    let done = run(&mut |submitter| {
        let submit = submit.take().expect("a run asks once");
        result = Some(submit(submitter)?);
        Ok(())
    })?;
    Ok((result.expect("a run has asked that ends well"), done))
}

/// Submission to workers.
pub(super) struct Flow<'e, 'r, O: Observer> {
    engine: &'e Engine<'r, O>,
    track: &'e mut O::Track,
    dependencies: Dependencies,
    live: Live,
    account: Account,
    /// How many were done when the submission looked last.
    done: usize,
}

/// How many tasks are submitted between two looks at how many are done, if the window is far.
const LOOK_EVERY: u32 = 32;

/// How long an application may take to say that what it waits for is not there: then the run may have been cancelled.
const PATIENCE: Duration = Duration::from_millis(5);

/// What a submission says about itself.
#[derive(Clone, Copy, Default)]
pub(super) struct Account {
    pub(super) tasks: u32,
    /// The most that were unfinished at a look.
    pub(super) peak_tasks: u64,
    pub(super) stalls: u64,
    pub(super) stalled: Duration,
}

impl<'e, 'r, O: Observer> Flow<'e, 'r, O> {
    pub(super) fn new(engine: &'e Engine<'r, O>, track: &'e mut O::Track) -> Self {
        engine.tally.register();
        Flow {
            engine,
            track,
            dependencies: Dependencies::new(engine.store.handles()),
            live: Live::new(),
            account: Account::default(),
            done: 0,
        }
    }

    /// The submission is over.
    pub(super) fn close(self) -> Account {
        self.account
    }

    /// Waits as long as the window is full. How many are done is looked up now and then only: each time costs the line
    /// of cache that all workers write.
    fn hold_to_window(&mut self) {
        let (tally, tasks) = (&self.engine.tally, self.account.tasks);
        let unfinished = |done| tasks as usize - done;
        if tally.is_full(unfinished(self.done)) || tasks.is_multiple_of(LOOK_EVERY) {
            self.done = tally.done();
            if tally.is_full(unfinished(self.done)) {
                let tasks = tasks as usize;
                self.stall(StallReason::Window, |engine| {
                    engine.tally.wait(tasks, || engine.is_stopped());
                });
                self.done = self.engine.tally.done();
            }
            let peak = unfinished(self.done) as u64 + 1;
            self.account.peak_tasks = self.account.peak_tasks.max(peak);
        }
    }

    /// Waits by `wait`, and notes it.
    #[cold]
    fn stall(&mut self, reason: StallReason, wait: impl FnOnce(&Engine<'_, O>)) {
        let (engine, begin) = (self.engine, Instant::now());
        let start = engine.observer.clock();
        wait(engine);
        self.account.stalls += 1;
        self.account.stalled += begin.elapsed();
        if O::ACTIVE {
            self.track.stall(&StallRecord {
                reason,
                submitted: self.account.tasks,
                start,
                end: engine.observer.clock(),
            });
        }
    }
}

impl<O: Observer> Sink for Flow<'_, '_, O> {
    fn wait_until(&mut self, done: &mut dyn FnMut(Duration) -> bool) -> Result<(), Stopped> {
        let stops = |engine: &Engine<'_, O>| engine.is_stopped() || engine.heed_cancel();
        if !stops(self.engine) && done(Duration::ZERO) {
            return Ok(());
        }
        self.stall(StallReason::Memory, |engine| {
            while !stops(engine) && !done(PATIENCE) {}
        });
        if stops(self.engine) {
            Err(Stopped(()))
        } else {
            Ok(())
        }
    }

    fn submit(&mut self, spec: TaskSpec) -> Result<TaskId, Stopped> {
        let engine = self.engine;
        let devices = engine.machine.has_devices();
        execute::check(engine.app, &engine.store, &spec, devices);
        self.hold_to_window();
        if engine.is_stopped() || engine.heed_cancel() {
            return Err(Stopped(()));
        }
        let now = engine.observer.clock();
        let id = TaskId(self.account.tasks);
        self.account.tasks += 1;
        if O::ACTIVE {
            self.track.submitted(id, &spec, now);
        }
        let task = self.live.make(id, spec, now);
        let live = &self.live;
        let mut follows = false;
        for &(handle, access) in &task.spec().accesses {
            let is_over = |earlier| live.is_finished(earlier);
            let wait_for = |earlier| match live.get(earlier) {
                Some(earlier) => {
                    follows = true;
                    earlier.link(&task)
                }
                // Itself, or one that was over before `now`.
                None => earlier == id,
            };
            self.dependencies
                .access(handle, access, id, is_over, wait_for);
        }
        self.live.keep(task.clone());
        if O::ACTIVE && follows {
            // What it follows may have ended since `now`, before it was linked: it became ready then, not at `now`.
            task.stamp_ready(engine.observer.clock());
        }
        if task.arrive() {
            engine.make_ready(task);
        }
        Ok(id)
    }
}
