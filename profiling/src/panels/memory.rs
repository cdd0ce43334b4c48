//! Bytes of front storage over time, by memory node, with the limit and the peak that a sequential run was predicted to have.

use super::axis::si;
use super::chart::{Chart, ChartForm, Rule, Series, Unit};
use super::scene::{ALERT, INK};
use super::steps::most;
use super::subject::Subject;
use super::{Drawing, PanelEntry};
use crate::account::Steps;
use crate::palette::{self, Colour};
use crate::trace::schema::Memory;
use std::collections::BTreeMap;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "memory",
    about: "bytes of front storage over time, with limit and predicted sequential peak",
    drawing: Drawing::Chart(chart),
};

const HOST: Colour = Colour::new(0x33_22_88);

fn chart(subject: &Subject<'_>) -> Chart {
    let manifest = &subject.trace.manifest;
    let mut chart = Chart::new(ChartForm::Steps, "Memory of the fronts", Unit::Of("B"));
    for (node, steps) in series(subject) {
        let colour = match node.checked_sub(1) {
            None => HOST,
            Some(device) => palette::series(4 + usize::from(device)),
        };
        let peak = most(&steps, (subject.from, subject.to));
        let note = format!("at most {}", si(peak, "B"));
        let name = subject.memory_node(node);
        chart
            .series
            .push(Series::new(name, colour, steps).noted(note));
    }
    let mut rule = |bytes: Option<u64>, colour, name: &str, dashed| {
        if let Some(value) = bytes.map(|bytes| bytes as f64) {
            chart.rules.push(Rule {
                value,
                name: format!("{name} {}", si(value, "B")),
                colour,
                dashed,
            });
        }
    };
    rule(manifest.run.memory_limit_bytes, ALERT, "limit", false);
    let name = "predicted peak of a sequential run";
    rule(manifest.predicted("peak_bytes"), INK, name, true);
    chart
}

/// Bytes held by each memory node, from the beginning of the run on.
pub(super) fn series(subject: &Subject<'_>) -> BTreeMap<u16, Steps> {
    let mut nodes: BTreeMap<u16, Vec<&Memory>> = BTreeMap::from([(0, Vec::new())]);
    for row in &subject.trace.tables.memory {
        nodes.entry(row.memory_node).or_default().push(row);
    }
    let begin = subject.trace.manifest.run.host_bytes as f64;
    let steps = |(node, mut rows): (u16, Vec<&Memory>)| {
        // Stable: what was counted later at one time stays the last.
        rows.sort_by_key(|row| row.time_ns);
        let mut steps = Steps::default();
        if node == 0 {
            steps.set(0, begin);
        }
        for row in rows {
            steps.set(subject.since_ns(row.time_ns), row.after_bytes as f64);
        }
        (node, steps)
    };
    nodes.into_iter().map(steps).collect()
}
