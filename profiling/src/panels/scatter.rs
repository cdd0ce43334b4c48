//! Tasks as dots, against their operations: what the panels of models share.
//!
//! Takes a subject; gives its tasks that compute as points in powers of ten, and axes for them.

use super::axis::si;
use super::frame::SMALL;
use super::scene::{Anchor, Area, GREY, GRID, INK, PAPER, Scene, Stroke};
use super::subject::Subject;
use crate::palette::Colour;
use crate::trace::schema::{Task, WorkerKind};
use std::collections::{HashMap, HashSet};

/// Dots of one colour closer than this are one.
const CELL: f64 = 2.0;

/// A task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<'t> {
    pub task: &'t Task,
    pub kind: WorkerKind,
    /// Logarithm to base 10 of its operations.
    pub flops: f64,
    /// And of its nanoseconds.
    pub ns: f64,
    /// It took longer than its model's limit.
    pub slow: bool,
}

/// The tasks that compute in what is drawn.
pub(super) fn points<'t>(subject: &Subject<'t>) -> Vec<Point<'t>> {
    let slow = subject.models().anomalies().iter().map(|a| a.task);
    let slow: HashSet<u32> = slow.collect();
    let workers = subject.trace.tables.workers.iter();
    let kinds: HashMap<u16, WorkerKind> = workers.map(|w| (w.worker, w.kind)).collect();
    let point = |task: &'t Task| {
        let (start, end) = subject.span(task);
        let inside = subject.visible((start, end)).is_some();
        (inside && task.flops > 0).then(|| Point {
            task,
            kind: kinds.get(&task.worker).copied().unwrap_or(WorkerKind::Cpu),
            flops: (task.flops as f64).log10(),
            // A clock may be coarse: nothing below one.
            ns: (end - start).max(1.0).log10(),
            slow: slow.contains(&task.task),
        })
    };
    subject.tasks().iter().filter_map(point).collect()
}

/// Both axes in powers of ten.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axes {
    pub area: Area,
    pub xs: (f64, f64),
    pub ys: (f64, f64),
}

/// From the smallest to the largest, with a little air, and at least a factor of ten.
pub(super) fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    match low <= high {
        true => {
            let air = (0.04 * (high - low)).max(0.5 * (1.0 - (high - low)));
            (low - air, high + air)
        }
        false => (0.0, 1.0),
    }
}

impl Axes {
    pub fn x(&self, v: f64) -> f64 {
        self.area.x + (v - self.xs.0) / (self.xs.1 - self.xs.0) * self.area.w
    }

    pub fn y(&self, v: f64) -> f64 {
        self.area.bottom() - (v - self.ys.0) / (self.ys.1 - self.ys.0) * self.area.h
    }

    /// Lines and labels: operations below, at the left what `label` says of a power of ten.
    pub fn draw(&self, scene: &mut Scene, label: impl Fn(f64) -> String) {
        let area = self.area;
        scene.group("axes");
        for v in powers(self.xs, area.w / 70.0) {
            let look = Stroke::new(GRID, 0.6);
            scene.line((self.x(v), area.y), (self.x(v), area.bottom()), look);
            let label = short(si(10f64.powf(v), ""));
            let below = area.bottom() + 16.0;
            scene.text(self.x(v), below, SMALL, Anchor::Middle, label);
        }
        for v in powers(self.ys, area.h / 24.0) {
            let look = Stroke::new(GRID, 0.6);
            scene.line((area.x, self.y(v)), (area.right(), self.y(v)), look);
            let (at, label) = (self.y(v) + 4.0, short(label(10f64.powf(v))));
            scene.text(area.x - 7.0, at, SMALL, Anchor::End, label);
        }
        scene.outline(area, Stroke::new(GREY, 0.8));
    }

    /// Dots of one colour, those that would lie on each other as one.
    pub fn dots(
        &self,
        scene: &mut Scene,
        points: impl Iterator<Item = (f64, f64)>,
        (r, colour, opacity): (f64, Colour, f64),
    ) {
        let mut seen = HashSet::new();
        for at in self.apart(points, &mut seen) {
            scene.dot(at, r, colour, opacity);
        }
    }

    /// Larger dots with a dark edge: what is to be seen.
    pub fn marked(
        &self,
        scene: &mut Scene,
        points: impl Iterator<Item = (f64, f64)>,
        colour: Colour,
    ) {
        let mut seen = HashSet::new();
        for at in self.apart(points, &mut seen) {
            scene.dot(at, 3.6, INK, 1.0);
            scene.dot(at, 2.8, PAPER, 1.0);
            scene.dot(at, 2.3, colour, 1.0);
        }
    }

    fn apart(
        &self,
        points: impl Iterator<Item = (f64, f64)>,
        seen: &mut HashSet<(i64, i64)>,
    ) -> Vec<(f64, f64)> {
        let places = points.map(|(x, y)| (self.x(x), self.y(y)));
        let mut fresh = |at: &(f64, f64)| seen.insert(((at.0 / CELL) as i64, (at.1 / CELL) as i64));
        places.filter(|at| fresh(at)).collect()
    }
}

/// `1.00 k` is `1 k`.
pub(super) fn short(text: String) -> String {
    let text = text.replace(".00 ", " ").replace(".0 ", " ");
    text.trim_end().to_owned()
}

/// Logarithms of 1, 2 and 5 times powers of ten, or of every n-th power where that would be too many.
pub(super) fn powers((low, high): (f64, f64), most: f64) -> Vec<f64> {
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
