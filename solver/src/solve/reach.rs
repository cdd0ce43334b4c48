//! The part of the tree that a sweep needs.
//!
//! Takes nonzeros of right-hand sides, or the entries of a solution that are wanted; gives the fronts where there is something to
//! do. Knows no value.
//!
//! ```text
//!            o                what is not zero at a front goes along the way to its root:     Q^H b, R^H y = c
//!          /   \              and what is wanted at a front is needed along the same way:     R x = c, Q c
//!        o       .
//!       / \     / \           Downwards everything below a front is touched by what is not zero there.
//!      *   .   .   .
//! ```
//!
//! With R, rows of singletons and of loose fronts reach into trees that come later, and these ways begin there anew.

use super::app::RestPlaces;
use super::bundles::is_loose;
use super::sweep::Sweep;
use crate::numeric::{FactorScalar, Factors};
use crate::symbolic::Symbolic;
use treeqr_matrices::Csc;

/// Fronts by block of right-hand sides, a bit for each.
#[derive(Clone, Debug)]
pub(super) struct Part {
    blocks: Vec<Vec<u64>>,
}

impl Part {
    /// Whether front `f` belongs to it, in a block. What has one block only holds for all.
    pub fn has(&self, block: usize, f: usize) -> bool {
        let bits = &self.blocks[block.min(self.blocks.len() - 1)];
        bits[f / 64] >> (f % 64) & 1 == 1
    }
}

/// Collects parts for one kind of factors.
pub(super) struct Reach<'a, T> {
    factors: &'a Factors<T>,
    /// Fronts of the block at hand.
    fronts: Vec<bool>,
    blocks: Vec<Vec<u64>>,
}

const NOWHERE: u32 = u32::MAX;

impl<'a, T: FactorScalar> Reach<'a, T> {
    pub fn new(factors: &'a Factors<T>) -> Self {
        Reach {
            factors,
            fronts: vec![false; factors.symbolic.tree.fronts.len()],
            blocks: Vec::new(),
        }
    }

    fn sym(&self) -> &'a Symbolic {
        &self.factors.symbolic
    }

    /// The end of a block.
    fn close(&mut self) {
        let words = self.fronts.chunks(64).map(|chunk| {
            let bits = chunk.iter().enumerate();
            bits.fold(0u64, |word, (k, &bit)| word | u64::from(bit) << k)
        });
        self.blocks.push(words.collect());
        self.fronts.fill(false);
    }

    fn part(self) -> Option<Part> {
        let blocks = self.blocks;
        (!blocks.is_empty()).then_some(Part { blocks })
    }

    /// The ways to the roots from these rows (Q) or columns (R) of W, for each block of them.
    pub fn ways_up<I: IntoIterator<Item = usize>>(
        mut self,
        sweep: Sweep,
        blocks: impl Iterator<Item = I>,
    ) -> Option<Part> {
        let (sym, tree) = (self.sym(), &self.sym().tree);
        let len = if sweep.is_q() {
            sym.work_rows()
        } else {
            sym.work_cols()
        };
        let mut front_of = vec![NOWHERE; len];
        for f in 0..tree.fronts.len() {
            sweep.for_own(tree, f, |_, index| front_of[index] = f as u32);
        }
        let mut marked = vec![false; len];
        for block in blocks {
            let fronts = &mut self.fronts;
            let mut mark = |index: usize, marked: &mut [bool]| {
                marked[index] = true;
                match front_of[index] {
                    NOWHERE => {}
                    f => fronts[f as usize] = true,
                }
            };
            block.into_iter().for_each(|index| mark(index, &mut marked));
            if !sweep.is_q() {
                let rows = sym.singletons.iter().zip(&self.factors.singleton_rows);
                for (single, row) in rows {
                    if marked[single.col as usize] {
                        row.iter().for_each(|e| mark(e.0 as usize, &mut marked));
                    }
                }
            }
            for (f, front) in tree.fronts.iter().enumerate() {
                if !self.fronts[f] {
                    continue;
                }
                if let Some(p) = front.parent {
                    self.fronts[p as usize] = true;
                } else if !sweep.is_q() && is_loose(front) {
                    for &position in &tree.cols(f)[front.npiv as usize..] {
                        let column = tree.col_order[position as usize] as usize;
                        self.fronts[front_of[column] as usize] = true;
                    }
                }
            }
            self.close();
            marked.fill(false);
        }
        self.part()
    }

    /// All below the fronts where a sparse head or rest is not zero, for each block of columns of `c`.
    pub fn below_nonzeros(
        mut self,
        sweep: Sweep,
        c: &Csc<T>,
        blocks: impl Iterator<Item = std::ops::Range<usize>>,
    ) -> Option<Part> {
        let sym = self.sym();
        let (n, singletons) = (sym.work_cols(), sym.singletons.len());
        let rest = RestPlaces::new(self.factors);
        let below = sym.rest_rows - rest.empty.len();
        for block in blocks {
            for &i in block.flat_map(|k| c.col(k).0) {
                let i = i as usize;
                if let Some(place) = i.checked_sub(n) {
                    if sweep.is_q() && place < below {
                        self.fronts[rest.at.partition_point(|&at| at <= place) - 1] = true;
                    }
                } else if let Some(pivot) = i.checked_sub(singletons) {
                    let first = |f: &crate::symbolic::Front| f.first_pivot as usize <= pivot;
                    self.fronts[sym.tree.fronts.partition_point(first) - 1] = true;
                }
            }
            self.descend(sweep);
            self.close();
        }
        self.part()
    }

    /// All below what a sweep up has reached.
    pub fn below_part(mut self, sweep: Sweep, up: &Part) -> Option<Part> {
        for block in 0..up.blocks.len() {
            for (f, front) in self.fronts.iter_mut().enumerate() {
                *front = up.has(block, f);
            }
            self.descend(sweep);
            self.close();
        }
        self.part()
    }

    fn descend(&mut self, sweep: Sweep) {
        let tree = &self.sym().tree;
        // Of every position, whether it is in a front that is reached.
        let mut reached = vec![false; tree.col_order.len()];
        for (f, front) in tree.fronts.iter().enumerate().rev() {
            let cols = tree.cols(f);
            let (pivots, others) = cols.split_at(front.npiv as usize);
            let from_above = match front.parent {
                Some(p) => self.fronts[p as usize],
                None => !sweep.is_q() && others.iter().any(|&p| reached[p as usize]),
            };
            self.fronts[f] |= from_above;
            if self.fronts[f] {
                pivots.iter().for_each(|&p| reached[p as usize] = true);
            }
        }
    }
}
