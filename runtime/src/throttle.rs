//! At most so many tasks of a codelet at a time.
//!
//! Takes ready tasks and tasks that are done; gives those that may go to the scheduler now. It stands before the scheduler:
//! a task of a limited codelet is *admitted* when it is given to the scheduler, and until it is done; the others wait here,
//! by falling priority, oldest first. So every policy is throttled in the same way and knows nothing of it, and no worker
//! ever waits for its turn. Knows no thread, no worker and no time.
//!
//! *No task is lost.* As long as one waits here, as many as the limit (one or more) are admitted, and each of them lets the
//! next one in when it is done.

use crate::spec::CodeletId;
use crate::sync::{Mutex, lock};
use crate::task::ReadyTask;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::num::NonZeroUsize;

/// At most `at_once` tasks of `codelet` are with the scheduler or run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Which.
    pub codelet: CodeletId,
    /// How many.
    pub at_once: NonZeroUsize,
}

/// The limits of one run, at work.
pub(crate) struct Throttle {
    /// By codelet; empty when nothing is limited.
    gates: Vec<Option<Gate>>,
}

struct Gate {
    at_once: usize,
    state: Mutex<Crowd>,
}

#[derive(Default)]
struct Crowd {
    admitted: usize,
    waiting: BinaryHeap<Waiting>,
    arrived: u64,
}

/// Ordered by priority, then by age.
struct Waiting {
    key: (i64, Reverse<u64>),
    task: ReadyTask,
}

impl Throttle {
    /// `limits` on a table of `codelets` codelets; of two limits on one codelet the smaller counts.
    ///
    /// # Panics
    /// If a limit names a codelet that the table does not have.
    pub(crate) fn new(limits: &[Limit], codelets: usize) -> Self {
        let mut gates: Vec<Option<Gate>> = Vec::new();
        for limit in limits {
            let codelet = usize::from(limit.codelet.0);
            assert!(
                codelet < codelets,
                "a limit on codelet {codelet}: there is none"
            );
            gates.resize_with(codelets, || None);
            let gate = gates[codelet].get_or_insert_with(|| Gate {
                at_once: usize::MAX,
                state: Mutex::default(),
            });
            gate.at_once = gate.at_once.min(limit.at_once.get());
        }
        Throttle { gates }
    }

    fn gate(&self, codelet: CodeletId) -> Option<&Gate> {
        self.gates.get(usize::from(codelet.0))?.as_ref()
    }

    /// `task` is ready: gives it back if it may go to the scheduler, else keeps it.
    pub(crate) fn admit(&self, task: ReadyTask) -> Option<ReadyTask> {
        let Some(gate) = self.gate(task.codelet()) else {
            return Some(task);
        };
        let mut crowd = lock(&gate.state);
        if crowd.admitted < gate.at_once {
            crowd.admitted += 1;
            return Some(task);
        }
        crowd.arrived += 1;
        let key = (task.priority(), Reverse(crowd.arrived));
        crowd.waiting.push(Waiting { key, task });
        None
    }

    /// An admitted task of `codelet` is done: gives the one that takes its place.
    pub(crate) fn done(&self, codelet: CodeletId) -> Option<ReadyTask> {
        let gate = self.gate(codelet)?;
        let mut crowd = lock(&gate.state);
        let next = crowd.waiting.pop();
        if next.is_none() {
            crowd.admitted -= 1;
        }
        next.map(|waiting| waiting.task)
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Waiting {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{TaskId, TaskSpec};
    use crate::sync::Arc;
    use crate::task::Task;

    fn task(id: u32, codelet: u16, priority: i64) -> ReadyTask {
        let spec = TaskSpec::new(CodeletId(codelet), id).priority(priority);
        Arc::new(Task::new(TaskId(id), spec, 0))
    }

    #[test]
    fn the_limit_holds_and_the_most_urgent_comes_next() {
        let limit = |codelet, at_once| Limit {
            codelet: CodeletId(codelet),
            at_once: NonZeroUsize::new(at_once).unwrap(),
        };
        let throttle = Throttle::new(&[limit(1, 5), limit(1, 2)], 3);
        for id in 0..9 {
            assert!(throttle.admit(task(id, 0, 0)).is_some());
        }
        let priorities = [0, 0, 3, 7, 3, 7];
        let admitted = (0..)
            .zip(priorities)
            .map(|(id, p)| throttle.admit(task(id, 1, p)));
        let admitted: Vec<_> = admitted.flatten().map(|task| task.id().0).collect();
        assert_eq!(admitted, [0, 1]);
        let next = std::iter::from_fn(|| throttle.done(CodeletId(1)));
        let next: Vec<_> = next.map(|task| task.id().0).collect();
        assert_eq!(next, [3, 5, 2, 4]);
        // One place is free, one task is left.
        assert!(throttle.admit(task(7, 1, 0)).is_some());
        assert!(throttle.admit(task(8, 1, 0)).is_none());
    }

    #[test]
    #[should_panic(expected = "a limit on codelet 3: there is none")]
    fn a_limit_on_nothing_is_refused() {
        let at_once = NonZeroUsize::MIN;
        let codelet = CodeletId(3);
        Throttle::new(&[Limit { codelet, at_once }], 3);
    }
}
