//! `--trace` and `--report`: what was recorded, kept.
//!
//! Takes the record of a run, finished or not; writes a trace's folder, a page, or both, or says why it can't. The targets are
//! looked at before the work begins.

use super::super::cli::SolveArgs;
use super::super::failure::Failure;
use super::super::html;
use super::super::input::{OrderingChoice, Problem};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;
use treeqr::profiling::trace::{Manifest, Overwrite, Status, check_target};
use treeqr::runtime::RunError;
use treeqr::solver::SolveError;
use treeqr::{Error, Record, RecordOptions, Scalar, Symbolic, TraceNotes, fingerprint};

/// Where the steps of the command began.
pub struct Steps {
    pub begin: Instant,
    pub read: Instant,
    pub analysed: Instant,
    pub factorized: Option<Instant>,
    pub solved: Option<Instant>,
}

fn overwrite(args: &SolveArgs) -> Overwrite {
    match args.trace.force {
        true => Overwrite::Trace,
        false => Overwrite::Never,
    }
}

/// Fails where the trace or the page could not be written at the end.
pub fn check(args: &SolveArgs) -> Result<(), Failure> {
    if let Some(page) = &args.trace.report {
        html::check(page, args.trace.force)?;
    }
    let Some(path) = &args.trace.trace else {
        return Ok(());
    };
    check_target(path, overwrite(args)).map_err(|error| {
        let failure = Failure::input(error);
        match args.trace.force {
            true => failure,
            false => failure.hint("--force replaces a trace"),
        }
    })
}

/// How the run is to be recorded. What finds no memory goes beside the trace, where there must be room anyway.
pub fn record_options(args: &SolveArgs) -> RecordOptions {
    let defaults = RecordOptions::default();
    let kept = args.trace.trace.as_ref().or(args.trace.report.as_ref());
    let beside = kept.and_then(|path| path.parent());
    let folder = beside.filter(|folder| folder.is_dir());
    RecordOptions {
        memory_bytes: usize::try_from(args.trace.trace_memory).unwrap_or(usize::MAX),
        spill_dir: folder.map_or(defaults.spill_dir, Path::to_owned),
        modules: args.trace.record,
    }
}

/// How the run ended that gave `error`.
pub fn status(error: &Error) -> Status {
    match error {
        Error::Solve(SolveError::Run(RunError::Cancelled)) => Status::Cancelled,
        error => Status::Failed(error.to_string()),
    }
}

/// What was written.
#[derive(Default)]
pub struct Kept {
    /// The trace.
    pub traced: Option<(PathBuf, Manifest)>,
    /// The page, and its size.
    pub reported: Option<(PathBuf, usize)>,
}

/// Writes what was asked for.
pub fn write<T: Scalar>(
    args: &SolveArgs,
    problem: &Problem<T>,
    symbolic: &Symbolic,
    record: &Record,
    status: Status,
    steps: &Steps,
) -> Result<Kept, Failure> {
    let asked = &args.trace;
    let mut kept = Kept::default();
    if asked.trace.is_none() && asked.report.is_none() {
        return Ok(kept);
    }
    let notes = TraceNotes {
        command: std::env::args_os()
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        matrix: problem.source.to_string(),
        fingerprint: fingerprint(&problem.loaded.matrix),
        options: options(args, symbolic),
        phases: phases(symbolic, steps),
        memory_limit_bytes: limit(args, record),
    };
    let complete = status == Status::Complete;
    let trace = treeqr::trace(symbolic, record, status, notes);
    if let Some(path) = &asked.trace {
        let written = trace.write(path, overwrite(args)).map_err(Failure::input)?;
        kept.traced = Some((path.clone(), written));
    }
    // A run that came to no task has nothing to show, and says itself why.
    if let Some(path) = asked
        .report
        .as_ref()
        .filter(|_| complete || !trace.tables.tasks.is_empty())
    {
        let bytes = html::write(&[&trace], Vec::new(), path, asked.force)?;
        kept.reported = Some((path.clone(), bytes));
    }
    Ok(kept)
}

fn limit(args: &SolveArgs, record: &Record) -> Option<u64> {
    let factorization = record.recording().runs.first();
    let streams = match args.run.emulate_device.is_empty() {
        true => factorization.map_or(0, |run| run.device_workers.iter().sum()),
        false => 0,
    };
    let workers = usize::from(args.analysis.threads) + streams;
    let limit = args.run.memory_limit.bytes(record.prediction(), workers);
    limit.ok().flatten()
}

/// What was asked for, by the names of the flags.
fn options(args: &SolveArgs, symbolic: &Symbolic) -> Map<String, Value> {
    let (tree, run) = (&args.analysis.tree, &args.run);
    // With devices the command chooses sizes that nobody asked for.
    let used = symbolic.options();
    let Value::Object(map) = json!({
        "threads": args.analysis.threads,
        "precision": args.precision.name(),
        "ordering": match &tree.ordering {
            OrderingChoice::Name(name) => (*name).to_owned(),
            OrderingChoice::File(path) => format!("file:{}", path.display()),
        },
        "mb": used.mb,
        "nb": used.nb,
        "ib": used.ib,
        "bh": tree.bh,
        "scheduler": run.scheduler.map(|entry| entry.name),
        "devices": run.devices.to_string(),
        "device_memory": run.device.device_memory,
        "streams": run.device.streams,
        "memory_limit": run.memory_limit.to_string(),
        "subtree_workers": run.subtree_workers,
        "window": run.window,
        "share": !run.no_share,
        "keep_denormals": run.keep_denormals,
        "emulate_device": run.emulate_device.iter().map(|d| d.name.clone()).collect::<Vec<_>>(),
    }) else {
        return Map::new();
    };
    map
}

/// The steps of the command, and those of the analysis inside.
fn phases(symbolic: &Symbolic, steps: &Steps) -> Vec<(String, Option<String>, Instant, Instant)> {
    let step = |name: &str, begin, end| (name.to_owned(), None, begin, end);
    let mut out = vec![
        step("read", steps.begin, steps.read),
        step("analyse", steps.read, steps.analysed),
    ];
    let mut begin = steps.read;
    for &(name, duration) in symbolic.steps() {
        let end = begin + duration;
        out.push((name.to_owned(), Some("analyse".to_owned()), begin, end));
        begin = end;
    }
    if let Some(factorized) = steps.factorized {
        out.push(step("factorize", steps.analysed, factorized));
        out.extend(steps.solved.map(|solved| step("solve", factorized, solved)));
    }
    out
}
