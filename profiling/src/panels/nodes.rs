//! Workers in use over time, by the tree node they work for: the nodes with most time in colour, all others together.

use super::axis::percent;
use super::chart::{Chart, ChartForm, Series, Unit, all_workers};
use super::subject::Subject;
use super::{Drawing, PanelEntry};
use crate::account::Steps;
use crate::palette::{self, OTHER};
use crate::trace::schema::FrontKind;
use std::collections::HashMap;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "nodes",
    about: "workers in use over time, by tree node: those with most time, and all others",
    drawing: Drawing::Chart(chart),
};

/// Nodes with a colour of their own.
const LARGEST: usize = 8;

fn chart(subject: &Subject<'_>) -> Chart {
    let mut times: HashMap<u32, f64> = HashMap::new();
    for piece in subject.pieces() {
        if let Some((start, end)) = subject.visible(subject.worked(&piece)) {
            *times.entry(piece.task.node).or_default() += end - start;
        }
    }
    let mut nodes: Vec<(u32, f64)> = times.into_iter().filter(|node| node.1 > 0.0).collect();
    nodes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let all = nodes.len();
    nodes.truncate(LARGEST);
    // By their numbers: children below their parents.
    nodes.sort_by_key(|node| node.0);
    let place: HashMap<u32, usize> = nodes.iter().enumerate().map(|(k, n)| (n.0, k)).collect();
    let mut spans = vec![(Vec::new(), Vec::new()); nodes.len() + 1];
    for piece in subject.pieces() {
        let row = place.get(&piece.task.node).copied();
        let (from, to) = &mut spans[row.unwrap_or(nodes.len())];
        from.push(subject.since_ns(piece.start_ns));
        to.push(subject.since_ns(piece.end_ns));
    }
    let title = "Workers in use by tree node";
    let mut chart = Chart::new(ChartForm::Stack, title, Unit::Count("workers"));
    for (k, (from, to)) in spans.into_iter().enumerate() {
        let steps = Steps::count(from, to);
        let Some(part) = subject.part_of_workers(&steps) else {
            continue;
        };
        let (name, colour) = match nodes.get(k) {
            Some(&(node, _)) => (name(subject, node), palette::series(k)),
            None => (format!("{} others", all - nodes.len()), OTHER),
        };
        let series = Series::new(name, colour, steps);
        chart.series.push(series.noted(percent(part)));
    }
    chart.rules.push(all_workers(subject));
    chart
}

fn name(subject: &Subject<'_>, node: u32) -> String {
    match subject.front(node) {
        Some(front) if front.kind != FrontKind::Tiled => format!("subtree {node}"),
        Some(front) if front.parent.is_none() => format!("node {node} (root)"),
        _ => format!("node {node}"),
    }
}
