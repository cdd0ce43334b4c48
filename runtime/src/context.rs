//! What a codelet sees of its task: parameters, buffers, memory.
//!
//! Takes a task and the shared store; gives buffers by the index of the access, checked against the declared mode. Knows
//! no scheduler and no thread.

use crate::codelet::TaskFailure;
use crate::engine::share::Company;
use crate::spec::{Access, Handle, TaskId, TaskSpec, WorkerId};
use crate::store::{
    Change, Fill, MemoryNode, OutOfMemory, ReadBuffer, ScatterBuffer, SharedStore, WorkingMemory,
    WriteBuffer,
};
use bytemuck::Pod;
use std::any::Any;
use std::cell::{Cell, RefCell};

/// The running task, as its codelet sees it.
///
/// Buffers are taken by the index of their access in [`TaskSpec::accesses`] and given back when dropped; any number of
/// them can be held at once. Elements are any plain old data of up to 128 bytes' alignment (buffers have 128).
pub struct TaskContext<'t> {
    id: TaskId,
    spec: &'t TaskSpec,
    worker: WorkerId,
    store: SharedStore<'t>,
    company: Option<&'t dyn Company>,
    changes: RefCell<&'t mut dyn MemorySink>,
    bytes: Cell<u64>,
    flops: Cell<u64>,
    helped_ns: Cell<u64>,
    last_owned: Cell<usize>,
}

/// Who hears of allocations and releases.
pub(crate) trait MemorySink {
    fn changed(&mut self, task: TaskId, spec: &TaskSpec, handle: Handle, change: Change);
    /// Whether the allocation that is about to happen shall fail, on purpose.
    fn refuses(&self) -> bool;
    /// Whether buffers that will be overwritten are filled with NaN first, on purpose.
    fn poisons(&self) -> bool;
}

impl<'t> TaskContext<'t> {
    pub(crate) fn new(
        id: TaskId,
        spec: &'t TaskSpec,
        worker: WorkerId,
        store: SharedStore<'t>,
        company: Option<&'t dyn Company>,
        changes: &'t mut dyn MemorySink,
    ) -> Self {
        TaskContext {
            id,
            spec,
            worker,
            store,
            company,
            changes: RefCell::new(changes),
            bytes: Cell::new(0),
            flops: Cell::new(0),
            helped_ns: Cell::new(0),
            last_owned: Cell::new(0),
        }
    }

