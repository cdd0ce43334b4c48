//! Durations of tasks against their operations, both in powers of ten, by codelet, with the lines of their models and those of equal
//! speed.

use super::axis::{si, time};
use super::font;
use super::frame::{Form, Frame, Key, SMALL, mix, sentence};
use super::scatter::{Axes, points, range, short};
use super::scene::{Anchor, GREY, INK, Scene, Stroke};
use super::subject::Subject;
use super::{Drawing, PanelEntry, PanelOptions};
use crate::palette;
use crate::trace::schema::WorkerKind;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "durations",
    about: "durations of tasks against their operations, with models, intervals and outliers",
    drawing: Drawing::Own(paint),
};

/// Points of a line that may bend.
const BENDS: usize = 24;

fn paint(subject: &Subject<'_>, options: &PanelOptions) -> Scene {
    let title = "Durations of tasks that compute";
    let tasks = points(subject);
    if tasks.is_empty() {
        let why = "No task here has floating-point operations.";
        return sentence(subject, options, title, why);
    }
    let mut used: Vec<u16> = tasks.iter().map(|p| p.task.codelet).collect();
    used.sort_unstable();
    used.dedup();
    let mut keys: Vec<Key> = used
        .iter()
        .map(|&c| Key::new(Form::Dot, subject.colour(c), subject.codelet(c)))
        .collect();
    let slow = tasks.iter().filter(|p| p.slow).count();
    let models = subject.models();
    let lines: usize = models.groups.iter().map(|group| group.lines().len()).sum();
    if lines > 0 {
        let text = format!("model, with its {:.0} % interval", 100.0 * models.level);
        keys.push(Key::new(Form::Line, INK, text));
    }
    if lines > 0 && subject.workers.iter().any(|worker| worker.is_device) {
        keys.push(Key::new(Form::Dashes, INK, "model of devices"));
    }
    if slow > 0 {
        let text = format!("above it: {slow}");
        keys.push(Key::new(Form::Ring, INK, text));
    }
    keys.push(Key::new(Form::Line, GREY, "equal speed"));
    let mut frame = Frame::new(subject, options, title, 460.0, &keys);
    let area = frame.area;
    let axes = Axes {
        area,
        xs: range(tasks.iter().map(|p| p.flops)),
        ys: range(tasks.iter().map(|p| p.ns)),
    };
    let scene = &mut frame.scene;
    axes.draw(scene, time);
    let (middle, below) = (area.x + 0.5 * area.w, area.bottom() + 33.0);
    let text = "floating-point operations of a task";
    scene.coloured_text(middle, below, SMALL, Anchor::Middle, GREY, text);
    scene.coloured_text(16.0, area.y - 5.0, SMALL, Anchor::Start, GREY, "duration");
    speeds(scene, &axes);
    intervals(scene, subject, &axes);
    scene.group("tasks");
    for &codelet in &used {
        let mine = tasks.iter().filter(|p| p.task.codelet == codelet);
        let places = mine.filter(|p| !p.slow).map(|p| (p.flops, p.ns));
        // Few are drawn so that they are seen, many so that they do not hide each other.
        let (r, opacity) = if tasks.len() < 100 {
            (3.5, 0.9)
        } else {
            (2.0, 0.5)
        };
        axes.dots(scene, places, (r, subject.colour(codelet), opacity));
    }
    models_of(scene, subject, &axes);
    scene.group("outliers");
    for &codelet in &used {
        let mine = tasks.iter().filter(|p| p.task.codelet == codelet);
        let places = mine.filter(|p| p.slow).map(|p| (p.flops, p.ns));
        axes.marked(scene, places, subject.colour(codelet));
    }
    frame.scene
}

