//! ||R^{-1}|| from below, by inverse iteration: whether R is singular to working precision, and whether it is far from that.
//!
//! Takes the two solves, with R^H and with R; knows no R. To read R is what takes the time, so two vectors go through it together. They
//! have no structure, and are the same every time.
//!
//! With columns of norm 1, and c the part of a start vector in the direction of the smallest singular value s, one step finds at least c / s^2 of the
//! norm 1 / s, or all of it where that is less. So for a step to miss it by [`FAR`] both vectors need c < s / FAR, where 1 / sqrt(n) is
//! to be expected: at the smallest s that is still called well conditioned a few millionths. One step is enough where a norm FAR times as large
//! would change nothing.

use super::tolerance::is_well_conditioned;
use crate::numeric::FactorScalar;
use treeqr_matrices::{RealScalar, Scalar, norm2};

/// Steps, at most: they end when one has added no more than this part, and when no decision hangs on the rest, even if it were so
/// much more.
const STEPS: usize = 3;
const SETTLED: f64 = 0.1;
const FAR: f64 = 64.0;

/// Vectors that go through R together: the fractional parts of multiples of these, about zero.
const STARTS: [f64; 2] = [0.618_033_988_749_895, std::f64::consts::SQRT_2];

/// ||R^{-1}|| of the live part of R, from below, for W with columns of norm `largest`. `adjoint` solves R^H u = v for as many vectors of `n`
/// entries as there are, `solve` R v = u. 4 nnz(R) flops a step and vector.
pub(crate) fn inverse_norm<T: FactorScalar, E>(
    n: usize,
    largest: f64,
    adjoint: impl Fn(&[T], usize) -> Result<Vec<T>, E>,
    solve: impl Fn(&[T], usize) -> Result<Vec<T>, E>,
) -> Result<f64, E> {
    let count = STARTS.len();
    let start = |by: f64| (0..n).map(move |k| ((k + 1) as f64 * by).fract() - 0.5);
    let starts = STARTS.iter().flat_map(|&by| start(by));
    let mut v: Vec<T> = starts.map(|x| T::from_f64(x, 0.0)).collect();
    let lengths = |v: &[T]| -> Vec<f64> {
        let columns = v.chunks_exact(n.max(1));
        columns.map(|column| norm2(column).to_f64()).collect()
    };
    let mut out: f64 = 0.0;
    for _ in 0..STEPS {
        let before = lengths(&v);
        if !before.iter().all(|b| b.is_finite()) {
            return Ok(f64::INFINITY);
        }
        for (column, &before) in v.chunks_exact_mut(n.max(1)).zip(&before) {
            let by = if before > 0.0 { 1.0 / before } else { 0.0 };
            let by = <T::Real as Scalar>::from_f64(by, 0.0);
            column.iter_mut().for_each(|x| *x = x.scale(by));
        }
        let u = adjoint(&v, count)?;
        v = solve(&u, count)?;
        // Only the live columns of v count: the start has others.
        let (middle, after) = (lengths(&u), lengths(&v));
        if !middle.iter().chain(&after).all(|l| l.is_finite()) {
            return Ok(f64::INFINITY);
        }
        let ratios = after.iter().zip(&middle).filter(|(_, m)| **m > 0.0);
        let now = ratios.map(|(a, m)| a / m).fold(0.0, f64::max);
        let settled = now <= (1.0 + SETTLED) * out;
        out = out.max(now);
        if settled || is_well_conditioned::<T>(FAR * largest * now) {
            break;
        }
    }
    Ok(out)
}
