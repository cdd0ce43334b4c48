//! Bytes per second between memory nodes over time, by link.

use super::axis::{percent, si};
use super::chart::{Chart, ChartForm, Series, Unit};
use super::subject::Subject;
use super::{Drawing, PanelEntry};
use crate::account::transfers_over_time;
use crate::palette;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "transfers",
    about: "bytes per second over time, by link between memory nodes",
    drawing: Drawing::Chart(chart),
};

fn chart(subject: &Subject<'_>) -> Chart {
    let mut chart = Chart::new(ChartForm::Lines, "Transfers by link", Unit::Of("B/s"));
    let links = transfers_over_time(subject.trace);
    if links.is_empty() {
        let devices = subject.workers.iter().any(|worker| worker.is_device);
        return chart.without(match devices {
            true => "No byte went to or from a device.",
            false => "There was no device: all data stayed on the host.",
        });
    }
    for (k, link) in links.into_iter().enumerate() {
        let ends = [link.source_node, link.target_node].map(|node| subject.memory_node(node));
        let part = link.busy_ns as f64 / (subject.last_ns.max(1)) as f64;
        let note = format!(
            "{} in {} transfers, {} of the run",
            si(link.bytes as f64, "B"),
            link.transfers,
            percent(part)
        );
        let steps = subject.shifted(link.bytes_per_s);
        let name = format!("{} to {}", ends[0], ends[1]);
        let series = Series::new(name, palette::series(2 * k), steps);
        chart.series.push(series.noted(note));
    }
    chart
}
