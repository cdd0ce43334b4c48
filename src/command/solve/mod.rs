//! `treeqr solve`: the whole way from a file to x.
//!
//! | file | subject |
//! | --- | --- |
//! | `numbers` | real or complex, and in which precision |
//! | `work` | the steps, for any scalar |
//! | `verdict`, `rank`, `answer` | how good x is, what there is to be said of the rank, and both told |
//! | `report`, `json` | the outcome told |
//! | `loaded` | `--factors`: the way from factors in a file to x |
//! | `trace` | `--trace` and `--report` |

mod answer;
mod json;
mod loaded;
mod numbers;
mod rank;
mod report;
mod trace;
mod verdict;
mod work;

use super::cli::SolveArgs;
use super::failure::Failure;
use super::input::Precision;
use super::page::{self, Page};
use super::stop;
use super::units::count;
use answer::Answer;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use treeqr::matrices::Source;
use treeqr::profiling::Summary;
use treeqr::{Run, RunKind, Symbolic};

/// All that the summary and the JSON tell.
struct Outcome {
    source: Source,
    rhs: RhsFacts,
    terms: TermFacts,
    /// Of x.
    scalar: &'static str,
    precision: Precision,
    symbolic: Arc<Symbolic>,
    run: Run,
    factorize_time: Duration,
    solve_time: Duration,
    condition_time: Option<Duration>,
    answer: Answer,
    summary: Summary,
    read: Duration,
    analysed: Duration,
    total: Duration,
    /// GFlop/s of the machine's matrix product.
    peak: f64,
    output: Option<PathBuf>,
    /// The file of the factors, and its size.
    saved: Option<(PathBuf, u64)>,
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

impl RhsFacts {
    /// The row of the page.
    fn row(&self, page: &mut Page) {
        let b = match &self.source {
            None => format!("all ones ({}), since no --rhs was given", count(self.nrows)),
            Some(source) => match self.ncols {
                1 => source.to_string(),
                n => format!("{source}, {n} columns"),
            },
        };
        let split = match self.split {
            true => "; complex, solved as two real right-hand sides each",
            false => "",
        };
        page.row("b", &format!("{b}{split}"));
    }

    /// The keys.
    fn json(&self) -> Value {
        json!({
            "source": self.source.as_ref().map_or("ones".to_owned(), ToString::to_string),
            "cols": self.ncols,
            "split": self.split,
        })
    }
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
    if let Some(path) = &args.factors {
        return loaded::run(path, args);
    }
    let outcome = numbers::solve(args)?;
    page::print(&if args.json {
        format!("{:#}\n", outcome.json())
    } else {
        outcome.text()
    })
}

impl Outcome {
    /// What of the factorization's time went into the rank, where R had a negligible pivot: finding it, and what the shortest solution
    /// asks for.
    fn rank_time(&self) -> Option<Duration> {
        let kinds = self.run.record().kinds();
        let of_rank = |kind: &RunKind| matches!(kind, RunKind::Rank | RunKind::NullSpace);
        // The recorder begins with the factorization: what is before the tasks is in it.
        let first_pass = Duration::from_nanos(self.run.recording().runs.first()?.end_ns);
        (kinds.iter().any(of_rank)).then(|| self.factorize_time.saturating_sub(first_pass))
    }

    /// Flops over the time of the factorization.
    fn gflops(&self) -> f64 {
        self.summary.flops as f64 / self.factorize_time.as_secs_f64() / 1e9
    }
}
