//! The fronts: which columns and rows each holds, and its staircase.
//!
//! Takes the rows of W22 (columns numbered by the postordered tree), the pivots of one front and its children; gives its columns, row
//! count and staircase. A child that is better merged into its parent (see `amalgamate`) is. All of them: `forest`.
//!
//! A front holds the rows of W that start in its pivot columns and the contribution blocks of its children:
//!
//! ```text
//!           pivots   | contribution columns          after the factorization
//!     ...x x x x x x x x x                           R R R R R R R R R
//!     ...x x x x x x x x x    rows sorted by their     R R R R R R R R
//!        . x x x x x x x x    first column: stair[j]     c c c c c c c   contribution block,
//!        . . x x x x x x x    rows may be nonzero          c c c c c c   upper trapezoidal
//!        . . . . x x x x x    in column j                    c c c c c
//!        . . . . . . x x x                                     (V below)
//! ```
//!
//! The tree is the row-merge tree (George & Ng 1987): a front's parent is where the first row of its contribution block
//! starts, which the column elimination tree predicts but may place lower. A front that leaves no row has no parent.

use super::amalgamate::{Cost, Merging, cost_of, try_merge};
use super::counts::RowsByFirst;
use super::union::Union;
use std::ops::Range;

/// A front before its final numbering. Columns are numbered by the postordered elimination tree.
pub(crate) struct RawFront {
    /// Pivot columns first (those of merged children before the parent's), then the others, increasing.
    pub cols: Vec<u32>,
    pub npiv: u32,
    /// Rows from W.
    pub own_rows: Vec<u32>,
    /// Number of rows.
    pub m: u32,
    /// stair[j]: leading rows that may be nonzero in column j.
    pub stair: Vec<u32>,
    /// Rows of the contribution block.
    pub cb_rows: u32,
    pub parent: Option<u32>,
    pub children: Vec<u32>,
    /// By the model of the amalgamation.
    pub cost: Cost,
    /// Time for flops that were not there before descendants were merged, along the path with most of it.
    pub debt_ns: f64,
}

impl RawFront {
    /// The columns that are eliminated here.
    pub fn pivots(&self) -> &[u32] {
        &self.cols[..self.npiv as usize]
    }

    /// Calls `visit(r, lead)` for every row r of the contribution block (from 0) with the local column it starts in.
    pub fn for_each_lead(&self, mut visit: impl FnMut(u32, u32)) {
        let mut j = self.npiv;
        for r in 0..self.cb_rows {
            let k = self.npiv + r;
            j = j.max(k);
            while self.stair[j as usize] <= k {
                j += 1;
            }
            visit(r, j);
        }
    }
}

/// Makes a staircase of the number of rows that start in each column; gives the number of rows.
///
/// Where no row is left for one of the `npiv` pivots, or none for the first column of a contribution block that has rows, one of zeros is put in: a dependence then shows as a zero on the
/// diagonal, and a contribution block starts where its parent does.
pub(super) fn staircase(starting: &mut [u32], npiv: usize) -> u32 {
    let rows: u32 = starting.iter().sum();
    let must_start = npiv + usize::from(rows > npiv as u32);
    let mut above = 0;
    for (j, s) in starting.iter_mut().enumerate() {
        above += *s;
        if j < must_start {
            above = above.max(j as u32 + 1);
        }
        *s = above;
    }
    above
}

/// Fronts of a range of supernodes; none where a front was merged into its parent. Each stays where it was made: most are merged, and all of them
/// put together would be a list of fresh pages for every time that it is moved.
pub(crate) struct Slots {
    pub first: u32,
    pub fronts: Vec<Option<Box<RawFront>>>,
}

impl Slots {
    fn get(&self, f: u32) -> &RawFront {
        let front = self.fronts[(f - self.first) as usize].as_ref();
        front.expect("a child is there until it is merged")
    }

    fn slot(&mut self, f: u32) -> &mut Option<Box<RawFront>> {
        &mut self.fronts[(f - self.first) as usize]
    }
}

/// What making one front after the other needs.
pub(crate) struct Maker<'a, F> {
    by_first: &'a RowsByFirst,
    /// The columns of a row.
    row: F,
    /// Place of a column in the front at hand.
    local: Vec<u32>,
    union: Union,
    merging: Merging,
    spare: Spare,
}

/// Lists of fronts that were merged away, empty, for the next ones: most fronts go that way, and all threads have one heap.
#[derive(Default)]
pub(crate) struct Spare(Vec<Vec<u32>>);

