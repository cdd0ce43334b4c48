// Assembly: a part of a child's contribution block into a tile of its parent, and entries by their places.
//
// Copies only: every entry by itself, no two to the same place; grid and block are of any size.
#include "scalar.cuh"
#include "stair.cuh"

// Where column c of a packed upper trapezoid of `rows` rows begins.
static __device__ inline size_t packed_start(int rows, int c) {
    size_t full = rows - 1, j = c;
    return j <= full ? j * (j + 1) / 2 : full * (full + 1) / 2 + (j - full) * rows;
}

// to(to_row(i) - top, to_col(j) - left) = from(i, j) for the m x n part of a contribution block that begins in its row `row` and
// column `col`; with `trapezoid` set, only on and above the diagonal of the whole block. `from` is the part in a tile of leading
// dimension ldf, or the whole block, packed in `packed` rows.
template <typename T>
static __device__ void extend(const T *from, int ldf, int packed, const int *to_row, const int *to_col, T *to, int ldt, int top,
                              int left, int m, int n, int row, int col, int trapezoid) {
    for (size_t e = blockIdx.x * (size_t)blockDim.x + threadIdx.x; e < (size_t)m * (size_t)n;
         e += (size_t)gridDim.x * blockDim.x) {
        int i = (int)(e % m), j = (int)(e / m);
        if (trapezoid && row + i > col + j) continue;
        size_t at = packed ? packed_start(packed, col + j) + (size_t)(row + i) : i + (size_t)j * ldf;
        to[to_row[i] - top + (size_t)(to_col[j] - left) * ldt] = from[at];
    }
}

// to[places[k]] = values[k]
template <typename T> static __device__ void place(const T *values, const int *places, int n, T *to) {
    for (size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x; k < (size_t)n; k += (size_t)gridDim.x * blockDim.x)
        to[places[k]] = values[k];
}

#define ASSEMBLY(SUFFIX, T)                                                                                               \
    extern "C" __global__ void extend_##SUFFIX(const T *from, int ldf, int packed, const int *to_row, const int *to_col,  \
                                               T *to, int ldt, int top, int left, int m, int n, int row, int col,         \
                                               int trapezoid) {                                                           \
        extend<T>(from, ldf, packed, to_row, to_col, to, ldt, top, left, m, n, row, col, trapezoid);                      \
    }                                                                                                                     \
    extern "C" __global__ void place_##SUFFIX(const T *values, const int *places, int n, T *to) {                         \
        place<T>(values, places, n, to);                                                                                  \
    }

#ifdef SCALAR_f32
ASSEMBLY(f32, float)
#endif
#ifdef SCALAR_f64
ASSEMBLY(f64, double)
#endif
#ifdef SCALAR_c32
ASSEMBLY(c32, Complex<float>)
#endif
#ifdef SCALAR_c64
ASSEMBLY(c64, Complex<double>)
#endif
