//! COLAMD (Davis, Gilbert, Larimore, Ng 2004), by faer.

use super::OrderingInput;
use crate::error::AnalyseError;
use faer::Index;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::colamd;
use treeqr_matrices::Pattern;

/// All rows count: faer takes a row for dense from `dense_row` times n entries on, where the original has the root of n.
pub(super) fn order(input: &OrderingInput<'_>) -> Result<Vec<u32>, AnalyseError> {
    let (m, n) = (input.cols.nrows(), input.cols.ncols());
    if m == 0 || n == 0 {
        return Ok((0..n as u32).collect());
    }
    if super::fits_half(input.cols.nnz(), m + n) {
        with_index::<u32>(input.cols)
    } else {
        with_index::<usize>(input.cols)
    }
}

fn with_index<I: Index>(cols: &Pattern) -> Result<Vec<u32>, AnalyseError> {
    let (m, n) = (cols.nrows(), cols.ncols());
    let failed = |_| AnalyseError::OrderingFailed {
        name: "colamd",
        why: "too many entries for its index type".into(),
    };
    let ptr: Vec<I> = cols.colptr().iter().map(|&p| I::truncate(p)).collect();
    let idx = cols.rowidx().iter().map(|&i| I::truncate(i as usize));
    let idx: Vec<I> = idx.collect();
    let a = SymbolicSparseColMatRef::new_checked(m, n, &ptr, None, &idx);
    let mut order = vec![I::truncate(0); n];
    let mut inverse = vec![I::truncate(0); n];
    let mut memory = MemBuffer::new(colamd::order_scratch::<I>(m, n, idx.len()));
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
    Ok(order.into_iter().map(|j| j.zx() as u32).collect())
}
