//! The submitting side of a run.
//!
//! Takes task after task; gives each its number, its predecessors and, when it has none, to the scheduler. Knows no
//! worker.

use super::{Engine, execute};
use crate::codelet::Application;
use crate::dependencies::Dependencies;
use crate::error::Stopped;
use crate::observer::{Observer, Track};
use crate::spec::{TaskId, TaskSpec};
use crate::sync::{Arc, Ordering};
use crate::task::Task;

/// Where an application submits its tasks; their order is the meaning of the program.
pub struct Submitter<'s> {
    sink: &'s mut dyn Sink,
}

/// What is behind a [`Submitter`]: a run with workers, or one without.
pub(super) trait Sink {
    fn submit(&mut self, spec: TaskSpec) -> Result<TaskId, Stopped>;
}

impl<'s> Submitter<'s> {
    pub(super) fn new(sink: &'s mut dyn Sink) -> Self {
        Submitter { sink }
    }

    /// Submits a task and does not wait for it. It will see the data as if all tasks submitted before had been done and
    /// none submitted later.
    ///
    /// # Errors
    /// If the run has failed meanwhile: hand it on with `?`, the run returns the error itself.
    ///
    /// # Panics
    /// If the codelet or a handle does not exist or no worker can run the codelet. The run then ends, and the panic goes
    /// on in the caller of [`run`](crate::run).
    pub fn submit(&mut self, spec: TaskSpec) -> Result<TaskId, Stopped> {
        self.sink.submit(spec)
    }
}

/// Submission to workers.
pub(super) struct Flow<'e, 'r, A: Application, O: Observer> {
    engine: &'e Engine<'r, A, O>,
    track: &'e mut O::Track,
    dependencies: Dependencies<Arc<Task>>,
    pub(super) submitted: u32,
}

impl<'e, 'r, A: Application, O: Observer> Flow<'e, 'r, A, O> {
    pub(super) fn new(engine: &'e Engine<'r, A, O>, track: &'e mut O::Track) -> Self {
        Flow {
            engine,
            track,
            dependencies: Dependencies::new(engine.store.handles()),
            submitted: 0,
        }
    }
}

impl<A: Application, O: Observer> Sink for Flow<'_, '_, A, O> {
    fn submit(&mut self, spec: TaskSpec) -> Result<TaskId, Stopped> {
        let engine = self.engine;
        if engine.is_stopped() {
            return Err(Stopped(()));
        }
        execute::check(engine.app, &engine.store, &spec);
        let now = engine.observer.clock();
        let id = TaskId(self.submitted);
        self.submitted += 1;
        if O::ACTIVE {
            self.track.submitted(id, &spec, now);
        }
        engine.unfinished.fetch_add(1, Ordering::Relaxed);
        let task = Arc::new(Task::new(id, spec, now));
        let mut follows = false;
        for &(handle, access) in &task.spec().accesses {
            self.dependencies.access(handle, access, &task, |earlier| {
                earlier.link(&task);
                follows = true;
            });
        }
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
