//! What callers ask of the factors: each is a program of one or two sweeps through the tree.

use super::options::SolveOptions;
use super::plan::SolvePlan;
use super::program::{Down, Given, Head, Up, Vector};
use super::sweep::Sweep;
use crate::error::SolveError;
use crate::numeric::magnitude::{exponent_of, ordinary_columns, shift_columns};
use crate::numeric::{FactorScalar, Factors, check_rhs};
use std::borrow::Cow;
use treeqr_kernels::Op;
use treeqr_runtime::Observer;

/// Q^H b in its two parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Rotated<T> {
    /// The part that R belongs to, in elimination order: as many entries as the factorized matrix has columns. Where a pivot is
    /// dead there is no row of R, and the entry belongs to the rest.
    pub head: Vec<T>,
    /// The rest, [`Symbolic::rest_rows`](crate::Symbolic::rest_rows) entries: its norm is the norm of the least-squares residual.
    pub rest: Vec<T>,
}

/// x and its parts. Vectors have their columns, one for each right-hand side, one after the other.
///
/// All of these are tasks on the runtime, over the tree and over blocks of right-hand sides: of 16, and of 32 from 128 on.
/// Results are bitwise the same for every number of workers, every scheduler and every bundling of fronts. A column's result
/// does not depend on the values of other columns. On their number it depends where fronts in tiles have part in Q, by the
/// width of its block, since matrix products of other widths may sum in another order.
///
/// Where dense rows are split off ([`DenseRows`](crate::DenseRows)) W = Q R is another orthogonal factorization: R then is neither triangular
/// nor sparse, and its rows (the `head` of Q^H b) are in no elimination order. All that is said of Q and R otherwise holds; results
/// with several right-hand sides are corrected each for itself.
///
/// Those without options have [`SolveOptions::default`], and nobody looks on.
impl<T: FactorScalar> Factors<T> {
    /// The solution for the right-hand sides that were given to the factorization. 2 nnz(R) flops each.
    ///
    /// # Errors
    /// [`SolveError::SolutionOverflow`]; [`SolveError::Run`]: whatever ends the run.
    ///
    /// # Panics
    /// When the factorization was given none.
    pub fn solution(&self) -> Result<Vec<T>, SolveError> {
        self.solution_with(SolveOptions::of_nobody(), &())
    }

    /// As [`Self::solution`], with options, and somebody who looks on.
    ///
    /// # Errors
    /// As [`Self::solution`].
    ///
    /// # Panics
    /// As [`Self::solution`].
    pub fn solution_with<O: Observer>(
        &self,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        self.check_whole()?;
        let nrhs = self.nrhs();
        assert!(nrhs > 0, "the factorization was given no right-hand side");
        let x = match (&self.split, &self.deficiency) {
            (Some(split), _) => self.split_solution(split, options)?,
            (None, Some(deficiency)) => {
                let heads = deficiency.kept_head();
                self.solve_heads(deficiency, heads, nrhs, options)?
            }
            (None, None) => self.outer(None, Down::KEPT, nrhs, options, observer)?,
        };
        let (n, powers) = (self.symbolic.ncols(), &self.rhs_exponents);
        self.finite(self.unscaled(x, n, powers), n)
    }

    /// What [`Self::solution_with`] will run. O(fronts).
    ///
    /// # Panics
    /// As [`Self::solution`].
    pub fn plan_solution(&self, options: &SolveOptions) -> SolvePlan {
        let nrhs = self.nrhs();
        assert!(nrhs > 0, "the factorization was given no right-hand side");
        if self.deficiency.is_some() || self.split.is_some() {
            return SolvePlan::nothing(nrhs);
        }
        self.prepare(None, Some(Down::KEPT), nrhs, options).plan()
    }

    /// The solutions for `nrhs` right-hand sides, columns of as many entries as A has rows: of min ||b - A x|| for a tall
    /// A, of A x = b for a square one, and the shortest x with A x = b for a wide one (A^H = Q R: x = Q R^{-H} b). Without full rank
    /// a least-squares solution in each case, the one that [`FactorOptions::deficient`](crate::FactorOptions::deficient) says.
    /// 4 nnz(H) + 2 nnz(R) flops each. For a wide A without full rank the first b for which A x = b has no solution takes what that asks
    /// for, once: a basis of R's null space, or a QR factorization of R^H.
    ///
    /// # Errors
    /// [`SolveError`]: Q was not kept, a wrong length, values that are not finite, in b or in x, and whatever ends the run.
    pub fn solve(&self, b: &[T], nrhs: usize) -> Result<Vec<T>, SolveError> {
        self.solve_with(b, nrhs, SolveOptions::of_nobody(), &())
    }

