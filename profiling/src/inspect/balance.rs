//! Where the time of each worker went: in tasks by codelet, in each state, and between them in the runtime.
//!
//! Takes workers, codelets, tasks, shares and states; gives sums in nanoseconds that add up to each worker's time. O(rows), and a
//! few numbers a worker.

use super::pieces::pieces;
use super::source::Source;
use crate::trace::schema::{Codelet, Share, State, Task, ThreadState, Worker, WorkerKind};
use crate::trace::{RunPart, TraceError};
use std::collections::BTreeMap;

/// The time of all workers.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// From the beginning of the run to the end of its last task.
    pub makespan_ns: u64,
    /// Time in tasks, helpers' too, over the time of all workers, 0 to 1.
    pub occupancy: f64,
    /// Names of the codelets that ran, in the order of their numbers.
    pub codelets: Vec<String>,
    /// By number.
    pub workers: Vec<WorkerBalance>,
    /// In which the submission waited for unfinished tasks to become fewer.
    pub window_full_ns: u64,
    /// In which the submission waited for memory.
    pub memory_full_ns: u64,
    /// Tasks.
    pub tasks: u64,
    /// Floating-point operations of all tasks.
    pub flops: u64,
    /// The runs of the runtime, one after the other: at least one.
    pub parts: Vec<PartBalance>,
}

/// One run of the runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartBalance {
    /// What it did: `factorize` or `solve`.
    pub name: String,
    /// Name of the scheduler; `sequential` for none.
    pub scheduler: String,
    /// From its beginning to the end of its last task.
    pub makespan_ns: u64,
    /// Tasks.
    pub tasks: u64,
    /// Floating-point operations.
    pub flops: u64,
}

/// What one worker did, in nanoseconds. Executing, the four states and the runtime add up to its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerBalance {
    /// Its number.
    pub worker: u16,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: WorkerKind,
    /// From its beginning to its end, without the time between runs.
    pub time_ns: u64,
    /// Tasks it did.
    pub tasks: u64,
    /// In tasks, its own and those it helped with, by [`Balance::codelets`].
    pub by_codelet_ns: Vec<u64>,
    /// Of that, in parts of other workers' tasks.
    pub helping_ns: u64,
    /// Asking the scheduler in vain.
    pub scheduling_ns: u64,
    /// Looking for a task again and again.
    pub idle_ns: u64,
    /// Asleep.
    pub sleeping_ns: u64,
    /// Waiting for the data of its task.
    pub transferring_ns: u64,
    /// The rest: the runtime's own work between tasks, or what a smaller trace leaves out.
    pub runtime_ns: u64,
}

impl WorkerBalance {
    /// In tasks, its own and those it helped with.
    pub fn executing_ns(&self) -> u64 {
        sum(self.by_codelet_ns.iter().copied())
    }
}

