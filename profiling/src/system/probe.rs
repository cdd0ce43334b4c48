//! One thread of a run and its events.
//!
//! Takes the ends of the thread's tasks; gives its rows back when it is dropped. Opened on the thread itself, whose
//! events these are wherever the probe is used.

use super::anchor::monotonic_ns;
use super::modules::MAX_COUNTERS;
use super::perf::{CounterGroup, Reading, SwitchRing};
use super::recorder::{Collected, Shared, lock, name};
use super::recording::{CounterRow, ThreadRow};
use super::switches::ThreadSwitches;
use super::totals::{SwitchTotals, thread_id, totals_of};
use std::fmt;
use std::sync::{Arc, Mutex};
use treeqr_runtime::{Lane, TaskId};

/// Rows of a chunk; the next is allocated when one is full, and none is copied.
const CHUNK: usize = 4096;

/// The events of one thread. [Detach](ThreadProbe::detach) or drop it when the thread's part of the run ends.
pub struct ThreadProbe {
    shared: Arc<Shared>,
    /// Its place in the table of threads.
    thread: u32,
    switches: Option<Arc<Mutex<ThreadSwitches>>>,
    totals: Option<(u32, SwitchTotals)>,
    group: Option<CounterGroup>,
    last: Reading,
    failed_readings: u64,
    full: Vec<Vec<CounterRow>>,
    rows: Vec<CounterRow>,
}

impl fmt::Debug for ThreadProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ThreadProbe");
        shown.field("thread", &self.thread);
        shown.finish_non_exhaustive()
    }
}

impl ThreadProbe {
    pub(super) fn new(shared: Arc<Shared>, lane: Lane) -> ThreadProbe {
        let mut missing = Vec::new();
        let mut missed = |module: &str, why: String| {
            missing.push((format!("{module} of {}", name(lane)), why));
        };
        let totals = match shared.kernel {
            true => thread_id().and_then(|id| Some((id, totals_of(id)?))),
            false => None,
        };
        let attached = monotonic_ns();
        let group = match &shared.counters[..] {
            [] => None,
            wanted => {
                let group = CounterGroup::open(wanted, shared.gate);
                group
                    .map_err(|why| missed("counters", why.to_string()))
                    .ok()
            }
        };
        let ring = match shared.rings {
            true => {
                let ring = SwitchRing::open(shared.gate);
                ring.map_err(|why| missed("kernel", why.to_string())).ok()
            }
            false => None,
        };
        let row = ThreadRow {
            lane,
            attached_monotonic_ns: attached,
            detached_monotonic_ns: attached,
            totals: None,
        };
        let mut collected = lock(&shared.collected);
        let thread = collected.threads.len() as u32;
        collected.threads.push((row, false));
        collected.missing.extend(missing);
        let switches = ring.map(|ring| Arc::new(Mutex::new(ThreadSwitches::new(thread, ring))));
        collected.switches.extend(switches.clone());
        drop(collected);
        let mut probe = ThreadProbe {
            shared,
            thread,
            switches,
            totals,
            rows: Vec::with_capacity(if group.is_some() { CHUNK } else { 0 }),
            full: Vec::new(),
            group,
            last: Reading::default(),
            failed_readings: 0,
        };
        probe.boundary();
        probe
    }

    /// What was counted since the last boundary (or since the thread was attached): one value for each of the columns,
    /// then zeros. At a task's start, so that the time between tasks is not the task's. A system call if counters were
    /// asked for and can be had; else nothing, and zeros.
    pub fn boundary(&mut self) -> [u64; MAX_COUNTERS] {
        self.counted().unwrap_or_default()
    }

    /// A boundary that ends a task: what was counted is kept as the task's.
    pub fn task(&mut self, task: TaskId) {
        let Some(values) = self.counted() else {
            return;
        };
        if self.rows.len() == self.rows.capacity() {
            let full = std::mem::replace(&mut self.rows, Vec::with_capacity(CHUNK));
            self.full.push(full);
        }
        self.rows.push(CounterRow {
            task,
            thread: self.thread,
            values,
        });
    }

    fn counted(&mut self) -> Option<[u64; MAX_COUNTERS]> {
        match self.group.as_mut()?.read() {
            Ok(now) => {
                let before = std::mem::replace(&mut self.last, now);
                let mut values = now.values;
                for (value, before) in values.iter_mut().zip(before.values) {
                    *value = value.saturating_sub(before);
                }
                Some(values)
            }
            Err(_) => {
                self.failed_readings += 1;
                None
            }
        }
    }

    /// Closes the events and gives the rows to the recorder.
    pub fn detach(self) {}

    fn give_back(&mut self, collected: &mut Collected) {
        let (row, ended) = match collected.threads.get_mut(self.thread as usize) {
            Some(entry) => (&mut entry.0, &mut entry.1),
            // The recorder has finished.
            None => return,
        };
        row.detached_monotonic_ns = monotonic_ns();
        row.totals = self
            .totals
            .and_then(|(id, before)| Some(totals_of(id)?.since(before)));
        *ended = true;
        for chunk in self.full.drain(..).chain([std::mem::take(&mut self.rows)]) {
            collected.counters.extend(chunk);
        }
        collected.enabled_ns += self.last.enabled_ns;
        collected.running_ns += self.last.running_ns;
        collected.failed_readings += self.failed_readings;
    }
}

impl Drop for ThreadProbe {
    fn drop(&mut self) {
        if let Some(switches) = &self.switches {
            lock(switches).close();
        }
        self.group = None;
        let shared = Arc::clone(&self.shared);
        self.give_back(&mut lock(&shared.collected));
    }
}
