//! The smallest singular values of R, estimated: a stronger test of the rank than the size of pivots.
//!
//! Takes factors; gives the smallest singular values of the live part of R, the square triangle in live columns, from above. They
//! are those of A where the rank is full. Inverse subspace iteration: a block of vectors goes through R^{-H} and R^{-1} in turn, and
//! its columns are made orthogonal by rotations (Hestenes 1958), which also gives the values.
//! L. Foster and T. Davis, *Algorithm 933: Reliable calculation of numerical rank, null space bases, pseudoinverse solutions, and
//! basic solutions using SuiteSparseQR*, ACM TOMS 40, 2013.

use crate::error::SolveError;
use crate::numeric::magnitude::shift;
use crate::numeric::{FactorScalar, Factors};
use crate::solve::SolveOptions;
use treeqr_matrices::{RealScalar, Scalar, norm2};

/// Vectors besides those that are asked for: the last of a block converge slowly.
const GUARDS: usize = 2;
/// Most rounds: neighbours in a cluster are not told apart by any number of them, but their size is right much earlier.
const ROUNDS: usize = 25;
/// Rounds end when the values change by no more than this part of theirs.
const SETTLED: f64 = 1e-3;
/// Most sweeps of rotations over a block.
const SWEEPS: usize = 30;

/// Estimates of the smallest singular values of a factorized matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct SmallSingularValues {
    /// Estimates, increasing; number i is never less than the i-th smallest singular value of R's live part, but for rounding.
    pub values: Vec<f64>,
    /// By value: some singular value is within this part of it.
    pub relative_errors: Vec<f64>,
    /// Solves with R^H and R for the whole block.
    pub rounds: usize,
}

impl<T: FactorScalar> Factors<T> {
    /// The `count` smallest singular values of the live part of R, or as many as there are. 4 (count + 2) nnz(R) flops a round, of at
    /// most 25. Q is not needed.
    ///
    /// # Errors
    /// [`SolveError::Run`]: whatever ends a run.
    pub fn small_singular_values(
        &self,
        count: usize,
        options: &SolveOptions,
    ) -> Result<SmallSingularValues, SolveError> {
        let (n, rank) = (self.symbolic().work_cols(), self.rank());
        let count = count.min(rank);
        let block = (count + GUARDS).min(rank);
        let mut out = SmallSingularValues {
            values: vec![0.0; count],
            relative_errors: vec![f64::INFINITY; count],
            rounds: 0,
        };
        if count == 0 {
            return Ok(out);
        }
        let mut v = start::<T>(n * block);
        rotate(&mut v, n, &mut []);
        let mut last: Option<(Vec<f64>, Vec<T>)> = None;
        let mut previous = vec![0.0; count];
        for round in 1..=ROUNDS {
            out.rounds = round;
            let mut u = self.solve_kept_r_adjoint(&v, block, options, &())?;
            if let Some((sizes, before)) = &last {
                // R^{-1} u = s w holds as it stands; how far R^{-H} w is from s u is the error.
                let columns = u.chunks_exact(n).zip(before.chunks_exact(n)).zip(sizes);
                let errors = columns.map(|((now, before), &size)| {
                    let by = <T::Real as Scalar>::from_f64(size, 0.0);
                    let rest: Vec<T> = (now.iter().zip(before))
                        .map(|(&now, &before)| now - before.scale(by))
                        .collect();
                    norm2(&rest).to_f64() / size / std::f64::consts::SQRT_2
                });
                let errors: Vec<f64> = errors.take(count).collect();
                let settled = previous.iter().zip(sizes);
                let settled = settled.map(|(before, size)| (size / before - 1.0).abs());
                let settled = settled.fold(0.0, f64::max) <= SETTLED;
                let (values, scale) = (sizes[..count].iter(), self.exponent);
                out.values = values.map(|s| shift(1.0 / s, scale)).collect();
                out.relative_errors = errors;
                previous.copy_from_slice(&sizes[..count]);
                if settled {
                    return Ok(out);
                }
            }
            rotate(&mut u, n, &mut []);
            v = self.solve_kept_r(&u, block, options, &())?;
            let sizes = rotate(&mut v, n, &mut u);
            if !sizes.iter().all(|&s| s.is_finite() && s > 0.0) {
                // R^{-1} overflows: R is as good as singular.
                return Ok(out);
            }
            last = Some((sizes, u));
        }
        Ok(out)
    }
}

