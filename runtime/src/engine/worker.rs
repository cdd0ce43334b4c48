//! The life of a worker: pop, execute, release; spin, sleep; end.
//!
//! Takes its number; gives nothing but done tasks, or the error that ends the run. Knows no policy.

use super::Engine;
use super::device_log::DeviceLog;
use super::execute::{Recorder, Times, execute, launch, name_of};
use super::share::Company;
use crate::denormals::FlushDenormals;
use crate::error::{RunError, panic_message};
use crate::machine::FetchError;
use crate::observer::{Lane, Observer, WorkerState};
use crate::schedulers::Wake;
use crate::spec::WorkerId;
use crate::store::OutOfMemory;
use crate::sync::{Ordering, yield_now};
use crate::task::{ReadyTask, Task};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How often a worker without a task asks again before it sleeps; with the pauses between, some microseconds.
const SPIN_ROUNDS: u32 = 100;

/// How often a worker asks that has just helped another: its next parts come after a panel, some tens of microseconds later.
const SPIN_ROUNDS_OF_HELPERS: u32 = 2000;

/// How often between these it lets another thread have its processor: with as many workers as processors, the submission
/// shares one with a worker, which would wait for tasks that it keeps from being submitted.
const YIELD_EVERY: u32 = 20;

/// How often a worker that begins lets others have its processor that are not bound to theirs: less than a microsecond each where nobody waits for it.
const BINDING_ROUNDS: u32 = 200;

/// The body of a worker's thread. Does not panic.
pub(super) fn work<O: Observer>(engine: &Engine<'_, O>, worker: WorkerId) {
    // Unwind safety: `fail` ends the run, after which nobody uses what the panic may have left half done.
    let served = catch_unwind(AssertUnwindSafe(|| serve(engine, worker)));
    if let Err(payload) = served {
        let message = panic_message(&*payload);
        engine.fail(RunError::WorkerPanicked { worker, message });
    }
}

