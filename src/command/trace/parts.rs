//! Parts of a whole in percent, rounded so that they add up to 100.

/// Each of `parts` in tenths of a percent of their sum; all together 1000, or all 0. The largest remainders are rounded up.
pub fn per_mille(parts: &[u64]) -> Vec<u32> {
    let total: u128 = parts.iter().map(|&p| u128::from(p)).sum();
    if total == 0 {
        return vec![0; parts.len()];
    }
    let exact = parts.iter().map(|&p| 1000 * u128::from(p));
    let mut out: Vec<u32> = exact.clone().map(|p| (p / total) as u32).collect();
    let mut by_remainder: Vec<(u128, usize)> = exact.map(|p| p % total).zip(0..).collect();
    by_remainder.sort_by_key(|&(remainder, index)| (std::cmp::Reverse(remainder), index));
    let missing = 1000 - out.iter().sum::<u32>();
    for &(_, index) in by_remainder.iter().take(missing as usize) {
        out[index] += 1;
    }
    out
}

/// `12.3`
pub fn tenths(per_mille: u32) -> String {
    format!("{}.{}", per_mille / 10, per_mille % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up() {
        for parts in [
            &[1, 1, 1][..],
            &[1, 0, 999_999],
            &[7; 13],
            &[u64::MAX, u64::MAX, 3],
        ] {
            assert_eq!(per_mille(parts).iter().sum::<u32>(), 1000, "{parts:?}");
        }
        assert_eq!(per_mille(&[2, 1]), [667, 333]);
        assert_eq!(per_mille(&[0, 0]), [0, 0]);
        assert_eq!(
            (tenths(0), tenths(5), tenths(1000)),
            ("0.0".into(), "0.5".into(), "100.0".into())
        );
    }
}
