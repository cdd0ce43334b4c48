//! What is recorded of a run, and how far it has come while it goes on: the recorder's events, counted on the way to it.
//!
//! Takes the end of every task; gives the flops done so far to whoever asks, from any thread. Each worker adds to a counter on
//! a cache line of its own: no lock, no wait, and nobody else writes there.

use crate::run::Record;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use treeqr_profiling::Recorder;
use treeqr_profiling::system::{Modules, SystemRecorder, ThreadProbe};
use treeqr_runtime::{
    Lane, MemoryRecord, Observer, RunInfo, StallRecord, StateRecord, TaskId, TaskRecord, TaskSpec,
    Track, TransferRecord,
};

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

/// The flops of one run, predicted and done. Clones look at the same run.
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

    /// Begins anew, with this many flops ahead.
    pub(crate) fn begin(&self, predicted: u64) {
        self.0.done.iter().for_each(|lane| lane.0.store(0, Relaxed));
        self.0.predicted.store(predicted, Relaxed);
    }
}

/// The recorder, with the flops counted on the way to it.
pub(crate) struct Watched<'a> {
    pub recorder: &'a Recorder,
    pub system: Option<&'a SystemRecorder>,
    pub progress: &'a Progress,
}

/// A thread's track, and its counter.
pub(crate) struct WatchedTrack<'a> {
    records: <Recorder as Observer>::Track,
    probe: Option<ThreadProbe>,
    done: &'a AtomicU64,
}

/// Every method goes on to the recorder, those with a default too: a lint asks for each.
#[deny(clippy::missing_trait_methods)]
impl<'a> Observer for Watched<'a> {
    type Track = WatchedTrack<'a>;
    const ACTIVE: bool = <Recorder as Observer>::ACTIVE;

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
            probe: self.system.map(|system| system.attach(lane)),
            done: &self.progress.0.done[counter].0,
        }
    }

    fn detach(&self, track: WatchedTrack<'a>) {
        drop(track.probe);
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

#[deny(clippy::missing_trait_methods)]
impl Track for WatchedTrack<'_> {
    fn submitted(&mut self, id: TaskId, spec: &TaskSpec, ticks: u64) {
        self.records.submitted(id, spec, ticks);
    }

    fn task(&mut self, record: &TaskRecord) {
        self.done.fetch_add(record.flops, Relaxed);
        if let Some(probe) = &mut self.probe {
            probe.task(record.id);
        }
        self.records.task(record);
    }

    fn memory(&mut self, record: &MemoryRecord) {
        self.records.memory(record);
    }

    fn stall(&mut self, record: &StallRecord) {
        self.records.stall(record);
    }

    fn state(&mut self, record: &StateRecord) {
        if let Some(probe) = &mut self.probe {
            // What was counted without a task belongs to none.
            probe.boundary();
        }
        self.records.state(record);
    }

    fn transfer(&mut self, record: &TransferRecord) {
        self.records.transfer(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use treeqr_profiling::RecorderOptions;
    use treeqr_runtime::{
        Access, CodeletId, Handle, MemoryNode, StallReason, TransferKind, WorkerState,
    };

    /// One event of each kind on its way through: one row in each table.
    #[test]
    fn everything_goes_on_to_the_recorder() {
        let (recorder, progress) = (
            Recorder::new(RecorderOptions::default()),
            Progress::default(),
        );
        let watched = Watched {
            recorder: &recorder,
            system: None,
            progress: &progress,
        };
        watched.begin(&RunInfo {
            workers: 1,
            scheduler: "none",
            codelets: &["work"],
            bound_to: &[None],
            host_bytes: 0,
            devices: &[],
            time_scale: 1.0,
        });
        let (id, handle, memory) = (TaskId(0), Handle(0), MemoryNode::HOST);
        let (start, end) = (watched.clock(), watched.start_after(0));
        let mut track = watched.attach(Lane::Submission);
        let spec = TaskSpec::new(CodeletId(0), 0).with(handle, Access::Read);
        track.submitted(id, &spec, start);
        track.stall(&StallRecord {
            reason: StallReason::Window,
            submitted: 1,
            start,
            end,
        });
        watched.detach(track);
        let mut track = watched.attach(Lane::Worker(0));
        track.task(&TaskRecord {
            id,
            codelet: CodeletId(0),
            worker: 0,
            node: 0,
            params: [0; 6],
            queued: 0,
            priority: 0,
            flops: 17,
            bytes: 0,
            submit: start,
            ready: start,
            pop: start,
            start,
            end,
        });
        track.memory(&MemoryRecord {
            ticks: start,
            handle,
            task: id,
            node: 0,
            memory,
            delta_bytes: 8,
            after_bytes: 8,
        });
        track.state(&StateRecord {
            worker: 0,
            state: WorkerState::Idle,
            start,
            end,
        });
        track.transfer(&TransferRecord {
            ticks: start,
            wait_ns: 0,
            duration_ns: 0,
            bytes: 8,
            handle,
            from: memory,
            to: MemoryNode(1),
            kind: TransferKind::Fetch,
        });
        watched.detach(track);
        let run = &recorder.finish().runs[0];
        assert_eq!(progress.flops(), 17);
        assert_eq!(
            (run.submitted, run.workers.len(), run.lost_tracks),
            (1, 1, 0)
        );
        assert_eq!((run.tasks.len(), run.accesses.len()), (1, 1));
        assert_eq!((run.memory.len(), run.states.len()), (1, 1));
        assert_eq!((run.transfers.len(), run.stalls.len()), (1, 1));
        assert!(run.begin_ns <= run.tasks[0].start_ns && run.tasks[0].end_ns <= run.end_ns);
    }
}
