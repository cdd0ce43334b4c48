//! What the tables of a run say in a few numbers.
//!
//! Takes a [`RecordedRun`]; gives a [`Summary`], which prints itself. Knows no clock and no thread.

use crate::recording::{DropReason, RecordedRun};
use std::fmt;
use treeqr_runtime::{MemoryNode, WorkerState};

/// The metrics of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Name of the scheduler; `sequential` for none.
    pub scheduler: &'static str,
    /// From the beginning of the run to the end of its last task, in nanoseconds.
    pub makespan_ns: u64,
    /// Time in tasks, helpers' too, over workers x makespan, 0 to 1.
    pub occupancy: f64,
    /// Floating-point operations of all tasks.
    pub flops: u64,
    /// Codelets that ran, by number.
    pub codelets: Vec<CodeletSummary>,
    /// Workers, by number.
    pub workers: Vec<WorkerSummary>,
    /// Names of the devices.
    pub devices: Vec<String>,
    /// With emulated devices, how many times slower than the emulated machine all times are; else 1.
    pub time_scale: f64,
    /// Bytes that went between memory nodes.
    pub transferred_bytes: u64,
    /// The most bytes that lay on the host, in bytes; the same as the store's.
    pub peak_bytes: u64,
    /// Records that were kept.
    pub kept: u64,
    /// Their bytes, as they were written.
    pub record_bytes: u64,
    /// Bytes of them that went through a file.
    pub spilled_bytes: u64,
    /// Records for which there was no room.
    pub dropped: u64,
    /// Why, if any were dropped.
    pub drop_reason: Option<DropReason>,
    /// What a task's record cost its worker, in nanoseconds.
    pub ns_per_record: f64,
    /// The workers' records, each at that price, over workers x makespan, 0 to 1: the part of their time that recording took, at
    /// most, since other records cost less than a task's.
    pub recorder_share: f64,
}

/// All tasks of one codelet.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeletSummary {
    /// Its name.
    pub name: &'static str,
    /// How many.
    pub count: u64,
    /// Their time, in nanoseconds: of their own workers, and of those who helped.
    pub time_ns: u64,
    /// Their floating-point operations.
    pub flops: u64,
    /// Their part of the time in all tasks, 0 to 1.
    pub share: f64,
}

impl CodeletSummary {
    /// Speed in 10^9 floating-point operations per second; 0 where no time passed.
    pub fn gflops(&self) -> f64 {
        per(self.flops as f64, self.time_ns as f64)
    }
}

/// What one worker did, in nanoseconds; the five add up to the time from its start to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSummary {
    /// Its number.
    pub worker: u16,
    /// Tasks it did.
    pub tasks: u64,
    /// In tasks, its own and those it helped with.
    pub executing_ns: u64,
    /// Of that, in parts of other workers' tasks.
    pub helping_ns: u64,
    /// Between tasks: releasing successors, asking the scheduler, writing records.
    pub runtime_ns: u64,
    /// Looking for a task again and again.
    pub idle_ns: u64,
    /// Asleep for want of a task.
    pub sleeping_ns: u64,
    /// Waiting for the data of a task to come from another memory node.
    pub transferring_ns: u64,
}

impl Summary {
    /// The metrics of `run`.
    pub fn of(run: &RecordedRun, ns_per_record: f64) -> Self {
        let last_end = run.tasks.iter().map(|task| task.end_ns).max();
        let makespan_ns = last_end.map_or(0, |end| end - run.begin_ns);
        let own: u64 = run.tasks.iter().map(|t| t.end_ns - t.start_ns).sum();
        let executing = own + helping_ns(run);
        let workers = workers(run);
        let available = workers.len() as f64 * makespan_ns as f64;
        let on_workers = run.tasks.len()
            + run.states.len()
            + run.shares.len()
            + run.memory.len()
            + run.transfers.len();
        let on_host = run.memory.iter().filter(|m| m.memory == MemoryNode::HOST);
        Summary {
            scheduler: run.scheduler,
            makespan_ns,
            occupancy: per(executing as f64, available),
            flops: run.tasks.iter().map(|task| task.flops).sum(),
            codelets: codelets(run, executing),
            workers,
            devices: run.devices.clone(),
            time_scale: run.time_scale,
            transferred_bytes: run.transfers.iter().map(|t| t.bytes).sum(),
            peak_bytes: on_host
                .map(|m| m.after_bytes)
                .fold(run.host_bytes, u64::max),
            kept: run.kept(),
            record_bytes: run.record_bytes,
            spilled_bytes: run.spilled_bytes(),
            dropped: run.dropped,
            drop_reason: run.drop_reason.clone(),
            ns_per_record,
            recorder_share: per(on_workers as f64 * ns_per_record, available),
        }
    }

    /// Speed of the whole run in 10^9 floating-point operations per second; 0 where no time passed.
    pub fn gflops(&self) -> f64 {
        per(self.flops as f64, self.makespan_ns as f64)
    }
}

