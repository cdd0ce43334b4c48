//! How to run.
//!
//! Takes what the user chose; gives defaults for the rest, and what a run reports about itself.

use crate::cancel::CancelHandle;
use crate::faults::Faults;
use crate::machine::{Accelerator, DeviceSpec, LinkStats};
use crate::models::{ModelReport, ModelStore};
use crate::schedulers::{self, SchedulerEntry};
use crate::store::Allocations;
use crate::throttle::Limit;
use crate::topology;
use std::num::NonZeroUsize;
use std::time::Duration;

/// The options of a run.
#[derive(Clone, Debug)]
pub struct Config {
    /// Number of workers, at least 1; [`available_threads`](crate::available_threads) by default. The submitting thread
    /// comes on top; it is busy while it submits and then waits.
    pub threads: usize,
    /// The policy; see [`schedulers::by_name`].
    pub scheduler: &'static SchedulerEntry,
    /// Pins each worker to a processing unit of its own, cores before their second hardware threads. Has no effect with
    /// more workers than units, without hwloc, or where the system refuses; [`RunStats::bound_workers`] says.
    pub bind: bool,
    /// Flush-to-zero and denormals-are-zero while tasks run. [`RunStats::flush_denormals`] says whether it was had.
    pub flush_denormals: bool,
    /// Emulated devices, one worker each beside the CPU workers; see [`DeviceSpec`] and `runtime/src/machine/mod.rs`, which
    /// says how they are emulated. Runs with devices are slower than without: all of the machine runs in slow motion.
    pub devices: Vec<DeviceSpec>,
    /// Devices that are there, each with a worker for every stream, beside the CPU workers. Not together with emulated ones.
    pub accelerators: Vec<Accelerator>,
    /// At most this many tasks are unfinished at a time; the submission waits until a quarter of them is done. It bounds
    /// the memory for the task graph, and what schedulers can see of it; `None` for no bound. Results do not depend on it.
    pub window: Option<NonZeroUsize>,
    /// At most so many tasks of a codelet at a time. Of those that are ready the others wait, by falling priority, before
    /// the scheduler sees them.
    pub limits: Vec<Limit>,
    /// Ends the run from outside. A clone of the options has the same handle.
    pub cancel: CancelHandle,
    /// Whether a CPU worker that finds no task does parts of one that another has: see [`TaskContext::share`](crate::TaskContext::share). Yes by
    /// default; without, a task is one worker's, as policies see it.
    pub share: bool,
    /// Faults on purpose, for tests.
    pub faults: Faults,
    /// Where cost models are kept between runs; only schedulers that ask for predictions have any.
    pub models: ModelStore,
    /// Measures tasks for cost models under every scheduler, for a later run that asks ([`ModelStore::read`]). It costs two
    /// readings of the system's clock and a lock a task.
    pub learn: bool,
    /// How many tasks will be submitted, where that is known: for whoever watches.
    pub tasks: Option<usize>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            threads: topology::available_threads(),
            scheduler: schedulers::default_entry(),
            bind: true,
            flush_denormals: true,
            devices: Vec::new(),
            accelerators: Vec::new(),
            window: None,
            limits: Vec::new(),
            cancel: CancelHandle::new(),
            share: true,
            faults: Faults::default(),
            models: ModelStore::default(),
            learn: false,
            tasks: None,
        }
    }
}

impl Config {
    /// The default with `threads` workers.
    pub fn with_threads(threads: usize) -> Self {
        Config {
            threads,
            ..Config::default()
        }
    }
}

/// What a run says about itself.
#[derive(Clone, Debug)]
pub struct RunStats {
    /// Tasks submitted, all of them done.
    pub tasks: u64,
    /// Number of CPU workers.
    pub threads: usize,
    /// Name of the scheduler; `sequential` for none.
    pub scheduler: &'static str,
    /// From the call to the end of the last worker.
    pub elapsed: Duration,
    /// How many workers were pinned.
    pub bound_workers: usize,
    /// Whether tasks ran with denormal numbers flushed to zero.
    pub flush_denormals: bool,
    /// The most bytes that lay in the store on the host during the run, what was there before included.
    pub peak_bytes: u64,
    /// Where the buffers that tasks took came from.
    pub allocations: Allocations,
    /// The most tasks that were submitted and not done at the same time, as the submission sees it now and then.
    pub peak_tasks: u64,
    /// How often the submission waited: the window was full, or the application waited for memory.
    pub stalls: u64,
    /// How long it waited, in all.
    pub stalled: Duration,
    /// What became of the cost models, where the scheduler uses them.
    pub models: Option<ModelReport>,
    /// The devices, emulated or not.
    pub devices: Vec<DeviceStats>,
    /// With emulated devices, wall time over time of the emulated machine: `elapsed` over this is what it would have
    /// taken. Else 1.
    pub time_scale: f64,
}

/// What a run says about one of its devices.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceStats {
    /// Its name.
    pub name: String,
    /// As its maker calls it, if it is there.
    pub model: Option<String>,
    /// Whether there is no such device.
    pub emulated: bool,
    /// Its workers: one, or one for every stream.
    pub workers: usize,
    /// Tasks that it has run.
    pub tasks: u64,
    /// The time of all its workers in them.
    pub busy: Duration,
    /// How far the recorded times of its tasks may be off, in ticks of the observer; 0 where the host's clock is theirs.
    pub clock_error_ticks: u64,
    /// What its memory held, and what came and went.
    pub link: LinkStats,
}
