//! The recorder: the runtime's observer that keeps everything.
//!
//! Takes what it may use ([`RecorderOptions`]); gives each thread of a run a track of its own, and the [`Recording`] at the
//! end. Knows no table and no metric. A lock is taken when a thread begins and ends, never in between.
//!
//! | file | subject |
//! | --- | --- |
//! | `options.rs` | what it may use and expect |
//! | `packed.rs` | records as words |
//! | `pool.rs` | chunks of words on their way between threads |
//! | `track.rs` | a thread of the run: writes records |
//! | `keeper.rs`, `spill.rs` | the helper thread: empty chunks ahead, full ones away; its file |
//! | `cost.rs` | what all this costs a worker |

mod cost;
mod keeper;
mod options;
mod packed;
mod pool;
mod spill;
#[cfg(test)]
mod tests;
mod track;

pub use options::{Expected, RecorderOptions};
pub use track::ThreadTrack;

pub(crate) use keeper::{Kept, Spilled};
pub(crate) use packed::{KINDS, Kind, Record, decode};
pub(crate) use pool::Piece;
pub(crate) use track::Stream;

use crate::clock::{Anchor, Clock};
use crate::recording::{Recording, assemble};
use pool::{MOST_WITHOUT_KEEPER, Pool};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use treeqr_runtime::{Lane, Observer, RunInfo};

/// Records one run after the other (not two at once), on a common time axis that begins when it is made.
#[derive(Debug)]
pub struct Recorder {
    shared: Arc<Shared>,
    runs: Mutex<Runs>,
    streams: AtomicU32,
}

/// What the recorder, its tracks and its keeper share.
#[derive(Debug)]
struct Shared {
    options: RecorderOptions,
    /// Of the next run, or the one that goes on.
    expected: Mutex<Option<Expected>>,
    clock: Clock,
    pool: Pool,
    keeper: Mutex<Option<JoinHandle<Kept>>>,
    /// The keeper is to end.
    stop: AtomicBool,
}

#[derive(Debug, Default)]
struct Runs {
    runs: Vec<RawRun>,
    /// Both clocks when runs began.
    anchors: Vec<Anchor>,
}

/// What came back from the threads of a run.
#[derive(Debug)]
pub(crate) struct RawRun {
    pub(crate) workers: usize,
    pub(crate) scheduler: &'static str,
    pub(crate) codelets: Vec<&'static str>,
    pub(crate) bound_to: Vec<Option<u32>>,
    pub(crate) host_bytes: u64,
    pub(crate) devices: Vec<String>,
    pub(crate) device_workers: Vec<usize>,
    pub(crate) time_scale: f64,
    pub(crate) begin: u64,
    pub(crate) streams: Vec<Stream>,
}

impl Shared {
    fn keeper(&self) -> MutexGuard<'_, Option<JoinHandle<Kept>>> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn expected(&self) -> MutexGuard<'_, Option<Expected>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Words of the first chunk of `lane`: for a run that is said to be small, what it needs.
    fn first_words(&self, lane: Lane) -> usize {
        let chunk = self.pool.chunk_words;
        match (self.pool.queues(), *self.expected()) {
            (None, Some(expected)) if lane == Lane::Submission => {
                expected.submission_words().min(chunk)
            }
            (None, Some(expected)) => expected.worker_words().min(chunk),
            _ => chunk,
        }
    }

    /// Gets ready for a run on so many threads: with a keeper, unless a first chunk for each is said to be enough, or what can be
    /// laid by. (On a machine whose processors all work, a keeper that looks every few milliseconds takes a worker's time, and more
    /// of it than the pages that it would have ready.)
    fn prepare(&self, threads: usize, devices: bool) -> Option<usize> {
        let chunk = self.pool.chunk_words;
        let Some(expected) = *self.expected() else {
            self.pool.lay_by(16 * threads);
            return Some(2 * threads);
        };
        let (worker, submission) = (expected.worker_words(), expected.submission_words());
        if worker <= chunk && submission <= chunk && !devices {
            return None;
        }
        // Address space; a microsecond for each.
        let chunks = worker.div_ceil(chunk) + submission.div_ceil(chunk) + threads;
        self.pool.lay_by(chunks + chunks / 2);
        let enough = chunks <= MOST_WITHOUT_KEEPER && self.pool.laid_by() >= chunks;
        (devices || !enough).then_some(chunks.min(2 * threads))
    }
}

