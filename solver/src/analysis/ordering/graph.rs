//! The column intersection graph: columns are adjacent when they share a row that is not dense: such a row of d entries adds d^2 edges, and tells an
//! ordering nothing when d is large beside the number of columns.

use super::OrderingInput;
use super::dissection::compress::mixed;
use crate::analysis::dense;
use rayon::prelude::*;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// A graph in compressed adjacency lists, without loops, lists sorted.
pub(super) struct Graph {
    /// Start of every list in `neighbours`, and the end of the last.
    pub start: Vec<usize>,
    /// Adjacent columns.
    pub neighbours: Vec<u32>,
}

/// Length of the graph's lists with repetitions: what it costs to build, sum over the rows of d (d - 1).
pub(super) fn work(input: &OrderingInput<'_>) -> usize {
    let limit = dense::limit(input.cols.ncols());
    (0..input.rows.ncols())
        .map(|i| input.rows.col(i).len())
        .filter(|&d| d <= limit)
        .map(|d| d * (d - 1))
        .sum()
}

/// Columns that differ in their rows, by a hash: about the vertices of the compressed graph. Rows of one entry tell the graph
/// nothing. O(nnz).
pub(super) fn distinct(input: &OrderingInput<'_>) -> usize {
    let key = |j: usize| {
        let rows = input.cols.col(j).iter();
        let rows = rows.filter(|&&i| input.rows.col(i as usize).len() > 1);
        rows.fold(0u64, |sum, &i| sum.wrapping_add(mixed(i)))
    };
    let mut keys: Vec<u64> = (0..input.cols.ncols()).into_par_iter().map(key).collect();
    keys.par_sort_unstable();
    keys.dedup();
    keys.len()
}

/// The graph of W22' W22 without dense rows; columns in parallel, O(sum of d^2 over the rows).
pub(super) fn column_intersection(input: &OrderingInput<'_>) -> Graph {
    unless(&AtomicBool::new(false), input).expect("nobody gives it up")
}

/// That graph, or none when it is given up meanwhile.
pub(super) fn unless(given_up: &AtomicBool, input: &OrderingInput<'_>) -> Option<Graph> {
    if given_up.load(Relaxed) {
        return None;
    }
    let n = input.cols.ncols();
    let limit = dense::limit(n);
    let block = n.div_ceil(4 * rayon::current_num_threads()).max(1024);
    let parts: Vec<(Vec<usize>, Vec<u32>)> = (0..n.div_ceil(block))
        .into_par_iter()
        .map(|b| {
            let mut mark = vec![u32::MAX; n];
            let mut lengths = Vec::with_capacity(block);
            let mut list = Vec::new();
            for j in b * block..((b + 1) * block).min(n) {
                if given_up.load(Relaxed) {
                    break;
                }
                let before = list.len();
                mark[j] = j as u32;
                for &i in input.cols.col(j) {
                    let row = input.rows.col(i as usize);
                    if row.len() > limit {
                        continue;
                    }
                    for &k in row {
                        if mark[k as usize] != j as u32 {
                            mark[k as usize] = j as u32;
                            list.push(k);
                        }
                    }
                }
                list[before..].sort_unstable();
                lengths.push(list.len() - before);
            }
            (lengths, list)
        })
        .collect();
    if given_up.load(Relaxed) {
        return None;
    }
    let mut start = Vec::with_capacity(n + 1);
    start.push(0);
    let mut neighbours = Vec::with_capacity(parts.iter().map(|p| p.1.len()).sum());
    for (lengths, list) in parts {
        for len in lengths {
            start.push(start[start.len() - 1] + len);
        }
        neighbours.extend_from_slice(&list);
    }
    Some(Graph { start, neighbours })
}
