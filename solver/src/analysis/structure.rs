//! From a column order to fronts: tree, counts, supernodes, fronts.
//!
//! In two steps, so that orderings can be compared by the first alone: the [`Outline`] is a tree with counts, the [`Structure`] has
//! the fronts with their lists, and takes several times as long.

use super::cleanup::Reduced;
use super::counts::{RowsByFirst, row_counts};
use super::etree::{CountedTree, NONE};
use super::forest::{self, Supernodes};
use super::fronts::RawFront;
use super::{etree, partition, parts, pivots, supernodes};
use rayon::prelude::*;
use treeqr_kernels::{Stair, front_qr_flops};
use treeqr_matrices::Pattern;

/// Columns of a front that its flops are estimated at.
const SAMPLES: f64 = 32.0;
/// What the estimate of flops and time is multiplied with. It then is between 0.4 and 1.3 of what the fronts have on the families of the
/// gallery (least where many small fronts are merged), and nearly the same part for all orders of one matrix.
const CORRECTION: f64 = 1.3;

/// What one column order leads to, before there are fronts.
pub(crate) struct Outline<'a> {
    /// W22 by rows.
    rows: &'a Pattern,
    /// Columns of W22 in the postordered elimination order, and the place of each there.
    order: Vec<u32>,
    place: Vec<u32>,
    /// Rows of W22 by their first column.
    by_first: RowsByFirst,
    supernodes: Supernodes,
    /// Entries of R, of fronts that are not merged.
    nnz_r: u64,
    estimate: Estimate,
}

/// What is done to fronts once they are there.
#[derive(Clone, Copy)]
pub(crate) struct Steps {
    /// The pivots of each are brought into an order of their own.
    pub pivots: bool,
    /// They are cut by rows.
    pub parts: bool,
}

/// What fronts will take, as far as it can be told without staircases.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    flops: f64,
    /// Of all fronts, one after the other.
    time_ns: f64,
    /// Of those on the longest path from a leaf to a root.
    path_ns: f64,
}

impl<'a> Outline<'a> {
    /// The tree for `order`, a permutation of the columns of W22. Nearly linear in the entries.
    pub fn new(reduced: &'a Reduced, order: &[u32]) -> Self {
        let rows = &*reduced.rows;
        let (order, parent) = etree::postordered_etree(&reduced.cols, order);
        let (place, by_first) = places(rows, &order);
        let counts = row_counts(&parent, &by_first, &place, |i| rows.col(i as usize));
        let tree = CountedTree {
            order,
            parent,
            counts,
        };
        Self::of(rows, tree, place, by_first)
    }

    /// That of a tree of all columns of W22, which is known. O(rows + columns), and the entries once more on all threads.
    pub fn of_tree(reduced: &'a Reduced, tree: &CountedTree) -> Self {
        let rows = &*reduced.rows;
        let tree = tree.postordered();
        let (place, by_first) = places(rows, &tree.order);
        Self::of(rows, tree, place, by_first)
    }

    /// That of a tree in postorder.
    fn of(rows: &'a Pattern, tree: CountedTree, place: Vec<u32>, by_first: RowsByFirst) -> Self {
        let CountedTree {
            order,
            parent,
            counts,
        } = tree;
        let start = supernodes::fundamental(&parent, &counts);
        let start = supernodes::relaxed(&parent, &counts, &start);
        let estimate = estimate(&parent, &counts, &by_first, &start);
        Outline {
            rows,
            order,
            place,
            by_first,
            nnz_r: counts.iter().map(|&c| u64::from(c)).sum(),
            supernodes: joined(start, &parent, &counts),
            estimate,
        }
    }

    /// Entries of R, zeros of merged fronts left out.
    pub fn nnz_r(&self) -> u64 {
        self.nnz_r
    }

    /// Columns of the widest supernode.
    pub fn widest(&self) -> u32 {
        self.supernodes.width.iter().copied().max().unwrap_or(0)
    }

    /// Flops of the fronts, estimated.
    pub fn flops(&self) -> f64 {
        self.estimate.flops
    }

    /// Time of the fronts one after the other, in ns, estimated.
    pub fn time_ns(&self) -> f64 {
        self.estimate.time_ns
    }

    /// That of the fronts on the longest path, in ns: with any number of workers it takes no less as long as no front is cut.
    pub fn path_ns(&self) -> f64 {
        self.estimate.path_ns
    }

