//! COLAMD: column approximate minimum degree (Davis, Gilbert, Larimore, Ng, "A column approximate minimum degree ordering algorithm", ACM
//! TOMS 30(3), 2004), on W itself.
//!
//! It plays a symbolic elimination by rows: the pivot column's rows, which a factorization would combine, become one row, their
//! union, an *element*. The graph of W'W, whose cliques the rows are, is never formed. The pivot is a column of least score, which bounds
//! its degree in that graph: the sum over its rows of the columns outside of the last element, and that element's.
//!
//! ```text
//!   rows.rows: which live, their columns        columns.rs: lists of rows, scores, supercolumns        degrees.rs: who is next
//!                          \                          |                                                /
//!                                   eliminate.rs: union, differences, scores, supercolumns   ->   chains.rs: the tree
//! ```
//!
//! All rows and columns count, also those that the original leaves out as dense: dense columns and rows that are worth it were taken
//! out before (`analysis/dense.rs`), and leaving out more lost on measured matrices (decision 0013).
//!
//! Takes patterns; gives the order with its tree, and leaves the postorder of that to who uses it. Knows no values.

mod chains;
mod columns;
mod degrees;
mod eliminate;
mod rows;
#[cfg(test)]
mod tests;

use super::OrderingInput;
use crate::error::AnalyseError;
pub(super) use eliminate::Elimination;
use std::sync::atomic::AtomicBool;

pub(super) fn order(input: &OrderingInput<'_>) -> Result<Vec<u32>, AnalyseError> {
    let tree = Elimination::new(input).until(&AtomicBool::new(false), u64::MAX);
    Ok(tree.expect("nobody gives it up").order)
}
