//! Which task of one run is which of the other.
//!
//! Takes two task tables; gives pairs of rows. Tasks with the same place (right-hand sides have no tile column) are paired in the order
//! of their numbers.

use crate::account::codelet_names;
use crate::trace::Trace;
use crate::trace::schema::Task;
use serde::Serialize;
use std::collections::BTreeMap;

/// How tasks were matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchedBy {
    /// Both submitted the same tasks in the same order.
    Number,
    /// By tree node, codelet, panel, tile row, tile column and child.
    Place,
    /// Not at all.
    Nothing,
}

/// How many tasks two runs share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Matched {
    /// How they were matched.
    pub by: MatchedBy,
    /// Pairs.
    pub tasks: u64,
    /// Of these, pairs with different numbers of operations or entries: other tiles. Their times are not compared.
    pub other_size: u64,
    /// Tasks of the first run without a partner, and of the second.
    pub only: [u64; 2],
}

/// Pairs of rows, by the first.
pub(super) struct Pairs {
    pub matched: Matched,
    rows: Vec<(usize, usize)>,
}

/// Tree node, codelet, then what its tile is.
type Place<'a> = (u32, &'a str, [Option<u32>; 4]);

impl Pairs {
    /// O(n log n).
    pub fn of(a: &Trace, b: &Trace) -> Self {
        let names = [a, b].map(codelet_names);
        let place = |side: usize, t: &Task| -> Place<'_> {
            let tile = [t.panel, t.tile_row, t.tile_col, t.child];
            (t.node, names[side][&t.codelet].as_str(), tile)
        };
        let (ta, tb) = (&a.tables.tasks, &b.tables.tasks);
        let same = |(x, y): (&Task, &Task)| x.task == y.task && place(0, x) == place(1, y);
        let (by, rows) = if ta.len() == tb.len() && ta.iter().zip(tb).all(same) {
            (MatchedBy::Number, (0..ta.len()).map(|k| (k, k)).collect())
        } else {
            let sorted = |side: usize, tasks: &[Task]| {
                let mut rows: Vec<usize> = (0..tasks.len()).collect();
                rows.sort_by_key(|&row| tasks[row].task);
                let mut places: Vec<_> = rows
                    .iter()
                    .map(|&row| (place(side, &tasks[row]), row))
                    .collect();
                // Stable: the same place stays in the order of numbers.
                places.sort_by(|x, y| x.0.cmp(&y.0));
                places
            };
            (MatchedBy::Place, merged(&sorted(0, ta), &sorted(1, tb)))
        };
        let other = rows.iter().filter(|(x, y)| !same_size(&ta[*x], &tb[*y]));
        let only = [ta, tb].map(|tasks| (tasks.len() - rows.len()) as u64);
        Pairs {
            matched: Matched {
                by,
                tasks: rows.len() as u64,
                other_size: other.count() as u64,
                only,
            },
            rows,
        }
    }

    /// No pairs.
    pub fn none(a: &Trace, b: &Trace) -> Self {
        Pairs {
            matched: Matched {
                by: MatchedBy::Nothing,
                tasks: 0,
                other_size: 0,
                only: [a, b].map(|t| t.tables.tasks.len() as u64),
            },
            rows: Vec::new(),
        }
    }

    /// The pairs of the same work.
    pub fn same_work<'p>(
        &'p self,
        a: &'p Trace,
        b: &'p Trace,
    ) -> impl Iterator<Item = (usize, usize)> + 'p {
        let same = |&(x, y): &(usize, usize)| same_size(&a.tables.tasks[x], &b.tables.tasks[y]);
        self.rows.iter().copied().filter(same)
    }
}

/// As many operations, and as many entries moved: copies have no operations.
fn same_size(x: &Task, y: &Task) -> bool {
    x.flops == y.flops && x.coefficients == y.coefficients
}

/// Equal places side by side, as long as both have one.
fn merged<P: Ord>(a: &[(P, usize)], b: &[(P, usize)]) -> Vec<(usize, usize)> {
    let (mut x, mut y) = (0, 0);
    let mut by_row = BTreeMap::new();
    while let (Some(left), Some(right)) = (a.get(x), b.get(y)) {
        match left.0.cmp(&right.0) {
            std::cmp::Ordering::Less => x += 1,
            std::cmp::Ordering::Greater => y += 1,
            std::cmp::Ordering::Equal => {
                by_row.insert(left.1, right.1);
                (x, y) = (x + 1, y + 1);
            }
        }
    }
    by_row.into_iter().collect()
}
