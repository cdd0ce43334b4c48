//! Subcommands, flags and help texts. Names of schedulers and orderings come from their tables.

use super::bench::BenchArgs;
use super::input::{
    OrderingChoice, OrderingParser, Precision, PrioritiesChoice, SolutionChoice, dense_rows,
    rank_tolerance, scheduler_parser,
};
use super::limits::{memory_limit, memory_size};
use super::plot::PlotArgs;
use super::report::ReportArgs;
use super::trace::args::TraceCommand;
use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args, Parser, Subcommand};
use clap_complete::Shell;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use treeqr::matrices::Source;
use treeqr::profiling::system::Modules;
use treeqr::runtime::{DeviceSpec, SchedulerEntry, available_threads};
use treeqr::solver::MemoryLimit;
use treeqr::{DEFAULT_STREAMS, DenseRows, DeviceChoice};

pub const EXIT_CODES: &str = "\
Exit codes:
  0  solved
  1  bad input or use: a file, a value, a flag
  2  could not be solved: out of memory, numbers that overflow
  3  stopped, as by Ctrl-C";

/// Sparse linear least squares by a task-based multifrontal QR factorization
#[derive(Parser)]
#[command(
    name = "treeqr",
    version,
    max_term_width = 100,
    propagate_version = false
)]
#[command(after_help = after_help())]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

fn after_help() -> String {
    format!(
        "A matrix is a Matrix Market file, plain or compressed by gzip, or gallery:NAME, made on the spot.\n\
         - is one that comes through the standard input.\n\n\
         Examples:
  treeqr solve gallery:survey-60x50 --rhs gallery:survey-60x50:rhs
  treeqr analyse A.mtx.gz --ordering metis
  treeqr gallery ch6-6-b3 -o ch6-6-b3.mtx.gz
  bzcat A.mtx.bz2 | treeqr solve -\n\n{EXIT_CODES}"
    )
}

#[derive(Subcommand)]
pub enum Command {
    Solve(SolveArgs),
    Analyse(AnalyseArgs),
    Info(InfoArgs),
    Gallery(GalleryArgs),
    Bench(BenchArgs),
    #[command(subcommand)]
    Trace(TraceCommand),
    Report(ReportArgs),
    Plot(PlotArgs),
    /// Show the machine: packages, memory, caches, cores, and what this process may use
    #[command(after_help = "Examples:\n  treeqr topology")]
    Topology,
    /// List the schedulers
    #[command(after_help = "Examples:\n  treeqr schedulers")]
    Schedulers,
    /// List the column orderings
    #[command(after_help = "Examples:\n  treeqr orderings")]
    Orderings,
    /// Print a completion script for a shell
    #[command(after_help = "Examples:
  treeqr completions bash > ~/.local/share/bash-completion/completions/treeqr
  treeqr completions fish > ~/.config/fish/completions/treeqr.fish
  treeqr completions zsh  > ~/.zfunc/_treeqr      # a folder of $fpath")]
    Completions {
        /// For which shell
        shell: Shell,
    },
}

impl Command {
    /// What it is to read.
    pub fn sources(&mut self) -> Vec<&mut Source> {
        match self {
            Command::Solve(args) => {
                // With factors, - says that there is no matrix.
                let matrix = args.matrix.as_mut().filter(|_| args.factors.is_none());
                let others = [&mut args.rhs, &mut args.weights].into_iter().flatten();
                matrix.into_iter().chain(others).collect()
            }
            Command::Analyse(args) => vec![&mut args.matrix],
            Command::Info(args) => vec![&mut args.matrix],
            Command::Bench(args) => args.matrices.iter_mut().collect(),
            Command::Trace(TraceCommand::Graph(args)) => vec![&mut args.matrix],
            _ => Vec::new(),
        }
    }

    /// How many threads it may have at work, no more than there are processors. Where workers are asked for, what comes before the
    /// factorization has as many.
    pub fn threads(&self) -> usize {
        let asked = match self {
            Command::Solve(args) => Some(args.analysis.threads),
            Command::Analyse(args) => Some(args.analysis.threads),
            Command::Bench(args) => args.threads.iter().copied().max(),
            Command::Trace(TraceCommand::Graph(args)) => Some(args.analysis.threads),
            _ => None,
        };
        let available = available_threads();
        asked.map_or(available, |threads| available.min(threads.into()))
    }
}

