//! The subcommands of `treeqr trace`, with their flags and help texts.

use super::super::cli::AnalysisArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use treeqr::matrices::Source;
use treeqr::profiling::export::{self, EXPORTS, ExportEntry};

/// Look into a trace: what is in it, whether it is consistent, parts of it, how two differ
#[derive(Subcommand)]
#[command(after_help = "Examples:
  treeqr solve A.mtx --trace A.trace && treeqr trace info A.trace
  treeqr trace diff before.trace after.trace

A trace is a folder of Parquet tables, which pandas, polars, DuckDB and R read as they are:
docs/trace-schema.md tells every column.")]
#[command(disable_help_subcommand = true)]
pub enum TraceCommand {
    Info(InfoArgs),
    Check(CheckArgs),
    Filter(FilterArgs),
    Diff(DiffArgs),
    Export(ExportArgs),
    Graph(GraphArgs),
}

/// Tell what is in a trace, and where the time of the workers went
#[derive(Args)]
#[command(after_help = "Examples:
  treeqr trace info A.trace
  treeqr trace info A.trace --json | jq '.balance.workers[].idle_s'

The parts of a worker's time are: tasks; asking the scheduler in vain; looking for a task again and
again (idle); sleeping; waiting for the data of its task; and the runtime's own work between tasks.")]
pub struct InfoArgs {
    /// The trace
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// Print one JSON object instead of the page
    #[arg(long)]
    pub json: bool,
}

/// Check that a trace is consistent with itself and with the analysis
#[derive(Args)]
#[command(after_help = "Examples:
  treeqr trace check A.trace
  treeqr trace check A.trace --json | jq '.findings[].message'
  treeqr trace check --rules

What is found is told with table and row (from 1). A trace that is incomplete, and says so, is
warned of; its sums are not checked. The exit code is 1 if there are errors.")]
pub struct CheckArgs {
    /// The trace
    #[arg(value_name = "TRACE", required_unless_present = "rules")]
    pub trace: Option<PathBuf>,
    /// List the rules
    #[arg(long)]
    pub rules: bool,
    /// Print one JSON object instead
    #[arg(long)]
    pub json: bool,
}

/// Print or write the rows of a time span, of workers, codelets or tree nodes
#[derive(Args)]
#[command(after_help = "Examples:
  treeqr trace filter A.trace --table tasks --from 10ms --to 0.2s
  treeqr trace filter A.trace --table tasks --codelet geqrt --worker 0,1 --csv > geqrt.csv
  treeqr trace filter A.trace --node 120 --subtree -o part.trace

Times are those of the tables, in ns unless they have a unit: s, ms, us, ns. Rows that lie partly in
the span are kept. What a row does not say itself, its task says; a row that cannot be told by a
condition is left out. A smaller trace keeps all fronts, codelets and phases, and says that it is one.")]
pub struct FilterArgs {
    /// The trace
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// From this time on
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub from: Option<u64>,
    /// Up to this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub to: Option<u64>,
    /// Workers, or `submission` for the thread that submits
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = worker)]
    pub worker: Vec<Thread>,
    /// Codelets
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub codelet: Vec<String>,
    /// Tree nodes; a front in a group stands for the task of its group
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    pub node: Vec<u32>,
    /// With all descendants of the nodes
    #[arg(long, requires = "node")]
    pub subtree: bool,
    /// Kinds of events: names of tables [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub table: Vec<String>,
    /// Print CSV, all rows; for one table
    #[arg(long, conflicts_with_all = ["output", "rows"])]
    pub csv: bool,
    /// Rows to print of each table
    #[arg(
        long,
        value_name = "N",
        default_value = "20",
        conflicts_with = "output"
    )]
    pub rows: NonZeroUsize,
    /// Write a smaller trace here instead
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Replace the trace that is there
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// Tell how the second trace differs from the first
#[derive(Args)]
#[command(after_help = "Examples:
  treeqr trace diff before.trace after.trace
  treeqr trace diff measured.trace simulated.trace --json | jq '.totals'

Differences are second minus first, the largest first. Tree nodes are compared where the trees are
the same.")]
pub struct DiffArgs {
    /// The first trace
    #[arg(value_name = "FIRST")]
    pub first: PathBuf,
    /// The second trace
    #[arg(value_name = "SECOND")]
    pub second: PathBuf,
    /// Tree nodes to show
    #[arg(long, value_name = "N", default_value = "10")]
    pub rows: NonZeroUsize,
    /// Print one JSON object, with all tree nodes, instead
    #[arg(long, conflicts_with = "rows")]
    pub json: bool,
}

/// Write a trace in the format of another tool
#[derive(Args)]
#[command(after_help = "Examples:
  treeqr trace export A.trace --to perfetto          # A.trace.pftrace, for ui.perfetto.dev
  treeqr trace export A.trace --to csv -o tables
  treeqr trace export A.trace --to dot --node 120 -o - | dot -Tsvg -o node.svg
  treeqr trace export                                # what there is")]
