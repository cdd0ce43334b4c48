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
    /// a + b
    fn vadd<S: Simd>(s: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S>;
    /// a b
    fn vmul<S: Simd>(s: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S>;
    /// a b + c. The first factor is the better one to stay the same in a loop.
    fn fma<S: Simd>(s: S, a: Self::V<S>, b: Self::V<S>, c: Self::V<S>) -> Self::V<S>;
    /// conj(a) b + c. The first factor is the better one to stay the same in a loop.
    fn conj_fma<S: Simd>(s: S, a: Self::V<S>, b: Self::V<S>, c: Self::V<S>) -> Self::V<S>;
    /// A factor that many vectors are multiplied by: in every lane, its parts apart.
    type Factor<S: Simd>: Copy;
    /// A sum of products with such factors.
    type Sum<S: Simd>: Copy;
    fn factor<S: Simd>(s: S, x: Self) -> Self::Factor<S>;
    fn sum_of<S: Simd>(s: S, from: Self::V<S>) -> Self::Sum<S>;
    /// sum + x v: without shuffles, also for complex numbers. Those need vectors: on pulp's `Scalar` this panics for them.
    fn add_product<S: Simd>(
        s: S,
        x: Self::Factor<S>,
        v: Self::V<S>,
        sum: Self::Sum<S>,
    ) -> Self::Sum<S>;
    fn value<S: Simd>(s: S, sum: Self::Sum<S>) -> Self::V<S>;
    /// The sum over the lanes.
    fn reduce<S: Simd>(s: S, a: Self::V<S>) -> Self;
    /// The sum of |x|.
    fn abs_sum<S: Simd>(s: S, x: &[Self]) -> f64;
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

/// Real factors and sums are vectors.
macro_rules! real_sums {
    ($v:ident, $splat:ident, $fma:ident, $abs:ident, $add:ident) => {
        #[inline(always)]
        fn abs_sum<S: Simd>(s: S, x: &[Self]) -> f64 {
            let (body, tail) = Self::vectors::<S>(x);
            // Four sums, so that none waits for the one before.
            let mut sums = [s.$splat(0.0); 4];
            let (fours, ones) = body.as_chunks::<4>();
            for v in fours {
                for i in 0..4 {
                    sums[i] = s.$add(sums[i], s.$abs(v[i]));
                }
            }
            for (i, &v) in ones.iter().enumerate() {
                sums[i] = s.$add(sums[i], s.$abs(v));
            }
            if !tail.is_empty() {
                let tail = Self::partial_load(s, tail);
                sums[3] = s.$add(sums[3], s.$abs(tail));
            }
            let (low, high) = (s.$add(sums[0], sums[1]), s.$add(sums[2], sums[3]));
            f64::from(Self::reduce(s, s.$add(low, high)))
        }
        type Factor<S: Simd> = S::$v;
        type Sum<S: Simd> = S::$v;
        #[inline(always)]
        fn factor<S: Simd>(s: S, x: Self) -> S::$v {
            s.$splat(x)
        }
        #[inline(always)]
        fn sum_of<S: Simd>(_: S, from: S::$v) -> S::$v {
            from
        }
        #[inline(always)]
        fn add_product<S: Simd>(s: S, x: S::$v, v: S::$v, sum: S::$v) -> S::$v {
            s.$fma(x, v, sum)
        }
        #[inline(always)]
        fn value<S: Simd>(_: S, sum: S::$v) -> S::$v {
            sum
        }
    };
}

/// Complex ones are pairs: re(x) v and im(x) v are summed apart, as real vectors, and i times the second is added at the end.
macro_rules! complex_sums {
    ($v:ident, $real:ident, $splat:ident, $real_splat:ident, $real_fma:ident, $fma:ident) => {
        #[inline(always)]
        fn abs_sum<S: Simd>(_: S, x: &[Self]) -> f64 {
            x.iter().map(|v| f64::from(v.abs())).sum()
        }
        type Factor<S: Simd> = (S::$real, S::$real);
        type Sum<S: Simd> = (S::$real, S::$real);
        #[inline(always)]
        fn factor<S: Simd>(s: S, x: Self) -> (S::$real, S::$real) {
            (s.$real_splat(x.re), s.$real_splat(x.im))
        }
        #[inline(always)]
        fn sum_of<S: Simd>(s: S, from: S::$v) -> (S::$real, S::$real) {
            (pulp::bytemuck::cast(from), s.$real_splat(0.0))
        }
        #[inline(always)]
        fn add_product<S: Simd>(
            s: S,
            x: (S::$real, S::$real),
            v: S::$v,
            sum: (S::$real, S::$real),
        ) -> (S::$real, S::$real) {
            let v: S::$real = pulp::bytemuck::cast(v);
            (s.$real_fma(x.0, v, sum.0), s.$real_fma(x.1, v, sum.1))
        }
        #[inline(always)]
        fn value<S: Simd>(s: S, sum: (S::$real, S::$real)) -> S::$v {
            let i = s.$splat(Complex::I);
            let (re, im): (S::$v, S::$v) =
                (pulp::bytemuck::cast(sum.0), pulp::bytemuck::cast(sum.1));
            s.$fma(i, im, re)
        }
    };
}

macro_rules! lanes {
    ($t:ty, $v:ident, $splat:ident, $add:ident, $mul:ident, $fma:ident, $conj_fma:ident, $sum:ident, $load:ident, $store:ident, $as:ident, $as_mut:ident, $($sums:tt)*) => {
        impl Lanes for $t {
            type V<S: Simd> = S::$v;
            $($sums)*
            #[inline(always)]
            fn splat<S: Simd>(s: S, x: Self) -> S::$v {
                s.$splat(x)
            }
            #[inline(always)]
            fn vadd<S: Simd>(s: S, a: S::$v, b: S::$v) -> S::$v {
                s.$add(a, b)
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
    add_f32s,
    mul_f32s,
    mul_add_e_f32s,
    mul_add_e_f32s,
    reduce_sum_f32s,
    partial_load_f32s,
    partial_store_f32s,
    as_simd_f32s,
    as_mut_simd_f32s,
    real_sums!(f32s, splat_f32s, mul_add_e_f32s, abs_f32s, add_f32s);
);
lanes!(
    f64,
    f64s,
    splat_f64s,
    add_f64s,
    mul_f64s,
    mul_add_e_f64s,
    mul_add_e_f64s,
    reduce_sum_f64s,
    partial_load_f64s,
    partial_store_f64s,
    as_simd_f64s,
    as_mut_simd_f64s,
    real_sums!(f64s, splat_f64s, mul_add_e_f64s, abs_f64s, add_f64s);
);
lanes!(
    Complex<f32>,
    c32s,
    splat_c32s,
    add_c32s,
    mul_c32s,
    mul_add_e_c32s,
    conj_mul_add_e_c32s,
    reduce_sum_c32s,
    partial_load_c32s,
    partial_store_c32s,
    as_simd_c32s,
    as_mut_simd_c32s,
    complex_sums!(c32s, f32s, splat_c32s, splat_f32s, mul_add_e_f32s, mul_add_e_c32s);
);
lanes!(
    Complex<f64>,
    c64s,
    splat_c64s,
    add_c64s,
    mul_c64s,
    mul_add_e_c64s,
    conj_mul_add_e_c64s,
    reduce_sum_c64s,
    partial_load_c64s,
    partial_store_c64s,
    as_simd_c64s,
    as_mut_simd_c64s,
    complex_sums!(c64s, f64s, splat_c64s, splat_f64s, mul_add_e_f64s, mul_add_e_c64s);
);
