//! Convection and diffusion on a square: square, unsymmetric, regular.

use super::build::{Built, Triplets};

/// Strength of the wind that blows along both axes.
const WIND: f64 = 0.7;

/// `conv2d-<k>`: the 5-point stencil on k x k cells, upwinded.
pub(super) fn conv2d(args: &[usize], _seed: u64) -> Built {
    let k = args[0];
    let mut out = Triplets::with_capacity(5 * k * k);
    for cell in 0..k * k {
        let (x, y) = (cell / k, cell % k);
        out.push(cell, cell, 4.0 + 2.0 * WIND);
        let neighbours = [
            (x > 0, cell.wrapping_sub(k), -1.0 - WIND),
            (x + 1 < k, cell + k, -1.0),
            (y > 0, cell.wrapping_sub(1), -1.0 - WIND),
            (y + 1 < k, cell + 1, -1.0),
        ];
        for (_, neighbour, weight) in neighbours.into_iter().filter(|n| n.0) {
            out.push(cell, neighbour, weight);
        }
    }
    out.finish(k * k, k * k)
}

pub(super) fn work(args: &[usize]) -> f64 {
    5.0 * (args[0] as f64).powi(2)
}