    /// The fronts, each with its pivots in an order that keeps its staircase low, and cut by rows, where that pays.
    pub fn build(&self) -> Structure {
        self.build_with(Steps {
            pivots: true,
            parts: true,
        })
    }

    /// The fronts, cut by rows where that pays, with all columns in the given order as far as the tree lets them.
    pub fn build_in_order(&self) -> Structure {
        self.build_with(Steps {
            pivots: false,
            parts: true,
        })
    }

    /// The fronts by these steps, each where it pays.
    pub fn build_with(&self, steps: Steps) -> Structure {
        let columns = self.order.len();
        let lists = Lists::new(self.rows, &self.place, &self.by_first);
        let row = |i| lists.row(i);
        let mut fronts = tracing::debug_span!("fronts").in_scope(|| self.fronts(&lists));
        if steps.pivots {
            let _span = tracing::debug_span!("pivots").entered();
            if pivots::pays(&fronts, self.rows.nnz()) && !pivots::arrange(&mut fronts, columns, row)
            {
                fronts = self.fronts(&lists);
            }
        }
        if steps.parts {
            let _span = tracing::debug_span!("parts").entered();
            fronts = parts::cut(fronts, columns, row);
        }
        Structure {
            fronts,
            order: self.order.clone(),
        }
    }

    fn fronts(&self, lists: &Lists<'_>) -> Vec<RawFront> {
        let tiled_flops = partition::tiled_flops(self.estimate.flops as u64) as f64;
        let row = |i| lists.row(i);
        forest::build(&self.supernodes, &self.by_first, row, tiled_flops)
    }
}

/// The places of the columns, and the rows by the first of theirs.
fn places(rows: &Pattern, order: &[u32]) -> (Vec<u32>, RowsByFirst) {
    let mut place = vec![0u32; order.len()];
    for (k, &j) in order.iter().enumerate() {
        place[j as usize] = k as u32;
    }
    let by_first = RowsByFirst::new(order.len(), &first_places(rows, &place));
    (place, by_first)
}

/// Rows that one task takes.
const ROWS: usize = 8192;
/// Fronts that one task takes, at least.
const FRONTS: usize = 1024;

/// The first column of each row, by its place. Rows often come several of the same columns, as those of a camera or of a joint.
fn first_places(rows: &Pattern, place: &[u32]) -> Vec<u32> {
    let mut first = vec![0; rows.ncols()];
    let parts = first.par_chunks_mut(ROWS).enumerate();
    parts.for_each(|(k, first)| {
        let (mut before, mut least): (&[u32], u32) = (&[], 0);
        for (first, i) in first.iter_mut().zip(k * ROWS..) {
            let columns = rows.col(i);
            if columns != before {
                before = columns;
                let places = columns.iter().map(|&j| place[j as usize]);
                least = places.min().expect("no empty row");
            }
            *first = least;
        }
    });
    first
}

/// The columns of all rows by their places, rows with the same first column beside each other: as fronts read them.
struct Lists<'a> {
    rows: &'a Pattern,
    columns: Vec<u32>,
    /// By row.
    start: Vec<usize>,
}

impl<'a> Lists<'a> {
    /// O(nnz), on all threads.
    fn new(rows: &'a Pattern, place: &[u32], by_first: &RowsByFirst) -> Self {
        let mut start = vec![0; rows.ncols()];
        let mut end = 0;
        for &i in &by_first.ids {
            start[i as usize] = end;
            end += rows.col(i as usize).len();
        }
        let mut columns = vec![0; end];
        let (mut parts, mut rest) = (Vec::new(), &mut columns[..]);
        for ids in by_first.ids.chunks(ROWS) {
            let len = ids.iter().map(|&i| rows.col(i as usize).len()).sum();
            let (part, others) = rest.split_at_mut(len);
            parts.push((ids, part));
            rest = others;
        }
        parts.into_par_iter().for_each(|(ids, mut out)| {
            let (mut before, mut known): (&[u32], &[u32]) = (&[], &[]);
            for &i in ids {
                let columns = rows.col(i as usize);
                let (list, others) = out.split_at_mut(columns.len());
                if columns == before {
                    list.copy_from_slice(known);
                } else {
                    for (to, &j) in list.iter_mut().zip(columns) {
                        *to = place[j as usize];
                    }
                }
                (before, known, out) = (columns, list, others);
            }
        });
        Lists {
            rows,
            columns,
            start,
        }
    }

