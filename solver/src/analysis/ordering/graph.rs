//! The column intersection graph: columns are adjacent when they share a row that is not dense: such a row of d entries adds d^2 edges, and tells an
//! ordering nothing when d is large beside the number of columns.
//!
//! It is made of the columns with the same rows as one, which are neighbours of each other and have the same others; of every column by itself only for those who ask for that.

use super::OrderingInput;
use super::groups::Groups;
use crate::analysis::dense;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Rows that are worth another thread, where each is looked at once.
pub(super) const ROWS: usize = 1 << 15;

/// A graph in compressed adjacency lists, without loops, lists sorted.
pub(super) struct Graph {
    /// Start of every list in `neighbours`, and the end of the last.
    pub start: Vec<usize>,
    /// Adjacent vertices.
    pub neighbours: Vec<u32>,
}

impl Graph {
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    pub fn of(&self, v: u32) -> &[u32] {
        &self.neighbours[self.start[v as usize]..self.start[v as usize + 1]]
    }

    /// From lists of a part of the vertices each, in their order: lengths and neighbours.
    fn of_parts(parts: Vec<(Vec<usize>, Vec<u32>)>, vertices: usize) -> Self {
        let mut start = Vec::with_capacity(vertices + 1);
        start.push(0);
        let mut neighbours = Vec::with_capacity(parts.iter().map(|p| p.1.len()).sum());
        for (lengths, list) in parts {
            for len in lengths {
                start.push(start[start.len() - 1] + len);
            }
            neighbours.extend_from_slice(&list);
        }
        Graph { start, neighbours }
    }
}

/// The graph of W22' W22 without dense rows.
pub(super) struct ColumnGraph<'a> {
    /// Columns as the vertices of `graph`.
    pub groups: Cow<'a, Groups>,
    pub graph: Graph,
    whole: OnceLock<Graph>,
}

impl<'a> ColumnGraph<'a> {
    pub fn new(groups: Cow<'a, Groups>, graph: Graph) -> Self {
        ColumnGraph {
            groups,
            graph,
            whole: OnceLock::new(),
        }
    }

