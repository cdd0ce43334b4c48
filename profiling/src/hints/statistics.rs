//! The few statistics that rules need.
//!
//! Takes numbers; gives estimates with how sure they are. Knows no task.

/// The median; the mean of the middle two of an even number. None of nothing. O(n).
pub(super) fn median(values: &mut [f64]) -> Option<f64> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let (below, &mut middle, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    if n % 2 == 1 {
        return Some(middle);
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(0.5 * (lower + middle))
}

/// By how much the first values lie above the second: the smallest difference of their lower quartiles, medians and upper quartiles, so
/// that two kinds of values, mixed in other parts here and there, are no shift. With it the number of standard errors: that of a
/// quartile of n normal values is 1.36 sigma / sqrt(n), and sigma is 1.4826 median absolute deviations. None where one has no
/// values. O(n log n).
pub(super) fn shift(a: &mut [f64], b: &mut [f64]) -> Option<(f64, f64)> {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let quartile =
        |values: &[f64], k: usize| values.get(k * values.len().checked_sub(1)? / 4).copied();
    let mut least = f64::INFINITY;
    for k in 1..4 {
        least = least.min(quartile(a, k)? - quartile(b, k)?);
    }
    let error = |values: &[f64], middle: f64| {
        let mut off: Vec<f64> = values.iter().map(|v| (v - middle).abs()).collect();
        let sigma = 1.4826 * median(&mut off).unwrap_or(0.0).max(SMALLEST);
        (1.36 * sigma).powi(2) / values.len() as f64
    };
    let square = error(a, quartile(a, 2)?) + error(b, quartile(b, 2)?);
    Some((least, least / square.sqrt()))
}

/// Values that agree to the last digit are not infinitely sure.
const SMALLEST: f64 = 1e-3;

/// Deviations by which the share a of n is above the share b of m, both estimated together (the pooled two-proportion test).
pub(super) fn share_above(a: usize, n: usize, b: usize, m: usize) -> f64 {
    if n == 0 || m == 0 {
        return 0.0;
    }
    let pooled = (a + b) as f64 / (n + m) as f64;
    let square = pooled * (1.0 - pooled) * (1.0 / n as f64 + 1.0 / m as f64);
    let difference = a as f64 / n as f64 - b as f64 / m as f64;
    if square > 0.0 {
        difference / square.sqrt()
    } else {
        0.0
    }
}

/// One observation: y at (x, z).
pub(super) type Observed = (f64, f64, f64);

/// c in y = a + b x + c z by least squares, and its t-value; points further than five robust deviations off the first fit are
/// left out of the second. None where x and z do not determine it. O(n).
pub(super) fn partial_slope(points: &[Observed]) -> Option<(f64, f64)> {
    let first = Plane::of(points)?;
    let mut off: Vec<f64> = points.iter().map(|p| first.residual(p).abs()).collect();
    let limit = 5.0 * 1.4826 * median(&mut off)?.max(SMALLEST);
    let near = |p: &&Observed| first.residual(p).abs() <= limit;
    let kept: Vec<_> = points.iter().filter(near).copied().collect();
    let plane = Plane::of(&kept)?;
    let freedom = kept.len() as f64 - 3.0;
    if freedom < 1.0 {
        return None;
    }
    let squares: f64 = kept.iter().map(|p| plane.residual(p).powi(2)).sum();
    let sigma = (squares / freedom).sqrt().max(SMALLEST);
    Some((plane.c, plane.c / (sigma * plane.error)))
}

struct Plane {
    mean: Observed,
    b: f64,
    c: f64,
    /// Standard error of c for a scatter of 1.
    error: f64,
}

impl Plane {
    fn of(points: &[Observed]) -> Option<Self> {
        let n = points.len() as f64;
        let mean_of = |of: fn(&Observed) -> f64| points.iter().map(of).sum::<f64>() / n;
        let mean = (mean_of(|p| p.0), mean_of(|p| p.1), mean_of(|p| p.2));
        let (mut xx, mut xz, mut zz, mut xy, mut zy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for p in points {
            let (x, z, y) = (p.0 - mean.0, p.1 - mean.1, p.2 - mean.2);
            xx += x * x;
            xz += x * z;
            zz += z * z;
            xy += x * y;
            zy += z * y;
        }
        // All x the same: there is no b.
        if xx <= 1e-12 * n {
            let flat = (zz > 1e-12 * n).then(|| zz.sqrt());
            return flat.map(|root| Plane {
                mean,
                b: 0.0,
                c: zy / zz,
                error: 1.0 / root,
            });
        }
        // What of z does not follow from x.
        let own = zz - xz * xz / xx;
        if !(own > 1e-9 * zz && own > 1e-12 * n) {
            return None;
        }
        let c = (zy - xz * xy / xx) / own;
        Some(Plane {
            mean,
            b: (xy - c * xz) / xx,
            c,
            error: 1.0 / own.sqrt(),
        })
    }

    fn residual(&self, p: &Observed) -> f64 {
        p.2 - self.mean.2 - self.b * (p.0 - self.mean.0) - self.c * (p.1 - self.mean.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_their_difference() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
        let mut a: Vec<f64> = (0..100).map(|k| f64::from(k % 10) + 5.0).collect();
        let mut b: Vec<f64> = (0..100).map(|k| f64::from(k % 10)).collect();
        let (difference, sure) = shift(&mut a, &mut b).unwrap();
        assert_eq!(difference, 5.0);
        // 2.5 x 1.4826 x 1.36 x sqrt(2 / 100)
        assert!(
            (sure - 5.0 / (2.5 * 1.4826 * 1.36 * 0.02_f64.sqrt())).abs() < 0.5,
            "{sure}"
        );
        assert!(shift(&mut a, &mut []).is_none());
        // Two kinds, 40 % of the one here and 60 % there: the medians are far apart, and nothing is shifted.
        let kinds = |part: usize| -> Vec<f64> {
            (0..100).map(|k| if k < part { 0.0 } else { 9.0 }).collect()
        };
        assert_eq!(shift(&mut kinds(40), &mut kinds(60)).unwrap().0, 0.0);
    }

    #[test]
    fn shares_are_compared() {
        assert_eq!(share_above(0, 10, 0, 10), 0.0);
        assert_eq!(share_above(5, 10, 5, 10), 0.0);
        // (0.5 - 0.1) / sqrt(0.3 x 0.7 x 2 / 100)
        let z = share_above(50, 100, 10, 100);
        assert!((z - 0.4 / (0.21 * 0.02_f64).sqrt()).abs() < 1e-12);
        assert_eq!(share_above(1, 0, 0, 3), 0.0);
    }

    #[test]
    fn a_planted_slope_is_found_beside_another_and_outliers() {
        let points: Vec<Observed> = (0..200)
            .map(|k| {
                let (x, z) = (f64::from(k % 17), f64::from(k % 5));
                let noise = 0.1 * (f64::from(k * 7919 % 101) / 50.0 - 1.0);
                let far = if k % 40 == 3 { 50.0 } else { 0.0 };
                (x, z, 1.0 + 2.0 * x + 0.3 * z + noise + far)
            })
            .collect();
        let (c, t) = partial_slope(&points).unwrap();
        assert!((c - 0.3).abs() < 0.02 && t > 10.0, "{c} {t}");
        let flat: Vec<_> = points.iter().map(|p| (1.0, p.1, 0.3 * p.1)).collect();
        assert!((partial_slope(&flat).unwrap().0 - 0.3).abs() < 1e-9);
        let tied: Vec<_> = points.iter().map(|p| (p.1, p.1, p.2)).collect();
        assert!(partial_slope(&tied).is_none());
    }
}
