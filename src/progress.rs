//! How far a run has come, while it goes on: the recorder's events, counted on the way to it.
//!
//! Takes the end of every task; gives the flops done so far to whoever asks, from any thread. Each worker adds to a counter on
//! a cache line of its own: no lock, no wait, and nobody else writes there.

use crate::run::Record;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use treeqr_profiling::Recorder;
use treeqr_runtime::{
    Lane, MemoryRecord, Observer, RunInfo, StallRecord, StateRecord, TaskId, TaskRecord, TaskSpec,
    Track, TransferRecord,
};

/// Counters; workers beyond them share.
const LANES: usize = 64;

/// The flops of one run, predicted and done. Clones look at the same run.
#[derive(Clone, Debug)]
pub struct Progress(Arc<Counters>);

#[derive(Debug)]
struct Counters {
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
        Progress(Arc::new(Counters {
            predicted: AtomicU64::new(0),
            unfinished: Mutex::new(None),
            done: std::array::from_fn(|_| Counter::default()),
        }))
    }
}

impl Progress {
    /// Flops that the run will take in all; 0 before it has begun.
    pub fn predicted_flops(&self) -> u64 {
        self.0.predicted.load(Relaxed)
    }

    /// Flops of the tasks that have ended.
    pub fn flops(&self) -> u64 {
        self.0.done.iter().map(|lane| lane.0.load(Relaxed)).sum()
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

    /// Begins anew, with this many flops ahead.
    pub(crate) fn begin(&self, predicted: u64) {
        self.0.done.iter().for_each(|lane| lane.0.store(0, Relaxed));
        self.0.predicted.store(predicted, Relaxed);
    }
}

/// The recorder, with the flops counted on the way to it.
pub(crate) struct Watched<'a> {
    pub recorder: &'a Recorder,
    pub progress: &'a Progress,
}

/// A thread's track, and its counter.
pub(crate) struct WatchedTrack<'a> {
    records: <Recorder as Observer>::Track,
    done: &'a AtomicU64,
}

impl<'a> Observer for Watched<'a> {
    type Track = WatchedTrack<'a>;

    fn begin(&self, run: &RunInfo<'_>) {
        self.recorder.begin(run);
    }

    fn attach(&self, lane: Lane) -> WatchedTrack<'a> {
        let counter = match lane {
            Lane::Submission => 0,
            Lane::Worker(worker) => worker % LANES,
        };
        WatchedTrack {
            records: self.recorder.attach(lane),
            done: &self.progress.0.done[counter].0,
        }
    }

    fn detach(&self, track: WatchedTrack<'a>) {
        self.recorder.detach(track.records);
    }

    #[inline]
    fn clock(&self) -> u64 {
        self.recorder.clock()
    }

    #[inline]
    fn start_after(&self, end: u64) -> u64 {
        self.recorder.start_after(end)
    }
}

impl Track for WatchedTrack<'_> {
    fn submitted(&mut self, id: TaskId, spec: &TaskSpec, ticks: u64) {
        self.records.submitted(id, spec, ticks);
    }

    fn task(&mut self, record: &TaskRecord) {
        self.done.fetch_add(record.flops, Relaxed);
        self.records.task(record);
    }

    fn memory(&mut self, record: &MemoryRecord) {
        self.records.memory(record);
    }

    fn stall(&mut self, record: &StallRecord) {
        self.records.stall(record);
    }

    fn state(&mut self, record: &StateRecord) {
        self.records.state(record);
    }

    fn transfer(&mut self, record: &TransferRecord) {
        self.records.transfer(record);
    }
}
