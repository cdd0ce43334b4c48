//! `treeqr solve`: the whole way from a file to x.

mod json;
mod rank;
mod report;
mod trace;
mod verdict;

use super::bar::Bar;
use super::cli::SolveArgs;
use super::failure::Failure;
use super::input::{Problem, Rhs, read_matrix, read_rhs};
use super::{page, peak, stop};
use rank::RankReport;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use treeqr::profiling::Summary;
use treeqr::profiling::trace::Status;
use treeqr::{Dense, Progress, Solution, analyse, solve_analysed};
use verdict::Verdict;

/// All that the summary and the JSON tell.
struct Outcome {
    problem: Problem,
    rhs: Rhs,
    solution: Solution<f64>,
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

/// Solves, writes x, and tells how it went.
pub fn run(args: &SolveArgs) -> Result<(), Failure> {
    stop::watch();
    let options = args.analysis.options()?;
    trace::check(args)?;
    let output = stop::output(args.output.as_ref())?;
    let mut factor = args.run.options(args.analysis.threads.into());
    factor.tolerance = args.rank_tolerance;
    factor.deficient = args.solution.into();

    let bar = Bar::new();
    bar.phase("reading");
    let begin = Instant::now();
    let problem = read_matrix(&args.matrix)?;
    let rhs = read_rhs(args.rhs.as_ref(), &problem)?;
    let (read, read_at) = (begin.elapsed(), Instant::now());

    let about = |e: treeqr::Error| Failure::from(e).about(&problem.source);
    let (a, b) = (&problem.loaded.matrix, &rhs.b);
    bar.phase("analysing");
    let symbolic = analyse(a.pattern(), &options).map_err(about)?;
    let (analysed, analysed_at) = (begin.elapsed() - read, Instant::now());

    let progress = Progress::new(trace::record_options(args));
    let cancellable = stop::Cancellable::begin();
    factor.run.cancel = cancellable.handle();
    bar.factorize(&progress);
    let nrhs = b.ncols();
    let solved = solve_analysed(&symbolic, a, b.values(), nrhs, &factor, &progress);
    let mut steps = trace::Steps {
        begin,
        read: read_at,
        analysed: analysed_at,
        factorized: None,
        solved: None,
    };
    let solution = match solved {
        Ok(solution) => solution,
        Err(error) => {
            if let Some(record) = progress.take_unfinished() {
                let status = trace::status(&error);
                trace::write(args, &problem, &symbolic, &record, status, &steps)?;
            }
            return Err(about(error));
        }
    };
    cancellable.end()?;
    let factorized = analysed_at + solution.factorize_time;
    steps.factorized = Some(factorized);
    steps.solved = Some(factorized + solution.solve_time);
    bar.phase("checking");
    let x = Dense::new(a.ncols(), nrhs, solution.x.clone()).expect("a solution for each");
    let verdict = Verdict::of(symbolic.problem(), solution.rank.is_full(), a, &x, b);
    let (problem_kind, asked) = (symbolic.problem(), factor.deficient);
    let rank = RankReport::new(&solution.rank, problem_kind, asked, verdict.growth);
    let total = begin.elapsed();

    if let Some(output) = output {
        bar.phase("writing");
        output.write_dense(&x, &format!("x by treeqr solve {}", problem.source))?;
    }
    if args.trace.trace.is_some() || args.trace.report.is_some() {
        bar.phase("writing what was recorded");
    }
    let record = solution.run.record();
    let kept = trace::write(args, &problem, &symbolic, record, Status::Complete, &steps)?;
    let summary = solution.run.summary();
    let peak = peak::measure(solution.run.stats().threads);
    drop(bar);
    let outcome = Outcome {
        problem,
        rhs,
        solution,
        summary,
        verdict,
        rank,
        read,
        analysed,
        total,
        peak,
        output: args.output.clone(),
        kept,
    };
    page::print(&if args.json {
        format!("{:#}\n", outcome.json())
    } else {
        outcome.text()
    })
}

impl Outcome {
    /// Flops over the time of the factorization.
    fn gflops(&self) -> f64 {
        self.summary.flops as f64 / self.solution.factorize_time.as_secs_f64() / 1e9
    }
}
