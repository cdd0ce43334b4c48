//! The answer: how good x is and what is to be said of the rank, as rows of a page and as keys of JSON.
//!
//! Takes verdict, rank and refinement; knows no run, so that it serves for factors from a file too.

use super::super::page::{FAINT, Page, TITLE, WARN};
use super::super::units::{count, norm, plural};
use super::rank::RankReport;
use super::verdict::Verdict;
use serde_json::{Map, Value, json};
use treeqr::{Fallback, RankCheck, Refinement};

/// What is told of x.
pub struct Answer {
    pub verdict: Verdict,
    pub rank: RankReport,
    pub refinement: Option<Refinement>,
    pub fallback: Option<Fallback>,
    /// Where b is data.
    pub r_squared: Option<f64>,
}

impl Answer {
    /// What should not go unnoticed.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.rank.warnings();
        warnings.extend(self.verdict.warning());
        if self.refinement_failed() {
            warnings.push("Refinement did not come to its end.".to_owned());
        }
        warnings
    }

    /// The same as half sentences.
    fn doubts(&self) -> Vec<&'static str> {
        let doubts = [
            (self.rank.in_doubt(), "the rank is in doubt"),
            (self.rank.is_large(), "x is large"),
            (self.verdict.warning().is_some(), "A is ill-conditioned"),
            (
                self.refinement_failed(),
                "refinement did not come to its end",
            ),
        ];
        let said = doubts.into_iter().filter(|(holds, _)| *holds);
        said.map(|(_, words)| words).collect()
    }

    fn refinement_failed(&self) -> bool {
        let ended = self.refinement.as_ref().is_none_or(Refinement::succeeded);
        self.fallback.is_none() && !ended
    }

    /// How x was refined, or why that failed.
    pub fn refined(&self, page: &mut Page) {
        if let Some(refinement) = &self.refinement
            && let Some(column) = refinement.columns.iter().max_by_key(|c| c.corrections)
        {
            let sizes = column.steps.iter().map(|s| format!("{:.0e}", s.correction));
            let steps = plural(refinement.corrections(), "correction", "corrections");
            let sizes: Vec<_> = sizes.collect();
            page.prose("Refined", &format!("{steps}: {}", sizes.join(", ")));
        }
        if let Some(why) = &self.fallback {
            page.row(
                "",
                &format!("{WARN}factorized again in double{WARN:#}: {why}"),
            );
        }
    }

    /// The rank, where it is remarkable, and the figures of x for so many right-hand sides.
    pub fn figures(&self, page: &mut Page, nrhs: usize) {
        let q = &self.verdict.worst;
        let each = match nrhs {
            1 => String::new(),
            n => format!("   {FAINT}the largest of {} columns{FAINT:#}", count(n)),
        };
        let relative = if q.consistent {
            "‖r‖ / (‖A‖ ‖x‖ + ‖b‖)"
        } else {
            "‖Aᵀr‖ / (‖A‖ ‖r‖)"
        };
        if self.rank.is_remarkable() {
            let rank = &self.rank.rank;
            let all = rank.rank + rank.dead.len();
            let mut text = format!("{} of {}", count(rank.rank), count(all));
            if !rank.is_full() {
                text += &format!(", ‖dropped‖ {}", norm_short(rank.dropped_norm));
            }
            text += &format!(
                ", smallest pivot {}, tolerance {}",
                norm_short(rank.smallest_pivot),
                norm_short(rank.tolerance)
            );
            page.row("Rank", &text);
            if let Some(checked) = self.rank.checked() {
                page.row("", &checked);
            }
        }
        let mut figure = |label, what: &str, value: &str, end: &str| {
            page.row(label, &format!("{what:<22} {TITLE}{value}{TITLE:#}{end}"));
        };
        figure("x", "‖x‖", &norm(q.solution_norm), &each);
        if self.verdict.knows_residual() {
            figure("", "‖r‖, r = b − A x", &norm(q.residual_norm), "");
        }
        if let Some(condition) = self.verdict.condition {
            figure("", "condition of A, about", &norm_short(condition), "");
        }
        if let Some(r_squared) = self.r_squared {
            figure("", "R²", &format!("{r_squared:.6}"), "");
        }
        if self.verdict.knows_residual() {
            figure("", relative, &norm_short(q.normal_residual), "");
        }
    }

    /// The sentence on x, that on the rank, and the warnings.
    pub fn sentences(&self, page: &mut Page) {
        let (style, sentence) = self.verdict.sentence(&self.doubts());
        page.sentence(style, &sentence);
        if let Some(sentence) = self.rank.sentence() {
            page.sentence(WARN, &sentence);
        }
        for warning in self.warnings() {
            page.sentence(WARN, &warning);
        }
    }

    /// All of that as keys.
    pub fn json(&self) -> Map<String, Value> {
        let (rank, quality) = (&self.rank.rank, &self.verdict.worst);
        let condition = self.verdict.condition.or(rank.condition);
        let known = self.verdict.knows_residual();
        let Value::Object(keys) = json!({
            "solution_norm": quality.solution_norm,
            "residual_norm": known.then_some(quality.residual_norm),
            "normal_residual": known.then_some(quality.normal_residual),
            "consistent": known.then_some(quality.consistent),
            "r_squared": self.r_squared,
            "refinement": self.refinement.as_ref().map(refinement),
            "fallback": self.fallback.as_ref().map(Fallback::name),
            "rank": rank.rank,
            "rank_tolerance": rank.tolerance,
            "dead_columns": rank.dead.iter().map(|j| j + 1).collect::<Vec<_>>(),
            "dropped_norm": rank.dropped_norm,
            "smallest_pivot": rank.smallest_pivot.is_finite().then_some(rank.smallest_pivot),
            "doubtful_pivots": rank.doubtful,
            "rank_tolerance_raised_from": rank.raised_from,
            "condition_estimate": condition.filter(|c| c.is_finite()),
            "rank_check": self.rank.check.as_ref().map(rank_check),
            "solution": self.rank.solution(),
            "sentence": self.verdict.sentence(&self.doubts()).1,
            "warnings": self.warnings(),
        }) else {
            return Map::new();
        };
        keys
    }
}

/// Two digits are enough to judge.
fn norm_short(x: f64) -> String {
    if x == 0.0 {
        "0".to_owned()
    } else {
        format!("{x:.1e}")
    }
}

/// What singular values say of the rank.
fn rank_check(check: &RankCheck) -> Value {
    json!({
        "verdict": check.verdict.name(),
        "singular_values": check.small.values,
        "relative_errors": finite(&check.small.relative_errors),
        "not_above_tolerance": check.below,
        "rounds": check.small.rounds,
    })
}

fn finite(values: &[f64]) -> Vec<Option<f64>> {
    let finite = |&v: &f64| v.is_finite().then_some(v);
    values.iter().map(finite).collect()
}

/// The steps of every right-hand side.
fn refinement(refinement: &Refinement) -> Value {
    let columns = refinement.columns.iter().map(|column| {
        json!({
            "end": column.end.name(),
            "corrections": column.corrections,
            "residuals": column.steps.iter().map(|s| s.residual).collect::<Vec<_>>(),
            "correction_sizes": column.steps.iter().map(|s| s.correction).collect::<Vec<_>>(),
        })
    });
    json!({
        "method": refinement.method.name(),
        "succeeded": refinement.succeeded(),
        "corrections": refinement.corrections(),
        "condition": refinement.condition,
        "isometry": refinement.isometry,
        "columns": columns.collect::<Vec<_>>(),
    })
}
