//! A run with workers.
//!
//! Takes options, application, store, observer and the submission; gives its result when all tasks are done and all
//! threads have ended.

use super::submit::{Flow, Submission, Submitter, submitting};
use super::{Engine, worker};
use crate::codelet::Application;
use crate::config::{Config, DeviceStats, RunStats};
use crate::engine::share::Board;
use crate::engine::sleep::Sleep;
use crate::engine::tally::Tally;
use crate::erased::AnyApplication;
use crate::error::{RunError, Stopped};
use crate::faults::ActiveFaults;
use crate::machine::{Event, Machine};
use crate::observer::{Lane, Observer, RunInfo, Track};
use crate::schedulers::Scene;
use crate::store::{DataStore, SharedStore};
use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering};
use crate::throttle::Throttle;
use crate::topology::Platform;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::{self, Builder};
use std::time::Instant;
use treeqr_devices::DeviceError;

/// Stack of a worker: what the main thread of a program usually has. Pages are used as they are touched.
const STACK_BYTES: usize = 8 << 20;

/// Runs what `submit` submits on `config.threads` workers, beginning while it still submits; returns its result when all
/// is done. The outcome is that of doing the tasks one by one in the order of submission.
///
/// Cost beyond the tasks: some tens of microseconds a worker for its thread, and a fraction of a microsecond a task.
///
/// # Errors
/// The first failure of a task, a worker or the system, or [`RunError::Cancelled`]. Tasks that had not started then never do; all threads have ended.
///
/// # Panics
/// If `config.threads` is 0 or above 65536, if `config.limits` names a codelet that does not exist, or if `submit` panics (after all threads have ended).
pub fn run<A, O, R, F>(
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
    let devices = config.devices.len() + config.accelerators.len();
    let shared = store.share(devices);
    let done = submitting(submit, |submit| {
        run_on(config, app, shared, observer, submit)
    });
    if !config.accelerators.is_empty() {
        store.unpin();
    }
    done
}

fn run_on<O: Observer>(
    config: &Config,
    app: &dyn AnyApplication,
    store: SharedStore<'_>,
    observer: &O,
    submit: Submission<'_>,
) -> Result<RunStats, RunError> {
    let begin = Instant::now();
    assert!(
        (1..=1 << 16).contains(&config.threads),
        "{} threads",
        config.threads
    );
    assert!(
        config.devices.is_empty() || config.accelerators.is_empty(),
        "emulated devices and real ones in one run"
    );
    let streams: usize = config.accelerators.iter().map(|a| a.streams).sum();
    let workers = config.threads + config.devices.len() + streams;
    let platform = match config.bind {
        true => Platform::discover(workers - streams),
        false => Platform::ring(workers - streams),
    };
    let platform = platform.and_unpinned(streams);
    let ticks = || observer.clock();
    let machine = Machine::new(config, app, store, &ticks).map_err(RunError::Device)?;
    let host_bytes = store.bytes();
    announce(
        config,
        app,
        observer,
        &platform,
        host_bytes,
        machine.scale(),
    );
    let engine = Engine {
        app,
        store,
        observer,
        scheduler: (config.scheduler.create)(Scene::new(&platform, machine.places(), &machine)),
        platform: &platform,
        machine: &machine,
        bind: config.bind,
        flush_denormals: config.flush_denormals,
        sleep: Sleep::new(workers),
        board: Board::new(),
        share: config.share,
        tally: Tally::new(config.window),
        throttle: Throttle::new(&config.limits, app.names().len()),
        cancel: &config.cancel,
        faults: ActiveFaults::new(config.faults),
        stopped: AtomicBool::new(false),
        error: Mutex::new(None),
        bound_workers: AtomicUsize::new(0),
        flushing_workers: AtomicUsize::new(0),
    };
    let (outcome, submission, home) = thread::scope(|scope| {
        let mut threads = Vec::new();
        let mut copiers = Vec::new();
        for copier in machine.copiers() {
            let thread = Builder::new().name("treeqr-copies".to_owned());
            match thread.spawn_scoped(scope, copier) {
                Ok(thread) => copiers.push(thread),
                Err(source) => engine.fail(RunError::Spawn {
                    worker: config.threads,
                    source,
                }),
            }
        }
        for worker in 0..workers {
            let engine = &engine;
            let thread = Builder::new()
                .name(format!("treeqr-worker-{worker}"))
                .stack_size(STACK_BYTES);
            let spawned = thread.spawn_scoped(scope, move || worker::work(engine, worker));
            match spawned {
                Ok(thread) => threads.push(thread),
                Err(source) => {
                    engine.fail(RunError::Spawn { worker, source });
                    break;
                }
            }
        }
        let mut track = observer.attach(Lane::Submission);
        let mut flow = Flow::new(&engine, &mut track);
        // Unwind safety: after a panic the run ends and the panic goes on.
        let outcome = catch_unwind(AssertUnwindSafe(|| submit(&mut Submitter::new(&mut flow))));
        let submission = flow.close();
        if !matches!(outcome, Ok(Ok(_))) {
            engine.stop();
        }
        observer.detach(track);
        engine.heed(engine.tally.close(submission.tasks as usize));
        for thread in threads {
            // The end of the scope would wait for what they run, but not for the threads themselves.
            thread.join().expect("a worker catches all panics");
        }
        let home = bring_home(&machine, observer, engine.is_stopped());
        machine.close_links();
        for copier in copiers {
            copier.join().expect("a copy catches all panics");
        }
        (outcome, submission, home)
    });
    let outcome = outcome.unwrap_or_else(|payload| resume_unwind(payload));
    let error = engine.error.into_inner();
    if let Some(error) = error.unwrap_or_else(std::sync::PoisonError::into_inner) {
        return Err(error);
    }
    home.map_err(RunError::Device)?;
    outcome.expect("who says that the run has stopped has it from a run that failed");
    Ok(RunStats {
        tasks: u64::from(submission.tasks),
        threads: config.threads,
        scheduler: config.scheduler.name,
        elapsed: begin.elapsed(),
        bound_workers: engine.bound_workers.load(Ordering::Relaxed),
        flush_denormals: engine.flushing_workers.load(Ordering::Relaxed) == workers,
        peak_bytes: store.peak_bytes(),
        allocations: store.allocations(),
        peak_tasks: submission.peak_tasks,
        stalls: submission.stalls,
        stalled: submission.stalled,
        models: machine.close(),
        devices: device_stats(config, &machine),
        time_scale: machine.scale(),
    })
}

