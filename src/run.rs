//! What runs say about themselves: predicted, done, recorded.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use treeqr_profiling::system::{ClockPair, Modules, MonotonicAnchor, SystemRecording};
use treeqr_profiling::{Recorder, Recording, Summary};
use treeqr_runtime::RunStats;
use treeqr_solver::{Prediction, PriorityReport, RunShape, SolvePlan};

/// What the modules recorded that were asked for.
#[derive(Debug)]
pub struct SystemRecord {
    /// Which.
    pub modules: Modules,
    /// Their tables, on the monotonic clock.
    pub recording: SystemRecording,
    anchor: MonotonicAnchor,
}

impl SystemRecord {
    pub(crate) fn new(modules: Modules, recording: SystemRecording) -> Self {
        SystemRecord {
            modules,
            recording,
            anchor: MonotonicAnchor::now(),
        }
    }
}

/// What a recorded run did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunKind {
    /// It factorized.
    Factorize,
    /// It looked for the rank: it eliminated again where R has negligible pivots.
    Rank,
    /// It made an orthonormal basis of the null space.
    NullSpace,
    /// It solved with the factors, as planned.
    Solve(SolvePlan),
}

/// The record of one call, whether it came to its end or not: of a factorization, of a factorization and the solve after it, or
/// of a solve alone.
#[derive(Debug)]
pub struct Record {
    shape: RunShape,
    prediction: Prediction,
    kinds: Vec<RunKind>,
    /// Time zero of the tables.
    origin: Instant,
    /// The raw records, until somebody wants to see them.
    recorder: Mutex<Option<Recorder>>,
    recording: OnceLock<Recording>,
    system: Option<SystemRecord>,
}

impl Record {
    pub(crate) fn new(
        shape: RunShape,
        prediction: Prediction,
        kinds: Vec<RunKind>,
        origin: Instant,
        recorder: Recorder,
        system: Option<SystemRecord>,
    ) -> Self {
        Record {
            shape,
            prediction,
            kinds,
            origin,
            recorder: Mutex::new(Some(recorder)),
            recording: OnceLock::new(),
            system,
        }
    }

    /// What each run was, in the order of [`Recording::runs`]. One that failed before its first task may have no tables there.
    pub fn kinds(&self) -> &[RunKind] {
        &self.kinds
    }

    /// What was asked of the factorization besides the matrix.
    pub fn shape(&self) -> RunShape {
        self.shape
    }

    /// What the analysis said the factorization would do.
    pub fn prediction(&self) -> &Prediction {
        &self.prediction
    }

    /// Time zero of the tables.
    pub fn origin(&self) -> Instant {
        self.origin
    }

    /// Every task with its times, memory by tree node, states of the workers. The tables are made when first asked for.
    pub fn recording(&self) -> &Recording {
        self.recording.get_or_init(|| {
            let mut recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
            let recording = recorder.take().expect("taken once").finish();
            for run in &recording.runs {
                if run.dropped > 0 || run.lost_tracks > 0 {
                    let (dropped, lost_threads) = (run.dropped, run.lost_tracks);
                    tracing::warn!(dropped, lost_threads, "the record of the run is incomplete");
                }
            }
            recording
        })
    }

    /// What the modules recorded, if any were asked for.
    pub fn system(&self) -> Option<&SystemRecord> {
        self.system.as_ref()
    }

    /// The monotonic clock and the axis of the tables at two moments, for [`SystemRecord`]s. Off by less than a
    /// microsecond: the time between the making of the recorder and the reading of [`Self::origin`].
    pub(crate) fn clock_pairs(&self, system: &SystemRecord) -> [ClockPair; 2] {
        let clock = self.recording().clock;
        [clock.first, clock.last].map(|anchor| ClockPair {
            monotonic_ns: system
                .anchor
                .monotonic_of(self.origin + Duration::from_nanos(anchor.ns)),
            recording_ns: clock.nanoseconds(anchor.ticks),
        })
    }

    /// The first run in a few numbers: times by codelet and worker, occupancy, memory. It prints itself as text.
    ///
    /// # Panics
    /// If no run began.
    pub fn summary(&self) -> Summary {
        self.recording().summary(0)
    }

    /// The same of the solve, if there was one.
    pub fn solve_summary(&self) -> Option<Summary> {
        let solve = |kind: &RunKind| matches!(kind, RunKind::Solve(_));
        let index = self.kinds.iter().position(solve)?;
        let began = index < self.recording().runs.len();
        began.then(|| self.recording().summary(index))
    }
}

/// The run of one factorization that came to its end, and the solve after it where both were one call.
#[derive(Debug)]
pub struct Run {
    record: Record,
    stats: RunStats,
    priorities: PriorityReport,
    tolerance: f64,
    pub(crate) device_failure: Option<String>,
}

impl Run {
    pub(crate) fn new(
        record: Record,
        stats: RunStats,
        priorities: PriorityReport,
        tolerance: f64,
    ) -> Self {
        Run {
            record,
            stats,
            priorities,
            tolerance,
            device_failure: None,
        }
    }

    /// How a device failed, if one did: everything was then computed again on the CPU, and the record is of that.
    pub fn device_failure(&self) -> Option<&str> {
        self.device_failure.as_deref()
    }

    /// What was recorded.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// What the analysis said this run would do.
    pub fn prediction(&self) -> &Prediction {
        self.record.prediction()
    }

    /// What the runtime says about the factorization.
    pub fn stats(&self) -> &RunStats {
        &self.stats
    }

    /// How the priorities of its tasks came about.
    pub fn priorities(&self) -> &PriorityReport {
        &self.priorities
    }

    /// The size up to which a diagonal entry of R counted as zero.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// See [`Record::recording`].
    pub fn recording(&self) -> &Recording {
        self.record.recording()
    }

    /// See [`Record::summary`].
    pub fn summary(&self) -> Summary {
        self.record.summary()
    }
}
