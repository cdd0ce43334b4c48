//! The runs of one matrix, interleaved, and what each leaves behind.
//!
//! Takes a matrix and a [`Plan`]; gives a [`Sample`] per run. The tree is cut for a number of workers, so each number has an
//! analysis of its own. One repetition is: the runs on one worker to compare with (in the first ones), then every
//! scheduler with every number of threads and every bound, beginning with another one each time, so that none always comes first.

use super::super::bar::Bar;
use super::super::failure::Failure;
use super::super::input::{AnyProblem, Precision, Problem};
use super::super::stop::Cancellable;
use super::super::units::plural;
use super::Plan;
use super::variant::{Variant, varying, words};
use std::sync::Arc;
use std::time::Duration;
use treeqr::profiling::TimeSplit;
use treeqr::runtime::{BoundThread, CancelHandle, ModelStore, SchedulerEntry};
use treeqr::solver::{AUTO, ORDERINGS};
use treeqr::{
    Config, Csc, FactorOptions, FactorScalar, Fallback, MixedScalar, Options, Pattern, Progress,
    RefineOptions, Run, Solution, Symbolic, analyse, solve_analysed, solve_mixed,
};

/// More rows and columns than any front has: nothing is cut.
const WHOLE: u32 = 1 << 30;

/// What a run was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A scheduler with a number of threads.
    Measure,
    /// The tasks for this number of threads, on one worker in the order of submission.
    OneWorker,
    /// All fronts whole, on one worker in the order of submission.
    Coarsest,
}

impl Purpose {
    /// What JSON and CSV call it.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::Measure => "measure",
            Purpose::OneWorker => "one_worker",
            Purpose::Coarsest => "coarsest",
        }
    }
}

/// One run.
#[derive(Clone, Debug)]
pub struct Sample {
    pub purpose: Purpose,
    /// From 0.
    pub repetition: u32,
    /// Its place among all runs that count, from 0.
    pub position: usize,
    /// `sequential` where it was to compare with.
    pub scheduler: &'static str,
    /// The number of threads that the tree was cut for, and the workers of a [`Purpose::Measure`].
    pub threads: usize,
    /// Which of the plan's; none where it was to compare with.
    pub variant: Option<usize>,
    /// Wall time of the factorization, on the emulated machine if there is one.
    pub time: Duration,
    /// Wall time from the factors to x, refinement included.
    pub solve: Duration,
    /// What the run is judged by: the time of the factorization, or with that of the solve where the plan says so.
    pub counted: Duration,
    /// Why mixed precision factorized again, if it did.
    pub fallback: Option<&'static str>,
    /// How many times slower than the emulated machine the run was; 1 where nothing is emulated. `time` and `split` are
    /// wall times over this.
    pub time_scale: f64,
    pub split: TimeSplit,
    /// Part of the time in tasks, from the first to the end of the last task.
    pub occupancy: f64,
    pub flops: u64,
    pub tasks: u64,
    pub peak_bytes: u64,
    /// The peak of a sequential run, which a relative memory limit is a multiple of.
    pub sequential_peak_bytes: u64,
    /// Records that did not fit: where there are some, the times above lack something.
    pub dropped: u64,
}

impl Sample {
    /// 10^9 floating-point operations per second of wall time.
    pub fn gflops(&self) -> f64 {
        self.flops as f64 / self.time.as_secs_f64().max(1e-9) / 1e9
    }
}

/// All runs of a matrix that count.
pub struct Measured {
    /// The analysis for the smallest number of threads.
    pub symbolic: Arc<Symbolic>,
    /// In the order in which they were made.
    pub samples: Vec<Sample>,
}

/// What to run.
#[derive(Clone, Copy)]
struct Job<'a> {
    purpose: Purpose,
    scheduler: Option<&'static SchedulerEntry>,
    threads: usize,
    /// With its number in the plan.
    variant: Option<(usize, &'a Variant)>,
    symbolic: &'a Arc<Symbolic>,
}

