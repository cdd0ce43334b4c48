//! One task, run on the current thread; and the lane to which its thread writes what happens.
//!
//! Takes a task, the application, the store; gives the bytes it touched or why it failed. Knows no dependency.

use super::share::Company;
use crate::codelet::TaskFailure;
use crate::context::{MemorySink, TaskContext};
use crate::device_task::DeviceTask;
use crate::erased::AnyApplication;
use crate::error::{RunError, panic_message};
use crate::faults::ActiveFaults;
use crate::machine::{Event, Room, StreamWorker};
use crate::observer::{
    MemoryRecord, Observer, ShareRecord, StateRecord, TaskRecord, Track, WorkerState,
};
use crate::spec::{Handle, TaskId, TaskSpec, WorkerId};
use crate::store::{Change, MemoryNode, OutOfMemory, SharedStore};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use treeqr_devices::Span;

/// Runs a task; `company` are the workers it may share itself with. Gives the bytes it touched, and the nanoseconds of those who helped.
pub(super) fn execute<O: Observer>(
    app: &dyn AnyApplication,
    store: SharedStore<'_>,
    id: TaskId,
    spec: &TaskSpec,
    scratch: &mut dyn Any,
    company: Option<&dyn Company>,
    recorder: &mut Recorder<'_, O>,
) -> Result<Work, RunError> {
    let emulated = store.memory() != MemoryNode::HOST;
    let (worker, faults) = (recorder.worker, recorder.faults);
    // The parts of a task know no device.
    let company = company.filter(|_| !emulated);
    let context = TaskContext::new(id, spec, worker, store, company, recorder);
    // Unwind safety: after a panic no further task runs, and neither the scratch nor the application is used by the run.
    match catch_unwind(AssertUnwindSafe(|| {
        faults.in_task(id.0);
        let begin = faults.before_task(worker);
        let done = app.run(spec.codelet, emulated, &context, scratch);
        faults.after_task(worker, begin);
        done
    })) {
        Ok(Ok(())) => Ok(Work {
            bytes: context.bytes_taken(),
            flops: context.flops(),
            helped_ns: context.helped_ns(),
        }),
        Ok(Err(failure)) => Err(failed(name_of(app, spec), spec.node, failure)),
        Err(payload) => Err(panicked(name_of(app, spec), spec.node, &*payload)),
    }
}

/// What a task was.
#[derive(Clone, Copy)]
pub(super) struct Work {
    /// Of all buffers that it took.
    pub(super) bytes: u64,
    pub(super) flops: u64,
    /// Time of those who helped.
    pub(super) helped_ns: u64,
}

/// The name of the codelet of a task that was submitted.
pub(super) fn name_of(app: &dyn AnyApplication, spec: &TaskSpec) -> &'static str {
    app.name(spec.codelet).expect("checked at submission")
}

fn failed(codelet: &'static str, node: u32, failure: TaskFailure) -> RunError {
    match failure {
        TaskFailure::OutOfMemory(OutOfMemory { bytes }) => RunError::OutOfMemory {
            codelet,
            node,
            bytes,
        },
        TaskFailure::Device(error) => RunError::Device(error),
        TaskFailure::Message(message) => RunError::TaskFailed {
            codelet,
            node,
            message,
        },
    }
}

fn panicked(codelet: &'static str, node: u32, payload: &(dyn Any + Send)) -> RunError {
    RunError::TaskPanicked {
        codelet,
        node,
        message: panic_message(payload),
    }
}

/// Runs a task on a real device and waits for its end; gives what it was and the device's times of it.
pub(super) fn launch<O: Observer>(
    app: &dyn AnyApplication,
    spec: &TaskSpec,
    rooms: Vec<Option<Arc<Room>>>,
    driven: &mut StreamWorker,
    recorder: &mut Recorder<'_, O>,
    id: TaskId,
) -> Result<(Work, Span), RunError> {
    let name = name_of(app, spec);
    let (worker, faults) = (recorder.worker, recorder.faults);
    // Unwind safety: as in `execute`; the stream is drained before its rooms go.
    let done = catch_unwind(AssertUnwindSafe(|| {
        faults.in_task(id.0);
        let begin = faults.before_task(worker);
        driven.stream.begin()?;
        let scratch = driven.scratch.address;
        let mut task = DeviceTask::new(spec, rooms.clone(), scratch, &mut *driven.stream);
        app.launch(spec.codelet, &mut task)?;
        let work = Work {
            bytes: task.bytes_taken(),
            flops: spec.flops,
            helped_ns: 0,
        };
        let time = driven.stream.finish()?;
        faults.after_task(worker, begin);
        Ok((work, time))
    }));
    if !matches!(done, Ok(Ok(_))) {
        // What was asked for may still run.
        drop(driven.stream.finish());
    }
    match done {
        Ok(done) => done.map_err(|failure| failed(name, spec.node, failure)),
        Err(payload) => Err(panicked(name, spec.node, &*payload)),
    }
}

