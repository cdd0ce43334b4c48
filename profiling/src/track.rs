//! The memory of one thread for its records.
//!
//! Takes records; keeps them while there is room, and counts those it drops. Allocates when it is made and never again;
//! no lock, no system call. (The pages of a buffer come from the system when they are first written, 4 KiB at a time.)

use treeqr_runtime::{
    Access, Handle, Lane, MemoryRecord, StateRecord, TaskId, TaskRecord, TaskSpec, Track,
    TransferRecord,
};

/// A list of fixed capacity.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    pub(crate) kept: Vec<T>,
    pub(crate) dropped: u64,
}

impl<T> Buffer<T> {
    /// Room for `capacity` records, or for fewer where there is no memory for so many.
    fn with_capacity(mut capacity: usize) -> Self {
        let mut kept = Vec::new();
        while kept.try_reserve_exact(capacity).is_err() {
            capacity /= 2;
        }
        Buffer { kept, dropped: 0 }
    }

    #[inline]
    fn push(&mut self, record: T) {
        if self.kept.len() < self.kept.capacity() {
            self.kept.push(record);
        } else {
            self.dropped += 1;
        }
    }
}

/// How many records of each kind a thread has room for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacities {
    pub(crate) tasks: usize,
    pub(crate) memory: usize,
    pub(crate) states: usize,
    pub(crate) accesses: usize,
    pub(crate) transfers: usize,
}

/// One access of one task, as submitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessRecord {
    pub(crate) task: TaskId,
    pub(crate) handle: Handle,
    pub(crate) access: Access,
}

/// The records of one thread.
#[derive(Debug)]
pub struct ThreadTrack {
    pub(crate) lane: Lane,
    pub(crate) attached: u64,
    pub(crate) detached: u64,
    pub(crate) submitted: u64,
    pub(crate) tasks: Buffer<TaskRecord>,
    pub(crate) memory: Buffer<MemoryRecord>,
    pub(crate) states: Buffer<StateRecord>,
    pub(crate) accesses: Buffer<AccessRecord>,
    pub(crate) transfers: Buffer<TransferRecord>,
}

impl ThreadTrack {
    pub(crate) fn new(lane: Lane, capacities: Capacities, attached: u64) -> Self {
        let submits = lane == Lane::Submission;
        let on_workers = |capacity| if submits { 0 } else { capacity };
        let on_submission = |capacity| if submits { capacity } else { 0 };
        ThreadTrack {
            lane,
            attached,
            detached: attached,
            submitted: 0,
            tasks: Buffer::with_capacity(on_workers(capacities.tasks)),
            memory: Buffer::with_capacity(on_workers(capacities.memory)),
            states: Buffer::with_capacity(on_workers(capacities.states)),
            accesses: Buffer::with_capacity(on_submission(capacities.accesses)),
            // The submission's are those that bring all data home.
            transfers: Buffer::with_capacity(capacities.transfers),
        }
    }
}

impl Track for ThreadTrack {
    fn submitted(&mut self, task: TaskId, spec: &TaskSpec, _: u64) {
        self.submitted += 1;
        for &(handle, access) in &spec.accesses {
            self.accesses.push(AccessRecord {
                task,
                handle,
                access,
            });
        }
    }

    fn task(&mut self, record: &TaskRecord) {
        self.tasks.push(*record);
    }

    fn memory(&mut self, record: &MemoryRecord) {
        self.memory.push(*record);
    }

    fn state(&mut self, record: &StateRecord) {
        self.states.push(*record);
    }

    fn transfer(&mut self, record: &TransferRecord) {
        self.transfers.push(*record);
    }
}
