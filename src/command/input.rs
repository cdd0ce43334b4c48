//! From the words of the command line to matrices, right-hand sides, column orders and options.

use super::cli::{AnalysisArgs, DeviceArgs, RunArgs, TreeArgs};
use super::failure::Failure;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use treeqr::devices::{DeviceError, ScalarKind};
use treeqr::matrices::{Loaded, Source};
use treeqr::runtime::{Config, ModelStore, SCHEDULERS, SchedulerEntry, schedulers};
use treeqr::solver::{AUTO, AnalyseError, ORDERINGS, Priorities};
use treeqr::{
    Deficient, Dense, DenseRows, DeviceChoice, DeviceOptions, FactorOptions, OpenDevices, Options,
    Pattern, RunShape, Scalar, c64, read_dense,
};

/// A scheduler by its name.
#[derive(Clone)]
pub struct SchedulerParser;

/// The parser of `--scheduler`.
pub fn scheduler_parser() -> SchedulerParser {
    SchedulerParser
}

impl TypedValueParser for SchedulerParser {
    type Value = &'static SchedulerEntry;

    fn parse_ref(
        &self,
        _: &clap::Command,
        _: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        schedulers::by_name(&value.to_string_lossy()).map_err(|e| invalid(&e.to_string()))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |e: &SchedulerEntry| PossibleValue::new(e.name).help(e.about);
        Some(Box::new(SCHEDULERS.iter().map(value)))
    }
}

/// A word of `--schedulers`.
#[derive(Clone, Copy)]
pub enum SchedulerChoice {
    /// The whole table.
    All,
    /// A line of it.
    One(&'static SchedulerEntry),
}

/// A scheduler by its name, or `all`.
#[derive(Clone)]
pub struct SchedulersParser;

impl TypedValueParser for SchedulersParser {
    type Value = SchedulerChoice;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<SchedulerChoice, clap::Error> {
        if value == ALL {
            return Ok(SchedulerChoice::All);
        }
        let entry = SchedulerParser.parse_ref(command, arg, value)?;
        Ok(SchedulerChoice::One(entry))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let all = PossibleValue::new(ALL).help("every scheduler");
        let value = |e: &SchedulerEntry| PossibleValue::new(e.name).help(e.about);
        Some(Box::new(
            std::iter::once(all).chain(SCHEDULERS.iter().map(value)),
        ))
    }
}

/// Every scheduler.
const ALL: &str = "all";

/// The schedulers that the words stand for, each once, in their order.
pub fn chosen_schedulers(words: &[SchedulerChoice]) -> Vec<&'static SchedulerEntry> {
    let mut chosen: Vec<&'static SchedulerEntry> = Vec::new();
    let entries = words.iter().flat_map(|&word| match word {
        SchedulerChoice::All => SCHEDULERS.iter().collect(),
        SchedulerChoice::One(entry) => vec![entry],
    });
    for entry in entries {
        if chosen.iter().all(|known| known.name != entry.name) {
            chosen.push(entry);
        }
    }
    chosen
}

/// What `--ordering` says.
#[derive(Clone, Debug)]
pub enum OrderingChoice {
    /// A line of the table, or `auto`.
    Name(&'static str),
    /// A column per line, from 1.
    File(PathBuf),
}

/// An ordering by its name, or by a file.
#[derive(Clone)]
pub struct OrderingParser;

impl TypedValueParser for OrderingParser {
    type Value = OrderingChoice;

    fn parse_ref(
        &self,
        _: &clap::Command,
        _: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<OrderingChoice, clap::Error> {
        let word = value.to_string_lossy();
        if let Some(path) = word.strip_prefix("file:") {
            return Ok(OrderingChoice::File(path.into()));
        }
        let found = ordering_names().find(|&(name, _)| name == word);
        found
            .map(|(name, _)| OrderingChoice::Name(name))
            .ok_or_else(|| {
                let known: Vec<_> = ordering_names().map(|(name, _)| name).collect();
                let error = AnalyseError::UnknownOrdering {
                    name: word.into_owned(),
                    known: known.join(", "),
                };
                invalid(&format!("{error}, and file:PATH"))
            })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |(name, about)| PossibleValue::new(name).help(about);
        Some(Box::new(ordering_names().map(value)))
    }
}

/// `--priorities`.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum PrioritiesChoice {
    /// From fixed rates.
    Fixed,
    /// From cost models.
    Models,
}

impl From<PrioritiesChoice> for Priorities {
    fn from(choice: PrioritiesChoice) -> Self {
        match choice {
            PrioritiesChoice::Fixed => Priorities::Fixed,
            PrioritiesChoice::Models => Priorities::Models,
        }
    }
}

/// `--solution`.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum SolutionChoice {
    /// Zero in the columns that are dropped.
    Basic,
    /// The shortest.
    MinNorm,
}

