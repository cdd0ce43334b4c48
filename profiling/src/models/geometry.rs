//! Linear models of durations in what a task works on, for simulation: D = sum of b_k g_k(task), in nanoseconds.
//!
//! Takes tasks of one codelet on one kind of worker; gives a [`LinearFit`]. Which terms a codelet has is the table [`TERMS`].
//!
//! Ordinary least squares with b >= 0, so that no prediction is negative: a term whose coefficient would be is left out, and
//! the confidence intervals are those of the terms that remain, as if no other had been tried. Residuals are not weighted: large
//! tasks count most.
//!
//! One task that lost its core for milliseconds outweighs a hundred kernels. So tasks that took far longer than their size
//! explains are left out: above the 0.999 interval of their group's model or, where they have no flops, of a robust line on
//! their entries. [`LinearFit::left_out`] and [`LinearFit::excess_ns`] say what a simulation without them lacks.

use super::least_squares::non_negative;
use super::quantiles::student_t;
use crate::trace::schema::{GraphTask, Task, WorkerKind};
use serde::{Deserialize, Serialize};

/// What a task works on, as traces have it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Geometry {
    /// Rows of its block.
    pub rows: f64,
    /// Columns of its block.
    pub cols: f64,
    /// Reflectors; fronts for `do_subtree` and in a solve.
    pub inner: f64,
    /// Entries cleared or moved.
    pub coefficients: f64,
    /// Floating-point operations.
    pub flops: f64,
}

macro_rules! from_rows {
    ($($row:ty),+) => {$(
        impl From<&$row> for Geometry {
            fn from(t: &$row) -> Self {
                Geometry {
                    rows: t.rows.into(),
                    cols: t.cols.into(),
                    inner: t.inner.into(),
                    coefficients: t.coefficients as f64,
                    flops: t.flops as f64,
                }
            }
        }
    )+};
}
from_rows!(Task, GraphTask);

/// A function of the geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Term {
    /// 1.
    Constant,
    /// rows x cols.
    Area,
    /// rows x cols x inner.
    Volume,
    /// Fronts of a group.
    Fronts,
    /// Entries.
    Coefficients,
    /// Floating-point operations.
    Flops,
}

impl Term {
    /// Its value.
    pub fn of(self, g: &Geometry) -> f64 {
        match self {
            Term::Constant => 1.0,
            Term::Area => g.rows * g.cols,
            Term::Volume => g.rows * g.cols * g.inner,
            Term::Fronts => g.inner,
            Term::Coefficients => g.coefficients,
            Term::Flops => g.flops,
        }
    }
}

const KERNEL: &[Term] = &[Term::Flops, Term::Volume, Term::Area, Term::Constant];
const MOVES: &[Term] = &[Term::Coefficients, Term::Constant];
const SOLVE: &[Term] = &[Term::Flops, Term::Fronts, Term::Constant];

/// The terms of each codelet, after those of the paper: NB^3, NB^2 MB and NB^3 BK for kernels, flops and nodes for subtrees, zeros
/// for activations, coefficients for assemblies and for what cleaning moves; solves, of which it has nothing, by flops and fronts. Blocks here are not always full, so kernels have their rows, columns and
/// reflectors, and beside these, which know nothing of staircases, the flops.
pub const TERMS: &[(&str, &[Term])] = &[
    ("geqrt", KERNEL),
    ("gemqrt", KERNEL),
    ("tpqrt", KERNEL),
    ("tpmqrt", KERNEL),
    (
        "do_subtree",
        &[Term::Flops, Term::Fronts, Term::Coefficients],
    ),
    ("init_front", MOVES),
    ("init_block", MOVES),
    ("block_copy", MOVES),
    ("clean_front", MOVES),
    ("apply_q_adjoint", SOLVE),
    ("solve_r", SOLVE),
    ("apply_q", SOLVE),
    ("solve_r_adjoint", SOLVE),
    ("solve_begin", MOVES),
    ("solve_end", &[Term::Constant]),
];

