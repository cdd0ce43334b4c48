//! What workers did over time, whatever the task: in tasks, helping with others', asking the scheduler, idle, asleep, waiting for data.

use super::axis::percent;
use super::spans::{Kind, Lane, RowSpan, Rows, Style};
use super::subject::Subject;
use super::{Drawing, PanelEntry};
use crate::palette::{self, Colour, EXECUTING, HELPING};
use crate::trace::schema::ThreadState;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "states",
    about: "workers over time by state: in tasks, scheduling, idle, asleep, waiting for data",
    drawing: Drawing::Rows(rows),
};

/// What a worker can do in tasks.
const IN_TASKS: [(&str, Colour); 2] = [
    ("in tasks", EXECUTING),
    ("helps with others' tasks", HELPING),
];

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
    let mut times = [0.0; IN_TASKS.len() + STATES.len()];
    let mut busy = vec![0.0; subject.workers.len()];
    let mut push = |lane, kind, (from, to): (f64, f64)| {
        let Some((a, b)) = subject.visible((from, to)) else {
            return;
        };
        times[kind] += b - a;
        if kind < IN_TASKS.len() {
            busy[lane] += b - a;
        }
        rows.spans.push(RowSpan {
            lane,
            kind,
            from,
            to,
        });
    };
    for piece in subject.pieces() {
        let kind = usize::from(!piece.own);
        push(subject.lane(piece.worker), kind, subject.worked(&piece));
    }
    for row in &subject.trace.tables.states {
        let state = STATES.iter().position(|state| state.0 == row.state);
        let worker = row.worker.filter(|&worker| subject.knows(worker));
        if let Some((state, worker)) = state.zip(worker) {
            let span = (subject.since(row.start_ns), subject.since(row.end_ns));
            push(subject.lane(worker), IN_TASKS.len() + state, span);
        }
    }
    let whole = subject.to - subject.from;
    let all = whole * subject.workers.len() as f64;
    let kind = |(k, time): (usize, f64)| {
        let (name, colour) = match k.checked_sub(IN_TASKS.len()) {
            None => IN_TASKS[k],
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
