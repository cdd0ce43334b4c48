// A panel of up to MOST_COLUMNS columns, strip by strip: for geqrt and tpqrt, as panel.cu, in a tenth of its time.
//
//   strip         up to COLS columns become R and V, with their triangular factor: one block of threads, every entry in a register
//   strip_apply   a block of threads for each other column of the panel: right of the strip it takes in the reflectors, left of it
//                 its products with them go into the Gram matrix G = V^H V
//   merge_t       T of the whole panel from G and the factors of the strips
//
// Step j of a strip needs one barrier: with x the tail of column j as it is, the sums over the block
//
//   p(c) = x^H a(c)      for all columns c at once: the norm of x for c = j, what updates c for c > j, a part of G for c < j
//
// give everything, since v_j = x scale. Registers can't be indexed by j, so columns go round: position 0 has column j, position c has
// column j + c, or j + c - COLS left of it. If p may have overflowed or lost digits (Limits::safe), v_j is made first, from scaled
// numbers as in reflector.cuh, and p is taken again from it.
//
// Rows and columns are counted from the panel's first. `inside` and the staircase are as in panel.cu; entries below the staircase are
// neither read nor written. T comes from T^-1 + T^-H = V^H V (Puglisi, SIAM J. Sci. Stat. Comput. 13, 1992), solved forward, so that
// tau = 0 needs no care.
#include "scalar.cuh"
#include "stair.cuh"
#include "reflector.cuh"

// Warps of a block at most; kernels/src/device/launch.rs asks for as many.
#define STRIP_WARPS 8
#define MOST_STRIP 16

// Sums over the warp of all of p at once: each lane gets the one of column lane / (32 / N). Half of what is left is handed to the other
// half of the lanes, and so on: N shuffles instead of 5 N.
template <int N, typename T> static __device__ T columns_sum(T (&p)[N], int lane) {
    int left = N;
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        if (left > 1) {
            left /= 2;
            bool upper = (lane & distance) != 0;
            UNROLL
            for (int k = 0; k < N / 2; k++) {
                if (k < left) {
                    T send = upper ? p[k] : p[k + left], keep = upper ? p[k + left] : p[k];
                    p[k] = keep + shuffle_xor(send, distance);
                }
            }
        } else {
            p[0] = p[0] + shuffle_xor(p[0], distance);
        }
    }
    return p[0];
}

template <typename T> struct StripShared {
    // One set for each of two steps: who is ahead writes the other.
    T sums[2][STRIP_WARPS][MOST_STRIP];
    T row[2][MOST_STRIP];
    T by[STRIP_WARPS][MOST_STRIP];
    // Heads above the strip, as they were and as they become.
    T heads[MOST_STRIP][MOST_STRIP], done[MOST_STRIP][MOST_STRIP];
    T gram[MOST_STRIP][MOST_STRIP + 1], taus[MOST_STRIP];
    Real<T> reals[MOST_WARPS];
};

// p, summed over the block: each lane has the sum of column lane / (32 / N).
template <int N, typename T>
static __device__ T block_columns_sum(T (&p)[N], T (*sums)[MOST_STRIP]) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32, own = lane / (32 / N);
    T sum = columns_sum<N>(p, lane);
    if (lane % (32 / N) == 0) sums[warp][own] = sum;
    __syncthreads();
    T total = sums[0][own];
    for (int w = 1; w < warps; w++) total = total + sums[w][own];
    return total;
}

// x^H a over the rows of a thread, for each column.
template <int ROWS, int COLS, typename T>
static __device__ void products(const T (&x)[ROWS], const T (&a)[ROWS][COLS], T (&p)[COLS]) {
    UNROLL
    for (int c = 0; c < COLS; c++) {
        p[c] = conjugate(x[0]) * a[0][c];
        UNROLL
        for (int q = 1; q < ROWS; q++) p[c] = p[c] + conjugate(x[q]) * a[q][c];
    }
}

// What a reflector is made of: v = x scale, with x as it is in the registers now.
template <typename T> struct Made {
    T tau, scale;
    T beta;
};

template <typename T> static __device__ Made<T> made(T alpha, Real<T> sum) {
    typedef Real<T> R;
    Made<T> m;
    R beta = -with_sign(root(square(alpha) + sum), real(alpha));
    m.beta = Make<T>::of(beta);
    m.tau = scaled(m.beta - alpha, R(1) / beta);
    m.scale = inverse(alpha - m.beta);
    return m;
}

