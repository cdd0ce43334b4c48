//! Right-hand sides with few nonzeros, and solutions of which few entries are wanted: sweeps restricted to the fronts that have to
//! do with them.
//!
//! Takes columns of a sparse matrix, or rows of x; gives what the unrestricted solve gives. What comes from fronts
//! that are left out would be zeros. Where the rank is not full only the sweep of Q^H b is restricted; what else comes
//! then, and all where dense rows are split off or numbers are tiny or huge, is what dense vectors have.

use super::options::SolveOptions;
use super::plan::SolvePlan;
use super::program::{Down, Given, Head, Up, blocks_of};
use super::reach::{Part, Reach};
use super::sweep::Sweep;
use super::system::Rotated;
use crate::error::SolveError;
use crate::numeric::magnitude::exponent;
use crate::numeric::{FactorScalar, Factors, check_rhs};
use treeqr_matrices::Csc;
use treeqr_runtime::Observer;

/// The same for sparse vectors: columns of a [`Csc`] as right-hand sides, or chosen entries of a solution. A sweep does only what
/// lies on the ways from their nonzeros to the roots of the tree (and, on the way down, all below), the union over the
/// right-hand sides of a block; results equal those of the dense ones, and entries of dense results that are not reached are zero.
/// Memory is that of the dense results.
impl<T: FactorScalar> Factors<T> {
    /// As [`Self::solve`], for the columns of a sparse matrix with as many rows as A.
    ///
    /// # Errors
    /// As [`Self::solve`].
    pub fn solve_sparse<O: Observer>(
        &self,
        b: &Csc<T>,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        self.check_sparse(b)?;
        if self.dense_way(b) {
            self.check_q("x")?;
            return self.solve_with(&dense(b), b.ncols(), options, observer);
        }
        let (up, down) = self.sparse_sweeps(b)?;
        self.outer(Some(up), down, b.ncols(), options, observer)
    }

    /// What [`Self::solve_sparse`] will run. O(fronts + nnz(b)) a block of right-hand sides.
    ///
    /// # Errors
    /// As [`Self::solve_sparse`].
    pub fn plan_solve_sparse(
        &self,
        b: &Csc<T>,
        options: &SolveOptions,
    ) -> Result<SolvePlan, SolveError> {
        self.check_sparse(b)?;
        if self.dense_way(b) {
            return self.plan_solve(b.ncols(), options);
        }
        let (up, down) = self.sparse_sweeps(b)?;
        Ok(self
            .prepare(Some(up), Some(down), b.ncols(), options)
            .plan())
    }

    /// The entries `wanted` of what [`Self::solve`] gives, in that order, a right-hand side after the other.
    ///
    /// # Errors
    /// As [`Self::solve`].
    ///
    /// # Panics
    /// When an entry is none of x.
    pub fn solve_entries<O: Observer>(
        &self,
        b: &[T],
        nrhs: usize,
        wanted: &[usize],
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        check_rhs(b, self.symbolic.nrows(), nrhs)?;
        self.check_wanted(wanted, self.symbolic.ncols());
        let x = if self.odd(b, self.symbolic.nrows()) {
            self.solve_with(b, nrhs, options, observer)?
        } else {
            let (up, down) = self.sweeps_to(b, wanted)?;
            self.outer(Some(up), down, nrhs, options, observer)?
        };
        Ok(entries(&x, self.symbolic.ncols(), wanted))
    }

    /// What [`Self::solve_entries`] will run for so many right-hand sides. O(fronts).
    ///
    /// # Errors
    /// [`SolveError::NoQ`] when Q was not kept.
    ///
    /// # Panics
    /// As [`Self::solve_entries`].
    pub fn plan_solve_entries(
        &self,
        nrhs: usize,
        wanted: &[usize],
        options: &SolveOptions,
    ) -> Result<SolvePlan, SolveError> {
        self.check_wanted(wanted, self.symbolic.ncols());
        if self.beyond_the_tree() {
            return self.plan_solve(nrhs, options);
        }
        let (up, down) = self.sweeps_to(&[], wanted)?;
        Ok(self.prepare(Some(up), Some(down), nrhs, options).plan())
    }

