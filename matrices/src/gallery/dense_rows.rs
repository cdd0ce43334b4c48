//! A network of differences, and measurements that see most of it at once.

use super::build::{Built, Triplets};
use super::random::Random;

/// `dense-rows-<n>x<k>`: n unknowns on a grid that is about square, a row with two entries for each pair of neighbours, and k dense
/// rows: the first sees all unknowns, each other one a part of them between 30 and 100 per cent. The differences alone leave a
/// constant free, which the dense rows fix: the rank is n, and n - 1 without them.
pub(super) fn dense_rows(args: &[usize], seed: u64) -> Built {
    let (n, k) = (args[0], args[1]);
    let width = ((n as f64).sqrt().ceil() as usize).max(1);
    let mut random = Random::new(seed);
    let mut out = Triplets::with_capacity(4 * n + n * k);
    let mut row = 0;
    for i in 0..n {
        let right = (i + 1) % width != 0;
        for (j, is_neighbour) in [(i + 1, right), (i + width, true)] {
            if is_neighbour && j < n {
                let weight = 1.0 + 9.0 * random.uniform();
                out.push(row, i, -weight);
                out.push(row, j, weight);
                row += 1;
            }
        }
    }
    for dense in 0..k {
        let share = match dense {
            0 => 1.0,
            _ => 0.3 + 0.7 * random.uniform(),
        };
        for j in 0..n {
            if dense == 0 || random.chance(share) {
                // Positive: no such row is blind to the constant.
                out.push(row, j, 0.5 + random.uniform());
            }
        }
        row += 1;
    }
    out.finish(row, n)
}

pub(super) fn work(args: &[usize]) -> f64 {
    4.0 * args[0] as f64 + args[0] as f64 * args[1] as f64
}
