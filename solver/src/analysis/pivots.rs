//! The order of the pivots of each front.
//!
//! Takes the fronts; gives them with their pivots in another order, and the staircases that follow. The pivots of one front may be eliminated in
//! any order: tree and R keep their shape. But a row that starts in column p of a front with n columns costs about 2 (n - p)^2 flops there, so that
//! columns in which many rows start had better come late. Rows start in a column
//!
//! * of its own front: rows of W whose first pivot it is, and rows of the children's contribution blocks,
//! * and of each front below that has it as a contribution column: those of that front's children.
//!
//! In a contribution block, a triangle or trapezoid, one row starts in each column, whatever their order, or in as large a part of them as there are rows.
//! So the weight of a column is the sum of these rows over all fronts, each times (n - p)^2, with p in the middle of the columns that it may change places with. A row of W
//! starts but once: pivots are taken by the least weight, rows of W included that none before has started.

use super::amalgamate::cost_of;
use super::fronts::{RawFront, staircase};
use super::heap::{Heap, Key};
use rayon::prelude::*;
use std::cmp::Reverse;

/// In ns: an entry of a front's list of columns or of W, looked at here.
const NS_PER_ENTRY: f64 = 10.0;
/// It pays where the flops of all fronts take so many times as long one after the other: what is won is a tenth of that on some matrices, a hundredth on others.
const WORTH_IT: f64 = 18.0;
/// What is shorter is not worth it either.
const SHORT_NS: f64 = 2.5e7;

/// Whether [`arrange`] pays, with `entries` of W.
pub(crate) fn pays(fronts: &[RawFront], entries: usize) -> bool {
    let time: f64 = fronts.iter().map(|front| front.cost.flops_ns()).sum();
    let columns: usize = fronts.iter().map(|front| front.cols.len()).sum();
    // Unit tests have small matrices, and are to go this way.
    cfg!(test) || time > SHORT_NS.max(WORTH_IT * NS_PER_ENTRY * (columns + entries) as f64)
}

/// Orders the pivots of all fronts, children before parents, on `columns` columns; `row(i)` lists those of row i. O(sum of the fronts' columns, and nnz log nnz).
///
/// Where rows start later, an earlier pivot may be left without any, and a row of zeros is put in for it: then there is a row more in the contribution block, or the first, for a parent that
/// does not know its columns. Such fronts keep their order. False if there are still some after a few rounds, since what lies below has changed: then the fronts are of no use.
pub(crate) fn arrange<'a>(
    fronts: &mut [RawFront],
    columns: usize,
    row: impl Fn(u32) -> &'a [u32] + Sync,
) -> bool {
    let mut owner = vec![0u32; columns];
    let mut place = vec![0u32; columns];
    for (f, front) in fronts.iter().enumerate() {
        for (j, &k) in front.pivots().iter().enumerate() {
            owner[k as usize] = f as u32;
            place[k as usize] = j as u32;
        }
    }
    let weight = weights(fronts, &owner);
    let before: Vec<Before> = fronts.iter().map(Before::of).collect();
    fronts
        .par_iter_mut()
        .enumerate()
        .with_min_len(64)
        .for_each_init(Choice::default, |choice, (f, front)| {
            let places = |i: u32| {
                let own = row(i).iter().filter(|&&k| owner[k as usize] == f as u32);
                own.map(|&k| place[k as usize])
            };
            choice.arrange(front, &weight, places);
        });
    let mut is_kept = vec![false; fronts.len()];
    for _ in 0..ROUNDS {
        restart(fronts, &mut place, &row);
        let mut is_done = true;
        for ((front, before), is_kept) in fronts.iter_mut().zip(&before).zip(&mut is_kept) {
            if front.m != before.m {
                (is_done, *is_kept) = (false, true);
            }
            if *is_kept {
                front.cols[..before.pivots.len()].copy_from_slice(&before.pivots);
            }
        }
        if is_done {
            let priced = fronts.par_iter_mut().with_min_len(64);
            priced.for_each(|front| front.cost = cost_of(front));
            return true;
        }
    }
    false
}

/// How often fronts that get more rows may be given back their order.
const ROUNDS: usize = 3;

/// What a front was.
struct Before {
    pivots: Vec<u32>,
    m: u32,
}

impl Before {
    fn of(front: &RawFront) -> Self {
        Before {
            pivots: front.pivots().to_vec(),
            m: front.m,
        }
    }
}

/// What a row costs that starts in the middle of `run` columns from `at` on, of `n` in all, but for a factor.
fn price(n: usize, at: usize, run: usize) -> f64 {
    let behind = n as f64 - at as f64 - 0.5 * run as f64;
    behind * behind
}

