//! R of the first pass as a list of nodes in elimination order: a singleton is a node with one pivot and one row, a front one
//! with as many rows as pivots. Columns are told by their place in the elimination order.

use super::Rank;
use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors, RBlock};
use crate::plan::Plan;
use crate::solve::{solve_front, solve_front_adjoint};
use crate::symbolic::Front;
use rayon::prelude::*;
use std::ops::Range;
use treeqr_matrices::{RealScalar, Scalar};

/// The nodes of some factors.
pub(crate) struct Nodes<'a, T> {
    pub factors: &'a Factors<T>,
    pub plan: Plan<'a>,
    singletons: usize,
    /// Column of W by its place.
    pub order: Vec<u32>,
    /// Place of a column of W.
    place: Vec<u32>,
    /// What a sweep through all of them takes, in entries of R.
    pub size: usize,
}

/// What the diagonal of R says.
#[derive(Debug)]
pub(crate) struct Scan {
    /// Nodes with a negligible pivot, increasing.
    pub suspects: Vec<u32>,
    /// Column of W of the first of them, and |R_kk|.
    pub first: Option<(u32, f64)>,
    /// Of the others: as in [`Rank`].
    pub smallest_pivot: f64,
    pub doubtful: usize,
}

impl<'a, T: FactorScalar> Nodes<'a, T> {
    pub fn new(factors: &'a Factors<T>) -> Self {
        let order: Vec<u32> = factors.symbolic.column_order().collect();
        let mut place = vec![0; order.len()];
        for (k, &j) in order.iter().enumerate() {
            place[j as usize] = k as u32;
        }
        let fronts = &factors.symbolic.tree.fronts;
        let entries: usize = fronts.iter().map(Front::r_entries).sum();
        let singletons = factors.symbolic.singletons.len();
        Nodes {
            factors,
            plan: factors.plan(),
            singletons,
            order,
            place,
            size: entries + PER_NODE * (singletons + fronts.len()),
        }
    }

    pub fn len(&self) -> usize {
        self.singletons + self.plan.sym.tree.fronts.len()
    }

