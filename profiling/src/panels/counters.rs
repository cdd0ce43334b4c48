//! Hardware counters over time, each as a part of its largest rate: a task's count is spread evenly over its time.

use super::axis::si;
use super::chart::{Chart, ChartForm, Series, Unit};
use super::subject::Subject;
use super::{Drawing, PanelEntry};
use crate::account::Steps;
use crate::palette;
use std::collections::{BTreeMap, HashMap};

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "counters",
    about: "hardware counters over time, where they were recorded",
    drawing: Drawing::Chart(chart),
};

/// Rates are compared in so many windows.
const WINDOWS: usize = 250;

fn chart(subject: &Subject<'_>) -> Chart {
    let title = "Counters, each as a part of its largest rate";
    let unit = Unit::Of("part");
    let mut chart = Chart::new(ChartForm::Lines, title, unit);
    let rows = &subject.trace.tables.counters;
    if rows.is_empty() {
        return chart.without(subject.without_module("counters"));
    }
    let tasks = subject.tasks().iter();
    let spans: HashMap<u32, (u64, u64)> = tasks
        .map(|task| (task.task, subject.span_ns(task)))
        .collect();
    let mut counts: BTreeMap<&str, Vec<(u64, u64, f64)>> = BTreeMap::new();
    for row in rows {
        if let Some(&(from, to)) = spans.get(&row.task) {
            let counts = counts.entry(&row.counter).or_default();
            counts.push((from, to, row.value as f64));
        }
    }
    for (k, (name, spans)) in counts.into_iter().enumerate() {
        let steps = Steps::rate(spans.into_iter()).scaled(1e9);
        let bins = steps.bins(subject.from as u64, subject.to as u64, WINDOWS);
        let most = bins.iter().map(|bin| bin.mean).fold(0.0, f64::max);
        if most > 0.0 {
            let note = format!("at most {}", si(most, "/s"));
            let series = Series::new(name, palette::series(k), steps.scaled(1.0 / most));
            chart.series.push(series.noted(note));
        }
    }
    if chart.series.is_empty() {
        return chart.without("No counter counted anything here.");
    }
    chart
}
