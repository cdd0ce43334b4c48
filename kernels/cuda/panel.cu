// One panel of geqrt or tpqrt: up to MOST_COLUMNS columns become R and V, with their triangular factor T.
//
// One block of threads per panel; columns are dealt to its warps. Step j makes reflector j from the norm of column j (a sum over
// the block), then each warp takes a column: right of j it is updated, left of j its product with v_j goes into T.
//
//   inside = 1 (geqrt)   head j is row j of the panel itself; v_j begins with the implicit 1 there
//   inside = 0 (tpqrt)   head j is row j of the triangle r above; v_j is the whole column
//
// Entries below the staircase are neither read nor written. Definitions (sign of beta, tau = 0 for the identity, H^H applied) are
// those of kernels/src/householder.rs; sums that may have overflowed or lost digits are taken again from scaled numbers.
#include "scalar.cuh"
#include "stair.cuh"

#define MOST_WARPS 32

// What the threads of the block share.
template <typename T> struct Shared {
    Real<T> sums[MOST_WARPS];
    T products[MOST_COLUMNS];
};

template <typename R> static __device__ R block_sum(R x, R *sums) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    x = warp_sum(x);
    if (lane == 0) sums[warp] = x;
    __syncthreads();
    R total = R(0);
    for (int w = 0; w < warps; w++) total = total + sums[w];
    __syncthreads();
    return total;
}

template <typename R> static __device__ R block_largest(R x, R *sums) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    x = warp_largest(x);
    if (lane == 0) sums[warp] = x;
    __syncthreads();
    R top = R(0);
    for (int w = 0; w < warps; w++) top = larger(sums[w], top);
    __syncthreads();
    return top;
}

// Turns [head; tail] into [beta; tail of v]; every thread gets tau. All threads call it.
template <typename T> static __device__ T reflector(T *head, T *tail, int n, Shared<T> *shared) {
    typedef Real<T> R;
    R part = R(0);
    for (int i = threadIdx.x; i < n; i += blockDim.x) part = part + square(tail[i]);
    R sum = block_sum(part, shared->sums);
    T alpha = *head;
    R low = Limits<R>::low(), whole = sum + square(alpha);
    R by = R(1);
    if (!(sum > low && sum < R(1) / low && whole > low && whole < R(1) / low)) {
        R top = R(0);
        for (int i = threadIdx.x; i < n; i += blockDim.x) top = larger(absolute(tail[i]), top);
        top = block_largest(top, shared->sums);
        if (top == R(0)) return Make<T>::of(R(0));
        top = larger(top, absolute(alpha));
        // Its inverse must neither overflow nor be subnormal.
        R least = Limits<R>::least(), most = R(1) / least;
        by = top < least ? most : top > most ? least : R(1) / top;
        part = R(0);
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            tail[i] = scaled(tail[i], by);
            part = part + square(tail[i]);
        }
        sum = block_sum(part, shared->sums);
        if (sum == R(0)) {
            // The tail is nothing beside the head.
            for (int i = threadIdx.x; i < n; i += blockDim.x) tail[i] = Make<T>::of(R(0));
            __syncthreads();
            return Make<T>::of(R(0));
        }
        alpha = scaled(alpha, by);
    }
    R beta = -with_sign(root(square(alpha) + sum), real(alpha));
    T tau = scaled(Make<T>::of(beta) - alpha, R(1) / beta);
    T scale = inverse(alpha - Make<T>::of(beta));
    for (int i = threadIdx.x; i < n; i += blockDim.x) tail[i] = tail[i] * scale;
    // All have read the head before it changes.
    __syncthreads();
    if (threadIdx.x == 0) *head = scaled(Make<T>::of(beta), R(1) / by);
    __syncthreads();
    return tau;
}

template <typename T>
static __device__ void panel(T *a, int lda, T *r, int ldr, T *t, int ldt, int width, int inside, const Stair &stair,
                             Shared<T> *shared) {
    typedef Real<T> R;
    const T zero = Make<T>::of(R(0));
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    for (int j = 0; j < width; j++) {
        int top = inside ? j + 1 : 0, rows = stair.rows[j];
        T *x = a + (size_t)j * lda;
        T tau = zero;
        if (rows > top) {
            T *head = inside ? x + j : r + j + (size_t)j * ldr;
            tau = reflector(head, x + top, rows - top, shared);
        }
        bool acts = !(square(tau) == R(0));
        for (int c = warp; c < width; c += warps) {
            T *y = a + (size_t)c * lda;
            if (c > j && acts) {
                // a = a - tau^H (v^H a) v
                T *head = inside ? y + j : r + j + (size_t)c * ldr;
                T dot = zero;
                for (int i = top + lane; i < rows; i += 32) dot = dot + conjugate(x[i]) * y[i];
                dot = warp_sum(dot);
                // Nobody else has this column: read by all lanes before one of them writes.
                T before = *head;
                T by = conjugate(tau) * (before + dot);
                for (int i = top + lane; i < rows; i += 32) y[i] = y[i] - x[i] * by;
                __syncwarp();
                if (lane == 0) *head = before - by;
            } else if (c < j) {
                // v_c^H v_j; v_c is not longer than v_j.
                int end = stair.rows[c];
                T dot = zero;
                for (int i = top + lane; i < end; i += 32) dot = dot + conjugate(y[i]) * x[i];
                dot = warp_sum(dot);
                if (lane == 0) shared->products[c] = inside && j < end ? dot + conjugate(y[j]) : dot;
            }
        }
        __syncthreads();
        // T(0..j, j) = -tau T(0..j, 0..j) (V^H v_j), zeros below the diagonal.
        for (int i = threadIdx.x; i < width; i += blockDim.x) {
            T sum = zero;
            if (acts && i < j)
                for (int l = i; l < j; l++) sum = sum + t[i + (size_t)l * ldt] * shared->products[l];
            t[i + (size_t)j * ldt] = i < j ? -(tau * sum) : i == j ? tau : zero;
        }
        __syncthreads();
    }
}

// As many registers as so many threads can have: kernels/src/device/launch.rs asks for no more threads.
#define PANEL(NAME, T)                                                                                                    \
    extern "C" __global__ void __launch_bounds__(512) NAME(T *a, int lda, T *r, int ldr, T *t, int ldt, int width, int inside, Stair stair) {    \
        __shared__ Shared<T> shared;                                                                                      \
        panel<T>(a, lda, r, ldr, t, ldt, width, inside, stair, &shared);                                                  \
    }

PANEL(panel_f32, float)
PANEL(panel_f64, double)
PANEL(panel_c32, Complex<float>)
PANEL(panel_c64, Complex<double>)
