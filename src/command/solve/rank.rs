//! What is to be said of the rank: which solution x is, what was dropped, and whether the answer is in doubt.
//!
//! Takes the rank and the norm of x; gives sentences. Knows no factor.

use super::super::units::{count, plural};
use treeqr::{Deficient, Problem, Rank};

/// x is large when ||A||_F ||x|| is so many times ||b||: it then depends on the last digits of A.
const LARGE: f64 = 1e10;

/// The rank of one matrix and the solutions with it.
pub struct RankReport {
    pub rank: Rank,
    problem: Problem,
    asked: Deficient,
    /// Columns, or rows of a wide matrix.
    all: usize,
    /// The largest ||A||_F ||x|| / ||b||.
    growth: f64,
}

impl RankReport {
    pub fn new(rank: &Rank, problem: Problem, asked: Deficient, growth: f64) -> Self {
        RankReport {
            all: rank.rank + rank.dead.len(),
            rank: rank.clone(),
            problem,
            asked,
            growth,
        }
    }

    /// Whether there is something to be said.
    pub fn is_remarkable(&self) -> bool {
        !self.rank.is_full() || self.rank.doubtful > 0 || self.rank.raised_from.is_some()
    }

    /// Which of the solutions x is, as a name: `unique` where there is one only.
    pub fn solution(&self) -> &'static str {
        match (self.rank.is_full(), self.problem, self.asked) {
            (true, Problem::MinimumNorm, _) => "minimum_norm",
            (true, ..) => "unique",
            (_, Problem::MinimumNorm, _) | (_, _, Deficient::MinimumNorm) => "minimum_norm",
            _ => "basic",
        }
    }

    fn line(&self) -> &'static str {
        match self.problem {
            Problem::MinimumNorm => "row",
            _ => "column",
        }
    }

    /// One sentence on a matrix that lacks rank.
    pub fn sentence(&self) -> Option<String> {
        if self.rank.is_full() {
            return None;
        }
        let line = self.line();
        let dropped = self.rank.dead.len();
        let (depend, were) = match dropped {
            1 => ("depends", "was"),
            _ => ("depend", "were"),
        };
        let dropped = plural(dropped, line, &format!("{line}s"));
        let x = match self.solution() {
            "basic" => {
                "x is a basic solution, zero in what was dropped (--solution min-norm gives the shortest)"
            }
            _ => "x is the shortest of the least-squares solutions",
        };
        Some(format!(
            "The matrix is rank-deficient: {dropped} of {} {depend} on others and {were} dropped; {x}.",
            count(self.all)
        ))
    }

    /// What should not go unnoticed.
    pub fn warnings(&self) -> Vec<String> {
        let mut out = Vec::new();
        let Rank {
            doubtful,
            tolerance,
            raised_from,
            ..
        } = self.rank;
        if let Some(default) = raised_from {
            out.push(format!(
                "The rank is in doubt: with the usual tolerance, {default:.1e}, R is singular to working precision; \
                 it was raised to {tolerance:.1e}. --rank-tolerance sets it."
            ));
        } else if doubtful > 0 {
            let pivots = plural(
                doubtful,
                "pivot that was kept is",
                "pivots that were kept are",
            );
            let factor = count(Rank::DOUBT as u64);
            out.push(format!(
                "The rank is in doubt: {pivots} less than {factor} times the tolerance, {tolerance:.1e}. \
                 Another --rank-tolerance may give another x."
            ));
        }
        if self.growth > LARGE {
            out.push(format!(
                "x is large: ‖A‖ ‖x‖ is {:.0e} times ‖b‖, so that rounding in A alone can change it. A larger \
                 --rank-tolerance gives a shorter x.",
                self.growth
            ));
        }
        out
    }
}
