//! What can be seen of a run while it goes on: one small interface, and the unit type for nobody looking.
//!
//! Takes the events of each thread; gives nothing back, so that an observer cannot change a run. Knows no file format,
//! no buffer and no unit of time: a *tick* is whatever [`Observer::clock`] counts.
//!
//! Each thread of a run owns one [`Track`] (attached on that thread, handed back at its end), so that noting an event
//! needs no lock. Everything is an event at its *end*: one record a task, not two.

use crate::spec::{CodeletId, Handle, TaskId, TaskSpec, WorkerId};
use crate::store::MemoryNode;

/// Somebody who watches runs.
pub trait Observer: Sync {
    /// What one thread writes its events to.
    type Track: Track;

    /// `false` lets the compiler remove all that only serves observation.
    const ACTIVE: bool = true;

    /// A run begins; before any `attach` of it.
    fn begin(&self, run: &RunInfo<'_>) {
        let _ = run;
    }

    /// Makes the track of `lane`, on the thread that will own it. It may allocate.
    fn attach(&self, lane: Lane) -> Self::Track;

    /// Takes back the track of a thread that has ended its work. A track whose thread panicked outside of a task does
    /// not come back.
    fn detach(&self, track: Self::Track);

    /// Now, in ticks; comparable between threads.
    fn clock(&self) -> u64;

    /// The start of a task whose worker found it at once after a task that ended at `end` ticks. The default reads the
    /// clock, so that the time between is seen as the runtime's own; returning `end` saves that reading and counts the
    /// time between to the task.
    fn start_after(&self, end: u64) -> u64 {
        let _ = end;
        self.clock()
    }
}

/// Where one thread writes its events. Called on paths where it must neither wait nor allocate.
pub trait Track {
    /// A task was submitted (submission's lane only).
    fn submitted(&mut self, id: TaskId, spec: &TaskSpec, ticks: u64);
    /// A task has ended.
    fn task(&mut self, record: &TaskRecord);
    /// A buffer was allocated or freed.
    fn memory(&mut self, record: &MemoryRecord);
    /// The submission has waited (submission's lane only).
    fn stall(&mut self, record: &StallRecord) {
        let _ = record;
    }
    /// A worker without a task has done parts of another worker's. By default nobody looks.
    fn share(&mut self, record: &ShareRecord) {
        let _ = record;
    }
    /// A worker was, for a while, neither in a task nor between two of them.
    fn state(&mut self, record: &StateRecord);
    /// Bytes went from one memory node to another. By default nobody looks.
    fn transfer(&mut self, record: &TransferRecord) {
        let _ = record;
    }
}

/// Which thread's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// The thread that submits.
    Submission,
    /// A worker. (In a sequential run worker 0 is on the submitting thread.)
    Worker(WorkerId),
}

/// What is known when a run begins.
#[derive(Clone, Debug)]
pub struct RunInfo<'r> {
    /// Number of workers.
    pub workers: usize,
    /// Name of the scheduler; `sequential` for none.
    pub scheduler: &'static str,
    /// Names of the codelets, by [`CodeletId`].
    pub codelets: &'r [&'static str],
    /// Per worker, the processing unit it will be pinned to, by the operating system's number.
    pub bound_to: &'r [Option<u32>],
    /// Bytes on the host when the run begins.
    pub host_bytes: u64,
    /// Names of the devices; device d has memory node d + 1. Their workers are the last of the run, in the order of the devices.
    pub devices: &'r [String],
    /// How many workers each device has: one, or one for every stream.
    pub device_workers: &'r [usize],
    /// With emulated devices: wall time over time of the emulated machine, at least 1. All records are in wall time.
    pub time_scale: f64,
    /// How many tasks will be submitted, where that is known.
    pub tasks: Option<usize>,
}

