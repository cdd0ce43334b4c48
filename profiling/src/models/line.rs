//! One line log D = a + b log G with its prediction interval, by classical least squares.
//!
//! Takes points (log flops, log nanoseconds), possibly with weights; gives a [`Line`]. Knows no task.
//!
//! The form is that of *Performance Analysis of Task-Based Multi-Frontal Sparse Linear Solvers: Structure Matters*: with n tasks,
//! x = log G, S_xx the sum of (x - mean)^2 and s the residual standard deviation,
//!
//! ```text
//!   lower, upper = exp( a + b x  -+  t s sqrt(1 + 1/n + (x - mean)^2 / S_xx) )       t = t((1 + level) / 2, n - 2)
//! ```
//!
//! Where all tasks have the same flops there is no b: D is log-normal around one value, t has n - 1 degrees of freedom, and
//! the term in S_xx is not there.

use super::quantiles::student_t;
use serde::{Deserialize, Serialize};

/// A task in the models' eyes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// Logarithm of its flops.
    pub x: f64,
    /// Logarithm of its duration in nanoseconds.
    pub y: f64,
}

/// Log flops that differ by less than this do not determine a slope.
const SAME_FLOPS: f64 = 1e-6;

/// No interval is drawn with a smaller deviation: a task that takes 0.2 % longer than expected is not slow, however exactly
/// the others agree. Without it, tasks that all took the same time would be told apart by rounding errors.
pub(super) const SMALLEST_S: f64 = 1e-3;

/// Exponents beyond this are cut, so that a duration is always a finite number.
const LARGEST_LOG: f64 = 700.0;

/// log D = `intercept` + `slope` log G, and what its prediction interval needs. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// a.
    pub intercept: f64,
    /// b; 0 for a flat one.
    pub slope: f64,
    /// All its tasks had the same flops: it says nothing about others.
    pub flat: bool,
    /// Residual standard deviation of log D; of the robust line its scale.
    pub s: f64,
    /// n in the formula; the sum of the weights where there are any.
    pub n: f64,
    /// Mean of log G.
    pub mean_x: f64,
    /// Sum of squares of log G around it.
    pub sxx: f64,
    /// Quantile of Student's t.
    pub t: f64,
}

/// What to expect of a task, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The median: the middle of the interval in the logarithm.
    pub expected_ns: f64,
    /// Fewer than (1 - level) / 2 are below.
    pub lower_ns: f64,
    /// Fewer than (1 - level) / 2 are above.
    pub upper_ns: f64,
}

impl Line {
    /// By classical least squares. O(n).
    pub(super) fn classical(points: &[Point], level: f64) -> Self {
        let flat = same_flops(points);
        let fit = Weighted::of(points, flat, |_| 1.0);
        let dof = points.len() as f64 - parameters(flat);
        let sum: f64 = points.iter().map(|p| fit.residual(p).powi(2)).sum();
        let s = if dof > 0.0 { (sum / dof).sqrt() } else { 0.0 };
        fit.line(flat, s, student_t(level, dof))
    }

    /// Logarithm of the expected duration at x = log G.
    pub fn log_expected(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }

    /// Half the width of the interval, in the logarithm of the duration, at x = log G.
    pub fn half_width(&self, x: f64) -> f64 {
        let lever = if self.flat || self.sxx <= 0.0 {
            0.0
        } else {
            (x - self.mean_x).powi(2) / self.sxx
        };
        self.t * self.s.max(SMALLEST_S) * (1.0 + 1.0 / self.n + lever).sqrt()
    }

    /// The interval for a task of `flops` > 0.
    pub fn at(&self, flops: f64) -> Interval {
        let x = flops.ln();
        let (y, half) = (self.log_expected(x), self.half_width(x));
        let ns = |log: f64| log.clamp(-LARGEST_LOG, LARGEST_LOG).exp();
        Interval {
            expected_ns: ns(y),
            lower_ns: ns(y - half),
            upper_ns: ns(y + half),
        }
    }

    /// The same line with intervals of another level.
    pub(super) fn at_level(&self, level: f64) -> Self {
        let dof = self.n - parameters(self.flat);
        Line {
            t: student_t(level, dof.max(1.0)),
            ..*self
        }
    }

    /// Whether a point is above the interval.
    pub(super) fn is_below(&self, p: &Point) -> bool {
        p.y > self.log_expected(p.x) + self.half_width(p.x)
    }

    pub(super) fn residual(&self, p: &Point) -> f64 {
        p.y - self.log_expected(p.x)
    }
}

/// A slope cannot be told.
pub(super) fn same_flops(points: &[Point]) -> bool {
    let low = points.iter().map(|p| p.x).fold(f64::INFINITY, f64::min);
    let high = points.iter().map(|p| p.x).fold(f64::NEG_INFINITY, f64::max);
    high - low < SAME_FLOPS || points.is_empty()
}

pub(super) fn parameters(flat: bool) -> f64 {
    if flat { 1.0 } else { 2.0 }
}

/// Weighted least squares of one line; the sums are centred, in two passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weighted {
    pub intercept: f64,
    pub slope: f64,
    /// Sum of the weights.
    pub weight: f64,
    pub mean_x: f64,
    pub sxx: f64,
}

impl Weighted {
    /// Zero weight everywhere gives a line at zero with `weight` 0.
    pub(super) fn of(points: &[Point], flat: bool, weight: impl Fn(usize) -> f64) -> Self {
        let (mut w, mut x, mut y) = (0.0, 0.0, 0.0);
        for (k, p) in points.iter().enumerate() {
            let wk = weight(k);
            w += wk;
            x += wk * p.x;
            y += wk * p.y;
        }
        let (mean_x, mean_y) = if w > 0.0 { (x / w, y / w) } else { (0.0, 0.0) };
        let (mut sxx, mut sxy) = (0.0, 0.0);
        if !flat {
            for (k, p) in points.iter().enumerate() {
                let wk = weight(k);
                sxx += wk * (p.x - mean_x).powi(2);
                sxy += wk * (p.x - mean_x) * (p.y - mean_y);
            }
        }
        // Weights may leave only points with the same flops.
        if sxx <= w * SAME_FLOPS.powi(2) {
            sxx = 0.0;
        }
        let slope = if sxx > 0.0 { sxy / sxx } else { 0.0 };
        Weighted {
            intercept: mean_y - slope * mean_x,
            slope,
            weight: w,
            mean_x,
            sxx,
        }
    }

    pub(super) fn residual(&self, p: &Point) -> f64 {
        p.y - self.intercept - self.slope * p.x
    }

    pub(super) fn line(&self, flat: bool, s: f64, t: f64) -> Line {
        Line {
            intercept: self.intercept,
            slope: self.slope,
            flat: flat || self.sxx <= 0.0,
            s,
            n: self.weight,
            mean_x: self.mean_x,
            sxx: self.sxx,
            t,
        }
    }
}
