//! Who watches the runs of one call: the recorder, the system's counters, and the flops counted on the way to them.
//!
//! Takes what each run will record; gives an observer for each, one after the other, and the [`Record`] of all. Knows no solver's
//! code.

use crate::progress::Progress;
use crate::run::{Record, RunKind, SystemRecord};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use treeqr_profiling::system::{SystemRecorder, ThreadProbe};
use treeqr_profiling::{Expected, Recorder, RecorderOptions};
use treeqr_runtime::{
    Lane, MemoryRecord, Observer, RunInfo, ShareRecord, StallRecord, StateRecord, TaskId,
    TaskRecord, TaskSpec, Track, TransferRecord,
};
use treeqr_solver::{NULL_SPACE_CODELETS, Prediction, RunShape};

/// Tasks of a run that follows from another, where it does not say.
const FEW: usize = 512;

/// What a run that follows from another records, mostly, with so many tasks.
fn following(tasks: usize) -> Expected {
    Expected {
        tasks,
        accesses: 4 * tasks,
        memory_events: tasks,
        shares: 0,
    }
}

/// Operations that a task has at least when it is cut for helpers, in two parts: so many times they can come.
const SHARED_FLOPS: u64 = 1 << 21;
/// More often than this nobody helps: it is a matter of minutes, and of idle workers all the time.
const MOST_SHARES: u64 = 200_000;

/// The runs of one call, recorded on one axis of time.
pub(crate) struct Session<'p> {
    progress: &'p Progress,
    recorder: Recorder,
    /// When the recorder was made.
    origin: Instant,
    system: Option<SystemRecorder>,
    shape: RunShape,
    prediction: Prediction,
    begun: Begun,
}

/// The runs that have begun.
#[derive(Default)]
pub(crate) struct Begun {
    kinds: Mutex<Vec<RunKind>>,
    /// Tasks that they were given.
    tasks: AtomicU32,
}

impl Begun {
    fn kinds(&self) -> MutexGuard<'_, Vec<RunKind>> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'p> Session<'p> {
    /// `prediction` is that of the factorization, whether it is among the runs or was before.
    pub fn new(progress: &'p Progress, shape: RunShape, prediction: Prediction) -> Self {
        let options = progress.options();
        let modules = options.modules;
        let system = (!modules.is_empty()).then(|| SystemRecorder::new(modules));
        let recorder = Recorder::new(RecorderOptions {
            memory_bytes: options.memory_bytes,
            spill_dir: Some(options.spill_dir.clone()),
            ..RecorderOptions::default()
        });
        Session {
            progress,
            recorder,
            origin: Instant::now(),
            system,
            shape,
            prediction,
            begun: Begun::default(),
        }
    }

    /// Who watches the next run, and those that follow from it: a factorization may look for the rank afterwards. The first run's flops
    /// are the progress.
    pub fn begin(&mut self, kind: RunKind) -> Watched<'_> {
        let prediction = &self.prediction;
        let (tasks, accesses, memory_events, flops) = match &kind {
            RunKind::Factorize => (
                prediction.task_count(),
                prediction.accesses,
                prediction.buffers.0 + prediction.buffers.1,
                prediction.flops,
            ),
            RunKind::Solve(plan) => (
                plan.task_count(),
                plan.accesses,
                plan.memory_events,
                plan.flops,
            ),
            RunKind::Rank | RunKind::NullSpace => (0, 0, 0, 0),
        };
        let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        self.recorder.expect_next(Some(Expected {
            tasks: size(tasks),
            accesses: size(accesses),
            memory_events: size(memory_events),
            shares: size((flops / SHARED_FLOPS).min(MOST_SHARES)),
        }));
        let progress = self.begun.kinds().is_empty().then_some(self.progress);
        if let Some(progress) = progress {
            progress.begin(flops);
        }
        self.begun.kinds().push(kind);
        Watched {
            recorder: &self.recorder,
            system: self.system.as_ref(),
            progress,
            begun: &self.begun,
            runs: AtomicU32::new(0),
            tasks_before: AtomicU32::new(0),
        }
    }

    /// What was recorded.
    pub fn close(self) -> Record {
        let modules = self.progress.options().modules;
        let system = self.system.map(|system| system.finish());
        Record::new(
            self.shape,
            self.prediction,
            self.begun
                .kinds
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner),
            self.origin,
            self.recorder,
            system.map(|recording| SystemRecord::new(modules, recording)),
        )
    }

    /// A run has failed: what was recorded until then is left for whoever asks.
    pub fn fail(self) {
        let progress = self.progress;
        progress.leave(self.close());
    }
}

