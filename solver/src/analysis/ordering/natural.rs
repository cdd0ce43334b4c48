//! The columns as they come.

use super::OrderingInput;
use crate::error::AnalyseError;

pub(super) fn order(input: &OrderingInput<'_>) -> Result<Vec<u32>, AnalyseError> {
    Ok((0..input.cols.ncols() as u32).collect())
}