/// For each column, the rows of contribution blocks that start in it, by what they cost.
fn weights(fronts: &[RawFront], owner: &[u32]) -> Vec<f64> {
    let mut weight = vec![0.0; owner.len()];
    let mut prices = vec![0.0; owner.len()];
    for front in fronts.iter().filter(|front| !front.children.is_empty()) {
        let n = front.cols.len();
        let mut at = 0;
        // The columns of one owner lie beside each other.
        let same = |a: &u32, b: &u32| owner[*a as usize] == owner[*b as usize];
        for run in front.cols.chunk_by(same) {
            let price = price(n, at, run.len());
            run.iter().for_each(|&k| prices[k as usize] = price);
            at += run.len();
        }
        for &c in &front.children {
            let child = &fronts[c as usize];
            let block = &child.cols[child.npiv as usize..];
            let part = f64::from(child.cb_rows) / block.len() as f64;
            for &k in block {
                weight[k as usize] += part * prices[k as usize];
            }
        }
    }
    weight
}

/// Pivots of a front, chosen one after the other, and what that needs.
#[derive(Default)]
struct Choice {
    /// Pivots of each row of W, those of row r in `row_start[r]..row_start[r + 1]`.
    row_start: Vec<usize>,
    row_pivots: Vec<u32>,
    /// Rows of each pivot, in the same way.
    start: Vec<usize>,
    rows: Vec<u32>,
    is_started: Vec<bool>,
    /// Rows of each pivot that none has started.
    open: Vec<u32>,
    queue: Heap<Lightest>,
    /// Pivots with fewer open rows than the queue knows of, each once.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    pivots: Vec<u32>,
}

/// Pivots by weight, which is never negative: its bits are in the same order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Lightest(Reverse<u64>, Reverse<u32>);

impl Key for Lightest {
    type Worth = f64;

    #[inline]
    fn new(weight: f64, pivot: u32) -> Self {
        Lightest(Reverse(weight.to_bits()), Reverse(pivot))
    }

    #[inline]
    fn number(self) -> u32 {
        self.1.0
    }
}

impl Choice {
    /// Puts the pivots in order. `places` gives the pivots of a row.
    fn arrange<P: Iterator<Item = u32>>(
        &mut self,
        front: &mut RawFront,
        weight: &[f64],
        places: impl Fn(u32) -> P,
    ) {
        let count = front.npiv as usize;
        if count == 1 {
            return;
        }
        self.list_rows(front, places);
        self.pivots.clear();
        self.pivots.extend_from_slice(front.pivots());
        let price = price(front.cols.len(), 0, count);
        let pivots = &self.pivots;
        let sum = |j: u32, open: u32| weight[pivots[j as usize] as usize] + price * f64::from(open);
        let mut chosen = front.cols[..count].iter_mut();
        self.queue.fit(count);
        for (j, &open) in self.open.iter().enumerate() {
            self.queue.set(j as u32, sum(j as u32, open));
        }
        while let Some(j) = self.queue.pop() {
            let j = j as usize;
            *chosen.next().expect("as many as pivots") = pivots[j];
            for &r in &self.rows[self.start[j]..self.start[j + 1]] {
                let r = r as usize;
                if std::mem::replace(&mut self.is_started[r], true) {
                    continue;
                }
                for &j in &self.row_pivots[self.row_start[r]..self.row_start[r + 1]] {
                    self.open[j as usize] -= 1;
                    if !std::mem::replace(&mut self.is_touched[j as usize], true) {
                        self.touched.push(j);
                    }
                }
            }
            for j in self.touched.drain(..) {
                self.is_touched[j as usize] = false;
                self.queue.change(j, sum(j, self.open[j as usize]));
            }
        }
    }

    /// The rows of W of a front by pivot and the pivots by row; all rows are open.
    fn list_rows<P: Iterator<Item = u32>>(&mut self, front: &RawFront, places: impl Fn(u32) -> P) {
        self.row_start.clear();
        self.row_start.push(0);
        self.row_pivots.clear();
        for &i in &front.own_rows {
            self.row_pivots.extend(places(i));
            self.row_start.push(self.row_pivots.len());
        }
        let count = front.npiv as usize;
        self.open.clear();
        self.open.resize(count, 0);
        for &j in &self.row_pivots {
            self.open[j as usize] += 1;
        }
        self.start.clear();
        self.start.push(0);
        let mut end = 0;
        for &open in &self.open {
            end += open as usize;
            self.start.push(end);
        }
        self.rows.clear();
        self.rows.resize(self.row_pivots.len(), 0);
        // From the last row on, so that each start comes to where it belongs.
        for r in (0..front.own_rows.len()).rev() {
            for &j in &self.row_pivots[self.row_start[r]..self.row_start[r + 1]] {
                let at = &mut self.start[j as usize + 1];
                *at -= 1;
                self.rows[*at] = r as u32;
            }
        }
        self.start.remove(0);
        self.start.push(end);
        self.is_started.clear();
        self.is_started.resize(front.own_rows.len(), false);
        self.is_touched.clear();
        self.is_touched.resize(count, false);
    }
}

