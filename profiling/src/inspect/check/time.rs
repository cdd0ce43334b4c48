//! Rules on times.

use super::{Findings, Subject};
use crate::trace::schema::{
    Dependency, Memory, NodeEvent, NodeEventKind, Phase, Queue, Share, Spill, State, Switch, Task,
    Transfer, Worker,
};
use crate::trace::{Table, TraceKind};
use std::collections::HashMap;

pub(super) fn parts(subject: &Subject<'_>, findings: &mut Findings) {
    let run = &subject.trace.manifest.run;
    let (mut next_task, mut at) = (0, run.begin_ns);
    for part in &run.parts {
        let (name, from, to) = (&part.name, part.begin_ns, part.end_ns);
        if !(at <= from && from <= to && to <= run.end_ns) {
            findings.manifest(|| {
                format!("part `{name}` from {from} to {to} ns is not after {at} ns, within the run")
            });
        }
        if part.first_task != next_task {
            let first = part.first_task;
            findings.manifest(|| {
                format!("part `{name}` begins with task {first}, after {next_task} tasks")
            });
        }
        next_task = part.first_task.saturating_add(part.submitted_tasks);
        at = to;
    }
    if !run.parts.is_empty() && next_task != run.submitted_tasks {
        let all = run.submitted_tasks;
        findings.manifest(|| format!("the parts have {next_task} tasks, but {all} were submitted"));
    }
}

pub(super) fn life(subject: &Subject<'_>, findings: &mut Findings) {
    let (run, tables) = (&subject.trace.manifest.run, subject.tables());
    let graph = subject.trace.manifest.kind == TraceKind::Graph;
    if run.begin_ns > run.end_ns {
        findings.manifest(|| {
            format!(
                "the run begins at {} and ends at {} ns",
                run.begin_ns, run.end_ns
            )
        });
    }
    for (row, w) in tables.workers.iter().enumerate() {
        let inside = run.begin_ns <= w.start_ns && w.start_ns <= w.end_ns && w.end_ns <= run.end_ns;
        if !graph && !inside {
            findings.row::<Worker>(row, || {
                format!(
                    "from {} to {} ns is not within the run",
                    w.start_ns, w.end_ns
                )
            });
        }
    }
    for (row, t) in tables.tasks.iter().enumerate() {
        let part = subject.part(t.task);
        let times = [
            ("the run begins", part.begin_ns),
            ("submit", t.submit_ns),
            ("ready", t.ready_ns),
            ("pop", t.pop_ns),
            ("start", t.start_ns),
            ("end", t.end_ns),
            ("the run ends", part.end_ns),
        ];
        if let Some(pair) = times.windows(2).find(|pair| pair[0].1 > pair[1].1) {
            let ((before, at), (after, then)) = (pair[0], pair[1]);
            findings.row::<Task>(row, || {
                format!(
                    "task {}: {after} at {then} ns lies before {before} at {at} ns",
                    t.task
                )
            });
        }
        // A filtered trace has shorter workers.
        let worker = subject
            .workers
            .row(t.worker.into())
            .map(|w| &tables.workers[w]);
        let within = |w: &Worker| w.start_ns <= t.start_ns && t.end_ns <= w.end_ns;
        if subject.trace.manifest.filtered.is_none() && worker.is_some_and(|w| !within(w)) {
            findings.row::<Task>(row, || {
                format!(
                    "task {} is not within the time of worker {}",
                    t.task, t.worker
                )
            });
        }
    }
}

pub(super) fn spans(subject: &Subject<'_>, findings: &mut Findings) {
    fn each<T: Table>(rows: &[T], findings: &mut Findings, span: impl Fn(&T) -> (i64, i64)) {
        for (row, r) in rows.iter().enumerate() {
            let (from, to) = span(r);
            if from > to {
                findings.row::<T>(row, || format!("begins at {from} and ends at {to} ns"));
            }
        }
    }
    fn sorted<T: Table>(rows: &[T], findings: &mut Findings, time: impl Fn(&T) -> u64) {
        for (row, pair) in rows.windows(2).enumerate() {
            let (before, this) = (time(&pair[0]), time(&pair[1]));
            if this < before {
                findings.row::<T>(row + 1, || format!("{this} ns follows {before} ns"));
            }
        }
    }
    let tables = subject.tables();
    let ns = |t: u64| i64::try_from(t).unwrap_or(i64::MAX);
    each(&tables.states, findings, |r: &State| {
        (ns(r.start_ns), ns(r.end_ns))
    });
    each(&tables.shares, findings, |r: &Share| {
        (ns(r.start_ns), ns(r.end_ns))
    });
    each(&tables.transfers, findings, |r: &Transfer| {
        (ns(r.asked_ns), ns(r.start_ns))
    });
    each(&tables.transfers, findings, |r: &Transfer| {
        (ns(r.start_ns), ns(r.end_ns))
    });
    each(&tables.phases, findings, |r: &Phase| (r.start_ns, r.end_ns));
    each(&tables.spills, findings, |r: &Spill| {
        (ns(r.start_ns), ns(r.end_ns))
    });
    each(&tables.switches, findings, |r: &Switch| {
        (ns(r.out_ns), r.in_ns.map_or(i64::MAX, ns))
    });
    sorted(&tables.shares, findings, |r: &Share| r.start_ns);
    sorted(&tables.memory, findings, |r: &Memory| r.time_ns);
    sorted(&tables.queues, findings, |r: &Queue| r.time_ns);
    sorted(&tables.node_events, findings, |r: &NodeEvent| r.time_ns);
}