/// All data goes to the host; that is the submission's doing, on a track of its own.
fn bring_home<O: Observer>(
    machine: &Machine<'_>,
    observer: &O,
    failed: bool,
) -> Result<(), DeviceError> {
    if !machine.has_devices() {
        return Ok(());
    }
    let home = machine.flush(failed);
    let mut track = observer.attach(Lane::Submission);
    for event in machine.take_events() {
        if let Event::Transfer(record) = event {
            track.transfer(&record);
        }
    }
    observer.detach(track);
    home
}

fn device_stats(config: &Config, machine: &Machine<'_>) -> Vec<DeviceStats> {
    let emulated = config.devices.iter().map(|device| (&device.name, None, 1));
    let real = config.accelerators.iter().map(|device| {
        let model = device.device.name().to_owned();
        (&device.name, Some(model), device.streams)
    });
    let all = emulated
        .chain(real)
        .zip(machine.link_stats())
        .zip(machine.done());
    all.map(
        |(((name, model, workers), link), (tasks, busy, clock_error_ticks))| DeviceStats {
            name: name.clone(),
            emulated: model.is_none(),
            model,
            workers,
            tasks,
            busy,
            clock_error_ticks,
            link,
        },
    )
    .collect()
}

fn announce<O: Observer>(
    config: &Config,
    app: &dyn AnyApplication,
    observer: &O,
    platform: &Platform,
    host_bytes: u64,
    time_scale: f64,
) {
    let workers = platform.workers();
    let emulated = config.devices.iter().map(|d| d.name.clone());
    let real = config.accelerators.iter().map(|d| d.name.clone());
    let devices: Vec<_> = emulated.chain(real).collect();
    let one_each = std::iter::repeat_n(1, config.devices.len());
    let device_workers: Vec<usize> = one_each
        .chain(config.accelerators.iter().map(|d| d.streams))
        .collect();
    let bound_to: Vec<_> = (0..workers).map(|w| platform.unit(w)).collect();
    observer.begin(&RunInfo {
        workers,
        scheduler: config.scheduler.name,
        codelets: &app.names(),
        bound_to: &bound_to,
        host_bytes,
        devices: &devices,
        device_workers: &device_workers,
        time_scale,
        tasks: config.tasks,
    });
}
