//! Column orderings. Adding one is a file here and a line in [`ORDERINGS`].
//!
//! An ordering takes the reduced matrix W22 (patterns by columns and by rows, its own numbering) and gives its columns
//! in elimination order. It knows neither values nor tasks.

mod amd;
mod auto;
mod colamd;
mod graph;
mod metis;
mod natural;

use crate::error::AnalyseError;
use treeqr_matrices::Pattern;

pub(crate) use auto::estimate_flops;

/// What an ordering sees of the problem.
pub struct OrderingInput<'a> {
    /// W22 by columns.
    pub cols: &'a Pattern,
    /// W22 by rows.
    pub rows: &'a Pattern,
}

/// Columns in elimination order, and what `auto` has to say about its choice.
pub struct Ordered {
    /// Entry k is the column (of W22) that is eliminated k-th.
    pub order: Vec<u32>,
    /// Name of the ordering that was taken in the end.
    pub name: &'static str,
    /// Why, in one sentence; empty for an ordering that was asked for by name.
    pub why: String,
}

/// One line of the table of orderings.
pub struct OrderingEntry {
    /// What the user writes.
    pub name: &'static str,
    /// One sentence for lists and help texts.
    pub about: &'static str,
    /// Computes it.
    pub compute: fn(&OrderingInput<'_>) -> Result<Ordered, AnalyseError>,
}

/// Every ordering that can be asked for by name.
pub const ORDERINGS: &[OrderingEntry] = &[
    OrderingEntry {
        name: "auto",
        about: "the candidate with the least predicted time, its own cost counted",
        compute: auto::order,
    },
    OrderingEntry {
        name: "colamd",
        about: "column approximate minimum degree, works on A itself: cheap",
        compute: colamd::order,
    },
    OrderingEntry {
        name: "amd",
        about: "approximate minimum degree on the graph of A'A",
        compute: amd::order,
    },
    OrderingEntry {
        name: "metis",
        about: "nested dissection on the graph of A'A: best for large meshes",
        compute: metis::order,
    },
    OrderingEntry {
        name: "natural",
        about: "the columns as they come",
        compute: natural::order,
    },
];

/// The ordering of that name.
///
/// # Errors
/// [`AnalyseError::UnknownOrdering`], which lists the known names.
pub fn find(name: &str) -> Result<&'static OrderingEntry, AnalyseError> {
    ORDERINGS
        .iter()
        .find(|o| o.name == name)
        .ok_or_else(|| AnalyseError::UnknownOrdering {
            name: name.to_owned(),
            known: ORDERINGS
                .iter()
                .map(|o| o.name)
                .collect::<Vec<_>>()
                .join(", "),
        })
}

/// An ordering asked for by name has nothing to explain.
fn plain(name: &'static str, order: Vec<u32>) -> Result<Ordered, AnalyseError> {
    Ok(Ordered {
        order,
        name,
        why: String::new(),
    })
}
