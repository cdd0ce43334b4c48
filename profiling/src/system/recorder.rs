//! All threads of a run: what is asked of each, and their rows at the end.
//!
//! Takes the modules; finds out once, on the thread that makes it, what the system gives; lends each thread a probe.
//! Locks are taken when a thread begins and ends, and by the helper that empties the kernel's rings.

use super::anchor::monotonic_ns;
use super::modules::Modules;
use super::perf::{CounterGroup, Denied, Gate, Opened, SwitchRing};
use super::probe::ThreadProbe;
use super::recording::{CounterColumn, CounterRow, SystemRecording, ThreadRow, by_reason};
use super::switches::ThreadSwitches;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;
use treeqr_runtime::Lane;

/// The helper's pause between two looks at the rings: shorter after one that found many records.
const SHORTEST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
/// An eighth of a ring's room.
const MANY: usize = 2048;

/// Records what the system knows of the threads that attach.
#[derive(Debug)]
pub struct SystemRecorder {
    shared: Arc<Shared>,
    /// Its end is the helper's.
    helper: Option<(Sender<()>, JoinHandle<()>)>,
}

/// What the recorder, its probes and the helper know together.
pub(super) struct Shared {
    pub(super) gate: Gate,
    /// Context switches are asked for.
    pub(super) kernel: bool,
    /// They are asked for and can be had.
    pub(super) rings: bool,
    /// The counters that can be had.
    pub(super) counters: Vec<Opened>,
    pub(super) collected: Mutex<Collected>,
}

/// What came back from threads.
#[derive(Default)]
pub(super) struct Collected {
    /// Without an end while the thread is attached.
    pub(super) threads: Vec<(ThreadRow, bool)>,
    pub(super) switches: Vec<Arc<Mutex<ThreadSwitches>>>,
    pub(super) counters: Vec<CounterRow>,
    /// What, why.
    pub(super) missing: Vec<(String, String)>,
    /// Time of all threads on a processor, and of it with their counters on the processor's.
    pub(super) enabled_ns: u64,
    pub(super) running_ns: u64,
    pub(super) failed_readings: u64,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Shared");
        shown.field("kernel", &self.kernel);
        shown.finish_non_exhaustive()
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks holds after every step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn name(lane: Lane) -> String {
    match lane {
        Lane::Submission => "the submitting thread".to_owned(),
        Lane::Worker(worker) => format!("worker {worker}"),
    }
}

impl SystemRecorder {
    /// A recorder for these modules. Opens and closes their events once to see which there are; never fails: what is
    /// not there is in [`SystemRecording::missing`].
    pub fn new(modules: Modules) -> SystemRecorder {
        Self::with_gate(modules, |_| Ok(()))
    }

    pub(super) fn with_gate(modules: Modules, gate: Gate) -> SystemRecorder {
        let mut collected = Collected::default();
        let said = |(what, why): (String, Denied)| (what, why.to_string());
        let mut rings = false;
        if modules.kernel() {
            match SwitchRing::open(gate) {
                Ok(_) => rings = true,
                Err(why) => collected.missing.push(said(("kernel".to_owned(), why))),
            }
        }
        let mut counters = Vec::new();
        if modules.counters().next().is_some() {
            let (_, opened, denied) = CounterGroup::probe(modules.counters(), gate);
            collected.missing.extend(denied.into_iter().map(said));
            counters = opened;
        }
        let shared = Arc::new(Shared {
            gate,
            kernel: modules.kernel(),
            rings,
            counters,
            collected: Mutex::new(collected),
        });
        let helper = rings.then(|| helper(Arc::clone(&shared))).flatten();
        SystemRecorder { shared, helper }
    }

    /// Opens the events of the calling thread, which is `lane` of a run. Never fails: what can't be had is missing.
    pub fn attach(&self, lane: Lane) -> ThreadProbe {
        ThreadProbe::new(Arc::clone(&self.shared), lane)
    }

    /// The tables. Threads should have detached; of those that have not, the counters are missing, and said to be.
    pub fn finish(mut self) -> SystemRecording {
        self.stop_helper();
        let collected = std::mem::take(&mut *lock(&self.shared.collected));
        let mut recording = SystemRecording::default();
        let column = |opened: &Opened| CounterColumn {
            entry: opened.entry,
            user_only: opened.user_only,
        };
        recording.columns = self.shared.counters.iter().map(column).collect();
        recording.counters = collected.counters;
        let mut missing = collected.missing;
        for (mut row, ended) in collected.threads {
            if !ended {
                row.detached_monotonic_ns = monotonic_ns();
                let what = format!("counters and totals of {}", name(row.lane));
                let why = "the thread was still attached when the recording ended";
                missing.push((what, why.to_owned()));
            }
            recording.threads.push(row);
        }
        for switches in collected.switches {
            let (rows, lost) = lock(&switches).take();
            recording.switches.extend(rows);
            recording.lost += lost;
        }
        let by_time = |row: &super::SwitchRow| (row.monotonic_ns, row.thread);
        recording.switches.sort_by_key(by_time);
        if collected.running_ns < collected.enabled_ns {
            let share = 100.0 * collected.running_ns as f64 / collected.enabled_ns as f64;
            let why = format!(
                "the counters were on the processor during {share:.1} % of the time, and the values are not scaled; \
                 ask for fewer at a time"
            );
            missing.push(("a part of the counters".to_owned(), why));
        }
        if collected.failed_readings > 0 {
            let what = format!("counters at {} boundaries", collected.failed_readings);
            missing.push((what, "they could not be read then".to_owned()));
        }
        recording.missing = by_reason(missing);
        recording
    }

