//! The rows of W in the order in which the fronts read them, with the place of every entry in its front.
//!
//! Takes fronts in their final order; gives [`OwnRows`]. Parts of the fronts at the same time: how many entries each has is known
//! before.

use super::cleanup::Reduced;
use super::fronts::RawFront;
use super::work::Work;
use crate::positions::{Positions, PositionsMut};
use crate::symbolic::{OwnRows, SORTED_FROM};
use rayon::prelude::*;

/// Entries of W22 that are worth a task.
const WORTH_A_TASK: usize = 12_000;
/// Parts for each thread: one of them is busy with the lists of the fronts at first.
const PARTS: usize = 4;

/// The rows of W that the fronts read, and for each front of `post` where its rows end. Parts of the fronts at the same time.
pub(super) fn number(
    work: &Work,
    reduced: &Reduced,
    order: &[u32],
    raw: &[RawFront],
    post: &[u32],
) -> (OwnRows, Vec<usize>) {
    let (rows, nnz) = (reduced.row_ids.len(), reduced.rows.nnz());
    let mut own = OwnRows {
        row: vec![0; rows],
        local: vec![0; rows],
        start: vec![0; rows + 1],
        col: vec![0; nnz],
        position: Positions::zeros(nnz, work.rows.nnz()),
    };
    let count = PARTS * rayon::current_num_threads();
    let most = nnz.div_ceil(count).max(WORTH_A_TASK);
    let mut parts = Vec::new();
    let mut ends = Vec::with_capacity(post.len());
    let (mut from, mut row, mut entry) = (0, 0, 0);
    let (mut first_row, mut first_entry) = (0, 0);
    let mut rest = Slices::of(&mut own);
    for (k, &f) in post.iter().enumerate() {
        let rows = &raw[f as usize].own_rows;
        row += rows.len();
        let length = |&i: &u32| reduced.rows.col(i as usize).len();
        entry += rows.iter().map(length).sum::<usize>();
        ends.push(row);
        if entry - first_entry >= most || k + 1 == post.len() {
            let (slices, others) = rest.split(row - first_row, entry - first_entry);
            parts.push((&post[from..=k], first_entry, slices));
            rest = others;
            (from, first_row, first_entry) = (k + 1, row, entry);
        }
    }
    parts
        .into_par_iter()
        .for_each(|(fronts, at, slices)| slices.fill(work, reduced, order, raw, fronts, at));
    (own, ends)
}

/// A part of [`OwnRows`].
struct Slices<'a> {
    row: &'a mut [u32],
    local: &'a mut [u32],
    /// Ends of the rows.
    end: &'a mut [usize],
    col: &'a mut [u32],
    position: PositionsMut<'a>,
}

impl<'a> Slices<'a> {
    fn of(own: &'a mut OwnRows) -> Self {
        Slices {
            row: &mut own.row,
            local: &mut own.local,
            end: &mut own.start[1..],
            col: &mut own.col,
            position: own.position.as_mut(),
        }
    }

    /// The first rows with their entries, and the rest.
    fn split(self, rows: usize, entries: usize) -> (Self, Self) {
        let (row, row2) = self.row.split_at_mut(rows);
        let (local, local2) = self.local.split_at_mut(rows);
        let (end, end2) = self.end.split_at_mut(rows);
        let (col, col2) = self.col.split_at_mut(entries);
        let (position, position2) = self.position.split_at(entries);
        let first = Slices {
            row,
            local,
            end,
            col,
            position,
        };
        let rest = Slices {
            row: row2,
            local: local2,
            end: end2,
            col: col2,
            position: position2,
        };
        (first, rest)
    }

    /// Writes the rows of some fronts; `at` is the place of the first entry in the whole.
    fn fill(
        mut self,
        work: &Work,
        reduced: &Reduced,
        order: &[u32],
        raw: &[RawFront],
        fronts: &[u32],
        at: usize,
    ) {
        // place[k]: place of column k (of W22) in the front at hand.
        let mut place = vec![0u32; order.len()];
        let mut next_row: Vec<u32> = Vec::new();
        // Places of a row's columns in the front with their places in the row, sorted; those of the row before serve for one of the same columns.
        let mut sorted: Vec<(u32, u32)> = Vec::new();
        let mut rows = Vec::new();
        let (mut r, mut e) = (0, 0);
        for &f in fronts {
            let front = &raw[f as usize];
            if front.own_rows.is_empty() {
                continue;
            }
            for (j, &k) in front.cols.iter().enumerate() {
                place[order[k as usize] as usize] = j as u32;
            }
            first_rows(front, &mut next_row);
            rows.clear();
            rows.extend_from_slice(&front.own_rows);
            if rows.len() >= SORTED_FROM {
                let first = |&i: &u32| {
                    let columns = reduced.rows.col(i as usize).iter();
                    columns.map(|&j| place[j as usize]).min()
                };
                rows.sort_by_cached_key(first);
            }
            let mut before: &[u32] = &[];
            for &i in &rows {
                let row = reduced.row_ids[i as usize];
                let base = work.rows.colptr()[row as usize];
                let columns = reduced.rows.col(i as usize);
                if columns != before {
                    before = columns;
                    sorted.clear();
                    sorted.extend(
                        columns
                            .iter()
                            .zip(0..)
                            .map(|(&j, p)| (place[j as usize], p)),
                    );
                    sorted.sort_unstable();
                }
                let slot = &mut next_row[sorted[0].0 as usize];
                self.row[r] = row;
                self.local[r] = *slot;
                *slot += 1;
                for &(j, p) in &sorted {
                    self.col[e] = j;
                    self.position.set(e, work.position(base + p as usize));
                    e += 1;
                }
                self.end[r] = at + e;
                r += 1;
            }
        }
    }
}

/// Rows that start in column j of a front take the numbers from `out[j]` on: those of W first, then its children's.
fn first_rows(front: &RawFront, out: &mut Vec<u32>) {
    out.clear();
    out.push(0);
    out.extend_from_slice(&front.stair[..front.stair.len() - 1]);
}
