//! A part of a trace: the rows of a time span, of some workers, codelets or tree nodes, of some tables.
//!
//! Takes a [`Source`] and a [`Filter`]; gives a smaller trace, or the rows of each table to somebody who prints them. Only the
//! tables that are needed are read: those chosen, `tasks` (or `graph`) where rows are chosen by what their task says, and
//! `fronts` for descendants. Knows no file.
//!
//! A row that lies partly in the span is kept as it is. What a row does not say itself, its task says; a row that cannot be
//! told by a condition is left out. What a worker did of another's task is kept where both are. Workers, codelets, fronts, phases
//! and data describe others: they stay in a smaller trace.

mod chosen;

use super::facets::Facets;
use super::source::{Known, KnownVisitor, Source, TABLES, visit};
use crate::trace::schema::Worker;
use crate::trace::{Table, Tables, Trace, TraceError};
use chosen::Chosen;

/// What to keep; an empty condition asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// From this time of the trace.
    pub from_ns: Option<u64>,
    /// To this time of the trace.
    pub to_ns: Option<u64>,
    /// Threads: workers, or `None` for the one that submits.
    pub workers: Vec<Option<u16>>,
    /// Names of codelets.
    pub codelets: Vec<String>,
    /// Tree nodes. A front in a group stands for the task of its group.
    pub nodes: Vec<u32>,
    /// With all descendants of the nodes.
    pub subtree: bool,
    /// Names of tables, as in [`TABLES`].
    pub tables: Vec<String>,
}

/// A filter that asks for what is not there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// No codelet has this name.
    #[error("there is no codelet `{name}`; there are {known}", known = known.join(", "))]
    Codelet {
        /// The name.
        name: String,
        /// All there are.
        known: Vec<String>,
    },
    /// No worker has this number.
    #[error("there is no worker {worker}; there are {workers}, numbered from 0")]
    Worker {
        /// The number.
        worker: u16,
        /// How many there are.
        workers: usize,
    },
    /// No front has this number.
    #[error("there is no tree node {node}; there are {fronts}, numbered from 0")]
    Node {
        /// The number.
        node: u32,
        /// How many there are.
        fronts: usize,
    },
    /// No table has this name.
    #[error("there is no table `{name}`; there are {known}", known = TABLES.join(", "))]
    Table {
        /// The name.
        name: String,
    },
    /// The span ends before it begins.
    #[error("the span from {from_ns} to {to_ns} ns is empty")]
    Span {
        /// From.
        from_ns: u64,
        /// To.
        to_ns: u64,
    },
    /// A table cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

impl Filter {
    /// Whether it keeps everything.
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// In words, for the manifest of the smaller trace.
    pub fn describe(&self) -> String {
        let mut words = Vec::new();
        let ns = |t: Option<u64>, end: &str| t.map_or(end.to_owned(), |t| format!("{t} ns"));
        if self.spans() {
            let (from, to) = (ns(self.from_ns, "the beginning"), ns(self.to_ns, "the end"));
            words.push(format!("from {from} to {to}"));
        }
        if !self.workers.is_empty() {
            let name = |w: &Option<u16>| w.map_or("submission".to_owned(), |w| w.to_string());
            words.push(format!("workers {}", list(self.workers.iter().map(name))));
        }
        if !self.codelets.is_empty() {
            words.push(format!("codelets {}", list(self.codelets.iter().cloned())));
        }
        if !self.nodes.is_empty() {
            let descendants = if self.subtree {
                " with descendants"
            } else {
                ""
            };
            let nodes = list(self.nodes.iter().map(u32::to_string));
            words.push(format!("tree nodes {nodes}{descendants}"));
        }
        if !self.tables.is_empty() {
            words.push(format!("tables {}", list(self.tables.iter().cloned())));
        }
        words.join("; ")
    }

    fn spans(&self) -> bool {
        self.from_ns.is_some() || self.to_ns.is_some()
    }

    fn asks_of_tasks(&self) -> bool {
        !(self.workers.is_empty() && self.codelets.is_empty() && self.nodes.is_empty())
    }
}

fn list(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

/// The smaller trace, which says of itself that it is one.
///
/// # Errors
/// [`FilterError`]: the filter names what is not there, or a table cannot be read.
pub fn filter(trace: &impl Source, filter: &Filter) -> Result<Trace, FilterError> {
    let chosen = Chosen::of(trace, filter)?;
    let mut smaller = Smaller {
        trace,
        chosen: &chosen,
        tables: Tables::default(),
    };
    visit(&mut smaller)?;
    let mut tables = smaller.tables;
    // Their time is what is left of it, so that sums over it mean something.
    for worker in &mut tables.workers {
        let from = filter.from_ns.unwrap_or(0);
        worker.start_ns = worker.start_ns.max(from).min(worker.end_ns);
        worker.end_ns = worker
            .end_ns
            .min(filter.to_ns.unwrap_or(u64::MAX))
            .max(worker.start_ns);
    }
    let mut manifest = trace.manifest().clone();
    if !filter.is_empty() {
        let more = filter.describe();
        manifest.filtered = Some(match manifest.filtered {
            Some(before) => format!("{before}; then {more}"),
            None => more,
        });
    }
    Ok(Trace { manifest, tables })
}

struct Smaller<'a, S> {
    trace: &'a S,
    chosen: &'a Chosen<'a>,
    tables: Tables,
}

impl<S: Source> KnownVisitor for Smaller<'_, S> {
    type Error = FilterError;

    fn table<T: Known + Facets>(&mut self) -> Result<(), FilterError> {
        if !T::DESCRIBES && !self.chosen.table(T::NAME) {
            return Ok(());
        }
        let rows = self.trace.rows::<T>()?;
        let keep = |row: &&T| T::DESCRIBES && T::NAME != Worker::NAME || self.chosen.keeps(*row);
        *T::of_mut(&mut self.tables) = rows.iter().filter(keep).cloned().collect();
        Ok(())
    }
}

/// Somebody who wants the chosen rows of each table.
pub trait FilteredRows {
    /// What can go wrong.
    type Error: From<FilterError>;

    /// The rows of the next table that was chosen.
    ///
    /// # Errors
    /// Ends it.
    fn table<T: Table>(&mut self, rows: &mut dyn Iterator<Item = &T>) -> Result<(), Self::Error>;
}

impl Filter {
    /// Shows the chosen rows of the chosen tables (all, if none is named) to `sink`, table by table.
    ///
    /// # Errors
    /// [`FilterError`], and those of `sink`.
    pub fn show<R: FilteredRows>(&self, trace: &impl Source, sink: &mut R) -> Result<(), R::Error> {
        let chosen = Chosen::of(trace, self)?;
        visit(&mut Shown {
            trace,
            chosen: &chosen,
            sink,
        })
    }
}

struct Shown<'a, S, R> {
    trace: &'a S,
    chosen: &'a Chosen<'a>,
    sink: &'a mut R,
}

impl<S: Source, R: FilteredRows> KnownVisitor for Shown<'_, S, R> {
    type Error = R::Error;

    fn table<T: Known + Facets>(&mut self) -> Result<(), R::Error> {
        if !self.chosen.table(T::NAME) {
            return Ok(());
        }
        let rows = self.trace.rows::<T>().map_err(FilterError::from)?;
        let mut kept = rows.iter().filter(|row| self.chosen.keeps(*row));
        self.sink.table(&mut kept)
    }
}
