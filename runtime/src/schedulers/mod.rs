//! The scheduling policies: one trait, one table, one file each.
//!
//! Takes ready tasks; gives each to a worker that asks. A policy knows its [`Scene`]: the workers, what they are and how
//! far they are from each other, memory nodes, predicted costs and a clock. It knows nothing of threads and sleep, so
//! that the same object serves real workers and a simulated clock. To add one: a file here and a line in [`SCHEDULERS`];
//! commands, conformance tests and benchmarks take it from the table.

#[cfg(test)]
mod decisions;
mod dm;
mod dmda;
mod dmdas;
mod dmdasd;
mod doors;
mod eager;
mod expected;
mod heteroprio;
mod lws;
mod prio;
mod queue;
mod random;
mod scene;
#[cfg(test)]
mod tests;
mod ws;

pub use scene::{Arch, Missing, Place, Scene, World};

use crate::spec::WorkerId;
use crate::task::{ReadyTask, Task};

/// A policy at work in one run.
///
/// What was pushed is popped once. After `push` has returned, a `pop` that begins finds the task, unless another `pop`
/// takes it or the policy keeps it for a worker that `push` has named; a `pop` that lost a race for a queue must look again
/// before it returns `None`. Locks are held briefly.
pub trait Scheduler: Send + Sync {
    /// Queues a task that has just become ready. `by` is the worker that made it ready, which will pop next; `None` is
    /// the submission. Returns which worker to wake if some sleep.
    fn push(&self, task: ReadyTask, by: Option<WorkerId>) -> Wake;

    /// The next task of `worker`, which has none now.
    fn pop(&self, worker: WorkerId) -> Option<ReadyTask>;

    /// `worker` has run `task` to its end; before any `push` that follows from it. For policies that keep account.
    fn done(&self, task: &Task, worker: WorkerId) {
        let _ = (task, worker);
    }

    /// About how many tasks are in the queue where `worker` looks first: its own, or the one of all. Asked after each
    /// `pop` of a recorded run, so it should cost a load. The default is [`queued`](Self::queued).
    fn queue_length(&self, worker: WorkerId) -> usize {
        let _ = worker;
        self.queued()
    }

    /// About how many tasks are queued. Must not be 0 after a `push` has returned and before its task is popped.
    fn queued(&self) -> usize;
}

/// Whom a push should wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Any worker can take the task, the pushing one included.
    Any,
    /// The task waits for this worker: wake it if it sleeps, else any.
    Prefer(WorkerId),
    /// Nobody but this worker can take the task.
    Only(WorkerId),
    /// Not every worker can take the task: let all look.
    All,
}

/// A line of the table of policies.
pub struct SchedulerEntry {
    /// What the user calls it.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Whether it asks how long tasks take: only then are they measured for cost models.
    pub uses_models: bool,
    /// Makes one for a run.
    pub create: for<'s> fn(Scene<'s>) -> Box<dyn Scheduler + 's>,
}

/// All policies.
pub static SCHEDULERS: &[SchedulerEntry] = &[
    eager::ENTRY,
    random::ENTRY,
    prio::ENTRY,
    ws::ENTRY,
    lws::ENTRY,
    dm::ENTRY,
    dmda::ENTRY,
    dmdas::ENTRY,
    dmdasd::ENTRY,
    heteroprio::ENTRY,
    heteroprio::FIXED,
];

/// The policy of that name.
///
/// # Errors
/// If there is none.
pub fn by_name(name: &str) -> Result<&'static SchedulerEntry, UnknownScheduler> {
    let found = SCHEDULERS.iter().find(|entry| entry.name == name);
    found.ok_or_else(|| UnknownScheduler {
        name: name.to_owned(),
    })
}

/// What a run uses that names none: `lws`, which has priorities and keeps data near.
pub fn default_entry() -> &'static SchedulerEntry {
    by_name("lws").expect("lws is in the table")
}

/// No policy has that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown scheduler `{name}`; known are {}", known())]
pub struct UnknownScheduler {
    /// What was asked for.
    pub name: String,
}

fn known() -> String {
    let names: Vec<_> = SCHEDULERS.iter().map(|entry| entry.name).collect();
    names.join(", ")
}

impl std::fmt::Debug for SchedulerEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SchedulerEntry({})", self.name)
    }
}
