//! The columns as they come; and from both ends to the middle.
//!
//! The fronts of a band are a chain. From both ends they are two, with no more fill: "twisted" factorizations (H. A. van der Vorst, "Large tridiagonal and block tridiagonal linear
//! systems on vector and parallel computers", Parallel Computing 5, 1987).

use super::OrderingInput;

pub(super) fn order(input: &OrderingInput<'_>) -> Vec<u32> {
    (0..input.cols.ncols() as u32).collect()
}

/// The first half of the columns, then the others from the last on.
pub(super) fn twisted(input: &OrderingInput<'_>) -> Vec<u32> {
    let count = input.cols.ncols() as u32;
    let middle = count / 2;
    (0..middle).chain((middle..count).rev()).collect()
}
