//! One or two lines: a finite mixture by EM, the number chosen by BIC.
//!
//! Takes points; gives a [`Mixture`]. Knows no task.
//!
//! log D is normal around one of two lines, each with its share, slope and deviation. EM runs 30 times for a few steps with
//! starts from a fixed seed, by turns two lines through two points each and a cut of the residuals at some quantile; the
//! best three go on to convergence (Biernacki, Celeux, Govaert, *Choosing starting values for the EM algorithm*, CSDA 41, 2003).
//! Then each task belongs to the line that is more probable for it, and a classical line is fitted to the tasks of each.
//! BIC = -2 log L + k log n with k = 3 and 7 parameters (2 and 5 for flat lines), the smaller one wins.
//!
//! EM and BIC see 10 000 tasks drawn at random with a fixed seed where there are more; the labels and the lines are for all.
//!
//! A slow task of the fast line that comes to lie near the slow one is an ordinary task of that: labels see no more than its
//! flops and its duration.
//!
//! With one cluster there is one line and one limit. (The published code sets the second one to 0 then, and so flags every task.)

use super::line::{Line, Point, SMALLEST_S, Weighted, parameters, same_flops};
use super::quantiles::Draws;
use serde::{Deserialize, Serialize};

const SEED: u64 = 0x5EED_0002;
const SAMPLE: usize = 10_000;
const RESTARTS: usize = 30;
const SHORT: usize = 5;
const KEPT: usize = 3;
const LONG: usize = 200;
/// Growth of log L per point that counts as none.
const CONVERGED: f64 = 1e-9;
/// Tasks that a cluster must have.
pub(super) const SMALLEST_CLUSTER: usize = 5;

/// One part of the mixture, as EM has it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Component {
    /// Its share of the tasks, 0 to 1.
    pub share: f64,
    /// Of its line.
    pub intercept: f64,
    /// Of its line.
    pub slope: f64,
    /// Standard deviation of log D around it.
    pub s: f64,
}

/// One behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// How probable a point is in it.
    pub component: Component,
    /// Tasks that belong to it.
    pub tasks: u64,
    /// Fitted to those tasks.
    pub line: Line,
}

/// One line or two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mixture {
    /// One or two; of two, the faster one at the mean of log flops comes first.
    pub clusters: Vec<Cluster>,
    /// Of one line.
    pub bic_one: f64,
    /// Of two; `None` where EM found no two.
    pub bic_two: Option<f64>,
    /// Mean distance of the two lines over their mean deviation (Ashman, Bird, Zepf, *Detecting bimodality in astronomical
    /// datasets*, Astron. J. 108, 1994: two are told apart above 2); 0 for one cluster.
    pub separation: f64,
    /// Tasks that EM saw.
    pub sample: u64,
}

impl Mixture {
    /// The cluster, 0 or 1, of a task of `flops` > 0 that took `duration_ns` > 0.
    pub fn assign(&self, flops: f64, duration_ns: f64) -> usize {
        self.label(&Point {
            x: flops.ln(),
            y: duration_ns.ln(),
        })
    }

    pub(super) fn label(&self, p: &Point) -> usize {
        match &self.clusters[..] {
            [a, b] => usize::from(b.component.log_density(p) > a.component.log_density(p)),
            _ => 0,
        }
    }

    /// How much smaller the BIC of two lines is.
    pub fn bic_gain(&self) -> f64 {
        self.bic_two.map_or(0.0, |two| self.bic_one - two)
    }
}

impl Component {
    fn log_density(&self, p: &Point) -> f64 {
        let r = (p.y - self.intercept - self.slope * p.x) / self.s;
        self.share.ln() - self.s.ln() - 0.5 * (r * r + std::f64::consts::TAU.ln())
    }

    /// Maximum likelihood with these weights; `None` for less than a cluster.
    fn of(points: &[Point], flat: bool, weights: &[f64]) -> Option<Self> {
        let fit = Weighted::of(points, flat, |k| weights[k]);
        if fit.weight < SMALLEST_CLUSTER as f64 {
            return None;
        }
        let squares = points.iter().zip(weights);
        let sum: f64 = squares.map(|(p, w)| w * fit.residual(p).powi(2)).sum();
        Some(Component {
            share: fit.weight / points.len() as f64,
            intercept: fit.intercept,
            slope: fit.slope,
            // Without a floor the likelihood is unbounded: a line through two points has none.
            s: (sum / fit.weight).sqrt().max(SMALLEST_S),
        })
    }
}

/// EM on its way.
#[derive(Clone)]
struct State {
    two: [Component; 2],
    log_likelihood: f64,
    /// Of the second component, by point.
    posterior: Vec<f64>,
}

