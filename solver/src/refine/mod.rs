//! x made better: corrections from the residual, with R as the preconditioner.
//!
//! Takes A, R of it (perhaps of lower precision, and without Q) and right-hand sides; gives x to the accuracy of A's own
//! precision, and a report of every step. Knows no task and no file.
//!
//! | file | subject |
//! | --- | --- |
//! | `scaled` | A with the columns of W scaled by powers of two, so that it fits into single precision |
//! | `inner` | R^{-1} and R^{-H} of one precision for vectors of another |
//! | `steps` | the corrections: conjugate gradients, or the semi-normal equations alone |
//! | `trust` | whether R is good enough for that |
//! | `condition` | the condition number of R in the 1-norm |
//!
//! A step takes the residual in the precision of A and solves the semi-normal equations R^H R z = s for the correction,
//! with s = A^H r for a tall A and s = b - A x for a wide one (there the correction is A^H z). With R from an orthogonal
//! factorization in precision u the error shrinks by about u cond(A) a step, and conjugate gradients do better than that
//! without a product more worth speaking of. Nothing of Q is needed.
//!
//! A. Björck, *Stability analysis of the method of seminormal equations for linear least squares problems*, Linear Algebra
//! Appl. 88/89, 1987; A. Björck, *Numerical Methods for Least Squares Problems*, 1996, sections 6.6 and 7.5.

mod condition;
mod inner;
mod scaled;
mod steps;
mod trust;

pub use scaled::Scaled;
pub use steps::refine;

use crate::solve::SolveOptions;

/// How corrections are put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefineMethod {
    /// Each is one solution of the semi-normal equations, taken as it is: the corrected semi-normal equations.
    Seminormal,
    /// They are the preconditioned residuals of conjugate gradients on the normal equations (CGLS, and CGNE for a wide A).
    /// Conjugacy is kept by the formula of Polak and Ribière, which forgives that R of another precision is not the same
    /// operator each time, and residuals are computed anew in each step.
    #[default]
    Gradients,
}

impl RefineMethod {
    /// What JSON and reports call it.
    pub fn name(self) -> &'static str {
        match self {
            RefineMethod::Seminormal => "seminormal",
            RefineMethod::Gradients => "gradients",
        }
    }
}

/// What can be chosen for a refinement.
#[derive(Clone, Debug)]
pub struct RefineOptions {
    /// How.
    pub method: RefineMethod,
    /// The most corrections for a right-hand side.
    pub max_steps: usize,
    /// Of the solves with R.
    pub solve: SolveOptions,
}

impl Default for RefineOptions {
    /// Conjugate gradients, at most 40 steps.
    fn default() -> Self {
        RefineOptions {
            method: RefineMethod::default(),
            max_steps: 40,
            solve: SolveOptions::default(),
        }
    }
}

/// How far a right-hand side came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefineEnd {
    /// The next correction is rounding.
    Converged,
    /// Corrections stopped shrinking where rounding errors of A's precision, magnified by the condition number, explain it:
    /// a factorization in that precision would do no better.
    Attained,
    /// Neither.
    NotConverged,
}

impl RefineEnd {
    /// What JSON and reports call it.
    pub fn name(self) -> &'static str {
        match self {
            RefineEnd::Converged => "converged",
            RefineEnd::Attained => "attained",
            RefineEnd::NotConverged => "not_converged",
        }
    }
}

/// The state before a correction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefineStep {
    /// ||b - A x|| / ||b||. For a wide A the rows are scaled by their norms.
    pub residual: f64,
    /// The size of the next correction: ||R^{-H} A^H r|| / ||b|| for a tall A, which is the part of r that lies in the range
    /// of A; ||R^{-H} (b - A x)|| / ||x|| for a wide one.
    pub correction: f64,
}

/// The steps of one right-hand side.
#[derive(Clone, Debug, PartialEq)]
pub struct RefinedColumn {
    /// How it ended.
    pub end: RefineEnd,
    /// The state before every correction; and after the last, where that was not clear beforehand.
    pub steps: Vec<RefineStep>,
    /// Corrections that were made.
    pub corrections: usize,
}

/// What a refinement did.
#[derive(Clone, Debug, PartialEq)]
pub struct Refinement {
    /// How.
    pub method: RefineMethod,
    /// An estimate, from below, of the 2-norm condition number of A with the columns of W scaled to norm 1.
    pub condition: f64,
    /// ||W R^{-1} t|| / ||t|| in the direction in which R shrinks most. Near 1 R is one of A; else it has lost what it should say.
    pub isometry: f64,
    /// By right-hand side. Empty where R was not good enough to begin.
    pub columns: Vec<RefinedColumn>,
}

impl Refinement {
    /// Whether every right-hand side has the accuracy that A's precision allows.
    pub fn succeeded(&self) -> bool {
        let ended = |c: &RefinedColumn| c.end != RefineEnd::NotConverged;
        self.trusted() && self.columns.iter().all(ended)
    }

    /// The most corrections of a right-hand side.
    pub fn corrections(&self) -> usize {
        let all = self.columns.iter().map(|c| c.corrections);
        all.max().unwrap_or(0)
    }

    /// Whether R says enough about A for corrections to make sense.
    pub fn trusted(&self) -> bool {
        (0.5..=2.0).contains(&self.isometry) && self.condition.is_finite()
    }
}
