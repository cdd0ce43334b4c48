//! The tables of recorded runs, in nanoseconds.
//!
//! Takes the tracks of the threads; gives one set of plain, sorted tables a run. Knows no file format and no metric.
//!
//! All times are nanoseconds since the recorder was made. A task that failed, or that a failed run never started, has no
//! row. Dependencies are not a table: they follow from the accesses in the order of submission
//! (`treeqr_runtime::Dependencies`), and so do not depend on which task happened to be done when.

use crate::clock::Calibration;
use crate::metrics::Summary;
use crate::recorder::RawRun;
use crate::track::Buffer;
use treeqr_runtime::{
    Access, CodeletId, Handle, Lane, MemoryNode, TaskId, TransferKind, WorkerState,
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

/// The tables of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedRun {
    /// Name of the scheduler; `sequential` for none.
    pub scheduler: &'static str,
    /// Names of the codelets, by [`CodeletId`].
    pub codelets: Vec<&'static str>,
    /// Bytes on the host when it began.
    pub host_bytes: u64,
    /// Names of the emulated devices; device d has memory node d + 1.
    pub devices: Vec<String>,
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
    /// By time.
    pub stalls: Vec<StallRow>,
    /// By time.
    pub spills: Vec<SpillRow>,
    /// Records for which there was no room.
    pub dropped: u64,
    /// Threads that never handed their records back: they panicked outside of a task.
    pub lost_tracks: usize,
}

impl RecordedRun {
    /// Rows of all tables.
    pub fn kept(&self) -> u64 {
        let tables = [
            self.tasks.len(),
            self.accesses.len(),
            self.memory.len(),
            self.states.len(),
            self.transfers.len(),
        ];
        tables.iter().sum::<usize>() as u64
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
    /// When the scheduler gave it to its worker.
    pub pop_ns: u64,
    /// Length of the queue it was taken from, without it.
    pub queued: u32,
    /// When its codelet began.
    pub start_ns: u64,
    /// When its codelet ended.
    pub end_ns: u64,
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
    pub reason: treeqr_runtime::StallReason,
}

/// A buffer of records that went to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpillRow {
    /// Whose.
    pub lane: Lane,
    /// From.
    pub start_ns: u64,
    /// To.
    pub end_ns: u64,
    /// How many.
    pub bytes: u64,
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

/// Merges the tracks of all runs.
pub(crate) fn assemble(clock: Calibration, ns_per_record: f64, runs: Vec<RawRun>) -> Recording {
    let runs = runs.into_iter().map(|run| tables(&clock, run)).collect();
    Recording {
        clock,
        ns_per_record,
        runs,
    }
}

fn tables(clock: &Calibration, raw: RawRun) -> RecordedRun {
    let ns = |ticks| clock.nanoseconds(ticks);
    let begin_ns = ns(raw.begin);
    let mut run = RecordedRun {
        scheduler: raw.scheduler,
        codelets: raw.codelets,
        host_bytes: raw.host_bytes,
        devices: raw.devices,
        time_scale: raw.time_scale,
        begin_ns,
        end_ns: begin_ns,
        submitted: 0,
        workers: Vec::new(),
        tasks: Vec::new(),
        accesses: Vec::new(),
        memory: Vec::new(),
        states: Vec::new(),
        transfers: Vec::new(),
        stalls: Vec::new(),
        spills: Vec::new(),
        dropped: 0,
        lost_tracks: (raw.workers + 1).saturating_sub(raw.tracks.len()),
    };
    for track in raw.tracks {
        run.end_ns = run.end_ns.max(ns(track.detached));
        run.submitted += track.submitted;
        if let Lane::Worker(worker) = track.lane {
            run.workers.push(WorkerRow {
                worker: worker as u16,
                bound_to: raw.bound_to.get(worker).copied().flatten(),
                start_ns: ns(track.attached),
                end_ns: ns(track.detached),
            });
        }
        let mut dropped = 0;
        move_rows(track.tasks, &mut run.tasks, &mut dropped, |t| TaskRow {
            id: t.id,
            codelet: t.codelet,
            worker: t.worker,
            node: t.node,
            params: t.params,
            priority: t.priority,
            flops: t.flops,
            bytes: t.bytes,
            submit_ns: ns(t.submit),
            ready_ns: ns(t.ready),
            pop_ns: ns(t.pop),
            queued: t.queued,
            start_ns: ns(t.start),
            end_ns: ns(t.end),
        });
        move_rows(track.accesses, &mut run.accesses, &mut dropped, |a| {
            AccessRow {
                task: a.task,
                handle: a.handle,
                access: a.access,
            }
        });
        move_rows(track.memory, &mut run.memory, &mut dropped, |m| MemoryRow {
            time_ns: ns(m.ticks),
            handle: m.handle,
            task: m.task,
            node: m.node,
            memory: m.memory,
            delta_bytes: m.delta_bytes,
            after_bytes: m.after_bytes,
        });
        move_rows(track.states, &mut run.states, &mut dropped, |s| StateRow {
            worker: s.worker,
            state: s.state,
            start_ns: ns(s.start),
            end_ns: ns(s.end),
        });
        move_rows(track.transfers, &mut run.transfers, &mut dropped, |t| {
            let asked_ns = ns(t.ticks);
            let start_ns = asked_ns + t.wait_ns;
            TransferRow {
                asked_ns,
                start_ns,
                end_ns: start_ns + t.duration_ns,
                handle: t.handle,
                from: t.from,
                to: t.to,
                kind: t.kind,
                bytes: t.bytes,
            }
        });
        run.dropped += dropped;
    }
    run.workers.sort_by_key(|row| row.worker);
    run.tasks.sort_by_key(|row| row.id);
    run.memory.sort_by_key(|row| row.time_ns);
    run.states.sort_by_key(|row| (row.worker, row.start_ns));
    run.transfers.sort_by_key(|row| row.asked_ns);
    run
}

fn move_rows<T, R>(from: Buffer<T>, to: &mut Vec<R>, dropped: &mut u64, row: impl Fn(T) -> R) {
    *dropped += from.dropped;
    to.extend(from.kept.into_iter().map(row));
}
