//! Sizes of vectors: the 2-norm, the largest entry, and whether all are numbers.
//!
//! In eight sums, or maxima, next to each other: one would wait for itself at every entry, and reading them is what should take the time.

use crate::scalar::{RealScalar, Scalar};

/// Sums next to each other.
const LANES: usize = 8;
/// Entries that are looked at before anything is decided.
const BLOCK: usize = 4096;

/// Folds entry k into lane k modulo their number, and these into one.
#[inline(always)]
fn in_lanes<T: Scalar>(
    x: &[T],
    take: impl Fn(T::Real, T) -> T::Real,
    join: impl Fn(T::Real, T::Real) -> T::Real,
) -> T::Real {
    if x.len() < LANES {
        return x.iter().fold(T::Real::zero(), |all, &v| take(all, v));
    }
    let mut lanes = [T::Real::zero(); LANES];
    let chunks = x.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, &v) in lanes.iter_mut().zip(chunk) {
            *lane = take(*lane, v);
        }
    }
    for (lane, &v) in lanes.iter_mut().zip(rest) {
        *lane = take(*lane, v);
    }
    lanes.into_iter().fold(T::Real::zero(), join)
}

/// The largest magnitude of a real or imaginary part; NaN is passed over. 0 for no entries.
pub fn largest_part<T: Scalar>(x: &[T]) -> T::Real {
    let of = |v: T| v.re().abs().max(v.im().abs());
    let larger = |a: T::Real, b: T::Real| if b > a { b } else { a };
    in_lanes(x, |all, v| larger(all, of(v)), larger)
}

/// The 2-norm of a vector, safe from overflow and underflow; not finite if an entry is not.
pub fn norm2<T: Scalar>(x: &[T]) -> T::Real {
    let sum = in_lanes(x, |all, v| all + v.abs2(), |a, b| a + b);
    match is_safe(sum) {
        true => sum.sqrt(),
        false => scaled_norm2(x),
    }
}

/// Whether no square in the sum overflowed, and those that underflowed are below its last digit.
fn is_safe<R: RealScalar>(sum: R) -> bool {
    sum.is_finite() && sum * R::EPSILON * R::EPSILON > R::MIN_POSITIVE
}

#[cold]
fn scaled_norm2<T: Scalar>(x: &[T]) -> T::Real {
    let largest = largest_part(x);
    if largest == T::Real::zero() {
        // 0, or NaN if there is one.
        return x.iter().fold(largest, |all, v| all + v.abs2());
    }
    if !largest.is_finite() {
        return largest;
    }
    // Dividing by a subnormal would overflow; its magnitude is lost to scaling anyway.
    let scale = largest.max(T::Real::MIN_POSITIVE);
    let by = T::Real::one() / scale;
    let sum = in_lanes(x, |all, v| all + v.scale(by).abs2(), |a, b| a + b);
    scale * sum.sqrt()
}

/// The place of the first entry that is NaN or infinite, if there is one.
pub fn first_non_finite<T: Scalar>(x: &[T]) -> Option<usize> {
    let is_bad = |v: &T| !v.is_finite();
    let mut blocks = x.chunks(BLOCK).enumerate();
    let has_bad = |block: &[T]| block.iter().fold(false, |bad, v| bad | is_bad(v));
    let (k, block) = blocks.find(|(_, block)| has_bad(block))?;
    let place = block.iter().position(is_bad).expect("one of the block");
    Some(k * BLOCK + place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    #[test]
    fn sizes_are_those_of_one_sum_for_all_lengths() {
        for len in (0..40).chain([4095, 4096, 4097, 9000]) {
            let x: Vec<f64> = (0..len).map(|k| ((k * k) as f64 * 0.7).sin()).collect();
            let simple = x.iter().map(|v| v * v).sum::<f64>().sqrt();
            let most = x.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            assert!((norm2(&x) - simple).abs() <= 1e-14 * simple, "{len}");
            assert_eq!(largest_part(&x), most);
            assert_eq!(first_non_finite(&x), None);
            let tiny: Vec<f64> = x.iter().map(|v| v * 1e-300).collect();
            assert!((norm2(&tiny) - simple * 1e-300).abs() <= 1e-314 * (1.0 + simple));
            for bad in [f64::NAN, f64::NEG_INFINITY] {
                for place in [0, len / 2, len - len.min(1)] {
                    let mut x = x.clone();
                    x.push(0.0);
                    x[place] = bad;
                    assert_eq!(first_non_finite(&x), Some(place));
                    x.push(bad);
                    assert_eq!(first_non_finite(&x), Some(place));
                    assert_eq!(largest_part(&x).is_infinite(), bad.is_infinite());
                    assert!(!norm2(&x).is_finite());
                }
            }
        }
        let x = [Complex::new(3f32, -4.0), Complex::new(0.0, 12.0)];
        assert_eq!((norm2(&x), largest_part(&x)), (13.0, 12.0));
    }
}
