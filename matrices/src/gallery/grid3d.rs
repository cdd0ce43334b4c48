//! Gradients on a cube: a least-squares problem that fills in like any three-dimensional one.

use super::build::{Built, Triplets};
use super::random::Random;

/// Weight of the rows that see one unknown each.
const DATA_WEIGHT: f64 = 0.1;

/// `grid3d-<k>`: k^3 unknowns; a row for every pair of neighbours, axis after axis, with the difference times a random
/// conductance in [1, 1.5); then a row for every unknown with a small random weight. Full column rank.
pub(super) fn grid3d(args: &[usize], seed: u64) -> Built {
    let k = args[0];
    let mut random = Random::new(seed);
    let mut out = Triplets::with_capacity(7 * k.pow(3));
    let mut row = 0;
    for (axis, stride) in [k * k, k, 1].into_iter().enumerate() {
        for cell in 0..k.pow(3) {
            let along = [cell / (k * k), cell / k % k, cell % k][axis];
            if along + 1 < k {
                let conductance = 1.0 + 0.5 * random.uniform();
                out.push(row, cell, -conductance);
                out.push(row, cell + stride, conductance);
                row += 1;
            }
        }
    }
    for cell in 0..k.pow(3) {
        out.push(row, cell, DATA_WEIGHT * (0.5 + random.uniform()));
        row += 1;
    }
    out.finish(row, k.pow(3))
}

pub(super) fn work(args: &[usize]) -> f64 {
    7.0 * (args[0] as f64).powi(3)
}