impl Job<'_> {
    fn name(&self, plan: &Plan) -> String {
        match (self.purpose, self.scheduler) {
            (Purpose::Coarsest, _) => "fronts whole, one worker".to_owned(),
            (_, None) => "in order, one worker".to_owned(),
            (_, Some(scheduler)) => {
                let threads = plural(self.threads, "thread", "threads");
                let mut name = format!("{} on {threads}", scheduler.name);
                if let Some((_, variant)) = self.variant {
                    for word in words(variant, varying(&plan.variants)) {
                        name.push_str(&format!(", {word}"));
                    }
                }
                name
            }
        }
    }

    /// That of the variant, or the one of all where it is to compare with.
    fn precision(&self, plan: &Plan) -> Precision {
        self.variant
            .map_or(plan.variants[0].precision, |(_, variant)| variant.precision)
    }

    fn options(&self, plan: &Plan, cancel: CancelHandle) -> FactorOptions {
        let mut options = FactorOptions {
            run: Config {
                cancel,
                models: ModelStore::Cache,
                share: plan.share,
                ..Config::with_threads(self.threads)
            },
            sequential: self.scheduler.is_none(),
            // Of what is compared with, too, if it is one.
            tolerance: plan.variants[0].tolerance(),
            ..FactorOptions::default()
        };
        if let Some(scheduler) = self.scheduler {
            options.run.scheduler = scheduler;
            options.run.devices.clone_from(&plan.devices);
            options.run.accelerators.clone_from(&plan.accelerators);
        }
        if let Some((_, variant)) = self.variant {
            variant.bound(&mut options);
        }
        options
    }
}

/// Makes all runs of `plan` on the matrix. The bar shows which one is under way.
pub fn measure(problem: &AnyProblem, plan: &Plan, bar: &Bar) -> Result<Measured, Failure> {
    match problem {
        AnyProblem::Real(problem) => measure_in(problem, plan, bar),
        AnyProblem::Complex(problem) => measure_in(problem, plan, bar),
    }
}

/// A in all precisions that are asked for.
struct Matrices<'a, T: MixedScalar> {
    double: &'a Csc<T>,
    /// Made before any run.
    single: Option<Csc<T::Single>>,
}

/// What a run leaves, x apart.
struct Ran {
    run: Run,
    factorize_time: Duration,
    solve_time: Duration,
    fallback: Option<&'static str>,
}

impl<T: MixedScalar> Matrices<'_, T> {
    /// Factorizes, and solves for b all ones.
    fn run(
        &self,
        precision: Precision,
        symbolic: &Arc<Symbolic>,
        options: &FactorOptions,
    ) -> Result<Ran, treeqr::Error> {
        let progress = Progress::default();
        match precision {
            Precision::Double => plain(self.double, symbolic, options, &progress),
            Precision::Single => {
                let a = self.single.as_ref().expect("made where it is asked for");
                plain(a, symbolic, options, &progress)
            }
            Precision::Mixed => {
                let (a, refine) = (self.double, RefineOptions::default());
                let b = vec![T::one(); a.nrows()];
                let done = solve_mixed(symbolic, a, &b, 1, options, &refine, &progress)?;
                let fallback = done.fallback.as_ref().map(Fallback::name);
                Ok(ran(done.solution, fallback))
            }
        }
    }
}

fn plain<T: FactorScalar>(
    a: &Csc<T>,
    symbolic: &Arc<Symbolic>,
    options: &FactorOptions,
    progress: &Progress,
) -> Result<Ran, treeqr::Error> {
    let b = vec![T::one(); a.nrows()];
    let solution = solve_analysed(symbolic, a, &b, 1, options, progress)?;
    Ok(ran(solution, None))
}

fn ran<T>(solution: Solution<T>, fallback: Option<&'static str>) -> Ran {
    Ran {
        run: solution.run,
        factorize_time: solution.factorize_time,
        solve_time: solution.solve_time,
        fallback,
    }
}

fn measure_in<T: MixedScalar>(
    problem: &Problem<T>,
    plan: &Plan,
    bar: &Bar,
) -> Result<Measured, Failure> {
    let about = |e: treeqr::Error| Failure::from(e).about(&problem.source);
    let single = plan
        .variants
        .iter()
        .any(|v| v.precision == Precision::Single);
    let matrices = Matrices {
        double: &problem.loaded.matrix,
        single: single.then(|| problem.loaded.matrix.to_precision()),
    };
    bar.phase("analysing");
    let trees = analyses(problem.loaded.matrix.pattern(), plan).map_err(about)?;
    let (baselines, combinations) = jobs(plan, &trees);

    let once = combinations.len();
    let baseline_rounds = match plan.baselines {
        0 => 0,
        n => n + plan.warmup,
    };
    let all =
        (plan.warmup + plan.reps) as usize * once + baseline_rounds as usize * baselines.len();
    let mut done = 0;
    let cancellable = Cancellable::begin();
    let mut run = |job: Job<'_>| {
        let name = format!("{}: {}", problem.source, job.name(plan));
        bar.runs(name, done, all);
        done += 1;
        let options = job.options(plan, cancellable.handle());
        // Without a scheduler the work is done on this thread: it has to stay where a worker would.
        let _bound = options.sequential.then(BoundThread::as_first_worker);
        let precision = job.precision(plan);
        matrices
            .run(precision, job.symbolic, &options)
            .map_err(about)
    };
    for _ in 0..plan.warmup {
        let compared_with = (plan.baselines > 0).then_some(&baselines);
        for &job in compared_with.into_iter().flatten().chain(&combinations) {
            run(job)?;
        }
    }
    let mut samples = Vec::with_capacity(all);
    for repetition in 0..plan.reps {
        let first = repetition as usize % once;
        let compared_with = (repetition < plan.baselines).then_some(&baselines);
        let jobs = compared_with.into_iter().flatten();
        let turned = combinations[first..].iter().chain(&combinations[..first]);
        for job in jobs.chain(turned) {
            let ran = run(*job)?;
            samples.push(sample(plan, job, repetition, samples.len(), &ran));
        }
    }
    cancellable.end()?;
    let symbolic = trees.cut[0].clone();
    Ok(Measured { symbolic, samples })
}

