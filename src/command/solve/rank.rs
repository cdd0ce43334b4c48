//! What is to be said of the rank: which solution x is, what was dropped, and whether the answer is in doubt.
//!
//! Takes the rank, its check if there is one, and the norm of x; gives sentences. Knows no factor.

use super::super::units::{count, plural};
use treeqr::{Deficient, Problem, Rank, RankCheck, RankVerdict};

/// x is large when ||A||_F ||x|| is so many times ||b||: it then depends on the last digits of A.
const LARGE: f64 = 1e10;

/// The rank of one matrix and the solutions with it.
pub struct RankReport {
    pub rank: Rank,
    pub problem: Problem,
    pub asked: Deficient,
    /// Columns, or rows of a wide matrix.
    pub all: usize,
    /// The largest ||A||_F ||x|| / ||b||.
    pub growth: f64,
    /// What singular values say of it, if that was asked for.
    pub check: Option<RankCheck>,
}

impl RankReport {
    /// Whether there is something to be said.
    pub fn is_remarkable(&self) -> bool {
        let rank = &self.rank;
        let pivots = rank.doubtful > 0 || rank.raised_from.is_some();
        !rank.is_full() || pivots || self.check.is_some()
    }

    /// Whether another rank is as good.
    pub fn in_doubt(&self) -> bool {
        match &self.check {
            Some(check) => check.verdict != RankVerdict::Confirmed,
            None => self.rank.doubtful > 0 || self.rank.raised_from.is_some(),
        }
    }

    /// Whether x depends on the last digits of A.
    pub fn is_large(&self) -> bool {
        self.growth > LARGE
    }

    /// The check in a few words.
    pub fn checked(&self) -> Option<String> {
        let check = self.check.as_ref()?;
        let verdict = match check.verdict {
            RankVerdict::Confirmed => "confirmed",
            RankVerdict::NoGap => "no gap",
            RankVerdict::TooHigh => "too high",
            _ => check.verdict.name(),
        };
        let smallest = check.small.values.first()?;
        Some(format!(
            "{verdict}: smallest singular value of R about {smallest:.1e}"
        ))
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
            dropped_norm,
            ..
        } = self.rank;
        if let Some(check) = &self.check {
            let smallest = check.small.values.first().copied().unwrap_or_default();
            match check.verdict {
                RankVerdict::TooHigh => {
                    let below = plural(check.below, "singular value", "singular values");
                    let at_least = match check.below == check.small.values.len() {
                        true => "at least ",
                        false => "",
                    };
                    out.push(format!(
                        "The rank is in doubt: {at_least}{below} of R, estimated, are not above the tolerance, {tolerance:.1e}; \
                         the smallest is {smallest:.1e}. A larger --rank-tolerance gives a lower rank."
                    ));
                }
                RankVerdict::NoGap => out.push(format!(
                    "The rank is in doubt: the singular values have no gap there. The smallest of R is {smallest:.1e}, estimated; \
                     what was dropped is {dropped_norm:.1e}."
                )),
                _ => {}
            }
        } else if let Some(default) = raised_from {
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
        if self.is_large() {
            out.push(format!(
                "x is large: ‖A‖ ‖x‖ is {:.0e} times ‖b‖, so that rounding in A alone can change it. A larger \
                 --rank-tolerance gives a shorter x.",
                self.growth
            ));
        }
        out
    }
}
