//! Columns that no order needs to tell apart, as one.

use super::{OrderingInput, graph};
use rayon::prelude::*;

/// Columns that are worth another thread.
const COLUMNS: usize = 1 << 11;

/// Vertices in groups, which are numbered by their first members.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    of: Vec<u32>,
    /// Where the members of each begin, and the end of the last's.
    start: Vec<usize>,
    members: Vec<u32>,
}

impl Groups {
    /// By the first member of its group for each vertex.
    pub fn by_head(head: &[u32]) -> Self {
        let n = head.len();
        let mut of = vec![0u32; n];
        let mut start = vec![0usize];
        for v in 0..n {
            let first = head[v] as usize;
            if first == v {
                of[v] = start.len() as u32 - 1;
                start.push(0);
            } else {
                of[v] = of[first];
            }
        }
        of.iter().for_each(|&k| start[k as usize + 1] += 1);
        for k in 1..start.len() {
            start[k] += start[k - 1];
        }
        let mut next = start.clone();
        let mut members = vec![0u32; n];
        for (v, &k) in of.iter().enumerate() {
            members[next[k as usize]] = v as u32;
            next[k as usize] += 1;
        }
        Groups { of, start, members }
    }

    /// Columns with the same rows, of those that make columns neighbours, by a hash of these: a collision would only cost a worse order. Columns without such
    /// rows are alone. O(nnz).
    pub fn of_columns(input: &OrderingInput<'_>) -> Self {
        let _span = tracing::debug_span!("groups").entered();
        let joins = graph::joining(input);
        let tag = |i: u32| if joins(i) { mixed(i) } else { 0 };
        let rows = 0..input.cols.nrows() as u32;
        let rows = rows.into_par_iter().with_min_len(graph::ROWS);
        let tags: Vec<u64> = rows.map(tag).collect();
        let key = |j: u32| {
            let tags = input.cols.col(j as usize).iter().map(|&i| tags[i as usize]);
            let (sum, any) = tags.fold((0u64, 0), |(sum, any), tag| {
                (sum.wrapping_add(tag), any | tag)
            });
            (if any == 0 { mixed(!j) } else { sum }, j)
        };
        let columns = 0..input.cols.ncols() as u32;
        let columns = columns.into_par_iter().with_min_len(COLUMNS);
        let mut keys: Vec<(u64, u32)> = columns.map(key).collect();
        keys.par_sort_unstable();
        let mut head = vec![0u32; keys.len()];
        for equal in keys.chunk_by(|a, b| a.0 == b.0) {
            let first = equal[0].1;
            equal.iter().for_each(|&(_, j)| head[j as usize] = first);
        }
        Self::by_head(&head)
    }

    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// How many vertices there are in all groups.
    pub fn vertices(&self) -> usize {
        self.of.len()
    }

    /// Whether each vertex is alone.
    pub fn are_single(&self) -> bool {
        self.len() == self.vertices()
    }

    pub fn of(&self, v: u32) -> u32 {
        self.of[v as usize]
    }

    /// Increasing.
    pub fn members(&self, k: u32) -> &[u32] {
        &self.members[self.start[k as usize]..self.start[k as usize + 1]]
    }

    pub fn head(&self, k: u32) -> u32 {
        self.members[self.start[k as usize]]
    }
}

/// A number without order for v (Vigna's splitmix64).
pub(crate) fn mixed(v: u32) -> u64 {
    let mut z = (u64::from(v) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
