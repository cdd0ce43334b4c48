//! All fronts: disjoint subtrees at the same time, then those above them.
//!
//! Takes the supernodes with their forest and the rows of W22; gives the fronts (see `fronts`) in an order with children before parents.
//! The same on any number of threads: a front's children are what they are, whoever makes them.

use super::counts::RowsByFirst;
use super::etree::NONE;
use super::fronts::{Maker, RawFront, Slots};
use rayon::prelude::*;
use std::ops::Range;

/// Supernodes: chains of columns.
pub(crate) struct Supernodes {
    /// Their starts, and the number of columns.
    pub start: Vec<u32>,
    /// Their parents by the column elimination tree.
    pub parent: Vec<u32>,
    /// Columns of their rows of R.
    pub width: Vec<u32>,
    /// The supernode of a column.
    pub owner: Vec<u32>,
}

/// The fronts, which are cut into tiles from about `tiled_flops` on; `row(i)` lists the columns of row i. O(sum of the fronts' columns, over the fronts and their children, and of nnz).
pub(crate) fn build<'a>(
    supernodes: &Supernodes,
    by_first: &'a RowsByFirst,
    row: impl Fn(u32) -> &'a [u32] + Copy + Sync,
    tiled_flops: f64,
) -> Vec<RawFront> {
    let count = supernodes.parent.len();
    let start = |range: Range<u32>| {
        let maker = Maker::new(by_first, row, tiled_flops);
        Part::new(supernodes, maker, range)
    };
    let parts: Vec<_> = subtrees(supernodes)
        .into_par_iter()
        .map(|range| {
            let mut part = start(range.clone());
            range.for_each(|s| part.add(s));
            (part.slots, part.leaving)
        })
        .collect();
    let mut whole = start(0..count as u32);
    for (slots, leaving) in parts {
        (whole.end()..slots.first).for_each(|s| whole.add(s));
        whole.slots.fronts.extend(slots.fronts);
        leaving.into_iter().for_each(|(c, p)| whole.hang(c, p));
    }
    (whole.end()..count as u32).for_each(|s| whole.add(s));
    compact(whole.slots.fronts)
}

/// Columns of fronts that are worth a task.
const WORTH_A_TASK: u64 = 5_000;
/// A supernode without columns, in columns.
const EACH: u64 = 8;

/// Ranges of supernodes, increasing, that hold all that is below what they hold, and together most of the work.
fn subtrees(supernodes: &Supernodes) -> Vec<Range<u32>> {
    let parent = &supernodes.parent;
    let mut first: Vec<u32> = (0..parent.len() as u32).collect();
    let width = supernodes.width.iter();
    let mut work: Vec<u64> = width.map(|&n| u64::from(n) + EACH).collect();
    let total: u64 = work.iter().sum();
    for s in 0..parent.len() {
        if parent[s] != NONE {
            let p = parent[s] as usize;
            first[p] = first[p].min(first[s]);
            work[p] += work[s];
        }
    }
    let limit = (total / (4 * rayon::current_num_threads() as u64)).max(WORTH_A_TASK);
    let mut ranges: Vec<(Range<u32>, u64)> = Vec::new();
    let mut end = parent.len();
    while end > 0 {
        let top = end - 1;
        if work[top] > limit {
            end = top;
            continue;
        }
        let range = first[top]..end as u32;
        end = range.start as usize;
        match ranges.last_mut() {
            Some((after, held)) if after.start == range.end && *held + work[top] <= limit => {
                after.start = range.start;
                *held += work[top];
            }
            _ => ranges.push((range, work[top])),
        }
    }
    ranges.into_iter().rev().map(|(range, _)| range).collect()
}

/// The fronts of a range of supernodes, made one after the other.
struct Part<'a, 'b, F> {
    supernodes: &'b Supernodes,
    maker: Maker<'a, F>,
    range: Range<u32>,
    slots: Slots,
    /// The last child so far of each front of the range, and the one before each child.
    last_child: Vec<u32>,
    before: Vec<u32>,
    /// Fronts with parents beyond the range, and those.
    leaving: Vec<(u32, u32)>,
}

