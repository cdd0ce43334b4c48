//! The door to the kernel's perf events, on Linux.
//!
//! Takes what to open for the calling thread; gives records of context switches from a ring that the kernel writes, and
//! values of counters. Knows no lane, no task and no table. What can't be had is a [`Denied`], with its reason.

mod denied;
mod group;
mod ring;

pub(super) use denied::Denied;
use denied::Step;
pub(super) use group::{CounterGroup, Opened, Reading};
pub(super) use ring::{RawSwitch, SwitchRing};

/// What is asked before each opening: tests refuse here what the system would.
pub(super) type Gate = fn(&str) -> std::io::Result<()>;
