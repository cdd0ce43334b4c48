//! A run without workers: each task is done where it is submitted. The oracle for all others.
//!
//! Takes and gives what `run.rs` does, with the same events and the same memory accounting; knows no dependency, no
//! scheduler, no thread.

use super::execute::{Recorder, Times, check, execute};
use super::submit::{Sink, Submission, Submitter, submitting};
use crate::cancel::CancelHandle;
use crate::codelet::Application;
use crate::config::{Config, RunStats};
use crate::denormals::FlushDenormals;
use crate::erased::AnyApplication;
use crate::error::{RunError, Stopped};
use crate::faults::ActiveFaults;
use crate::observer::{Lane, Observer, RunInfo, Track};
use crate::spec::{TaskId, TaskSpec};
use crate::store::{DataStore, SharedStore};
use std::any::Any;
use std::time::{Duration, Instant};

/// Runs each task when it is submitted, on the calling thread (worker 0). Of `config` only `flush_denormals` (undone at
/// the end), `cancel` and `faults` count.
///
/// # Errors
/// The first failure of a task, or [`RunError::Cancelled`].
///
/// # Panics
/// If `submit` or the application's `scratch` panics.
pub fn run_sequential<A, O, R, F>(
    config: &Config,
    app: &A,
    store: &mut DataStore,
    observer: &O,
    submit: F,
) -> Result<(R, RunStats), RunError>
where
    A: Application,
    O: Observer,
    F: FnOnce(&mut Submitter<'_>) -> Result<R, Stopped>,
{
    let shared = store.share(0);
    submitting(submit, |submit| {
        run_here(config, app, shared, observer, submit)
    })
}

fn run_here<O: Observer>(
    config: &Config,
    app: &dyn AnyApplication,
    store: SharedStore<'_>,
    observer: &O,
    submit: Submission<'_>,
) -> Result<RunStats, RunError> {
    let begin = Instant::now();
    observer.begin(&RunInfo {
        workers: 1,
        scheduler: "sequential",
        codelets: &app.names(),
        bound_to: &[None],
        host_bytes: store.bytes(),
        devices: &[],
        device_workers: &[],
        time_scale: 1.0,
        tasks: config.tasks,
    });
    let flush = config.flush_denormals.then(FlushDenormals::set).flatten();
    let faults = ActiveFaults::new(config.faults);
    let mut here = Here {
        app,
        cancel: &config.cancel,
        store,
        scratch: app.scratch(0),
        submission: observer.attach(Lane::Submission),
        recorder: Recorder {
            observer,
            track: observer.attach(Lane::Worker(0)),
            worker: 0,
            faults: &faults,
        },
        submitted: 0,
        error: None,
    };
    let outcome = submit(&mut Submitter::new(&mut here));
    observer.detach(here.submission);
    observer.detach(here.recorder.track);
    if let Some(error) = here.error {
        return Err(error);
    }
    outcome.expect("who says that the run has stopped has it from a run that failed");
    Ok(RunStats {
        tasks: u64::from(here.submitted),
        threads: 1,
        scheduler: "sequential",
        elapsed: begin.elapsed(),
        bound_workers: 0,
        flush_denormals: flush.is_some(),
        peak_bytes: store.peak_bytes(),
        allocations: store.allocations(),
        peak_tasks: u64::from(here.submitted.min(1)),
        stalls: 0,
        stalled: Duration::ZERO,
        models: None,
        devices: Vec::new(),
        time_scale: 1.0,
    })
}

struct Here<'r, O: Observer> {
    app: &'r dyn AnyApplication,
    cancel: &'r CancelHandle,
    store: SharedStore<'r>,
    scratch: Box<dyn Any>,
    submission: O::Track,
    recorder: Recorder<'r, O>,
    submitted: u32,
    error: Option<RunError>,
}

impl<O: Observer> Sink for Here<'_, O> {
    fn wait_until(&mut self, done: &mut dyn FnMut(Duration) -> bool) -> Result<(), Stopped> {
        if self.error.is_some() {
            return Err(Stopped(()));
        }
        assert!(
            done(Duration::ZERO),
            "a sequential run waits for what will never be"
        );
        Ok(())
    }

    fn submit(&mut self, spec: TaskSpec) -> Result<TaskId, Stopped> {
        if self.error.is_some() {
            return Err(Stopped(()));
        }
        if self.cancel.is_cancelled() {
            self.error = Some(RunError::Cancelled);
            return Err(Stopped(()));
        }
        check(self.app, &self.store, &spec, false);
        let id = TaskId(self.submitted);
        self.submitted += 1;
        let start = self.recorder.clock();
        if O::ACTIVE {
            self.submission.submitted(id, &spec, start);
        }
        let (scratch, recorder) = (&mut *self.scratch, &mut self.recorder);
        match execute(self.app, self.store, id, &spec, scratch, None, recorder) {
            Ok(work) => {
                let end = recorder.clock();
                let (submit, ready, pop) = (start, start, start);
                recorder.task(
                    id,
                    &spec,
                    work,
                    Times {
                        submit,
                        ready,
                        pop,
                        start,
                        end,
                        queued: 0,
                    },
                );
                Ok(id)
            }
            Err(error) => {
                self.error = Some(error);
                Err(Stopped(()))
            }
        }
    }
}
