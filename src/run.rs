//! What a factorization says about itself: predicted, done, recorded.

use std::sync::{Mutex, OnceLock, PoisonError};
use treeqr_profiling::{Recorder, Recording, Summary};
use treeqr_runtime::RunStats;
use treeqr_solver::{Prediction, PriorityReport};

/// The run of one factorization.
#[derive(Debug)]
pub struct Run {
    prediction: Prediction,
    stats: RunStats,
    priorities: PriorityReport,
    tolerance: f64,
    /// The raw records, until somebody wants to see them.
    recorder: Mutex<Option<Recorder>>,
    recording: OnceLock<Recording>,
}

impl Run {
    pub(crate) fn new(
        prediction: Prediction,
        stats: RunStats,
        priorities: PriorityReport,
        tolerance: f64,
        recorder: Recorder,
    ) -> Self {
        Run {
            prediction,
            stats,
            priorities,
            tolerance,
            recorder: Mutex::new(Some(recorder)),
            recording: OnceLock::new(),
        }
    }

    /// What the analysis said this run would do.
    pub fn prediction(&self) -> &Prediction {
        &self.prediction
    }

    /// What the runtime says about it.
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

    /// Every task with its times, memory by tree node, states of the workers. The tables are made when first asked for.
    pub fn recording(&self) -> &Recording {
        self.recording.get_or_init(|| {
            let mut recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
            recorder.take().expect("taken once").finish()
        })
    }

    /// The recording in a few numbers: times by codelet and worker, occupancy, memory. It prints itself as text.
    pub fn summary(&self) -> Summary {
        self.recording().summary(0)
    }
}
