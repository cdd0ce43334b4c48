//! A priority queue that is first in, first out inside one priority.
//!
//! Takes tasks; gives the oldest or the newest of the highest priority, among those that the caller can use. Knows no
//! worker.

use crate::task::{ReadyTask, Task};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Tasks by falling priority, then by age. All operations cost O(log n), and as much again for every task they pass
/// over.
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

    /// Takes the oldest task of the highest priority that has a `fit` one.
    pub(super) fn pop_oldest(&mut self, fit: impl Fn(&Task) -> bool) -> Option<ReadyTask> {
        let first = self.tasks.first_entry()?;
        if fit(first.get()) {
            return Some(first.remove());
        }
        let mut tasks = self.tasks.iter();
        let key = tasks.find(|(_, task)| fit(task)).map(|(&key, _)| key)?;
        self.tasks.remove(&key)
    }

    /// Takes the newest task of the highest priority that has a `fit` one.
    pub(super) fn pop_newest(&mut self, fit: impl Fn(&Task) -> bool) -> Option<ReadyTask> {
        let mut tasks = self.tasks.iter();
        let (&(highest, _), _) = tasks.find(|(_, task)| fit(task))?;
        let mut level = self.tasks.range(..=(highest, u64::MAX)).rev();
        let key = level.find(|(_, task)| fit(task)).map(|(&key, _)| key)?;
        self.tasks.remove(&key)
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }
}
