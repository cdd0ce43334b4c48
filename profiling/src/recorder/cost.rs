//! What recording costs a worker, measured on the machine and at the time of the run.
//!
//! Takes the options and the clock of a recorder; gives nanoseconds. The same code writes the records as in a run, into a
//! chunk that is not in the processor's nearest cache.

use super::track::ThreadTrack;
use super::{RecorderOptions, Shared};
use crate::clock::Clock;
use crate::recorder::packed::Packed;
use crate::recorder::pool::Pool;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use treeqr_runtime::{CodeletId, Lane, TaskId, TaskRecord, Track};

const BATCHES: usize = 9;
const RECORDS: usize = 400;

/// Nanoseconds that a task's record takes: the readings of the clock and the write. The median of nine batches.
pub(super) fn ns_per_task(options: &RecorderOptions, clock: &Clock) -> f64 {
    let words = BATCHES * RECORDS * TaskRecord::WORDS;
    let shared = Shared {
        options: options.clone(),
        expected: Mutex::default(),
        clock: clock.clone(),
        pool: Pool::new(words, usize::MAX),
        keeper: Mutex::default(),
        stop: AtomicBool::new(false),
    };
    let lane = Lane::Worker(0);
    let mut track = ThreadTrack::new(Arc::new(shared), 0, lane, words, u64::MAX);
    let mut batches = [0.0; BATCHES];
    for nanoseconds in &mut batches {
        let begin = Instant::now();
        let mut end = clock.ticks();
        for id in 0..RECORDS as u32 {
            let start = match options.exact_starts {
                true => clock.ticks(),
                false => end,
            };
            end = clock.ticks();
            track.task(black_box(&task(id, start, end)));
        }
        *nanoseconds = begin.elapsed().as_nanos() as f64 / RECORDS as f64;
    }
    batches.sort_by(f64::total_cmp);
    batches[BATCHES / 2]
}

fn task(id: u32, start: u64, end: u64) -> TaskRecord {
    TaskRecord {
        id: TaskId(id),
        codelet: CodeletId(0),
        worker: 0,
        node: 0,
        params: [0; 6],
        queued: 0,
        priority: 0,
        flops: 0,
        bytes: 0,
        submit: start,
        ready: start,
        pop: start,
        start,
        end,
    }
}