    /// As [`Self::solve`], with options, and somebody who looks on.
    ///
    /// # Errors
    /// As [`Self::solve`].
    pub fn solve_with<O: Observer>(
        &self,
        b: &[T],
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        check_rhs(b, self.symbolic.nrows(), nrhs)?;
        let (b, powers) = ordinary_columns(b, self.symbolic.nrows());
        let (up, down) = self.both_sweeps(&b)?;
        let x = match (&self.split, &self.deficiency) {
            (Some(split), _) => self.split_solve(split, &b, nrhs, options, observer)?,
            (None, Some(deficiency)) => {
                self.solve_deficient(deficiency, &b, nrhs, options, observer)?
            }
            (None, None) => self.outer(Some(up), down, nrhs, options, observer)?,
        };
        let n = self.symbolic.ncols();
        self.finite(self.unscaled(x, n, &powers), n)
    }

    /// Columns of `n` entries that are all numbers; or whatever they are, where nobody looks at the rank.
    pub(super) fn finite(&self, x: Vec<T>, n: usize) -> Result<Vec<T>, SolveError> {
        let looked = self.rank_details().tolerance >= 0.0;
        match x.iter().position(|v| !v.is_finite()).filter(|_| looked) {
            Some(at) => Err(SolveError::SolutionOverflow {
                row: at % n + 1,
                col: at / n + 1,
            }),
            None => Ok(x),
        }
    }

    /// x, or a solution with R alone, from that with R as it is kept for right-hand sides over powers of two.
    pub(super) fn unscaled(&self, mut x: Vec<T>, len: usize, powers: &[i32]) -> Vec<T> {
        let by = powers.iter().map(|power| power - self.exponent);
        shift_columns(&mut x, len, by);
        x
    }

    /// What [`Self::solve_with`] will run for so many right-hand sides. O(fronts). Without full rank that is the sweep with Q; what
    /// comes besides is no part of it, and nobody sees it.
    ///
    /// # Errors
    /// [`SolveError::NoQ`] when Q was not kept.
    pub fn plan_solve(&self, nrhs: usize, options: &SolveOptions) -> Result<SolvePlan, SolveError> {
        self.check_whole()?;
        let (up, down) = self.both_sweeps(&[])?;
        if self.split.is_some() {
            return Ok(self.plan_split(nrhs, options));
        }
        if self.deficiency.is_some() {
            return Ok(self.plan_deficient(nrhs, options));
        }
        Ok(self.prepare(Some(up), Some(down), nrhs, options).plan())
    }

