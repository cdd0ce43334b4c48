//! One group of tasks, those of a codelet on one kind of worker: its models, and which one is taken.
//!
//! Takes flops and durations; gives a [`GroupModel`]. Knows no trace.

use super::choose::{Choice, Diagnostics, choose};
use super::line::{Interval, Line, Point};
use super::mixture::Mixture;
use super::{mixture, robust};
use crate::trace::schema::WorkerKind;
use serde::{Deserialize, Serialize};

/// Fewer tasks give no model.
pub const FEWEST: usize = 5;
/// Fewer give no robust line: lines through two of so few points fit too well.
pub(super) const FEWEST_ROBUST: usize = 10;
/// Fewer give no second line.
const FEWEST_MIXTURE: usize = 20;

/// The models of one codelet on one kind of worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupModel {
    /// Name of the codelet.
    pub codelet: String,
    /// Where it ran.
    #[serde(with = "super::kind_name")]
    pub kind: WorkerKind,
    /// Tasks with flops and a duration above zero: those that were modelled.
    pub tasks: u64,
    /// Tasks with flops and a duration of zero, shorter than the clock can tell. They are in no model and never anomalous.
    pub unmeasurable: u64,
    /// Smallest and largest flops of a task; `None` for no tasks.
    pub flops: Option<(u64, u64)>,
    /// The model that is taken.
    pub chosen: Choice,
    /// Why, in one sentence.
    pub why: String,
    /// What it was chosen by; `None` without a model.
    pub diagnostics: Option<Diagnostics>,
    /// `None` for too few tasks, here and below.
    pub classical: Option<Line>,
    /// MM-regression.
    pub robust: Option<Line>,
    /// One or two lines.
    pub mixture: Option<Mixture>,
}

impl GroupModel {
    /// The lines of the chosen model: none, one or two.
    pub fn lines(&self) -> Vec<Line> {
        match (self.chosen, &self.mixture) {
            (Choice::Mixture, Some(m)) => m.clusters.iter().map(|c| c.line).collect(),
            (Choice::Robust, _) => self.robust.into_iter().collect(),
            (Choice::Classical, _) => self.classical.into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// What each line of the chosen model expects of a task of so many flops; nothing for 0 flops.
    pub fn predict(&self, flops: f64) -> Vec<Interval> {
        if flops > 0.0 && flops.is_finite() {
            self.lines().iter().map(|line| line.at(flops)).collect()
        } else {
            Vec::new()
        }
    }

    /// The line of the chosen model that such a task belongs to, by its number in [`lines`](Self::lines), and what that expects
    /// of it. `None` without a model, and for a task without flops or duration.
    pub fn expect(&self, flops: f64, duration_ns: f64) -> Option<(usize, Interval)> {
        if !(flops > 0.0 && duration_ns > 0.0) {
            return None;
        }
        let lines = self.lines();
        let cluster = match &self.mixture {
            Some(m) if lines.len() > 1 => m.assign(flops, duration_ns),
            _ => 0,
        };
        Some((cluster, lines.get(cluster)?.at(flops)))
    }

    /// For each point the number of its line, where it is above that line's interval of this level. O(n).
    pub(super) fn above(&self, points: &[Point], level: f64) -> Vec<Option<usize>> {
        let own = self.lines();
        let lines: Vec<Line> = own.iter().map(|line| line.at_level(level)).collect();
        let test = |p: &Point| {
            let cluster = match &self.mixture {
                Some(m) if lines.len() > 1 => m.label(p),
                _ => 0,
            };
            lines.get(cluster)?.is_below(p).then_some(cluster)
        };
        points.iter().map(test).collect()
    }
}

/// What belongs to a group.
pub(super) struct Members<'a> {
    pub codelet: &'a str,
    pub kind: WorkerKind,
    pub points: &'a [Point],
    pub flops: Option<(u64, u64)>,
    pub unmeasurable: u64,
}

/// All models. O(n), and O(n log n) for n up to 10 000.
pub(super) fn fit(members: &Members<'_>, level: f64) -> GroupModel {
    let points = members.points;
    let n = points.len();
    let mut out = GroupModel {
        codelet: members.codelet.to_owned(),
        kind: members.kind,
        tasks: n as u64,
        unmeasurable: members.unmeasurable,
        flops: members.flops,
        chosen: Choice::TooFew,
        why: String::new(),
        diagnostics: None,
        classical: None,
        robust: None,
        mixture: None,
    };
    if members.unmeasurable > n as u64 {
        out.chosen = Choice::BelowClock;
        out.why = format!(
            "no model: {} of {} tasks are shorter than the clock can tell",
            members.unmeasurable,
            members.unmeasurable + n as u64
        );
        return out;
    }
    if n < FEWEST {
        out.why = format!("no model: {n} tasks, {FEWEST} are needed");
        return out;
    }
    let classical = Line::classical(points, level);
    out.classical = Some(classical);
    out.robust = (n >= FEWEST_ROBUST).then(|| robust::fit(points, level));
    out.mixture = (n >= FEWEST_MIXTURE).then(|| mixture::fit(points, level));
    let robust = out.robust.as_ref();
    let d = Diagnostics::of(points, &classical, robust, out.mixture.as_ref());
    (out.chosen, out.why) = choose(n, &d, robust.is_some(), out.mixture.as_ref());
    if classical.flat {
        out.why += "; all tasks have the same flops";
    }
    out.diagnostics = Some(d);
    out
}