pub(super) fn order(subject: &Subject<'_>, findings: &mut Findings) {
    for (row, edge) in subject.tables().dependencies.iter().enumerate() {
        if edge.predecessor >= edge.task {
            findings.row::<Dependency>(row, || {
                format!(
                    "task {} waits for {}, which comes later",
                    edge.task, edge.predecessor
                )
            });
        }
        let (task, before) = (subject.task(edge.task), subject.task(edge.predecessor));
        if let (Some(task), Some(before)) = (task, before)
            && task.start_ns < before.end_ns
        {
            findings.row::<Dependency>(row, || {
                format!(
                    "task {} starts at {} ns, before task {} ends at {} ns",
                    task.task, task.start_ns, before.task, before.end_ns
                )
            });
        }
    }
}

/// The end is no matter of the task's: who did its last part looks at the clock after it is over.
pub(super) fn shares(subject: &Subject<'_>, findings: &mut Findings) {
    for (row, share) in subject.tables().shares.iter().enumerate() {
        let Some(task) = subject.task(share.task) else {
            continue;
        };
        let (number, worker) = (task.task, share.worker);
        if worker == task.worker {
            findings.row::<Share>(row, || {
                format!("worker {worker} helps with task {number}, which is its own")
            });
        }
        if share.parts == 0 {
            findings.row::<Share>(row, || format!("no part of task {number} was done"));
        }
        let (at, from, to) = (share.start_ns, task.start_ns, task.end_ns);
        if !(from..=to).contains(&at) {
            findings.row::<Share>(row, || {
                format!("parts of task {number}, from {from} to {to} ns, are begun at {at} ns")
            });
        }
    }
}

/// Something that a thread did.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Doing {
    thread: Option<u16>,
    start_ns: u64,
    end_ns: u64,
    what: What,
    row: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    State,
    Share,
    Task,
}

pub(super) fn overlap(subject: &Subject<'_>, findings: &mut Findings) {
    let tables = subject.tables();
    let tasks = tables.tasks.iter().zip(0..).map(|(t, row)| Doing {
        thread: Some(t.worker),
        start_ns: t.start_ns,
        end_ns: t.end_ns,
        what: What::Task,
        row,
    });
    let states = tables.states.iter().zip(0..).map(|(s, row)| Doing {
        thread: s.worker,
        start_ns: s.start_ns,
        end_ns: s.end_ns,
        what: What::State,
        row,
    });
    let shares = tables.shares.iter().zip(0..).map(|(s, row)| Doing {
        thread: Some(s.worker),
        start_ns: s.start_ns,
        end_ns: s.end_ns,
        what: What::Share,
        row,
    });
    let mut all: Vec<_> = tasks.chain(states).chain(shares).collect();
    all.sort_unstable();
    let mut last: Option<&Doing> = None;
    for this in &all {
        let before = last.filter(|last| last.thread == this.thread);
        if before.is_none_or(|before| before.end_ns <= this.end_ns) {
            last = Some(this);
        }
        let Some(before) = before.filter(|before| before.end_ns > this.start_ns) else {
            continue;
        };
        let name = |d: &Doing| match d.what {
            What::Task => format!("task {}", tables.tasks[d.row as usize].task),
            What::Share => format!(
                "help with task {} (row {})",
                tables.shares[d.row as usize].task,
                d.row + 1
            ),
            What::State => format!(
                "state {} (row {})",
                tables.states[d.row as usize].state,
                d.row + 1
            ),
        };
        let message = || {
            let thread = this
                .thread
                .map_or("the submission".to_owned(), |w| format!("worker {w}"));
            format!(
                "{} starts on {thread} at {} ns, while {} lasts until {} ns",
                name(this),
                this.start_ns,
                name(before),
                before.end_ns
            )
        };
        match this.what {
            What::Task => findings.row::<Task>(this.row as usize, message),
            What::Share => findings.row::<Share>(this.row as usize, message),
            What::State => findings.row::<State>(this.row as usize, message),
        }
    }
}

pub(super) fn nodes(subject: &Subject<'_>, findings: &mut Findings) {
    if subject.holes {
        return;
    }
    let events = &subject.tables().node_events;
    let mut activated = HashMap::new();
    let mut cleaned = HashMap::new();
    for e in events {
        let first = match e.event {
            NodeEventKind::Activated => &mut activated,
            NodeEventKind::Cleaned => &mut cleaned,
            _ => continue,
        };
        first.entry(e.node).or_insert(e.time_ns);
    }
    for (row, e) in events.iter().enumerate() {
        let from = activated.get(&e.node).copied().unwrap_or(0);
        // Who only assembles into others, or is cleaned for its parent, need not be told apart here. It is cleaned when its parent has the
        // contribution block; rows of R that nobody waits for may be reduced after that.
        let to = match e.event {
            NodeEventKind::Factorized => u64::MAX,
            _ => cleaned.get(&e.node).copied().unwrap_or(u64::MAX),
        };
        if !(from..=to).contains(&e.time_ns) {
            findings.row::<NodeEvent>(row, || {
                format!(
                    "node {} is {} at {} ns, not between its activation and its end",
                    e.node, e.event, e.time_ns
                )
            });
        }
    }
}