/// Of codelets that are not in the table.
const OTHERS: &[Term] = &[Term::Flops, Term::Constant];

/// One coefficient.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TermFit {
    /// What it multiplies.
    pub term: Term,
    /// Nanoseconds for one of it; 0 for a term that is left out.
    pub ns: f64,
    /// Its confidence interval; `None` for a term that is left out, and where as many terms as tasks leave no residual.
    pub confidence_ns: Option<(f64, f64)>,
}

/// D = sum of `ns` x term.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinearFit {
    /// Name of the codelet.
    pub codelet: String,
    /// Where it ran.
    #[serde(with = "super::kind_name")]
    pub kind: WorkerKind,
    /// Tasks it was fitted to, those without measurable duration among them.
    pub tasks: u64,
    /// Tasks that took far longer than their size explains.
    pub left_out: u64,
    /// What they took beyond the prediction, all together.
    pub excess_ns: f64,
    /// By [`TERMS`].
    pub terms: Vec<TermFit>,
    /// 1 - residual sum of squares over that around the mean; `None` where all tasks took the same time.
    pub r2: Option<f64>,
    /// Residual standard deviation; `None` where as many terms as tasks leave no residual.
    pub s_ns: Option<f64>,
    /// Mean duration of the tasks it was fitted to.
    pub mean_ns: f64,
}

impl LinearFit {
    /// The duration to expect, in nanoseconds; not negative.
    pub fn predict(&self, g: &Geometry) -> f64 {
        self.terms.iter().map(|t| t.ns * t.term.of(g)).sum()
    }
}

/// One task: what it works on, its duration in nanoseconds, and whether that is far longer than its size explains.
#[derive(Clone, Copy)]
pub(super) struct Timed {
    pub geometry: Geometry,
    pub ns: f64,
    pub slow: bool,
}

/// The fit to the tasks that are not slow; there is at least one such. O(n).
pub(super) fn fit(codelet: &str, kind: WorkerKind, all: &[Timed], level: f64) -> LinearFit {
    let (slow, tasks): (Vec<Timed>, Vec<Timed>) = all.iter().partition(|t| t.slow);
    let terms = TERMS.iter().find(|row| row.0 == codelet);
    let terms = terms.map_or(OTHERS, |row| row.1);
    let column = |term: &Term| tasks.iter().map(|t| term.of(&t.geometry)).collect();
    let x: Vec<Vec<f64>> = terms.iter().map(column).collect();
    let y: Vec<f64> = tasks.iter().map(|t| t.ns).collect();
    let n = y.len() as f64;
    let mean_ns = y.iter().sum::<f64>() / n;
    let total: f64 = y.iter().map(|v| (v - mean_ns).powi(2)).sum();

    let solution = non_negative(&x, &y);
    let s = (solution.dof > 0).then(|| (solution.rss / solution.dof as f64).sqrt());
    let t = student_t(level, solution.dof as f64);
    let of_term = |(term, c): (&Term, &Option<super::least_squares::Coefficient>)| TermFit {
        term: *term,
        ns: c.map_or(0.0, |c| c.value),
        confidence_ns: c.zip(s).map(|(c, s)| {
            let half = t * s * c.unit_error;
            (c.value - half, c.value + half)
        }),
    };
    let mut out = LinearFit {
        codelet: codelet.to_owned(),
        kind,
        tasks: tasks.len() as u64,
        left_out: slow.len() as u64,
        excess_ns: 0.0,
        terms: terms
            .iter()
            .zip(&solution.coefficients)
            .map(of_term)
            .collect(),
        r2: (total > 0.0).then(|| tidy(1.0 - solution.rss / total)),
        s_ns: s,
        mean_ns,
    };
    let beyond = |t: &Timed| t.ns - out.predict(&t.geometry);
    out.excess_ns = slow.iter().map(beyond).sum();
    out
}

/// A constant alone explains nothing, and not a rounding error more.
fn tidy(r2: f64) -> f64 {
    if r2.abs() < 1e-12 { 0.0 } else { r2 }
}