/// What there is to run in a repetition: on one worker, to compare with, and all combinations.
fn jobs<'a>(plan: &'a Plan, trees: &'a Trees) -> (Vec<Job<'a>>, Vec<Job<'a>>) {
    let on_one = |purpose, threads, symbolic| Job {
        purpose,
        scheduler: None,
        threads,
        variant: None,
        symbolic,
    };
    let by_threads = || plan.threads.iter().copied().zip(&trees.cut);
    let whole = trees
        .whole
        .as_ref()
        .map(|symbolic| on_one(Purpose::Coarsest, 1, symbolic));
    let one_worker = by_threads().map(|(threads, s)| on_one(Purpose::OneWorker, threads, s));
    let baselines = whole.into_iter().chain(one_worker).collect();
    let mut combinations = Vec::new();
    for (threads, symbolic) in by_threads() {
        for &scheduler in &plan.schedulers {
            let each = plan.variants.iter().enumerate();
            combinations.extend(each.map(|variant| Job {
                purpose: Purpose::Measure,
                scheduler: Some(scheduler),
                threads,
                variant: Some(variant),
                symbolic,
            }));
        }
    }
    (baselines, combinations)
}

/// The analyses of a matrix.
struct Trees {
    /// For each number of threads.
    cut: Vec<Arc<Symbolic>>,
    /// With all fronts whole, if it will be compared with.
    whole: Option<Arc<Symbolic>>,
}

fn analyses(pattern: &Arc<Pattern>, plan: &Plan) -> Result<Trees, treeqr::Error> {
    let mut options = plan.options.clone();
    let mut cut = Vec::with_capacity(plan.threads.len());
    for &threads in &plan.threads {
        options.threads = threads;
        let symbolic = analyse(pattern, &options)?;
        let taken = symbolic.ordering();
        // No need to choose twice.
        if options.ordering == AUTO && ORDERINGS.iter().any(|o| o.name == taken) {
            options.ordering = taken.to_owned();
        }
        cut.push(symbolic);
    }
    let uncut = Options {
        threads: 1,
        mb: Some(WHOLE),
        nb: Some(WHOLE),
        bh: None,
        ..options
    };
    let whole = (plan.baselines > 0).then(|| analyse(pattern, &uncut));
    let whole = whole.transpose()?;
    Ok(Trees { cut, whole })
}

fn sample(plan: &Plan, job: &Job<'_>, repetition: u32, position: usize, ran: &Ran) -> Sample {
    let (run, summary) = (&ran.run, ran.run.summary());
    let (stats, scale) = (run.stats(), run.stats().time_scale);
    let split = TimeSplit::of(&run.recording().runs[0]);
    let emulated = |ns: u64| (ns as f64 / scale).round() as u64;
    // What comes before the run is not in slow motion.
    let before = ran.factorize_time.saturating_sub(stats.elapsed);
    let time = before + stats.elapsed.div_f64(scale);
    Sample {
        purpose: job.purpose,
        repetition,
        position,
        scheduler: stats.scheduler,
        threads: job.threads,
        variant: job.variant.map(|(number, _)| number),
        time,
        solve: ran.solve_time,
        counted: match plan.times_solve() {
            true => time + ran.solve_time,
            false => time,
        },
        fallback: ran.fallback,
        time_scale: scale,
        split: TimeSplit {
            workers: split.workers,
            wall_ns: emulated(split.wall_ns),
            tasks_ns: emulated(split.tasks_ns),
            runtime_ns: emulated(split.runtime_ns),
            idle_ns: emulated(split.idle_ns),
        },
        occupancy: summary.occupancy,
        flops: summary.flops,
        tasks: stats.tasks,
        peak_bytes: stats.peak_bytes,
        sequential_peak_bytes: run.prediction().peak_bytes as u64,
        dropped: summary.dropped,
    }
}
