//! How long tasks took, as histograms by codelet and kind of worker.

use super::axis::{counted, percent, time};
use super::bars::{Bars, Facet, Group};
use super::scatter::{powers, range, short};
use super::subject::Subject;
use super::{Drawing, PanelEntry};
use crate::palette;
use std::collections::BTreeMap;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "histogram",
    about: "how long tasks took, by codelet and kind of worker",
    drawing: Drawing::Bars(bars),
};

const BINS: usize = 30;

fn bars(subject: &Subject<'_>) -> Bars {
    let mut bars = Bars::new("Durations of tasks", "duration of a task");
    // Nothing below a nanosecond.
    let mut tasks: BTreeMap<u16, [Vec<f64>; 2]> = BTreeMap::new();
    for task in subject.tasks() {
        let (start, end) = subject.span(task);
        if subject.visible((start, end)).is_some() {
            let device = subject.workers[subject.lane(task.worker)].is_device;
            let lists = tasks.entry(task.codelet).or_default();
            lists[usize::from(device)].push((end - start).max(1.0).log10());
        }
    }
    let all = || tasks.values().flatten().flatten().copied();
    let (low, high) = range(all());
    if tasks.is_empty() {
        return bars.without("No task runs here.");
    }
    bars.edges_ln = (
        low * std::f64::consts::LN_10,
        high * std::f64::consts::LN_10,
    );
    bars.bins = BINS;
    let label = |v: f64| (v * std::f64::consts::LN_10, short(time(10f64.powf(v))));
    bars.labels = powers((low, high), 8.0).into_iter().map(label).collect();
    let bin = |v: f64| (((v - low) / (high - low) * BINS as f64) as usize).min(BINS - 1);
    let devices = subject.workers.iter().any(|worker| worker.is_device);
    let sum =
        |lists: &[Vec<f64>; 2]| -> f64 { lists.iter().flatten().map(|v| 10f64.powf(*v)).sum() };
    let whole: f64 = tasks.values().map(sum).sum();
    let mut order: Vec<_> = tasks.iter().collect();
    order.sort_by(|a, b| sum(b.1).total_cmp(&sum(a.1)));
    for (&codelet, lists) in order {
        let count: usize = lists.iter().map(Vec::len).sum();
        let mut facet = Facet {
            name: subject.codelet(codelet).to_owned(),
            note: format!(
                "{}, {} of the time",
                counted(count as u64, "task"),
                percent(sum(lists) / whole)
            ),
            groups: Vec::new(),
        };
        let kinds = [("on CPUs", 0), ("on devices", 4)];
        for ((name, colour), values) in kinds.into_iter().zip(lists) {
            if !devices && colour > 0 {
                continue;
            }
            let mut counts = vec![0.0; BINS];
            for &v in values {
                counts[bin(v)] += 1.0;
            }
            facet.groups.push(Group {
                name: name.to_owned(),
                colour: palette::series(colour),
                counts,
                targets: None,
            });
        }
        bars.facets.push(facet);
    }
    bars
}
