//! COLAMD (Davis, Gilbert, Larimore, Ng 2004), by faer.

use super::OrderingInput;
use crate::error::AnalyseError;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::colamd;

/// Rows with more than 10 sqrt(n) entries do not count: each would make a clique of its columns.
pub(super) fn order(input: &OrderingInput<'_>) -> Result<Vec<u32>, AnalyseError> {
    let (m, n) = (input.cols.nrows(), input.cols.ncols());
    if m == 0 || n == 0 {
        return Ok((0..n as u32).collect());
    }
    let failed = |_| AnalyseError::OrderingFailed {
        name: "colamd",
        why: "too many entries for its index type".into(),
    };
    // The signed index of the elimination must hold more than twice the entries: 64 bits always do.
    let ptr = input.cols.colptr().to_vec();
    let idx: Vec<usize> = input.cols.rowidx().iter().map(|&i| i as usize).collect();
    let a = SymbolicSparseColMatRef::new_checked(m, n, &ptr, None, &idx);
    let mut order = vec![0usize; n];
    let mut inverse = vec![0usize; n];
    let mut memory = MemBuffer::new(colamd::order_scratch::<usize>(m, n, idx.len()));
    let control = colamd::Control {
        dense_row: 10.0,
        dense_col: 10.0,
        aggressive: true,
    };
    colamd::order(
        &mut order,
        &mut inverse,
        a,
        control,
        MemStack::new(&mut memory),
    )
    .map_err(failed)?;
    Ok(order.into_iter().map(|j| j as u32).collect())
}
