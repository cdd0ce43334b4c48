//! What was recorded beside the runtime's own events.
//!
//! Takes rows; knows neither threads nor the kernel.

use super::totals::SwitchTotals;
use super::{CounterEntry, MAX_COUNTERS};
use std::fmt;
use treeqr_runtime::{Lane, TaskId};

/// The tables. Times are nanoseconds of `CLOCK_MONOTONIC`; [`to_recording_ns`](super::to_recording_ns) brings them to
/// the recorder's axis.
#[derive(Clone, Debug, Default)]
pub struct SystemRecording {
    /// Every thread that was attached; a lane once for each run.
    pub threads: Vec<ThreadRow>,
    /// Context switches, by time.
    pub switches: Vec<SwitchRow>,
    /// Context switches that the kernel found no room for.
    pub lost: u64,
    /// What the values of a [`CounterRow`] are, in this order.
    pub columns: Vec<CounterColumn>,
    /// Counters of tasks, thread by thread, in the order in which they ended.
    pub counters: Vec<CounterRow>,
    /// What was asked for and is not there.
    pub missing: Vec<Missing>,
}

impl SystemRecording {
    /// The names of the counters, as in [`COUNTERS`](super::COUNTERS).
    pub fn counter_names(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().map(|column| column.entry.name)
    }

    /// The counters of a row, one for each of the columns.
    pub fn values<'a>(&self, row: &'a CounterRow) -> &'a [u64] {
        &row.values[..self.columns.len()]
    }

    /// Whose row it is: `thread` of a row of this recording (else it panics).
    pub fn lane(&self, thread: u32) -> Lane {
        self.threads[thread as usize].lane
    }
}

/// A thread while it was attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadRow {
    /// What it does in the run.
    pub lane: Lane,
    /// Begin, before its events were opened.
    pub attached_monotonic_ns: u64,
    /// End, after they were closed.
    pub detached_monotonic_ns: u64,
    /// All its context switches in between by the kernel's own account, if the module `kernel` was asked for and the
    /// system has `/proc`: also where it allows no perf events.
    pub totals: Option<SwitchTotals>,
}

/// What happened to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchEvent {
    /// It left its processor to wait for something. (Before Linux 4.17: or was preempted.)
    Blocked,
    /// It left its processor though it could have run on: another thread took its place.
    Preempted,
    /// It runs again, on the processor that it left.
    Resumed,
    /// It runs again, on another processor than the one it left.
    Migrated,
}

/// A context switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchRow {
    /// The moment, on the monotonic clock.
    pub monotonic_ns: u64,
    /// The thread: a place in [`SystemRecording::threads`].
    pub thread: u32,
    /// The processor that it left or came to, by the system's number.
    pub cpu: u32,
    /// What happened.
    pub event: SwitchEvent,
}

/// One counter of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterColumn {
    /// Its name, unit and meaning.
    pub entry: &'static CounterEntry,
    /// What happens inside of system calls, faults and interrupts is not counted.
    pub user_only: bool,
}

/// What was counted from the boundary before a task's end to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterRow {
    /// The task.
    pub task: TaskId,
    /// The thread: a place in [`SystemRecording::threads`].
    pub thread: u32,
    /// One for each of the columns, then zeros.
    pub values: [u64; MAX_COUNTERS],
}

/// Something that was asked for and is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// What: names, separated by commas.
    pub what: String,
    /// Why, and what could be done.
    pub why: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}

/// One row for each reason.
pub(super) fn by_reason(all: impl IntoIterator<Item = (String, String)>) -> Vec<Missing> {
    let mut rows: Vec<Missing> = Vec::new();
    for (what, why) in all {
        match rows.iter_mut().find(|row| row.why == why) {
            Some(row) => {
                row.what.push_str(", ");
                row.what.push_str(&what);
            }
            None => rows.push(Missing { what, why }),
        }
    }
    rows
}
