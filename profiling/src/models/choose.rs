//! Which of the models of a group is taken, and why, in a sentence.
//!
//! Takes the fitted models and the points; gives [`Diagnostics`] and a [`Choice`]. Knows no codelet.
//!
//! Two lines are taken where the BIC asks for them, they stand apart, and the smaller cluster is a behaviour rather than a few
//! tasks that went wrong: else these would get a limit of their own and never be seen. The robust line is taken
//! where tasks far off pull the classical one or blow up its interval. Otherwise the classical line is the best there is.

use super::line::{Line, Point};
use super::mixture::Mixture;
use super::quantiles::chi_squared_tail;
use serde::{Deserialize, Serialize};

/// Further off than so many deviations is an outlier here: 0.27 % of normal residuals.
const FAR: f64 = 3.0;
/// More outliers than this, as a share, and the classical line is not trusted: four times what is normal.
const OUTLIERS: f64 = 0.01;
/// Nor is it where its deviation is so many times the robust one.
const SPREADS: f64 = 1.25;
/// A gain in BIC that is "very strong" (Kass and Raftery, *Bayes factors*, JASA 90, 1995).
const BIC_GAIN: f64 = 10.0;
/// Two lines nearer than this cannot be told apart (Ashman et al. 1994).
const SEPARATION: f64 = 2.0;
/// A smaller share is a number of outliers.
const SMALLEST_SHARE: f64 = 0.1;
/// So large a share is a behaviour even if it scatters more than `TIGHT` allows, up to `CLOUD`.
const BEHAVIOUR: f64 = 0.2;
/// Deviations of the two lines that are further apart, as a ratio, are a line and its outliers.
const TIGHT: f64 = 4.0;
/// One deviation is a factor of two: whatever the share, that is a cloud of perturbed tasks and no line.
const CLOUD: f64 = std::f64::consts::LN_2;
/// Below this p-value the spread changes with the flops.
const CHANGES: f64 = 0.01;
/// By how much it must, to be told: with many tasks any change is significant.
const CHANGES_BY: f64 = 1.5;

/// The model of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Choice {
    /// One line by least squares.
    Classical,
    /// One line by MM-regression.
    Robust,
    /// Two lines.
    Mixture,
    /// None: too few tasks.
    TooFew,
    /// None: most tasks were shorter than the clock can tell.
    BelowClock,
}

/// What the residuals say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// Share of tasks further than three robust deviations off the robust line; 0.0027 for normal residuals.
    pub outlier_share: f64,
    /// Classical deviation over robust one; 1 for normal residuals.
    pub deviation_ratio: f64,
    /// p-value of "the classical residuals spread equally for all flops" (Breusch and Pagan 1979, as studentized by Koenker
    /// 1981); 1 for a flat line.
    pub breusch_pagan_p: f64,
    /// Mean |residual| of the robust line in the upper half of log flops over that in the lower half, outliers left out; 1
    /// where one has no tasks.
    pub spread_ratio: f64,
    /// Of the classical residuals; 0 for normal ones.
    pub skewness: f64,
    /// Of the classical residuals; 0 for normal ones.
    pub excess_kurtosis: f64,
    /// BIC of one line less that of two.
    pub bic_gain: f64,
}

