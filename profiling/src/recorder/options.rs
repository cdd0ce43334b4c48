//! What a recorder may use, and what it may expect.
//!
//! Takes nothing; gives [`RecorderOptions`] and the sizes that follow from them. Knows no thread.

use super::packed::{Packed, access_words};
use crate::clock::ClockKind;
use std::path::PathBuf;
use treeqr_runtime::{MemoryRecord, ShareRecord, StallRecord, StateRecord, TaskRecord};

/// How much to keep, and where. Nothing of it changes a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecorderOptions {
    /// Memory for records, in bytes; beyond it they go to a file. Used as records come, not at once.
    pub memory_bytes: usize,
    /// The folder of that file, which has no name there and is gone with the recorder. `None`: no file; what finds no
    /// memory is dropped and counted.
    pub spill_dir: Option<PathBuf>,
    /// Size of the pieces in which threads get memory, in bytes; at least 512.
    pub chunk_bytes: usize,
    /// Read the clock when a task starts, also when it follows another at once: two readings a task. Otherwise it is
    /// one, and the time between two tasks, which is the runtime's, counts to the second.
    pub exact_starts: bool,
    /// The clock; `None` for the best of this machine.
    pub clock: Option<ClockKind>,
    /// What a run will record, where that is known. A run of up to some hundred thousand tasks gets its memory at once and no helper
    /// thread; if it is larger after all, the thread starts late. `None`: anything may come.
    pub expected: Option<Expected>,
}

/// What a run will record, about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Tasks.
    pub tasks: usize,
    /// Accesses of all tasks.
    pub accesses: usize,
    /// Allocations and releases.
    pub memory_events: usize,
    /// Times that a worker does parts of another's task.
    pub shares: usize,
}

impl Default for RecorderOptions {
    /// 1 GiB, then a file in the system's folder for temporary files; chunks of 64 KiB; exact starts.
    fn default() -> Self {
        RecorderOptions {
            memory_bytes: 1 << 30,
            spill_dir: Some(std::env::temp_dir()),
            chunk_bytes: 64 << 10,
            exact_starts: true,
            clock: None,
            expected: None,
        }
    }
}

impl RecorderOptions {
    /// The defaults, for runs of about `tasks` tasks with four accesses and an allocation or release each.
    pub fn for_tasks(tasks: usize) -> Self {
        RecorderOptions {
            expected: Some(Expected {
                tasks,
                accesses: tasks.saturating_mul(4),
                memory_events: tasks,
                shares: tasks,
            }),
            ..RecorderOptions::default()
        }
    }

    pub(super) fn chunk_words(&self) -> usize {
        self.chunk_bytes.max(512) / size_of::<u64>()
    }
}

impl Expected {
    /// Words that a worker would write if it ran everything, with a few spans without a task for each task.
    pub(super) fn worker_words(&self) -> usize {
        let a_task = TaskRecord::WORDS + 4 * StateRecord::WORDS;
        let tasks = self.tasks.saturating_mul(a_task);
        let memory = self.memory_events.saturating_mul(MemoryRecord::WORDS);
        // With the spans before and after.
        let a_share = ShareRecord::WORDS + 2 * StateRecord::WORDS;
        let shares = self.shares.saturating_mul(a_share);
        let words = tasks.saturating_add(memory).saturating_add(shares);
        words.saturating_add(1024)
    }

    /// Words that the submission would write if it waited before every task, for a place in the window and for memory.
    pub(super) fn submission_words(&self) -> usize {
        let stalls = self.tasks.saturating_mul(2 * StallRecord::WORDS);
        access_words(self.tasks, self.accesses)
            .saturating_add(stalls)
            .saturating_add(64)
    }
}
