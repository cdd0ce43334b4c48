//! The recorder: the runtime's observer that keeps everything.
//!
//! Takes predicted numbers of records; gives each thread of a run a track of its own, and the [`Recording`] at the end.
//! Knows no table and no metric. A lock is taken when a thread begins and ends, never in between.

use crate::clock::Clock;
use crate::recording::{Recording, assemble};
use crate::track::{Capacities, ThreadTrack};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use treeqr_runtime::{CodeletId, Lane, Observer, RunInfo, TaskId, TaskRecord, Track};

/// How much to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecorderOptions {
    /// Predicted number of tasks of a run. Every worker gets room for so many (one of them could run all), which is
    /// address space; memory is used for what is recorded: 104 bytes a task.
    pub tasks: usize,
    /// Predicted number of allocations and releases of a run.
    pub memory_events: usize,
    /// Predicted number of spans in which a worker had no task, per worker.
    pub states: usize,
    /// Predicted number of accesses of all tasks of a run.
    pub accesses: usize,
    /// Read the clock when a task starts, also when it follows another at once (24 ns on a virtual machine). Otherwise
    /// the time between them, which is the runtime's, counts to the second task.
    pub exact_starts: bool,
}

impl RecorderOptions {
    /// Room for runs of `tasks` tasks with up to 4 accesses and one allocation or release each on average.
    pub fn for_tasks(tasks: usize) -> Self {
        RecorderOptions {
            tasks,
            memory_events: tasks + 1024,
            states: 4 * tasks + 4096,
            accesses: 4 * tasks,
            exact_starts: true,
        }
    }
}

/// Records one run after the other (not two at once), on a common time axis that begins when it is made.
#[derive(Debug)]
pub struct Recorder {
    options: RecorderOptions,
    clock: Clock,
    runs: Mutex<Vec<RawRun>>,
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
    pub(crate) time_scale: f64,
    pub(crate) begin: u64,
    pub(crate) tracks: Vec<ThreadTrack>,
}

impl Recorder {
    /// A recorder with room for what `options` predict.
    pub fn new(options: RecorderOptions) -> Self {
        Recorder {
            options,
            clock: Clock::new(),
            runs: Mutex::default(),
        }
    }

    /// The tables of all runs. Sorts them, and waits until the recorder is 5 ms old, to calibrate its clock.
    pub fn finish(self) -> Recording {
        let ns_per_record = self.measure_cost();
        let calibration = self.clock.calibrate();
        let runs = self
            .runs
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        assemble(calibration, ns_per_record, runs)
    }

    /// Nanoseconds that a task's record costs its worker: the readings of the clock and the write.
    fn measure_cost(&self) -> f64 {
        const RECORDS: usize = 4096;
        let capacities = Capacities {
            tasks: RECORDS,
            memory: 0,
            states: 0,
            accesses: 0,
            transfers: 0,
        };
        let mut track = ThreadTrack::new(Lane::Worker(0), capacities, 0);
        let begin = Instant::now();
        let mut end = self.clock();
        for id in 0..RECORDS as u32 {
            let start = self.start_after(end);
            end = self.clock();
            track.task(&TaskRecord {
                id: TaskId(id),
                codelet: CodeletId(0),
                worker: 0,
                node: 0,
                params: [0; 6],
                priority: 0,
                flops: 0,
                bytes: 0,
                queued: 0,
                submit: start,
                ready: start,
                pop: start,
                start,
                end,
            });
        }
        let elapsed = begin.elapsed();
        std::hint::black_box(&track);
        elapsed.as_nanos() as f64 / RECORDS as f64
    }

    fn with_runs<R>(&self, change: impl FnOnce(&mut Vec<RawRun>) -> R) -> R {
        change(&mut self.runs.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Observer for Recorder {
    type Track = ThreadTrack;

    fn begin(&self, run: &RunInfo<'_>) {
        let raw = RawRun {
            workers: run.workers,
            scheduler: run.scheduler,
            codelets: run.codelets.to_vec(),
            bound_to: run.bound_to.to_vec(),
            host_bytes: run.host_bytes,
            devices: run.devices.to_vec(),
            time_scale: run.time_scale,
            begin: self.clock.ticks(),
            tracks: Vec::with_capacity(run.workers + 1),
        };
        self.with_runs(|runs| runs.push(raw));
    }

    fn attach(&self, lane: Lane) -> ThreadTrack {
        let options = &self.options;
        let moves = self.with_runs(|runs| runs.last().is_some_and(|run| !run.devices.is_empty()));
        // With devices each access may bring its data, and drop others' to make room, on average one.
        let moved = if moves { 4 * options.accesses } else { 0 };
        let capacities = Capacities {
            tasks: options.tasks,
            memory: options.memory_events + moved,
            states: options.states,
            accesses: options.accesses,
            transfers: moved,
        };
        ThreadTrack::new(lane, capacities, self.clock.ticks())
    }

    fn detach(&self, mut track: ThreadTrack) {
        track.detached = self.clock.ticks();
        self.with_runs(|runs| {
            if let Some(run) = runs.last_mut() {
                run.tracks.push(track);
            }
        });
    }

    #[inline]
    fn clock(&self) -> u64 {
        self.clock.ticks()
    }

    #[inline]
    fn start_after(&self, end: u64) -> u64 {
        if self.options.exact_starts {
            self.clock.ticks()
        } else {
            end
        }
    }
}