impl Diagnostics {
    /// O(n).
    pub(super) fn of(
        points: &[Point],
        classical: &Line,
        robust: Option<&Line>,
        mixture: Option<&Mixture>,
    ) -> Self {
        let line = robust.unwrap_or(classical);
        let s = line.s.max(super::line::SMALLEST_S);
        let far = |p: &&Point| line.residual(p).abs() > FAR * s;
        let n = points.len() as f64;

        let (mut m2, mut m3, mut m4) = (0.0, 0.0, 0.0);
        for p in points {
            let r = classical.residual(p);
            m2 += r * r / n;
            m3 += r.powi(3) / n;
            m4 += r.powi(4) / n;
        }
        let normalised = |m: f64, power: f64| if m2 > 0.0 { m / m2.powf(power) } else { 0.0 };
        let (mut below, mut above) = ((0.0, 0.0), (0.0, 0.0));
        for p in points.iter().filter(|p| !far(p)) {
            let half = if p.x < line.mean_x {
                &mut below
            } else {
                &mut above
            };
            half.0 += line.residual(p).abs();
            half.1 += 1.0;
        }
        let told = below.0 > 0.0 && above.0 > 0.0;
        Diagnostics {
            outlier_share: points.iter().filter(far).count() as f64 / n,
            deviation_ratio: classical.s.max(super::line::SMALLEST_S) / s,
            breusch_pagan_p: breusch_pagan(points, classical, m2),
            spread_ratio: if told {
                (above.0 / above.1) / (below.0 / below.1)
            } else {
                1.0
            },
            skewness: normalised(m3, 1.5),
            excess_kurtosis: if m2 > 0.0 {
                normalised(m4, 2.0) - 3.0
            } else {
                0.0
            },
            bic_gain: mixture.map_or(0.0, Mixture::bic_gain),
        }
    }
}

/// n R^2 of the squared residuals on log flops, against chi-squared with one degree of freedom.
fn breusch_pagan(points: &[Point], line: &Line, mean_square: f64) -> f64 {
    let (mut sxy, mut syy) = (0.0, 0.0);
    for p in points {
        let square = line.residual(p).powi(2) - mean_square;
        sxy += (p.x - line.mean_x) * square;
        syy += square * square;
    }
    if line.flat || line.sxx <= 0.0 || syy <= 0.0 {
        return 1.0;
    }
    chi_squared_tail(points.len() as f64 * (sxy / line.sxx) * (sxy / syy))
}

/// The choice, and why.
pub(super) fn choose(
    tasks: usize,
    d: &Diagnostics,
    has_robust: bool,
    mixture: Option<&Mixture>,
) -> (Choice, String) {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let mut but = String::new();
    if let Some(Mixture {
        clusters,
        separation,
        ..
    }) = mixture
        && let [a, b] = &clusters[..]
        && d.bic_gain > BIC_GAIN
    {
        let share = a.tasks.min(b.tasks) as f64 / (a.tasks + b.tasks) as f64;
        let (high, low) = (
            a.component.s.max(b.component.s),
            a.component.s.min(b.component.s),
        );
        if *separation < SEPARATION {
            but = format!("; two lines would only be {separation:.1} deviations apart");
        } else if share < SMALLEST_SHARE {
            but = format!(
                "; a second line would have only {} of the tasks",
                percent(share)
            );
        } else if high > TIGHT * low && (share < BEHAVIOUR || high > CLOUD) {
            but = format!(
                "; a second line would be {} of the tasks, far scattered",
                percent(share)
            );
        } else {
            let why = format!(
                "two lines: BIC is smaller by {:.0}, they are {separation:.1} deviations apart, the slower one has {} of the tasks",
                d.bic_gain,
                percent(b.tasks as f64 / (a.tasks + b.tasks) as f64),
            );
            return (Choice::Mixture, why);
        }
    }
    if d.spread_ratio.max(1.0 / d.spread_ratio) > CHANGES_BY && d.breusch_pagan_p < CHANGES {
        but += &format!(
            "; the spread of large tasks is {:.1} times that of small ones, so the limits are too wide for one and too narrow for the other",
            d.spread_ratio
        );
    }
    let outliers = d.outlier_share * tasks as f64;
    if has_robust && d.outlier_share > OUTLIERS && outliers > 1.5
        || has_robust && d.deviation_ratio > SPREADS
    {
        let why = format!(
            "robust line: {} of the tasks are further than three deviations from it, the classical deviation is {:.1} times as large{but}",
            percent(d.outlier_share),
            d.deviation_ratio
        );
        return (Choice::Robust, why);
    }
    let why = if has_robust {
        format!(
            "classical line: {} of the tasks are further than three deviations from the robust line, both have about the same deviation{but}",
            percent(d.outlier_share)
        )
    } else {
        format!("classical line: {tasks} tasks are too few for any other{but}")
    };
    (Choice::Classical, why)
}