    /// Columns in parallel, O(sum of d^2 over the rows) for d different columns each.
    pub fn of(input: &OrderingInput<'_>) -> ColumnGraph<'static> {
        let groups = Groups::of_columns(input);
        let graph = unless(&AtomicBool::new(false), input, &groups);
        ColumnGraph::new(Cow::Owned(groups), graph.expect("nobody gives it up"))
    }

    /// Neighbours of the columns of a group.
    pub fn degree(&self, k: u32) -> usize {
        let size = |k: u32| self.groups.members(k).len();
        let others = self.graph.of(k).iter();
        size(k) - 1 + others.map(|&u| size(u)).sum::<usize>()
    }

    /// With every column by itself.
    pub fn whole(&self) -> &Graph {
        match self.groups.are_single() {
            true => &self.graph,
            false => self.whole.get_or_init(|| self.apart()),
        }
    }

    fn apart(&self) -> Graph {
        let groups = &self.groups;
        // The members of a group and their neighbours: the same for each of them, but for itself.
        let around = |k: u32| {
            let mut all = groups.members(k).to_vec();
            for &u in self.graph.of(k) {
                all.extend_from_slice(groups.members(u));
            }
            all.sort_unstable();
            all
        };
        // No thread of rayon's may wait here for another.
        let around: Vec<Vec<u32>> = (0..groups.len() as u32).map(around).collect();
        let n = groups.vertices();
        let lengths = around
            .iter()
            .zip(0..)
            .map(|(all, k)| (all.len() - 1) * groups.members(k).len());
        let mut neighbours = Vec::with_capacity(lengths.sum());
        let mut start = Vec::with_capacity(n + 1);
        start.push(0);
        for v in 0..n as u32 {
            let around = around[groups.of(v) as usize].iter();
            neighbours.extend(around.filter(|&&u| u != v));
            start.push(neighbours.len());
        }
        Graph { start, neighbours }
    }
}

/// Whether a row makes its columns neighbours.
pub(super) fn joining<'a>(input: &'a OrderingInput<'_>) -> impl Fn(u32) -> bool + Copy + Sync + 'a {
    let limit = dense::limit(input.cols.ncols());
    move |i| (2..=limit).contains(&input.rows.col(i as usize).len())
}

/// Length of the graph's lists with repetitions, columns by themselves: what it costs to build, sum over the rows of d (d - 1).
pub(super) fn work(input: &OrderingInput<'_>) -> usize {
    let joins = joining(input);
    let rows = (0..input.rows.ncols() as u32).into_par_iter();
    let rows = rows.with_min_len(ROWS);
    let lengths = rows
        .filter(|&i| joins(i))
        .map(|i| input.rows.col(i as usize).len());
    lengths.map(|d| d * (d - 1)).sum()
}

/// The graph of the groups of columns with the same rows, or none when it is given up meanwhile.
pub(super) fn unless(
    given_up: &AtomicBool,
    input: &OrderingInput<'_>,
    groups: &Groups,
) -> Option<Graph> {
    if given_up.load(Relaxed) {
        return None;
    }
    let _span = tracing::debug_span!("graph", vertices = groups.len()).entered();
    let joins = joining(input);
    let rows = (!groups.are_single()).then(|| rows_of_groups(input, groups));
    let row = |i: u32| match &rows {
        _ if !joins(i) => &[],
        Some((start, list)) => &list[start[i as usize]..start[i as usize + 1]],
        None => input.rows.col(i as usize),
    };
    let n = groups.len();
    let block = n.div_ceil(4 * rayon::current_num_threads()).max(1024);
    let parts: Vec<(Vec<usize>, Vec<u32>)> = (0..n.div_ceil(block))
        .into_par_iter()
        .map(|b| {
            let mut mark = vec![u32::MAX; n];
            let mut lengths = Vec::with_capacity(block);
            let mut list = Vec::new();
            for v in (b * block) as u32..((b + 1) * block).min(n) as u32 {
                if given_up.load(Relaxed) {
                    break;
                }
                let before = list.len();
                mark[v as usize] = v;
                for &i in input.cols.col(groups.head(v) as usize) {
                    for &u in row(i) {
                        if mark[u as usize] != v {
                            mark[u as usize] = v;
                            list.push(u);
                        }
                    }
                }
                list[before..].sort_unstable();
                lengths.push(list.len() - before);
            }
            (lengths, list)
        })
        .collect();
    (!given_up.load(Relaxed)).then(|| Graph::of_parts(parts, n))
}

/// The groups of each row: where they start, and the end of the last, and all of them.
fn rows_of_groups(input: &OrderingInput<'_>, groups: &Groups) -> (Vec<usize>, Vec<u32>) {
    let mut of_head = vec![None; input.cols.ncols()];
    (0..groups.len() as u32).for_each(|k| of_head[groups.head(k) as usize] = Some(k));
    let mut start = Vec::with_capacity(input.rows.ncols() + 1);
    let mut list = Vec::with_capacity(input.rows.nnz());
    start.push(0);
    for i in 0..input.rows.ncols() {
        list.extend(
            input
                .rows
                .col(i)
                .iter()
                .filter_map(|&j| of_head[j as usize]),
        );
        start.push(list.len());
    }
    (start, list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use treeqr_matrices::Csc;

    #[test]
    fn columns_apart_have_the_neighbours_that_their_rows_give() {
        // Twins and triplets, a column alone in its row, an empty one, and a row of all, which joins nobody.
        const N: usize = 150;
        let column = |i: usize, k: usize| (i * 11 + k * k * 7) % 50;
        let places = (0..40).flat_map(|i| (0..3).map(move |k| (i, column(i, k))));
        let copies = places.flat_map(|(i, j)| (0..1 + j % 3).map(move |c| (i, j + 50 * c)));
        let alone = [(40, N - 2), (41, N - 2)];
        let dense = (0..N).map(|j| (42, j));
        let places: std::collections::BTreeSet<(usize, usize)> =
            copies.chain(alone).chain(dense).collect();
        let (i, j): (Vec<u32>, Vec<u32>) =
            places.iter().map(|&(i, j)| (i as u32, j as u32)).unzip();
        let ones = vec![1.0; i.len()];
        let cols = Csc::from_triplets(43, N, &i, &j, &ones).expect("inside");
        let (cols, rows) = (cols.pattern(), cols.pattern().transposed());
        let input = OrderingInput { cols, rows: &rows };
        assert!(dense::limit(N) < N);

        let graph = ColumnGraph::of(&input);
        let groups = &graph.groups;
        assert_eq!(groups.members(groups.of(102)), [2, 52, 102]);
        assert_eq!(groups.members(groups.of(N as u32 - 1)), [N as u32 - 1]);
        let whole = graph.whole();
        for v in 0..N {
            let beside = |u: usize| {
                let both = |i: usize| places.contains(&(i, v)) && places.contains(&(i, u));
                u != v && (0..42).any(both)
            };
            let expected: Vec<u32> = (0..N).filter(|&u| beside(u)).map(|u| u as u32).collect();
            assert_eq!(whole.of(v as u32), expected);
            assert_eq!(graph.degree(groups.of(v as u32)), expected.len());
        }
    }
}
