//! How far a run has come while it goes on, and how it is to be recorded.
//!
//! Takes the flops of every task that ends; gives the sum so far to whoever asks, from any thread. Each worker adds to a counter
//! on a cache line of its own: no lock, no wait, and nobody else writes there.

use crate::run::Record;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use treeqr_profiling::system::Modules;
use treeqr_runtime::Lane;

/// Counters; workers beyond them share.
const LANES: usize = 64;

/// What is recorded of a run, and how much memory that may take.
#[derive(Clone, Debug)]
pub struct RecordOptions {
    /// Memory for records, in bytes; beyond it they go to a file.
    pub memory_bytes: usize,
    /// The folder of that file; it has no name there and is gone when the record is.
    pub spill_dir: PathBuf,
    /// What the system is asked for besides: context switches, counters.
    pub modules: Modules,
}

impl Default for RecordOptions {
    /// 1 GiB, then the system's folder for temporary files; no further modules.
    fn default() -> Self {
        RecordOptions {
            memory_bytes: 1 << 30,
            spill_dir: std::env::temp_dir(),
            modules: Modules::default(),
        }
    }
}

/// The flops of one run, predicted and done: of a factorization, or of a solve with factors that were there. What solves after
/// the factorization in the same call is not counted. Clones look at the same run.
#[derive(Clone, Debug)]
pub struct Progress(Arc<Counters>);

#[derive(Debug)]
struct Counters {
    options: RecordOptions,
    predicted: AtomicU64,
    unfinished: Mutex<Option<Record>>,
    done: [Counter; LANES],
}

/// On a cache line of its own (two, since they are fetched in pairs).
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

impl Default for Progress {
    fn default() -> Self {
        Progress::new(RecordOptions::default())
    }
}

impl Progress {
    /// For a run that is recorded in this way.
    pub fn new(options: RecordOptions) -> Self {
        Progress(Arc::new(Counters {
            options,
            predicted: AtomicU64::new(0),
            unfinished: Mutex::new(None),
            done: std::array::from_fn(|_| Counter::default()),
        }))
    }

    /// Flops that the run will take in all; 0 before it has begun.
    pub fn predicted_flops(&self) -> u64 {
        self.0.predicted.load(Relaxed)
    }

    /// Flops of the tasks that have ended.
    pub fn flops(&self) -> u64 {
        self.0.done.iter().map(|lane| lane.0.load(Relaxed)).sum()
    }

    /// How the run is recorded.
    pub fn options(&self) -> &RecordOptions {
        &self.0.options
    }

    /// The record of a run that failed or was cancelled: what had been done until then. It is handed out once.
    pub fn take_unfinished(&self) -> Option<Record> {
        self.unfinished().take()
    }

    pub(crate) fn leave(&self, record: Record) {
        *self.unfinished() = Some(record);
    }

    fn unfinished(&self) -> MutexGuard<'_, Option<Record>> {
        let unfinished = self.0.unfinished.lock();
        unfinished.unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a thread adds the flops it has done.
    pub(crate) fn counter(&self, lane: Lane) -> &AtomicU64 {
        let counter = match lane {
            Lane::Submission => 0,
            Lane::Worker(worker) => worker % LANES,
        };
        &self.0.done[counter].0
    }

    /// Begins anew, with this many flops ahead.
    pub(crate) fn begin(&self, predicted: u64) {
        self.0.done.iter().for_each(|lane| lane.0.store(0, Relaxed));
        self.0.predicted.store(predicted, Relaxed);
    }
}
