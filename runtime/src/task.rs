//! A submitted task: a reference-counted node of the task graph that lives until it is done.
//!
//! Takes a [`TaskSpec`] and its number; gives the countdown of its predecessors and the list of its successors. Knows
//! neither where it queues nor who runs it.
//!
//! ```text
//!   submission        pending = 1 (the submission's own share)
//!     link(p -> t)    pending += 1, t joins p.successors          (nothing if p has finished)
//!     sealed          pending -= 1 --+
//!   p finishes        pending -= 1 --+--> whoever brings it to 0 makes t ready
//! ```
//!
//! Orderings: every decrement of `pending` is acquire-release, so the one that reaches 0 sees all that the predecessors
//! wrote. The lock around `successors` orders a link against the finish of the predecessor: either the link is in the
//! list that the finish takes, or it sees that the predecessor has finished, and what that wrote.

use crate::spec::{CodeletId, TaskId, TaskSpec};
use crate::sync::{
    Arc, AtomicBool, AtomicU32, AtomicU64, Mutex, Ordering, PoisonError, into_inner, lock,
};
use smallvec::SmallVec;

/// A task all of whose predecessors have finished: what schedulers queue.
pub type ReadyTask = Arc<Task>;

pub(crate) type Successors = SmallVec<[Arc<Task>; 4]>;

/// A submitted task.
pub struct Task {
    id: TaskId,
    spec: TaskSpec,
    submit: u64,
    /// The latest time-stamp of what it waited for.
    ready: AtomicU64,
    pending: AtomicU32,
    /// The successor linked last, plus one: edges to one task come in a row, so this alone removes duplicates.
    last_linked: AtomicU32,
    finished: AtomicBool,
    /// `None` once finished.
    successors: Mutex<Option<Successors>>,
}

impl Task {
    pub(crate) fn new(id: TaskId, spec: TaskSpec, submit: u64) -> Self {
        Task {
            id,
            spec,
            submit,
            ready: AtomicU64::new(submit),
            pending: AtomicU32::new(1),
            last_linked: AtomicU32::new(0),
            finished: AtomicBool::new(false),
            successors: Mutex::new(Some(Successors::new())),
        }
    }

    /// Its number in the order of submission.
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// What was submitted.
    pub fn spec(&self) -> &TaskSpec {
        &self.spec
    }

    /// Larger runs sooner.
    pub fn priority(&self) -> i64 {
        self.spec.priority
    }

    /// What it runs.
    pub fn codelet(&self) -> CodeletId {
        self.spec.codelet
    }

    /// Its floating-point operations.
    pub fn flops(&self) -> u64 {
        self.spec.flops
    }

    /// When it was submitted, in ticks of the observer's clock.
    pub(crate) fn submit_ticks(&self) -> u64 {
        self.submit
    }

    /// When the last thing it waited for was over, in ticks of the observer's clock.
    pub(crate) fn ready_ticks(&self) -> u64 {
        self.ready.load(Ordering::Relaxed)
    }

    /// Notes that something this task waited for was over at `ticks`; before the `arrive` that belongs to it.
    pub(crate) fn stamp_ready(&self, ticks: u64) {
        if self.is_last() {
            let ready = self.ready.load(Ordering::Relaxed).max(ticks);
            self.ready.store(ready, Ordering::Relaxed);
        } else {
            self.ready.fetch_max(ticks, Ordering::Relaxed);
        }
    }

    /// Makes `successor` wait for `self`, unless `self` has finished or the edge is there already; whether `self` was
    /// unfinished. Only the submitting thread calls it, one successor after the other.
    pub(crate) fn link(&self, successor: &Arc<Task>) -> bool {
        let mark = successor.id.0 + 1;
        if self.last_linked.load(Ordering::Relaxed) == mark {
            return true;
        }
        let mut successors = lock(&self.successors);
        let Some(list) = &mut *successors else {
            return false;
        };
        self.last_linked.store(mark, Ordering::Relaxed);
        successor.pending.fetch_add(1, Ordering::Relaxed);
        list.push(successor.clone());
        true
    }

    /// Whether it is done. Who has seen that has seen all it wrote: the task may be forgotten, without an edge.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }

    /// One of the things it waited for is over. Returns whether it was the last.
    pub(crate) fn arrive(&self) -> bool {
        self.is_last() || self.pending.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Whether the caller, to whom one of the things it waits for belongs, has the only one that is left. Then nobody else
    /// counts any more, and no read-modify-write is needed. (While the submission links, it holds one itself.)
    fn is_last(&self) -> bool {
        self.pending.load(Ordering::Acquire) == 1
    }

    /// Its successors, without a lock.
    fn take_successors(&mut self) -> Successors {
        let successors = self.successors.get_mut();
        let successors = successors.unwrap_or_else(PoisonError::into_inner);
        successors.take().unwrap_or_default()
    }

    /// Marks it as done; returns the tasks that waited for it.
    pub(crate) fn finish(&self) -> Successors {
        self.finished.store(true, Ordering::Release);
        lock(&self.successors).take().unwrap_or_default()
    }
}

/// A run that failed drops tasks that never finished. Their chains of successors may be millions long, so they are taken
/// apart in a loop: the drop that the compiler writes would recurse once per link.
impl Drop for Task {
    fn drop(&mut self) {
        let mut unfinished = self.take_successors();
        while let Some(task) = unfinished.pop() {
            if let Some(mut task) = into_inner(task) {
                unfinished.extend(task.take_successors());
            }
        }
    }
}