/// Solve A x = b: least squares, minimum norm or square, by the shape of A
///
/// Minimises ||b - A x|| where A has more rows than columns, finds the shortest x with A x = b where it has fewer, and
/// the x with A x = b where it is square. Where columns (rows, of a wide A) depend on each other, finds a least-squares
/// solution all the same: --solution says which.
#[derive(Args)]
#[command(after_help = format!("Examples:
  treeqr solve A.mtx.gz
  treeqr solve A.mtx --rhs b.mtx --output x.mtx
  treeqr solve gallery:survey-60x50 --rhs gallery:survey-60x50:rhs
  treeqr solve A.mtx --threads 4 --scheduler prio --ordering metis --json | jq .times_s
  treeqr solve A.mtx --memory-limit 1.1x --subtree-workers 2
  treeqr solve A.mtx --precision mixed
  treeqr solve A.mtx --rhs b.mtx --weights w.mtx --damp 0.1
  treeqr solve A.mtx --trace A.trace
  treeqr solve A.mtx --solution min-norm --rank-tolerance 1e-8
  treeqr solve A.mtx --report A.html
  treeqr solve A.mtx --save-factors A.treeqr && treeqr solve A.mtx --factors A.treeqr --rhs b2.mtx
  treeqr solve A.mtx --scheduler dmdas --emulate-device cuda0:speed=8,bandwidth=12GB/s

--json prints one object. With several right-hand sides solution_norm, residual_norm and
normal_residual are the largest over them. normal_residual is ||A'r|| / (||A||_F ||r||) with
r = b - A x, or ||r|| / (||A||_F ||x|| + ||b||) where A x = b can be had. gflops is flops over the
time of the factorization. dead_columns are those (rows, of a wide A) that were dropped because they
depend on others, from 1; dropped_norm is the Frobenius norm of what was left of them.
condition_estimate is that of R, null where it was not estimated; refinement says how x was improved,
null where it was not. warnings are the sentences on what should not go unnoticed.

{EXIT_CODES}"))]
pub struct SolveArgs {
    /// The matrix A: a Matrix Market file, plain or gzip, or gallery:NAME. With --factors it may be left away, or be -; it then
    /// serves to check that the factors are its own, and for residuals
    #[arg(
        value_name = "A.mtx[.gz]|gallery:NAME",
        required_unless_present = "factors"
    )]
    pub matrix: Option<Source>,
    /// The right-hand sides, one per column: a file, or gallery:NAME:rhs [default: all ones]
    #[arg(long, value_name = "b.mtx")]
    pub rhs: Option<Source>,
    /// Where x goes; a file of that name is replaced when x is complete, and not before
    #[arg(long, short, value_name = "x.mtx")]
    pub output: Option<PathBuf>,
    /// In what precision is computed: double; single; or mixed, factorized in single and refined to the accuracy of double,
    /// and factorized again in double where that fails. Real or complex is as A is
    #[arg(
        long,
        value_name = "double|single|mixed",
        default_value = "double",
        hide_possible_values = true
    )]
    pub precision: Precision,
    /// A weight for every row: the sum of w |b - A x|^2 is minimised. 1 over the variance of an observation; none is negative
    #[arg(long, value_name = "w.mtx")]
    pub weights: Option<Source>,
    /// Minimise ||b - A x||^2 + LAMBDA^2 ||x||^2 (Tikhonov, ridge)
    #[arg(long, value_name = "LAMBDA")]
    pub damp: Option<f64>,
    /// Scale the columns of A (rows of a wide A) to norms of about 1 before; x is unscaled at the end
    #[arg(long)]
    pub scale_columns: bool,
    /// Improve x by corrections from its residual, in the precision of the factorization; mixed precision does so anyway
    #[arg(long)]
    pub refine: bool,
    /// Which of all least-squares solutions x is where A lacks rank: basic, zero in the columns that are dropped, or
    /// min-norm, the shortest, which may take a second factorization. A wide A has min-norm always
    #[arg(long, value_name = "basic|min-norm", default_value = "basic")]
    #[arg(hide_possible_values = true)]
    pub solution: SolutionChoice,
    /// A column of which no more than this is left, when those before it are taken away, is dropped [default: 20 (m + n)
    /// eps times the largest norm of a column]
    #[arg(long, value_name = "SIZE", value_parser = rank_tolerance)]
    pub rank_tolerance: Option<f64>,
    /// Keep Q to the end where x does not need it, as a program does that solves for more right-hand sides later: for times
    /// and memory of that. Dense columns of a wide A ask for it, mixed precision never keeps it
    #[arg(long)]
    pub keep_q: bool,
    /// Hold the rank against estimates of the smallest singular values, which takes some solves with R: whether they have a gap
    /// where the rank says, or the rank is in doubt
    #[arg(long)]
    pub rank_check: bool,
    /// Save the factors, with Q, to solve for other right-hand sides later with --factors. A name that ends in .gz compresses, for
    /// little gain
    #[arg(long, value_name = "FILE", conflicts_with_all = ["weights", "damp", "scale_columns"])]
    pub save_factors: Option<PathBuf>,
    /// Solve with factors that --save-factors has saved, without analysis and factorization. What was decided then stays: the
    /// precision, the rank, which solution x is
    #[arg(long, value_name = "FILE", conflicts_with_all = FACTORIZES)]
    pub factors: Option<PathBuf>,
    #[command(flatten)]
    pub analysis: AnalysisArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub trace: TraceArgs,
    /// Print one JSON object instead of the summary
    #[arg(long)]
    pub json: bool,
}