impl Balance {
    /// The balance of a trace; zero everywhere for one without times.
    ///
    /// # Errors
    /// [`TraceError`] where one of the five tables cannot be read.
    pub fn of(trace: &impl Source) -> Result<Self, TraceError> {
        let manifest = trace.manifest();
        let run = &manifest.run;
        let mut parts: Vec<_> = manifest.parts().iter().map(no_tasks).collect();
        let part_begins: Vec<_> = manifest.parts().iter().map(|p| p.begin_ns).collect();
        let firsts: Vec<_> = manifest.parts().iter().map(|p| p.first_task).collect();
        let gaps = manifest.gaps();
        let workers = trace.rows::<Worker>()?;
        let position: BTreeMap<u16, usize> = workers
            .iter()
            .enumerate()
            .map(|(k, w)| (w.worker, k))
            .collect();
        let codelets = trace.rows::<Codelet>()?;
        let mut out: Vec<_> = (workers.iter())
            .map(|w| fresh(w, codelets.len(), &gaps))
            .collect();
        let of_number: BTreeMap<u16, usize> = codelets
            .iter()
            .enumerate()
            .map(|(k, c)| (c.codelet, k))
            .collect();

        let (mut flops, mut last_end, mut used) =
            (0_u64, run.begin_ns, vec![false; codelets.len()]);
        let tasks = trace.rows::<Task>()?;
        for t in tasks.iter() {
            flops = flops.saturating_add(t.flops);
            last_end = last_end.max(t.end_ns);
            let later = firsts.partition_point(|&first| first <= u64::from(t.task));
            let k = later.saturating_sub(1);
            parts[k].tasks += 1;
            add(&mut parts[k].flops, t.flops);
            let since = t.end_ns.saturating_sub(part_begins[k]);
            parts[k].makespan_ns = parts[k].makespan_ns.max(since);
        }
        let shares = trace.rows::<Share>()?;
        for p in pieces(&tasks, &shares) {
            let codelet = of_number.get(&p.task.codelet);
            let (Some(&k), Some(&c)) = (position.get(&p.worker), codelet) else {
                continue;
            };
            used[c] = true;
            out[k].tasks += p.tasks();
            let inside = within(&workers[k], p.start_ns, p.end_ns);
            add(&mut out[k].by_codelet_ns[c], inside);
            if !p.own {
                add(&mut out[k].helping_ns, inside);
            }
        }
        let number_of_tasks = tasks.len() as u64;
        drop((tasks, shares));

        let (mut window_full_ns, mut memory_full_ns) = (0, 0);
        for s in trace.rows::<State>()?.iter() {
            let length = s.end_ns.saturating_sub(s.start_ns);
            let worker = s.worker.and_then(|w| position.get(&w)).copied();
            let inside = worker.map_or(0, |k| within(&workers[k], s.start_ns, s.end_ns));
            match (s.state, worker) {
                (ThreadState::WindowFull, _) => add(&mut window_full_ns, length),
                (ThreadState::MemoryFull, _) => add(&mut memory_full_ns, length),
                (_, None) => {}
                (ThreadState::Scheduling, Some(k)) => add(&mut out[k].scheduling_ns, inside),
                (ThreadState::Idle, Some(k)) => add(&mut out[k].idle_ns, inside),
                (ThreadState::Sleeping, Some(k)) => add(&mut out[k].sleeping_ns, inside),
                (ThreadState::Transferring, Some(k)) => add(&mut out[k].transferring_ns, inside),
            }
        }
        let mut keep = used.iter();
        let codelets: Vec<_> = codelets.iter().map(|c| c.name.clone()).collect();
        let codelets = codelets
            .into_iter()
            .filter(|_| *keep.next().expect("one each"));
        for w in &mut out {
            let mut keep = used.iter();
            w.by_codelet_ns.retain(|_| *keep.next().expect("one each"));
            let known = [
                w.executing_ns(),
                w.scheduling_ns,
                w.idle_ns,
                w.sleeping_ns,
                w.transferring_ns,
            ];
            let known = sum(known.into_iter());
            w.runtime_ns = w.time_ns.saturating_sub(known);
        }
        let all = sum(out.iter().map(|w| w.time_ns));
        let executing = sum(out.iter().map(WorkerBalance::executing_ns));
        Ok(Balance {
            makespan_ns: last_end - run.begin_ns,
            occupancy: if all == 0 {
                0.0
            } else {
                executing as f64 / all as f64
            },
            codelets: codelets.collect(),
            workers: out,
            window_full_ns,
            memory_full_ns,
            tasks: number_of_tasks,
            flops,
            parts,
        })
    }
}

fn no_tasks(part: &RunPart) -> PartBalance {
    PartBalance {
        name: part.name.clone(),
        scheduler: part.scheduler.clone(),
        makespan_ns: 0,
        tasks: 0,
        flops: 0,
    }
}

fn fresh(worker: &Worker, codelets: usize, gaps: &[(u64, u64)]) -> WorkerBalance {
    let outside = gaps.iter().map(|gap| within(worker, gap.0, gap.1));
    let outside = sum(outside);
    WorkerBalance {
        worker: worker.worker,
        name: worker.name.clone(),
        kind: worker.kind,
        time_ns: (worker.end_ns.saturating_sub(worker.start_ns)).saturating_sub(outside),
        tasks: 0,
        by_codelet_ns: vec![0; codelets],
        helping_ns: 0,
        scheduling_ns: 0,
        idle_ns: 0,
        sleeping_ns: 0,
        transferring_ns: 0,
        runtime_ns: 0,
    }
}

/// The part of a span that lies within the worker's time.
fn within(worker: &Worker, start_ns: u64, end_ns: u64) -> u64 {
    let (from, to) = (start_ns.max(worker.start_ns), end_ns.min(worker.end_ns));
    to.saturating_sub(from)
}

/// Adds; a trace that is no good must not make a panic.
fn add(to: &mut u64, more: u64) {
    *to = to.saturating_add(more);
}

fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}
