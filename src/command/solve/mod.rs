//! `treeqr solve`: the whole way from a file to x.
//!
//! | file | subject |
//! | --- | --- |
//! | `numbers` | real or complex, and in which precision |
//! | `work` | the steps, for any scalar |
//! | `verdict` | how good x is |
//! | `report`, `json` | the outcome told |
//! | `trace` | `--trace` and `--report` |

mod json;
mod numbers;
mod rank;
mod report;
mod trace;
mod verdict;
mod work;

use super::cli::SolveArgs;
use super::failure::Failure;
use super::input::Precision;
use super::{page, stop};
use rank::RankReport;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use treeqr::matrices::Source;
use treeqr::profiling::Summary;
use treeqr::{Fallback, Refinement, Run, Symbolic};
use verdict::Verdict;

/// All that the summary and the JSON tell.
struct Outcome {
    source: Source,
    rhs: RhsFacts,
    terms: TermFacts,
    /// Where b is data.
    r_squared: Option<f64>,
    /// Of x.
    scalar: &'static str,
    precision: Precision,
    symbolic: Arc<Symbolic>,
    run: Run,
    factorize_time: Duration,
    solve_time: Duration,
    refinement: Option<Refinement>,
    fallback: Option<Fallback>,
    summary: Summary,
    verdict: Verdict,
    rank: RankReport,
    read: Duration,
    analysed: Duration,
    total: Duration,
    /// GFlop/s of the machine's matrix product.
    peak: f64,
    output: Option<PathBuf>,
    /// The trace and the page that were written.
    kept: trace::Kept,
}

/// What is told of the right-hand sides.
struct RhsFacts {
    /// The file, or `gallery:NAME:rhs`; none for all ones.
    source: Option<Source>,
    nrows: usize,
    ncols: usize,
    /// Complex with a real A: then each is solved as two real ones.
    split: bool,
}

/// What was minimised besides, and the matrix without it.
struct TermFacts {
    weights: Option<Source>,
    damping: Option<f64>,
    scale_columns: bool,
    nrows: usize,
    ncols: usize,
    nnz: usize,
}

/// Solves, writes x, and tells how it went.
pub fn run(args: &SolveArgs) -> Result<(), Failure> {
    stop::watch();
    let outcome = numbers::solve(args)?;
    page::print(&if args.json {
        format!("{:#}\n", outcome.json())
    } else {
        outcome.text()
    })
}

impl Outcome {
    /// What should not go unnoticed.
    fn warnings(&self) -> Vec<String> {
        let mut warnings = self.rank.warnings();
        if let Some(failure) = self.run.device_failure() {
            warnings.push(format!(
                "Device {failure}: everything was computed again on the CPU."
            ));
        }
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

    /// Flops over the time of the factorization.
    fn gflops(&self) -> f64 {
        self.summary.flops as f64 / self.factorize_time.as_secs_f64() / 1e9
    }
}