    /// The number of a singleton, or the front.
    fn front(&self, node: usize) -> Result<&'a Front, usize> {
        match node.checked_sub(self.singletons) {
            None => Err(node),
            Some(f) => Ok(self.plan.front(f)),
        }
    }

    pub fn npiv(&self, node: usize) -> usize {
        self.front(node).map_or(1, |front| front.npiv as usize)
    }

    /// The front that a node is, for whoever shows it; a singleton is shown as the first.
    pub fn front_number(&self, node: usize) -> u32 {
        node.saturating_sub(self.singletons) as u32
    }

    /// Columns of a front.
    pub fn width(&self, node: usize) -> usize {
        self.front(node).map_or(0, |front| front.n as usize)
    }

    /// Place of its first pivot.
    pub fn first(&self, node: usize) -> u32 {
        match self.front(node) {
            Err(s) => s as u32,
            Ok(front) => self.singletons as u32 + front.first_pivot,
        }
    }

    /// The node that pivots on the column at this place.
    pub fn owner(&self, place: u32) -> usize {
        match (place as usize).checked_sub(self.singletons) {
            None => place as usize,
            Some(p) => {
                let fronts = &self.plan.sym.tree.fronts;
                let after = fronts.partition_point(|front| front.first_pivot as usize <= p);
                self.singletons + after - 1
            }
        }
    }

    /// Places of its columns, pivots first, in the order in which [`Self::row_parts`] numbers them.
    pub fn cols(&self, node: usize) -> Vec<u32> {
        let mut out = Vec::new();
        self.for_each_place(node, |place| out.push(place));
        out
    }

    /// The place of a column of W.
    pub fn place(&self, column: u32) -> u32 {
        self.place[column as usize]
    }

    /// Calls `visit` with the places of its columns, in the same order.
    pub fn for_each_place(&self, node: usize, mut visit: impl FnMut(u32)) {
        match self.front(node) {
            Err(s) => {
                let pivot = s as u32;
                visit(pivot);
                let others = self.factors.singleton_rows[s].iter();
                let others = others.map(|e| self.place[e.0 as usize]);
                others.filter(|&p| p != pivot).for_each(visit);
            }
            Ok(_) => {
                let cols = self.plan.sym.tree.cols(node - self.singletons);
                let first = self.singletons as u32;
                cols.iter().for_each(|&p| visit(first + p));
            }
        }
    }

    /// R of a front as it lies in memory; that of a singleton is none.
    pub fn front_r(&self, node: usize) -> Option<RBlock<'_, T>> {
        let front = node.checked_sub(self.singletons)?;
        Some(self.factors.r(&self.plan, front))
    }

    /// Columns of W, in the same order.
    pub fn columns(&self, node: usize) -> Vec<u32> {
        let mut out = Vec::new();
        self.columns_into(node, &mut out);
        out
    }

    /// The same, in a list that is there.
    pub fn columns_into(&self, node: usize, out: &mut Vec<u32>) {
        out.clear();
        self.for_each_place(node, |place| out.push(self.order[place as usize]));
    }

    /// R x = c of a node that stands as it is: `z` has c of its pivots, which becomes x, and x of its other columns; several vectors one
    /// after the other, of `columns` entries.
    pub fn solve(&self, node: usize, columns: usize, z: &mut [T]) {
        match self.front(node) {
            Err(_) => {
                for z in z.chunks_exact_mut(columns) {
                    let mut pivot = T::one();
                    self.row_parts(node, |j, _, values| match j {
                        0 => pivot = values[0],
                        j => z[0] -= values[0] * z[j],
                    });
                    z[0] /= pivot;
                }
            }
            Ok(front) => {
                let r = self.factors.r(&self.plan, node - self.singletons);
                solve_front(&r, front.n as usize, z);
            }
        }
    }

    /// R^H y = c of a node that stands as it is: `z` has c of its columns; that of its pivots becomes y, which is taken from the
    /// others. Several vectors one after the other, of `columns` entries.
    pub fn solve_adjoint(&self, node: usize, columns: usize, z: &mut [T]) {
        match self.front(node) {
            Err(_) => {
                for z in z.chunks_exact_mut(columns) {
                    self.row_parts(node, |j, _, values| match j {
                        0 => z[0] /= values[0].conj(),
                        j => z[j] -= values[0].conj() * z[0],
                    });
                }
            }
            Ok(front) => {
                let r = self.factors.r(&self.plan, node - self.singletons);
                solve_front_adjoint(&r, front.n as usize, z);
            }
        }
    }

    /// Calls `visit(column, first row, values)` for all parts of its rows of R.
    pub fn row_parts(&self, node: usize, mut visit: impl FnMut(usize, usize, &[T])) {
        match self.front(node) {
            Err(s) => {
                let row = &self.factors.singleton_rows[s];
                let is_pivot = |e: &&(u32, T)| self.place[e.0 as usize] as usize == s;
                if let Some(pivot) = row.iter().find(is_pivot) {
                    visit(0, 0, &[pivot.1]);
                }
                let others = row.iter().filter(|e| !is_pivot(e));
                others
                    .zip(1..)
                    .for_each(|(e, column)| visit(column, 0, &[e.1]));
            }
            Ok(front) => {
                let r = self.factors.r(&self.plan, node - self.singletons);
                for j in 0..front.n as usize {
                    r.column(j, |row, values| visit(j, row, values));
                }
            }
        }
    }

    /// Q^H b of its pivots, for right-hand side `c` of the factorization, as [`Factors::qhb`].
    pub fn qhb(&self, node: usize, c: usize, mut visit: impl FnMut(usize, &[T])) {
        match self.front(node) {
            Err(s) => {
                let value = self.factors.singleton_rhs[c * self.singletons + s];
                visit(0, &[value]);
            }
            Ok(_) => {
                let f = node - self.singletons;
                self.factors.qhb(&self.plan, f, c, visit);
            }
        }
    }

    /// R(j, j) of pivot `j` of a node.
    fn for_each_diagonal(&self, node: usize, mut visit: impl FnMut(usize, T)) {
        match self.front(node) {
            Err(s) => {
                let row = &self.factors.singleton_rows[s];
                let pivot = row.iter().find(|e| self.place[e.0 as usize] as usize == s);
                visit(0, pivot.map_or(T::zero(), |e| e.1));
            }
            Ok(front) => {
                let r = self.factors.r(&self.plan, node - self.singletons);
                (0..front.npiv as usize).for_each(|j| visit(j, r.diagonal(j)));
            }
        }
    }

    /// Looks at the diagonal, on all threads: each entry is a cache line of its own. O(n).
    ///
    /// # Errors
    /// [`SolveError::Overflow`] where it is not finite.
    pub fn scan(&self, tolerance: f64) -> Result<Scan, SolveError> {
        let even = self.len().div_ceil(4 * rayon::current_num_threads());
        let size = even.max(NODES_AT_ONCE);
        let starts: Vec<usize> = (0..self.len()).step_by(size).collect();
        let of = |start: usize| self.scan_of(start..(start + size).min(self.len()), tolerance);
        let parts: Vec<Result<Scan, u32>> = starts.into_par_iter().map(of).collect();
        let mut out = Scan::default();
        for part in parts {
            out.append(part.map_err(|column| self.overflow(column))?);
        }
        Ok(out)
    }

    /// Of some nodes; the first column where it is not finite.
    fn scan_of(&self, nodes: Range<usize>, tolerance: f64) -> Result<Scan, u32> {
        let mut out = Scan::default();
        let mut bad = None;
        for node in nodes {
            let first = self.first(node) as usize;
            let mut suspect = false;
            self.for_each_diagonal(node, |j, value| {
                let (pivot, column) = (Scalar::abs(value).to_f64(), self.order[first + j]);
                if !pivot.is_finite() {
                    bad = bad.or(Some(column));
                } else if pivot <= tolerance {
                    suspect = true;
                    out.first = out.first.or(Some((column, pivot)));
                } else {
                    out.count(pivot, tolerance);
                }
            });
            if suspect {
                out.suspects.push(node as u32);
            }
        }
        bad.map_or(Ok(out), Err)
    }

    /// Takes the pivots of a node that stands as it is into `counts`.
    pub fn count(&self, node: usize, tolerance: f64, counts: &mut Scan) {
        self.for_each_diagonal(node, |_, value| {
            counts.count(Scalar::abs(value).to_f64(), tolerance);
        });
    }

    pub fn overflow(&self, column: u32) -> SolveError {
        SolveError::Overflow {
            what: if self.plan.sym.transposed {
                "row"
            } else {
                "column"
            },
            index: column as usize + 1,
        }
    }
}

/// Entries of R that take as long as going from one node to the next.
const PER_NODE: usize = 50;
/// Fewer nodes are not worth another thread.
const NODES_AT_ONCE: usize = 64;

impl Default for Scan {
    /// Of no pivot.
    fn default() -> Self {
        Scan {
            suspects: Vec::new(),
            first: None,
            smallest_pivot: f64::INFINITY,
            doubtful: 0,
        }
    }
}

impl Scan {
    /// That of nodes after these.
    fn append(&mut self, mut after: Scan) {
        self.suspects.append(&mut after.suspects);
        self.first = self.first.or(after.first);
        self.smallest_pivot = self.smallest_pivot.min(after.smallest_pivot);
        self.doubtful += after.doubtful;
    }

    /// One more live pivot.
    pub fn count(&mut self, pivot: f64, tolerance: f64) {
        self.smallest_pivot = self.smallest_pivot.min(pivot);
        self.doubtful += usize::from(pivot <= Rank::DOUBT * tolerance);
    }
}
