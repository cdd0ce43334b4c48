//! Quantiles: of Student's t, of a sample; the tail of chi-squared; and reproducible draws.
//!
//! Takes and gives numbers. Knows no model.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::erf::{erf_inv, erfc};

/// From so many degrees of freedom on, t comes from the normal quantile: the inverse of the incomplete beta function, which is
/// used below, loses digits as they grow.
const ALMOST_NORMAL: f64 = 1000.0;

/// The quantile of Student's t at `level` two-sided: P(|T| <= t) = level. Infinite without degrees of freedom.
///
/// Seven digits; from 1000 degrees of freedom on by the expansion in 1 / dof (Abramowitz and Stegun 26.7.5).
pub(super) fn student_t(level: f64, dof: f64) -> f64 {
    if dof < ALMOST_NORMAL {
        let t = StudentsT::new(0.0, 1.0, dof);
        return t.map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + level / 2.0));
    }
    let z = std::f64::consts::SQRT_2 * erf_inv(level);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    z + first / dof + second / (dof * dof)
}

/// P(X > x) of chi-squared with one degree of freedom.
pub(super) fn chi_squared_tail(x: f64) -> f64 {
    erfc((x.max(0.0) / 2.0).sqrt())
}

/// The median, the upper one of an even number; 0 of none. O(n).
pub(super) fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    match values {
        [] => 0.0,
        _ => *values.select_nth_unstable_by(middle, f64::total_cmp).1,
    }
}

/// SplitMix64 (Steele, Lea, Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014): the same draws on every
/// machine.
pub(super) struct Draws(u64);

impl Draws {
    pub(super) fn new(seed: u64) -> Self {
        Draws(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of 0 .. n.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((self.unit() * n as f64) as usize).min(n - 1)
    }

    /// All of `items`, or `most` of them without repetition, in their order. O(n).
    pub(super) fn some_of<T: Copy>(&mut self, items: &[T], most: usize) -> Vec<T> {
        if items.len() <= most {
            return items.to_vec();
        }
        // Each is taken with the probability that exactly `most` are taken in the end (Knuth's algorithm S).
        let mut out = Vec::with_capacity(most);
        for (k, item) in items.iter().enumerate() {
            let (wanted, left) = (most - out.len(), items.len() - k);
            if self.unit() * (left as f64) < wanted as f64 {
                out.push(*item);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against printed tables, and against the closed forms for one and two degrees of freedom.
    #[test]
    fn quantiles_of_t_agree_with_tables() {
        for (level, dof, t) in [
            (0.95, 1.0, 12.706_205),
            (0.95, 2.0, 4.302_653),
            (0.95, 3.0, 3.182_446),
            (0.95, 5.0, 2.570_582),
            (0.95, 10.0, 2.228_139),
            (0.95, 30.0, 2.042_272),
            (0.95, 120.0, 1.979_930),
            (0.95, 1000.0, 1.962_339),
            (0.95, 1e6, 1.959_966),
            (0.95, 1e9, 1.959_964),
            (0.99, 5.0, 4.032_143),
            (0.99, 30.0, 2.749_996),
            (0.90, 10.0, 1.812_461),
            (0.999, 20.0, 3.849_516),
        ] {
            let ours = student_t(level, dof);
            assert!((ours - t).abs() < 2e-6 * t, "{level} {dof}: {ours}");
        }
        // One degree: tan(pi level / 2). Two: level sqrt(2 / (1 - level^2)).
        for level in [0.05, 0.5, 0.65, 0.8, 0.95] {
            let one = (std::f64::consts::FRAC_PI_2 * level).tan();
            assert!((student_t(level, 1.0) - one).abs() < 1e-8 * one);
            let two = level * (2.0 / (1.0 - level * level)).sqrt();
            assert!((student_t(level, 2.0) - two).abs() < 1e-8 * two);
        }
        assert_eq!(student_t(0.95, 0.0), f64::INFINITY);
        // No step between the two ways.
        for level in [0.1, 0.65, 0.95, 0.999] {
            let (below, above) = (student_t(level, 999.999), student_t(level, 1000.0));
            assert!((below - above).abs() < 1e-6 * above, "{below} {above}");
        }
    }

    #[test]
    fn tail_of_chi_squared_agrees_with_tables() {
        for (x, p) in [(3.841_459, 0.05), (6.634_897, 0.01), (0.0, 1.0)] {
            assert!((chi_squared_tail(x) - p).abs() < 1e-6);
        }
    }

    #[test]
    fn medians() {
        assert_eq!(median(&mut []), 0.0);
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
    }

    #[test]
    fn samples_have_the_size_asked_for_and_no_repetition() {
        let items: Vec<usize> = (0..1000).collect();
        let some = Draws::new(3).some_of(&items, 100);
        assert_eq!(some.len(), 100);
        assert!(some.is_sorted_by(|a, b| a < b));
        assert_eq!(some, Draws::new(3).some_of(&items, 100));
        assert_ne!(some, Draws::new(4).some_of(&items, 100));
        assert_eq!(Draws::new(3).some_of(&items, 1000), items);
        let mean = some.iter().sum::<usize>() / 100;
        assert!((350..650).contains(&mean), "{mean}");
    }
}