/// Positions along the flops of a group, within the axes.
fn along(flops: (u64, u64), axes: &Axes) -> impl Iterator<Item = f64> {
    let low = (flops.0.max(1) as f64).log10().max(axes.xs.0);
    let high = (flops.1.max(1) as f64).log10().min(axes.xs.1);
    // A group whose tasks are all of one size has a line too.
    let (low, high) = match high - low {
        w if w < 0.02 => (low - 0.03, high + 0.03),
        _ => (low, high),
    };
    (0..=BENDS).map(move |k| low + (high - low) * k as f64 / BENDS as f64)
}

/// From the lower to the upper limit of each line, as far as the page goes.
fn intervals(scene: &mut Scene, subject: &Subject<'_>, axes: &Axes) {
    scene.group("intervals");
    for group in &subject.models().groups {
        let Some(flops) = group.flops else { continue };
        for line in group.lines() {
            let limit = |ns: f64| axes.y(ns.max(1e-9).log10().clamp(axes.ys.0, axes.ys.1));
            let x = |v: f64| axes.x(v.clamp(axes.xs.0, axes.xs.1));
            let at = |v: f64| line.at(10f64.powf(v));
            let mut corners: Vec<_> = (along(flops, axes))
                .map(|v| (x(v), limit(at(v).upper_ns)))
                .collect();
            let lower = along(flops, axes).map(|v| (x(v), limit(at(v).lower_ns)));
            let lower: Vec<_> = lower.collect();
            corners.extend(lower.into_iter().rev());
            let colour = palette::codelet(&group.codelet);
            scene.polygon(corners, colour, 0.10);
        }
    }
}

/// The middle of each line.
fn models_of(scene: &mut Scene, subject: &Subject<'_>, axes: &Axes) {
    scene.group("models");
    for group in &subject.models().groups {
        let Some(flops) = group.flops else { continue };
        for line in group.lines() {
            let place = |v: f64| {
                let ns = line.at(10f64.powf(v)).expected_ns.max(1e-9).log10();
                let inside = (axes.ys.0..=axes.ys.1).contains(&ns);
                let inside = inside && (axes.xs.0..=axes.xs.1).contains(&v);
                inside.then(|| (axes.x(v), axes.y(ns)))
            };
            let places: Vec<_> = along(flops, axes).filter_map(place).collect();
            let colour = mix(palette::codelet(&group.codelet), INK, 0.45);
            let look = match group.kind {
                WorkerKind::Cpu => Stroke::new(colour, 1.6),
                WorkerKind::Device => Stroke::dashed(colour, 1.6, 5.0),
            };
            scene.polyline(places, look);
        }
    }
}

/// Lines of equal speed, with names at their upper or right ends.
fn speeds(scene: &mut Scene, axes: &Axes) {
    scene.group("speeds");
    let (area, xs, ys) = (axes.area, axes.xs, axes.ys);
    // log flops - log ns = log of GFlop/s.
    let mut last = f64::NEG_INFINITY;
    for power in (xs.0 - ys.1).ceil() as i64..=(xs.1 - ys.0).floor() as i64 {
        let speed = power as f64;
        let left = xs.0.max(ys.0 + speed);
        let right = xs.1.min(ys.1 + speed);
        if right - left < 0.05 * (xs.1 - xs.0) {
            continue;
        }
        let look = Stroke::new(GREY, 0.5);
        let end = (axes.x(right), axes.y(right - speed));
        scene.line((axes.x(left), axes.y(left - speed)), end, look);
        let label = short(si(10f64.powf(speed + 9.0), "Flop/s"));
        // At the right edge, or below the upper one.
        if end.0 > area.right() - 1.0 {
            let wide = font::width(&label, 10.0, false);
            if area.right() + 6.0 + wide <= scene.width {
                scene.coloured_text(end.0 + 6.0, end.1 + 3.0, 10.0, Anchor::Start, GREY, label);
            }
        } else if end.0 > last && end.0 + 90.0 < area.right() {
            let (x, y) = (end.0 + 4.0, area.y + 12.0);
            last = x + font::width(&label, 10.0, false);
            scene.coloured_text(x, y, 10.0, Anchor::Start, GREY, label);
        }
    }
}
