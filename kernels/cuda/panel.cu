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
#include "reflector.cuh"

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

#ifdef SCALAR_f32
PANEL(panel_f32, float)
#endif
#ifdef SCALAR_f64
PANEL(panel_f64, double)
#endif
#ifdef SCALAR_c32
PANEL(panel_c32, Complex<float>)
#endif
#ifdef SCALAR_c64
PANEL(panel_c64, Complex<double>)
#endif