pub struct ExportArgs {
    /// The trace
    #[arg(value_name = "TRACE", requires = "to")]
    pub trace: Option<PathBuf>,
    /// The format
    #[arg(long, value_name = "NAME", value_parser = exports(), requires = "trace")]
    pub to: Option<&'static ExportEntry>,
    /// The file or folder to write; - for the standard output [default: the trace's name with another ending]
    #[arg(long, short, value_name = "OUT", requires = "to")]
    pub output: Option<PathBuf>,
    /// Dependencies to show as arrows (paje, perfetto)
    #[arg(long, value_name = "WHICH", default_value = "critical")]
    pub dependencies: Dependencies,
    /// The graph to draw (dot)
    #[arg(long, value_name = "GRAPH", default_value = "tasks")]
    pub what: Graph,
    /// Only tasks of this tree node and those they depend on (dot)
    #[arg(long, value_name = "N")]
    pub node: Option<u32>,
    /// Most tasks in one drawing (dot)
    #[arg(long, value_name = "N", default_value_t = 5000)]
    pub task_limit: usize,
    /// Replace an earlier export of this format
    #[arg(long, requires = "to")]
    pub force: bool,
}

fn exports() -> impl TypedValueParser<Value = &'static ExportEntry> {
    let names = EXPORTS.iter().map(|export| export.name);
    PossibleValuesParser::new(names)
        .map(|name| ExportEntry::named(&name).expect("one of the table"))
}

/// Which dependencies are shown.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Dependencies {
    None,
    Critical,
    All,
}

impl From<Dependencies> for export::Dependencies {
    fn from(which: Dependencies) -> Self {
        match which {
            Dependencies::None => export::Dependencies::None,
            Dependencies::Critical => export::Dependencies::Critical,
            Dependencies::All => export::Dependencies::All,
        }
    }
}

/// Which graph is drawn.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Graph {
    Tasks,
    Tree,
}

impl From<Graph> for export::Graph {
    fn from(which: Graph) -> Self {
        match which {
            Graph::Tasks => export::Graph::Tasks,
            Graph::Tree => export::Graph::Tree,
        }
    }
}

/// Write the task graph of a factorization, without times: input for simulators
#[derive(Args)]
#[command(after_help = "Examples:
  treeqr trace graph A.mtx.gz -o A.graph
  treeqr trace graph gallery:grid3d-20 --threads 16 --nb 128 -o grid.graph && treeqr trace check grid.graph

The tables graph, dependencies, accesses, handles, fronts and codelets have the tasks in the order of
submission with their geometry, flops and bytes. Nothing is factorized. The same matrix and options
give the same bytes.")]
pub struct GraphArgs {
    /// The matrix A: a Matrix Market file, plain or gzip, or gallery:NAME
    #[arg(value_name = "A.mtx[.gz]|gallery:NAME")]
    pub matrix: Source,
    #[command(flatten)]
    pub analysis: AnalysisArgs,
    /// Right-hand sides
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub rhs: usize,
    /// Keep Q, for right-hand sides that come later
    #[arg(long)]
    pub keep_q: bool,
    /// The folder to write
    #[arg(long, short, value_name = "DIR")]
    pub output: PathBuf,
    /// Replace the trace that is there
    #[arg(long)]
    pub force: bool,
}

/// A worker, or none for the thread that submits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread(pub Option<u16>);

fn worker(text: &str) -> Result<Thread, String> {
    if text == "submission" {
        return Ok(Thread(None));
    }
    let number = text
        .parse()
        .map_err(|_| "a number from 0 to 65535, or `submission`")?;
    Ok(Thread(Some(number)))
}

/// Nanoseconds from `12`, `1.5us`, `10ms`, `0.2s`.
pub fn time(text: &str) -> Result<u64, String> {
    let digits = text
        .find(|c: char| c.is_ascii_alphabetic() || c == 'µ')
        .unwrap_or(text.len());
    let (number, unit) = (text[..digits].trim(), &text[digits..]);
    let ns = match unit {
        "" | "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return Err(format!("`{unit}` is no unit: s, ms, us, ns")),
    };
    // Whole nanoseconds have more digits than a double.
    if let (1.0, Ok(whole)) = (ns, number.parse()) {
        return Ok(whole);
    }
    match number.parse::<f64>() {
        Ok(x) if x.is_finite() && (0.0..1.8e19).contains(&(x * ns)) => Ok((x * ns).round() as u64),
        _ => Err("a time from 0 on, as 12, 1.5us, 10ms or 0.2s".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let cases = [
            ("0", 0),
            ("18446744073709551615", u64::MAX),
            ("1.5us", 1500),
            ("10ms", 10_000_000),
            ("0.2s", 200_000_000),
            ("7 µs", 7000),
            ("7ns", 7),
        ];
        for (text, ns) in cases {
            assert_eq!(time(text), Ok(ns), "{text}");
        }
        for text in ["", "ms", "-1ms", "1h", "inf", "nans", "1e30s", "1.5.2s"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
