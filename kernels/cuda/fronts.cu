// Many small fronts at once: A = Q R on the first n columns of each, Q^H applied to the others.
//
// One block of threads per front, which lies in the block's shared memory from its first step to its last; columns are dealt to warps.
// What comes out is what kernels/src/front/ leaves: R on and above the diagonal, V below it, tau.
#include "scalar.cuh"
#include "stair.cuh"
#include "reflector.cuh"

// Bytes of a front at most; kernels/src/device/fronts.rs has the same number.
#define FRONT_BYTES 40960

// Where a front lies, and its shape; kernels/src/device/fronts.rs writes the same.
struct FrontShape {
    // Of its first entry and of its first tau, in numbers.
    unsigned long long at, tau;
    // Rows, pivotal columns, all columns; where its staircase begins, a number for each pivotal column.
    int m, n, cols, stair;
};

template <typename T>
static __device__ void front(T *a, T *taus, const int *stair, FrontShape shape, T *tile, Shared<T> *shared) {
    typedef Real<T> R;
    int m = shape.m, entries = m * shape.cols, k = m < shape.n ? m : shape.n;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    for (int e = threadIdx.x; e < entries; e += blockDim.x) tile[e] = a[e];
    __syncthreads();
    for (int j = 0; j < k; j++) {
        int rows = stair[j];
        T *x = tile + j * m;
        T tau = Make<T>::of(R(0));
        if (rows > j + 1) tau = reflector(x + j, x + j + 1, rows - j - 1, shared);
        if (threadIdx.x == 0) taus[j] = tau;
        if (!(square(tau) == R(0))) {
            for (int c = j + 1 + warp; c < shape.cols; c += warps) {
                // a = a - tau^H (v^H a) v
                T *y = tile + c * m;
                T dot = Make<T>::of(R(0));
                for (int i = j + 1 + lane; i < rows; i += 32) dot = dot + conjugate(x[i]) * y[i];
                dot = warp_sum(dot);
                // Nobody else has this column: read by all lanes before one of them writes.
                T before = y[j];
                T by = conjugate(tau) * (before + dot);
                for (int i = j + 1 + lane; i < rows; i += 32) y[i] = y[i] - x[i] * by;
                __syncwarp();
                if (lane == 0) y[j] = before - by;
            }
        }
        __syncthreads();
    }
    for (int e = threadIdx.x; e < entries; e += blockDim.x) a[e] = tile[e];
    __syncthreads();
}

#define FRONTS(NAME, T)                                                                                                   \
    extern "C" __global__ void __launch_bounds__(128)                                                                     \
        NAME(T *fronts, T *taus, const int *stairs, const FrontShape *list, int count) {                                  \
        __shared__ Shared<T> shared;                                                                                      \
        __shared__ T tile[FRONT_BYTES / sizeof(T)];                                                                       \
        for (int f = blockIdx.x; f < count; f += gridDim.x) {                                                             \
            FrontShape shape = list[f];                                                                                   \
            front<T>(fronts + shape.at, taus + shape.tau, stairs + shape.stair, shape, tile, &shared);                    \
        }                                                                                                                 \
    }

#ifdef SCALAR_f32
FRONTS(fronts_f32, float)
#endif
#ifdef SCALAR_f64
FRONTS(fronts_f64, double)
#endif
#ifdef SCALAR_c32
FRONTS(fronts_c32, Complex<float>)
#endif
#ifdef SCALAR_c64
FRONTS(fronts_c64, Complex<double>)
#endif
