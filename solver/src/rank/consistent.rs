//! R^H y = b where the live columns decide: y, and whether the dead ones agree.
//!
//! With R = [R1 R2], R1 of the live columns, y = R1^{-H} b1 solves all of it if R2^H y is b2 as well. What is left there,
//! s = b2 - R2^H y, is Z^H b for the basis Z = [-R1^{-1} R2; I] of R's null space, and Z^H Z is at least I: so the part of b in the null space
//! is no longer than s. Where s is rounding, b solves the system as it stands, and no basis of the null space is asked for.

use super::nodes::Nodes;
use super::run::Deficiency;
use crate::numeric::{FactorScalar, Factors};
use crate::solve::CONSISTENT;
use treeqr_matrices::{RealScalar, norm2};

/// What is left is rounding up to so many times ||R|| ||y|| + ||b||, or to [`UNITS`] times eps of it: what tells a consistent system from others
/// afterwards too. Ill conditioned live columns leave more than well conditioned ones.
const ROUNDING: f64 = CONSISTENT;
const UNITS: f64 = 4.0;

/// y for each right-hand side, and which of them it solves.
#[derive(Clone)]
pub(crate) struct Tried<T> {
    /// In elimination order, zero at dead pivots.
    pub y: Vec<T>,
    /// Whether R^H y = b.
    pub solved: Vec<bool>,
}

impl<T: FactorScalar> Deficiency<T> {
    /// Solves R^H y = b in the live columns, and looks at the dead ones: `b` in the numbering of W. 2 nnz(R) flops a column. The first
    /// single right-hand side is remembered: the solve often asks again for the one that the factorization was given.
    pub fn try_adjoint(&self, factors: &Factors<T>, b: &[T], nrhs: usize) -> Tried<T> {
        if let Some((_, tried)) = self.tried.get().filter(|(of, _)| of == b) {
            return tried.clone();
        }
        let tried = self.try_now(factors, b, nrhs);
        if nrhs == 1 {
            self.tried.get_or_init(|| (b.to_vec(), tried.clone()));
        }
        tried
    }

    fn try_now(&self, factors: &Factors<T>, b: &[T], nrhs: usize) -> Tried<T> {
        let n = self.order.len();
        let dead: Vec<u32> = self.dead.iter().map(|&p| self.order[p as usize]).collect();
        let mut left = b.to_vec();
        let y = self.solve_r_adjoint_in(&Nodes::new(factors), &mut left, nrhs);
        let length = |v: &[T]| norm2(v).to_f64();
        let unit = <T::Real as RealScalar>::EPSILON.to_f64();
        let columns = left.chunks_exact(n).zip(b.chunks_exact(n));
        let solved = columns.zip(y.chunks_exact(n)).map(|((left, b), y)| {
            let s: Vec<T> = dead.iter().map(|&j| left[j as usize]).collect();
            length(&s) <= ROUNDING.max(UNITS * unit) * (self.norm * length(y) + length(b))
        });
        let solved = solved.collect();
        Tried { y, solved }
    }
}
