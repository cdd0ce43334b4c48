//! Whether a rank that was found stands up to the singular values.
//!
//! Takes the small singular values of the live part of R and what was dropped; gives a verdict. With r live columns, and d the norm of
//! what was dropped, sigma_r(A) is at least the smallest value less d, and sigma_{r+1}(A) at most d: a rank with the first
//! above the tolerance and far above d is that of the singular values.

use super::Rank;
use super::small::SmallSingularValues;
use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors};
use crate::solve::SolveOptions;

/// How far the smallest value that is kept has to be above what was dropped, for a gap.
const GAP: f64 = 1e3;

/// What the small singular values say of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RankVerdict {
    /// All of them are above the tolerance, and far above what was dropped.
    Confirmed,
    /// They come close to what was dropped: there is no gap, and another tolerance gives another rank.
    NoGap,
    /// Some are not above the tolerance, though no pivot is as small: the rank is too high for it.
    TooHigh,
}

impl RankVerdict {
    /// What JSON calls it.
    pub fn name(self) -> &'static str {
        match self {
            RankVerdict::Confirmed => "confirmed",
            RankVerdict::NoGap => "no_gap",
            RankVerdict::TooHigh => "too_high",
        }
    }
}

/// A rank, held against the small singular values.
#[derive(Clone, Debug, PartialEq)]
pub struct RankCheck {
    /// Of the live part of R.
    pub small: SmallSingularValues,
    /// How many of them are not above the tolerance.
    pub below: usize,
    /// The verdict.
    pub verdict: RankVerdict,
}

impl<T: FactorScalar> Factors<T> {
    /// Holds the rank against the `count` smallest singular values. The cost is that of [`Self::small_singular_values`].
    ///
    /// # Errors
    /// As [`Self::small_singular_values`].
    pub fn rank_check(
        &self,
        count: usize,
        options: &SolveOptions,
    ) -> Result<RankCheck, SolveError> {
        let small = self.small_singular_values(count, options)?;
        Ok(judge(self.rank_details(), small))
    }
}

fn judge(rank: &Rank, small: SmallSingularValues) -> RankCheck {
    let below = small.values.iter().filter(|&&v| v <= rank.tolerance);
    let below = below.count();
    let smallest = small.values.first().copied().unwrap_or(f64::INFINITY);
    let verdict = if below > 0 {
        RankVerdict::TooHigh
    } else if smallest < GAP * rank.dropped_norm {
        RankVerdict::NoGap
    } else {
        RankVerdict::Confirmed
    };
    RankCheck {
        small,
        below,
        verdict,
    }
}