impl Recorder {
    /// A recorder that uses what `options` allow.
    pub fn new(options: RecorderOptions) -> Self {
        let clock = options.clock.map_or_else(Clock::new, Clock::of_kind);
        let pool = Pool::new(options.chunk_words(), options.memory_bytes);
        Recorder {
            shared: Arc::new(Shared {
                expected: Mutex::new(options.expected),
                options,
                clock,
                pool,
                keeper: Mutex::default(),
                stop: AtomicBool::new(false),
            }),
            runs: Mutex::default(),
            streams: AtomicU32::new(0),
        }
    }

    /// What the next run will record, if that is known; until then it is what the options say.
    pub fn expect_next(&self, expected: Option<Expected>) {
        *self.shared.expected() = expected;
    }

    /// The tables of all runs. Sorts them, and waits until the recorder is 5 ms old, to calibrate its clock. Beyond the
    /// tables it takes memory for one chunk: what was recorded is freed piece by piece.
    pub fn finish(self) -> Recording {
        let kept = self.shared.stop_keeper();
        self.shared.pool.empty();
        let ns_per_record = cost::ns_per_task(&self.shared.options, &self.shared.clock);
        let Runs { runs, anchors } = std::mem::take(&mut *self.runs());
        let calibration = self.shared.clock.calibrate(&anchors);
        assemble(calibration, ns_per_record, runs, kept)
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A recorder that nobody asks leaves no thread and no file behind.
impl Drop for Recorder {
    fn drop(&mut self) {
        self.shared.stop_keeper();
    }
}

#[deny(clippy::missing_trait_methods)]
impl Observer for Recorder {
    type Track = ThreadTrack;
    const ACTIVE: bool = true;

    fn begin(&self, run: &RunInfo<'_>) {
        if let Some(ahead) = self
            .shared
            .prepare(run.workers + 1, !run.devices.is_empty())
        {
            self.shared.start_keeper(ahead);
        }
        let anchor = self.shared.clock.anchor();
        let raw = RawRun {
            workers: run.workers,
            scheduler: run.scheduler,
            codelets: run.codelets.to_vec(),
            bound_to: run.bound_to.to_vec(),
            host_bytes: run.host_bytes,
            devices: run.devices.to_vec(),
            device_workers: run.device_workers.to_vec(),
            time_scale: run.time_scale,
            begin: self.shared.clock.ticks(),
            streams: Vec::with_capacity(run.workers + 1),
        };
        let mut runs = self.runs();
        runs.anchors.push(anchor);
        runs.runs.push(raw);
    }

    fn attach(&self, lane: Lane) -> ThreadTrack {
        let shared = self.shared.clone();
        let stream = self.streams.fetch_add(1, Ordering::Relaxed);
        let words = shared.first_words(lane);
        let kept = shared.keeper().is_some();
        let expected = match (lane, *shared.expected()) {
            (Lane::Submission, Some(expected)) if !kept => expected.tasks as u64,
            _ => u64::MAX,
        };
        let track = ThreadTrack::new(shared, stream, lane, words, expected);
        self.shared.wake_keeper();
        track
    }

    fn detach(&self, track: ThreadTrack) {
        let stream = track.close();
        if let Some(run) = self.runs().runs.last_mut() {
            run.streams.push(stream);
        }
    }

    #[inline]
    fn clock(&self) -> u64 {
        self.shared.clock.ticks()
    }

    #[inline]
    fn start_after(&self, end: u64) -> u64 {
        if self.shared.options.exact_starts {
            self.shared.clock.ticks()
        } else {
            end
        }
    }
}
