//! Tasks over time that were submitted and not done, with the stalls of the submission.

use super::axis::percent;
use super::chart::{Chart, ChartForm, Highlight, Series, Unit, all_workers};
use super::stalls::spans_of;
use super::subject::Subject;
use super::{Drawing, PanelEntry};
use crate::palette::{self, Colour};
use crate::trace::schema::ThreadState;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "submitted",
    about: "tasks that were submitted and not done, and when the submission waited",
    drawing: Drawing::Chart(chart),
};

const SUBMITTED: Colour = Colour::new(0x33_22_88);

fn chart(subject: &Subject<'_>) -> Chart {
    let open = subject.count(|t| (t.submit_ns, t.end_ns));
    let unit = Unit::Count("tasks");
    let mut chart = Chart::new(ChartForm::Steps, "Tasks that are not done", unit);
    let name = "submitted, and not done";
    chart.series.push(Series::new(name, SUBMITTED, open));
    chart.rules.push(all_workers(subject));
    let reasons = [
        (ThreadState::WindowFull, "submission waits for its window"),
        (ThreadState::MemoryFull, "submission waits for memory"),
    ];
    for (state, name) in reasons {
        let spans = spans_of(subject, state);
        let inside = spans.iter().filter_map(|span| subject.visible(*span));
        let time: f64 = inside.map(|(a, b)| b - a).sum();
        if !spans.is_empty() {
            let part = percent(time / (subject.to - subject.from));
            chart.spans.push(Highlight {
                name: format!("{name}: {part} of the time"),
                colour: palette::state(state),
                spans,
            });
        }
    }
    chart
}
