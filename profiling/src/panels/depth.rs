//! Workers in use over time, by the depth of the tree node they work for: how far from the root the work is.

use super::axis::percent;
use super::chart::{Chart, ChartForm, Series, Unit, all_workers};
use super::frame::ramp;
use super::subject::Subject;
use super::{Drawing, PanelEntry};
use crate::account::Steps;
use crate::palette::OTHER;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "depth",
    about: "workers in use over time, by the depth of their tree node",
    drawing: Drawing::Chart(chart),
};

/// Depths are put together into this many layers at most.
const LAYERS: u32 = 8;

fn chart(subject: &Subject<'_>) -> Chart {
    let depth = |node: u32| subject.front(node).map(|front| front.depth.max(1));
    let depths = subject.tasks().iter().filter_map(|task| depth(task.node));
    let (deepest, highest) = depths.fold((1, u32::MAX), |(d, h), x| (d.max(x), h.min(x)));
    let highest = highest.min(deepest);
    let each = (deepest - highest + 1).div_ceil(LAYERS);
    let layers = (deepest - highest + 1).div_ceil(each) as usize;
    // The last one for tasks of no front.
    let mut spans = vec![(Vec::new(), Vec::new()); layers + 1];
    for piece in subject.pieces() {
        let node = piece.task.node;
        let layer = depth(node).map_or(layers, |d| ((d - highest) / each) as usize);
        spans[layer].0.push(subject.since_ns(piece.start_ns));
        spans[layer].1.push(subject.since_ns(piece.end_ns));
    }
    let title = "Workers in use by depth of the tree";
    let mut chart = Chart::new(ChartForm::Stack, title, Unit::Count("workers"));
    for (k, (starts, ends)) in spans.into_iter().enumerate() {
        let steps = Steps::count(starts, ends);
        let Some(part) = subject.part_of_workers(&steps) else {
            continue;
        };
        let first = highest + k as u32 * each;
        let last = (first + each - 1).min(deepest);
        let name = match (k == layers, first == last) {
            (true, _) => "no tree node".to_owned(),
            (_, true) if first == 1 => "depth 1 (root)".to_owned(),
            (_, true) => format!("depth {first}"),
            _ => format!("{first} to {last}"),
        };
        let colour = match k == layers {
            true => OTHER,
            // The root is the darkest.
            false => ramp(1.0 - (k as f64 + 0.5) / layers as f64),
        };
        let series = Series::new(name, colour, steps);
        chart.series.push(series.noted(percent(part)));
    }
    chart.rules.push(all_workers(subject));
    chart
}