/// The recorder, with the flops counted on the way to it.
pub(crate) struct Watched<'a> {
    pub recorder: &'a Recorder,
    pub system: Option<&'a SystemRecorder>,
    /// Who wants to know the flops.
    pub progress: Option<&'a Progress>,
    /// The session's.
    pub begun: &'a Begun,
    /// How many runs have begun here. What the first is was said; those after it say it by their codelets.
    pub runs: AtomicU32,
    /// Tasks of the runs before the last that has begun: what the system counts has one numbering for all.
    pub tasks_before: AtomicU32,
}

impl Watched<'_> {
    fn kind_of(codelets: &[&'static str]) -> RunKind {
        if codelets == NULL_SPACE_CODELETS {
            RunKind::NullSpace
        } else {
            RunKind::Rank
        }
    }
}

/// A thread's track, and its counter.
pub(crate) struct WatchedTrack<'a> {
    records: <Recorder as Observer>::Track,
    probe: Option<ThreadProbe>,
    done: Option<&'a AtomicU64>,
    tasks: &'a AtomicU32,
    tasks_before: u32,
}

/// Every method goes on to the recorder, those with a default too: a lint asks for each.
#[deny(clippy::missing_trait_methods)]
impl<'a> Observer for Watched<'a> {
    type Track = WatchedTrack<'a>;
    const ACTIVE: bool = <Recorder as Observer>::ACTIVE;

    fn begin(&self, run: &RunInfo<'_>) {
        if self.runs.fetch_add(1, Relaxed) > 0 {
            let tasks = run.tasks.unwrap_or(FEW);
            self.recorder.expect_next(Some(following(tasks)));
            self.begun.kinds().push(Self::kind_of(run.codelets));
        }
        self.tasks_before
            .store(self.begun.tasks.load(Relaxed), Relaxed);
        self.recorder.begin(run);
    }

    fn attach(&self, lane: Lane) -> WatchedTrack<'a> {
        WatchedTrack {
            records: self.recorder.attach(lane),
            probe: self.system.map(|system| system.attach(lane)),
            done: (self.progress.filter(|_| self.runs.load(Relaxed) <= 1))
                .map(|progress| progress.counter(lane)),
            tasks: &self.begun.tasks,
            tasks_before: self.tasks_before.load(Relaxed),
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
        self.tasks.fetch_add(1, Relaxed);
        self.records.submitted(id, spec, ticks);
    }

    fn task(&mut self, record: &TaskRecord) {
        if let Some(done) = self.done {
            done.fetch_add(record.flops, Relaxed);
        }
        if let Some(probe) = &mut self.probe {
            probe.task(TaskId(self.tasks_before + record.id.0));
        }
        self.records.task(record);
    }

    fn memory(&mut self, record: &MemoryRecord) {
        self.records.memory(record);
    }

    fn stall(&mut self, record: &StallRecord) {
        self.records.stall(record);
    }

    fn share(&mut self, record: &ShareRecord) {
        if let Some(probe) = &mut self.probe {
            // What was counted in parts of another worker's task belongs to none of this one.
            probe.boundary();
        }
        self.records.share(record);
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
        let (recorder, progress, begun) = (
            Recorder::new(RecorderOptions::default()),
            Progress::default(),
            Begun::default(),
        );
        let watched = Watched {
            recorder: &recorder,
            system: None,
            progress: Some(&progress),
            begun: &begun,
            runs: AtomicU32::new(0),
            tasks_before: AtomicU32::new(0),
        };
        watched.begin(&RunInfo {
            workers: 1,
            scheduler: "none",
            codelets: &["work"],
            bound_to: &[None],
            host_bytes: 0,
            devices: &[],
            device_workers: &[],
            time_scale: 1.0,
            tasks: None,
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
        track.share(&ShareRecord {
            task: id,
            worker: 0,
            parts: 1,
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
        assert!(begun.kinds().is_empty(), "the first run's is said before");
        assert_eq!(begun.tasks.load(Relaxed), 1);
        assert_eq!(
            (run.submitted, run.workers.len(), run.lost_tracks),
            (1, 1, 0)
        );
        assert_eq!((run.tasks.len(), run.accesses.len()), (1, 1));
        assert_eq!((run.memory.len(), run.states.len()), (1, 1));
        assert_eq!((run.transfers.len(), run.stalls.len()), (1, 1));
        assert_eq!(run.shares.len(), 1);
        assert!(run.begin_ns <= run.tasks[0].start_ns && run.tasks[0].end_ns <= run.end_ns);
    }
}