/// Numbers about zero without any structure, the same every time: Marsaglia's xorshift.
fn start<T: Scalar>(len: usize) -> Vec<T> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut number = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    (0..len).map(|_| T::from_f64(number(), number())).collect()
}

/// Makes the columns of `block`, `n` numbers each, orthonormal by rotations, and gives their lengths before that, decreasing: its
/// singular values. `along` gets the same rotations and the same order.
fn rotate<T: FactorScalar>(block: &mut [T], n: usize, along: &mut [T]) -> Vec<f64> {
    let count = block.len() / n;
    let real = <T::Real as Scalar>::from_f64;
    // So that no square overflows; lengths are multiplied by it at the end.
    let largest = norm2(block).to_f64();
    if !(largest > 0.0 && largest.is_finite()) {
        return vec![largest; count];
    }
    (block.iter_mut()).for_each(|v| *v = v.scale(real(1.0 / largest, 0.0)));
    let negligible = <T::Real as RealScalar>::EPSILON.to_f64();
    for _ in 0..SWEEPS {
        let mut changed = false;
        for i in 0..count {
            for j in i + 1..count {
                let (a, b) = pair(block, n, i, j);
                let (alpha, beta) = (norm2(a).to_f64(), norm2(b).to_f64());
                let dot: T = a.iter().zip(&*b).map(|(a, &b)| a.conj() * b).sum();
                let gamma = Scalar::abs(dot).to_f64();
                if gamma <= negligible * alpha * beta {
                    continue;
                }
                changed = true;
                let zeta = (beta - alpha) * (beta + alpha) / (2.0 * gamma);
                let t = 1.0_f64.copysign(zeta) / (zeta.abs() + zeta.hypot(1.0));
                let cosine = 1.0 / t.hypot(1.0);
                let turn = Turn {
                    cosine: real(cosine, 0.0),
                    sine: real(cosine * t, 0.0),
                    phase: dot.scale(real(1.0 / gamma, 0.0)).conj(),
                };
                turn.apply(a, b);
                if !along.is_empty() {
                    let (a, b) = pair(along, n, i, j);
                    turn.apply(a, b);
                }
            }
        }
        if !changed {
            break;
        }
    }
    let lengths: Vec<f64> = block.chunks_exact(n).map(|c| norm2(c).to_f64()).collect();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&i, &j| lengths[j].total_cmp(&lengths[i]));
    let permuted = |all: &[T]| -> Vec<T> {
        (order.iter().flat_map(|&j| &all[j * n..(j + 1) * n]))
            .copied()
            .collect()
    };
    let sorted = permuted(block);
    block.copy_from_slice(&sorted);
    if !along.is_empty() {
        let sorted = permuted(along);
        along.copy_from_slice(&sorted);
    }
    for (column, &j) in block.chunks_exact_mut(n).zip(&order) {
        if lengths[j] > 0.0 {
            let by = real(1.0 / lengths[j], 0.0);
            column.iter_mut().for_each(|v| *v = v.scale(by));
        }
    }
    order.iter().map(|&j| lengths[j] * largest).collect()
}

/// Columns i < j.
fn pair<T>(block: &mut [T], n: usize, i: usize, j: usize) -> (&mut [T], &mut [T]) {
    let (before, from) = block.split_at_mut(j * n);
    (&mut before[i * n..(i + 1) * n], &mut from[..n])
}

/// A rotation of two columns that makes them orthogonal.
struct Turn<T: Scalar> {
    cosine: T::Real,
    sine: T::Real,
    phase: T,
}

impl<T: Scalar> Turn<T> {
    fn apply(&self, a: &mut [T], b: &mut [T]) {
        for (a, b) in a.iter_mut().zip(b) {
            let (x, y) = (*a, *b * self.phase);
            *a = x.scale(self.cosine) - y.scale(self.sine);
            *b = x.scale(self.sine) + y.scale(self.cosine);
        }
    }
}