impl From<SolutionChoice> for Deficient {
    fn from(choice: SolutionChoice) -> Self {
        match choice {
            SolutionChoice::Basic => Deficient::Basic,
            SolutionChoice::MinNorm => Deficient::MinimumNorm,
        }
    }
}

/// A size that is none: not negative, and a number.
pub fn rank_tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(size) if size.is_finite() && size >= 0.0 => Ok(size),
        _ => Err("a tolerance is a number, zero or larger, such as 1e-8".to_owned()),
    }
}

/// Which rows are split off.
pub fn dense_rows(text: &str) -> Result<DenseRows, String> {
    match text {
        "auto" => Ok(DenseRows::Auto),
        "none" => Ok(DenseRows::None),
        number => number
            .parse()
            .map(DenseRows::Count)
            .map_err(|_| "it is auto, none, or a number of rows".to_owned()),
    }
}

/// The names that `--ordering` knows, each with a sentence.
pub fn ordering_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let auto = (
        AUTO,
        "the best of those below by predicted flops and its own cost",
    );
    std::iter::once(auto).chain(ORDERINGS.iter().map(|o| (o.name, o.about)))
}

fn invalid(message: &str) -> clap::Error {
    clap::Error::raw(ErrorKind::InvalidValue, format!("{message}\n"))
}

impl RunArgs {
    /// The options of a factorization by so many workers. Cost models are kept from run to run.
    pub fn options(&self, threads: usize) -> FactorOptions {
        let run = Config {
            scheduler: self.scheduler.unwrap_or_else(schedulers::default_entry),
            window: self.window,
            devices: self.emulate_device.clone(),
            models: ModelStore::Cache,
            flush_denormals: !self.keep_denormals,
            share: !self.no_share,
            ..Config::with_threads(threads)
        };
        FactorOptions {
            run,
            memory_limit: self.memory_limit,
            subtree_workers: self.subtree_workers,
            priorities: self.priorities.into(),
            ..FactorOptions::default()
        }
    }
}

/// The policy where devices take part and nobody has chosen one: data counts in its decisions, and priorities.
const DEVICE_SCHEDULER: &str = "dmdas";

impl DeviceArgs {
    /// As the library takes them.
    pub fn options(&self, choice: &DeviceChoice) -> DeviceOptions {
        DeviceOptions {
            choice: choice.clone(),
            memory_bytes: self.device_memory,
            streams: self.streams.into(),
            pin: self.pin,
        }
    }
}

impl RunArgs {
    /// Begins to open devices for numbers of these kinds: beside the reading and the analysis where they were asked for by number.
    pub fn begin_devices(&self, scalars: Vec<ScalarKind>) -> OpeningDevices {
        let choice = match self.emulate_device.is_empty() {
            true => self.devices.clone(),
            false => DeviceChoice::None,
        };
        let options = self.device.options(&choice);
        let opened = matches!(choice, DeviceChoice::Some(_)).then(|| {
            let (options, scalars) = (options.clone(), scalars.clone());
            std::thread::spawn(move || options.open(f64::INFINITY, &scalars))
        });
        OpeningDevices {
            options,
            scalars,
            opened,
            chosen: self.scheduler.is_some(),
        }
    }
}

/// Devices that are being opened, or will be if it pays.
pub struct OpeningDevices {
    options: DeviceOptions,
    scalars: Vec<ScalarKind>,
    opened: Option<JoinHandle<Result<OpenDevices, DeviceError>>>,
    /// Whether the scheduler was asked for.
    chosen: bool,
}

impl OpeningDevices {
    /// Lets them take part in a factorization of so many flops; gives what should be said of those that do not.
    pub fn join(self, factor: &mut FactorOptions, flops: u64) -> Result<Vec<String>, Failure> {
        let opened = match self.opened.map(JoinHandle::join) {
            Some(Ok(opened)) => opened,
            // After a panic there, once more here.
            Some(Err(_)) | None => self.options.open(flops as f64, &self.scalars),
        };
        let OpenDevices {
            accelerators,
            notes,
        } = opened.map_err(|e| Failure::from(treeqr::Error::from(e)))?;
        if !accelerators.is_empty() && !self.chosen {
            let entry = schedulers::by_name(DEVICE_SCHEDULER);
            factor.run.scheduler = entry.expect("it is in the table");
        }
        factor.run.accelerators = accelerators;
        Ok(notes)
    }
}

impl AnalysisArgs {
    /// The options of the analysis. Reads the file with the order, if there is one.
    pub fn options(&self) -> Result<Options, Failure> {
        self.tree.options(self.threads.into())
    }
}