    fn row(&self, i: u32) -> &[u32] {
        let i = i as usize;
        &self.columns[self.start[i]..][..self.rows.col(i).len()]
    }
}

/// Supernodes with their forest.
fn joined(start: Vec<u32>, parent: &[u32], counts: &[u32]) -> Supernodes {
    let mut of = vec![0u32; parent.len()];
    for (s, bounds) in start.windows(2).enumerate() {
        of[bounds[0] as usize..bounds[1] as usize].fill(s as u32);
    }
    let above = |bounds: &[u32]| match parent[bounds[1] as usize - 1] {
        NONE => NONE,
        p => of[p as usize],
    };
    Supernodes {
        parent: start.windows(2).map(above).collect(),
        width: start
            .windows(2)
            .map(|b| counts[b[1] as usize - 1] + (b[1] - b[0]) - 1)
            .collect(),
        start,
        owner: of,
    }
}

/// What children bring to their parent.
#[derive(Clone, Copy, Default)]
struct Arriving {
    /// The parent's first column.
    at: u32,
    rows: f64,
    /// The rows times the part of the columns that they start in.
    spread: f64,
    /// The longest path below.
    path_ns: f64,
}

/// Time of a front with so many flops, `k` reflectors, entries, and entries of a contribution block, in ns. For comparisons between orders and with the time that
/// orderings take, all of which it was fitted with; for the fronts themselves `amalgamate` knows better.
fn front_ns(flops: f64, k: f64, entries: f64, copied: f64) -> f64 {
    const PER_FRONT: f64 = 500.0;
    const PER_ENTRY: f64 = 0.35;
    const PER_COPIED: f64 = 0.8;
    const RATE: f64 = 45.0;
    const HALF_RATE_WIDTH: f64 = 64.0;
    let rate = (RATE * k / (k + HALF_RATE_WIDTH)).max(0.5);
    PER_FRONT + PER_ENTRY * entries + flops / rate + PER_COPIED * copied
}

/// The supernodes as fronts whose rows start at evenly spread columns: those of W within the pivots, those of a
/// contribution block, which is a trapezoid, over as much of the front as they take of its own columns.
fn estimate(parent: &[u32], counts: &[u32], by_first: &RowsByFirst, start: &[u32]) -> Estimate {
    // A tree in postorder: children that wait for the same parent lie on top, put together.
    let mut waiting: Vec<Arriving> = Vec::new();
    let mut out = Estimate::default();
    for bounds in start.windows(2) {
        let (begin, end) = (bounds[0] as usize, bounds[1] as usize);
        let npiv = (end - begin) as f64;
        let own = (by_first.start[end] - by_first.start[begin]) as f64;
        let below = waiting.pop_if(|a| a.at as usize == begin);
        let below = below.unwrap_or_default();
        let children = below.rows;
        let m = (own + children).max(npiv);
        let n = f64::from(counts[begin]);
        let k = m.min(n);
        let spread = if children > 0.0 {
            n * below.spread / children
        } else {
            1.0
        };
        let points = k.min(SAMPLES);
        // Most of the time here would go into divisions.
        let (step, of_own, of_children) = (k / points, 1.0 / npiv, 1.0 / spread);
        let (mut front, mut entries) = (0.0, 0.0);
        for x in 0..points as usize {
            let j = (x as f64 + 0.5) * step;
            let reach = own * (j * of_own).min(1.0) + children * (j * of_children).min(1.0);
            front += 4.0 * (reach - j).max(1.0) * (n - j);
            entries += reach.max(j + 1.0);
        }
        front *= CORRECTION * k / points;
        let entries = entries * k / points + m * (n - k);
        let (cb_rows, cb_cols) = ((k - npiv).max(0.0), n - npiv);
        let copied = cb_rows * (cb_cols - 0.5 * cb_rows);
        let front_ns = front_ns(front, k, entries, copied);
        let path_ns = below.path_ns + front_ns;
        out.flops += front;
        out.time_ns += front_ns;
        out.path_ns = out.path_ns.max(path_ns);
        let at = parent[end - 1];
        if cb_rows > 0.0 && at != NONE {
            let spread = cb_rows * cb_rows / cb_cols;
            match waiting.last_mut().filter(|a| a.at == at) {
                Some(beside) => {
                    beside.rows += cb_rows;
                    beside.spread += spread;
                    beside.path_ns = beside.path_ns.max(path_ns);
                }
                None => waiting.push(Arriving {
                    at,
                    rows: cb_rows,
                    spread,
                    path_ns,
                }),
            }
        }
    }
    out
}

