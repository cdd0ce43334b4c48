// The four scalars and what the kernels need of them: real and complex numbers under the same names.
// Takes nothing but the compiler's own types, so that NVRTC (device) and g++ with host/shim.hpp (tests) both compile it.
#pragma once

// Modules are compiled for one scalar each (build.py), which keeps what a driver has to translate at start small; on the host for all.
#if !defined(SCALAR_f32) && !defined(SCALAR_f64) && !defined(SCALAR_c32) && !defined(SCALAR_c64)
#define SCALAR_f32
#define SCALAR_f64
#define SCALAR_c32
#define SCALAR_c64
#endif

// Before a loop over registers.
#ifdef __CUDACC__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

template <typename R> struct Complex {
    R re, im;
};

// The real type of a scalar.
template <typename T> struct RealOf { using type = T; };
template <typename R> struct RealOf<Complex<R>> { using type = R; };
template <typename T> using Real = typename RealOf<T>::type;

// Least normal number; squares between LOW and 1 / LOW have lost nothing; a column whose squares sum to a number between SAFE and
// 1 / SAFE can be multiplied with any other before it is scaled.
template <typename R> struct Limits;
template <> struct Limits<float> {
    static __device__ float least() { return 1.17549435e-38f; }
    static __device__ float low() { return 1e-24f; }
    static __device__ float safe() { return 1e-16f; }
};
template <> struct Limits<double> {
    static __device__ double least() { return 2.2250738585072014e-308; }
    static __device__ double low() { return 1e-200; }
    static __device__ double safe() { return 1e-100; }
};

static __device__ inline float root(float x) { return sqrtf(x); }
static __device__ inline double root(double x) { return sqrt(x); }
static __device__ inline float absolute(float x) { return fabsf(x); }
static __device__ inline double absolute(double x) { return fabs(x); }
static __device__ inline float with_sign(float x, float of) { return copysignf(x, of); }
static __device__ inline double with_sign(double x, double of) { return copysign(x, of); }

template <typename R> static __device__ inline R absolute(Complex<R> x) {
    // Neither overflows nor underflows on the way.
    R a = absolute(x.re), b = absolute(x.im);
    R top = a > b || a != a ? a : b, low = a > b || a != a ? b : a;
    if (top == R(0)) return top;
    R q = low / top;
    return top * root(R(1) + q * q);
}

template <typename R> static __device__ inline R real(R x) { return x; }
template <typename R> static __device__ inline R real(Complex<R> x) { return x.re; }
template <typename R> static __device__ inline R square(R x) { return x * x; }
template <typename R> static __device__ inline R square(Complex<R> x) { return x.re * x.re + x.im * x.im; }
static __device__ inline float conjugate(float x) { return x; }
static __device__ inline double conjugate(double x) { return x; }
template <typename R> static __device__ inline Complex<R> conjugate(Complex<R> x) { return {x.re, -x.im}; }

template <typename T> struct Make {
    static __device__ T of(T x) { return x; }
};
template <typename R> struct Make<Complex<R>> {
    static __device__ Complex<R> of(R x) { return {x, R(0)}; }
};

template <typename R> static __device__ inline Complex<R> operator+(Complex<R> a, Complex<R> b) {
    return {a.re + b.re, a.im + b.im};
}
template <typename R> static __device__ inline Complex<R> operator-(Complex<R> a, Complex<R> b) {
    return {a.re - b.re, a.im - b.im};
}
template <typename R> static __device__ inline Complex<R> operator-(Complex<R> a) { return {-a.re, -a.im}; }
template <typename R> static __device__ inline Complex<R> operator*(Complex<R> a, Complex<R> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
static __device__ inline float scaled(float a, float by) { return a * by; }
static __device__ inline double scaled(double a, double by) { return a * by; }
template <typename R> static __device__ inline Complex<R> scaled(Complex<R> a, R by) {
    return {a.re * by, a.im * by};
}

// 1 / x by Smith's rule.
static __device__ inline float inverse(float x) { return 1.0f / x; }
static __device__ inline double inverse(double x) { return 1.0 / x; }
template <typename R> static __device__ inline Complex<R> inverse(Complex<R> x) {
    if (absolute(x.re) >= absolute(x.im)) {
        R q = x.im / x.re, d = x.re + x.im * q;
        return {R(1) / d, -q / d};
    }
    R q = x.re / x.im, d = x.re * q + x.im;
    return {q / d, R(-1) / d};
}

static __device__ inline float shuffle_xor(float x, int lane) { return __shfl_xor_sync(0xffffffffu, x, lane); }
static __device__ inline double shuffle_xor(double x, int lane) { return __shfl_xor_sync(0xffffffffu, x, lane); }
template <typename R> static __device__ inline Complex<R> shuffle_xor(Complex<R> x, int lane) {
    return {shuffle_xor(x.re, lane), shuffle_xor(x.im, lane)};
}

// The sum over the 32 lanes of a warp, in every lane.
template <typename T> static __device__ inline T warp_sum(T x) {
    for (int lane = 16; lane > 0; lane /= 2) x = x + shuffle_xor(x, lane);
    return x;
}

// The larger; NaN if one of them is.
template <typename R> static __device__ inline R larger(R a, R b) { return a > b || a != a ? a : b; }

template <typename R> static __device__ inline R warp_largest(R x) {
    for (int lane = 16; lane > 0; lane /= 2) x = larger(x, shuffle_xor(x, lane));
    return x;
}