// From scaled numbers; x becomes v. All threads call it.
template <int ROWS, typename T>
static __device__ Made<T> made_with_care(T (&x)[ROWS], T alpha, StripShared<T> *shared) {
    typedef Real<T> R;
    Made<T> identity = {Make<T>::of(R(0)), Make<T>::of(R(0)), alpha};
    R top = R(0);
    UNROLL
    for (int q = 0; q < ROWS; q++) top = larger(absolute(x[q]), top);
    top = block_largest(top, shared->reals);
    if (top == R(0)) return identity;
    top = larger(top, absolute(alpha));
    // Its inverse must neither overflow nor be subnormal.
    R least = Limits<R>::least(), most = R(1) / least;
    R by = top < least ? most : top > most ? least : R(1) / top;
    R part = R(0);
    UNROLL
    for (int q = 0; q < ROWS; q++) {
        x[q] = scaled(x[q], by);
        part = part + square(x[q]);
    }
    R sum = block_sum(part, shared->reals);
    if (sum == R(0)) {
        // The tail is nothing beside the head.
        UNROLL
        for (int q = 0; q < ROWS; q++) x[q] = Make<T>::of(R(0));
        return identity;
    }
    Made<T> m = made(scaled(alpha, by), sum);
    UNROLL
    for (int q = 0; q < ROWS; q++) x[q] = x[q] * m.scale;
    m.beta = scaled(m.beta, R(1) / by);
    m.scale = Make<T>::of(R(1));
    return m;
}

// Columns from..from + width of a panel; ROWS times the threads are no fewer than their rows.
template <typename T, int ROWS, int COLS>
static __device__ void strip(T *a, int lda, T *r, int ldr, T *t, int ldt, int from, int width, int inside, const Stair &stair,
                             StripShared<T> *shared) {
    typedef Real<T> R;
    const T zero = Make<T>::of(R(0));
    int thread = threadIdx.x, threads = blockDim.x, warp = thread / 32, lane = thread % 32, own = lane / (32 / COLS);
    bool first_lane = lane % (32 / COLS) == 0;
    // Inside, the strip begins with the row of its first head.
    int top = inside ? from : 0;
    a += top + (size_t)from * lda;
    r += from + (size_t)from * ldr;
    t += from + (size_t)from * ldt;
    T x[ROWS][COLS];
    UNROLL
    for (int q = 0; q < ROWS; q++) {
        int i = thread + q * threads;
        UNROLL
        for (int c = 0; c < COLS; c++)
            x[q][c] = c < width && i < stair.rows[from + c] - top ? a[i + (size_t)c * lda] : zero;
    }
    if (!inside) {
        for (int e = thread; e < width * width; e += threads) {
            int i = e % width, j = e / width;
            if (i <= j) shared->heads[i][j] = r[i + (size_t)j * ldr];
        }
        __syncthreads();
    }
    for (int j = 0; j < width; j++) {
        int turn = j % 2, rows = stair.rows[from + j] - top;
        T tail[ROWS];
        UNROLL
        for (int q = 0; q < ROWS; q++) tail[q] = !inside || thread + q * threads > j ? x[q][0] : zero;
        if (inside && thread == j) {
            UNROLL
            for (int c = 0; c < COLS; c++) shared->row[turn][c] = x[0][c];
        }
        // Of this lane's column: where it is, and its entry beside the head.
        int column = j + own < COLS ? j + own : j + own - COLS;
        bool right = own > 0 && j + own < width, left = j + own >= COLS;
        Made<T> m = {zero, zero, zero};
        T total, head;
        // Once, or twice with care.
        for (bool careful = false;; careful = true) {
            T p[COLS];
            products<ROWS, COLS>(tail, x, p);
            total = block_columns_sum<COLS>(p, shared->sums[turn]);
            head = inside ? shared->row[turn][own] : right ? shared->heads[j][column] : zero;
            if (careful) break;
            T norm = shared->sums[turn][0][0];
            for (int w = 1; w < threads / 32; w++) norm = norm + shared->sums[turn][w][0];
            T alpha = inside ? shared->row[turn][0] : shared->heads[j][j];
            R sum = real(norm), low = Limits<R>::safe(), whole = sum + square(alpha);
            if (sum > low && sum < R(1) / low && whole < R(1) / low) {
                m = made(alpha, sum);
                break;
            }
            // All are at a barrier in it, so nobody is still at the sums.
            m = made_with_care<ROWS>(tail, alpha, shared);
        }
        bool acts = !(square(m.tau) == R(0));
        T by = right && acts ? conjugate(m.tau) * (head + conjugate(m.scale) * total) : zero;
        if (first_lane) {
            shared->by[warp][own] = by;
            if (warp == 0) {
                if (right && !inside) shared->done[j][column] = head - by;
                if (own == 0) {
                    shared->done[j][j] = m.beta;
                    shared->taus[j] = m.tau;
                }
                if (left) {
                    T product = conjugate(total) * m.scale;
                    shared->gram[column][j] = inside ? product + conjugate(head) : product;
                }
            }
        }
        __syncwarp();
        UNROLL
        for (int q = 0; q < ROWS; q++) {
            int i = thread + q * threads;
            bool below = !inside || i > j;
            T v = acts ? tail[q] * m.scale : zero;
            T last = below ? (acts ? v : tail[q]) : i == j ? m.beta : x[q][0];
            if (!below) v = acts && i == j ? Make<T>::of(R(1)) : zero;
            UNROLL
            for (int c = 1; c < COLS; c++) x[q][c - 1] = x[q][c] - v * shared->by[warp][c];
            x[q][COLS - 1] = last;
            if (i < rows) a[i + (size_t)j * lda] = last;
        }
        // Before the next step's numbers take the place of these.
        __syncwarp();
    }
    __syncthreads();
    if (!inside) {
        for (int e = thread; e < width * width; e += threads) {
            int i = e % width, j = e / width;
            if (i <= j) r[i + (size_t)j * ldr] = shared->done[i][j];
        }
    }
    // Row i of T, each in the registers of its own thread: T(i, j) = -tau_j T(i, i..j) G(i..j, j).
    int i = thread;
    if (i < width) {
        T factor[COLS];
        UNROLL
        for (int j = 0; j < COLS; j++) {
            T tau = j < width ? shared->taus[j] : zero, sum = zero;
            UNROLL
            for (int l = 0; l < j; l++) {
                // Of G what is above its diagonal is there.
                if (l >= i && j < width) sum = sum + factor[l] * shared->gram[l][j];
            }
            bool acts = !(square(tau) == R(0));
            factor[j] = j > i ? (acts ? -(tau * sum) : zero) : j == i ? tau : zero;
            if (j < width) t[i + (size_t)j * ldt] = factor[j];
        }
    }
}