/// Flags of what is not done where there are factors already.
const FACTORIZES: [&str; 21] = [
    "precision",
    "weights",
    "damp",
    "scale_columns",
    "solution",
    "rank_tolerance",
    "keep_q",
    "save_factors",
    "ordering",
    "dense_rows",
    "mb",
    "nb",
    "ib",
    "bh",
    "memory_limit",
    "priorities",
    "subtree_workers",
    "emulate_device",
    "trace",
    "report",
    "window",
];

/// What is kept of the record.
#[derive(Args)]
#[command(group(ArgGroup::new("kept").args(["trace", "report"]).multiple(true)))]
pub struct TraceArgs {
    /// Keep what was recorded of every task, as Parquet tables in this new folder; `treeqr trace` reads it. A run that fails
    /// leaves one too, marked as such
    #[arg(long, value_name = "DIR")]
    pub trace: Option<PathBuf>,
    /// Show what was recorded as a page for a browser, as `treeqr report` does of a trace
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Replace the trace, or the page, that is there
    #[arg(long, requires = "kept")]
    pub force: bool,
    /// What to record besides, with commas: kernel (context switches of the threads), counters (of every task; or some by name,
    /// counters:page-faults,cycles). What the system does not have or allow is said in the trace
    #[arg(
        long,
        value_name = "MODULE,...",
        default_value = "",
        hide_default_value = true,
        requires = "kept"
    )]
    #[arg(value_parser = |text: &str| Modules::parse(text))]
    pub record: Modules,
    /// Memory for records; beyond it they go to a temporary file [default: 1GiB]
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "1GiB",
        hide_default_value = true
    )]
    #[arg(value_parser = memory_size)]
    pub trace_memory: u64,
}

/// How the tasks are run.
#[derive(Args)]
pub struct RunArgs {
    /// Which worker runs which task next; `treeqr schedulers` lists them [default: lws; dmdas with devices]
    #[arg(long, value_name = "NAME")]
    #[arg(value_parser = scheduler_parser())]
    pub scheduler: Option<&'static SchedulerEntry>,
    /// The most memory for fronts and factors: 2GiB, 800MB, or 1.2x of the peak of a sequential run. Less is then done at
    /// the same time. auto: 1x for two workers, half as much again for each further one, but
    /// 16 MB and twice the matrix at least
    #[arg(long, value_name = "auto|none|SIZE|FACTORx", value_parser = memory_limit, default_value_t = MemoryLimit::Auto)]
    pub memory_limit: MemoryLimit,
    /// From what durations the priorities of tasks are computed: fixed rates, or the cost models that earlier runs have
    /// kept (then this run measures its tasks, too)
    #[arg(
        long,
        value_name = "fixed|models",
        default_value = "fixed",
        hide_possible_values = true
    )]
    pub priorities: PrioritiesChoice,
    /// Workers that may be in whole subtrees at the same time; they press the memory more than other tasks [default: all]
    #[arg(long, value_name = "N")]
    pub subtree_workers: Option<NonZeroUsize>,
    /// Tasks that may be submitted and not done at the same time [default: no bound]
    #[arg(long, value_name = "TASKS")]
    pub window: Option<NonZeroUsize>,
    /// Leave each task to the worker that the scheduler gave it to, instead of letting workers that have none do parts of it: for
    /// comparing schedulers
    #[arg(long)]
    pub no_share: bool,
    /// Compute with denormal numbers as they are, instead of flushing them to zero: slow where there are many
    #[arg(long)]
    pub keep_denormals: bool,
    /// A device to emulate beside the workers, as cuda0:speed=8,bandwidth=12GB/s,latency=10us,memory=512MiB; for comparing
    /// schedulers: times are then those of the emulated machine, stretched
    #[arg(long, value_name = "NAME:KEY=VALUE,...")]
    pub emulate_device: Vec<DeviceSpec>,
    /// CUDA devices that take part: auto (those that there are, where the work is worth it), none, or their numbers as 0,1;
    /// `treeqr topology` shows them
    #[arg(long, value_name = "auto|none|N,...", default_value = "auto")]
    pub devices: DeviceChoice,
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// How devices take part.
#[derive(Args)]
pub struct DeviceArgs {
    /// Memory that is taken of each device [default: 90 % of what is free]
    #[arg(long, value_name = "SIZE", value_parser = memory_size)]
    pub device_memory: Option<u64>,
    /// Tasks that run on a device at the same time
    #[arg(long, value_name = "N", default_value_t = DEFAULT_STREAMS as u16)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=64))]
    pub streams: u16,
    /// Page-lock large buffers of the host at their second copy to or from a device: for comparisons
    #[arg(long)]
    pub pin: bool,
}

