//! The columns as they come.

use super::{Ordered, OrderingInput, plain};
use crate::error::AnalyseError;

pub(super) fn order(input: &OrderingInput<'_>) -> Result<Ordered, AnalyseError> {
    plain("natural", (0..input.cols.ncols() as u32).collect())
}
