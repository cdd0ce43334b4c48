//! One pivot after the other.

use super::OrderingInput;
use super::chains::Chains;
use super::columns::Columns;
use super::degrees::Degrees;
use super::rows::Rows;
use crate::analysis::etree::CountedTree;
use std::sync::atomic::{AtomicBool, Ordering};

/// An elimination that is under way.
pub(crate) struct Elimination<'a> {
    pub(super) rows: Rows<'a>,
    columns: Columns,
    degrees: Degrees,
    order: Vec<u32>,
    chains: Chains,
    /// Columns of the present element.
    element: Vec<u32>,
    alike: Alike,
    /// Entries that were looked at: what it costs.
    work: u64,
    pivots: u32,
}

impl<'a> Elimination<'a> {
    pub fn new(input: &OrderingInput<'a>) -> Self {
        let n = input.cols.ncols();
        let rows = Rows::new(input.rows);
        let mut columns = Columns::new(input.cols, |r| rows.lives(r));
        let mut degrees = Degrees::new(n);
        // The first columns are put in last, so that they come first.
        for c in (0..n as u32).rev() {
            let others = columns.rows(c).iter().map(|&r| rows.degree(r) as usize - 1);
            columns.of[c as usize].score = others.sum::<usize>().min(n) as u32;
            degrees.insert(&mut columns.of, c);
        }
        Elimination {
            chains: Chains::new(input.rows.ncols()),
            rows,
            columns,
            degrees,
            order: Vec::with_capacity(n),
            element: Vec::new(),
            alike: Alike::default(),
            work: 0,
            pivots: 0,
        }
    }

    /// All columns in their order, with the tree; none when it is given up, or has looked at so many entries that it pauses: then it can go on.
    pub fn until(&mut self, given_up: &AtomicBool, entries: u64) -> Option<CountedTree> {
        while let Some(pivot) = self.degrees.pop(&mut self.columns.of) {
            self.pivots += 1;
            self.eliminate(pivot);
            if self.work > entries || given_up.load(Ordering::Relaxed) {
                return None;
            }
        }
        Some(self.chains.tree(std::mem::take(&mut self.order)))
    }

    /// Columns of the element that was made last, as a part of those that are left: how far R reaches by now.
    pub fn reach(&self) -> f64 {
        let weight = |&c: &u32| self.columns.of[c as usize].weight;
        let reached = self.element.iter().map(weight).sum::<u32>();
        let left = self.columns.of.len() - self.order.len();
        f64::from(reached) / left.max(1) as f64
    }

    /// How many columns are in the order.
    pub fn done(&self) -> usize {
        self.order.len()
    }

    fn eliminate(&mut self, pivot: u32) {
        let id = self.unite(pivot);
        let own = self.columns.of[pivot as usize].weight;
        self.columns.emit(pivot, &mut self.order);
        let Some(id) = id else {
            self.chains.add(self.order.len(), own, None);
            return;
        };
        self.rows.tidy(&self.columns);
        let mut element = std::mem::take(&mut self.element);
        let mut degree = 0;
        for &c in &element {
            self.degrees.remove(&mut self.columns.of, c);
            let weight = self.columns.of[c as usize].weight;
            degree += weight;
            self.work += self.columns.rows(c).len() as u64;
            self.columns.retain(c, |r| {
                let stays = self.rows.subtract(r, weight);
                if !stays {
                    self.chains.leave_within(r, || self.rows.columns(r));
                }
                stays
            });
        }
        let width = own + degree;
        self.alike.begin(element.len());
        for &c in &element {
            let hash = self.sum_differences(c);
            if self.columns.rows(c).is_empty() {
                // Nothing outside of the element: it follows the pivot without any fill.
                degree -= self.columns.of[c as usize].weight;
                self.columns.emit(c, &mut self.order);
            } else {
                self.alike.join(&mut self.columns, c, hash);
            }
        }
        self.rows.forget();
        element.retain(|&c| !self.columns.is_gone(c));
        let leaves = (!element.is_empty()).then_some(id);
        self.chains.add(self.order.len(), width, leaves);
        if !element.is_empty() {
            let left = self.columns.of.len() - self.order.len();
            self.rows.make_element(id, &element, degree);
            for &c in &element {
                self.columns.push(c, id);
                let column = &mut self.columns.of[c as usize];
                let all = (column.score as usize + degree as usize).min(left);
                column.score = (all - column.weight as usize) as u32;
                self.degrees.insert(&mut self.columns.of, c);
            }
        }
        self.element = element;
    }

    /// The columns of the pivot's rows, besides the pivot, into `element`. The rows leave; the number of one of them, if there are any.
    fn unite(&mut self, pivot: u32) -> Option<u32> {
        let stamp = self.pivots;
        self.element.clear();
        self.columns.is_new(pivot, stamp);
        let mut id = None;
        for k in 0..self.columns.rows(pivot).len() {
            let r = self.columns.rows(pivot)[k];
            if !self.rows.lives(r) {
                continue;
            }
            let columns = self.rows.columns(r);
            self.work += columns.len() as u64;
            for &c in columns {
                if self.columns.is_new(c, stamp) {
                    self.element.push(c);
                }
            }
            self.rows.leave(r);
            self.chains.hang(r, pivot);
            id = id.or(Some(r));
        }
        id
    }

    /// The columns that the rows of c have outside of the element, as its score; a hash of these rows. Rows within the element go.
    fn sum_differences(&mut self, c: u32) -> u32 {
        let (mut sum, mut hash) = (0, 0u32);
        let rows = &self.rows;
        self.columns.retain(c, |r| {
            let left = rows.left(r);
            sum += left.map_or(0, |l| l as usize);
            let mixed = r.wrapping_add(1).wrapping_mul(0x9e37_79b1);
            hash = hash.wrapping_add(left.map_or(0, |_| mixed ^ (mixed >> 15)));
            left.is_some()
        });
        let n = self.columns.of.len();
        self.columns.of[c as usize].score = sum.min(n) as u32;
        hash
    }
}

/// Columns of an element by a hash of their rows: those with the same rows become one.
#[derive(Default)]
struct Alike {
    /// The first column of each chain in `seen`, plus one.
    chains: Vec<u32>,
    /// Columns with their hash, and the next of their chain, plus one.
    seen: Vec<(u32, u32, u32)>,
}

impl Alike {
    /// For an element of so many columns.
    fn begin(&mut self, columns: usize) {
        self.chains.clear();
        self.chains.resize((2 * columns).next_power_of_two(), 0);
        self.seen.clear();
    }

    /// Makes c part of a column that came before, if one has the same rows.
    fn join(&mut self, columns: &mut Columns, c: u32, hash: u32) {
        let chain = (hash >> 7) as usize & (self.chains.len() - 1);
        let mut next = self.chains[chain];
        while next != 0 {
            let (other, its_hash, after) = self.seen[next as usize - 1];
            if its_hash == hash && columns.rows(other) == columns.rows(c) {
                columns.join(other, c);
                return;
            }
            next = after;
        }
        self.seen.push((c, hash, self.chains[chain]));
        self.chains[chain] = self.seen.len() as u32;
    }
}