/// Panics, at submission, unless a worker (of the `devices` too) can run `spec` on the handles of `store`.
pub(super) fn check(
    app: &dyn AnyApplication,
    store: &SharedStore<'_>,
    spec: &TaskSpec,
    devices: bool,
) {
    let codelet = spec.codelet;
    let name = app.name(codelet);
    let name = name.unwrap_or_else(|| panic!("there is no codelet {}", codelet.0));
    let on_devices = || app.has_device_code(codelet) || app.has_launch_code(codelet);
    assert!(
        app.has_cpu_code(codelet) || (devices && on_devices()),
        "no worker can run the codelet `{name}`"
    );
    for &(handle, _) in &spec.accesses {
        assert!(
            (handle.0 as usize) < store.handles(),
            "there is no handle {}: the store has {}",
            handle.0,
            store.handles()
        );
    }
}

/// A worker's side of the observer.
pub(super) struct Recorder<'o, O: Observer> {
    pub(super) observer: &'o O,
    pub(super) track: O::Track,
    pub(super) worker: WorkerId,
    pub(super) faults: &'o ActiveFaults,
}

impl<O: Observer> Recorder<'_, O> {
    /// Now, if anybody wants to know.
    pub(super) fn clock(&self) -> u64 {
        self.observer.clock()
    }

    pub(super) fn task(&mut self, id: TaskId, spec: &TaskSpec, work: Work, times: Times) {
        if O::ACTIVE {
            self.track.task(&self.record_of(id, spec, work, times));
        }
    }

    pub(super) fn record_of(
        &self,
        id: TaskId,
        spec: &TaskSpec,
        work: Work,
        times: Times,
    ) -> TaskRecord {
        TaskRecord {
            id,
            codelet: spec.codelet,
            worker: self.worker as u16,
            node: spec.node,
            params: spec.params,
            priority: spec.priority,
            flops: work.flops,
            bytes: work.bytes,
            queued: times.queued,
            submit: times.submit,
            ready: times.ready,
            pop: times.pop,
            start: times.start,
            end: times.end,
        }
    }

    /// The worker has been in `state` since `start`; returns now.
    pub(super) fn state_since(&mut self, state: WorkerState, start: u64) -> u64 {
        let end = self.clock();
        self.state(state, start, end);
        end
    }

    /// The worker was in `state` from `start` to `end`.
    pub(super) fn state(&mut self, state: WorkerState, start: u64, end: u64) {
        if O::ACTIVE {
            self.track.state(&StateRecord {
                worker: self.worker as u16,
                state,
                start,
                end,
            });
        }
    }

    /// The worker has done parts of another's task from `start` to now; returns now.
    pub(super) fn shared(&mut self, task: TaskId, parts: usize, start: u64) -> u64 {
        let end = self.clock();
        if O::ACTIVE {
            self.track.share(&ShareRecord {
                task,
                worker: self.worker as u16,
                parts: parts as u32,
                start,
                end,
            });
        }
        end
    }
}

/// The time-stamps of a task, and how many were queued where it came from.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) submit: u64,
    pub(super) ready: u64,
    pub(super) pop: u64,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) queued: u32,
}

impl<O: Observer> Recorder<'_, O> {
    /// What moved between memory nodes lately, noted at the task that found it.
    pub(super) fn moved(&mut self, task: TaskId, spec: &TaskSpec, events: Vec<Event>) {
        for event in events {
            match event {
                Event::Transfer(record) if O::ACTIVE => self.track.transfer(&record),
                Event::Memory(ticks, handle, change) if O::ACTIVE => {
                    self.track.memory(&MemoryRecord {
                        ticks,
                        handle,
                        task,
                        node: spec.node,
                        memory: change.memory,
                        delta_bytes: change.delta_bytes,
                        after_bytes: change.after_bytes,
                    });
                }
                _ => {}
            }
        }
    }
}

impl<O: Observer> MemorySink for Recorder<'_, O> {
    fn refuses(&self) -> bool {
        self.faults.in_allocation()
    }

    fn poisons(&self) -> bool {
        self.faults.poison()
    }

    fn changed(&mut self, task: TaskId, spec: &TaskSpec, handle: Handle, change: Change) {
        if O::ACTIVE {
            self.track.memory(&MemoryRecord {
                ticks: self.observer.clock(),
                handle,
                task,
                node: spec.node,
                memory: change.memory,
                delta_bytes: change.delta_bytes,
                after_bytes: change.after_bytes,
            });
        }
    }
}
