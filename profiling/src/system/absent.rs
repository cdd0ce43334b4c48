//! In place of `perf/` where the system is not Linux: nothing can be opened, and says so.

use super::modules::{CounterEntry, MAX_COUNTERS};
use std::fmt;
use std::io;

pub(super) type Gate = fn(&str) -> io::Result<()>;

/// Why there is no event: the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Denied;

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it comes from Linux's perf events, and this system is not Linux")
    }
}

#[derive(Clone, Copy)]
pub(super) struct RawSwitch {
    pub(super) monotonic_ns: u64,
    pub(super) cpu: u32,
    pub(super) out: bool,
    pub(super) preempted: bool,
}

/// There is none.
pub(super) enum SwitchRing {}

impl SwitchRing {
    pub(super) fn open(_: Gate) -> Result<SwitchRing, Denied> {
        Err(Denied)
    }

    pub(super) fn drain(&mut self, _: impl FnMut(RawSwitch)) {
        match *self {}
    }

    pub(super) fn lost(&mut self) -> u64 {
        match *self {}
    }
}

/// There is none.
pub(super) enum CounterGroup {}

#[derive(Clone, Copy)]
pub(super) struct Opened {
    pub(super) entry: &'static CounterEntry,
    pub(super) user_only: bool,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Reading {
    pub(super) values: [u64; MAX_COUNTERS],
    pub(super) enabled_ns: u64,
    pub(super) running_ns: u64,
}

impl CounterGroup {
    pub(super) fn probe(
        asked: impl IntoIterator<Item = &'static CounterEntry>,
        _: Gate,
    ) -> (Option<CounterGroup>, Vec<Opened>, Vec<(String, Denied)>) {
        let asked = asked.into_iter();
        let denied = asked.map(|entry| (entry.name.to_owned(), Denied)).collect();
        (None, Vec::new(), denied)
    }

    pub(super) fn open(_: &[Opened], _: Gate) -> Result<CounterGroup, Denied> {
        Err(Denied)
    }

    pub(super) fn read(&mut self) -> io::Result<Reading> {
        match *self {}
    }
}