/// Longer ones are not kept: a short one would hold their memory for long.
const SPARE_ENTRIES: usize = 256;

impl Spare {
    pub fn take(&mut self) -> Vec<u32> {
        self.0.pop().unwrap_or_default()
    }

    /// One for so many entries, and those that come when children are merged.
    pub fn take_for(&mut self, entries: usize) -> Vec<u32> {
        let mut list = self.take();
        list.reserve(entries + entries / 4 + 8);
        list
    }

    pub fn give(&mut self, mut list: Vec<u32>) {
        if (1..=SPARE_ENTRIES).contains(&list.capacity()) {
            list.clear();
            self.0.push(list);
        }
    }
}

impl<'a, F: Fn(u32) -> &'a [u32]> Maker<'a, F> {
    pub fn new(by_first: &'a RowsByFirst, row: F, tiled_flops: f64) -> Self {
        let ncols = by_first.start.len() - 1;
        Maker {
            by_first,
            row,
            local: vec![0; ncols],
            union: Union::new(ncols),
            merging: Merging::new(tiled_flops),
            spare: Spare::default(),
        }
    }

    /// An empty list.
    pub fn list(&mut self) -> Vec<u32> {
        self.spare.take()
    }

    /// The front of the supernode with the pivots `pivots`.
    pub fn assemble(&mut self, pivots: Range<u32>, children: Vec<u32>, fronts: &Slots) -> RawFront {
        let npiv = pivots.len();
        let by_first = pivots.clone().map(|k| self.by_first.of(k as usize));
        let count = by_first.clone().map(<[u32]>::len).sum();
        let mut own_rows = self.spare.take_for(count);
        by_first.for_each(|rows| own_rows.extend_from_slice(rows));
        // No row and no contribution block here starts before the pivots.
        let mut before: &[u32] = &[];
        for &i in &own_rows {
            let columns = (self.row)(i);
            if columns != before {
                columns.iter().for_each(|&k| self.union.add(k));
            }
            before = columns;
        }
        for &c in &children {
            let c = fronts.get(c);
            let columns = c.cols[c.npiv as usize..].iter();
            columns.for_each(|&k| self.union.add(k));
        }
        pivots.for_each(|k| self.union.add(k));
        let mut cols = self.spare.take_for(self.union.len());
        self.union.take(&mut cols);
        for (j, &k) in cols.iter().enumerate() {
            self.local[k as usize] = j as u32;
        }

        let n = cols.len();
        let mut stair = self.spare.take_for(n);
        stair.resize(n, 0);
        for (j, &k) in cols[..npiv].iter().enumerate() {
            stair[j] += self.by_first.of(k as usize).len() as u32;
        }
        for &c in &children {
            let c = fronts.get(c);
            c.for_each_lead(|_, lead| {
                stair[self.local[c.cols[lead as usize] as usize] as usize] += 1
            });
        }
        let m = staircase(&mut stair, npiv);
        let mut front = RawFront {
            cols,
            npiv: npiv as u32,
            own_rows,
            m,
            stair,
            cb_rows: m.min(n as u32).saturating_sub(npiv as u32),
            parent: None,
            children,
            cost: Cost::default(),
            debt_ns: 0.0,
        };
        front.cost = cost_of(&front);
        front
    }

    /// Merges the children that are better merged, those that add least first.
    pub fn merge_children(&mut self, front: &mut RawFront, fronts: &mut Slots) {
        let mut candidates = std::mem::take(&mut front.children);
        let width = |c: u32| fronts.get(c).cols.len();
        candidates.sort_unstable_by_key(|&c| (std::cmp::Reverse(width(c)), std::cmp::Reverse(c)));
        let mut kept = self.spare.take();
        // Merging puts columns before those that `local` knows.
        let mut shift = 0;
        for &c in &candidates {
            let mut child = fronts.slot(c).take().expect("not merged yet");
            let local = &self.local;
            if try_merge(
                front,
                &mut child,
                |k| local[k as usize] + shift,
                &mut self.merging,
            ) {
                shift += child.npiv;
                kept.append(&mut child.children);
                let RawFront {
                    cols,
                    own_rows,
                    stair,
                    children,
                    ..
                } = *child;
                let lists = [cols, own_rows, stair, children];
                lists.into_iter().for_each(|list| self.spare.give(list));
            } else {
                *fronts.slot(c) = Some(child);
                kept.push(c);
            }
        }
        self.spare.give(candidates);
        kept.sort_unstable();
        front.children = kept;
    }
}