    /// The task as it was submitted.
    pub fn task(&self) -> &'t TaskSpec {
        self.spec
    }

    /// Its number in the order of submission.
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// The worker that runs it.
    pub fn worker(&self) -> WorkerId {
        self.worker
    }

    /// The buffer of access `index`, to read.
    ///
    /// # Panics
    /// If the access is not `Read` or `ReadWrite`, if the buffer is not allocated, if it is no whole number of `T`, or
    /// if the task holds it to write.
    pub fn read<T: Pod>(&self, index: usize) -> ReadBuffer<'t, T> {
        let handle = self.declared(index, "read", Access::reads);
        let buffer = self.store.read(handle);
        self.count(size_of_val(&*buffer));
        buffer
    }

    /// The buffer of access `index`, to read and write.
    ///
    /// # Panics
    /// If the access is not `Write` or `ReadWrite`, if the buffer is not allocated, if it is no whole number of `T`, or
    /// if the task holds it already.
    pub fn write<T: Pod>(&self, index: usize) -> WriteBuffer<'t, T> {
        let handle = self.declared(index, "write", Access::is_exclusive);
        let buffer = self.store.write(handle);
        self.count(size_of_val(&*buffer));
        buffer
    }

    /// The buffer of access `index`, to write the part of it that belongs to this task. All tasks of one group of
    /// scatters use elements of the same size class: multiples of 8 bytes, or other multiples of 4.
    ///
    /// # Panics
    /// If the access is not `Scatter`, if the buffer is not allocated, or if it is no whole number of `T`.
    pub fn scatter<T: Pod>(&self, index: usize) -> ScatterBuffer<'t, T> {
        let handle = self.declared(index, "scatter to", |access| access == Access::Scatter);
        let buffer = self.store.scatter(handle);
        self.count(buffer.len() * size_of::<T>());
        buffer
    }

    /// The memory that its buffers lie in.
    pub fn memory(&self) -> MemoryNode {
        self.store.memory()
    }

    /// How many CPU workers have nothing to do right now: who would help with parts of this task at once. 0 where nobody may
    /// ([`Config::share`](crate::Config::share), sequential runs, devices). It changes at any time.
    pub fn idle_workers(&self) -> usize {
        self.company.map_or(0, Company::idle)
    }

    /// Whether others may help at all, now or later.
    pub fn is_shared(&self) -> bool {
        self.company.is_some()
    }

    /// Calls `body` once for each of the `parts`, by number, and returns when all are done: on this worker, and on CPU workers that have
    /// nothing to do meanwhile. `scratch` is this worker's; the others pass theirs. Parts may run at the same time and in any order, so
    /// what they compute must not depend on it, and what they write must be apart.
    ///
    /// Cost: with others that may help, about a microsecond, and two atomic operations a part; else a loop.
    ///
    /// # Panics
    /// If a part does, or if `S` is not the scratch of the application.
    pub fn share<S: Any>(
        &self,
        parts: usize,
        scratch: &mut S,
        body: impl Fn(usize, &mut S) + Sync,
    ) {
        match self.company {
            Some(company) if parts > 1 => {
                let body = |part: usize, scratch: &mut dyn Any| {
                    let scratch = scratch.downcast_mut::<S>();
                    body(part, scratch.expect("the scratch of the application"));
                };
                let helped = company.share(self.id, parts, &body, scratch);
                self.helped_ns.set(self.helped_ns.get() + helped);
            }
            _ => (0..parts).for_each(|part| body(part, scratch)),
        }
    }

    /// Adds to the task's flops in its record, where they are not known before it has run. Priorities, models and what schedulers see go by
    /// [`TaskSpec::flops`] alone.
    pub fn count_flops(&self, flops: u64) {
        self.flops.set(self.flops.get().saturating_add(flops));
    }

    /// Gives `handle` a buffer of `bytes` zero bytes; what it had before is freed first.
    ///
    /// # Errors
    /// If there is no memory; `?` makes it the failure of the task.
    ///
    /// # Panics
    /// If `handle` is not among the task's accesses as `Write` or `ReadWrite`, if the task holds its buffer, or if it runs
    /// on a device.
    pub fn allocate(&self, handle: Handle, bytes: usize) -> Result<(), OutOfMemory> {
        self.allocate_filled(handle, bytes, Fill::ZEROS)
    }

    /// As [`Self::allocate`], where this task or later ones will write nearly every page of the bytes from `written_from` on: they come
    /// from the system at once, which is quicker than one by one. In a run with devices, which might write them instead, they do not.
    ///
    /// # Errors
    /// If there is no memory.
    ///
    /// # Panics
    /// As [`Self::allocate`].
    pub fn allocate_to_write(
        &self,
        handle: Handle,
        bytes: usize,
        written_from: usize,
    ) -> Result<(), OutOfMemory> {
        self.allocate_filled(handle, bytes, Fill::Zeros { written_from })
    }

    /// As [`Self::allocate`], for a task that writes the whole buffer: nothing is cleared, and the buffer holds what one before it
    /// has left, or zeros. [`Faults::poison`](crate::Faults::poison) finds out who promised too much.
    ///
    /// # Errors
    /// If there is no memory.
    ///
    /// # Panics
    /// As [`Self::allocate`].
    pub fn allocate_for_overwrite(&self, handle: Handle, bytes: usize) -> Result<(), OutOfMemory> {
        self.allocate_filled(handle, bytes, self.unless_poisoned(Fill::Anything))
    }

    /// Memory of `len` elements to work in until it is dropped, here or in a later task of this worker: in no account and no peak. It holds
    /// anything, or NaN with [`Faults::poison`](crate::Faults::poison). For what is too large for each worker to keep; it comes from where buffers do,
    /// and goes there.
    ///
    /// # Errors
    /// If there is no memory; `?` makes it the failure of the task.
    ///
    /// # Panics
    /// If the task runs on a device.
    pub fn working_memory<T: Pod>(&self, len: usize) -> Result<WorkingMemory<T>, OutOfMemory> {
        assert!(self.memory() == MemoryNode::HOST, "on the host only");
        let bytes = len.saturating_mul(size_of::<T>());
        let memory = match self.changes.borrow().refuses() {
            true => None,
            false => self
                .store
                .working_memory(len, self.unless_poisoned(Fill::Parts)),
        };
        memory.ok_or(OutOfMemory { bytes })
    }

    fn unless_poisoned(&self, fill: Fill) -> Fill {
        match self.changes.borrow().poisons() {
            true => Fill::Poison,
            false => fill,
        }
    }

    fn allocate_filled(&self, handle: Handle, bytes: usize, fill: Fill) -> Result<(), OutOfMemory> {
        self.owned(handle, "allocate");
        let mut sink = self.changes.borrow_mut();
        if sink.refuses() {
            return Err(OutOfMemory { bytes });
        }
        self.store.allocate(handle, bytes, fill, |change| {
            sink.changed(self.id, self.spec, handle, change);
        })
    }

    /// Frees the buffer of `handle`, if it has one.
    ///
    /// # Panics
    /// If `handle` is not among the task's accesses as `Write` or `ReadWrite`, if the task holds its buffer, or if it runs
    /// on a device.
    pub fn free(&self, handle: Handle) {
        self.owned(handle, "free");
        let mut sink = self.changes.borrow_mut();
        self.store.free(handle, |change| {
            sink.changed(self.id, self.spec, handle, change);
        });
    }

    /// The failure of this task, in words: `return Err(context.fail("..."))` ends the run.
    pub fn fail(&self, message: impl Into<String>) -> TaskFailure {
        TaskFailure::Message(message.into())
    }

    /// Bytes of all buffers that were taken so far.
    pub(crate) fn bytes_taken(&self) -> u64 {
        self.bytes.get()
    }

    /// Its flops, as it was submitted and counted meanwhile.
    pub(crate) fn flops(&self) -> u64 {
        self.spec.flops.saturating_add(self.flops.get())
    }

    /// Nanoseconds of those who helped.
    pub(crate) fn helped_ns(&self) -> u64 {
        self.helped_ns.get()
    }

    fn count(&self, bytes: usize) {
        self.bytes.set(self.bytes.get() + bytes as u64);
    }

    fn declared(&self, index: usize, what: &str, allows: impl Fn(Access) -> bool) -> Handle {
        match self.spec.accesses.get(index) {
            Some(&(handle, access)) if allows(access) => handle,
            Some(&(handle, access)) => panic!(
                "cannot {what} access {index} (handle {}): it was declared {access:?}",
                handle.0
            ),
            None => panic!(
                "cannot {what} access {index}: the task has {}",
                self.spec.accesses.len()
            ),
        }
    }

    /// Looks from where the last search ended: a task that takes or frees its buffers in their order is then not slowed
    /// by having many.
    fn owned(&self, handle: Handle, what: &str) {
        assert!(
            self.memory() == MemoryNode::HOST,
            "cannot {what} handle {} on a device: only tasks on the host do",
            handle.0
        );
        let accesses = &self.spec.accesses;
        let from = self.last_owned.get();
        let order = (from..accesses.len()).chain(0..from);
        let found = order
            .into_iter()
            .find(|&i| accesses[i].0 == handle && accesses[i].1.is_exclusive());
        match found {
            Some(i) => self.last_owned.set(i),
            None => panic!(
                "cannot {what} handle {}: the task does not declare it Write or ReadWrite",
                handle.0
            ),
        }
    }
}
