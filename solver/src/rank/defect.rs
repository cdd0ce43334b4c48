//! How far a basis of the null space is from one, by looking: R times a vector of it, as `project` uses it.
//!
//! The vectors of the null space have rounding errors relative to their own length, which orthonormal ones made of them inherit: R Z grows with
//! the vectors, and they with the condition of the live columns. `project` takes most of that back; how much is left is what is looked at.

use super::nodes::Nodes;
use super::null_space::NullSpace;
use super::run::Deficiency;
use crate::numeric::FactorScalar;
use treeqr_matrices::{RealScalar, norm2};

/// ||R (Z - D) g|| / ||g|| in parts of eps ||W||_F, for one g of ones of either sign: about the root mean square over the basis' vectors.
/// 6 nnz(R) flops and 4 an entry of Z.
pub(super) fn defect<T: FactorScalar>(
    nodes: &Nodes<'_, T>,
    deficiency: &Deficiency<T>,
    space: &NullSpace<T>,
) -> f64 {
    // Signs without a pattern, the same every time: those of the fractional parts of multiples of the golden section.
    let sign = |k: usize| {
        let part = ((k + 1) as f64 * 0.618_033_988_749_895).fract();
        T::from_f64(if part < 0.5 { 1.0 } else { -1.0 }, 0.0)
    };
    let rows = deficiency.live_places();
    let mut z = space.combination(sign);
    deficiency.correct(nodes, &rows, &mut z);
    let product = deficiency.product(nodes, rows.len(), &z);
    let unit = <T::Real as RealScalar>::EPSILON.to_f64() * deficiency.norm;
    let length = (deficiency.dead.len() as f64).sqrt();
    norm2(&product).to_f64() / (length * unit)
}
