//! Floating-point operations per second over time, by codelet.

use super::axis::{prefix, si};
use super::frame::{Form, Frame, Key};
use super::scene::{INK, Scene, Stroke};
use super::steps::spread;
use super::subject::Subject;
use super::{PanelEntry, PanelOptions};
use crate::palette::Colour;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "gflops",
    about: "floating-point operations per second over time, by codelet",
    paint,
};

/// Layers on top of each other in windows of one width.
pub(super) struct Layer {
    pub colour: Colour,
    pub windows: Vec<f64>,
}

/// Windows across `width` units of the page: each is wide enough to be seen.
pub(super) fn windows(width: f64) -> usize {
    (width / 4.0).max(1.0) as usize
}

fn paint(subject: &Subject<'_>, options: &PanelOptions) -> Scene {
    let count = windows(f64::from(options.size.map_or(super::WIDTH, |size| size.0)) - 168.0);
    let span = (subject.from, subject.to);
    let used = subject.used();
    let mut layers: Vec<(u16, Vec<f64>)> =
        used.iter().map(|(c, _)| (*c, vec![0.0; count])).collect();
    let mut flops = 0.0;
    for task in subject.tasks().iter().filter(|task| task.flops > 0) {
        let (start, end) = subject.span(task);
        // A task without length counts where it is.
        let end = end.max(start + 1.0);
        let Some((a, b)) = subject.visible((start, end)) else {
            continue;
        };
        flops += task.flops as f64 * (b - a) / (end - start);
        if let Some((_, windows)) = layers.iter_mut().find(|(c, _)| *c == task.codelet) {
            spread(windows, span, (start, end), task.flops as f64);
        }
    }
    layers.retain(|(_, windows)| windows.iter().any(|&w| w > 0.0));
    let width = (span.1 - span.0) / count as f64;
    let mean = flops / (span.1 - span.0) * 1e9;
    let mut keys: Vec<Key> = layers
        .iter()
        .map(|(c, _)| Key::new(Form::Box, subject.colour(*c), subject.codelet(*c)))
        .collect();
    keys.push(Key::new(
        Form::Dashes,
        INK,
        format!("mean {}", si(mean, "Flop/s")),
    ));
    let layers: Vec<Layer> = layers
        .into_iter()
        .map(|(codelet, windows)| Layer {
            colour: subject.colour(codelet),
            windows: windows.iter().map(|w| w / width * 1e9).collect(),
        })
        .collect();
    let mut frame = Frame::new(subject, options, "Speed", 260.0, &keys);
    frame.time_axis();
    let area = frame.area;
    let highest = highest(&layers).max(mean).max(1.0);
    let (letter, scale) = prefix(highest);
    let y = frame.value_axis(area, 1.06 * highest, &format!("{letter}Flop/s"), scale);
    frame.scene.group("speed");
    stack(&mut frame, &layers, &y);
    let look = Stroke::dashed(INK, 1.2, 5.0);
    frame
        .scene
        .line((area.x, y(mean)), (area.right(), y(mean)), look);
    frame.marks();
    frame.scene
}

/// The largest sum of all layers in one window.
pub(super) fn highest(layers: &[Layer]) -> f64 {
    let count = layers.first().map_or(0, |layer| layer.windows.len());
    let sum = |k: usize| layers.iter().map(|layer| layer.windows[k]).sum();
    (0..count).map(sum).fold(0.0, f64::max)
}

/// Draws layers on top of each other, the first lowest, as steps.
pub(super) fn stack(frame: &mut Frame<'_, '_>, layers: &[Layer], y: impl Fn(f64) -> f64) {
    let Some(first) = layers.first() else { return };
    let count = first.windows.len();
    let area = frame.area;
    let x = |k: usize| area.x + area.w * k as f64 / count as f64;
    let mut below = vec![0.0; count];
    for layer in layers {
        let mut points = Vec::with_capacity(4 * count);
        let mut above = below.clone();
        for (k, value) in layer.windows.iter().enumerate() {
            above[k] += value;
            points.push((x(k), y(above[k])));
            points.push((x(k + 1), y(above[k])));
        }
        for k in (0..count).rev() {
            points.push((x(k + 1), y(below[k])));
            points.push((x(k), y(below[k])));
        }
        frame.scene.polygon(points, layer.colour, 1.0);
        below = above;
    }
}
