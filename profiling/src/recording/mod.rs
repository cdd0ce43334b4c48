//! The tables of recorded runs, in nanoseconds.
//!
//! Takes what the threads wrote (`assemble.rs`); gives one set of plain, sorted tables a run. Knows no file format and no
//! metric.
//!
//! All times are nanoseconds since the recorder was made. A task that failed, or that a failed run never started, has no
//! row. Dependencies are not a table: they follow from the accesses in the order of submission
//! (`treeqr_runtime::Dependencies`), and so do not depend on which task happened to be done when.

mod assemble;
mod drops;

pub(crate) use assemble::assemble;
pub use drops::{DropReason, Drops};

use crate::clock::Calibration;
use crate::metrics::Summary;
use treeqr_runtime::{
    Access, CodeletId, Handle, Lane, MemoryNode, StallReason, TaskId, TransferKind, WorkerState,
};

/// What a recorder kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// How its clock's ticks became nanoseconds.
    pub clock: Calibration,
    /// What a task's record cost its worker, in nanoseconds; measured when the recorder finished.
    pub ns_per_record: f64,
    /// The runs, in their order.
    pub runs: Vec<RecordedRun>,
}

impl Recording {
    /// The metrics of run `index`.
    ///
    /// # Panics
    /// If there is no such run.
    pub fn summary(&self, index: usize) -> Summary {
        Summary::of(&self.runs[index], self.ns_per_record)
    }
}

/// The tables of one run. The default is a run of nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedRun {
    /// Name of the scheduler; `sequential` for none.
    pub scheduler: &'static str,
    /// Names of the codelets, by [`CodeletId`].
    pub codelets: Vec<&'static str>,
    /// Bytes on the host when it began.
    pub host_bytes: u64,
    /// Names of the devices; device d has memory node d + 1.
    pub devices: Vec<String>,
    /// How many workers each device has; they are the last, in the order of the devices.
    pub device_workers: Vec<usize>,
    /// With emulated devices, how many times slower than the emulated machine all times of this run are; else 1.
    pub time_scale: f64,
    /// When it began.
    pub begin_ns: u64,
    /// When its last thread ended.
    pub end_ns: u64,
    /// Tasks submitted.
    pub submitted: u64,
    /// By worker.
    pub workers: Vec<WorkerRow>,
    /// By number of the task.
    pub tasks: Vec<TaskRow>,
    /// By task, in the order of its accesses.
    pub accesses: Vec<AccessRow>,
    /// By time.
    pub memory: Vec<MemoryRow>,
    /// By worker, then time.
    pub states: Vec<StateRow>,
    /// By the time when they were asked for.
    pub transfers: Vec<TransferRow>,
    /// By time: the submission waited.
    pub stalls: Vec<StallRow>,
    /// By worker, then time: workers without a task did parts of others'.
    pub shares: Vec<ShareRow>,
    /// By time: records went from memory to a file, so that the recorder itself took some of the machine.
    pub spills: Vec<SpillRow>,
    /// Bytes of the records that are in the tables, as they were written.
    pub record_bytes: u64,
    /// Records that were made and are in no table; the sum of `drops`.
    pub dropped: u64,
    /// The same by kind.
    pub drops: Drops,
    /// Why, if any were dropped.
    pub drop_reason: Option<DropReason>,
    /// Threads that never handed their records back: they panicked outside of a task. Nothing of theirs is in the tables.
    pub lost_tracks: usize,
}

impl RecordedRun {
    /// Rows of all tables that threads of the run recorded.
    pub fn kept(&self) -> u64 {
        let tables = [
            self.tasks.len(),
            self.accesses.len(),
            self.memory.len(),
            self.states.len(),
            self.transfers.len(),
            self.stalls.len(),
            self.shares.len(),
        ];
        tables.iter().sum::<usize>() as u64
    }

    /// Bytes of records that went through a file.
    pub fn spilled_bytes(&self) -> u64 {
        self.spills.iter().map(|spill| spill.bytes).sum()
    }
}

/// A worker's part in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerRow {
    /// Its number.
    pub worker: u16,
    /// The processing unit it was to be pinned to.
    pub bound_to: Option<u32>,
    /// When it began to look for tasks.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
}

/// A task that was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRow {
    /// Number in the order of submission.
    pub id: TaskId,
    /// What it ran.
    pub codelet: CodeletId,
    /// Who ran it.
    pub worker: u16,
    /// Its tree node.
    pub node: u32,
    /// Its parameters.
    pub params: [u32; 6],
    /// How many tasks were left in the queue that it was taken from.
    pub queued: u32,
    /// Its priority.
    pub priority: i64,
    /// Its floating-point operations.
    pub flops: u64,
    /// Bytes of the buffers it took in hand.
    pub bytes: u64,
    /// When it was submitted.
    pub submit_ns: u64,
    /// When it had nothing left to wait for.
    pub ready_ns: u64,
    /// When the scheduler handed it to its worker; from then to `start_ns` its data came to a device.
    pub pop_ns: u64,
    /// When its codelet began.
    pub start_ns: u64,
    /// When its codelet ended.
    pub end_ns: u64,
}

/// One access of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessRow {
    /// The task.
    pub task: TaskId,
    /// The data.
    pub handle: Handle,
    /// How.
    pub access: Access,
}

/// An allocation or a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRow {
    /// When.
    pub time_ns: u64,
    /// Which data.
    pub handle: Handle,
    /// By which task.
    pub task: TaskId,
    /// For which tree node.
    pub node: u32,
    /// Where.
    pub memory: MemoryNode,
    /// Bytes gained, or given back if negative.
    pub delta_bytes: i64,
    /// Bytes there afterwards, as the store counted them.
    pub after_bytes: u64,
}

/// A span of a worker without a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateRow {
    /// Which worker.
    pub worker: u16,
    /// What it did.
    pub state: WorkerState,
    /// From.
    pub start_ns: u64,
    /// To.
    pub end_ns: u64,
}

/// Bytes that went from one memory node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferRow {
    /// When it was asked for.
    pub asked_ns: u64,
    /// When it had the link.
    pub start_ns: u64,
    /// When the bytes were there.
    pub end_ns: u64,
    /// Which data.
    pub handle: Handle,
    /// From where.
    pub from: MemoryNode,
    /// To where.
    pub to: MemoryNode,
    /// What for.
    pub kind: TransferKind,
    /// How many.
    pub bytes: u64,
}

/// A span in which the submission waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallRow {
    /// From.
    pub start_ns: u64,
    /// To.
    pub end_ns: u64,
    /// Tasks submitted before it.
    pub submitted: u32,
    /// What for.
    pub reason: StallReason,
}

/// A span of a worker without a task, in which it did parts of another worker's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareRow {
    /// Which task.
    pub task: TaskId,
    /// Who helped.
    pub worker: u16,
    /// How many parts it did.
    pub parts: u32,
    /// From.
    pub start_ns: u64,
    /// To.
    pub end_ns: u64,
}

/// A span in which the recorder wrote records to its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpillRow {
    /// Whose records.
    pub lane: Lane,
    /// From.
    pub start_ns: u64,
    /// To.
    pub end_ns: u64,
    /// How many.
    pub bytes: u64,
}
