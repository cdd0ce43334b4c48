// Copies between blocks: V with its explicit unit triangle, what lies above a staircase, rows of C for the products and back.
//
// Every entry by itself; grid and block are of any size.
#include "scalar.cuh"
#include "stair.cuh"

#define ENTRIES(m, n)                                                                                                     \
    for (size_t e = blockIdx.x * (size_t)blockDim.x + threadIdx.x; e < (size_t)(m) * (size_t)(n);                         \
         e += (size_t)gridDim.x * blockDim.x)

// v(i, j) = 0 above the diagonal, 1 on it, a(i, j) below; the diagonal of column j is in row j + shift. Both are m x n.
template <typename T> static __device__ void copy_v(const T *a, int lda, T *v, int ldv, int m, int n, int shift) {
    ENTRIES(m, n) {
        int i = (int)(e % m), j = (int)(e / m);
        T below = i > j + shift ? a[i + (size_t)j * lda] : Make<T>::of(i == j + shift ? 1 : 0);
        v[i + (size_t)j * ldv] = below;
    }
}

// to(i, j) = a(i, j) on and above the diagonal, 0 below.
template <typename T> static __device__ void copy_upper(const T *a, int lda, T *to, int ldt, int m, int n) {
    ENTRIES(m, n) {
        int i = (int)(e % m), j = (int)(e / m);
        to[i + (size_t)j * ldt] = i <= j ? a[i + (size_t)j * lda] : Make<T>::of(0);
    }
}

// to(i, j) = a(i, j) above the staircase, 0 below it, where a may hold anything.
template <typename T>
static __device__ void copy_stair(const T *a, int lda, T *to, int ldt, int m, int n, const Stair &stair) {
    ENTRIES(m, n) {
        int i = (int)(e % m), j = (int)(e / m);
        to[i + (size_t)j * ldt] = i < stair.rows[j] ? a[i + (size_t)j * lda] : Make<T>::of(0);
    }
}

// to = a
template <typename T> static __device__ void copy(const T *a, int lda, T *to, int ldt, int m, int n) {
    ENTRIES(m, n) {
        int i = (int)(e % m), j = (int)(e / m);
        to[i + (size_t)j * ldt] = a[i + (size_t)j * lda];
    }
}

// to = to - a
template <typename T> static __device__ void subtract(const T *a, int lda, T *to, int ldt, int m, int n) {
    ENTRIES(m, n) {
        int i = (int)(e % m), j = (int)(e / m);
        T *x = to + i + (size_t)j * ldt;
        *x = *x - a[i + (size_t)j * lda];
    }
}

#define COPIES(SUFFIX, T)                                                                                                 \
    extern "C" __global__ void copy_v_##SUFFIX(const T *a, int lda, T *v, int ldv, int m, int n, int shift) {             \
        copy_v<T>(a, lda, v, ldv, m, n, shift);                                                                           \
    }                                                                                                                     \
    extern "C" __global__ void copy_upper_##SUFFIX(const T *a, int lda, T *to, int ldt, int m, int n) {                   \
        copy_upper<T>(a, lda, to, ldt, m, n);                                                                             \
    }                                                                                                                     \
    extern "C" __global__ void copy_stair_##SUFFIX(const T *a, int lda, T *to, int ldt, int m, int n, Stair stair) {      \
        copy_stair<T>(a, lda, to, ldt, m, n, stair);                                                                      \
    }                                                                                                                     \
    extern "C" __global__ void copy_##SUFFIX(const T *a, int lda, T *to, int ldt, int m, int n) {                         \
        copy<T>(a, lda, to, ldt, m, n);                                                                                   \
    }                                                                                                                     \
    extern "C" __global__ void subtract_##SUFFIX(const T *a, int lda, T *to, int ldt, int m, int n) {                     \
        subtract<T>(a, lda, to, ldt, m, n);                                                                               \
    }

#ifdef SCALAR_f32
COPIES(f32, float)
#endif
#ifdef SCALAR_f64
COPIES(f64, double)
#endif
#ifdef SCALAR_c32
COPIES(c32, Complex<float>)
#endif
#ifdef SCALAR_c64
COPIES(c64, Complex<double>)
#endif
