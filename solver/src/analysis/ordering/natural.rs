//! The columns as they come; and from both ends to the middle.
//!
//! The fronts of a band are a chain. From both ends they are two, with no more fill: "twisted" factorizations (H. A. van der Vorst, "Large tridiagonal and block tridiagonal linear
//! systems on vector and parallel computers", Parallel Computing 5, 1987).

use super::OrderingInput;
use crate::error::AnalyseError;

pub(super) fn order(input: &OrderingInput<'_>) -> Result<Vec<u32>, AnalyseError> {
    Ok(order_of(input))
}

/// The same, which nothing can refuse.
pub(super) fn order_of(input: &OrderingInput<'_>) -> Vec<u32> {
    (0..input.cols.ncols() as u32).collect()
}

pub(super) fn twisted(input: &OrderingInput<'_>) -> Result<Vec<u32>, AnalyseError> {
    Ok(twisted_of(input))
}

/// The first half of the columns, then the others from the last on.
pub(super) fn twisted_of(input: &OrderingInput<'_>) -> Vec<u32> {
    let count = input.cols.ncols() as u32;
    let middle = count / 2;
    (0..middle).chain((middle..count).rev()).collect()
}