/// What one column order leads to.
pub(crate) struct Structure {
    /// Columns of W22 in the postordered elimination order.
    pub order: Vec<u32>,
    /// Fronts, children before parents.
    pub fronts: Vec<RawFront>,
}

impl Structure {
    /// The fronts for `order`, a permutation of the columns of W22 that is kept to as far as the tree lets it.
    pub fn new(reduced: &Reduced, order: &[u32]) -> Self {
        Outline::new(reduced, order).build_in_order()
    }

    /// Flops of the fronts as whole blocks, in real arithmetic. O(sum of the fronts' columns), on all threads.
    pub fn flops(&self) -> u64 {
        let flops = |f: &RawFront| {
            front_qr_flops::<f64>(f.m as usize, f.cols.len(), 0, Stair::Rows(&f.stair))
        };
        let fronts = self.fronts.par_iter().with_min_len(FRONTS);
        fronts.map(flops).sum()
    }

    /// Entries of R in the fronts.
    pub fn nnz_r(&self) -> u64 {
        let entries = |f: &RawFront| {
            let (k, n) = (u64::from(f.npiv), f.cols.len() as u64);
            k * n - k * k.saturating_sub(1) / 2
        };
        self.fronts.iter().map(entries).sum()
    }

    /// Time of the fronts one after the other by the model of the amalgamation, in ns.
    pub fn time_ns(&self) -> f64 {
        self.fronts.iter().map(|f| f.cost.time_ns).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{cleanup, ordering, work};
    use super::*;
    use treeqr_matrices::{Csc, gallery};

    #[test]
    fn estimates_are_near_what_the_fronts_have() {
        for name in [
            "grid3d-12",
            "stencil27-9",
            "TF12",
            "lp-3000",
            "ba-40x1500",
            "conv2d-60",
        ] {
            let a = gallery::make(name).expect("gallery").matrix;
            let reduced = cleanup::reduce(&work::Work::new(a.pattern()), &[]);
            let input = ordering::OrderingInput {
                cols: &reduced.cols,
                rows: &reduced.rows,
            };
            let mut ratios = Vec::new();
            for name in ["colamd", "nd", "amd"] {
                let order =
                    (ordering::find(name).expect("known").compute)(&input).expect("an order");
                let outline = Outline::new(&reduced, &order);
                let estimate = outline.flops();
                let steps = Steps {
                    pivots: true,
                    parts: false,
                };
                ratios.push(estimate / outline.build_with(steps).flops() as f64);
            }
            // Far from 1 on some families, but alike for all orders of one matrix: only that counts.
            let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
            let most = ratios.iter().copied().fold(0.0, f64::max);
            assert!(least > 0.3 && most < 1.6, "{name}: {ratios:?}");
            assert!(most < 1.35 * least, "{name}: {ratios:?}");
        }
    }

    #[test]
    fn a_long_chain_is_cut_where_zeros_cost_as_much_as_a_cut() {
        // A band: five columns further every eight rows. R has a band as wide, of which 1.17 times as much is kept where merges owe nothing.
        const WIDE: usize = 300;
        let steps = 500;
        let cols = 5 * (steps - 1) + WIDE;
        let places =
            (0..8 * steps).flat_map(|i| (0..WIDE).map(move |y| (i as u32, (i / 8 * 5 + y) as u32)));
        let (rows, columns): (Vec<u32>, Vec<u32>) = places.unzip();
        let ones = vec![1.0; rows.len()];
        let a = Csc::<f64>::from_triplets(8 * steps, cols, &rows, &columns, &ones).expect("inside");
        let reduced = cleanup::reduce(&work::Work::new(a.pattern()), &[]);
        let natural: Vec<u32> = (0..cols as u32).collect();
        let structure = Structure::new(&reduced, &natural);
        assert!(structure.fronts.len() > 8);
        let band = (cols * WIDE) as f64;
        let kept = structure.nnz_r() as f64 / band;
        assert!(kept < 1.1, "{kept} of the band in R");
    }
}
