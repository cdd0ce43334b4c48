//! Fronts cut by rows: parts without pivots, which come below the front and leave their contribution blocks to it.
//!
//! Takes the fronts, children before parents; gives them with the parts. A front is dense where its staircase says, though its rows need
//! not be: a row of W has a few entries, a child's contribution block some of the columns. Rows that are put together before they come into
//! the front are as many as their columns then, at most, and start in column after column.
//!
//! ```text
//!     x . x . . . x           x x x
//!     x . x . . . .             x x                         x x x x x x x
//!     x . . . . . x    part:      x     x x x                 x x x x x x
//!     . x . x x . .    ->               . x x        and        x x x x x
//!     . x . . x . .                part:    x                     x x x x     in the front,
//!     . . . x x . .    ->                                           ...       where 7 were
//! ```
//!
//! That hardly takes more flops than the front would, and far fewer where parts have few of its columns: what is narrow is put together
//! first. And a part is small enough for a cache, where a tall front would be a large block, of which only a triangle is wanted: parts are
//! done one after the other in the same memory, and need not wait for each other. Nor do they wait for the child that the front waits for
//! the longest: that one comes into the front itself.
//!
//! For one front of W's rows this is the row merging of Liu ("On general row merging schemes for sparse Givens transformations", SIAM J. Sci.
//! Stat. Comput. 7, 1986), by blocks; for one whose parts have all of its columns it is TSQR (Demmel, Grigori, Hoemmen, Langou,
//! "Communication-optimal parallel and sequential QR and LU factorizations", SIAM J. Sci. Comput. 34, 2012). What speaks against parts are
//! copies and small products: the model of the amalgamation decides.
//!
//! To its parent the front is what it was; one that would not be is left whole.

use super::amalgamate::cost_of;
use super::fronts::{RawFront, staircase};
use rayon::prelude::*;

/// How a front is cut.
struct Shape {
    /// Entries of the front, at least.
    front: usize,
    /// The most columns that it may have.
    columns: usize,
    /// Its rows for each of its columns, at least; and those below which nothing more is put together for it.
    tall: f64,
    /// Entries of a part, at least.
    entries: usize,
    /// Rows of a part for each of its columns, at least.
    height: f64,
    /// Parts may take so many times as long as the front by the model, which knows nothing of caches and pages.
    most: f64,
}

/// Unit tests have small matrices, and are to go this way.
const TINY: usize = if cfg!(test) { 1 << 9 } else { 1 };
const DEARER: f64 = if cfg!(test) { 10.0 } else { 1.0 };

const SHAPES: [Shape; 3] = [
    // For the flops.
    Shape {
        front: (1 << 15) / TINY,
        columns: usize::MAX,
        tall: 1.25,
        entries: (1 << 14) / TINY,
        height: 1.5,
        most: 1.0 * DEARER,
    },
    // For the caches: half a megabyte in double precision, of a front that would have one column of tiles.
    Shape {
        front: (1 << 17) / TINY,
        columns: 160,
        tall: 6.0,
        entries: (1 << 16) / TINY,
        height: 4.0,
        most: 1.25 * DEARER,
    },
    // For the memory: of fronts of 64 megabytes.
    Shape {
        front: (1 << 23) / TINY,
        columns: 512,
        tall: 6.0,
        entries: (1 << 16) / TINY,
        height: 4.0,
        most: 1.25 * DEARER,
    },
];

/// A front in parts.
struct Parts {
    /// Children before parents; as children of others they are numbered behind all fronts.
    parts: Vec<RawFront>,
    /// What is left of the front, which is the parent of the last ones.
    front: RawFront,
}

