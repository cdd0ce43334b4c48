//! The tasks that are not done, by number, as the submission knows them.
//!
//! Takes each task as it is submitted; gives it back by its number as long as it may be unfinished, and its memory for a new
//! task when it is done. One thread's own; knows no handle.
//!
//! Histories of handles (`dependencies.rs`) keep numbers only, so a task that is done is held by nobody but this table, and
//! here for a while: when the table has twice as many tasks as the last sweep left, it is swept. It never holds more than
//! twice the unfinished tasks of then, and a few: under a window, the graph of a million tasks is never there.

use crate::spec::{TaskId, TaskSpec};
use crate::sync::Arc;
use crate::task::Task;

/// Tables below this size are not swept.
const FIRST_SWEEP: usize = 128;

/// Nodes kept for new tasks.
const MOST_SPARE: usize = 1 << 12;

pub(super) struct Live {
    /// By rising number, which stands beside each task: a search touches this table only.
    tasks: Vec<(TaskId, Arc<Task>)>,
    /// From this place on numbers follow each other; the tasks before it have gaps between them.
    dense: usize,
    sweep_at: usize,
    /// Done, and held by nobody else.
    spare: Vec<Arc<Task>>,
}

impl Live {
    pub(super) fn new() -> Self {
        Live {
            tasks: Vec::new(),
            dense: 0,
            sweep_at: FIRST_SWEEP,
            spare: Vec::new(),
        }
    }

    /// The task of that number, unless it was done at some sweep.
    pub(super) fn get(&self, id: TaskId) -> Option<&Arc<Task>> {
        let last = self.tasks.last()?.0.0;
        let back = last.checked_sub(id.0)? as usize;
        if back < self.tasks.len() - self.dense {
            return Some(&self.tasks[self.tasks.len() - 1 - back].1);
        }
        let sparse = &self.tasks[..self.dense];
        if sparse.first()?.0 > id {
            return None;
        }
        let found = sparse.binary_search_by_key(&id, |(id, _)| *id);
        found.ok().map(|place| &sparse[place].1)
    }

    /// Whether the task of that number is done.
    pub(super) fn is_finished(&self, id: TaskId) -> bool {
        self.get(id).is_none_or(|task| task.is_finished())
    }

    /// A node for the next task, out of spare memory if there is some.
    pub(super) fn make(&mut self, id: TaskId, spec: TaskSpec, submit: u64) -> Arc<Task> {
        let fresh = Task::new(id, spec, submit);
        if let Some(mut spare) = self.spare.pop()
            && let Some(task) = Arc::get_mut(&mut spare)
        {
            *task = fresh;
            return spare;
        }
        Arc::new(fresh)
    }

    /// Keeps `task`, the one with the highest number so far.
    pub(super) fn keep(&mut self, task: Arc<Task>) {
        if self.tasks.len() >= self.sweep_at {
            self.sweep();
        }
        self.tasks.push((task.id(), task));
    }

    #[cold]
    fn sweep(&mut self) {
        let done = self.tasks.extract_if(.., |(_, task)| task.is_finished());
        for (_, mut task) in done {
            // Its worker may still write its record; then that drops it.
            if self.spare.len() < MOST_SPARE && Arc::get_mut(&mut task).is_some() {
                self.spare.push(task);
            }
        }
        self.dense = self.tasks.len();
        self.sweep_at = FIRST_SWEEP.max(2 * self.dense);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::CodeletId;

    #[test]
    fn what_is_unfinished_is_found_and_what_is_done_is_forgotten() {
        let mut live = Live::new();
        // Every seventh task never ends, the others end 20 tasks later.
        let ends = |id: u32| !id.is_multiple_of(7);
        for id in 0..5000 {
            let task = live.make(TaskId(id), TaskSpec::new(CodeletId(0), id), 0);
            assert_eq!((task.id().0, task.spec().node), (id, id));
            assert!(live.get(TaskId(id)).is_none());
            live.keep(task);
            if id >= 20 && ends(id - 20) {
                live.get(TaskId(id - 20)).unwrap().finish();
            }
            for other in [id, id / 2, id / 3, id.saturating_sub(20), 0] {
                let done = ends(other) && other + 20 <= id;
                assert_eq!(live.is_finished(TaskId(other)), done, "{other} of {id}");
                if !done {
                    assert_eq!(live.get(TaskId(other)).unwrap().id().0, other);
                }
            }
            let unfinished = id as usize / 7 + 21;
            assert!(live.tasks.len() <= FIRST_SWEEP.max(2 * unfinished) + 1);
        }
    }
}
