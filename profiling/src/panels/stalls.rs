//! The submission over time: when it submitted, when it waited and for what; and when the recorder wrote to disk.

use super::axis::{percent, time};
use super::spans::{Kind, Lane, RowSpan, Rows, Style};
use super::subject::Subject;
use super::{Drawing, PanelEntry};
use crate::account::union;
use crate::palette::{self, Colour};
use crate::trace::schema::ThreadState;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "stalls",
    about: "the submission over time: when it waited, and for what",
    drawing: Drawing::Rows(rows),
};

const SUBMITS: Colour = Colour::new(0xBB_CC_EE);
const SPILLS: Colour = Colour::new(0xAA_44_99);

/// Spans in a state, by time, without overlap.
pub(super) fn spans_of(subject: &Subject<'_>, state: ThreadState) -> Vec<(f64, f64)> {
    let rows = subject.trace.tables.states.iter();
    let rows = rows.filter(|row| row.state == state);
    let spans = rows.map(|row| (row.start_ns, row.end_ns)).collect();
    since(subject, spans)
}

fn since(subject: &Subject<'_>, spans: Vec<(u64, u64)>) -> Vec<(f64, f64)> {
    let spans = union(spans).into_iter();
    spans
        .map(|(from, to)| (subject.since(from), subject.since(to)))
        .collect()
}

fn rows(subject: &Subject<'_>) -> Rows {
    let mut rows = Rows::new("Submission of tasks", Style::Seen);
    rows.heading = "waits";
    let kind = |name: &str, colour| Kind {
        name: name.to_owned(),
        colour,
    };
    let submits = || subject.tasks().iter().map(|task| task.submit_ns);
    let (first, last) = (submits().min(), submits().max());
    let submits = since(subject, first.zip(last).into_iter().collect());
    let window = spans_of(subject, ThreadState::WindowFull);
    let memory = spans_of(subject, ThreadState::MemoryFull);
    let spills = subject.trace.tables.spills.iter();
    let spills = since(subject, spills.map(|s| (s.start_ns, s.end_ns)).collect());
    let whole = subject.to - subject.from;
    let time_in = |spans: &[(f64, f64)]| -> f64 {
        let inside = spans.iter().filter_map(|span| subject.visible(*span));
        inside.map(|(a, b)| b - a).sum()
    };
    let waits = time_in(&window) + time_in(&memory);
    rows.lanes.push(Lane {
        name: "submission".to_owned(),
        note: percent(waits / whole),
    });
    let named = |name: &str, spans: &[(f64, f64)]| match spans.len() {
        1 => format!("{name}: once, {}", time(time_in(spans))),
        n => format!("{name}: {n} times, {}", time(time_in(spans))),
    };
    let last = submits.last().map_or(0.0, |span| span.1);
    rows.kinds.push(kind(
        &format!("submits tasks, until {}", time(last)),
        SUBMITS,
    ));
    let name = named(
        "waits for unfinished tasks to become fewer (window)",
        &window,
    );
    rows.kinds
        .push(kind(&name, palette::state(ThreadState::WindowFull)));
    let name = named("waits for memory", &memory);
    rows.kinds
        .push(kind(&name, palette::state(ThreadState::MemoryFull)));
    rows.kinds
        .push(kind(&named("recorder writes to disk", &spills), SPILLS));
    if !spills.is_empty() {
        rows.lanes.push(Lane {
            name: "recorder".to_owned(),
            note: String::new(),
        });
    }
    for (kind, spans) in [submits, window, memory, spills].into_iter().enumerate() {
        let lane = usize::from(kind == 3);
        let spans = spans.into_iter();
        rows.spans.extend(spans.map(|(from, to)| RowSpan {
            lane,
            kind,
            from,
            to,
        }));
    }
    if rows.spans.is_empty() {
        return rows.without("All tasks were submitted at one time, and nothing waited.");
    }
    rows
}
