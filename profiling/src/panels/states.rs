//! What workers did over time, whatever the task: in tasks, asking the scheduler, idle, asleep, waiting for data.

use super::axis::percent;
use super::spans::{Kind, Lane, RowSpan, Rows, Style};
use super::subject::Subject;
use super::{Drawing, PanelEntry};
use crate::palette::{self, EXECUTING};
use crate::trace::schema::ThreadState;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "states",
    about: "workers over time by state: in tasks, scheduling, idle, asleep, waiting for data",
    drawing: Drawing::Rows(rows),
};

/// What a worker can do without a task.
pub(super) const STATES: [(ThreadState, &str); 4] = [
    (ThreadState::Scheduling, "asks the scheduler"),
    (ThreadState::Idle, "idle"),
    (ThreadState::Sleeping, "asleep"),
    (ThreadState::Transferring, "waits for data"),
];

fn rows(subject: &Subject<'_>) -> Rows {
    let mut rows = Rows::new("States of the workers", Style::True);
    rows.heading = "in tasks";
    let mut times = [0.0; STATES.len() + 1];
    let mut busy = vec![0.0; subject.workers.len()];
    let mut push = |lane, kind, (from, to): (f64, f64)| {
        let Some((a, b)) = subject.visible((from, to)) else {
            return;
        };
        times[kind] += b - a;
        if kind == 0 {
            busy[lane] += b - a;
        }
        rows.spans.push(RowSpan {
            lane,
            kind,
            from,
            to,
        });
    };
    for task in subject.tasks() {
        push(subject.lane(task.worker), 0, subject.span(task));
    }
    for row in &subject.trace.tables.states {
        let state = STATES.iter().position(|state| state.0 == row.state);
        let worker = row.worker.filter(|&worker| subject.knows(worker));
        if let Some((state, worker)) = state.zip(worker) {
            let span = (subject.since(row.start_ns), subject.since(row.end_ns));
            push(subject.lane(worker), 1 + state, span);
        }
    }
    let whole = subject.to - subject.from;
    let all = whole * subject.workers.len() as f64;
    let kind = |(k, time): (usize, f64)| {
        let (name, colour) = match k.checked_sub(1) {
            None => ("in tasks", EXECUTING),
            Some(k) => (STATES[k].1, palette::state(STATES[k].0)),
        };
        let name = format!("{name}: {}", percent(time / all));
        Kind { name, colour }
    };
    rows.kinds = times.into_iter().enumerate().map(kind).collect();
    let lanes = subject.workers.iter().zip(busy);
    rows.lanes = lanes
        .map(|(worker, busy)| Lane {
            name: worker.name.clone(),
            note: percent(busy / whole),
        })
        .collect();
    rows
}