/// The mixture of at most two lines.
pub(super) fn fit(points: &[Point], level: f64) -> Mixture {
    let flat = same_flops(points);
    let mut draws = Draws::new(SEED);
    let sample = draws.some_of(points, SAMPLE);
    let n = sample.len() as f64;
    let bic = |log_likelihood: f64, k: f64| -2.0 * log_likelihood + k * n.ln();

    let line = Line::classical(points, level);
    let mut whole = Component {
        share: 1.0,
        intercept: line.intercept,
        slope: line.slope,
        s: line.s.max(SMALLEST_S),
    };
    if let Some(seen) = Component::of(&sample, flat, &vec![1.0; sample.len()]) {
        whole = seen;
    }
    let log_likelihood: f64 = sample.iter().map(|p| whole.log_density(p)).sum();
    let one = Cluster {
        component: whole,
        tasks: points.len() as u64,
        line,
    };
    let mut out = Mixture {
        clusters: vec![one],
        bic_one: bic(log_likelihood, parameters(flat) + 1.0),
        bic_two: None,
        separation: 0.0,
        sample: sample.len() as u64,
    };
    let Some(best) = best_of_two(&sample, flat, &whole, &mut draws) else {
        return out;
    };
    let bic_two = bic(best.log_likelihood, 2.0 * parameters(flat) + 3.0);
    out.bic_two = Some(bic_two);
    if bic_two < out.bic_one {
        let mut two = best.two;
        let at = |c: &Component| c.intercept + c.slope * line.mean_x;
        if at(&two[0]) > at(&two[1]) {
            two.swap(0, 1);
        }
        split(points, two, level, &mut out);
    }
    out
}

/// Gives each point to a cluster and fits the lines; leaves one cluster where one of two would be too small.
fn split(points: &[Point], two: [Component; 2], level: f64, out: &mut Mixture) {
    let belongs =
        |k: usize, p: &&Point| usize::from(two[1].log_density(p) > two[0].log_density(p)) == k;
    let clusters = [0, 1].map(|k| {
        let own: Vec<Point> = points.iter().filter(|p| belongs(k, p)).copied().collect();
        (own.len() >= SMALLEST_CLUSTER).then(|| Cluster {
            component: two[k],
            tasks: own.len() as u64,
            line: Line::classical(&own, level),
        })
    });
    if let [Some(a), Some(b)] = clusters {
        let apart = |p: &Point| {
            let x = p.x;
            (two[0].intercept - two[1].intercept + (two[0].slope - two[1].slope) * x).powi(2)
        };
        let mean = points.iter().map(apart).sum::<f64>() / points.len() as f64;
        let spread = (two[0].s.powi(2) + two[1].s.powi(2)) / 2.0;
        out.separation = (mean / spread).sqrt();
        out.clusters = vec![a, b];
    }
}

/// The best of the restarts, at convergence.
fn best_of_two(
    sample: &[Point],
    flat: bool,
    whole: &Component,
    draws: &mut Draws,
) -> Option<State> {
    let residual = |p: &Point| p.y - whole.intercept - whole.slope * p.x;
    let residuals: Vec<f64> = sample.iter().map(residual).collect();
    let mut sorted = residuals.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut best: Vec<State> = Vec::with_capacity(KEPT + 1);
    for restart in 0..RESTARTS {
        let posterior = if restart % 2 == 0 {
            let cut = sorted[draws.below(sorted.len())];
            residuals.iter().map(|r| f64::from(*r > cut)).collect()
        } else {
            nearer_of_two(sample, flat, draws)
        };
        let Some(state) = em(sample, flat, posterior, SHORT) else {
            continue;
        };
        let place = best.partition_point(|b| b.log_likelihood >= state.log_likelihood);
        best.insert(place, state);
        best.truncate(KEPT);
    }
    let finished = best
        .into_iter()
        .filter_map(|b| em(sample, flat, b.posterior, LONG));
    finished.max_by(|a, b| a.log_likelihood.total_cmp(&b.log_likelihood))
}

/// Which of two lines, each through two points, is nearer.
fn nearer_of_two(sample: &[Point], flat: bool, draws: &mut Draws) -> Vec<f64> {
    let mut through = || {
        let pair = [(); 2].map(|()| sample[draws.below(sample.len())]);
        Weighted::of(&pair, flat, |_| 1.0)
    };
    let (a, b) = (through(), through());
    let nearer = |p: &Point| f64::from(b.residual(p).abs() < a.residual(p).abs());
    sample.iter().map(nearer).collect()
}

/// At most so many steps from these posteriors; `None` where a component vanishes.
fn em(sample: &[Point], flat: bool, mut posterior: Vec<f64>, steps: usize) -> Option<State> {
    let mut other = vec![0.0; sample.len()];
    let mut last = f64::NEG_INFINITY;
    let mut state = None;
    for _ in 0..steps {
        for (o, p) in other.iter_mut().zip(&posterior) {
            *o = 1.0 - p;
        }
        let two = [
            Component::of(sample, flat, &other)?,
            Component::of(sample, flat, &posterior)?,
        ];
        let mut log_likelihood = 0.0;
        for (p, post) in sample.iter().zip(&mut posterior) {
            let (a, b) = (two[0].log_density(p), two[1].log_density(p));
            let (high, low) = if a > b { (a, b) } else { (b, a) };
            let small = (low - high).exp();
            log_likelihood += high + small.ln_1p();
            *post = if b > a { 1.0 } else { small } / (1.0 + small);
        }
        state = Some((two, log_likelihood));
        if log_likelihood - last <= CONVERGED * sample.len() as f64 {
            break;
        }
        last = log_likelihood;
    }
    let (two, log_likelihood) = state?;
    Some(State {
        two,
        log_likelihood,
        posterior,
    })
}