// A block of threads for each column of the panel of `count` columns that is not in the strip.
template <typename T, int COLS>
static __device__ void strip_apply(T *a, int lda, T *r, int ldr, const T *t, int ldt, T *g, int from, int width, int inside,
                                   int count, const Stair &stair, StripShared<T> *shared) {
    typedef Real<T> R;
    const T zero = Make<T>::of(R(0));
    int thread = threadIdx.x, threads = blockDim.x, warp = thread / 32, lane = thread % 32, own = lane / (32 / COLS);
    int column = blockIdx.x;
    bool is_left = column < from;
    if (!is_left) column += width;
    int top = inside ? from : 0, end = stair.rows[from + width - 1];
    if (is_left && stair.rows[column] < end) end = stair.rows[column];
    const T *v = a + (size_t)from * lda;
    T *y = a + (size_t)column * lda;
    // Entry (i, k) of V, its unit triangle and zeros included.
    auto entry = [&](int i, int k) {
        if (k >= width || i >= stair.rows[from + k] || (inside && i < from + k)) return zero;
        if (inside && i == from + k) return Make<T>::of(R(1));
        return v[i + (size_t)k * lda];
    };
    T p[COLS];
    UNROLL
    for (int k = 0; k < COLS; k++) p[k] = zero;
    for (int i = top + thread; i < end; i += threads) {
        T here = y[i];
        UNROLL
        for (int k = 0; k < COLS; k++) p[k] = p[k] + conjugate(entry(i, k)) * here;
    }
    // T, for who needs it after the next barrier.
    for (int e = thread; !is_left && e < width * width; e += threads) {
        int k = e % width, c = e / width;
        shared->gram[k][c] = t[from + k + (size_t)(from + c) * ldt];
    }
    T total = block_columns_sum<COLS>(p, shared->sums[0]);
    bool mine = lane % (32 / COLS) == 0 && own < width;
    if (is_left) {
        if (warp == 0 && mine) g[column + (size_t)(from + own) * count] = conjugate(total);
        return;
    }
    T *head = r + from + own + (size_t)column * ldr;
    T before = !inside && own < width ? *head : zero;
    if (mine) shared->by[warp][own] = before + total;
    __syncwarp();
    // op(T) = T^H, which has zeros above its diagonal.
    T w = zero;
    UNROLL
    for (int l = 0; l < COLS; l++)
        if (l <= own && own < width) w = w + conjugate(shared->gram[l][own]) * shared->by[warp][l];
    __syncwarp();
    if (mine) shared->by[warp][own] = w;
    // All have read the heads before one of them changes.
    __syncthreads();
    if (warp == 0 && mine && !inside) *head = before - w;
    for (int i = top + thread; i < end; i += threads) {
        T sum = zero;
        UNROLL
        for (int k = 0; k < COLS; k++)
            if (k < width) sum = sum + entry(i, k) * shared->by[warp][k];
        y[i] = y[i] - sum;
    }
}