/// Analyse the pattern of A: ordering, tree, and what a factorization will take
#[derive(Args)]
#[command(after_help = "Examples:
  treeqr analyse A.mtx.gz
  treeqr analyse gallery:grid3d-30 --ordering colamd
  treeqr analyse A.mtx --ordering file:order.txt --json | jq .flops")]
pub struct AnalyseArgs {
    /// The matrix A: a Matrix Market file, plain or gzip, or gallery:NAME
    #[arg(value_name = "A.mtx[.gz]|gallery:NAME")]
    pub matrix: Source,
    #[command(flatten)]
    pub analysis: AnalysisArgs,
    /// Print one JSON object instead of the report
    #[arg(long)]
    pub json: bool,
}

/// What an analysis can be told.
#[derive(Args)]
pub struct AnalysisArgs {
    /// Workers; reading and analysis have no more threads [default: a worker per processor]
    #[arg(long, short, value_name = "N", default_value_t = available_threads() as u16)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024), hide_default_value = true)]
    pub threads: u16,
    #[command(flatten)]
    pub tree: TreeArgs,
}

/// What an analysis can be told, the number of workers apart.
#[derive(Args)]
pub struct TreeArgs {
    /// The order of the columns; `treeqr orderings` lists them. file:PATH: a column, from 1, per line
    #[arg(long, value_name = "NAME|file:PATH", default_value = "auto")]
    #[arg(value_parser = OrderingParser, hide_possible_values = true)]
    pub ordering: OrderingChoice,
    /// Rows (columns, of a wide A) that are split off because they would fill R, and brought in by updating: auto, where that
    /// halves the work at least; none; or so many, those with the most entries
    #[arg(long, value_name = "auto|none|K", default_value = "auto", value_parser = dense_rows)]
    pub dense_rows: DenseRows,
    /// Rows of a tile [default: by the front's shape]
    #[arg(long, value_name = "ROWS")]
    pub mb: Option<u32>,
    /// Columns of a tile [default: by the front's shape]
    #[arg(long, value_name = "COLS")]
    pub nb: Option<u32>,
    /// Columns of an inner block [default: by the front's shape]
    #[arg(long, value_name = "COLS")]
    pub ib: Option<u32>,
    /// Tiles of a panel that are reduced one after the other before the rest is a binary tree; 0: all [default: by the
    /// front's shape]
    #[arg(long, value_name = "TILES")]
    pub bh: Option<u32>,
}

/// Describe a matrix: dimensions, entries, rows and columns, values
#[derive(Args)]
#[command(after_help = "Examples:
  treeqr info A.mtx.gz
  treeqr info gallery:TF13 --json")]
pub struct InfoArgs {
    /// The matrix A: a Matrix Market file, plain or gzip, or gallery:NAME
    #[arg(value_name = "A.mtx[.gz]|gallery:NAME")]
    pub matrix: Source,
    /// Print one JSON object instead of the report
    #[arg(long)]
    pub json: bool,
}

/// List the families of the gallery, or write one of its matrices
#[derive(Args)]
#[command(after_help = "Examples:
  treeqr gallery
  treeqr gallery ch6-6-b3 -o ch6-6-b3.mtx.gz
  treeqr gallery survey-60x50@7 -o A.mtx && treeqr gallery survey-60x50@7:rhs -o b.mtx
  treeqr gallery bibd_9_3 | head

NAME@SEED draws a random matrix anew. NAME:rhs and NAME:weights are the right-hand side and the
weights of the families that have them.")]
pub struct GalleryArgs {
    /// The matrix to write; without it the families are listed
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub name: Option<String>,
    /// Where to write it, compressed if the name ends in .gz [default: the standard output]
    #[arg(long, short, value_name = "FILE", requires = "name")]
    pub output: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_are_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
