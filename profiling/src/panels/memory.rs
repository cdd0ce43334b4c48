//! Bytes of front storage over time, by memory node, with the limit and the peak that a sequential run was predicted to have.

use super::axis::{prefix, si};
use super::frame::{Form, Frame, Key};
use super::scene::{INK, Scene, Stroke};
use super::steps::{Step, line, most};
use super::subject::Subject;
use super::{PanelEntry, PanelOptions};
use crate::palette::Colour;
use std::collections::BTreeMap;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "memory",
    about: "bytes of front storage over time, with limit and predicted sequential peak",
    paint,
};

const HOST: Colour = Colour::new(0x33_22_88);
const LIMIT: Colour = Colour::new(0xCC_33_11);
/// By device.
const DEVICES: [Colour; 4] = [
    Colour::new(0xCC_66_77),
    Colour::new(0x44_AA_99),
    Colour::new(0x99_99_33),
    Colour::new(0x88_22_55),
];

fn paint(subject: &Subject<'_>, options: &PanelOptions) -> Scene {
    let manifest = &subject.trace.manifest;
    let nodes = series(subject);
    let whole = |steps: &[Step]| most(steps, subject.from, subject.to);
    let limit = manifest.run.memory_limit_bytes.map(|b| b as f64);
    let predicted = manifest.predicted("peak_bytes").map(|b| b as f64);
    let mut keys = Vec::new();
    let colour = |node: u16| match node.checked_sub(1) {
        None => HOST,
        Some(device) => DEVICES[usize::from(device) % DEVICES.len()],
    };
    for (node, steps) in &nodes {
        let name = match node.checked_sub(1) {
            None => "host".to_owned(),
            Some(d) => match manifest.run.devices.get(usize::from(d)) {
                Some(name) => name.clone(),
                None => format!("memory node {node}"),
            },
        };
        let text = format!("{name}: at most {}", si(whole(steps), "B"));
        keys.push(Key::new(Form::Line, colour(*node), text));
    }
    if let Some(limit) = limit {
        let text = format!("limit {}", si(limit, "B"));
        keys.push(Key::new(Form::Dashes, LIMIT, text));
    }
    if let Some(peak) = predicted {
        let text = format!("predicted peak of a sequential run {}", si(peak, "B"));
        keys.push(Key::new(Form::Dashes, INK, text));
    }
    let mut frame = Frame::new(subject, options, "Memory of the fronts", 260.0, &keys);
    frame.time_axis();
    let area = frame.area;
    let highest = nodes.iter().map(|(_, steps)| whole(steps));
    let highest = highest.chain(limit).chain(predicted).fold(1.0, f64::max);
    let (letter, scale) = prefix(highest);
    let y = frame.value_axis(area, 1.06 * highest, &format!("{letter}B"), scale);
    let span = (subject.from, subject.to);
    frame.scene.group("memory");
    for (node, steps) in &nodes {
        let points = line(steps, span, |t| frame.x(t), &y);
        if *node == 0 {
            let mut below = points.clone();
            below.push((area.right(), area.bottom()));
            below.push((area.x, area.bottom()));
            frame.scene.polygon(below, HOST, 0.14);
        }
        let look = Stroke::new(colour(*node), 1.3);
        frame.scene.polyline(points, look);
    }
    frame.scene.group("bounds");
    for (bytes, colour) in [(limit, LIMIT), (predicted, INK)] {
        if let Some(bytes) = bytes {
            let look = Stroke::dashed(colour, 1.2, 5.0);
            let at = y(bytes);
            frame.scene.line((area.x, at), (area.right(), at), look);
        }
    }
    frame.marks();
    frame.scene
}

/// Bytes held by each memory node, from the beginning of the run on.
fn series(subject: &Subject<'_>) -> Vec<(u16, Vec<Step>)> {
    let begin = Step {
        at: 0.0,
        value: subject.trace.manifest.run.host_bytes as f64,
    };
    let mut nodes: BTreeMap<u16, Vec<Step>> = BTreeMap::from([(0, vec![begin])]);
    for row in &subject.trace.tables.memory {
        let step = Step {
            at: subject.since(row.time_ns),
            value: row.after_bytes as f64,
        };
        nodes.entry(row.memory_node).or_default().push(step);
    }
    for steps in nodes.values_mut() {
        // Stable: what was counted later at one time stays the last.
        steps.sort_by(|a, b| a.at.total_cmp(&b.at));
    }
    nodes.into_iter().collect()
}
