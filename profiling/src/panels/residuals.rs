//! Durations of tasks over what their models expect, against their operations: a plot for each codelet and kind of worker.

use super::axis::{percent, plain, si};
use super::facets;
use super::font;
use super::frame::{Form, Frame, Key, mix, sentence};
use super::scatter::{Axes, Point, points, powers, range, short};
use super::scene::{Anchor, GREY, GRID, INK, Scene, Stroke};
use super::subject::Subject;
use super::{Drawing, PanelEntry, PanelOptions};
use crate::models::{Choice, GroupModel};
use crate::palette;
use crate::trace::schema::WorkerKind;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "residuals",
    about: "durations over what the models expect, by codelet and kind of worker",
    drawing: Drawing::Own(paint),
};

/// A task in a plot: its flops, and its duration over the expectation, both as powers of ten.
type Residual = (f64, f64, bool);

fn paint(subject: &Subject<'_>, options: &PanelOptions) -> Scene {
    let title = "Residuals of the task models";
    let tasks = points(subject);
    let mut plots: Vec<(&GroupModel, Vec<Residual>)> = Vec::new();
    for group in &subject.models().groups {
        let mine = tasks
            .iter()
            .filter(|p| p.kind == group.kind && subject.codelet(p.task.codelet) == group.codelet);
        let residual = |p: &Point<'_>| {
            let (flops, ns) = (p.task.flops as f64, 10f64.powf(p.ns));
            let expected = group.expect(flops, ns)?.1.expected_ns;
            Some((p.flops, p.ns - expected.log10(), p.slow))
        };
        let mine: Vec<_> = mine.filter_map(residual).collect();
        if !mine.is_empty() {
            plots.push((group, mine));
        }
    }
    if plots.is_empty() {
        let why = "No codelet has tasks enough for a model.";
        return sentence(subject, options, title, why);
    }
    plots.sort_by_key(|plot| std::cmp::Reverse(plot.1.len()));
    plots.truncate(facets::MOST);
    let interval = format!("{:.0} % interval", 100.0 * subject.models().level);
    let keys = [
        Key::new(Form::Line, INK, "as expected"),
        Key::new(Form::Box, GRID, interval),
        Key::new(Form::Ring, INK, "above it"),
    ];
    let width = f64::from(options.size.map_or(super::WIDTH, |size| size.0));
    let height = facets::height(plots.len(), width - 168.0);
    let mut frame = Frame::new(subject, options, title, height, &keys);
    let ys = plots.iter().flat_map(|plot| plot.1.iter().map(|p| p.1));
    // The same for all plots, and not so little that rounding looks like noise.
    let ys = range(ys.chain([-0.3, 0.3]));
    let area = frame.area;
    let rooms = facets::rooms(area, plots.len());
    let text = "duration over expectation, against floating-point operations of a task";
    let text = facets::left_out(text, plots.len(), rooms.len());
    for ((group, residuals), room) in plots.iter().zip(rooms) {
        let axes = Axes {
            area: room,
            xs: range(residuals.iter().map(|p| p.0)),
            ys,
        };
        plot(&mut frame.scene, group, residuals, &axes);
    }
    let (x, y) = (area.x + 0.5 * area.w, area.bottom() + 16.0);
    frame
        .scene
        .coloured_text(x, y, 11.0, Anchor::Middle, GREY, text);
    frame.scene
}

fn plot(scene: &mut Scene, group: &GroupModel, residuals: &[Residual], axes: &Axes) {
    let area = axes.area;
    scene.group("plot");
    let slow = residuals.iter().filter(|p| p.2).count();
    let kind = match group.kind {
        WorkerKind::Cpu => "",
        WorkerKind::Device => " on devices",
    };
    let model = match group.chosen {
        Choice::Classical => "least squares",
        Choice::Robust => "robust line",
        Choice::Mixture => "two lines",
        _ => "no model",
    };
    let part = percent(slow as f64 / residuals.len() as f64);
    let name = format!("{}{kind}", group.codelet);
    let wide = font::width(&name, 11.0, true);
    scene.bold_text(area.x, area.y - 6.0, 11.0, name);
    let about = format!("{model}, {part} above");
    let about = font::fitted(&about, 10.0, false, area.w - wide + 20.0);
    scene.coloured_text(
        area.x + wide + 6.0,
        area.y - 6.0,
        10.0,
        Anchor::Start,
        GREY,
        about,
    );
    let colour = palette::codelet(&group.codelet);
    for line in group.lines() {
        let bend = |k: usize| axes.xs.0 + (axes.xs.1 - axes.xs.0) * k as f64 / 16.0;
        let half = |k: usize| {
            let half = line.half_width(bend(k) * std::f64::consts::LN_10);
            half / std::f64::consts::LN_10
        };
        let at = |k: usize, sign: f64| {
            let y = (sign * half(k)).clamp(axes.ys.0, axes.ys.1);
            (axes.x(bend(k)), axes.y(y))
        };
        let mut corners: Vec<_> = (0..=16).map(|k| at(k, 1.0)).collect();
        corners.extend((0..=16).rev().map(|k| at(k, -1.0)));
        scene.polygon(corners, GRID, 0.7);
    }
    for v in powers(axes.ys, area.h / 15.0) {
        let y = axes.y(v);
        scene.line((area.x, y), (area.right(), y), Stroke::new(GRID, 0.5));
        let text = format!("× {}", plain(10f64.powf(v)));
        scene.text(area.x - 5.0, y + 3.5, 10.0, Anchor::End, text);
    }
    for v in powers(axes.xs, area.w / 60.0) {
        let label = short(si(10f64.powf(v), ""));
        scene.text(axes.x(v), area.bottom() + 13.0, 10.0, Anchor::Middle, label);
    }
    scene.outline(area, Stroke::new(GREY, 0.6));
    let places = residuals.iter().filter(|p| !p.2).map(|p| (p.0, p.1));
    axes.dots(scene, places, (2.0, colour, 0.6));
    let y = axes.y(0.0);
    let look = Stroke::new(mix(colour, INK, 0.45), 1.3);
    scene.line((area.x, y), (area.right(), y), look);
    let places = residuals.iter().filter(|p| p.2).map(|p| (p.0, p.1));
    axes.marked(scene, places, colour);
}
