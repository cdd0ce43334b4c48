//! The 27-point stencil of a control problem: wider than tall, full row rank.

use super::build::{Built, Triplets};

/// Weight of a neighbour by the number of axes along which it is off.
const WEIGHTS: [f64; 4] = [200.0, -16.0, -8.0, -1.0];

/// `stencil27-<k>`: a row for each of k^3 inner cells, a column for each of the (k + 2)^3 cells with their border.
pub(super) fn stencil27(args: &[usize], _seed: u64) -> Built {
    let (k, q) = (args[0], args[0] + 2);
    let mut out = Triplets::with_capacity(27 * k.pow(3));
    for row in 0..k.pow(3) {
        let cell = [row / (k * k), row / k % k, row % k];
        for d in 0..27 {
            // Offsets 0, 1, 2 stand for -1, 0, 1: the border shifts every index by one.
            let offset = [d / 9, d / 3 % 3, d % 3];
            let col = (0..3).fold(0, |col, axis| col * q + cell[axis] + offset[axis]);
            let off = offset.iter().filter(|&&o| o != 1).count();
            out.push(row, col, WEIGHTS[off]);
        }
    }
    out.finish(k.pow(3), q.pow(3))
}

pub(super) fn work(args: &[usize]) -> f64 {
    27.0 * (args[0] as f64).powi(3)
}
