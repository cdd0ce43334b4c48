//! The columns as they come.

use super::OrderingInput;
use crate::error::AnalyseError;

pub(super) fn order(input: &OrderingInput<'_>) -> Result<Vec<u32>, AnalyseError> {
    Ok(order_of(input))
}

/// The same, which nothing can refuse.
pub(super) fn order_of(input: &OrderingInput<'_>) -> Vec<u32> {
    (0..input.cols.ncols() as u32).collect()
}
