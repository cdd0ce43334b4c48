//! The numbers that the whole solver is generic over: `f32`, `f64`, [`c32`] and [`c64`].
//!
//! The trait holds arithmetic and the few properties that algorithms ask for; it knows no SIMD and no matrix product
//! (that is `KernelScalar` in the kernels crate) and no file format.

use num_complex::Complex;
use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// Single-precision complex number.
#[allow(non_camel_case_types)]
pub type c32 = Complex<f32>;
/// Double-precision complex number.
#[allow(non_camel_case_types)]
pub type c64 = Complex<f64>;

/// A real or complex floating-point number.
pub trait Scalar:
    Copy
    + Send
    + Sync
    + 'static
    + Debug
    + Display
    + PartialEq
    + Default
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Sum
{
    /// The real numbers of the same precision.
    type Real: RealScalar;

    /// True for the complex types.
    const IS_COMPLEX: bool;
    /// What LAPACK and users call the type: `f64`, `c32`, ...
    const NAME: &'static str;

    /// The additive identity.
    fn zero() -> Self;
    /// The multiplicative identity.
    fn one() -> Self;
    /// The complex conjugate; the number itself for the real types.
    fn conj(self) -> Self;
    /// The real part.
    fn re(self) -> Self::Real;
    /// The imaginary part, zero for the real types.
    fn im(self) -> Self::Real;
    /// A real number as this type.
    fn from_real(re: Self::Real) -> Self;
    /// The number nearest to `re + i im`; the imaginary part is ignored by the real types.
    fn from_f64(re: f64, im: f64) -> Self;
    /// The modulus, without overflow or underflow in between.
    fn abs(self) -> Self::Real;
    /// The squared modulus.
    fn abs2(self) -> Self::Real;
    /// True when neither part is NaN or infinite.
    fn is_finite(self) -> bool;
    /// The product with a real number.
    fn scale(self, by: Self::Real) -> Self;
}

/// A real floating-point number, with the machine constants of its precision.
pub trait RealScalar: Scalar<Real = Self> + PartialOrd {
    /// Distance from 1 to the next larger number (`f64::EPSILON`).
    const EPSILON: Self;
    /// The smallest positive normal number.
    const MIN_POSITIVE: Self;
    /// The largest finite number.
    const MAX: Self;

    /// The square root.
    fn sqrt(self) -> Self;
    /// As a double.
    fn to_f64(self) -> f64;
    /// The larger of the two; the other when one is NaN.
    fn max(self, other: Self) -> Self;
    /// The magnitude of `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
}

macro_rules! real {
    ($t:ident) => {
        impl Scalar for $t {
            type Real = $t;
            const IS_COMPLEX: bool = false;
            const NAME: &'static str = stringify!($t);
            #[inline(always)]
            fn zero() -> Self {
                0.0
            }
            #[inline(always)]
            fn one() -> Self {
                1.0
            }
            #[inline(always)]
            fn conj(self) -> Self {
                self
            }
            #[inline(always)]
            fn re(self) -> Self {
                self
            }
            #[inline(always)]
            fn im(self) -> Self {
                0.0
            }
            #[inline(always)]
            fn from_real(re: Self) -> Self {
                re
            }
            #[inline(always)]
            fn from_f64(re: f64, _im: f64) -> Self {
                re as $t
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $t::abs(self)
            }
            #[inline(always)]
            fn abs2(self) -> Self {
                self * self
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
            #[inline(always)]
            fn scale(self, by: Self) -> Self {
                self * by
            }
        }

        impl RealScalar for $t {
            const EPSILON: Self = $t::EPSILON;
            const MIN_POSITIVE: Self = $t::MIN_POSITIVE;
            const MAX: Self = $t::MAX;
            #[inline(always)]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                $t::max(self, other)
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                $t::copysign(self, sign)
            }
        }
    };
}

macro_rules! complex {
    ($t:ident, $r:ident) => {
        impl Scalar for $t {
            type Real = $r;
            const IS_COMPLEX: bool = true;
            const NAME: &'static str = stringify!($t);
            #[inline(always)]
            fn zero() -> Self {
                Complex::new(0.0, 0.0)
            }
            #[inline(always)]
            fn one() -> Self {
                Complex::new(1.0, 0.0)
            }
            #[inline(always)]
            fn conj(self) -> Self {
                Complex::conj(&self)
            }
            #[inline(always)]
            fn re(self) -> $r {
                self.re
            }
            #[inline(always)]
            fn im(self) -> $r {
                self.im
            }
            #[inline(always)]
            fn from_real(re: $r) -> Self {
                Complex::new(re, 0.0)
            }
            #[inline(always)]
            fn from_f64(re: f64, im: f64) -> Self {
                Complex::new(re as $r, im as $r)
            }
            #[inline(always)]
            fn abs(self) -> $r {
                self.re.hypot(self.im)
            }
            #[inline(always)]
            fn abs2(self) -> $r {
                self.re * self.re + self.im * self.im
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.re.is_finite() && self.im.is_finite()
            }
            #[inline(always)]
            fn scale(self, by: $r) -> Self {
                Complex::new(self.re * by, self.im * by)
            }
        }
    };
}

real!(f32);
real!(f64);
complex!(c32, f32);
complex!(c64, f64);
