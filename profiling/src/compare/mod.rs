//! Two runs side by side: which tasks they share, and what the time between them went into.
//!
//! Takes two traces, measured or simulated, and what was computed of each ([`Computed`]); gives a [`Comparison`], in plain structures
//! that serde writes. Every number is there for both, and a difference is the second less the first: with the traces changed round
//! every difference has the other sign. Knows no picture and no file. [`diff`](crate::inspect::diff()) is the short form, for traces too
//! large for memory.
//!
//! | file | subject |
//! | --- | --- |
//! | `matching` | which task of one is which of the other |
//! | `headline` | the figures of the whole runs |
//! | `flops` | operations done until a time |
//! | `groups` | by codelet, by tree node |
//! | `anomalies` | tasks above their model in both runs, or in one |
//!
//! Tasks are matched by their numbers where the runs submitted the same tasks; else, for the same matrix and the same tree, by their
//! place: tree node, codelet, panel, tile row, tile column, child. Runs of different matrices, or with different trees, are compared as
//! wholes and by codelet only; a note says so.
//!
//! ```
//! use treeqr_profiling::compare::compare;
//! # use treeqr_profiling::trace::{Manifest, Tables, Trace, TraceKind};
//! # let trace = Trace { manifest: Manifest::new(TraceKind::Measured, "example".into()), tables: Tables::default() };
//! let same = compare(&trace, &trace)?;
//! assert!(same.headline.iter().all(|figure| figure.difference() == 0.0));
//! # Ok::<(), treeqr_profiling::compare::CompareError>(())
//! ```

mod anomalies;
mod flops;
mod groups;
mod headline;
mod matching;

pub use anomalies::{AnomaliesCompared, PairedTask};
pub use flops::FlopsCompared;
pub use groups::{CodeletCompared, NodeCompared};
pub use matching::{Matched, MatchedBy};

use crate::hints::Computed;
use crate::inspect::{Figure, notes, same_tree};
use crate::trace::{Trace, TraceError, TraceKind};
use matching::Pairs;
use serde::Serialize;

/// Two traces that cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// One is a graph: nothing in it took time.
    #[error("the {which} trace is only a graph: it has no times to compare")]
    Graph {
        /// `first` or `second`.
        which: &'static str,
    },
    /// A table cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// How the second run differs from the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// What to know before believing it.
    pub notes: Vec<String>,
    /// How many tasks they share.
    pub matched: Matched,
    /// The whole runs.
    pub headline: Vec<Figure>,
    /// Operations done until a time.
    pub flops: FlopsCompared,
    /// By codelet, the largest difference of times first.
    pub codelets: Vec<CodeletCompared>,
    /// By tree node, the largest difference of times first; empty where the trees differ.
    pub nodes: Vec<NodeCompared>,
    /// Tasks above their model; empty where no tasks are shared.
    pub anomalies: AnomaliesCompared,
}

/// One of the two runs, with what was computed of it.
#[derive(Clone, Copy)]
struct Side<'a> {
    trace: &'a Trace,
    computed: &'a Computed,
}

/// Compares two traces. O(n log n).
///
/// # Errors
/// [`CompareError::Graph`]: a trace without times.
pub fn compare(a: &Trace, b: &Trace) -> Result<Comparison, CompareError> {
    compare_computed((a, &Computed::of(a)), (b, &Computed::of(b)))
}

/// The same, with what was computed of each already.
///
/// # Errors
/// As [`compare`].
pub fn compare_computed(
    a: (&Trace, &Computed),
    b: (&Trace, &Computed),
) -> Result<Comparison, CompareError> {
    for (which, (trace, _)) in [("first", a), ("second", b)] {
        if trace.manifest.kind == TraceKind::Graph {
            return Err(CompareError::Graph { which });
        }
    }
    let sides = [a, b].map(|(trace, computed)| Side { trace, computed });
    let mut notes = notes(&a.0.manifest, &b.0.manifest);
    let (same_matrix, same_tree) = (same_matrix(a.0, b.0), same_tree(a.0, b.0)?);
    if !same_matrix {
        notes
            .push("of different matrices only the whole runs and codelets are compared".to_owned());
    } else if !same_tree {
        notes.push("the elimination trees differ: neither nodes nor tasks are compared".to_owned());
    }
    let pairs = match same_matrix && same_tree {
        true => Pairs::of(a.0, b.0),
        false => Pairs::none(a.0, b.0),
    };
    if pairs.matched.other_size > 0 {
        notes.push(format!(
            "{} tasks at the same place have other sizes: their times are not compared one by one",
            pairs.matched.other_size
        ));
    }
    Ok(Comparison {
        notes,
        headline: headline::figures(sides),
        flops: FlopsCompared::of(a.0, b.0),
        codelets: groups::codelets(a.0, b.0, &pairs),
        nodes: match same_matrix && same_tree {
            true => groups::nodes(a.0, b.0),
            false => Vec::new(),
        },
        anomalies: AnomaliesCompared::of(sides, &pairs),
        matched: pairs.matched,
    })
}

/// By the fingerprint of pattern and values; by the name where one has none.
fn same_matrix(a: &Trace, b: &Trace) -> bool {
    let print = |t: &Trace| {
        let print = t.manifest.matrix.get("fingerprint")?.as_str()?;
        (!print.is_empty()).then(|| print.to_owned())
    };
    match (print(a), print(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a.manifest.matrix_name() == b.manifest.matrix_name(),
    }
}