impl<'a, 'b, F: Fn(u32) -> &'a [u32]> Part<'a, 'b, F> {
    fn new(supernodes: &'b Supernodes, maker: Maker<'a, F>, range: Range<u32>) -> Self {
        let slots = Slots {
            first: range.start,
            fronts: Vec::with_capacity(range.len()),
        };
        Part {
            supernodes,
            maker,
            last_child: vec![NONE; range.len()],
            before: vec![NONE; range.len()],
            range,
            slots,
            leaving: Vec::new(),
        }
    }

    /// The supernode whose front is next.
    fn end(&self) -> u32 {
        self.range.start + self.slots.fronts.len() as u32
    }

    /// Makes the front of supernode s, which is next.
    fn add(&mut self, s: u32) {
        let mut children = self.maker.list();
        let mut c = self.last_child[(s - self.range.start) as usize];
        while c != NONE {
            children.push(c);
            c = self.before[(c - self.range.start) as usize];
        }
        let start = &self.supernodes.start[s as usize..];
        let mut front = self
            .maker
            .assemble(start[0]..start[1], children, &self.slots);
        self.maker.merge_children(&mut front, &mut self.slots);
        let above = (front.cb_rows > 0).then(|| front.cols[front.npiv as usize]);
        front.parent = above.map(|k| self.supernodes.owner[k as usize]);
        if let Some(p) = front.parent {
            self.hang(s, p);
        }
        self.slots.fronts.push(Some(Box::new(front)));
    }

    /// Front c is a child of p.
    fn hang(&mut self, c: u32, p: u32) {
        if self.range.contains(&p) {
            let last = &mut self.last_child[(p - self.range.start) as usize];
            self.before[(c - self.range.start) as usize] = std::mem::replace(last, c);
        } else {
            self.leaving.push((c, p));
        }
    }
}

/// Numbers the fronts that are left.
fn compact(fronts: Vec<Option<Box<RawFront>>>) -> Vec<RawFront> {
    let mut id = vec![0u32; fronts.len()];
    let mut next = 0;
    for (f, front) in fronts.iter().enumerate() {
        id[f] = next;
        next += u32::from(front.is_some());
    }
    let mut out: Vec<RawFront> = Vec::with_capacity(next as usize);
    out.extend(fronts.into_iter().flatten().map(|front| *front));
    for front in &mut out {
        front.children.iter_mut().for_each(|c| *c = id[*c as usize]);
    }
    // A merged front's children were told another parent.
    for f in 0..out.len() {
        let children = std::mem::take(&mut out[f].children);
        for &c in &children {
            out[c as usize].parent = Some(f as u32);
        }
        out[f].children = children;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subtrees_are_closed_and_leave_the_top() {
        // Complete binary trees of 15 in postorder below a chain of roots: each supernode works 5000.
        let mut parent = Vec::new();
        for tree in 0..6u32 {
            let at = 15 * tree;
            let own = [2, 2, 6, 5, 5, 6, 14, 9, 9, 13, 12, 12, 13, 14];
            parent.extend(own.map(|p| at + p));
            parent.push(90);
        }
        parent.extend([91, NONE]);
        let supernodes = Supernodes {
            start: (0..=92).collect(),
            width: vec![5000 - EACH as u32; 92],
            parent: parent.clone(),
            owner: (0..92).collect(),
        };
        let ranges = subtrees(&supernodes);
        assert!(ranges.len() > 1);
        assert!(ranges.windows(2).all(|w| w[0].end <= w[1].start));
        let at = |s: u32| ranges.iter().position(|r| r.contains(&s));
        for (s, &p) in parent.iter().enumerate() {
            // What is below something of a range is in that range.
            assert!(p == NONE || at(p).is_none() || at(p) == at(s as u32));
        }
        assert_eq!((at(90), at(91)), (None, None));
        assert!((0..90).filter(|&s| at(s).is_some()).count() >= 48);
    }
}