/// Cuts fronts where it pays, on `columns` columns; `row(i)` lists those of row i. O(sum of the fronts' columns), and for those that may be cut O(entries of
/// their rows of W and of their children's columns).
pub(crate) fn cut<'a>(
    fronts: Vec<RawFront>,
    columns: usize,
    row: impl Fn(u32) -> &'a [u32] + Sync,
) -> Vec<RawFront> {
    let is_candidate = |&f: &usize| SHAPES.iter().any(|shape| shape.suits(&fronts[f]));
    let candidates: Vec<usize> = (0..fronts.len()).filter(is_candidate).collect();
    let paths = match candidates.is_empty() {
        true => Vec::new(),
        false => paths_ns(&fronts),
    };
    // To its parent a front that is cut is what it was, so that each may be looked at by itself.
    let cuts: Vec<_> = candidates
        .into_par_iter()
        .map_init(
            || vec![0; columns],
            |local, f| Some((f, best((&fronts, &paths), f, local, &row)?)),
        )
        .flatten()
        .collect();
    match cuts.is_empty() {
        true => fronts,
        false => put_in(fronts, cuts),
    }
}

/// The time of the longest path up to each front, with fronts that are whole.
fn paths_ns(fronts: &[RawFront]) -> Vec<f64> {
    let mut out: Vec<f64> = Vec::with_capacity(fronts.len());
    for front in fronts {
        let children = front.children.iter().map(|&c| out[c as usize]);
        out.push(front.cost.time_ns + children.fold(0.0, f64::max));
    }
    out
}

/// The child that is waited for the longest.
fn last_of(front: &RawFront, paths: &[f64]) -> Option<u32> {
    let path = |c: u32| paths[c as usize];
    let children = front.children.iter().copied();
    children.max_by(|&a, &b| path(a).total_cmp(&path(b)))
}

/// The fronts with those in their places that were cut.
fn put_in(fronts: Vec<RawFront>, cuts: Vec<(usize, Parts)>) -> Vec<RawFront> {
    let count = fronts.len();
    let mut cuts = cuts.into_iter().peekable();
    let mut out: Vec<RawFront> = Vec::with_capacity(count);
    let mut place = Vec::with_capacity(count);
    for (f, front) in fronts.into_iter().enumerate() {
        let first = out.len();
        match cuts.next_if(|(cut, _)| *cut == f) {
            Some((_, Parts { parts, front })) => {
                out.extend(parts);
                out.push(front);
            }
            None => out.push(front),
        }
        place.push(out.len() as u32 - 1);
        for id in first..out.len() {
            let mut children = std::mem::take(&mut out[id].children);
            for c in &mut children {
                *c = match (*c as usize).checked_sub(count) {
                    Some(part) => (first + part) as u32,
                    None => place[*c as usize],
                };
                out[*c as usize].parent = Some(id as u32);
            }
            out[id].children = children;
        }
    }
    out
}

/// Front `f` in the parts that are the quickest, if there are any that are quick enough.
fn best<'a>(
    (fronts, paths): (&[RawFront], &[f64]),
    f: usize,
    local: &mut [u32],
    row: impl Fn(u32) -> &'a [u32],
) -> Option<Parts> {
    let front = &fronts[f];
    for (j, &k) in front.cols.iter().enumerate() {
        local[k as usize] = j as u32;
    }
    let first = |i: u32| row(i).iter().map(|&k| local[k as usize]).min();
    let rows = front.own_rows.iter();
    let mut rows: Vec<(u32, u32)> = rows
        .map(|&i| (first(i).expect("no empty row"), i))
        .collect();
    rows.sort_by_key(|&(first, _)| first);
    let last = last_of(front, paths);
    let (mut best, mut least_ns) = (None, f64::INFINITY);
    for shape in SHAPES.iter().filter(|shape| shape.suits(front)) {
        let cut = Cutter::new(shape, fronts, f, local).cut(&rows, &row, last);
        let ns = cut.time_ns();
        if ns < least_ns
            && ns < shape.most * front.cost.time_ns
            && leads(&cut.front) == leads(front)
        {
            (best, least_ns) = (Some(cut), ns);
        }
    }
    best
}

/// The columns that the rows of the contribution block start in.
fn leads(front: &RawFront) -> Vec<u32> {
    let mut leads = Vec::with_capacity(front.cb_rows as usize);
    front.for_each_lead(|_, lead| leads.push(lead));
    leads
}

