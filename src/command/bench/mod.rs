//! `treeqr bench`: schedulers compared on real runs.
//!
//! | file | subject |
//! | --- | --- |
//! | `args`, `variant` | the flags; bounds, precisions and looks at the rank that are compared |
//! | `measure` | the runs, interleaved, and what each leaves behind |
//! | `compare` | runs into medians, spreads and efficiencies; the fastest, and who can't be told from it |
//! | `statistics` | quantiles, and the rank-sum test |
//! | `table`, `columns`, `json`, `csv` | the outcome for people and for programs |

mod args;
mod columns;
mod compare;
mod csv;
mod json;
mod measure;
mod statistics;
mod table;
mod variant;

pub use args::BenchArgs;

use super::bar::Bar;
use super::failure::Failure;
use super::input::{AnyProblem, Precision, chosen_schedulers};
use super::{page, stop};
use compare::Compared;
use measure::Measured;
use std::path::Path;
use treeqr::Options;
use treeqr::devices::ScalarKind;
use treeqr::runtime::{Accelerator, DeviceSpec, SchedulerEntry};
use variant::{Variant, variants};

/// What is to be run on every matrix.
struct Plan {
    schedulers: Vec<&'static SchedulerEntry>,
    threads: Vec<usize>,
    /// At least one.
    variants: Vec<Variant>,
    /// Emulated, beside the threads.
    devices: Vec<DeviceSpec>,
    /// Real ones.
    accelerators: Vec<Accelerator>,
    /// Whether workers without a task help others.
    share: bool,
    reps: u32,
    warmup: u32,
    baselines: u32,
    options: Options,
}

/// What became of one matrix.
struct Outcome {
    problem: AnyProblem,
    done: Result<(Measured, Vec<Compared>), Failure>,
}

/// How programs get the outcome.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Json,
    Csv,
}

/// Runs all, and tells as it goes.
pub fn run(args: &BenchArgs) -> Result<(), Failure> {
    stop::watch();
    let form = form(args)?;
    let plan = plan(args)?;
    let output = stop::output(args.output.as_ref())?;
    let shown = output.is_some() || form.is_none();

    // A name that is wrong is to be known before hours of runs.
    let bar = Bar::new();
    bar.phase("reading");
    let read = args.matrices.iter().map(AnyProblem::read);
    let problems = read.collect::<Result<Vec<_>, _>>()?;
    drop(bar);

    if shown {
        page::print(&table::head(&plan, problems.len()))?;
    }
    let mut outcomes = Vec::with_capacity(problems.len());
    for problem in problems {
        let bar = Bar::new();
        let done = match measure::measure(&problem, &plan, &bar) {
            Err(failure) if failure.is_stop() => return Err(failure),
            done => done,
        };
        drop(bar);
        let done = done.map(|measured| {
            let compared = compare::compare(&plan, &measured);
            (measured, compared)
        });
        let outcome = Outcome { problem, done };
        if shown && let Ok((measured, compared)) = &outcome.done {
            page::print(&table::matrix(&plan, &outcome.problem, measured, compared))?;
        }
        outcomes.push(outcome);
    }
    let any = outcomes.iter().any(|o| o.done.is_ok());
    if shown && any {
        page::print(&table::legend(&plan))?;
    }
    if let (Some(form), true) = (form, any) {
        let text = match form {
            Form::Json => format!("{:#}\n", json::object(&plan, &outcomes)),
            Form::Csv => csv::lines(&plan, &outcomes),
        };
        match output {
            Some(output) => output.write_with(|w| w.write_all(text.as_bytes()))?,
            None => page::print(&text)?,
        }
    }
    // The others were measured all the same; the last failure is the command's.
    let mut failures: Vec<_> = outcomes.into_iter().filter_map(|o| o.done.err()).collect();
    let last = failures.pop();
    for failure in &failures {
        failure.report();
    }
    last.map_or(Ok(()), Err)
}

/// JSON or CSV, by flag or by the name of the file.
fn form(args: &BenchArgs) -> Result<Option<Form>, Failure> {
    if args.json {
        return Ok(Some(Form::Json));
    }
    if args.csv {
        return Ok(Some(Form::Csv));
    }
    let Some(path) = &args.output else {
        return Ok(None);
    };
    let zipped = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    let plain = if zipped {
        Path::new(path.file_stem().unwrap_or_default())
    } else {
        path
    };
    let extension = plain.extension().unwrap_or_default();
    if extension.eq_ignore_ascii_case("json") {
        Ok(Some(Form::Json))
    } else if extension.eq_ignore_ascii_case("csv") {
        Ok(Some(Form::Csv))
    } else {
        Err(Failure::input("neither JSON nor CSV by its name")
            .about(path.display())
            .hint("say which with --json or --csv, or let it end in .json or .csv"))
    }
}

impl Plan {
    /// The one precision of all variants, if there is one.
    fn precision(&self) -> Option<Precision> {
        let first = self.variants[0].precision;
        self.variants
            .iter()
            .all(|v| v.precision == first)
            .then_some(first)
    }

    /// Whether the time of a run has the solve in it: single precision is as good as what has to be made up for it.
    fn times_solve(&self) -> bool {
        self.precision() != Some(Precision::Double)
    }
}

fn plan(args: &BenchArgs) -> Result<Plan, Failure> {
    let variants = variants(args);
    let one_precision = variants
        .iter()
        .all(|v| v.precision == variants[0].precision);
    let mut threads: Vec<usize> = args.threads.iter().map(|&t| t.into()).collect();
    threads.sort_unstable();
    threads.dedup();
    let options = args.device.options(&args.devices);
    let opened = options.open(f64::INFINITY, &ScalarKind::ALL);
    let opened = opened.map_err(|e| Failure::from(treeqr::Error::from(e)))?;
    for note in &opened.notes {
        tracing::warn!("{note}");
    }
    let accelerators = opened.accelerators;
    Ok(Plan {
        schedulers: chosen_schedulers(&args.schedulers),
        threads,
        reps: args.reps,
        warmup: args.warmup,
        // A machine that is not this one is not measured by one of this one's processors, nor one precision by another.
        baselines: if args.emulate_device.is_empty() && accelerators.is_empty() && one_precision {
            args.baselines.min(args.reps)
        } else {
            0
        },
        variants,
        devices: args.emulate_device.clone(),
        options: Options {
            for_devices: !accelerators.is_empty(),
            ..args.tree.options(1)?
        },
        accelerators,
        share: !args.no_share,
    })
}
