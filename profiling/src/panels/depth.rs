//! Workers in use over time, by the depth of the tree node they work for: how far from the root the work is.

use super::axis::percent;
use super::frame::{Form, Frame, Key, ramp};
use super::gflops::{Layer, stack, windows};
use super::scene::{GREY, Scene, Stroke};
use super::steps::spread;
use super::subject::Subject;
use super::{PanelEntry, PanelOptions};
use crate::palette::{Colour, OTHER};

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "depth",
    about: "workers in use over time, by the depth of their tree node",
    paint,
};

/// Depths are put together into this many layers at most.
const LAYERS: u32 = 8;

fn paint(subject: &Subject<'_>, options: &PanelOptions) -> Scene {
    let count = windows(f64::from(options.size.map_or(super::WIDTH, |size| size.0)) - 168.0);
    let span = (subject.from, subject.to);
    let depth = |node: u32| subject.front(node).map(|front| front.depth.max(1));
    let depths = subject.tasks().iter().filter_map(|task| depth(task.node));
    let (deepest, highest) = depths.fold((1, u32::MAX), |(d, h), x| (d.max(x), h.min(x)));
    let highest = highest.min(deepest);
    let each = (deepest - highest + 1).div_ceil(LAYERS);
    let layers = (deepest - highest + 1).div_ceil(each) as usize;
    // The last one for tasks of no front.
    let mut sums = vec![vec![0.0; count]; layers + 1];
    for task in subject.tasks() {
        let layer = depth(task.node).map_or(layers, |d| ((d - highest) / each) as usize);
        let (start, end) = subject.span(task);
        if end > start {
            spread(&mut sums[layer], span, (start, end), end - start);
        }
    }
    let width = (span.1 - span.0) / count as f64;
    let colour = |k: usize| -> Colour {
        match k {
            k if k == layers => OTHER,
            // The root is the darkest.
            k => ramp(1.0 - (k as f64 + 0.5) / layers as f64),
        }
    };
    let workers = subject.workers.len() as f64;
    let mut keys = Vec::new();
    let mut out = Vec::new();
    for (k, windows) in sums.into_iter().enumerate() {
        let total: f64 = windows.iter().sum();
        if total <= 0.0 {
            continue;
        }
        let first = highest + k as u32 * each;
        let last = (first + each - 1).min(deepest);
        let name = match (k == layers, first == last) {
            (true, _) => "no tree node".to_owned(),
            (_, true) if first == 1 => "depth 1 (root)".to_owned(),
            (_, true) => format!("depth {first}"),
            _ => format!("{first} to {last}"),
        };
        let part = percent(total / workers / (span.1 - span.0));
        keys.push(Key::new(Form::Box, colour(k), format!("{name}: {part}")));
        out.push(Layer {
            colour: colour(k),
            windows: windows.iter().map(|w| w / width).collect(),
        });
    }
    keys.push(Key::new(Form::Dashes, GREY, "all workers"));
    let title = "Workers in use by depth of the tree";
    let mut frame = Frame::new(subject, options, title, 240.0, &keys);
    frame.time_axis();
    let area = frame.area;
    let most = super::gflops::highest(&out).max(workers);
    let y = frame.value_axis(area, 1.06 * most, "workers", 1.0);
    frame.scene.group("depths");
    stack(&mut frame, &out, &y);
    let look = Stroke::dashed(GREY, 1.0, 4.0);
    frame
        .scene
        .line((area.x, y(workers)), (area.right(), y(workers)), look);
    frame.marks();
    frame.scene
}