fn serve<O: Observer>(engine: &Engine<'_, O>, worker: WorkerId) {
    engine.sleep.register(worker);
    if engine.bind && engine.platform.bind_here(worker) {
        engine.bound_workers.fetch_add(1, Ordering::Relaxed);
        let_others_bind(engine);
    }
    let flush = engine.flush_denormals.then(FlushDenormals::set).flatten();
    if flush.is_some() {
        engine.flushing_workers.fetch_add(1, Ordering::Relaxed);
    }
    let mut driven = match engine.machine.stream(worker).transpose() {
        Ok(driven) => driven,
        Err(error) => return engine.fail(RunError::Device(error)),
    };
    if let Some(driven) = &mut driven
        && let Err(error) = driven.stream.prepare()
    {
        return engine.fail(RunError::Device(error));
    }
    let mut scratch = driven.is_none().then(|| engine.app.scratch(worker));
    let mut recorder = Recorder {
        observer: engine.observer,
        track: engine.observer.attach(Lane::Worker(worker)),
        worker,
        faults: &engine.faults,
    };
    let observer = engine.observer;
    let ticks = || observer.clock();
    let mut log = match &mut driven {
        Some(driven) if O::ACTIVE => Some(DeviceLog::new(&mut *driven.stream, ticks)),
        _ => None,
    };
    let memory = engine.machine.places()[worker].memory;
    let store = engine.store.on(memory).by(worker);
    let devices = engine.machine.has_devices();
    let mut free_since = recorder.clock();
    while !engine.is_stopped() {
        let (task, mut start) = match engine.scheduler.pop(worker) {
            Some(task) => (task, engine.observer.start_after(free_since)),
            None => {
                if let (Some(log), Some(driven)) = (&mut log, &mut driven)
                    && log.is_full(true)
                {
                    log.flush(&mut *driven.stream, ticks, &mut recorder.track);
                }
                match find(engine, &mut recorder, scratch.as_deref_mut(), free_since) {
                    Some(found) => found,
                    None => break,
                }
            }
        };
        if engine.heed_cancel() {
            break;
        }
        let queued = match O::ACTIVE {
            true => engine.scheduler.queue_length(worker) as u32,
            false => 0,
        };
        let pop = start;
        let (id, spec) = (task.id(), task.spec());
        let app = engine.app;
        if devices {
            match fetch(engine, &task, &mut recorder, start) {
                Ok(fetched) => start = fetched,
                Err(Some(error)) => {
                    engine.fail(error);
                    break;
                }
                Err(None) => break,
            }
        }
        let stopwatch = engine.machine.stopwatch();
        let mut on_device = None;
        let done = match (&mut driven, &mut scratch) {
            (Some(driven), _) => {
                let rooms = engine.machine.rooms(worker, spec);
                let done = launch(app, spec, rooms, driven, &mut recorder, id);
                done.map(|(work, span)| {
                    on_device = Some(span);
                    work
                })
            }
            (None, Some(scratch)) => {
                let company = engine.share.then_some(engine as &dyn Company);
                let scratch = &mut **scratch;
                execute(app, store, id, spec, scratch, company, &mut recorder)
            }
            (None, None) => unreachable!("a worker without a stream has scratch"),
        };
        // The device has seen it earlier, but nobody was told before now.
        let ended = on_device.map(|_| recorder.clock());
        if devices && done.is_ok() {
            let begin = stopwatch.expect("every task is timed");
            engine.machine.finish(worker, spec, begin);
        }
        // By now the emulated machine's time has passed too.
        let end = ended.unwrap_or_else(|| recorder.clock());
        let work = match done {
            Ok(work) => work,
            Err(error) => {
                engine.fail(error);
                break;
            }
        };
        if let Some(begin) = stopwatch {
            engine.machine.learn(&task, worker, begin, work.helped_ns);
        }
        engine.complete(&task, worker, end);
        let (submit, ready) = (task.submit_ticks(), task.ready_ticks());
        // A start that is shared with the end before may lie before the task was ready.
        let (pop, start) = (pop.max(ready), start.max(ready));
        let times = Times {
            submit,
            ready,
            pop,
            start,
            end,
            queued,
        };
        match (&mut log, on_device, &mut driven) {
            (Some(log), Some(span), Some(driven)) => {
                log.note(recorder.record_of(id, spec, work, times), span);
                if log.is_full(false) {
                    log.flush(&mut *driven.stream, ticks, &mut recorder.track);
                }
            }
            _ => recorder.task(id, spec, work, times),
        }
        free_since = end;
    }
    if let (Some(log), Some(driven)) = (&mut log, &mut driven) {
        log.flush(&mut *driven.stream, ticks, &mut recorder.track);
        engine.machine.note_clock_error(worker, log.error_ticks());
    }
    engine.observer.detach(recorder.track);
}

/// Another worker's thread may wait for this processor, to bind itself to its own: as long as this one runs it would wait, beside one that has nothing to do.
fn let_others_bind<O: Observer>(engine: &Engine<'_, O>) {
    let platform = engine.platform;
    let places = (0..platform.workers()).filter(|&worker| platform.unit(worker).is_some());
    let units = places.count();
    for _ in 0..BINDING_ROUNDS {
        if engine.bound_workers.load(Ordering::Relaxed) == units {
            break;
        }
        yield_now();
    }
}

/// Brings the data of `task` to where its worker is; gives the time when it is there. The task was found at `since`. The error is
/// `None` if the run has ended for another reason.
#[cold]
fn fetch<O: Observer>(
    engine: &Engine<'_, O>,
    task: &Task,
    recorder: &mut Recorder<'_, O>,
    since: u64,
) -> Result<u64, Option<RunError>> {
    let spec = task.spec();
    let stopped = || engine.is_stopped();
    let fetched = engine.machine.fetch(recorder.worker, spec, &stopped);
    recorder.moved(task.id(), spec, engine.machine.take_events());
    fetched.map_err(|error| match error {
        FetchError::OutOfMemory(OutOfMemory { bytes }) => Some(RunError::OutOfMemory {
            codelet: name_of(engine.app, spec),
            node: spec.node,
            bytes,
        }),
        FetchError::Device(error) => Some(RunError::Device(error)),
        FetchError::Stopped => None,
    })?;
    Ok(recorder.state_since(WorkerState::Transferring, since))
}

