//! Nested dissection by METIS (Karypis, Kumar 1998) on the graph of W22' W22.
//!
//! METIS keeps the state of its random numbers in a global: a lock around the call keeps the ordering of a matrix the
//! same whatever else the process does.

use super::graph::ColumnGraph;
use super::{METIS, OrderingInput};
use crate::error::AnalyseError;
use std::sync::Mutex;

/// Separators that [`order_best_of`] lets it choose from at each cut of a large part; it takes that many times as long, or nearly.
const SEVERAL: i32 = 4;

pub(super) fn order(input: &OrderingInput<'_>) -> Result<Vec<u32>, AnalyseError> {
    of_graph(&ColumnGraph::of(input))
}

pub(super) fn order_best_of(input: &OrderingInput<'_>) -> Result<Vec<u32>, AnalyseError> {
    best_of(&ColumnGraph::of(input))
}

/// An elimination order of a graph.
pub(super) fn of_graph(g: &ColumnGraph<'_>) -> Result<Vec<u32>, AnalyseError> {
    with_separators(g, 1)
}

/// One for which each cut is the best of several.
pub(super) fn best_of(g: &ColumnGraph<'_>) -> Result<Vec<u32>, AnalyseError> {
    with_separators(g, SEVERAL)
}

fn with_separators(g: &ColumnGraph<'_>, separators: i32) -> Result<Vec<u32>, AnalyseError> {
    let (n, g) = (g.groups.vertices(), g.whole());
    if g.neighbours.is_empty() {
        return Ok((0..n as u32).collect());
    }
    nested_dissection(n, &g.start, &g.neighbours, separators)
}

fn nested_dissection(
    n: usize,
    start: &[usize],
    neighbours: &[u32],
    separators: i32,
) -> Result<Vec<u32>, AnalyseError> {
    static LOCK: Mutex<()> = Mutex::new(());
    let failed = |why: String| AnalyseError::OrderingFailed { name: METIS, why };
    let too_large = || {
        failed(format!(
            "{} edges do not fit its 32-bit indices",
            neighbours.len()
        ))
    };
    let mut vertices = i32::try_from(n).map_err(|_| too_large())?;
    let mut xadj: Vec<i32> = start
        .iter()
        .map(|&p| i32::try_from(p))
        .collect::<Result<_, _>>()
        .map_err(|_| too_large())?;
    let mut adjncy: Vec<i32> = neighbours.iter().map(|&v| v as i32).collect();
    let mut options = [0i32; metis_sys::METIS_NOPTIONS as usize];
    let mut perm = vec![0i32; n];
    let mut iperm = vec![0i32; n];
    let guard = LOCK.lock().unwrap_or_else(|e| e.into_inner());
    // SAFETY: the arrays have the lengths that METIS expects (n + 1, xadj[n], NOPTIONS, n, n), the graph is symmetric
    // without loops, and nothing else uses METIS while the lock is held.
    let status = unsafe {
        metis_sys::METIS_SetDefaultOptions(options.as_mut_ptr());
        options[metis_sys::moptions_et_METIS_OPTION_SEED as usize] = 1;
        options[metis_sys::moptions_et_METIS_OPTION_NSEPS as usize] = separators;
        metis_sys::METIS_NodeND(
            &mut vertices,
            xadj.as_mut_ptr(),
            adjncy.as_mut_ptr(),
            std::ptr::null_mut(),
            options.as_mut_ptr(),
            perm.as_mut_ptr(),
            iperm.as_mut_ptr(),
        )
    };
    drop(guard);
    if status != metis_sys::rstatus_et_METIS_OK {
        return Err(failed(format!("it returned status {status}")));
    }
    // perm[k] is the vertex that is eliminated k-th.
    Ok(perm.into_iter().map(|v| v as u32).collect())
}
