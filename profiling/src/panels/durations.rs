//! Durations of tasks against their operations, both in powers of ten, by codelet, with lines of equal speed.

use super::axis::{si, time};
use super::font;
use super::frame::{Form, Frame, Key, SMALL};
use super::scene::{Anchor, Area, GREY, GRID, Scene, Stroke};
use super::subject::Subject;
use super::{Drawing, PanelEntry, PanelOptions};
use std::collections::HashSet;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "durations",
    about: "durations of tasks against their operations, by codelet, with lines of equal speed",
    drawing: Drawing::Own(paint),
};

/// Dots of one codelet closer than this are one.
const CELL: f64 = 2.0;

fn paint(subject: &Subject<'_>, options: &PanelOptions) -> Scene {
    // Since flops may be few and a clock coarse: nothing below one.
    let point = |task: &&crate::trace::schema::Task| {
        let (start, end) = subject.span(task);
        let inside = subject.visible((start, end)).is_some();
        (inside && task.flops > 0)
            .then(|| ((task.flops as f64).log10(), (end - start).max(1.0).log10()))
    };
    let tasks: Vec<_> = subject
        .tasks()
        .iter()
        .filter_map(|task| Some((task, point(&task)?)))
        .collect();
    let mut used: Vec<u16> = tasks.iter().map(|(task, _)| task.codelet).collect();
    used.sort_unstable();
    used.dedup();
    let mut keys: Vec<Key> = used
        .iter()
        .map(|&c| Key::new(Form::Dot, subject.colour(c), subject.codelet(c)))
        .collect();
    keys.push(Key::new(Form::Line, GREY, "equal speed"));
    let title = "Durations of tasks that compute";
    let mut frame = Frame::new(subject, options, title, 460.0, &keys);
    let area = frame.area;
    let ends = |of: fn(&(f64, f64)) -> f64| {
        let values = tasks.iter().map(|(_, p)| of(p));
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        // A little air, and at least a factor of ten.
        match low <= high {
            true => {
                let air = (0.04 * (high - low)).max(0.5 * (1.0 - (high - low)));
                (low - air, high + air)
            }
            false => (0.0, 1.0),
        }
    };
    let (xs, ys) = (ends(|p| p.0), ends(|p| p.1));
    let x = |v: f64| area.x + (v - xs.0) / (xs.1 - xs.0) * area.w;
    let y = |v: f64| area.bottom() - (v - ys.0) / (ys.1 - ys.0) * area.h;
    axes(&mut frame.scene, area, xs, ys);
    speeds(&mut frame.scene, area, xs, ys);
    frame.scene.group("tasks");
    let marked = |task: u32| options.marked.contains(&task);
    for codelet in used {
        let mut seen: HashSet<(i64, i64)> = HashSet::new();
        let opacity = if options.marked.is_empty() {
            0.65
        } else {
            0.25
        };
        for (_, p) in tasks.iter().filter(|(task, _)| task.codelet == codelet) {
            let at = (x(p.0), y(p.1));
            if seen.insert(((at.0 / CELL) as i64, (at.1 / CELL) as i64)) {
                let colour = subject.colour(codelet);
                frame.scene.dot(at, 2.0, colour, opacity);
            }
        }
    }
    let mut seen: HashSet<(i64, i64)> = HashSet::new();
    for (task, p) in tasks.iter().filter(|(task, _)| marked(task.task)) {
        let at = (x(p.0), y(p.1));
        if seen.insert(((at.0 / CELL) as i64, (at.1 / CELL) as i64)) {
            frame.scene.dot(at, 3.0, subject.colour(task.codelet), 1.0);
        }
    }
    if tasks.is_empty() {
        let (x, y) = (area.x + 0.5 * area.w, area.y + 0.5 * area.h);
        let text = "no task with floating-point operations";
        frame
            .scene
            .coloured_text(x, y, 12.0, Anchor::Middle, GREY, text);
    }
    frame.scene
}

/// Powers of ten; small lines at 2 and 5 times where there are few.
fn axes(scene: &mut Scene, area: Area, xs: (f64, f64), ys: (f64, f64)) {
    scene.group("axes");
    let x = |v: f64| area.x + (v - xs.0) / (xs.1 - xs.0) * area.w;
    let y = |v: f64| area.bottom() - (v - ys.0) / (ys.1 - ys.0) * area.h;
    for v in powers(xs, area.w / 70.0) {
        let look = Stroke::new(GRID, 0.6);
        scene.line((x(v), area.y), (x(v), area.bottom()), look);
        let label = short(si(10f64.powf(v), ""));
        scene.text(x(v), area.bottom() + 16.0, SMALL, Anchor::Middle, label);
    }
    for v in powers(ys, area.h / 24.0) {
        let look = Stroke::new(GRID, 0.6);
        scene.line((area.x, y(v)), (area.right(), y(v)), look);
        let label = short(time(10f64.powf(v)));
        scene.text(area.x - 7.0, y(v) + 4.0, SMALL, Anchor::End, label);
    }
    scene.outline(area, Stroke::new(GREY, 0.8));
    let (middle, below) = (area.x + 0.5 * area.w, area.bottom() + 33.0);
    let text = "floating-point operations of a task";
    scene.coloured_text(middle, below, SMALL, Anchor::Middle, GREY, text);
    scene.coloured_text(16.0, area.y - 5.0, SMALL, Anchor::Start, GREY, "duration");
}

/// `1.00 k` is `1 k`.
fn short(text: String) -> String {
    let text = text.replace(".00 ", " ").replace(".0 ", " ");
    text.trim_end().to_owned()
}

/// Logarithms of 1, 2 and 5 times powers of ten, or of every n-th power where that would be too many.
fn powers((low, high): (f64, f64), most: f64) -> Vec<f64> {
    let within = |v: &f64| (low..=high).contains(v);
    let whole = |every: i64| -> Vec<f64> {
        let range = (low.floor() as i64)..=(high.ceil() as i64);
        let kept = range.filter(|k| k % every == 0).map(|k| k as f64);
        kept.filter(within).collect()
    };
    if 3.0 * (high - low) <= most {
        let fine = (low.floor() as i64..=high.ceil() as i64)
            .flat_map(|k| [1.0, 2.0, 5.0].map(|f: f64| k as f64 + f.log10()));
        return fine.filter(within).collect();
    }
    let fits = |every: &i64| whole(*every).len() as f64 <= most;
    whole((1..20).find(fits).unwrap_or(20))
}

/// Lines of equal speed, with names at their upper or right ends.
fn speeds(scene: &mut Scene, area: Area, xs: (f64, f64), ys: (f64, f64)) {
    scene.group("speeds");
    let x = |v: f64| area.x + (v - xs.0) / (xs.1 - xs.0) * area.w;
    let y = |v: f64| area.bottom() - (v - ys.0) / (ys.1 - ys.0) * area.h;
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
        let end = (x(right), y(right - speed));
        scene.line((x(left), y(left - speed)), end, look);
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