// Rows of T that a block of threads makes, and the columns of a strip at most.
template <typename T> struct MergeSizes { static const int ROWS = sizeof(T) > 8 ? 4 : 8, COLS = sizeof(T) > 8 ? 8 : 16; };

template <typename T> struct MergeShared {
    T rows[MergeSizes<T>::ROWS][MOST_COLUMNS + 1];
    T product[MOST_COLUMNS][MergeSizes<T>::COLS];
    T gram[MOST_COLUMNS][MergeSizes<T>::COLS];
    T diagonal[MergeSizes<T>::COLS][MergeSizes<T>::COLS + 1];
};

// T(i, s) = -T(i, 0..s) (G(0..s, s) T(s, s)) for strip after strip s of `width` columns; T(s, s) are there, and zeros are written below.
template <typename T>
static __device__ void merge_t(T *t, int ldt, const T *g, int count, int width, MergeShared<T> *shared) {
    typedef Real<T> R;
    const T zero = Make<T>::of(R(0));
    const int rows = MergeSizes<T>::ROWS;
    int thread = threadIdx.x, threads = blockDim.x, first = blockIdx.x * rows, last = first + rows < count ? first + rows : count;
    for (int from = 0; from < count; from += width) {
        int columns = from + width < count ? width : count - from;
        // As far as rows of this block need it.
        int above = from > first ? from - first : 0;
        for (int e = thread; e < above * columns; e += threads) {
            int l = e % above, c = e / above;
            shared->gram[l][c] = g[first + l + (size_t)(from + c) * count];
        }
        for (int e = thread; e < columns * columns; e += threads) {
            int k = e % columns, c = e / columns;
            shared->diagonal[k][c] = t[from + k + (size_t)(from + c) * ldt];
        }
        __syncthreads();
        for (int e = thread; e < above * columns; e += threads) {
            int l = e / columns, c = e % columns;
            T sum = zero;
            for (int k = 0; k < columns; k++) sum = sum + shared->gram[l][k] * shared->diagonal[k][c];
            shared->product[l][c] = sum;
        }
        __syncthreads();
        for (int e = thread; e < (last - first) * columns; e += threads) {
            int r = e / columns, i = first + r, c = e % columns;
            T entry = zero;
            if (i < from) {
                for (int l = r; l < above; l++) entry = entry - shared->rows[r][first + l] * shared->product[l][c];
            } else if (i < from + columns) {
                entry = shared->diagonal[i - from][c];
            }
            // What lies on the diagonal stays as it is.
            if (i < from || i >= from + columns) t[i + (size_t)(from + c) * ldt] = entry;
            shared->rows[r][from + c] = entry;
        }
        __syncthreads();
    }
}

// 64 real entries in the registers of each of 256 threads, or half as many complex ones.
#define STRIP(ROWS_NAME, SUFFIX, T, ROWS, COLS)                                                                            \
    extern "C" __global__ void __launch_bounds__(256) strip_##ROWS_NAME##_##SUFFIX(                                        \
        T *a, int lda, T *r, int ldr, T *t, int ldt, int from, int width, int inside, Stair stair) {                       \
        __shared__ StripShared<T> shared;                                                                                  \
        strip<T, ROWS, COLS>(a, lda, r, ldr, t, ldt, from, width, inside, stair, &shared);                                 \
    }
#define STRIPS(SUFFIX, T, COLS)                                                                                            \
    STRIP(256, SUFFIX, T, 1, COLS)                                                                                         \
    STRIP(1024, SUFFIX, T, 4, COLS)                                                                                        \
    STRIP(2048, SUFFIX, T, 8, COLS / 2)                                                                                    \
    extern "C" __global__ void __launch_bounds__(256) strip_apply_##SUFFIX(                                                \
        T *a, int lda, T *r, int ldr, const T *t, int ldt, T *g, int from, int width, int inside, int count, Stair stair) { \
        __shared__ StripShared<T> shared;                                                                                  \
        strip_apply<T, COLS>(a, lda, r, ldr, t, ldt, g, from, width, inside, count, stair, &shared);                       \
    }                                                                                                                      \
    extern "C" __global__ void __launch_bounds__(256) merge_t_##SUFFIX(T *t, int ldt, const T *g, int count, int width) {  \
        __shared__ MergeShared<T> shared;                                                                                  \
        merge_t<T>(t, ldt, g, count, width, &shared);                                                                      \
    }

#ifdef SCALAR_f32
STRIPS(f32, float, 16)
#endif
#ifdef SCALAR_f64
STRIPS(f64, double, 16)
#endif
#ifdef SCALAR_c32
STRIPS(c32, Complex<float>, 8)
#endif
#ifdef SCALAR_c64
STRIPS(c64, Complex<double>, 8)
#endif
