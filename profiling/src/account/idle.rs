//! The time without a task, by cause.
//!
//! Takes workers, tasks, shares, states, switches; gives for each worker times that add up to its time, exactly. A moment has one
//! cause, the first of these that holds:
//!
//! | cause | when |
//! | --- | --- |
//! | `between_runs` | no run of the runtime went on: a factorization was over, and the solve after it had not begun |
//! | `before_first` | no task of the run had begun yet |
//! | `after_last` | all tasks of the run had ended |
//! | `preempted` | the kernel had taken the processing unit away (module `kernel`) |
//! | `data` | the worker had a task and waited for its data |
//! | `scheduling` | the worker had no task, though one was ready that its kind of worker could run: it lay with others, or the policy kept it back |
//! | `memory_full` | it had no task, none was ready, and the submission waited for memory |
//! | `window_full` | the same, and the submission waited for unfinished tasks to become fewer |
//! | `submission` | the same, and the submission was not done: it was too slow |
//! | `starvation` | the same, and everything was submitted: the graph had no more parallelism |
//! | `runtime` | no state was noted: the runtime's own work between tasks |
//!
//! A kind of worker can run a codelet if it ran one of its tasks.

use crate::inspect::pieces;
use crate::trace::schema::{SwitchReason, ThreadState, WorkerKind};
use crate::trace::{RunPart, Trace};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// The time without a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Idle {
    /// By number.
    pub workers: Vec<WorkerIdle>,
    /// Sums over the workers.
    pub all: IdleCauses,
    /// Time in tasks, their own and those they helped with, over the workers.
    pub executing_ns: u64,
}

/// One worker's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkerIdle {
    /// Its number.
    pub worker: u16,
    /// Its name.
    pub name: String,
    /// From its beginning to its end.
    pub time_ns: u64,
    /// In tasks, its own and those it helped with.
    pub executing_ns: u64,
    /// The rest.
    pub causes: IdleCauses,
}

/// Nanoseconds by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IdleCauses {
    /// No run of the runtime went on.
    pub between_runs_ns: u64,
    /// No task of the run had begun yet.
    pub before_first_ns: u64,
    /// All tasks of the run had ended.
    pub after_last_ns: u64,
    /// The kernel had taken the processing unit away.
    pub preempted_ns: u64,
    /// The worker's task waited for data.
    pub data_ns: u64,
    /// A task was ready, and the worker did not get it.
    pub scheduling_ns: u64,
    /// The submission waited for memory, and nothing was ready.
    pub memory_full_ns: u64,
    /// The submission waited for its window, and nothing was ready.
    pub window_full_ns: u64,
    /// The submission was not fast enough, and nothing was ready.
    pub submission_ns: u64,
    /// All was submitted, and nothing was ready.
    pub starvation_ns: u64,
    /// Between tasks, in no state.
    pub runtime_ns: u64,
}

