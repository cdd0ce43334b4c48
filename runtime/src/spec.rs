//! What a task is to the application: plain data.
//!
//! Takes nothing; gives the words of the submission ([`TaskSpec`], [`Handle`], [`Access`]). Knows neither how a task is
//! run nor what its parameters mean. Because a task is data and no closure it can be recorded, drawn, modelled and
//! replayed.

use smallvec::SmallVec;

/// A piece of data, by its dense number `0..n` in the [`DataStore`](crate::DataStore); the application chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(pub u32);

/// A codelet, by its index in [`Application::codelets`](crate::Application::codelets).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodeletId(pub u16);

/// A task, by its place in the order of submission of its run, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

/// A worker, by its number `0..threads` in its run.
pub type WorkerId = usize;

/// What a task does with the buffer of a handle; with the order of submission it fixes the dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reads what is there. Readers run side by side.
    Read,
    /// Overwrites all of it (or allocates it); what was there before does not matter.
    Write,
    /// Reads and writes it, alone.
    ReadWrite,
    /// Writes a part of it that no other task of the same group writes. Consecutive scatters are one group: unordered
    /// among themselves, ordered against every other access before and after.
    Scatter,
}

impl Access {
    /// Whether the task must have the handle for itself.
    pub fn is_exclusive(self) -> bool {
        matches!(self, Access::Write | Access::ReadWrite)
    }

    /// Whether the task may look at what the buffer holds when it starts.
    pub fn reads(self) -> bool {
        matches!(self, Access::Read | Access::ReadWrite)
    }
}

/// The accesses of a task, in the order by which [`TaskContext`](crate::TaskContext) numbers its buffers.
pub type Accesses = SmallVec<[(Handle, Access); 4]>;

/// A task as it is submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSpec {
    /// What to run.
    pub codelet: CodeletId,
    /// Meaning belongs to the codelet: tile coordinates, panel step, ...
    pub params: [u32; 6],
    /// The data it touches, each with its mode.
    pub accesses: Accesses,
    /// Larger runs sooner, where the scheduler has priorities.
    pub priority: i64,
    /// Floating-point operations it will do.
    pub flops: u64,
    /// The tree node it works for; recorded, and named in errors.
    pub node: u32,
    /// Whether only CPU workers may run it, whatever devices can: a task that is too small for them.
    pub host_only: bool,
    /// Whether CPU workers leave it to devices, as long as one can hold its data: what it writes is needed there next.
    pub device_first: bool,
    /// By place in `accesses`, as bits, of exclusive ones alone: data that no later task of the run changes and that the host will want. A device sends it home
    /// when nothing more urgent is on the way.
    pub last: u8,
}

impl TaskSpec {
    /// A task of `codelet` for tree node `node` with parameters 0, no access, priority 0 and 0 flops.
    #[inline]
    pub fn new(codelet: CodeletId, node: u32) -> Self {
        TaskSpec {
            codelet,
            params: [0; 6],
            accesses: Accesses::new(),
            priority: 0,
            flops: 0,
            node,
            host_only: false,
            device_first: false,
            last: 0,
        }
    }

    /// The same task, after which nothing changes the data of access `index` (below 8).
    #[must_use]
    #[inline]
    pub fn last(mut self, index: usize) -> Self {
        self.last |= 1 << index;
        self
    }

    /// The same task with one more access.
    #[must_use]
    #[inline]
    pub fn with(mut self, handle: Handle, access: Access) -> Self {
        self.accesses.push((handle, access));
        self
    }

    /// The same task with these parameters.
    #[must_use]
    #[inline]
    pub fn params(mut self, params: [u32; 6]) -> Self {
        self.params = params;
        self
    }

    /// The same task with this priority.
    #[must_use]
    #[inline]
    pub fn priority(mut self, priority: i64) -> Self {
        self.priority = priority;
        self
    }

    /// The same task with this number of floating-point operations.
    #[must_use]
    #[inline]
    pub fn flops(mut self, flops: u64) -> Self {
        self.flops = flops;
        self
    }
}