impl Shape {
    /// Whether the front may have parts like this.
    fn suits(&self, front: &RawFront) -> bool {
        let n = front.cols.len();
        n <= self.columns
            && f64::from(front.m) >= self.tall * n as f64
            && front.m as usize * n >= self.front
    }
}

impl Parts {
    fn time_ns(&self) -> f64 {
        let parts = self.parts.iter().map(|part| part.cost.time_ns);
        self.front.cost.time_ns + parts.sum::<f64>()
    }
}

/// Puts rows and contribution blocks of one front together.
struct Cutter<'a> {
    shape: &'a Shape,
    fronts: &'a [RawFront],
    front: &'a RawFront,
    /// Place of a column in the front.
    local: &'a [u32],
    parts: Vec<RawFront>,
    /// Of the part at hand: the rows that start in each column of the front, and whether it has the column; how many there are of both.
    starting: Vec<u32>,
    is_used: Vec<bool>,
    rows: usize,
    columns: usize,
}

impl<'a> Cutter<'a> {
    fn new(shape: &'a Shape, fronts: &'a [RawFront], f: usize, local: &'a [u32]) -> Self {
        let front = &fronts[f];
        let n = front.cols.len();
        Cutter {
            shape,
            fronts,
            front,
            local,
            parts: Vec::new(),
            starting: vec![0; n],
            is_used: vec![false; n],
            rows: 0,
            columns: 0,
        }
    }