impl IdleCauses {
    /// Names and values, in the order of the table above.
    pub fn named(&self) -> [(&'static str, u64); 11] {
        [
            ("between_runs", self.between_runs_ns),
            ("before_first", self.before_first_ns),
            ("after_last", self.after_last_ns),
            ("preempted", self.preempted_ns),
            ("data", self.data_ns),
            ("scheduling", self.scheduling_ns),
            ("memory_full", self.memory_full_ns),
            ("window_full", self.window_full_ns),
            ("submission", self.submission_ns),
            ("starvation", self.starvation_ns),
            ("runtime", self.runtime_ns),
        ]
    }

    /// All of it.
    pub fn total_ns(&self) -> u64 {
        (self.named().iter().map(|cause| cause.1)).fold(0, u64::saturating_add)
    }

    fn add(&mut self, other: &Self) {
        let add = |to: &mut u64, more: u64| *to = to.saturating_add(more);
        add(&mut self.between_runs_ns, other.between_runs_ns);
        add(&mut self.before_first_ns, other.before_first_ns);
        add(&mut self.after_last_ns, other.after_last_ns);
        add(&mut self.preempted_ns, other.preempted_ns);
        add(&mut self.data_ns, other.data_ns);
        add(&mut self.scheduling_ns, other.scheduling_ns);
        add(&mut self.memory_full_ns, other.memory_full_ns);
        add(&mut self.window_full_ns, other.window_full_ns);
        add(&mut self.submission_ns, other.submission_ns);
        add(&mut self.starvation_ns, other.starvation_ns);
        add(&mut self.runtime_ns, other.runtime_ns);
    }
}

/// What a cause of [`IdleCauses::named`] is called in a text.
pub fn cause_in_words(name: &str) -> &str {
    match name {
        "between_runs" => "between two runs",
        "before_first" => "before the first task",
        "after_last" => "after the last task",
        "preempted" => "the system ran something else",
        "data" => "data on its way",
        "scheduling" => "tasks were ready elsewhere",
        "memory_full" => "submission waited for memory",
        "window_full" => "submission waited for its window",
        "submission" => "submission too slow",
        "starvation" => "nothing was ready",
        "runtime" => "the runtime between tasks",
        other => other,
    }
}

/// From and to.
pub(crate) type Span = (u64, u64);

/// What one worker did, as spans without overlap, by time.
#[derive(Default)]
struct Doing {
    tasks: Vec<Span>,
    without_task: Vec<Span>,
    transferring: Vec<Span>,
    preempted: Vec<Span>,
    migrated: Vec<Span>,
}

/// What holds for all workers of a kind, in the same form.
struct Run {
    between: Vec<Span>,
    before_first: Vec<Span>,
    after_last: Vec<Span>,
    /// By kind: CPU, device.
    ready: [Vec<Span>; 2],
    memory_full: Vec<Span>,
    window_full: Vec<Span>,
    submitting: Vec<Span>,
}

/// Idle time by cause. O((tasks + states) log + workers x tasks), the second with a small factor.
pub fn idle(trace: &Trace) -> Idle {
    let tables = &trace.tables;
    let mut doing: HashMap<u16, Doing> = HashMap::new();
    for p in pieces(&tables.tasks, &tables.shares) {
        let of = doing.entry(p.worker).or_default();
        of.tasks.push((p.start_ns, p.end_ns));
    }
    let (mut memory_full, mut window_full) = (Vec::new(), Vec::new());
    for s in &tables.states {
        let span = (s.start_ns, s.end_ns);
        let of = s.worker.map(|w| doing.entry(w).or_default());
        match (s.state, of) {
            (ThreadState::MemoryFull, _) => memory_full.push(span),
            (ThreadState::WindowFull, _) => window_full.push(span),
            (_, None) => {}
            (ThreadState::Transferring, Some(of)) => of.transferring.push(span),
            (_, Some(of)) => of.without_task.push(span),
        }
    }
    for s in &tables.switches {
        let Some(worker) = s.worker else { continue };
        let of = doing.entry(worker).or_default();
        let span = (s.out_ns, s.in_ns.unwrap_or(u64::MAX));
        match s.reason {
            SwitchReason::Preempted => of.preempted.push(span),
            SwitchReason::Migrated => of.migrated.push(span),
            SwitchReason::Voluntary => {}
        }
    }
    let mut run = Run {
        between: union(trace.manifest.gaps()),
        before_first: Vec::new(),
        after_last: Vec::new(),
        ready: ready(trace),
        memory_full: union(memory_full),
        window_full: union(window_full),
        submitting: submitting(trace),
    };
    run.parts(trace);
    let mut out = Idle {
        workers: Vec::with_capacity(tables.workers.len()),
        all: IdleCauses::default(),
        executing_ns: 0,
    };
    for w in &tables.workers {
        let of = doing.remove(&w.worker).unwrap_or_default();
        let life = (w.start_ns, w.end_ns.max(w.start_ns));
        let (executing_ns, causes) =
            of_worker(life, of, &run, usize::from(w.kind == WorkerKind::Device));
        out.all.add(&causes);
        out.executing_ns = out.executing_ns.saturating_add(executing_ns);
        out.workers.push(WorkerIdle {
            worker: w.worker,
            name: w.name.clone(),
            time_ns: life.1 - life.0,
            executing_ns,
            causes,
        });
    }
    out
}

impl Run {
    /// Beginnings and ends, part by part: a part reaches from the end of the one before to the beginning of the next.
    fn parts(&mut self, trace: &Trace) {
        let parts = trace.manifest.parts();
        let mut from = 0;
        for (k, part) in parts.iter().enumerate() {
            let next = parts.get(k + 1);
            let to = next.map_or(u64::MAX, |_| part.end_ns);
            let numbers = part.first_task..next.map_or(u64::MAX, |next| next.first_task);
            let tasks = || {
                let rows = trace.tables.tasks.iter();
                rows.filter(|t| numbers.contains(&t.task.into()))
            };
            // Without a task all of it lies before the first.
            let first_start = tasks().map(|t| t.start_ns).min().unwrap_or(to);
            let last_end = tasks().map(|t| t.end_ns).max().unwrap_or(to);
            self.before_first.push((from, first_start));
            self.after_last.push((last_end, to));
            from = to;
        }
        for spans in [&mut self.before_first, &mut self.after_last] {
            *spans = union(std::mem::take(spans));
        }
    }
}

/// From the beginning of each part to its last submission. What lies between two parts is not the submission's.
pub(crate) fn submitting(trace: &Trace) -> Vec<Span> {
    let parts = trace.manifest.parts();
    let span = |(k, part): (usize, &RunPart)| {
        let next = parts.get(k + 1).map_or(u64::MAX, |next| next.first_task);
        let rows = trace.tables.tasks.iter();
        let submitted = rows
            .filter(|t| (part.first_task..next).contains(&t.task.into()))
            .map(|t| t.submit_ns);
        let (first, last) = submitted.fold((part.begin_ns, 0), |(first, last), at| {
            (first.min(at), last.max(at))
        });
        (first, last)
    };
    union(parts.iter().enumerate().map(span).collect())
}

/// When some task was ready that a CPU, or a device, could run.
fn ready(trace: &Trace) -> [Vec<Span>; 2] {
    let tables = &trace.tables;
    let workers = tables.workers.iter().map(|w| (w.worker, w.kind));
    let kinds: HashMap<u16, WorkerKind> = workers.collect();
    let ran: HashSet<(u16, WorkerKind)> = (tables.tasks.iter())
        .filter_map(|t| Some((t.codelet, *kinds.get(&t.worker)?)))
        .collect();
    [WorkerKind::Cpu, WorkerKind::Device].map(|kind| {
        let tasks = tables.tasks.iter();
        let can = tasks.filter(|t| ran.contains(&(t.codelet, kind)));
        union(can.map(|t| (t.ready_ns, t.pop_ns)).collect())
    })
}

fn of_worker(life: Span, doing: Doing, run: &Run, kind: usize) -> (u64, IdleCauses) {
    let mut left = union(vec![life]);
    let mut causes = IdleCauses::default();
    let executing_ns = length(&cut(&mut left, &union(doing.tasks)));
    causes.between_runs_ns = length(&cut(&mut left, &run.between));
    causes.before_first_ns = length(&cut(&mut left, &run.before_first));
    causes.after_last_ns = length(&cut(&mut left, &run.after_last));
    causes.preempted_ns = length(&cut(&mut left, &union(doing.preempted)));
    causes.data_ns = length(&cut(&mut left, &union(doing.transferring)));
    let mut waiting = cut(&mut left, &union(doing.without_task));
    causes.scheduling_ns = length(&cut(&mut waiting, &run.ready[kind]));
    causes.memory_full_ns = length(&cut(&mut waiting, &run.memory_full));
    causes.window_full_ns = length(&cut(&mut waiting, &run.window_full));
    causes.submission_ns = length(&cut(&mut waiting, &run.submitting));
    causes.starvation_ns = length(&waiting);
    // A thread that slept may come back elsewhere; one that did not was moved.
    causes.preempted_ns += length(&cut(&mut left, &union(doing.migrated)));
    causes.runtime_ns = length(&left);
    (executing_ns, causes)
}

pub(crate) fn length(spans: &[Span]) -> u64 {
    spans.iter().map(|s| s.1 - s.0).sum()
}

/// The same moments as spans without overlap, by time, none empty.
pub(crate) fn union(mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|s| s.0 < s.1);
    spans.sort_unstable();
    spans.dedup_by(|next, last| {
        let joins = next.0 <= last.1;
        if joins {
            last.1 = last.1.max(next.1);
        }
        joins
    });
    spans
}

/// Takes what lies in `spans` out of `time`, and gives it. Both are unions.
pub(crate) fn cut(time: &mut Vec<Span>, spans: &[Span]) -> Vec<Span> {
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    let mut k = 0;
    for &(from, to) in time.iter() {
        let mut at = from;
        k += spans[k..].partition_point(|s| s.1 <= from);
        for &(begin, end) in spans[k..].iter().take_while(|s| s.0 < to) {
            let (begin, end) = (begin.max(from), end.min(to));
            if at < begin {
                outside.push((at, begin));
            }
            inside.push((begin, end));
            at = end;
        }
        if at < to {
            outside.push((at, to));
        }
    }
    *time = outside;
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_words() {
        for (name, _) in IdleCauses::default().named() {
            assert!(cause_in_words(name).contains(' '), "{name}");
        }
    }
}