/// Columns and staircases again after pivots have changed places, children before parents. `scratch` is as long as there are columns.
fn restart<'a>(
    fronts: &mut [RawFront],
    scratch: &mut [u32],
    row: impl Fn(u32) -> &'a [u32] + Sync,
) {
    let position = &mut *scratch;
    let all = fronts.iter().flat_map(|front| front.pivots());
    for (p, &k) in all.enumerate() {
        position[k as usize] = p as u32;
    }
    let at = |k: u32| position[k as usize];
    // What each front can be told by itself.
    fronts.par_iter_mut().with_min_len(64).for_each(|front| {
        front.cols[front.npiv as usize..].sort_unstable_by_key(|&k| at(k));
        front.stair.fill(0);
        let begin = at(front.cols[0]);
        for &i in &front.own_rows {
            let first = row(i).iter().map(|&k| at(k)).min();
            front.stair[(first.expect("no empty row") - begin) as usize] += 1;
        }
    });
    let place = scratch;
    for f in 0..fronts.len() {
        let (before, rest) = fronts.split_at_mut(f);
        let front = &mut rest[0];
        if !front.children.is_empty() {
            for (j, &k) in front.cols.iter().enumerate() {
                place[k as usize] = j as u32;
            }
        }
        for &c in &front.children {
            let child = &before[c as usize];
            child.for_each_lead(|_, lead| {
                front.stair[place[child.cols[lead as usize] as usize] as usize] += 1
            });
        }
        front.m = staircase(&mut front.stair, front.npiv as usize);
        let n = front.cols.len() as u32;
        front.cb_rows = front.m.min(n).saturating_sub(front.npiv);
    }
}

#[cfg(test)]
mod tests {
    use super::super::structure::{Outline, Steps, Structure};
    use super::super::{cleanup, work};
    use treeqr_matrices::{Csc, gallery};

    /// The fronts of a matrix in the order of its columns, and arranged.
    fn both(a: &Csc<f64>) -> [Structure; 2] {
        let reduced = cleanup::reduce(&work::Work::new(a.pattern()), &[]);
        let natural: Vec<u32> = (0..reduced.cols.ncols() as u32).collect();
        [false, true].map(|pivots| {
            let parts = false;
            Outline::new(&reduced, &natural).build_with(Steps { pivots, parts })
        })
    }

    #[test]
    fn columns_stay_in_their_fronts_and_flops_do_not_grow() {
        for (name, most) in [
            ("grid3d-12", 1.0),
            ("stencil27-9", 1.0),
            ("TF12", 1.0),
            ("lp-3000", 0.75),
            ("ba-40x1500", 1.0),
            ("conv2d-60", 1.01),
        ] {
            let [before, after] = both(&gallery::make(name).expect("gallery").matrix);
            assert_eq!(before.order, after.order, "{name}");
            assert_eq!(before.fronts.len(), after.fronts.len(), "{name}");
            let sorted = |columns: &[u32]| {
                let mut columns = columns.to_vec();
                columns.sort_unstable();
                columns
            };
            for (a, b) in before.fronts.iter().zip(&after.fronts) {
                assert_eq!(sorted(a.pivots()), sorted(b.pivots()), "{name}");
                assert_eq!(sorted(&a.cols), sorted(&b.cols), "{name}");
            }
            let part = after.flops() as f64 / before.flops() as f64;
            assert!(part <= most, "{name}: {part}");
        }
    }

    #[test]
    fn the_pivot_in_most_rows_comes_last_and_started_rows_count_no_more() {
        // One front: its columns all meet. Column 0 is in all rows but one, 1 in four, 2 in two, 3 in three.
        let rows: [&[u32]; 8] = [
            &[0, 1],
            &[0, 1],
            &[0, 1],
            &[0, 2],
            &[0, 3],
            &[0, 3],
            &[0],
            &[1, 2, 3],
        ];
        let entries = rows.iter().enumerate();
        let entries = entries.flat_map(|(i, row)| row.iter().map(move |&j| (i as u32, j)));
        let (i, j): (Vec<u32>, Vec<u32>) = entries.unzip();
        let a = Csc::from_triplets(8, 4, &i, &j, &vec![1.0; i.len()]).expect("inside");
        let [before, after] = both(&a);
        let front = |s: &Structure| {
            assert_eq!(s.fronts.len(), 1);
            let columns = s.fronts[0].cols.iter().map(|&k| s.order[k as usize]);
            (columns.collect::<Vec<_>>(), s.fronts[0].stair.clone())
        };
        assert_eq!(front(&before), (vec![0, 1, 2, 3], vec![7, 8, 8, 8]));
        // After 2 has started two rows, 3 has two left and 1 three.
        assert_eq!(front(&after), (vec![2, 3, 1, 0], vec![2, 4, 7, 8]));
    }
}
