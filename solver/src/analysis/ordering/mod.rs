//! Column orderings. Adding one is a file here and a line in [`ORDERINGS`].
//!
//! An ordering takes the reduced matrix W22 (patterns by columns and by rows, its own numbering) and gives its columns
//! in elimination order. It knows neither values nor tasks.

mod amd;
mod auto;
mod colamd;
mod dissection;
mod graph;
mod groups;
mod metis;
mod natural;

use crate::error::AnalyseError;
use treeqr_matrices::Pattern;

pub(crate) use auto::{Order, choose, flops};

/// What an ordering sees of the problem.
pub struct OrderingInput<'a> {
    /// W22 by columns.
    pub cols: &'a Pattern,
    /// W22 by rows.
    pub rows: &'a Pattern,
}

/// One line of the table of orderings.
pub struct OrderingEntry {
    /// What the user writes.
    pub name: &'static str,
    /// One sentence for lists and help texts.
    pub about: &'static str,
    /// Computes it: entry k of the result is the column (of W22) that is eliminated k-th.
    pub compute: fn(&OrderingInput<'_>) -> Result<Vec<u32>, AnalyseError>,
}

/// The name of the choice among the orderings.
pub const AUTO: &str = "auto";

/// The name of the one that leaves the columns as they come.
pub(crate) const NATURAL: &str = "natural";

/// The name of the one by METIS.
const METIS: &str = "metis";

/// The name of the one that begins at both ends.
const TWISTED: &str = "twisted";

/// Every ordering that can be asked for by name, besides [`AUTO`].
pub const ORDERINGS: &[OrderingEntry] = &[
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
        name: "nd",
        about: "nested dissection on the graph of A'A, on all cores: best for large meshes",
        compute: dissection::order,
    },
    OrderingEntry {
        name: METIS,
        about: "nested dissection on the graph of A'A by METIS, on one core",
        compute: metis::order,
    },
    OrderingEntry {
        name: "metis4",
        about: "the same with the best of four separators at each cut: longer, sometimes far better",
        compute: metis::order_best_of,
    },
    OrderingEntry {
        name: NATURAL,
        about: "the columns as they come",
        compute: |input| Ok(natural::order(input)),
    },
    OrderingEntry {
        name: TWISTED,
        about: "the columns as they come, from both ends to the middle: two chains for a band",
        compute: |input| Ok(natural::twisted(input)),
    },
];

/// Whether faer's minimum degree may count in 32 bits: its signed indices have to hold twice and a fifth of the entries,
/// and a few numbers a vertex. Their time goes into cache misses, and half as long an index saves much of it.
fn fits_half(entries: usize, vertices: usize) -> bool {
    3 * entries + 3 * vertices < i32::MAX as usize
}

/// The ordering of that name.
///
/// # Errors
/// [`AnalyseError::UnknownOrdering`], which lists the known names.
pub(crate) fn find(name: &str) -> Result<&'static OrderingEntry, AnalyseError> {
    ORDERINGS.iter().find(|o| o.name == name).ok_or_else(|| {
        let known: Vec<_> = [AUTO]
            .into_iter()
            .chain(ORDERINGS.iter().map(|o| o.name))
            .collect();
        AnalyseError::UnknownOrdering {
            name: name.to_owned(),
            known: known.join(", "),
        }
    })
}