/// One task, from submission to end. Times in ticks; `submit <= ready <= pop <= start <= end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRecord {
    /// Number in the order of submission.
    pub id: TaskId,
    /// Its codelet.
    pub codelet: CodeletId,
    /// Its worker.
    pub worker: u16,
    /// Its tree node.
    pub node: u32,
    /// Its parameters.
    pub params: [u32; 6],
    /// Length of the queue it was taken from, without it: [`Scheduler::queue_length`](crate::Scheduler::queue_length).
    pub queued: u32,
    /// Its priority.
    pub priority: i64,
    /// Its floating-point operations, with those that it counted while it ran.
    pub flops: u64,
    /// Bytes of all buffers it took in hand, each time it took them.
    pub bytes: u64,
    /// When it was submitted.
    pub submit: u64,
    /// When the last task it waited for was over.
    pub ready: u64,
    /// When the scheduler handed it to its worker. From here to `start` its data is brought to a device; without devices
    /// the two are one reading of the clock.
    pub pop: u64,
    /// When its codelet began.
    pub start: u64,
    /// When its codelet ended.
    pub end: u64,
}

/// One allocation or release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRecord {
    /// When.
    pub ticks: u64,
    /// What.
    pub handle: Handle,
    /// By which task.
    pub task: TaskId,
    /// For which tree node.
    pub node: u32,
    /// Where.
    pub memory: MemoryNode,
    /// Bytes gained (positive) or given back (negative).
    pub delta_bytes: i64,
    /// Bytes on that memory node after it: over all records, their maximum is the peak of the store.
    pub after_bytes: u64,
}

/// Bytes that went from one memory node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferRecord {
    /// When it was asked for, in ticks.
    pub ticks: u64,
    /// From then to its start on the link, in nanoseconds.
    pub wait_ns: u64,
    /// From its start to its end, in nanoseconds.
    pub duration_ns: u64,
    /// How many.
    pub bytes: u64,
    /// Of what.
    pub handle: Handle,
    /// From where.
    pub from: MemoryNode,
    /// To where.
    pub to: MemoryNode,
    /// What for.
    pub kind: TransferKind,
}

/// Why bytes move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferKind {
    /// A task on a device is about to use them.
    Fetch,
    /// A task on a device will use them.
    Prefetch,
    /// Another node needs what a device has.
    Return,
    /// A device drops them: it is full, or the run is over.
    WriteBack,
}

/// What a worker did while it had no task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerState {
    /// Asked the scheduler, in vain.
    Scheduling,
    /// Looked again and again.
    Idle,
    /// Slept until woken.
    Sleeping,
    /// Had a task and waited for its data.
    Transferring,
}

/// A span of one worker without a task, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateRecord {
    /// Which worker.
    pub worker: u16,
    /// What it did.
    pub state: WorkerState,
    /// From.
    pub start: u64,
    /// To.
    pub end: u64,
}

/// A span in which a worker without a task of its own did parts of one that another worker had, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareRecord {
    /// Which task.
    pub task: TaskId,
    /// Who helped.
    pub worker: u16,
    /// How many parts it did.
    pub parts: u32,
    /// From.
    pub start: u64,
    /// To.
    pub end: u64,
}

/// What the submission waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StallReason {
    /// The window was full of unfinished tasks.
    Window,
    /// The application waited in [`Submitter::wait_until`](crate::Submitter::wait_until), for memory.
    Memory,
}

/// A span in which the submission waited, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallRecord {
    /// What for.
    pub reason: StallReason,
    /// Tasks submitted before it.
    pub submitted: u32,
    /// From.
    pub start: u64,
    /// To.
    pub end: u64,
}

/// Nobody looks: no clock is read, and all of it compiles to nothing.
impl Observer for () {
    type Track = ();
    const ACTIVE: bool = false;
    fn attach(&self, _: Lane) {}
    fn detach(&self, (): ()) {}
    fn clock(&self) -> u64 {
        0
    }
}

impl Track for () {
    fn submitted(&mut self, _: TaskId, _: &TaskSpec, _: u64) {}
    fn task(&mut self, _: &TaskRecord) {}
    fn memory(&mut self, _: &MemoryRecord) {}
    fn state(&mut self, _: &StateRecord) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_small() {
        assert_eq!(size_of::<TaskRecord>(), 104);
        assert_eq!(size_of::<MemoryRecord>(), 40);
        assert_eq!(size_of::<StateRecord>(), 24);
        assert_eq!(size_of::<ShareRecord>(), 32);
        assert_eq!(size_of::<StallRecord>(), 24);
        assert_eq!(size_of::<TransferRecord>(), 48);
    }
}
