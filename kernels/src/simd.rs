//! Vectors of scalars, for generic code that pulp compiles once for each instruction set.
//!
//! A function that takes `S: Simd` has to be `#[inline(always)]` down from `Arch::dispatch`: what is not inlined is
//! compiled without the instruction set's features. pulp looks up what the machine has once, and holds the unsafe code.

use num_complex::Complex;
use pulp::{Arch, Simd};
use std::sync::OnceLock;
use treeqr_matrices::Scalar;

/// The instruction set: the best that the machine has, looked up once.
///
/// For tests of the others, the environment variable `TREEQR_SIMD` may hold `scalar`, or on x86-64 `avx2`. faer's products
/// don't ask it.
pub fn arch() -> Arch {
    static ARCH: OnceLock<Arch> = OnceLock::new();
    *ARCH.get_or_init(|| match std::env::var("TREEQR_SIMD").as_deref() {
        Ok("scalar") => Arch::Scalar,
        #[cfg(target_arch = "x86_64")]
        Ok("avx2") => pulp::x86::V3::try_new().map_or_else(Arch::new, Arch::V3),
        _ => Arch::new(),
    })
}

/// A scalar that comes in vectors.
pub trait Lanes: Scalar {
    /// A vector of scalars, one register wide.
    type V<S: Simd>: Copy;

    /// x in every lane.
    fn splat<S: Simd>(s: S, x: Self) -> Self::V<S>;
    /// a b
    fn vmul<S: Simd>(s: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S>;
    /// a b + c. The first factor is the better one to stay the same in a loop.
    fn fma<S: Simd>(s: S, a: Self::V<S>, b: Self::V<S>, c: Self::V<S>) -> Self::V<S>;
    /// conj(a) b + c. The first factor is the better one to stay the same in a loop.
    fn conj_fma<S: Simd>(s: S, a: Self::V<S>, b: Self::V<S>, c: Self::V<S>) -> Self::V<S>;
    /// The sum over the lanes.
    fn reduce<S: Simd>(s: S, a: Self::V<S>) -> Self;
    /// The elements of a slice shorter than a vector, then zeros.
    fn partial_load<S: Simd>(s: S, x: &[Self]) -> Self::V<S>;
    /// Writes the first lanes to a slice shorter than a vector.
    fn partial_store<S: Simd>(s: S, x: &mut [Self], a: Self::V<S>);
    /// The whole vectors of a slice, and what is left.
    fn vectors<S: Simd>(x: &[Self]) -> (&[Self::V<S>], &[Self]);
    /// The whole vectors of a slice, and what is left.
    fn vectors_mut<S: Simd>(x: &mut [Self]) -> (&mut [Self::V<S>], &mut [Self]);
}

/// Scalars in a vector.
#[inline(always)]
pub fn lanes<S: Simd, T: Lanes>() -> usize {
    size_of::<T::V<S>>() / size_of::<T>()
}

macro_rules! lanes {
    ($t:ty, $v:ident, $splat:ident, $mul:ident, $fma:ident, $conj_fma:ident, $sum:ident, $load:ident, $store:ident, $as:ident, $as_mut:ident) => {
        impl Lanes for $t {
            type V<S: Simd> = S::$v;
            #[inline(always)]
            fn splat<S: Simd>(s: S, x: Self) -> S::$v {
                s.$splat(x)
            }
            #[inline(always)]
            fn vmul<S: Simd>(s: S, a: S::$v, b: S::$v) -> S::$v {
                s.$mul(a, b)
            }
            #[inline(always)]
            fn fma<S: Simd>(s: S, a: S::$v, b: S::$v, c: S::$v) -> S::$v {
                s.$fma(a, b, c)
            }
            #[inline(always)]
            fn conj_fma<S: Simd>(s: S, a: S::$v, b: S::$v, c: S::$v) -> S::$v {
                s.$conj_fma(a, b, c)
            }
            #[inline(always)]
            fn reduce<S: Simd>(s: S, a: S::$v) -> Self {
                s.$sum(a)
            }
            #[inline(always)]
            fn partial_load<S: Simd>(s: S, x: &[Self]) -> S::$v {
                s.$load(x)
            }
            #[inline(always)]
            fn partial_store<S: Simd>(s: S, x: &mut [Self], a: S::$v) {
                s.$store(x, a)
            }
            #[inline(always)]
            fn vectors<S: Simd>(x: &[Self]) -> (&[S::$v], &[Self]) {
                S::$as(x)
            }
            #[inline(always)]
            fn vectors_mut<S: Simd>(x: &mut [Self]) -> (&mut [S::$v], &mut [Self]) {
                S::$as_mut(x)
            }
        }
    };
}

lanes!(
    f32,
    f32s,
    splat_f32s,
    mul_f32s,
    mul_add_e_f32s,
    mul_add_e_f32s,
    reduce_sum_f32s,
    partial_load_f32s,
    partial_store_f32s,
    as_simd_f32s,
    as_mut_simd_f32s
);
lanes!(
    f64,
    f64s,
    splat_f64s,
    mul_f64s,
    mul_add_e_f64s,
    mul_add_e_f64s,
    reduce_sum_f64s,
    partial_load_f64s,
    partial_store_f64s,
    as_simd_f64s,
    as_mut_simd_f64s
);
lanes!(
    Complex<f32>,
    c32s,
    splat_c32s,
    mul_c32s,
    mul_add_e_c32s,
    conj_mul_add_e_c32s,
    reduce_sum_c32s,
    partial_load_c32s,
    partial_store_c32s,
    as_simd_c32s,
    as_mut_simd_c32s
);
lanes!(
    Complex<f64>,
    c64s,
    splat_c64s,
    mul_c64s,
    mul_add_e_c64s,
    conj_mul_add_e_c64s,
    reduce_sum_c64s,
    partial_load_c64s,
    partial_store_c64s,
    as_simd_c64s,
    as_mut_simd_c64s
);
