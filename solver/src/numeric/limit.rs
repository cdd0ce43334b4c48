//! A limit on the memory for fronts and factors.
//!
//! The submission reserves the bytes that a task will take before it submits it, and waits while that would exceed the
//! limit; bytes are given back when a task frees them. Tasks allocate only what was reserved for them, so the store never
//! holds more than the limit.
//!
//! It cannot deadlock. The submission goes through the tasks in one fixed order, and when it waits before one, all tasks
//! before it have been submitted and will end without it: after that the store holds
//! what it holds at this point of a sequential run. That and the task's bytes are at most the sequential peak, and a limit
//! below the sequential peak is refused before the work begins. (Agullo, Buttari, Guermouche, Lopez, TOMS 2016, section
//! 5.3, has the idea.)

use crate::error::SolveError;
use crate::plan::Prediction;
use std::fmt;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How much memory fronts and factors may take. The submission waits where it would be more, so that less is done at the same time;
/// no bit of the result changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum MemoryLimit {
    /// As much as a sequential run takes for two workers, and half as much again for each further one, but 16 MB at least, and twice
    /// what the matrix takes: by then reading has had as much. On the problems of docs/performance.md a third less memory was touched for
    /// the first time, and two workers lost no time by it from 25 MB on; below that up to a tenth.
    #[default]
    Auto,
    /// No limit.
    Unlimited,
    /// So many bytes.
    Bytes(u64),
    /// So many times the peak of a sequential run.
    Relative(f64),
}

/// Less is never a limit that nobody asked for: a run that takes little waits for no memory.
const LITTLE: u64 = 16 << 20;

impl MemoryLimit {
    /// In bytes, for a run by so many workers, streams of devices included; `None` without one.
    ///
    /// # Errors
    /// [`SolveError::MemoryLimit`] when a run with this prediction needs more, whatever the order of its tasks.
    pub fn bytes(self, prediction: &Prediction, workers: usize) -> Result<Option<u64>, SolveError> {
        let smallest = prediction.peak_bytes as u64;
        let limit = match self {
            MemoryLimit::Auto => {
                let least = LITTLE.max(2 * prediction.matrix_bytes as u64);
                (smallest / 2 * workers.max(2) as u64 + smallest % 2).max(least)
            }
            MemoryLimit::Unlimited => return Ok(None),
            MemoryLimit::Bytes(bytes) => bytes,
            MemoryLimit::Relative(factor) => (factor * smallest as f64) as u64,
        };
        if limit < smallest {
            Err(SolveError::MemoryLimit { limit, smallest })
        } else {
            Ok(Some(limit))
        }
    }

    /// Whether a user asked for it.
    pub(super) fn is_asked_for(self) -> bool {
        matches!(self, MemoryLimit::Bytes(_) | MemoryLimit::Relative(_))
    }
}

impl fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryLimit::Auto => f.write_str("auto"),
            MemoryLimit::Unlimited => f.write_str("none"),
            MemoryLimit::Bytes(bytes) => write!(f, "{bytes}"),
            MemoryLimit::Relative(factor) => write!(f, "{factor}x"),
        }
    }
}

/// Bytes that are reserved and not yet given back.
pub(super) struct Gate {
    limit: u64,
    reserved: Mutex<u64>,
    given_back: Condvar,
}

impl Gate {
    pub fn new(limit: u64) -> Self {
        Gate {
            limit,
            reserved: Mutex::new(0),
            given_back: Condvar::new(),
        }
    }

    /// Reserves `bytes` if they stay within the limit, now or before `patience` is over. Returns whether it did.
    pub fn reserve(&self, bytes: u64, patience: Duration) -> bool {
        let reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |reserved: &mut u64| *reserved + bytes > self.limit;
        let wait = self
            .given_back
            .wait_timeout_while(reserved, patience, is_full);
        let (mut reserved, timeout) = wait.unwrap_or_else(PoisonError::into_inner);
        if !timeout.timed_out() {
            *reserved += bytes;
        }
        !timeout.timed_out()
    }

    /// Gives back what a task has freed.
    pub fn give_back(&self, bytes: u64) {
        *self.reserved.lock().unwrap_or_else(PoisonError::into_inner) -= bytes;
        self.given_back.notify_one();
    }
}

/// So many bytes are never too many: to ask for what is available takes longer than the smallest problems.
const ALWAYS_THERE: u64 = 16 << 20;

/// Refuses work that does not fit into the memory that the system says is available, where it says so; `held` bytes are there
/// already.
pub(super) fn check_available(
    prediction: &Prediction,
    threads: usize,
    held: u64,
) -> Result<(), SolveError> {
    let run = prediction.peak_bytes as u64 + (threads * prediction.scratch_bytes) as u64;
    // Dense rows come when the workers and their scratch are gone.
    let update = (prediction.factor_bytes as u64).saturating_add(prediction.update_bytes as u64);
    let needed = run.max(update);
    if needed <= ALWAYS_THERE {
        return Ok(());
    }
    match available_bytes().map(|available| available.saturating_add(held)) {
        Some(available) if needed > available => Err(SolveError::TooLarge { needed, available }),
        _ => Ok(()),
    }
}

/// Memory that can be taken without swapping, as far as it is known: by Linux's estimate, within the limit of the control
/// group.
fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let system = 1024 * line.split_whitespace().nth(1)?.parse::<u64>().ok()?;
    let number = |path: &str| {
        std::fs::read_to_string(path)
            .ok()?
            .trim()
            .parse::<u64>()
            .ok()
    };
    let group = number("/sys/fs/cgroup/memory.max")
        .zip(number("/sys/fs/cgroup/memory.current"))
        .map(|(max, current)| max.saturating_sub(current));
    Some(group.map_or(system, |bytes| bytes.min(system)))
}
