//! Amalgamation: whether a front is better merged with a child.
//!
//! A supernode is a chain of columns with the same structure; a front as small as that costs more in calls and copies
//! than in flops. A child is merged into its parent when a model of the time says that the merged front is faster: fewer
//! copies and larger products against flops on the zeros that it adds, and the place of these in R. Ashcraft & Grimes (1989)
//! relax by zeros alone; here the exact flops on the staircase and the size of the fronts decide. The model's coefficients
//! are fixed, so that the result does not depend on the machine.
//!
//! Along a chain every merge would save a copy, though a cut is needed only somewhere: what merges below cost in flops and in zeros of R is therefore
//! owed, and counts against the next one. So a chain is cut where the zeros within a front cost as much as a cut, as lots are sized (F. Harris, "How many
//! parts to make at once", 1913).
//!
//! Nor does a merge make a front that is cut into tiles of fronts that would not be: they are tasks by themselves, with all that is below them.

use super::fronts::RawFront;

/// Coefficients of the time model, in ns; they need only be right in proportion.
mod model {
    /// A front: bookkeeping, calls, cache misses on its lists.
    pub const PER_FRONT: f64 = 500.0;
    /// An entry of a front: cleared, packed.
    pub const PER_ENTRY: f64 = 0.7;
    /// An entry of a contribution block: packed, scattered into the parent.
    pub const PER_COPIED: f64 = 1.6;
    /// Rate that large fronts reach, in flops per ns.
    pub const RATE: f64 = 60.0;
    /// Width of a front at which half of that rate is reached: panels are slower than their updates.
    pub const HALF_RATE_WIDTH: f64 = 32.0;
    /// Rows that a reflector takes the time of beside its own: short ones wait for the cache lines of the columns that they go over.
    pub const MORE_ROWS: f64 = 40.0;
    /// A front, later: in the sweeps with R that follow.
    pub const LATER_PER_FRONT: f64 = 500.0;
    /// A zero in R, later: fresh memory for it, the sweeps that read it, and what that memory is worth to others.
    pub const LATER_PER_ZERO: f64 = 16.0;
}

/// What a front costs by the model.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    pub time_ns: f64,
    flops: f64,
    /// At which they are done, in flops per ns.
    rate: f64,
}

impl Cost {
    /// What its flops take at the least.
    pub fn flops_ns(&self) -> f64 {
        self.flops / model::RATE
    }
}

/// A front with `m` rows, the staircase `stair` and a contribution block of `cb` entries.
fn cost(m: u32, stair: impl ExactSizeIterator<Item = u32>, cb: f64) -> Cost {
    let n = stair.len() as u32;
    let k = m.min(n);
    let mut entries = 0.0;
    let (mut quarter_flops, mut columns) = (0.0, 0.0);
    for (j, s) in (0..n).zip(stair) {
        entries += f64::from(s);
        if j < k && s > j + 1 {
            quarter_flops += f64::from(s - j) * f64::from(n - j);
            columns += f64::from(n - j);
        }
    }
    let rate = model::RATE * f64::from(k) / (f64::from(k) + model::HALF_RATE_WIDTH);
    let (flops, ns) = (
        4.0 * quarter_flops,
        reflectors_ns(quarter_flops, columns, rate),
    );
    let copies = model::PER_ENTRY * entries + model::PER_COPIED * cb;
    Cost {
        time_ns: model::PER_FRONT + copies + ns,
        flops,
        rate: flops / ns.max(1.0),
    }
}

/// Reflectors with `rows_columns` pairs of one of their rows and a column that they go over, and `columns` columns, at so many flops per ns.
fn reflectors_ns(rows_columns: f64, columns: f64, rate: f64) -> f64 {
    match columns > 0.0 {
        true => 4.0 * (rows_columns + model::MORE_ROWS * columns) / rate,
        false => 0.0,
    }
}

fn contribution_entries(front: &RawFront) -> f64 {
    let rows = f64::from(front.cb_rows);
    rows * (front.cols.len() as f64 - f64::from(front.npiv)) - 0.5 * rows * rows
}

/// What a front costs by itself.
pub(crate) fn cost_of(front: &RawFront) -> Cost {
    cost(
        front.m,
        front.stair.iter().copied(),
        contribution_entries(front),
    )
}

/// Scratch of [`try_merge`].
pub(crate) struct Merging {
    stair: Vec<u32>,
    /// No two fronts with fewer flops each become one with more.
    most_flops: f64,
}

impl Merging {
    /// For fronts that are cut into tiles from so many flops on, about: each child of such a front is a task of its own.
    pub fn new(tiled_flops: f64) -> Self {
        Merging {
            stair: Vec::new(),
            most_flops: tiled_flops,
        }
    }
}