    fn stop_helper(&mut self) {
        if let Some((end, helper)) = self.helper.take() {
            drop(end);
            // A panic there leaves rows in the rings; they are taken out at the end.
            let _ = helper.join();
        }
    }
}

impl Drop for SystemRecorder {
    fn drop(&mut self) {
        self.stop_helper();
    }
}

/// Empties the rings now and then. Without it (no thread could be made) they are emptied when their threads end.
fn helper(shared: Arc<Shared>) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (end, ended) = channel::<()>();
    let look = move || {
        let mut pause = LONGEST_PAUSE / 4;
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(pause) {
            let all = lock(&shared.collected).switches.clone();
            let found = all.iter().map(|switches| lock(switches).drain());
            pause = match found.max() {
                Some(most) if most >= MANY => SHORTEST_PAUSE.max(pause / 4),
                _ => LONGEST_PAUSE.min(pause * 2),
            };
        }
    };
    let thread = Builder::new().name("treeqr-system".to_owned()).spawn(look);
    Some((end, thread.ok()?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::COUNTERS;
    use super::*;
    use rustix::io::Errno;
    use std::io;
    use treeqr_runtime::TaskId;

    /// A run of a thread with two tasks.
    fn record(modules: &str, gate: Gate) -> SystemRecording {
        let recorder = SystemRecorder::with_gate(Modules::parse(modules).unwrap(), gate);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut probe = recorder.attach(Lane::Worker(0));
                for task in 0..2 {
                    std::thread::sleep(Duration::from_millis(1));
                    probe.task(TaskId(task));
                }
                probe.detach();
            });
        });
        recorder.finish()
    }

    #[test]
    fn where_all_is_denied_the_totals_are_left_and_each_thing_has_its_reason() {
        let refusals: [(Gate, &str); 3] = [
            (|_| Err(Errno::ACCESS.into()), "perf_event_paranoid"),
            (|_| Err(Errno::PERM.into()), "sandbox"),
            (|_| Err(Errno::NOSYS.into()), "kernel has no perf events"),
        ];
        for (gate, reason) in refusals {
            let recording = record("kernel,counters", gate);
            assert!(recording.switches.is_empty() && recording.counters.is_empty());
            assert!(recording.columns.is_empty());
            let [missing] = &recording.missing[..] else {
                panic!("{:?}", recording.missing);
            };
            let all = COUNTERS.iter().fold("kernel".to_owned(), |all, counter| {
                format!("{all}, {}", counter.name)
            });
            assert_eq!(missing.what, all);
            assert!(missing.why.contains(reason), "{missing}");
            let totals = recording.threads[0].totals.expect("Linux has /proc");
            assert!(totals.voluntary + totals.involuntary > 0, "{totals:?}");
        }
    }

    #[test]
    fn one_counter_that_is_denied_leaves_the_others() {
        let gate: Gate = |what| match what {
            "cpu-migrations" => Err(io::Error::from(Errno::MFILE)),
            _ => Ok(()),
        };
        let recording = record("counters:cpu-migrations,task-clock", gate);
        let said = recording
            .missing
            .iter()
            .find(|m| m.what == "cpu-migrations");
        match recording.columns.first() {
            Some(column) => {
                assert_eq!(column.entry.name, "task-clock");
                assert_eq!(recording.counters.len(), 2);
                let said = said.expect("a reason");
                assert!(said.why.contains("ulimit -n"), "{said}");
            }
            None => eprintln!("no perf events here: {:?}", recording.missing),
        }
    }

    #[test]
    fn a_thread_that_is_denied_is_named() {
        use std::sync::atomic::{AtomicU32, Ordering};
        // The recorder's own look is allowed, the thread's not.
        static ASKED: AtomicU32 = AtomicU32::new(0);
        let gate: Gate = |what| match what {
            "context switches" if ASKED.fetch_add(1, Ordering::Relaxed) > 0 => {
                Err(Errno::MFILE.into())
            }
            _ => Ok(()),
        };
        let recording = record("kernel", gate);
        assert!(recording.switches.is_empty());
        let [missing] = &recording.missing[..] else {
            panic!("{:?}", recording.missing);
        };
        let allowed = ASKED.load(Ordering::Relaxed) > 1;
        let what = if allowed {
            "kernel of worker 0"
        } else {
            "kernel"
        };
        assert_eq!(missing.what, what, "{missing}");
    }
}
