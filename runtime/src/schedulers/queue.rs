//! A priority queue that is first in, first out inside one priority.
//!
//! Takes tasks; gives the oldest or the newest of the highest priority. Knows no worker.

use crate::task::ReadyTask;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Tasks by falling priority, then by age. All operations cost O(log n).
#[derive(Default)]
pub(super) struct PriorityQueue {
    tasks: BTreeMap<(Reverse<i64>, u64), ReadyTask>,
    pushed: u64,
}

impl PriorityQueue {
    /// Adds a task behind those of its priority.
    pub(super) fn push(&mut self, task: ReadyTask) {
        let key = (Reverse(task.priority()), self.pushed);
        self.pushed += 1;
        self.tasks.insert(key, task);
    }

    /// Takes the oldest task of the highest priority.
    pub(super) fn pop_oldest(&mut self) -> Option<ReadyTask> {
        self.tasks.pop_first().map(|(_, task)| task)
    }

    /// Takes the newest task of the highest priority.
    pub(super) fn pop_newest(&mut self) -> Option<ReadyTask> {
        let (&(highest, _), _) = self.tasks.first_key_value()?;
        let (&key, _) = self.tasks.range(..=(highest, u64::MAX)).next_back()?;
        self.tasks.remove(&key)
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }
}
