//! The flags and the help of `treeqr bench`.

use super::super::cli::{DeviceArgs, EXIT_CODES, TreeArgs};
use super::super::input::{Precision, SchedulerChoice, SchedulersParser};
use super::super::limits::{Bound, count_bound, memory_bound};
use super::variant::RankLook;
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use treeqr::DeviceChoice;
use treeqr::matrices::Source;
use treeqr::runtime::{DeviceSpec, available_threads};
use treeqr::solver::MemoryLimit;

/// Time schedulers on matrices, and tell what each loses to what
///
/// Factorizes each matrix under every scheduler with every number of threads and every bound, again and again, as
/// `treeqr solve` with b all ones would. The repetition is the outermost loop: when the machine slows down for a while, all
/// suffer alike.
#[derive(Args)]
#[command(after_help = format!("Examples:
  treeqr bench gallery:grid3d-20
  treeqr bench A.mtx.gz B.mtx --schedulers lws,prio --threads 1,2,4 --reps 9
  treeqr bench A.mtx --schedulers lws --memory-limit none,1.5x,1x --subtree-workers none,1
  treeqr bench A.mtx --schedulers lws --precision double,mixed --rank on,off
  treeqr bench A.mtx --schedulers dmda,heteroprio --emulate-device cuda0:speed=8,memory=512MiB
  treeqr bench gallery:lp-6000 --threads 2 --csv -o runs.csv
  treeqr bench gallery:lp-6000 --json | jq '.matrices[].combinations[] | {{scheduler, median_s}}'

The table has, of each combination, the median, range and interquartile range (iqr) of the
factorization's wall time; GFlop/s at the median; of the median run, the part of the workers' time
in tasks (busy) and the efficiency split; and the largest memory peak of all runs. The fastest
combination of a matrix and thread count is marked, and so are those that this many repetitions
can't tell from it (rank-sum test, 5 %, divided by the number of comparisons). speedup is over the
same combination on one thread, where that was run too. On a narrow page the range, iqr, GFlop/s and
busy are left out, in this order, where there is no room.

With --precision single or mixed the time is that of factorization and solve together, since mixed
precision makes up in the solve for what it saves before; with several precisions there are no
baselines, since each would need its own.

Bounds with several values multiply: --memory-limit none,1x --window none,500 makes four of every
scheduler. With --emulate-device all times are those of the emulated machine: wall time over how
many times slower it was run; there are no baselines, since one processor is no measure for it.
Schedulers with cost models use and improve those that `treeqr solve` keeps, in the warm-up too.

The efficiency e is the time in tasks of a run on one worker with all fronts left whole, over
workers x wall time of the tasks' run (the median above has the plan in it, made before the run).
It is the product of (Agullo, Buttari, Guermouche, Lopez, ACM TOMS 2016)
  gran  lost to cutting fronts into tiles, and subtrees into tasks
  task  lost by tasks that run slower beside others, or far from their data
  pipe  lost for want of ready tasks
  runt  lost to the runtime, the start and the end of threads included
The first two need runs that nobody asked for, by one worker in the order of submission: all fronts
whole, and the tasks of each thread count. --baselines says how often; 0 leaves e, gran and task
out. They can exceed 1: tiles may suit the caches better than whole fronts.

--json and --csv have all runs, those to compare with too; new versions add keys and columns, and
rename none. A matrix that fails costs its own results only, and the exit code.

{EXIT_CODES}"))]
pub struct BenchArgs {
    /// The matrices: Matrix Market files, plain or gzip, or gallery:NAME
    #[arg(value_name = "A.mtx[.gz]|gallery:NAME", required = true)]
    pub matrices: Vec<Source>,
    /// Which schedulers, or all; `treeqr schedulers` lists them
    #[arg(
        long,
        value_name = "NAME,...|all",
        value_delimiter = ',',
        default_value = "all"
    )]
    #[arg(value_parser = SchedulersParser, hide_possible_values = true)]
    pub schedulers: Vec<SchedulerChoice>,
    /// Numbers of workers [default: a worker per processor]
    #[arg(long, short, value_name = "N,...", value_delimiter = ',')]
    #[arg(default_values_t = [available_threads() as u16], hide_default_value = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Vec<u16>,
    /// Runs of each combination that count
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub reps: u32,
    /// Runs of each combination before, which do not
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub warmup: u32,
    /// Runs by one worker that the efficiency split compares with, in as many of the repetitions
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub baselines: u32,
    /// Limits on the memory for fronts and factors to be compared, each as that of `treeqr solve`
    #[arg(
        long,
        value_name = "auto|none|SIZE|FACTORx,...",
        value_delimiter = ',',
        default_value = "auto"
    )]
    #[arg(value_parser = memory_bound)]
    pub memory_limit: Vec<Bound<MemoryLimit>>,
    /// Numbers of workers that may be in whole subtrees at the same time, to be compared
    #[arg(
        long,
        value_name = "none|N,...",
        value_delimiter = ',',
        default_value = "none"
    )]
    #[arg(value_parser = count_bound)]
    pub subtree_workers: Vec<Bound<NonZeroUsize>>,
    /// Numbers of tasks that may be submitted and not done at the same time, to be compared
    #[arg(
        long,
        value_name = "none|TASKS,...",
        value_delimiter = ',',
        default_value = "none"
    )]
    #[arg(value_parser = count_bound)]
    pub window: Vec<Bound<NonZeroUsize>>,
    /// A device to emulate beside the workers, as that of `treeqr solve`; several make one machine with all of them
    #[arg(long, value_name = "NAME:KEY=VALUE,...")]
    pub emulate_device: Vec<DeviceSpec>,
    /// CUDA devices that take part in all measured runs: none, auto (those that there are), or their numbers as 0,1
    #[arg(
        long,
        value_name = "none|auto|N,...",
        default_value = "none",
        conflicts_with = "emulate_device"
    )]
    pub devices: DeviceChoice,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Precisions to be compared, as those of `treeqr solve`. A matrix with complex entries is computed with as such
    #[arg(
        long,
        value_name = "double|single|mixed,...",
        value_delimiter = ',',
        default_value = "double",
        hide_possible_values = true
    )]
    pub precision: Vec<Precision>,
    /// Whether the rank is looked at: on, off, or both to be compared. With off, matrices that lack rank take the time that
    /// they would take with it, and x is good for nothing; with on what their rank costs is in the times. Mixed precision
    /// always looks
    #[arg(
        long,
        value_name = "on|off,...",
        value_delimiter = ',',
        default_value = "on",
        hide_possible_values = true
    )]
    pub rank: Vec<RankLook>,
    /// The same as --rank off
    #[arg(long, conflicts_with = "rank")]
    pub any_rank: bool,
    /// Leave each task to the worker that the scheduler gave it to, instead of letting workers that have none do parts of it
    #[arg(long)]
    pub no_share: bool,
    #[command(flatten)]
    pub tree: TreeArgs,
    /// One JSON object with all runs, instead of the table or, with --output, beside it
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// A line per run, instead of the table or, with --output, beside it
    #[arg(long)]
    pub csv: bool,
    /// Where the JSON or CSV goes; which of them follows from the name if no flag says it. A file of that name is
    /// replaced when all is measured, and not before
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
