//! The elimination tree itself: the root at the top, the size of a node by its operations, its colour by when it was worked on.
//!
//! A group of small fronts is one node.

use super::axis::{si, time};
use super::frame::{Form, Frame, Key, SMALL, ramp};
use super::scene::{Anchor, GREY, INK, Scene, Stroke};
use super::subject::Subject;
use super::{Drawing, PanelEntry, PanelOptions};
use crate::palette::OTHER;
use std::collections::{BTreeMap, HashMap, HashSet};

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "shape",
    about: "the elimination tree itself: size by operations, colour by time",
    drawing: Drawing::Own(paint),
};

/// Largest radius of a node.
const LARGEST: f64 = 20.0;

#[derive(Default)]
pub(crate) struct Node {
    pub parent: Option<u32>,
    pub flops: f64,
    /// Sum of task times, and of the same times the middle of the task: their quotient is when it was worked on.
    pub weight: f64,
    pub moment: f64,
    pub level: usize,
    /// From 0 to the number of leaves.
    pub x: f64,
}

fn paint(subject: &Subject<'_>, options: &PanelOptions) -> Scene {
    let (nodes, leaves) = tree(subject);
    let depth = nodes.values().map(|node| node.level).max().unwrap_or(0) + 1;
    let middle = 0.5 * (subject.from + subject.to);
    let most = nodes.values().map(|node| node.flops).fold(1.0, f64::max);
    let key = |part: f64| {
        let at = subject.from + part * (subject.to - subject.from);
        let text = match part {
            0.0 => "worked on at the beginning".to_owned(),
            _ => time(at),
        };
        Key::new(Form::Dot, when(part), text)
    };
    let keys = [
        key(0.0),
        Key::new(Form::Dot, when(0.5), time(middle)),
        key(1.0),
        Key::new(Form::Dot, OTHER, "not at all"),
    ];
    let height = (depth as f64 * 52.0).clamp(220.0, 760.0);
    let title = "Elimination tree: area by operations, colour by time";
    let mut frame = Frame::new(subject, options, title, height, &keys);
    let area = frame.area;
    let level = area.h / depth as f64;
    let x = |node: &Node| area.x + node.x / leaves.max(1) as f64 * area.w;
    let y = |node: &Node| area.y + (node.level as f64 + 0.5) * level;
    // Not wider than the place of a leaf allows, if all were as large; nor higher than a level.
    let largest = LARGEST.min(0.45 * level);
    frame.scene.group("edges");
    let mut seen = HashSet::new();
    for node in nodes.values() {
        let Some(parent) = node.parent.and_then(|parent| nodes.get(&parent)) else {
            continue;
        };
        let (from, to) = ((x(node), y(node)), (x(parent), y(parent)));
        // Edges that would lie on each other are one.
        if seen.insert((from.0 as i64, node.level, (to.0 / 2.0) as i64)) {
            frame.scene.line(from, to, Stroke::new(OTHER, 0.7));
        }
    }
    frame.scene.group("nodes");
    let mut order: Vec<_> = nodes.iter().collect();
    // The small ones above the large ones.
    order.sort_by(|a, b| b.1.flops.total_cmp(&a.1.flops));
    let mut seen = HashSet::new();
    let mut named = Vec::new();
    for (number, node) in order {
        let r = (largest * (node.flops / most).sqrt()).max(1.2);
        let (x, y) = (x(node), y(node));
        if !seen.insert(((x / 1.5) as i64, node.level)) {
            continue;
        }
        let colour = match node.weight > 0.0 {
            true => {
                let at = node.moment / node.weight;
                when((at - subject.from) / (subject.to - subject.from))
            }
            false => OTHER,
        };
        frame.scene.dot((x, y), r + 0.5, INK, 1.0);
        frame.scene.dot((x, y), r, colour, 1.0);
        if named.len() < 6 {
            named.push((x, y, r, *number, node.flops));
        }
    }
    frame.scene.group("names");
    let mut placed: Vec<(f64, f64)> = Vec::new();
    for (x, y, r, number, flops) in named {
        let text = format!("{number}: {}", si(flops, "flop"));
        let at = (x + r + 4.0, y + 4.0);
        let near =
            |other: &(f64, f64)| (other.0 - at.0).abs() < 120.0 && (other.1 - at.1).abs() < 12.0;
        if at.0 + 110.0 < frame.scene.width && !placed.iter().any(near) {
            frame
                .scene
                .coloured_text(at.0, at.1, SMALL, Anchor::Start, INK, text);
            placed.push(at);
        }
    }
    frame.scene.group("axis");
    let text = match nodes.len() {
        1 => "1 node".to_owned(),
        n => format!("{n} nodes, {leaves} of them leaves"),
    };
    let (middle, below) = (area.x + 0.5 * area.w, area.bottom() + 20.0);
    frame
        .scene
        .coloured_text(middle, below, SMALL, Anchor::Middle, GREY, text);
    frame.scene
}

fn when(part: f64) -> crate::palette::Colour {
    ramp(0.1 + 0.9 * part.clamp(0.0, 1.0))
}

/// The nodes that tasks can belong to, with their places, and the number of leaves.
pub(crate) fn tree(subject: &Subject<'_>) -> (BTreeMap<u32, Node>, usize) {
    let fronts = &subject.trace.tables.fronts;
    let task_node: HashMap<u32, u32> = fronts.iter().map(|f| (f.node, f.task_node)).collect();
    let known = |node: u32| match task_node.get(&node) {
        // A group whose top is not there has no other name than the front's own.
        Some(top) if task_node.contains_key(top) => *top,
        _ => node,
    };
    let mut nodes: BTreeMap<u32, Node> = BTreeMap::new();
    for front in fronts {
        let me = known(front.node);
        let node = nodes.entry(me).or_default();
        node.flops += front.flops as f64;
        if front.node == me {
            let parent = front.parent.map(known);
            // As of all fronts: parents come later.
            node.parent = parent.filter(|parent| *parent > me);
        }
    }
    for task in subject.tasks() {
        let node = nodes.entry(task.node).or_default();
        if let Some((start, end)) = subject.visible(subject.span(task)) {
            let weight = (end - start).max(1.0);
            node.weight += weight;
            node.moment += weight * 0.5 * (start + end);
        }
    }
    // Parents have larger numbers: downwards from the root for levels, upwards from the leaves for places.
    let numbers: Vec<u32> = nodes.keys().copied().collect();
    for number in numbers.iter().rev() {
        let parent = nodes[number].parent;
        let level = parent.and_then(|p| nodes.get(&p)).map(|p| p.level + 1);
        if let Some(node) = nodes.get_mut(number) {
            node.level = level.unwrap_or(0);
        }
    }
    let mut spans: HashMap<u32, (f64, f64)> = HashMap::new();
    let mut leaves = 0;
    for number in &numbers {
        let (low, high) = spans.get(number).copied().unwrap_or_else(|| {
            leaves += 1;
            (leaves as f64 - 0.5, leaves as f64 - 0.5)
        });
        let Some(node) = nodes.get_mut(number) else {
            continue;
        };
        node.x = 0.5 * (low + high);
        let (x, parent) = (node.x, node.parent);
        if let Some(parent) = parent {
            let span = spans.entry(parent).or_insert((x, x));
            *span = (span.0.min(x), span.1.max(x));
        }
    }
    (nodes, leaves)
}
