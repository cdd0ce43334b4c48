//! A priority queue with two doors: one for the submission, which only brings, one for workers, which bring and take.
//!
//! Takes tasks; gives them as [`PriorityQueue`] does, which sees them in the order in which they came. Knows no worker.
//!
//! The submission lays tasks into a list; who comes through the workers' door next sorts them in first. So the submission,
//! on which all workers wait while tasks are small, neither sorts nor waits for one who does.
//!
//! *What was brought is never unseen*: it counts as in the list until it is counted as sorted in.

use super::queue::PriorityQueue;
use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering, TryLockError, lock};
use crate::task::ReadyTask;

/// The parts that the submission writes, and those that workers write, on cache lines of their own.
#[derive(Default)]
pub(super) struct TwoDoors {
    list: List,
    sorted: Sorted,
}

#[derive(Default)]
#[repr(align(128))]
struct List {
    tasks: Mutex<Vec<ReadyTask>>,
    /// Tasks ever brought. Written under the lock.
    brought: AtomicUsize,
}

#[derive(Default)]
#[repr(align(128))]
struct Sorted {
    queue: Mutex<Inner>,
    /// Length of the queue. Written under the lock, as what follows.
    len: AtomicUsize,
    /// Tasks ever taken from the list.
    taken: AtomicUsize,
}

#[derive(Default)]
struct Inner {
    queue: PriorityQueue,
    /// Memory for the next list.
    spare: Vec<ReadyTask>,
}

impl TwoDoors {
    /// Adds a task, from outside.
    pub(super) fn bring(&self, task: ReadyTask) {
        let mut list = lock(&self.list.tasks);
        list.push(task);
        let brought = self.list.brought.load(Ordering::Relaxed);
        self.list.brought.store(brought + 1, Ordering::Release);
    }

    /// Adds a task, by a worker.
    pub(super) fn push(&self, task: ReadyTask) {
        let mut inner = lock(&self.sorted.queue);
        self.sort_in(&mut inner);
        inner.queue.push(task);
        self.sorted.len.store(inner.queue.len(), Ordering::Release);
    }

    /// Takes the task that `which` takes.
    pub(super) fn pop(
        &self,
        which: impl FnOnce(&mut PriorityQueue) -> Option<ReadyTask>,
    ) -> Option<ReadyTask> {
        self.take(lock(&self.sorted.queue), which)
    }

    /// The same, unless somebody else is at the door: then `Err`.
    pub(super) fn try_pop(
        &self,
        which: impl FnOnce(&mut PriorityQueue) -> Option<ReadyTask>,
    ) -> Result<Option<ReadyTask>, Occupied> {
        match self.sorted.queue.try_lock() {
            Ok(inner) => Ok(self.take(inner, which)),
            Err(TryLockError::Poisoned(held)) => Ok(self.take(held.into_inner(), which)),
            Err(TryLockError::WouldBlock) => Err(Occupied),
        }
    }

    /// Number of tasks; not 0 while there is one.
    pub(super) fn len(&self) -> usize {
        // In this order: what is sorted in meanwhile counts twice rather than not at all.
        let taken = self.sorted.taken.load(Ordering::Acquire);
        let listed = self.list.brought.load(Ordering::Acquire) - taken;
        listed + self.sorted.len.load(Ordering::Acquire)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn take(
        &self,
        mut inner: MutexGuard<'_, Inner>,
        which: impl FnOnce(&mut PriorityQueue) -> Option<ReadyTask>,
    ) -> Option<ReadyTask> {
        self.sort_in(&mut inner);
        let task = which(&mut inner.queue);
        self.sorted.len.store(inner.queue.len(), Ordering::Release);
        task
    }

    fn sort_in(&self, inner: &mut Inner) {
        let taken = self.sorted.taken.load(Ordering::Relaxed);
        if self.list.brought.load(Ordering::Acquire) == taken {
            return;
        }
        let Inner { queue, spare } = inner;
        std::mem::swap(spare, &mut *lock(&self.list.tasks));
        let taken = taken + spare.len();
        spare.drain(..).for_each(|task| queue.push(task));
        self.sorted.len.store(queue.len(), Ordering::Release);
        self.sorted.taken.store(taken, Ordering::Release);
    }
}

/// Somebody else is at the workers' door.
pub(super) struct Occupied;

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::spec::{CodeletId, TaskId, TaskSpec};
    use crate::sync::Arc;
    use crate::task::Task;

    #[test]
    fn loom_what_was_brought_is_never_unseen() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(4);
        builder.check(|| {
            let task = |id| Arc::new(Task::new(TaskId(id), TaskSpec::new(CodeletId(0), id), 0));
            let doors = Arc::new(TwoDoors::default());
            let worker = {
                let doors = doors.clone();
                loom::thread::spawn(move || {
                    let pop = || doors.pop(|queue| queue.pop_oldest(|_| true));
                    (!doors.is_empty()).then(pop).flatten()
                })
            };
            doors.bring(task(0));
            doors.bring(task(1));
            // The worker takes one at most; what it sorts in meanwhile counts twice.
            let len = doors.len();
            assert!((1..=4).contains(&len), "{len}");
            let taken = worker.join().unwrap();
            let rest = std::iter::from_fn(|| doors.pop(|queue| queue.pop_oldest(|_| true)));
            let ids: Vec<_> = taken.into_iter().chain(rest).map(|t| t.id().0).collect();
            assert_eq!(ids, [0, 1]);
            assert_eq!(doors.len(), 0);
        });
    }
}