    /// From b to x.
    pub(super) fn both_sweeps<'b>(
        &self,
        b: &'b [T],
    ) -> Result<(Up<'b, T>, Down<'b, T>), SolveError> {
        let (what, first, second) = if self.symbolic.transposed {
            ("Q c", Sweep::RAdjoint, Sweep::Q)
        } else {
            ("Q^H b", Sweep::QAdjoint, Sweep::R)
        };
        self.check_q(what)?;
        let up = Up {
            sweep: first,
            outer: Given::Dense(b),
            keep_rest: false,
            keep_head: false,
            sums: false,
            part: None,
        };
        let down = Down {
            sweep: second,
            head: Head::Up,
            rest: &[],
            part: None,
        };
        Ok((up, down))
    }

    /// Q^H b for `nrhs` columns of as many entries as the factorized matrix has rows. 4 nnz(H) flops a column.
    ///
    /// # Errors
    /// [`SolveError::NoQ`] when Q was not kept; [`SolveError::Run`].
    ///
    /// # Panics
    /// When b has another length.
    pub fn apply_q_adjoint(&self, b: &[T], nrhs: usize) -> Result<Rotated<T>, SolveError> {
        self.apply_q_adjoint_with(b, nrhs, SolveOptions::of_nobody(), &())
    }

    /// As [`Self::apply_q_adjoint`], with options, and somebody who looks on.
    ///
    /// # Errors
    /// As [`Self::apply_q_adjoint`].
    ///
    /// # Panics
    /// As [`Self::apply_q_adjoint`].
    pub fn apply_q_adjoint_with<O: Observer>(
        &self,
        b: &[T],
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Rotated<T>, SolveError> {
        let rows = self.symbolic.work_rows();
        assert_eq!(b.len(), rows * nrhs, "Q^H b: shape of b");
        self.check_q("Q^H b")?;
        let (b, powers) = ordinary_columns(b, rows);
        let mut rotated = match &self.split {
            None => self.sparse_apply_q_adjoint(&b, nrhs, options, observer)?,
            Some(split) => self.split_apply_q_adjoint(split, &b, nrhs, options, observer)?,
        };
        let (n, below) = (self.symbolic.work_cols(), self.symbolic.rest_rows);
        shift_columns(&mut rotated.head, n, powers.iter().copied());
        shift_columns(&mut rotated.rest, below, powers.iter().copied());
        Ok(rotated)
    }

    /// The same for W without its dense rows.
    pub(crate) fn sparse_apply_q_adjoint<O: Observer>(
        &self,
        b: &[T],
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Rotated<T>, SolveError> {
        self.rotate(Up::with_q(b), nrhs, options, observer)
    }

    /// A sweep with Q^H, and the Q of the second pass where there is one.
    pub(super) fn rotate<O: Observer>(
        &self,
        up: Up<'_, T>,
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Rotated<T>, SolveError> {
        let mut rotated = self.head(up, nrhs, options, observer)?;
        if let Some(deficiency) = &self.deficiency {
            deficiency.apply_q(Op::ConjTrans, &mut rotated.head, nrhs);
        }
        Ok(rotated)
    }

    /// Q c, the inverse of [`Self::apply_q_adjoint`]; an empty `rest` counts as zero. 4 nnz(H) flops a column.
    ///
    /// # Errors
    /// [`SolveError::NoQ`] when Q was not kept; [`SolveError::Run`].
    ///
    /// # Panics
    /// When c has other lengths.
    pub fn apply_q(&self, c: &Rotated<T>, nrhs: usize) -> Result<Vec<T>, SolveError> {
        self.apply_q_with(c, nrhs, SolveOptions::of_nobody(), &())
    }

    /// As [`Self::apply_q`], with options, and somebody who looks on.
    ///
    /// # Errors
    /// As [`Self::apply_q`].
    ///
    /// # Panics
    /// As [`Self::apply_q`].
    pub fn apply_q_with<O: Observer>(
        &self,
        c: &Rotated<T>,
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        let n = self.symbolic.work_cols();
        assert_eq!(c.head.len(), n * nrhs, "Q c: shape of c");
        assert!(
            c.rest.is_empty() || c.rest.len() == self.symbolic.rest_rows * nrhs,
            "Q c: shape of the rest"
        );
        self.check_q("Q c")?;
        let (c, powers) = ordinary_parts(c, n, self.symbolic.rest_rows);
        let mut b = match &self.split {
            None => self.sparse_apply_q(&c, nrhs, options, observer)?,
            Some(split) => self.split_apply_q(split, &c, nrhs, options, observer)?,
        };
        shift_columns(&mut b, self.symbolic.work_rows(), powers.into_iter());
        Ok(b)
    }

    /// The same for W without its dense rows.
    pub(crate) fn sparse_apply_q<O: Observer>(
        &self,
        c: &Rotated<T>,
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        let first_pass = self.deficiency.as_ref().map(|deficiency| {
            let mut head = c.head.clone();
            deficiency.apply_q(Op::NoTrans, &mut head, nrhs);
            head
        });
        let down = Down {
            sweep: Sweep::Q,
            head: Head::Given(first_pass.as_ref().unwrap_or(&c.head)),
            rest: &c.rest,
            part: None,
        };
        self.outer(None, down, nrhs, options, observer)
    }

    /// R x = c. `c` is in elimination order, the result in the numbering of the columns of the factorized matrix. Without full
    /// rank the basic solution, zero in dead columns; entries of c at dead pivots are not read.
    /// 2 nnz(R) flops a column.
    ///
    /// # Errors
    /// [`SolveError::Run`].
    ///
    /// # Panics
    /// When c has another length.
    pub fn solve_r(&self, c: &[T], nrhs: usize) -> Result<Vec<T>, SolveError> {
        self.solve_r_with(c, nrhs, SolveOptions::of_nobody(), &())
    }

    /// As [`Self::solve_r`], with options, and somebody who looks on.
    ///
    /// # Errors
    /// As [`Self::solve_r`].
    ///
    /// # Panics
    /// As [`Self::solve_r`].
    pub fn solve_r_with<O: Observer>(
        &self,
        c: &[T],
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        let n = self.symbolic.work_cols();
        assert_eq!(c.len(), n * nrhs, "R x = c: shape of c");
        let (c, powers) = ordinary_columns(c, n);
        let x = self.solve_kept_r(&c, nrhs, options, observer)?;
        Ok(self.unscaled(x, n, &powers))
    }

    /// The same with R as it is kept, over the power of two of the matrix.
    pub(crate) fn solve_kept_r<O: Observer>(
        &self,
        c: &[T],
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        match &self.split {
            None => self.sparse_solve_r(c, nrhs, options, observer),
            Some(split) => self.split_solve_r(split, c, nrhs, options),
        }
    }

    /// The same for W without its dense rows.
    pub(crate) fn sparse_solve_r<O: Observer>(
        &self,
        c: &[T],
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        if let Some(deficiency) = &self.deficiency {
            return Ok(deficiency.solve_r(self, c, nrhs));
        }
        self.outer(None, Down::given(c), nrhs, options, observer)
    }

    /// R^H y = c. `c` is in the numbering of the columns of the factorized matrix, the result in elimination order. Without full
    /// rank it holds in the live columns, and y is zero at dead pivots.
    /// 2 nnz(R) flops a column.
    ///
    /// # Errors
    /// [`SolveError::Run`].
    ///
    /// # Panics
    /// When c has another length.
    pub fn solve_r_adjoint(&self, c: &[T], nrhs: usize) -> Result<Vec<T>, SolveError> {
        self.solve_r_adjoint_with(c, nrhs, SolveOptions::of_nobody(), &())
    }

    /// As [`Self::solve_r_adjoint`], with options, and somebody who looks on.
    ///
    /// # Errors
    /// As [`Self::solve_r_adjoint`].
    ///
    /// # Panics
    /// As [`Self::solve_r_adjoint`].
    pub fn solve_r_adjoint_with<O: Observer>(
        &self,
        c: &[T],
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        let cols = self.symbolic.work_cols();
        assert_eq!(c.len(), cols * nrhs, "R^H y = c: shape of c");
        let (c, powers) = ordinary_columns(c, cols);
        let y = self.solve_kept_r_adjoint(&c, nrhs, options, observer)?;
        Ok(self.unscaled(y, cols, &powers))
    }

    /// The same with R as it is kept, over the power of two of the matrix.
    pub(crate) fn solve_kept_r_adjoint<O: Observer>(
        &self,
        c: &[T],
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        match &self.split {
            None => self.sparse_solve_r_adjoint(c, nrhs, options, observer),
            Some(split) => self.split_solve_r_adjoint(split, c, nrhs, options, observer),
        }
    }

    /// The same for W without its dense rows.
    pub(crate) fn sparse_solve_r_adjoint<O: Observer>(
        &self,
        c: &[T],
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        if let Some(deficiency) = &self.deficiency {
            return Ok(deficiency.solve_r_adjoint(self, c, nrhs));
        }
        let up = Up {
            sweep: Sweep::RAdjoint,
            outer: Given::Dense(c),
            keep_rest: false,
            keep_head: false,
            sums: false,
            part: None,
        };
        Ok(self.head(up, nrhs, options, observer)?.head)
    }

    /// R x = c with R as it is kept, x in the place of c: one array less than [`Self::solve_kept_r`] takes.
    pub(crate) fn solve_kept_r_in_place(
        &self,
        c: &mut [T],
        nrhs: usize,
        options: &SolveOptions,
    ) -> Result<(), SolveError> {
        if self.split.is_some() || self.deficiency.is_some() {
            c.copy_from_slice(&self.solve_kept_r(c, nrhs, options, &())?);
            return Ok(());
        }
        let remains = self.run(None, Some(Down::given(c)), nrhs, options, &())?;
        let mut rest = c;
        for part in remains.parts(Vector::Outer) {
            let (here, after) = rest.split_at_mut(part.len());
            here.copy_from_slice(part);
            rest = after;
        }
        Ok(())
    }

    /// R^H y = c with R as it is kept for the `nrhs` columns of `c`, and ||R e_j||_1 of all columns, in one run, for no more vectors than one block
    /// has; shows y, and behind it the norms in elimination order, where they lie. Where R is all there is.
    pub(crate) fn solve_kept_r_adjoint_with_sums<S>(
        &self,
        c: &[T],
        nrhs: usize,
        options: &SolveOptions,
        show: impl FnOnce(&[T], &[T]) -> S,
    ) -> Result<S, SolveError> {
        let up = Up {
            sweep: Sweep::RAdjoint,
            outer: Given::Dense(c),
            keep_rest: false,
            keep_head: false,
            sums: true,
            part: None,
        };
        let remains = self.run(Some(up), None, nrhs + 1, options, &())?;
        let mut blocks = remains.parts(Vector::Head);
        let (Some(both), None) = (blocks.next(), blocks.next()) else {
            unreachable!("as many vectors as one block has");
        };
        let (y, sums) = both.split_at(c.len());
        Ok(show(y, sums))
    }

    /// R^H t = s and R z = t with R as it is kept, t and z: where R is all there is, in one run.
    pub(crate) fn solve_kept_normal<O: Observer>(
        &self,
        s: &[T],
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<[Vec<T>; 2], SolveError> {
        if self.split.is_some() || self.deficiency.is_some() {
            let t = self.solve_kept_r_adjoint(s, nrhs, options, observer)?;
            let z = self.solve_kept_r(&t, nrhs, options, observer)?;
            return Ok([t, z]);
        }
        let (up, down) = normal_sweeps(s);
        self.head_and_outer(up, down, nrhs, options, observer)
    }

    /// What [`Self::solve_kept_normal`] will run, where R is all there is.
    pub(super) fn plan_kept_normal(&self, nrhs: usize, options: &SolveOptions) -> SolvePlan {
        let (up, down) = normal_sweeps(&[]);
        self.prepare(Some(up), Some(down), nrhs, options).plan()
    }

    pub(crate) fn check_unsplit(&self, what: &'static str) -> Result<(), SolveError> {
        match self.split {
            None => Ok(()),
            Some(_) => Err(SolveError::DenseRows { what }),
        }
    }

    pub(crate) fn check_q(&self, what: &'static str) -> Result<(), SolveError> {
        if self.has_q() {
            Ok(())
        } else {
            Err(SolveError::NoQ { what })
        }
    }
}

/// R^H t = s, and R z = t.
fn normal_sweeps<T>(s: &[T]) -> (Up<'_, T>, Down<'_, T>) {
    let up = Up {
        sweep: Sweep::RAdjoint,
        outer: Given::Dense(s),
        keep_rest: false,
        keep_head: true,
        sums: false,
        part: None,
    };
    let down = Down {
        sweep: Sweep::R,
        head: Head::Up,
        rest: &[],
        part: None,
    };
    (up, down)
}

/// Head and rest of each column over a power of two that both share, where the larger of them is far from 1.
fn ordinary_parts<T: FactorScalar>(
    c: &Rotated<T>,
    n: usize,
    below: usize,
) -> (Cow<'_, Rotated<T>>, Vec<i32>) {
    let heads = c.head.chunks_exact(n.max(1));
    let mut rests = c.rest.chunks_exact(below.max(1));
    let power = |head: &[T]| exponent_of(&[head, rests.next().unwrap_or_default()]);
    let powers: Vec<i32> = heads.map(power).collect();
    if powers.iter().all(|&power| power == 0) {
        return (Cow::Borrowed(c), powers);
    }
    let mut scaled = c.clone();
    shift_columns(&mut scaled.head, n, powers.iter().map(|p| -p));
    shift_columns(&mut scaled.rest, below, powers.iter().map(|p| -p));
    (Cow::Owned(scaled), powers)
}
