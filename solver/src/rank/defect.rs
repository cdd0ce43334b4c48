//! How far a basis of the null space is from one, by looking: R Z on a vector.
//!
//! The vectors of the null space have rounding errors relative to their own length, which orthonormal ones made of them inherit: R Z grows with
//! the vectors, and they with the condition of the live columns, but seldom as far. So the condition alone says only when there is no need to look.

use super::nodes::Nodes;
use super::null_space::NullSpace;
use super::run::Deficiency;
use super::trapezoid::live_parts;
use crate::numeric::FactorScalar;
use treeqr_matrices::{RealScalar, norm2};

/// ||R Z g|| / ||g|| in parts of eps ||W||_F, for one g of ones of either sign: about the root mean square over the basis' vectors. 2 nnz(R)
/// flops and 4 an entry of Z.
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
    let z = space.combination(sign);
    let mut product = vec![T::zero(); deficiency.order.len()];
    live_parts(nodes, Some(deficiency), |column, row, values| {
        let factor = z[column as usize];
        if factor != T::zero() {
            let rows = product[row as usize..].iter_mut().zip(values);
            rows.for_each(|(sum, &value)| *sum += value * factor);
        }
    });
    let unit = <T::Real as RealScalar>::EPSILON.to_f64() * deficiency.norm;
    let length = (deficiency.dead.len() as f64).sqrt();
    norm2(&product).to_f64() / (length * unit)
}
