//! Floating-point operations per second over time, by codelet; a task's operations are spread evenly over its time.

use super::axis::si;
use super::chart::{Chart, ChartForm, Rule, Series, Unit};
use super::scene::INK;
use super::subject::Subject;
use super::{Drawing, PanelEntry};
use crate::account::Steps;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "gflops",
    about: "floating-point operations per second over time, by codelet",
    drawing: Drawing::Chart(chart),
};

fn chart(subject: &Subject<'_>) -> Chart {
    let mut chart = Chart::new(ChartForm::Stack, "Speed", Unit::Of("Flop/s"));
    let (from, to) = (subject.from as u64, subject.to as u64);
    let mut flops = 0.0;
    for (codelet, _) in subject.used() {
        let tasks = subject.tasks().iter();
        let tasks = tasks.filter(|task| task.codelet == codelet && task.flops > 0);
        let spans = tasks.map(|task| {
            let (start, end) = subject.span_ns(task);
            (start, end, task.flops as f64)
        });
        let steps = Steps::rate(spans);
        let mine = steps.integral(from, to);
        if mine > 0.0 {
            flops += mine;
            let name = subject.codelet(codelet);
            // A flop a nanosecond is a GFlop/s.
            let series = Series::new(name, subject.colour(codelet), steps.scaled(1e9));
            chart.series.push(series);
        }
    }
    if chart.series.is_empty() {
        return chart.without("No task here has floating-point operations.");
    }
    let mean = flops / (subject.to - subject.from) * 1e9;
    chart.rules.push(Rule {
        value: mean,
        name: format!("mean {}", si(mean, "Flop/s")),
        colour: INK,
        dashed: true,
    });
    chart
}
