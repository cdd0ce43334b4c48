//! What a few repetitions say: quantiles, and whether two sets of times differ.
//!
//! Takes and gives numbers. Times of runs are not normally distributed, so only their order counts here.

/// The quantile `q` (0 to 1) of `sorted`, linear between its values.
///
/// # Panics
/// If there are no values.
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let place = q * (sorted.len() - 1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

/// More values than this on both sides together, and the normal distribution is close enough.
const EXACT: usize = 60;

/// The two-sided p-value of the rank-sum test (Mann and Whitney 1947): how probable it is that two sets from one
/// distribution are at least as far apart as these. Exact for up to 60 values; ties count half. 1 for no values.
pub fn rank_sum_p(a: &[f64], b: &[f64]) -> f64 {
    let (m, n) = (a.len(), b.len());
    let below: f64 = a
        .iter()
        .flat_map(|x| b.iter().map(move |y| win(*x, *y)))
        .sum();
    let u = below.min((m * n) as f64 - below);
    if m + n > EXACT {
        return normal_p(u, m as f64, n as f64);
    }
    let counts = arrangements(m, n);
    let all: f64 = counts.iter().sum();
    let tail: f64 = counts[..=u.ceil() as usize].iter().sum();
    (2.0 * tail / all).min(1.0)
}

fn win(x: f64, y: f64) -> f64 {
    match x.total_cmp(&y) {
        std::cmp::Ordering::Less => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Greater => 0.0,
    }
}

/// For each u, in how many of the orders of m and n values u pairs are the wrong way round.
///
/// The largest value is one of the n, and so above all m, or one of the m, and so above all n: with it goes n of u.
fn arrangements(m: usize, n: usize) -> Vec<f64> {
    // by_n[j][u] for the current number of values on the first side.
    let mut by_n: Vec<Vec<f64>> = (0..=n).map(|_| vec![1.0]).collect();
    for i in 1..=m {
        let mut next = vec![vec![1.0]];
        for j in 1..=n {
            let mut counts = vec![0.0; i * j + 1];
            for (u, c) in next[j - 1].iter().enumerate() {
                counts[u] += c;
            }
            for (u, c) in by_n[j].iter().enumerate() {
                counts[u + j] += c;
            }
            next.push(counts);
        }
        by_n = next;
    }
    by_n.swap_remove(n)
}

/// The p-value with the normal distribution in place of the exact one.
fn normal_p(u: f64, m: f64, n: f64) -> f64 {
    let deviation = (m * n * (m + n + 1.0) / 12.0).sqrt();
    let z = ((m * n / 2.0 - u - 0.5) / deviation).max(0.0);
    erfc(z / std::f64::consts::SQRT_2).min(1.0)
}

/// The complementary error function for x >= 0, to 1.5e-7 (Abramowitz and Stegun 7.1.26).
fn erfc(x: f64) -> f64 {
    const A: [f64; 5] = [
        0.254_829_592,
        -0.284_496_736,
        1.421_413_741,
        -1.453_152_027,
        1.061_405_429,
    ];
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let sum = A.iter().rev().fold(0.0, |sum, a| (sum + a) * t);
    sum * (-x * x).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_few_values() {
        let values = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile(&values, 0.0), 1.0);
        assert_eq!(quantile(&values, 0.5), 3.0);
        assert_eq!(quantile(&values, 0.75), 5.0);
        assert_eq!(quantile(&values, 1.0), 8.0);
        assert_eq!(quantile(&[7.0], 0.25), 7.0);
    }

    /// By hand: of the 252 orders of 5 and 5, one has no pair the wrong way round, one has 1, two have 2, three have 3.
    #[test]
    fn few_values_are_counted_exactly() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0];
        let p = |b: [f64; 5]| rank_sum_p(&a, &b);
        assert_eq!(p([6.0, 7.0, 8.0, 9.0, 10.0]), 2.0 / 252.0);
        assert_eq!(p([4.5, 7.0, 8.0, 9.0, 10.0]), 2.0 * 2.0 / 252.0);
        assert_eq!(p([3.5, 7.0, 8.0, 9.0, 10.0]), 2.0 * 4.0 / 252.0);
        assert_eq!(p([-1.0, -2.0, -3.0, 0.0, 0.5]), 2.0 / 252.0);
        assert_eq!(p(a), 1.0);
        assert_eq!(rank_sum_p(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 0.1);
        assert_eq!(rank_sum_p(&[], &[1.0]), 1.0);
        assert_eq!(arrangements(20, 17).iter().sum::<f64>(), 15_905_368_710.0);
    }

    #[test]
    fn many_values_come_close_to_the_normal_distribution() {
        let a: Vec<f64> = (0..30).map(|k| f64::from(k * 2)).collect();
        for shift in [1.0, 9.0, 21.0] {
            let b: Vec<f64> = a.iter().map(|x| x + shift).collect();
            let u: f64 = a
                .iter()
                .flat_map(|x| b.iter().map(move |y| win(*x, *y)))
                .sum();
            let normal = normal_p(900.0 - u, 30.0, 30.0);
            assert!((rank_sum_p(&a, &b) - normal).abs() < 0.01, "{shift}");
        }
    }
}
