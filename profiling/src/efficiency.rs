//! Where the time of a parallel run went, and what of it was lost to what: the split of a parallel efficiency into four.
//!
//! Takes a [`RecordedRun`], and the time in tasks of two runs on one worker; gives an [`Efficiency`]. Knows no clock, no
//! matrix and no scheduler.
//!
//! After Agullo, Buttari, Guermouche, Lopez, *Implementing multifrontal sparse solvers for multicore architectures with
//! sequential task flow runtime systems*, ACM TOMS 43(2), 2016. With p workers, cumulative times over them
//!
//! ```text
//!   t_t(p) in tasks     t_r(p) in the runtime     t_i(p) without a task     t_t + t_r + t_i = p x wall time
//!
//!   e  =  t_t(ref) / (p x wall)  =  t_t(ref)     t_t(1)       t_t + t_r           t_t
//!                                   --------  x  ------  x  ---------------  x  ---------
//!                                    t_t(1)      t_t(p)     t_t + t_r + t_i     t_t + t_r
//!                                  granularity    task         pipeline          runtime
//! ```
//!
//! where t_t(1) is the same tasks on one worker, and t_t(ref) the same work cut as coarsely as can be, on one worker.

use crate::metrics::helping_ns;
use crate::recording::RecordedRun;
use serde::Serialize;
use treeqr_runtime::WorkerState;

/// The time of all workers of a run, in nanoseconds. Tasks, runtime and idle add up to `workers` x `wall_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TimeSplit {
    /// How many.
    pub workers: usize,
    /// From the beginning of the run to the end of its last thread.
    pub wall_ns: u64,
    /// In tasks, their own and those they helped with.
    pub tasks_ns: u64,
    /// In neither of the two others: between tasks, and while threads begin and end.
    pub runtime_ns: u64,
    /// Looking for a task again and again, or asleep for want of one.
    pub idle_ns: u64,
}

impl TimeSplit {
    /// The sums over all workers of `run`.
    pub fn of(run: &RecordedRun) -> Self {
        let wall_ns = run.end_ns - run.begin_ns;
        let own_ns: u64 = run.tasks.iter().map(|t| t.end_ns - t.start_ns).sum();
        let tasks_ns = own_ns + helping_ns(run);
        let without_task = |state| matches!(state, WorkerState::Idle | WorkerState::Sleeping);
        let spans = run.states.iter().filter(|span| without_task(span.state));
        let idle_ns = spans.map(|span| span.end_ns - span.start_ns).sum();
        let all = run.workers.len() as u64 * wall_ns;
        TimeSplit {
            workers: run.workers.len(),
            wall_ns,
            tasks_ns,
            runtime_ns: all.saturating_sub(tasks_ns + idle_ns),
            idle_ns,
        }
    }
}

/// The factors of a parallel efficiency; 1 is "nothing lost". A factor is `None` where what it compares with was not
/// measured, or took no time.
///
/// The first two can exceed 1: cutting a front into tiles may suit the caches better than leaving it whole, and p workers have
/// p caches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Efficiency {
    /// Lost to cutting the work into tasks: t_t(ref) / t_t(1).
    pub granularity: Option<f64>,
    /// Lost by tasks that slow each other down, or run far from their data: t_t(1) / t_t(p).
    pub task: Option<f64>,
    /// Lost for want of ready tasks: (t_t + t_r) / (t_t + t_r + t_i).
    pub pipeline: Option<f64>,
    /// Lost to the runtime: t_t / (t_t + t_r).
    pub runtime: Option<f64>,
}

impl Efficiency {
    /// The factors for `run`, given the nanoseconds in tasks of its tasks on one worker, t_t(1), and of the coarsest
    /// run on one worker, t_t(ref).
    pub fn of(run: &TimeSplit, one_worker_ns: Option<u64>, coarsest_ns: Option<u64>) -> Self {
        let busy_ns = run.tasks_ns.saturating_add(run.runtime_ns);
        let granularity = coarsest_ns.zip(one_worker_ns);
        Efficiency {
            granularity: granularity.and_then(|(coarsest, one)| ratio(coarsest, one)),
            task: one_worker_ns.and_then(|one| ratio(one, run.tasks_ns)),
            pipeline: ratio(busy_ns, busy_ns.saturating_add(run.idle_ns)),
            runtime: ratio(run.tasks_ns, busy_ns),
        }
    }

    /// The product of all four: t_t(ref) / (p x wall time).
    pub fn product(&self) -> Option<f64> {
        Some(self.granularity? * self.task? * self.pipeline? * self.runtime?)
    }
}

