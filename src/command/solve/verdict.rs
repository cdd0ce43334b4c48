//! How good x is: the figures of all right-hand sides, and one sentence.

use super::super::page::{BAD, WARN, WORK};
use anstyle::Style;
use treeqr::matrices::norm2;
use treeqr::{Csc, Dense, Problem, Quality, quality, quality_deficient};

/// Up to here a residual is rounding, whatever the problem.
const ROUNDING: f64 = 1e-13;
/// Up to here x is of use.
const USABLE: f64 = 1e-8;

/// The quality of the solutions for all right-hand sides.
pub struct Verdict {
    problem: Problem,
    full_rank: bool,
    /// The largest of every figure.
    pub worst: Quality,
    /// The largest normal residual, in parts of what rounding explains.
    excess: f64,
    /// The largest ||A||_F ||x|| / ||b||.
    pub growth: f64,
}

impl Verdict {
    /// Looks at every column of x. O(nnz) each.
    pub fn of(
        problem: Problem,
        full_rank: bool,
        a: &Csc<f64>,
        x: &Dense<f64>,
        b: &Dense<f64>,
    ) -> Self {
        let judge = if full_rank {
            quality
        } else {
            quality_deficient
        };
        let norm_a = a.norm_frobenius();
        let mut verdict = Verdict {
            problem,
            full_rank,
            worst: Quality {
                solution_norm: 0.0,
                residual_norm: 0.0,
                normal_residual: 0.0,
                consistent: true,
            },
            excess: 0.0,
            growth: 0.0,
        };
        for k in 0..b.ncols() {
            let q = judge(a, x.col(k), b.col(k));
            let norm_b = norm2(b.col(k));
            if norm_b > 0.0 {
                let growth = norm_a * q.solution_norm / norm_b;
                verdict.growth = verdict.growth.max(growth);
            }
            // r itself is only known to this, and A^H r no better.
            let noise = f64::EPSILON * (norm_a * q.solution_norm + norm_b);
            let explained = if q.consistent {
                ROUNDING
            } else {
                ROUNDING.max(noise / q.residual_norm)
            };
            verdict.excess = verdict.excess.max(q.normal_residual / explained);
            let worst = &mut verdict.worst;
            worst.solution_norm = worst.solution_norm.max(q.solution_norm);
            worst.residual_norm = worst.residual_norm.max(q.residual_norm);
            worst.normal_residual = worst.normal_residual.max(q.normal_residual);
            worst.consistent &= q.consistent;
        }
        verdict
    }

    /// The sentence, and the colour that it deserves.
    pub fn sentence(&self) -> (Style, String) {
        let what = match (self.problem, self.worst.consistent) {
            (_, false) => "r is orthogonal to the columns of A",
            (Problem::LeastSquares, true) if !self.full_rank => {
                "b is a combination of the columns of A, and x is one"
            }
            (Problem::LeastSquares, true) => {
                "b is a combination of the columns of A, and x is the one"
            }
            (Problem::MinimumNorm, _) => "A x = b holds, and no shorter x does it",
            (Problem::Square, _) => "A x = b holds",
        };
        if self.excess <= 1.0 {
            let text = format!("Solved to working precision: {what}, up to rounding.");
            (WORK, text)
        } else if self.worst.normal_residual <= USABLE {
            let digits = -self.worst.normal_residual.log10();
            let text =
                format!("Solved, but less well than usual: {what} to {digits:.0} digits only.");
            (WARN, text)
        } else {
            let text = "Not to be trusted: the residual is far above rounding.".to_owned();
            (BAD, text)
        }
    }
}
