//! The fronts: which columns and rows each holds, and its staircase.
//!
//! Takes the rows of W22 (columns numbered by the postordered tree) and the supernodes; gives for every front its
//! columns, row count, staircase, and the parent that its contribution block goes to. A child that is better merged
//! into its parent (see `amalgamate`) is.
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

use super::amalgamate::{Merging, time_ns, try_merge};
use super::counts::RowsByFirst;

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
    /// Time by the model of the amalgamation, in ns.
    pub time_ns: f64,
}

impl RawFront {
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

/// The fronts in an order with children before parents; `start` are the supernodes, `row(i)` lists the columns of row i.
/// O(sum of the fronts' columns, over the fronts and their children, and of nnz), sorting apart.
pub(crate) fn build<R: Iterator<Item = u32>>(
    start: &[u32],
    by_first: &RowsByFirst,
    row: impl Fn(u32) -> R,
) -> Vec<RawFront> {
    let ncols = *start.last().expect("one more than supernodes") as usize;
    let count = start.len() - 1;
    let mut owner = vec![0u32; ncols];
    for s in 0..count {
        owner[start[s] as usize..start[s + 1] as usize].fill(s as u32);
    }
    let mut builder = Builder {
        by_first,
        local: vec![0; ncols],
        stamp: vec![u32::MAX; ncols],
        merging: Merging::default(),
    };
    let mut children_of: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut fronts: Vec<Option<RawFront>> = Vec::with_capacity(count);
    for s in 0..count {
        let children = std::mem::take(&mut children_of[s]);
        let mut front = builder.assemble(s as u32, start[s]..start[s + 1], children, &fronts, &row);
        builder.merge_children(&mut front, &mut fronts);
        front.parent = (front.cb_rows > 0).then(|| owner[front.cols[front.npiv as usize] as usize]);
        if let Some(p) = front.parent {
            children_of[p as usize].push(s as u32);
        }
        fronts.push(Some(front));
    }
    compact(fronts)
}

/// What building one front after the other needs.
struct Builder<'a> {
    by_first: &'a RowsByFirst,
    /// Place of a column in the front at hand, where `stamp` is the front's number.
    local: Vec<u32>,
    stamp: Vec<u32>,
    merging: Merging,
}

impl Builder<'_> {
    /// The front of supernode `id` with the pivots `pivots`.
    fn assemble<R: Iterator<Item = u32>>(
        &mut self,
        id: u32,
        pivots: std::ops::Range<u32>,
        children: Vec<u32>,
        fronts: &[Option<RawFront>],
        row: impl Fn(u32) -> R,
    ) -> RawFront {
        let child = |c: u32| {
            fronts[c as usize]
                .as_ref()
                .expect("a child is there until it is merged")
        };
        let npiv = pivots.len();
        let own_rows: Vec<u32> = pivots
            .clone()
            .flat_map(|k| self.by_first.of(k as usize).iter().copied())
            .collect();
        let mut cols: Vec<u32> = pivots.clone().collect();
        pivots.for_each(|k| self.stamp[k as usize] = id);
        let mut add = |k: u32| {
            if self.stamp[k as usize] != id {
                self.stamp[k as usize] = id;
                cols.push(k);
            }
        };
        for &i in &own_rows {
            row(i).for_each(&mut add);
        }
        for &c in &children {
            child(c).cols[child(c).npiv as usize..]
                .iter()
                .copied()
                .for_each(&mut add);
        }
        cols[npiv..].sort_unstable();
        for (j, &k) in cols.iter().enumerate() {
            self.local[k as usize] = j as u32;
        }

        let n = cols.len();
        let mut stair = vec![0u32; n];
        for (j, &k) in cols[..npiv].iter().enumerate() {
            stair[j] += self.by_first.of(k as usize).len() as u32;
        }
        for &c in &children {
            let c = child(c);
            c.for_each_lead(|_, lead| {
                stair[self.local[c.cols[lead as usize] as usize] as usize] += 1
            });
        }
        // Where no row is left for a pivot, or none for the first column of a contribution block that has rows, one of
        // zeros is put in: a dependence then shows as a zero on the diagonal, and a contribution block starts where its
        // parent does.
        let rows: u32 = stair.iter().sum();
        let must_start = npiv + usize::from(rows > npiv as u32);
        let mut above = 0;
        for (j, s) in stair.iter_mut().enumerate() {
            above += *s;
            if j < must_start {
                above = above.max(j as u32 + 1);
            }
            *s = above;
        }
        let m = above;
        let mut front = RawFront {
            cols,
            npiv: npiv as u32,
            own_rows,
            m,
            stair,
            cb_rows: m.min(n as u32).saturating_sub(npiv as u32),
            parent: None,
            children,
            time_ns: 0.0,
        };
        front.time_ns = time_ns(&front);
        front
    }

    /// Merges the children that are better merged, those that add least first.
    fn merge_children(&mut self, front: &mut RawFront, fronts: &mut [Option<RawFront>]) {
        let mut candidates = std::mem::take(&mut front.children);
        let width = |c: u32| fronts[c as usize].as_ref().map_or(0, |f| f.cols.len());
        candidates.sort_by_key(|&c| (std::cmp::Reverse(width(c)), std::cmp::Reverse(c)));
        let mut kept = Vec::new();
        // Merging puts columns before those that `local` knows.
        let mut shift = 0;
        for c in candidates {
            let mut child = fronts[c as usize].take().expect("not merged yet");
            let local = &self.local;
            if try_merge(
                front,
                &mut child,
                |k| local[k as usize] + shift,
                &mut self.merging,
            ) {
                shift += child.npiv;
                kept.append(&mut child.children);
            } else {
                fronts[c as usize] = Some(child);
                kept.push(c);
            }
        }
        kept.sort_unstable();
        front.children = kept;
    }
}

/// Numbers the fronts that are left.
fn compact(fronts: Vec<Option<RawFront>>) -> Vec<RawFront> {
    let mut id = vec![0u32; fronts.len()];
    let mut next = 0;
    for (f, front) in fronts.iter().enumerate() {
        id[f] = next;
        next += u32::from(front.is_some());
    }
    let mut out: Vec<RawFront> = fronts.into_iter().flatten().collect();
    for front in &mut out {
        front.children.iter_mut().for_each(|c| *c = id[*c as usize]);
    }
    // A merged front's children were told another parent.
    for f in 0..out.len() {
        for c in std::mem::take(&mut out[f].children) {
            out[c as usize].parent = Some(f as u32);
            out[f].children.push(c);
        }
    }
    out
}
