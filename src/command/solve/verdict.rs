//! How good x is: the figures of all right-hand sides, and one sentence.

use super::super::page::{BAD, WARN, WORK};
use anstyle::Style;
use treeqr::matrices::{RealScalar, norm2};
use treeqr::{Csc, Dense, Problem, Quality, Scalar, quality};

/// Up to here, in units of the last place, a residual is rounding, whatever the problem.
const ROUNDING: f64 = 450.0;
/// Up to here x is of use: half of the digits.
const USABLE: f64 = 0.67;

/// The quality of the solutions for all right-hand sides.
pub struct Verdict {
    problem: Problem,
    /// The largest of every figure.
    pub worst: Quality,
    /// The largest normal residual, in parts of what rounding explains.
    excess: f64,
    usable: f64,
}

impl Verdict {
    /// Looks at every column of x. O(nnz) each.
    pub fn of<T: Scalar>(problem: Problem, a: &Csc<T>, x: &Dense<T>, b: &Dense<T>) -> Self {
        let norm_a = a.norm_frobenius().to_f64();
        let unit = <T::Real as RealScalar>::EPSILON.to_f64();
        let mut verdict = Verdict {
            problem,
            worst: Quality {
                solution_norm: 0.0,
                residual_norm: 0.0,
                normal_residual: 0.0,
                consistent: true,
            },
            excess: 0.0,
            usable: USABLE * unit.sqrt(),
        };
        for k in 0..b.ncols() {
            let q = quality(a, x.col(k), b.col(k));
            // r itself is only known to this, and A^H r no better.
            let noise = unit * (norm_a * q.solution_norm + norm2(b.col(k)).to_f64());
            let explained = if q.consistent {
                ROUNDING * unit
            } else {
                (ROUNDING * unit).max(noise / q.residual_norm)
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
            (Problem::LeastSquares, false) => "r is orthogonal to the columns of A",
            (Problem::LeastSquares, true) => {
                "b is a combination of the columns of A, and x is the one"
            }
            (Problem::MinimumNorm, _) => "A x = b holds, and no shorter x does it",
            (Problem::Square, _) => "A x = b holds",
        };
        if self.excess <= 1.0 {
            let text = format!("Solved to working precision: {what}, up to rounding.");
            (WORK, text)
        } else if self.worst.normal_residual <= self.usable {
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
