//! Constraints of a linear program, transposed: blocks, and a few columns that link them.

use super::build::{Built, Triplets};
use super::random::Random;

/// Rows (variables of the program) for each column (constraint).
const ROWS_PER_COLUMN: usize = 5;
/// Columns of a block.
const BLOCK: usize = 60;

/// `lp-<n>`: n columns and 6n rows. A row touches 1 to 4 columns of one block and, with probability 0.35, one or two
/// linking columns, which a power law makes popular; n more rows, one entry each, keep the column rank full.
pub(super) fn lp(args: &[usize], seed: u64) -> Built {
    let n = args[0];
    let m = ROWS_PER_COLUMN * n;
    let linking = (n / 5).max(8);
    let local = n - linking;
    let blocks = (local / BLOCK).max(1);
    let mut random = Random::new(seed);

    let mut total = 0.0;
    let up_to: Vec<f64> = (1..=linking)
        .map(|rank| {
            total += (rank as f64).powf(-0.9);
            total
        })
        .collect();

    let mut out = Triplets::with_capacity(4 * m);
    for row in 0..m {
        let block = random.below(blocks);
        for chance in [1.0, 0.7, 0.5, 0.3] {
            if random.chance(chance) {
                let col = block * BLOCK + random.below(BLOCK);
                out.push(row, col.min(local - 1), value(&mut random));
            }
        }
        for chance in [0.35, 0.15] {
            if random.chance(chance) {
                let pick = random.uniform() * total;
                let rank = up_to.partition_point(|&sum| sum <= pick);
                out.push(row, local + rank.min(linking - 1), value(&mut random));
            }
        }
    }
    for col in 0..n {
        out.push(m + col, col, 1.0);
    }
    out.finish(m + n, n)
}

/// Mostly 1 or -1, else a number with three decimals; never zero.
fn value(random: &mut Random) -> f64 {
    if random.chance(0.6) {
        return if random.chance(0.5) { 1.0 } else { -1.0 };
    }
    let value = (random.normal() * 3.0 * 1000.0).round() / 1000.0;
    if value == 0.0 { 1.0 } else { value }
}

pub(super) fn rule(args: &[usize]) -> Option<&'static str> {
    (args[0] < 10).then_some("n must be at least 10")
}

pub(super) fn work(args: &[usize]) -> f64 {
    16.0 * args[0] as f64
}