impl TreeArgs {
    /// The options of an analysis for so many workers. Reads the file with the order, if there is one.
    pub fn options(&self, threads: usize) -> Result<Options, Failure> {
        let mut options = Options {
            threads,
            mb: self.mb,
            nb: self.nb,
            ib: self.ib,
            bh: self.bh,
            dense_rows: self.dense_rows,
            ..Options::default()
        };
        match &self.ordering {
            OrderingChoice::Name(name) => options.ordering = (*name).to_owned(),
            OrderingChoice::File(path) => options.given_order = Some(Arc::new(read_order(path)?)),
        }
        Ok(options)
    }
}

/// A column order: numbers from 1.
fn read_order(path: &PathBuf) -> Result<Vec<u32>, Failure> {
    let numbers: Dense<f64> = read_dense(path).map_err(treeqr::Error::from)?;
    let column = |(k, &v): (usize, &f64)| {
        let valid = v.fract() == 0.0 && v >= 1.0 && v < f64::from(u32::MAX);
        valid.then(|| v as u32 - 1).ok_or_else(|| {
            Failure::input(format!("entry {} is {v}, which is no column", k + 1))
                .about(path.display())
                .hint("an order has each column once, counted from 1")
        })
    };
    numbers.values().iter().enumerate().map(column).collect()
}

/// A matrix that fits a problem, for messages and reports.
pub struct Problem<T = f64> {
    /// How the user called it.
    pub source: Source,
    /// The matrix with what came along.
    pub loaded: Loaded<T>,
}

/// Reads or makes the matrix.
pub fn read_matrix<T: Scalar>(source: &Source) -> Result<Problem<T>, Failure> {
    let source = source.clone();
    let loaded = source.matrix()?;
    Ok(Problem { source, loaded })
}

/// A matrix in the numbers that its file has.
pub enum AnyProblem {
    Real(Problem<f64>),
    Complex(Problem<c64>),
}

impl AnyProblem {
    /// Reads or makes it.
    pub fn read(source: &Source) -> Result<Self, Failure> {
        Ok(if source.is_complex() {
            AnyProblem::Complex(read_matrix(source)?)
        } else {
            AnyProblem::Real(read_matrix(source)?)
        })
    }

    /// How the user called it.
    pub fn source(&self) -> &Source {
        match self {
            AnyProblem::Real(problem) => &problem.source,
            AnyProblem::Complex(problem) => &problem.source,
        }
    }

    /// Where the entries are.
    pub fn pattern(&self) -> &Arc<Pattern> {
        match self {
            AnyProblem::Real(problem) => problem.loaded.matrix.pattern(),
            AnyProblem::Complex(problem) => problem.loaded.matrix.pattern(),
        }
    }

    /// What a run on it is like, in double precision.
    pub fn shape(&self, nrhs: usize, keep_q: bool) -> RunShape {
        match self {
            AnyProblem::Real(_) => RunShape::of::<f64>(nrhs, keep_q),
            AnyProblem::Complex(_) => RunShape::of::<c64>(nrhs, keep_q),
        }
    }
}

/// In what precision is factorized, and how good x becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Precision {
    /// All in double precision
    #[default]
    Double,
    /// All in single precision: half the memory, and half the digits
    Single,
    /// Factorized in single precision, refined to the accuracy of double
    Mixed,
}

impl Precision {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Precision::Double => "double",
            Precision::Single => "single",
            Precision::Mixed => "mixed",
        }
    }
}

/// The right-hand sides, and how to call them.
pub struct Rhs<T> {
    pub b: Dense<T>,
    /// The file, or `gallery:NAME:rhs`; none for all ones.
    pub source: Option<Source>,
}

/// Reads the right-hand sides of the matrix `a` with so many rows, or makes them of ones.
pub fn read_rhs<T: Scalar>(
    source: Option<&Source>,
    a: &Source,
    nrows: usize,
) -> Result<Rhs<T>, Failure> {
    let Some(source) = source else {
        let b = Dense::from_vector(vec![T::one(); nrows]);
        return Ok(Rhs { b, source: None });
    };
    let b: Dense<T> = source.dense()?;
    if b.nrows() != nrows {
        let failure = Failure::input(format!(
            "the right-hand side has {} rows, but {a} has {nrows}",
            b.nrows(),
        ))
        .about(source);
        return Err(if b.ncols() == nrows {
            failure.hint("right-hand sides are columns: transpose it")
        } else {
            failure
        });
    }
    if b.ncols() == 0 {
        return Err(Failure::input("there is no right-hand side in it").about(source));
    }
    let source = Some(source.clone());
    Ok(Rhs { b, source })
}

/// Reads the weights, a column of as many numbers as A has rows.
pub fn read_weights(source: &Source) -> Result<(Vec<f64>, Source), Failure> {
    let weights: Dense<f64> = source.dense()?;
    if weights.ncols() != 1 {
        let message = format!("weights are one column, and here are {}", weights.ncols());
        return Err(Failure::input(message).about(source));
    }
    Ok((weights.into_values(), source.clone()))
}
