//! x for the problem that the shape of A poses.

use super::orthogonal::Rotated;
use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors, check_rhs};

impl<T: FactorScalar> Factors<T> {
    /// The solution for the right-hand sides that were given to the factorization, column by column. 2 nnz(R) flops each.
    ///
    /// # Panics
    /// When the factorization was given none.
    pub fn solution(&self) -> Vec<T> {
        let (n, nrhs) = (self.symbolic.work_cols(), self.nrhs());
        assert!(nrhs > 0, "the factorization was given no right-hand side");
        let singles = self.symbolic.singletons.len();
        let plan = self.plan();
        let mut c = vec![T::zero(); n * nrhs];
        for k in 0..nrhs {
            c[k * n..k * n + singles]
                .copy_from_slice(&self.singleton_rhs[k * singles..(k + 1) * singles]);
        }
        let mut part = Vec::new();
        for (f, front) in self.symbolic.tree.fronts.iter().enumerate() {
            let npiv = front.npiv as usize;
            part.resize(npiv * nrhs, T::zero());
            self.qhb(&plan, f, &mut part);
            for k in 0..nrhs {
                let first = k * n + singles + front.first_pivot as usize;
                c[first..first + npiv].copy_from_slice(&part[k * npiv..(k + 1) * npiv]);
            }
        }
        self.solve_r(&c, nrhs)
    }

    /// The solutions for `nrhs` right-hand sides, columns of as many entries as A has rows: of min ||b - A x|| for a tall
    /// A, of A x = b for a square one, and the shortest x with A x = b for a wide one (A^H = Q R: x = Q R^{-H} b).
    ///
    /// # Errors
    /// [`SolveError`]: Q was not kept, a wrong length, values that are not finite.
    pub fn solve(&self, b: &[T], nrhs: usize) -> Result<Vec<T>, SolveError> {
        check_rhs(b, self.symbolic.nrows(), nrhs)?;
        if self.symbolic.transposed {
            let head = self.solve_r_adjoint(b, nrhs);
            self.apply_q(
                &Rotated {
                    head,
                    rest: Vec::new(),
                },
                nrhs,
            )
        } else {
            let c = self.apply_q_adjoint(b, nrhs)?;
            Ok(self.solve_r(&c.head, nrhs))
        }
    }
}
