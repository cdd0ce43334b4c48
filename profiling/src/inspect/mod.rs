//! What a trace says: whether it is consistent, where its time went, a part of it, and how it differs from another.
//!
//! All of it reads a [`Source`]: a [`Trace`](crate::trace::Trace) in memory, or a
//! [`TraceFolder`](crate::trace::TraceFolder), of which only the tables that are needed are read, one after the other.
//!
//! | file | subject |
//! | --- | --- |
//! | `source` | tables by type, from memory or from a folder |
//! | `check` | the rules that a trace keeps: the table [`CHECKS`] |
//! | `balance` | where the time of each worker went |
//! | `facets`, `filter` | what rows can be chosen by, and a smaller trace of the chosen |
//! | `diff` | two traces: totals, codelets, tree nodes, phases |
//! | `document` | the reference of the tables, as text |
//! | `pieces` | who worked on a task, and when |

mod balance;
mod check;
mod diff;
mod document;
mod facets;
mod filter;
mod pieces;
mod source;

pub use balance::{Balance, PartBalance, WorkerBalance};
pub(crate) use check::Numbers;
pub use check::{CHECKS, Check, Finding, Severity, check};
pub use diff::{Diff, DiffError, Figure, Group, diff};
pub(crate) use diff::{notes, same_tree};
pub use document::{sql_document, tables_document};
pub use facets::{Facet, Facets};
pub use filter::{Filter, FilterError, FilteredRows, filter};
pub(crate) use pieces::{Piece, helpers, pieces};
pub use source::{Known, KnownVisitor, Source, TABLES};