/// `a / b`, unless `b` is 0.
fn ratio(a: u64, b: u64) -> Option<f64> {
    (b > 0).then(|| a as f64 / b as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{ShareRow, StateRow, TaskRow, WorkerRow};
    use treeqr_runtime::{CodeletId, TaskId};

    /// A run from 100 to 1100 ns whose workers live from 150 to 1050 ns.
    fn run(
        workers: u16,
        tasks: &[(u16, u64, u64)],
        states: &[(u16, WorkerState, u64, u64)],
    ) -> RecordedRun {
        let task = |(id, &(worker, start_ns, end_ns)): (usize, &(u16, u64, u64))| TaskRow {
            id: TaskId(id as u32),
            codelet: CodeletId(0),
            worker,
            node: 0,
            params: [0; 6],
            priority: 0,
            flops: 0,
            bytes: 0,
            queued: 0,
            submit_ns: 100,
            ready_ns: 100,
            pop_ns: start_ns,
            start_ns,
            end_ns,
        };
        let state = |&(worker, state, start_ns, end_ns): &(u16, WorkerState, u64, u64)| StateRow {
            worker,
            state,
            start_ns,
            end_ns,
        };
        let worker = |worker| WorkerRow {
            worker,
            bound_to: None,
            start_ns: 150,
            end_ns: 1050,
        };
        RecordedRun {
            scheduler: "by hand",
            codelets: vec!["work"],
            time_scale: 1.0,
            begin_ns: 100,
            end_ns: 1100,
            submitted: tasks.len() as u64,
            workers: (0..workers).map(worker).collect(),
            tasks: tasks.iter().enumerate().map(task).collect(),
            states: states.iter().map(state).collect(),
            ..RecordedRun::default()
        }
    }

    /// Two workers: 1400 of their 2000 ns in tasks, 290 idle or asleep, the other 310 in the runtime.
    fn two_workers() -> TimeSplit {
        TimeSplit::of(&run(
            2,
            &[(0, 200, 600), (0, 650, 1000), (1, 400, 1050)],
            &[
                (1, WorkerState::Idle, 150, 200),
                (1, WorkerState::Sleeping, 200, 390),
                (0, WorkerState::Idle, 1000, 1050),
            ],
        ))
    }

    #[test]
    fn times_of_a_run_add_up() {
        let split = two_workers();
        assert_eq!((split.workers, split.wall_ns), (2, 1000));
        assert_eq!(
            (split.tasks_ns, split.idle_ns, split.runtime_ns),
            (1400, 290, 310)
        );
    }

    /// Worker 0 does parts of the other's task from 700 to 1000.
    #[test]
    fn helping_is_time_in_tasks() {
        let mut helped = run(2, &[(0, 200, 600), (1, 400, 1050)], &[]);
        helped.shares.push(ShareRow {
            task: TaskId(1),
            worker: 0,
            parts: 3,
            start_ns: 700,
            end_ns: 1000,
        });
        let split = TimeSplit::of(&helped);
        assert_eq!((split.tasks_ns, split.runtime_ns), (1350, 650));
    }

    #[track_caller]
    fn close(a: Option<f64>, b: f64) {
        let a = a.expect("a value");
        assert!((a - b).abs() < 1e-12, "{a} and not {b}");
    }

    #[test]
    fn factors_are_as_published() {
        let e = Efficiency::of(&two_workers(), Some(1120), Some(840));
        close(e.granularity, 0.75);
        close(e.task, 0.8);
        close(e.pipeline, 1710.0 / 2000.0);
        close(e.runtime, 1400.0 / 1710.0);
        close(e.product(), 840.0 / (2.0 * 1000.0));
    }

    #[test]
    fn what_was_not_measured_is_left_out() {
        let split = two_workers();
        let e = Efficiency::of(&split, Some(1400), None);
        assert_eq!((e.granularity, e.product()), (None, None));
        close(e.task, 1.0);
        let e = Efficiency::of(&split, None, Some(1400));
        assert_eq!((e.granularity, e.task, e.product()), (None, None, None));
        close(e.runtime, 1400.0 / 1710.0);
    }

    #[test]
    fn a_run_without_tasks_has_no_task_efficiency() {
        let split = TimeSplit::of(&run(1, &[], &[]));
        assert_eq!((split.tasks_ns, split.runtime_ns), (0, 1000));
        let e = Efficiency::of(&split, Some(0), Some(0));
        assert_eq!((e.granularity, e.task, e.product()), (None, None, None));
        assert_eq!((e.pipeline, e.runtime), (Some(1.0), Some(0.0)));
    }

    /// One worker that does nothing but tasks loses nothing.
    #[test]
    fn the_perfect_run_is_one() {
        let split = TimeSplit::of(&run(1, &[(0, 100, 1100)], &[]));
        assert_eq!(
            Efficiency::of(&split, Some(1000), Some(1000)).product(),
            Some(1.0)
        );
    }
}