    /// The front in parts; its rows of W come with the columns that they start in, by these. No part waits for the child `last`.
    fn cut<'r>(
        mut self,
        rows: &[(u32, u32)],
        row: impl Fn(u32) -> &'r [u32],
        last: Option<u32>,
    ) -> Parts {
        let children = self.front.children.iter().copied();
        let mut children: Vec<u32> = children.filter(|&c| Some(c) != last).collect();
        let mut from = 0;
        for (r, &(first, i)) in rows.iter().enumerate() {
            self.note_row(first, row(i));
            if self.is_full() || (r + 1 == rows.len() && self.pays()) {
                let own_rows = rows[from..=r].iter().map(|&(_, i)| i).collect();
                children.push(self.part(own_rows, Vec::new()));
                from = r + 1;
            }
        }
        self.forget();
        let left = self.shape.tall * self.front.cols.len() as f64;
        let beside = self.height(last.as_slice());
        while (self.height(&children) + beside) as f64 >= left {
            let before = self.parts.len();
            let (mut all, narrow): (Vec<u32>, Vec<u32>) =
                children.iter().partition(|&&c| self.is_wide(c));
            all.extend(self.put_together(narrow));
            if self.parts.len() == before {
                all = self.put_together(all);
            }
            children = all;
            if self.parts.len() == before {
                break;
            }
        }
        for &(first, i) in &rows[from..] {
            self.note_row(first, row(i));
        }
        let own_rows = rows[from..].iter().map(|&(_, i)| i).collect();
        children.extend(last);
        self.rest(own_rows, children)
    }

    /// The children once more, with parts in the place of those that are put together.
    fn put_together(&mut self, mut children: Vec<u32>) -> Vec<u32> {
        children.sort_by_key(|&c| {
            let child = self.child(c);
            let first = child.cols.get(child.npiv as usize);
            first.map(|&k| self.local[k as usize])
        });
        let (mut out, mut together) = (Vec::new(), Vec::new());
        for (r, &c) in children.iter().enumerate() {
            together.push(c);
            self.note_child(c);
            let is_last = r + 1 == children.len();
            if self.is_full() || (is_last && together.len() > 1 && self.pays()) {
                out.push(self.part(Vec::new(), std::mem::take(&mut together)));
            }
        }
        self.forget();
        out.append(&mut together);
        out
    }

    fn child(&self, c: u32) -> &RawFront {
        match (c as usize).checked_sub(self.fronts.len()) {
            Some(part) => &self.parts[part],
            None => &self.fronts[c as usize],
        }
    }

    /// Whether a contribution block has half of the front's columns.
    fn is_wide(&self, c: u32) -> bool {
        let child = self.child(c);
        2 * (child.cols.len() - child.npiv as usize) >= self.front.cols.len()
    }

    /// Rows that contribution blocks have together.
    fn height(&self, children: &[u32]) -> usize {
        let rows = children.iter().map(|&c| self.child(c).cb_rows as usize);
        rows.sum()
    }

    fn note_row(&mut self, first: u32, columns: &[u32]) {
        self.starting[first as usize] += 1;
        self.rows += 1;
        for &k in columns {
            let place = self.local[k as usize] as usize;
            self.columns += usize::from(!std::mem::replace(&mut self.is_used[place], true));
        }
    }

    fn note_child(&mut self, c: u32) {
        let Cutter {
            fronts,
            local,
            parts,
            ..
        } = self;
        let child = match (c as usize).checked_sub(fronts.len()) {
            Some(part) => &parts[part],
            None => &fronts[c as usize],
        };
        for &k in &child.cols[child.npiv as usize..] {
            let place = local[k as usize] as usize;
            self.columns += usize::from(!std::mem::replace(&mut self.is_used[place], true));
        }
        self.rows += child.cb_rows as usize;
        child.for_each_lead(|_, lead| {
            self.starting[local[child.cols[lead as usize] as usize] as usize] += 1;
        });
    }

    fn is_full(&self) -> bool {
        self.rows as f64 >= self.shape.height * self.columns as f64
            && self.rows * self.columns >= self.shape.entries
    }

    /// Whether a part would leave fewer rows than it takes.
    fn pays(&self) -> bool {
        self.rows > self.columns
    }

    fn forget(&mut self) {
        self.starting.fill(0);
        self.is_used.fill(false);
        (self.rows, self.columns) = (0, 0);
    }

    /// Makes the part whose rows have been noted; gives its number.
    fn part(&mut self, own_rows: Vec<u32>, children: Vec<u32>) -> u32 {
        let mut cols = Vec::with_capacity(self.columns);
        let mut stair = Vec::with_capacity(self.columns);
        let noted = self.is_used.iter_mut().zip(&mut self.starting);
        for ((is_used, starting), &k) in noted.zip(&self.front.cols) {
            if std::mem::take(is_used) {
                cols.push(k);
                stair.push(std::mem::take(starting));
            }
        }
        (self.rows, self.columns) = (0, 0);
        let part = RawFront {
            cols,
            npiv: 0,
            own_rows,
            m: 0,
            stair,
            cb_rows: 0,
            parent: None,
            children,
            cost: self.front.cost,
            debt_ns: 0.0,
        };
        self.parts.push(finished(part));
        (self.fronts.len() + self.parts.len() - 1) as u32
    }

    /// The front itself, with rows of W that have been noted.
    fn rest(mut self, own_rows: Vec<u32>, children: Vec<u32>) -> Parts {
        children.iter().for_each(|&c| self.note_child(c));
        let front = RawFront {
            cols: self.front.cols.clone(),
            own_rows,
            stair: self.starting,
            children,
            ..*self.front
        };
        Parts {
            parts: self.parts,
            front: finished(front),
        }
    }
}

/// A front with what follows from the rows that start in its columns, which it has in the place of its staircase.
fn finished(mut front: RawFront) -> RawFront {
    let (n, npiv) = (front.cols.len() as u32, front.npiv);
    front.m = staircase(&mut front.stair, npiv as usize);
    front.cb_rows = front.m.min(n).saturating_sub(npiv);
    front.cost = cost_of(&front);
    front
}

#[cfg(test)]
mod tests {
    use super::super::structure::{Outline, Steps, Structure};
    use super::super::{cleanup, work};
    use super::{last_of, leads, paths_ns};
    use treeqr_matrices::{Csc, gallery};