/// Merges `child` into `parent` if that is faster: its pivots come before the parent's, its rows and children join. `to`
/// gives the place of a column in the parent. Returns whether it was merged. O(columns of the parent).
pub(crate) fn try_merge(
    parent: &mut RawFront,
    child: &mut RawFront,
    to: impl Fn(u32) -> u32,
    work: &mut Merging,
) -> bool {
    let (n, npiv) = (parent.cols.len(), child.npiv as usize);
    // The child's pivot rows at least reach over all of the parent's columns; most merges fail by that alone.
    let longer = (n - (child.cols.len() - npiv)) as f64;
    let pivot_rows: f64 = child.stair[..npiv]
        .iter()
        .zip(0..)
        .map(|(&s, j): (&u32, u32)| f64::from(s.saturating_sub(j)))
        .sum();
    let at_least = reflectors_ns(
        pivot_rows * longer,
        f64::from(child.npiv) * longer,
        model::RATE,
    );
    // Nothing else in R is filled by a merge.
    let zeros_ns = model::LATER_PER_ZERO * f64::from(child.npiv) * longer;
    let saved_ns = child.cost.time_ns + model::LATER_PER_FRONT - zeros_ns - child.debt_ns;
    if at_least > saved_ns {
        return false;
    }

    // Rows of the merged front by first column, in the parent's numbering: the parent's without those that came as the
    // child's contribution block, and the child's as they were before it was factorized.
    let stair = &mut work.stair;
    stair.clear();
    stair.resize(n, 0);
    let mut before = 0;
    for (count, &s) in stair.iter_mut().zip(&parent.stair) {
        *count = s - before;
        before = s;
    }
    child.for_each_lead(|_, lead| stair[to(child.cols[lead as usize]) as usize] -= 1);
    let mut before = child.stair[npiv - 1];
    for (j, &s) in child.stair.iter().enumerate().skip(npiv) {
        stair[to(child.cols[j]) as usize] += s - before;
        before = s;
    }
    let mut below = child.stair[npiv - 1];
    for s in stair.iter_mut() {
        below += *s;
        *s = below;
    }

    let m = below;
    let all = child.stair[..npiv].iter().chain(stair.iter()).copied();
    let total = npiv + n;
    let pivots = child.npiv + parent.npiv;
    let cb_rows = m.min(total as u32).saturating_sub(pivots);
    let rows = f64::from(cb_rows);
    let cb = rows * (total as f64 - f64::from(pivots)) - 0.5 * rows * rows;
    let merged = cost(
        m,
        Sized {
            iter: all,
            len: total,
        },
        cb,
    );
    if merged.time_ns - parent.cost.time_ns > saved_ns {
        return false;
    }
    let larger = parent.cost.flops.max(child.cost.flops);
    if (larger..merged.flops).contains(&work.most_flops) {
        return false;
    }
    let more = merged.flops - parent.cost.flops - child.cost.flops;
    let flops_ns = more.max(0.0) / merged.rate.max(0.5);
    parent.debt_ns = parent.debt_ns.max(child.debt_ns + flops_ns + zeros_ns);

    parent.cols.splice(0..0, child.cols[..npiv].iter().copied());
    parent.stair.clear();
    parent.stair.extend_from_slice(&child.stair[..npiv]);
    parent.stair.extend_from_slice(stair);
    parent.npiv = pivots;
    parent.m = m;
    parent.cb_rows = cb_rows;
    parent.own_rows.append(&mut child.own_rows);
    parent.cost = merged;
    true
}

/// An iterator whose length is known from elsewhere.
struct Sized<I> {
    iter: I,
    len: usize,
}

impl<I: Iterator> Iterator for Sized<I> {
    type Item = I::Item;
    fn next(&mut self) -> Option<I::Item> {
        self.iter.next()
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }
}

impl<I: Iterator> ExactSizeIterator for Sized<I> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A front with the columns `cols`, of which the first `npiv` are its pivots.
    fn front(npiv: u32, cols: std::ops::Range<u32>, stair: Vec<u32>) -> RawFront {
        let (m, n) = (*stair.last().expect("a column"), cols.len() as u32);
        let mut front = RawFront {
            cols: cols.collect(),
            npiv,
            own_rows: Vec::new(),
            m,
            stair,
            cb_rows: m.min(n) - npiv,
            parent: None,
            children: Vec::new(),
            cost: Cost::default(),
            debt_ns: 0.0,
        };
        front.cost = cost_of(&front);
        front
    }

    #[test]
    fn two_whole_fronts_do_not_become_one_in_tiles() {
        // A child of one pivot that leaves a triangle of 30, to which the parent adds 20 rows.
        let pair = || {
            let child = front(1, 0..31, vec![31; 31]);
            let parent = front(30, 1..31, (0..30).map(|j| 20 + j + 1).collect());
            (parent, child)
        };
        let flops = |front: &RawFront| front.cost.flops;
        let mut merged_flops = 0.0;
        for (tiled_flops, is_merged) in [(f64::INFINITY, true), (0.0, true), (6e4, false)] {
            let (mut parent, mut child) = pair();
            assert!(flops(&parent) < 6e4 && flops(&child) < 6e4);
            let mut work = Merging::new(tiled_flops);
            let done = try_merge(&mut parent, &mut child, |k| k - 1, &mut work);
            assert_eq!(done, is_merged, "tiles from {tiled_flops} on");
            if done {
                // The child's rows, all of which start in its pivot, and 20 that start in the next column.
                let stair: Vec<u32> = std::iter::once(31).chain(vec![51; 30]).collect();
                assert_eq!((parent.stair, parent.m), (stair, 51));
                merged_flops = parent.cost.flops;
            }
        }
        assert!(merged_flops > 6e4);
    }
}
