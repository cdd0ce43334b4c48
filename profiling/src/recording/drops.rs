//! What was recorded and not kept, and why.
//!
//! Takes counts by kind; gives them names. Knows no thread and no file.

use crate::recorder::{KINDS, Kind};
use std::fmt;

/// Records of a run that are in no table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// Of [`tasks`](crate::RecordedRun::tasks).
    pub tasks: u64,
    /// Of [`accesses`](crate::RecordedRun::accesses).
    pub accesses: u64,
    /// Of [`memory`](crate::RecordedRun::memory).
    pub memory: u64,
    /// Of [`states`](crate::RecordedRun::states).
    pub states: u64,
    /// Of [`transfers`](crate::RecordedRun::transfers).
    pub transfers: u64,
    /// Of [`stalls`](crate::RecordedRun::stalls).
    pub stalls: u64,
    /// Of [`shares`](crate::RecordedRun::shares).
    pub shares: u64,
}

impl Drops {
    /// Of all kinds.
    pub fn total(&self) -> u64 {
        let Drops {
            tasks,
            accesses,
            memory,
            states,
            transfers,
            stalls,
            shares,
        } = self;
        tasks + accesses + memory + states + transfers + stalls + shares
    }

    pub(super) fn of(by_kind: [u64; KINDS]) -> Self {
        let of = |kind: Kind| by_kind[kind as usize];
        Drops {
            tasks: of(Kind::Task),
            accesses: of(Kind::Access),
            memory: of(Kind::Memory),
            states: of(Kind::State),
            transfers: of(Kind::Transfer),
            stalls: of(Kind::Stall),
            shares: of(Kind::Share),
        }
    }
}

/// Why records were dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropReason {
    /// [`memory_bytes`](crate::RecorderOptions::memory_bytes) were used up, and there was no file to write to.
    MemoryFull,
    /// They were used up, and the file could not be written.
    SpillFailed {
        /// The folder, and what the system said.
        message: String,
    },
    /// The file could not be read again.
    SpillLost {
        /// What the system said.
        message: String,
    },
    /// Records came faster than memory was made ready for them, or written to the file.
    TooFast,
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DropReason::MemoryFull => f.write_str("the memory for records was used up"),
            DropReason::SpillFailed { message } => {
                write!(f, "the memory for records was used up and {message}")
            }
            DropReason::SpillLost { message } => {
                write!(f, "the file of records cannot be read: {message}")
            }
            DropReason::TooFast => f.write_str("they came faster than they could be taken away"),
        }
    }
}