/// Waits for a task; gives it and the time it was found, or `None` when the run is over. The scheduler had none for this
/// worker, which has been without since `free_since`. With `scratch` it helps those that have one, meanwhile, where they share; who has none drives
/// a device, and can't help.
#[cold]
fn find<O: Observer>(
    engine: &Engine<'_, O>,
    recorder: &mut Recorder<'_, O>,
    scratch: Option<&mut dyn Any>,
    free_since: u64,
) -> Option<(ReadyTask, u64)> {
    let Some(scratch) = scratch else {
        return seek(engine, recorder, None, free_since);
    };
    engine.board.arrive();
    let found = seek(engine, recorder, Some(scratch), free_since);
    engine.board.leave();
    found
}

fn seek<O: Observer>(
    engine: &Engine<'_, O>,
    recorder: &mut Recorder<'_, O>,
    mut scratch: Option<&mut dyn Any>,
    free_since: u64,
) -> Option<(ReadyTask, u64)> {
    let worker = recorder.worker;
    let mut since = recorder.state_since(WorkerState::Scheduling, free_since);
    let mut rounds = SPIN_ROUNDS;
    loop {
        let mut round = 0;
        while round < rounds {
            if engine.is_over() {
                recorder.state_since(WorkerState::Idle, since);
                return None;
            }
            if let Some(task) = engine.scheduler.pop(worker) {
                return Some((task, recorder.state_since(WorkerState::Idle, since)));
            }
            if let Some(scratch) = scratch.as_deref_mut()
                && engine.board.is_open()
                && let Some(helped) = help(engine, recorder, scratch, since)
            {
                since = helped;
                (round, rounds) = (0, SPIN_ROUNDS_OF_HELPERS);
                continue;
            }
            if round % YIELD_EVERY == YIELD_EVERY - 1 {
                yield_now();
            } else {
                std::hint::spin_loop();
            }
            round += 1;
        }
        rounds = SPIN_ROUNDS;
        if let Some(scratch) = scratch.as_deref_mut() {
            engine.app.rest(scratch);
        }
        engine.sleep.announce(worker);
        let over = engine.is_over();
        let last_look = if over {
            None
        } else {
            engine.scheduler.pop(worker)
        };
        let wanted = scratch.is_some() && engine.board.is_open();
        if over || last_look.is_some() || wanted {
            engine.sleep.retract(worker);
            let now = recorder.state_since(WorkerState::Idle, since);
            match last_look {
                Some(task) => return Some((pass_on(engine, task), now)),
                None if over => return None,
                None => {
                    since = now;
                    continue;
                }
            }
        }
        since = recorder.state_since(WorkerState::Idle, since);
        engine.sleep.park(worker);
        since = recorder.state_since(WorkerState::Sleeping, since);
        if let Some(task) = engine.scheduler.pop(worker) {
            return Some((pass_on(engine, task), since));
        }
    }
}

/// Does parts of somebody's task, if there are any; gives the time after that. The worker was idle since `since`.
fn help<O: Observer>(
    engine: &Engine<'_, O>,
    recorder: &mut Recorder<'_, O>,
    scratch: &mut dyn Any,
    since: u64,
) -> Option<u64> {
    let clock = || recorder.clock();
    // Meanwhile it is of no use to others, who would cut their tasks for nobody.
    engine.board.leave();
    let helped = engine.board.help(&engine.sleep, scratch, clock);
    engine.board.arrive();
    let (task, parts, begin) = helped?;
    recorder.state(WorkerState::Idle, since, begin);
    Some(recorder.shared(task, parts, begin))
}

/// A worker that was in bed may have been called for one task and found another: if tasks are left, it calls the next.
fn pass_on<O: Observer>(engine: &Engine<'_, O>, task: ReadyTask) -> ReadyTask {
    if engine.scheduler.queued() > 0 {
        engine.sleep.wake(Wake::Any);
    }
    task
}