    /// As [`Self::apply_q_adjoint`], for the columns of a sparse matrix.
    ///
    /// # Errors
    /// As [`Self::apply_q_adjoint`].
    ///
    /// # Panics
    /// When b has not as many rows as the factorized matrix.
    pub fn apply_q_adjoint_sparse<O: Observer>(
        &self,
        b: &Csc<T>,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Rotated<T>, SolveError> {
        assert_eq!(b.nrows(), self.symbolic.work_rows(), "Q^H b: rows of b");
        self.check_q("Q^H b")?;
        if self.split.is_some() || Self::is_odd(b) {
            return self.apply_q_adjoint_with(&dense(b), b.ncols(), options, observer);
        }
        let up = self.sparse_up(Sweep::QAdjoint, b, true);
        self.rotate(up, b.ncols(), options, observer)
    }

    /// As [`Self::apply_q`], for the columns of a sparse matrix: the rows of [`Rotated::head`], and those of
    /// [`Rotated::rest`] below them unless all of that is zero.
    ///
    /// # Errors
    /// As [`Self::apply_q`].
    ///
    /// # Panics
    /// When c has other rows.
    pub fn apply_q_sparse<O: Observer>(
        &self,
        c: &Csc<T>,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        let (n, rest) = (self.symbolic.work_cols(), self.symbolic.rest_rows);
        let rows = c.nrows();
        assert!(rows == n || rows == n + rest, "Q c: rows of c");
        self.check_q("Q c")?;
        if self.dense_way(c) {
            let all = dense(c);
            let part = |range: std::ops::Range<usize>| {
                let columns = all.chunks_exact(rows.max(1));
                columns.flat_map(|c| c[range.clone()].to_vec()).collect()
            };
            let c = Rotated {
                head: part(0..n),
                rest: part(n..rows),
            };
            return self.apply_q_with(&c, all.len() / rows.max(1), options, observer);
        }
        let down = self.sparse_down(Sweep::Q, c);
        self.outer(None, down, c.ncols(), options, observer)
    }

    /// As [`Self::solve_r`], for the columns of a sparse matrix.
    ///
    /// # Errors
    /// As [`Self::solve_r`].
    ///
    /// # Panics
    /// When c has not as many rows as R.
    pub fn solve_r_sparse<O: Observer>(
        &self,
        c: &Csc<T>,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        assert_eq!(c.nrows(), self.symbolic.work_cols(), "R x = c: rows of c");
        if self.dense_way(c) {
            return self.solve_r_with(&dense(c), c.ncols(), options, observer);
        }
        let down = self.sparse_down(Sweep::R, c);
        self.outer(None, down, c.ncols(), options, observer)
    }

    /// The entries `wanted` of what [`Self::solve_r`] gives, in that order, a right-hand side after the other.
    ///
    /// # Errors
    /// As [`Self::solve_r`].
    ///
    /// # Panics
    /// As [`Self::solve_r`], and when an entry is none of x.
    pub fn solve_r_entries<O: Observer>(
        &self,
        c: &[T],
        nrhs: usize,
        wanted: &[usize],
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        let n = self.symbolic.work_cols();
        assert_eq!(c.len(), n * nrhs, "R x = c: shape of c");
        self.check_wanted(wanted, n);
        let x = if self.odd(c, n) {
            self.solve_r_with(c, nrhs, options, observer)?
        } else {
            let down = Down {
                sweep: Sweep::R,
                head: Head::Given(c),
                rest: &[],
                part: self.part_to(Sweep::R, wanted),
            };
            self.outer(None, down, nrhs, options, observer)?
        };
        Ok(entries(&x, n, wanted))
    }

    /// As [`Self::solve_r_adjoint`], for the columns of a sparse matrix.
    ///
    /// # Errors
    /// As [`Self::solve_r_adjoint`].
    ///
    /// # Panics
    /// When c has not as many rows as R has columns.
    pub fn solve_r_adjoint_sparse<O: Observer>(
        &self,
        c: &Csc<T>,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        assert_eq!(c.nrows(), self.symbolic.work_cols(), "R^H y = c: rows of c");
        if self.dense_way(c) {
            return self.solve_r_adjoint_with(&dense(c), c.ncols(), options, observer);
        }
        let up = self.sparse_up(Sweep::RAdjoint, c, false);
        Ok(self.head(up, c.ncols(), options, observer)?.head)
    }

    /// What [`Self::solve_r_adjoint_sparse`] will run. O(fronts + nnz(c)) a block of right-hand sides.
    ///
    /// # Panics
    /// As [`Self::solve_r_adjoint_sparse`].
    pub fn plan_solve_r_adjoint_sparse(&self, c: &Csc<T>, options: &SolveOptions) -> SolvePlan {
        assert_eq!(c.nrows(), self.symbolic.work_cols(), "R^H y = c: rows of c");
        if self.dense_way(c) {
            return SolvePlan::nothing(c.ncols());
        }
        let up = self.sparse_up(Sweep::RAdjoint, c, false);
        self.prepare(Some(up), None, c.ncols(), options).plan()
    }

    /// Whether vectors are dense all the same: where Q and R are more than the tree holds, since the rank is not full or dense rows are
    /// split off, or where numbers are so small or large that powers of two are taken out of them.
    fn dense_way(&self, columns: &Csc<T>) -> bool {
        self.beyond_the_tree() || Self::is_odd(columns)
    }

    fn is_odd(columns: &Csc<T>) -> bool {
        (0..columns.ncols()).any(|j| exponent(columns.col(j).1) != 0)
    }

    fn beyond_the_tree(&self) -> bool {
        self.deficiency.is_some() || self.split.is_some() || self.exponent != 0
    }

    /// The same of dense columns of `len` entries.
    fn odd(&self, columns: &[T], len: usize) -> bool {
        let mut columns = columns.chunks_exact(len.max(1));
        self.beyond_the_tree() || columns.any(|column| exponent(column) != 0)
    }

    fn sparse_up<'b>(&self, sweep: Sweep, b: &'b Csc<T>, keep_rest: bool) -> Up<'b, T> {
        let rows = |columns: std::ops::Range<usize>| {
            let rows = columns.flat_map(|k| b.col(k).0);
            rows.map(|&i| i as usize)
        };
        let part = Reach::new(self).ways_up(sweep, blocks_of(b.ncols()).map(rows));
        Up {
            sweep,
            outer: Given::Sparse(b),
            keep_rest,
            keep_head: false,
            sums: false,
            part,
        }
    }

    fn sparse_down<'b>(&self, sweep: Sweep, c: &'b Csc<T>) -> Down<'b, T> {
        Down {
            sweep,
            head: Head::Sparse(c),
            rest: &[],
            part: Reach::new(self).below_nonzeros(sweep, c, blocks_of(c.ncols())),
        }
    }

    fn sparse_sweeps<'b>(&self, b: &'b Csc<T>) -> Result<(Up<'b, T>, Down<'b, T>), SolveError> {
        let (up, mut down) = self.both_sweeps(&[])?;
        let up = self.sparse_up(up.sweep, b, false);
        let reached = up.part.as_ref();
        down.part = reached.and_then(|part| Reach::new(self).below_part(down.sweep, part));
        Ok((up, down))
    }

    /// From b to entries of x.
    fn sweeps_to<'b>(
        &self,
        b: &'b [T],
        wanted: &[usize],
    ) -> Result<(Up<'b, T>, Down<'b, T>), SolveError> {
        let (mut up, mut down) = self.both_sweeps(b)?;
        down.part = self.part_to(down.sweep, wanted);
        // Of Q^H b or R^{-H} b, what these fronts need: all below them.
        let needed = down.part.as_ref();
        up.part = needed.and_then(|part| Reach::new(self).below_part(up.sweep, part));
        Ok((up, down))
    }

    fn part_to(&self, sweep: Sweep, wanted: &[usize]) -> Option<Part> {
        let once = std::iter::once(wanted.iter().copied());
        Reach::new(self).ways_up(sweep, once)
    }

    fn check_sparse(&self, b: &Csc<T>) -> Result<(), SolveError> {
        let (nrows, nrhs) = (self.symbolic.nrows(), b.ncols());
        if b.nrows() != nrows {
            return Err(SolveError::RhsLength {
                found: b.nrows() * nrhs,
                expected: nrows * nrhs,
                nrhs,
                nrows,
            });
        }
        match b.first_non_finite() {
            Some((row, col)) => Err(SolveError::RhsNotFinite {
                row: row + 1,
                col: col + 1,
            }),
            None => Ok(()),
        }
    }

    fn check_wanted(&self, wanted: &[usize], len: usize) {
        if let Some(entry) = wanted.iter().find(|&&j| j >= len) {
            panic!("entry {entry} of {len}");
        }
    }
}

/// A sparse matrix as columns one after the other.
fn dense<T: FactorScalar>(b: &Csc<T>) -> Vec<T> {
    let m = b.nrows();
    let mut out = vec![T::zero(); m * b.ncols()];
    for (k, column) in out.chunks_exact_mut(m.max(1)).enumerate() {
        let (rows, values) = b.col(k);
        for (&i, &value) in rows.iter().zip(values) {
            column[i as usize] = value;
        }
    }
    out
}

/// Chosen entries of every column.
fn entries<T: Copy>(x: &[T], len: usize, wanted: &[usize]) -> Vec<T> {
    let columns = x.chunks_exact(len.max(1));
    columns.flat_map(|x| wanted.iter().map(|&j| x[j])).collect()
}
