//! Solutions where the rank is not full: basic, or of minimum norm by a complete orthogonal decomposition.
//!
//! Takes Q^H b or b; the sweeps of the first pass are those of `system`, what comes on top is in `rank`.

use super::options::SolveOptions;
use super::plan::SolvePlan;
use super::program::{Down, Given, Head, Up};
use super::sweep::Sweep;
use super::system::Rotated;
use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors};
use crate::rank::{Complete, Deficiency, Tried, heads_of_nodes};
use treeqr_runtime::Observer;

impl<T: FactorScalar> Factors<T> {
    /// Solutions for right-hand sides that come now.
    pub(super) fn solve_deficient<O: Observer>(
        &self,
        deficiency: &Deficiency<T>,
        b: &[T],
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        if !self.symbolic.transposed {
            let heads = self.sparse_q_head(b, nrhs, options, observer)?;
            return self.solve_heads(deficiency, &heads, nrhs, options);
        }
        let (head, _) = self.nearest_head(deficiency, (b, nrhs), None, options)?;
        let rest = Vec::new();
        self.apply_q_with(&Rotated { head, rest }, nrhs, options, observer)
    }

    /// For a wide A the y that minimise ||b - R^H y||, in elimination order, and which of them solve R^H y = b; or the other way round, where
    /// that is known. A = [R; 0]^H Q^H, so x = Q [y; 0] is the shortest with its A x.
    pub(super) fn nearest_head(
        &self,
        deficiency: &Deficiency<T>,
        (b, nrhs): (&[T], usize),
        known: Option<&[bool]>,
        options: &SolveOptions,
    ) -> Result<(Vec<T>, Vec<bool>), SolveError> {
        if self.rank() == 0 {
            let solved = b.chunks_exact(self.symbolic.nrows().max(1));
            let solved = solved.map(|b| b.iter().all(|&v| v == T::zero()));
            return Ok((vec![T::zero(); b.len()], solved.collect()));
        }
        // Where the live columns are known to solve none, their y is not asked for.
        let none = vec![false; nrhs];
        let (mut head, solved) = match known {
            Some(known) if known == none => (vec![T::zero(); b.len()], none),
            _ => {
                let Tried { y, solved } = deficiency.try_adjoint(self, b, nrhs);
                (y, known.map_or(solved, <[bool]>::to_vec))
            }
        };
        if !solved.iter().all(|&solved| solved) {
            // Of all, so that no result depends on other right-hand sides by the width of a product.
            let nearest = match deficiency.completed(self, &options.to_factorize(), &())? {
                Complete::Zero => vec![T::zero(); head.len()],
                Complete::Projector(space) => {
                    let mut c = b.to_vec();
                    deficiency.project(self, space, &mut c, nrhs);
                    deficiency.solve_r_adjoint(self, &c, nrhs)
                }
                Complete::Second(second) => {
                    let c = second.apply_q_adjoint_with(b, nrhs, options, &())?;
                    let y = second.solve_r_with(&c.head, nrhs, options, &())?;
                    deficiency.with_dead(&y, nrhs)
                }
            };
            let n = head.len() / nrhs;
            let columns = head.chunks_exact_mut(n).zip(nearest.chunks_exact(n));
            let unsolved = columns.zip(&solved).filter(|(_, solved)| !**solved);
            unsolved.for_each(|((y, nearest), _)| y.copy_from_slice(nearest));
        }
        Ok((head, solved))
    }

    /// What [`Self::solve_deficient`] shows to its observer: the sweep with Q.
    pub(super) fn plan_deficient(&self, nrhs: usize, options: &SolveOptions) -> SolvePlan {
        if self.symbolic.transposed && self.rank() == 0 {
            return SolvePlan::nothing(nrhs);
        }
        let sweep = match self.symbolic.transposed {
            false => Sweep::QAdjoint,
            true => Sweep::Q,
        };
        self.plan_sweep(sweep, nrhs, options)
    }

    /// One sweep through the tree.
    pub(crate) fn plan_sweep(
        &self,
        sweep: Sweep,
        nrhs: usize,
        options: &SolveOptions,
    ) -> SolvePlan {
        if sweep.is_up() {
            let up = Up {
                sweep,
                outer: Given::Dense(&[]),
                keep_rest: false,
                keep_head: false,
                sums: false,
                part: None,
            };
            return self.prepare(Some(up), None, nrhs, options).plan();
        }
        let down = Down {
            sweep,
            head: Head::Given(&[]),
            rest: &[],
            part: None,
        };
        self.prepare(None, Some(down), nrhs, options).plan()
    }

    /// The head of Q^H b, for W without its dense rows.
    pub(crate) fn sparse_q_head<O: Observer>(
        &self,
        b: &[T],
        nrhs: usize,
        options: &SolveOptions,
        observer: &O,
    ) -> Result<Vec<T>, SolveError> {
        let up = Up {
            keep_rest: false,
            keep_head: false,
            sums: false,
            ..Up::with_q(b)
        };
        Ok(self.rotate(up, nrhs, options, observer)?.head)
    }

    /// That of the right-hand sides that were given to the factorization.
    pub(crate) fn kept_heads(&self) -> Vec<T> {
        match &self.deficiency {
            Some(deficiency) => deficiency.kept_head().to_vec(),
            None => heads_of_nodes(self),
        }
    }

    /// Solutions of R x = c, for Q^H b in elimination order: basic, or the shortest.
    pub(super) fn solve_heads(
        &self,
        deficiency: &Deficiency<T>,
        heads: &[T],
        nrhs: usize,
        options: &SolveOptions,
    ) -> Result<Vec<T>, SolveError> {
        let second = match deficiency.complete.get() {
            None | Some(Complete::Zero) => return Ok(deficiency.solve_r(self, heads, nrhs)),
            Some(Complete::Projector(space)) => {
                return Ok(deficiency.shortest(self, space, heads, nrhs));
            }
            Some(Complete::Second(second)) => second,
        };
        // R x = c with R^H = Z S: x = Z S^{-H} c.
        let c = deficiency.live_part(heads);
        let c = Rotated {
            head: second.solve_r_adjoint_with(&c, nrhs, options, &())?,
            rest: Vec::new(),
        };
        second.apply_q_with(&c, nrhs, options, &())
    }
}
