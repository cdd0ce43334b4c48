//! Powers of two between the numbers that callers have and those that are computed with.
//!
//! Takes vectors; says by what power of two they are brought to about 1 where they are so small or so large that squares and
//! products leave the format, and in single precision always. Workers flush denormal numbers to zero: a matrix of nothing else would
//! vanish. In double precision what is of ordinary size stays as it is, to the bit; the rest comes out as it would if it were, but for
//! what the format can't hold.

use std::borrow::Cow;
use treeqr_matrices::{Csc, RealScalar, Scalar, largest_part};

/// The power of two of the largest entry: in double precision where that is beyond the powers +-1/6 of the format's largest, 2^170; in
/// single precision, which has few powers, always. Zero for what is of ordinary size, all zero, or not finite.
///
/// So what rounding leaves of an entry does not come near to where kernels take care (`treeqr-kernels`, householder.rs) for one
/// scaling of the matrix alone: there a reflector is rounded in another way.
pub(crate) fn exponent<T: Scalar>(values: &[T]) -> i32 {
    exponent_of(&[values])
}

/// The same of several slices together.
pub(crate) fn exponent_of<T: Scalar>(parts: &[&[T]]) -> i32 {
    let largest = parts.iter().map(|part| largest_part(part).to_f64());
    let largest = largest.fold(0.0, f64::max);
    if largest == 0.0 || !largest.is_finite() {
        return 0;
    }
    let exponent = floor_log2(largest);
    let limit = match size_of::<T::Real>() {
        4 => 0,
        _ => floor_log2(<T::Real as RealScalar>::MAX.to_f64()) / 6,
    };
    if exponent.abs() > limit { exponent } else { 0 }
}

/// The exponent of the largest power of two that is no larger than a positive number.
pub(crate) fn floor_log2(x: f64) -> i32 {
    const BIAS: i32 = 1023;
    let power = |x: f64| ((x.to_bits() >> 52) & 0x7ff) as i32 - BIAS;
    if x < f64::MIN_POSITIVE {
        power(x * 2f64.powi(60)) - 60
    } else {
        power(x)
    }
}

/// The matrix as it is computed with, where that is not as it is, and the power of two by which it is smaller. O(nnz).
pub(crate) fn ordinary<T: Scalar>(a: &Csc<T>) -> (Cow<'_, Csc<T>>, i32) {
    let exponent = exponent(a.values());
    if exponent == 0 {
        return (Cow::Borrowed(a), 0);
    }
    let values = a.values().iter().map(|&v| shifted(v, -exponent)).collect();
    let scaled = Csc::new(a.pattern().clone(), values).expect("a value for each");
    (Cow::Owned(scaled), exponent)
}

/// The same for columns of `len` entries, each by itself.
pub(crate) fn ordinary_columns<T: Scalar>(b: &[T], len: usize) -> (Cow<'_, [T]>, Vec<i32>) {
    let columns = b.chunks_exact(len.max(1));
    let exponents: Vec<i32> = columns.map(exponent).collect();
    if exponents.iter().all(|&e| e == 0) {
        return (Cow::Borrowed(b), exponents);
    }
    let mut scaled = b.to_vec();
    shift_columns(&mut scaled, len, exponents.iter().map(|e| -e));
    (Cow::Owned(scaled), exponents)
}

/// Multiplies each column of `len` entries by 2 to its power.
pub(crate) fn shift_columns<T: Scalar>(x: &mut [T], len: usize, by: impl Iterator<Item = i32>) {
    for (column, by) in x.chunks_exact_mut(len.max(1)).zip(by) {
        if by != 0 {
            column.iter_mut().for_each(|v| *v = shifted(*v, by));
        }
    }
}

/// v 2^by.
pub(crate) fn shifted<T: Scalar>(v: T, by: i32) -> T {
    if by == 0 {
        return v;
    }
    T::from_f64(shift(v.re().to_f64(), by), shift(v.im().to_f64(), by))
}

/// x 2^by, exact where the result is a normal number. The factor itself may not be one.
pub(crate) fn shift(mut x: f64, mut by: i32) -> f64 {
    const MOST: i32 = 1000;
    let power = |k: i32| f64::from_bits(((1023 + k) as u64) << 52);
    // Nothing is left, or all is too large, after a few of these.
    for _ in 0..4 {
        let part = by.clamp(-MOST, MOST);
        x *= power(part);
        by -= part;
        if by == 0 {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use treeqr_matrices::{c32, c64};

    #[test]
    fn shifts_are_exact_over_the_whole_range() {
        assert_eq!(shift(3.0, 10), 3072.0);
        assert_eq!(shift(f64::MIN_POSITIVE, 2045), 2f64.powi(1023));
        assert_eq!(shift(shift(1.5e300, -2000), 2000), 1.5e300);
        assert_eq!(shift(shift(1.5e-300, -2000), 2000), 0.0);
        assert_eq!(shift(5e-324, 1074), 1.0);
        assert_eq!(shift(1.0, i32::MAX), f64::INFINITY);
        assert_eq!(shift(1.0, i32::MIN), 0.0);
    }

    #[test]
    fn only_what_is_far_from_one_is_shifted() {
        assert_eq!(exponent::<f64>(&[]), 0);
        assert_eq!(exponent(&[0.0, 1e-320, 3.0]), 0);
        assert_eq!(exponent(&[1e50, -1e-90]), 0);
        assert_eq!(exponent(&[2f64.powi(-400), 0.0]), -400);
        assert_eq!(exponent(&[-3.0 * 2f64.powi(900)]), 901);
        assert_eq!(exponent(&[5e-324]), -1074);
        assert_eq!(exponent(&[f64::INFINITY]), 0);
        assert_eq!(exponent(&[1.9f32, 1.0]), 0);
        assert_eq!(exponent(&[1e6f32, 1.0]), 19);
        assert_eq!(exponent(&[1e-45f32]), -149);
        assert_eq!(exponent(&[c32::new(0.0, 1e30)]), 99);
        let columns = [c64::new(0.0, 5e-324), 1.0.into()];
        let (b, by) = ordinary_columns(&columns, 1);
        assert_eq!(
            (&b[..], &by[..]),
            (&[c64::new(0.0, 1.0), 1.0.into()][..], &[-1074, 0][..])
        );
    }
}
