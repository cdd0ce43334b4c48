//! AMD (Amestoy, Davis, Duff 1996) on the graph of W22' W22, by faer.

use super::OrderingInput;
use super::graph::{ColumnGraph, Graph};
use crate::error::AnalyseError;
use faer::Index;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

pub(super) fn order(input: &OrderingInput<'_>) -> Result<Vec<u32>, AnalyseError> {
    of_graph(&ColumnGraph::of(input))
}

/// An elimination order of a graph.
pub(super) fn of_graph(g: &ColumnGraph<'_>) -> Result<Vec<u32>, AnalyseError> {
    let g = g.whole();
    let n = g.len();
    if n == 0 {
        return Ok(Vec::new());
    }
    if super::fits_half(g.neighbours.len(), n) {
        with_index::<u32>(g)
    } else {
        with_index::<usize>(g)
    }
}

fn with_index<I: Index>(g: &Graph) -> Result<Vec<u32>, AnalyseError> {
    let n = g.len();
    let failed = |_| AnalyseError::OrderingFailed {
        name: "amd",
        why: "too many entries for its index type".into(),
    };
    let ptr: Vec<I> = g.start.iter().map(|&p| I::truncate(p)).collect();
    let idx = g.neighbours.iter().map(|&i| I::truncate(i as usize));
    let idx: Vec<I> = idx.collect();
    let a = SymbolicSparseColMatRef::new_checked(n, n, &ptr, None, &idx);
    let mut order = vec![I::truncate(0); n];
    let mut inverse = vec![I::truncate(0); n];
    let mut memory = MemBuffer::new(amd::order_scratch::<I>(n, idx.len()));
    amd::order(
        &mut order,
        &mut inverse,
        a,
        amd::Control::default(),
        MemStack::new(&mut memory),
    )
    .map_err(failed)?;
    Ok(order.into_iter().map(|j| j.zx() as u32).collect())
}