fn codelets(run: &RecordedRun, executing: u64) -> Vec<CodeletSummary> {
    let fresh = |&name: &&'static str| CodeletSummary {
        name,
        count: 0,
        time_ns: 0,
        flops: 0,
        share: 0.0,
    };
    let mut all: Vec<_> = run.codelets.iter().map(fresh).collect();
    for task in &run.tasks {
        let codelet = &mut all[task.codelet.0 as usize];
        codelet.count += 1;
        codelet.time_ns += task.end_ns - task.start_ns;
        codelet.flops += task.flops;
    }
    for share in &run.shares {
        // A task that failed has no row.
        if let Ok(row) = run.tasks.binary_search_by_key(&share.task, |t| t.id) {
            let codelet = &mut all[run.tasks[row].codelet.0 as usize];
            codelet.time_ns += share.end_ns - share.start_ns;
        }
    }
    all.retain(|codelet| codelet.count > 0);
    for codelet in &mut all {
        codelet.share = per(codelet.time_ns as f64, executing as f64);
    }
    all
}

fn workers(run: &RecordedRun) -> Vec<WorkerSummary> {
    let summary = |row: &crate::recording::WorkerRow| {
        let mine = run.tasks.iter().filter(|task| task.worker == row.worker);
        let in_state = |state: WorkerState| -> u64 {
            let spans = run.states.iter();
            let spans = spans.filter(|s| s.worker == row.worker && s.state == state);
            spans.map(|span| span.end_ns - span.start_ns).sum()
        };
        let own_ns: u64 = mine.clone().map(|t| t.end_ns - t.start_ns).sum();
        let helped = run.shares.iter().filter(|s| s.worker == row.worker);
        let helping_ns: u64 = helped.map(|s| s.end_ns - s.start_ns).sum();
        let executing_ns = own_ns + helping_ns;
        let idle_ns = in_state(WorkerState::Idle);
        let sleeping_ns = in_state(WorkerState::Sleeping);
        let transferring_ns = in_state(WorkerState::Transferring);
        let elsewhere = executing_ns + idle_ns + sleeping_ns + transferring_ns;
        WorkerSummary {
            worker: row.worker,
            tasks: mine.count() as u64,
            executing_ns,
            helping_ns,
            runtime_ns: (row.end_ns - row.start_ns).saturating_sub(elsewhere),
            idle_ns,
            sleeping_ns,
            transferring_ns,
        }
    };
    run.workers.iter().map(summary).collect()
}

/// Time in which workers did parts of others' tasks.
pub(crate) fn helping_ns(run: &RecordedRun) -> u64 {
    run.shares.iter().map(|s| s.end_ns - s.start_ns).sum()
}

/// `a / b`, or 0 where `b` is.
fn per(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |ns: u64| ns as f64 / 1e6;
        writeln!(
            f,
            "{} on {} workers: {:.3} ms, {:.2} GFlop/s, occupancy {:.1} %, memory peak {} bytes",
            self.scheduler,
            self.workers.len(),
            ms(self.makespan_ns),
            self.gflops(),
            100.0 * self.occupancy,
            self.peak_bytes
        )?;
        if !self.devices.is_empty() {
            let devices = self.devices.join(", ");
            if self.time_scale > 1.0 {
                let scale = self.time_scale;
                write!(
                    f,
                    "emulated: {devices}; times are {scale} times those of the emulated machine"
                )?;
            } else {
                write!(f, "devices: {devices}")?;
            }
            writeln!(f, "; {} bytes transferred", self.transferred_bytes)?;
        }
        writeln!(
            f,
            "{:<16} {:>9} {:>12} {:>8} {:>9}",
            "codelet", "tasks", "time ms", "share %", "GFlop/s"
        )?;
        for c in &self.codelets {
            let (time, share) = (ms(c.time_ns), 100.0 * c.share);
            let speed = c.gflops();
            let (name, count) = (c.name, c.count);
            writeln!(
                f,
                "{name:<16} {count:>9} {time:>12.3} {share:>8.1} {speed:>9.2}"
            )?;
        }
        writeln!(
            f,
            "{:<16} {:>9} {:>12} {:>12} {:>12} {:>12}",
            "worker", "tasks", "tasks ms", "runtime ms", "idle ms", "sleeping ms"
        )?;
        for w in &self.workers {
            writeln!(
                f,
                "{:<16} {:>9} {:>12.3} {:>12.3} {:>12.3} {:>12.3}",
                w.worker,
                w.tasks,
                ms(w.executing_ns),
                ms(w.runtime_ns),
                ms(w.idle_ns),
                ms(w.sleeping_ns)
            )?;
        }
        let helping = self.workers.iter().map(|w| w.helping_ns).sum();
        if helping > 0 {
            let helping = ms(helping);
            writeln!(
                f,
                "of the time in tasks, {helping:.3} ms in parts of other workers' tasks"
            )?;
        }
        write!(
            f,
            "records: {} kept ({} bytes, {} through a file), {} dropped, {:.0} ns a task: {:.2} % of the workers' time",
            self.kept,
            self.record_bytes,
            self.spilled_bytes,
            self.dropped,
            self.ns_per_record,
            100.0 * self.recorder_share
        )?;
        match &self.drop_reason {
            Some(reason) => write!(f, "\ndropped, since {reason}"),
            None => Ok(()),
        }
    }
}