    /// The fronts of a matrix whole, and in parts.
    fn both(a: &Csc<f64>) -> [Structure; 2] {
        let reduced = cleanup::reduce(&work::Work::new(a.pattern()), &[]);
        let natural: Vec<u32> = (0..reduced.cols.ncols() as u32).collect();
        [false, true].map(|parts| {
            let pivots = true;
            Outline::new(&reduced, &natural).build_with(Steps { pivots, parts })
        })
    }

    #[test]
    fn parts_leave_their_fronts_to_parents_as_they_were_and_hardly_take_more_flops() {
        for (name, most) in [
            ("grid3d-12", 1.01),
            ("stencil27-9", 1.01),
            ("lp-3000", 0.9),
            ("ba-40x1500", 0.95),
        ] {
            let [whole, cut] = both(&gallery::make(name).expect("gallery").matrix);
            let parts = cut.fronts.iter().filter(|front| front.npiv == 0);
            assert!(parts.count() > 0, "{name}");
            let with_pivots = cut.fronts.iter().filter(|front| front.npiv > 0);
            assert_eq!(with_pivots.clone().count(), whole.fronts.len(), "{name}");
            for (a, b) in whole.fronts.iter().zip(with_pivots) {
                assert_eq!(a.cols, b.cols, "{name}");
                assert_eq!((a.npiv, a.cb_rows), (b.npiv, b.cb_rows), "{name}");
                assert_eq!(leads(a), leads(b), "{name}");
            }
            // Every row of W in one place, and every front below the parent that it says.
            let rows = |s: &Structure| {
                let mut rows: Vec<u32> = s
                    .fronts
                    .iter()
                    .flat_map(|f| f.own_rows.iter().copied())
                    .collect();
                rows.sort_unstable();
                rows
            };
            assert_eq!(rows(&whole), rows(&cut), "{name}");
            for (f, front) in cut.fronts.iter().enumerate() {
                let is_parent =
                    |&c: &u32| (c as usize) < f && cut.fronts[c as usize].parent == Some(f as u32);
                assert!(front.children.iter().all(is_parent), "{name}");
                assert!(front.npiv > 0 || front.parent.is_some(), "{name}");
            }
            let part = cut.flops() as f64 / whole.flops() as f64;
            assert!(part <= most, "{name}: {part}");
        }
    }

    #[test]
    fn no_part_waits_for_what_its_front_waits_for_the_longest() {
        for (name, most) in [("ba-40x1500", 0.8), ("ba-30x4000", 0.85), ("lp-3000", 1.01)] {
            let [whole, cut] = both(&gallery::make(name).expect("gallery").matrix);
            let paths = paths_ns(&whole.fronts);
            let with_pivots = (0..cut.fronts.len()).filter(|&f| cut.fronts[f].npiv > 0);
            let place: Vec<usize> = with_pivots.collect();
            for (f, front) in whole.fronts.iter().enumerate() {
                if let Some(last) = last_of(front, &paths) {
                    let parent = cut.fronts[place[last as usize]].parent;
                    assert_eq!(parent, Some(place[f] as u32), "{name}");
                }
            }
            let longest = |paths: &[f64]| paths.iter().copied().fold(0.0, f64::max);
            let part = longest(&paths_ns(&cut.fronts)) / longest(&paths);
            assert!(part <= most, "{name}: {part}");
        }
    }

    #[test]
    fn a_tall_block_becomes_a_tree_of_parts() {
        let (m, n) = (4000, 8);
        let places = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
        let (i, j): (Vec<u32>, Vec<u32>) = places.unzip();
        let a = Csc::from_triplets(m as usize, n as usize, &i, &j, &vec![1.0; i.len()]);
        let [whole, cut] = both(&a.expect("inside"));
        assert_eq!(whole.fronts.len(), 1);
        let highest = cut.fronts.iter().map(|front| front.m).max();
        assert!(highest < Some(m / 40), "{highest:?}");
        // A reflector of a short column takes a few more operations than its entries say.
        let part = cut.flops() as f64 / whole.flops() as f64;
        assert!(part < 1.05, "{part}");
    }
}
