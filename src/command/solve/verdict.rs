//! How good x is: the figures of all right-hand sides, and one sentence.

use super::super::page::{BAD, WARN, WORK};
use super::super::units::plural;
use anstyle::Style;
use treeqr::matrices::{RealScalar, norm2};
use treeqr::{
    Csc, Dense, Problem, Quality, Scalar, quality, quality_deficient, r_squared, weighted_residual,
};

/// Up to here, in units of the last place, a residual is rounding, whatever the problem.
const ROUNDING: f64 = 450.0;
/// Up to here x is of use: half of the digits.
const USABLE: f64 = 0.67;
/// The loss by the condition number that deserves a word.
const FEW_DIGITS: f64 = 1e-4;

/// What x makes as small as can be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Minimised {
    /// ||r||.
    Residual,
    /// The sum of w |r|^2.
    Weighted,
    /// That, or ||r||^2, with lambda^2 ||x||^2 besides.
    Damped,
}

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
    /// The largest ||r|| / ||b||.
    left: f64,
    usable: f64,
    unit: f64,
    /// Whether there was an A to compute residuals with.
    knows_residual: bool,
    /// The estimate of the condition number, where there is one.
    pub condition: Option<f64>,
    pub minimised: Minimised,
}

/// What was asked for, where something more or something else was solved.
pub struct Asked<'a, T> {
    pub a: &'a Csc<T>,
    pub x: &'a Dense<T>,
    pub b: &'a Dense<T>,
    pub weights: Option<&'a [f64]>,
}

impl<T: Scalar> Asked<'_, T> {
    /// The smallest R^2 of all right-hand sides, where A is tall and b varies.
    pub fn r_squared(&self) -> Option<f64> {
        let each = (0..self.b.ncols())
            .map(|k| r_squared(self.a, self.x.col(k), self.b.col(k), self.weights));
        let smallest = each.reduce(f64::min)?;
        (self.a.nrows() > self.a.ncols() && smallest.is_finite()).then_some(smallest)
    }
}

impl Verdict {
    /// Of no right-hand side.
    fn nothing<T: Scalar>(problem: Problem, full_rank: bool) -> Self {
        let unit = <T::Real as RealScalar>::EPSILON.to_f64();
        Verdict {
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
            left: 0.0,
            usable: USABLE * unit.sqrt(),
            unit,
            knows_residual: true,
            condition: None,
            minimised: Minimised::Residual,
        }
    }

    /// Looks at every column of x. O(nnz) each.
    pub fn of<T: Scalar>(
        problem: Problem,
        full_rank: bool,
        a: &Csc<T>,
        x: &Dense<T>,
        b: &Dense<T>,
    ) -> Self {
        let judge = if full_rank {
            quality
        } else {
            quality_deficient
        };
        let norm_a = a.norm_frobenius().to_f64();
        let unit = <T::Real as RealScalar>::EPSILON.to_f64();
        let mut verdict = Verdict::nothing::<T>(problem, full_rank);
        for k in 0..b.ncols() {
            let q = judge(a, x.col(k), b.col(k));
            let norm_b = norm2(b.col(k)).to_f64();
            if norm_b > 0.0 {
                let growth = norm_a * q.solution_norm / norm_b;
                verdict.growth = verdict.growth.max(growth);
                verdict.left = verdict.left.max(q.residual_norm / norm_b);
            }
            // r itself is only known to this, and A^H r no better.
            let noise = unit * (norm_a * q.solution_norm + norm_b);
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

    /// Of x alone, where there is no A to compute residuals with.
    pub fn without_matrix<T: Scalar>(problem: Problem, full_rank: bool, x: &Dense<T>) -> Self {
        let mut verdict = Verdict::nothing::<T>(problem, full_rank);
        let norms = (0..x.ncols()).map(|k| norm2(x.col(k)).to_f64());
        verdict.worst.solution_norm = norms.fold(0.0, f64::max);
        verdict.knows_residual = false;
        verdict
    }

    /// Whether there was an A.
    pub fn knows_residual(&self) -> bool {
        self.knows_residual
    }

    /// Norms are those of x and of the weighted residual; what is orthogonal to what stays as it is.
    pub fn say_of<T: Scalar>(&mut self, asked: &Asked<'_, T>) {
        let norms = (0..asked.b.ncols()).map(|k| {
            let (x, b) = (asked.x.col(k), asked.b.col(k));
            let r = weighted_residual(asked.a, x, b, asked.weights);
            (norm2(x).to_f64(), norm2(&r).to_f64())
        });
        let largest = norms.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)));
        (self.worst.solution_norm, self.worst.residual_norm) = largest.unwrap_or_default();
    }

    /// What the condition number leaves of x, where that is little.
    pub fn warning(&self) -> Option<String> {
        let condition = self.condition?;
        let lost = condition * self.unit;
        (lost > FEW_DIGITS).then(|| {
            let about = format!("A is ill-conditioned, by about {condition:.0e}");
            match (-lost.log10()).floor() {
                digits if digits >= 1.0 => {
                    let digits = plural(digits as usize, "digit", "digits");
                    format!("{about}: no more than {digits} of x may be right.")
                }
                _ => format!("{about}: no digit of x need be right."),
            }
        })
    }

    /// The sentence, and the colour that it deserves. `doubts` are half sentences on what should not go unnoticed: then it
    /// promises less.
    pub fn sentence(&self, doubts: &[&str]) -> (Style, String) {
        let what = match (self.problem, self.worst.consistent) {
            _ if self.minimised == Minimised::Damped => {
                "the damped sum of squares is as small as can be"
            }
            (_, false) if self.minimised == Minimised::Weighted => {
                "the weighted sum of squares is as small as can be"
            }
            (_, false) => "r is orthogonal to the columns of A",
            // As small as rounding in A x leaves it, and yet a part of b.
            (_, true) if self.left > self.usable => {
                "r is no larger than what rounding makes of so large an x"
            }
            (Problem::LeastSquares, true) if !self.full_rank => {
                "b is a combination of the columns of A, and x is one"
            }
            (Problem::LeastSquares, true) => {
                "b is a combination of the columns of A, and x is the one"
            }
            (Problem::MinimumNorm, _) => "A x = b holds, and no shorter x does it",
            (Problem::Square, _) => "A x = b holds",
        };
        let doubts = match doubts {
            [] => String::new(),
            [one] => (*one).to_owned(),
            [before @ .., last] => format!("{} and {last}", before.join(", ")),
        };
        if !self.knows_residual {
            let but = match doubts.as_str() {
                "" => String::new(),
                doubts => format!(", but {doubts}"),
            };
            let style = if but.is_empty() { WORK } else { WARN };
            let text =
                format!("Solved with the factors{but}. Without A the residual is not known.");
            return (style, text);
        }
        if self.excess <= 1.0 && !doubts.is_empty() {
            let text = format!("Solved, but {doubts}: {what}, up to rounding.");
            (WARN, text)
        } else if self.excess <= 1.0 {
            let text = format!("Solved to working precision: {what}, up to rounding.");
            (WORK, text)
        } else {
            let and = match doubts.as_str() {
                "" => String::new(),
                doubts => format!(", and {doubts}"),
            };
            if self.worst.normal_residual <= self.usable {
                let digits = -self.worst.normal_residual.log10();
                let text = format!(
                    "Solved, but less well than usual{and}: {what} to {digits:.0} digits only."
                );
                (WARN, text)
            } else {
                let text = format!("Not to be trusted: the residual is far above rounding{and}.");
                (BAD, text)
            }
        }
    }
}
