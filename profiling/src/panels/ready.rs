//! Tasks over time that could run and that no worker had taken; marked where there were fewer tasks to run than workers.

use super::axis::percent;
use super::chart::{Chart, ChartForm, Highlight, Series, Unit, all_workers};
use super::scene::ALERT;
use super::steps::spans_where;
use super::subject::Subject;
use super::{Drawing, PanelEntry};
use crate::palette::Colour;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "ready",
    about: "tasks that could run, and where there were fewer than workers",
    drawing: Drawing::Chart(chart),
};

const READY: Colour = Colour::new(0x11_77_33);

fn chart(subject: &Subject<'_>) -> Chart {
    let ready = subject.count(|t| (t.ready_ns, t.pop_ns));
    // Ready or running: with fewer than workers, some worker can have nothing to do.
    let work = subject.count(|t| (t.ready_ns, t.end_ns));
    let workers = subject.workers.len() as f64;
    let span = (subject.from, subject.to);
    let few = spans_where(&work, span, |n| n < workers);
    let part = few.iter().map(|(a, b)| b - a).sum::<f64>() / (span.1 - span.0);
    let mut chart = Chart::new(
        ChartForm::Steps,
        "Tasks that could run",
        Unit::Count("tasks"),
    );
    let name = "ready, and no worker has taken it";
    chart.series.push(Series::new(name, READY, ready));
    chart.rules.push(all_workers(subject));
    chart.spans.push(Highlight {
        name: format!(
            "fewer tasks ready or running than workers: {} of the time",
            percent(part)
        ),
        colour: ALERT,
        spans: few,
    });
    chart
}
