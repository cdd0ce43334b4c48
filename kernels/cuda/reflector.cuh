// A Householder reflector by all threads of a block, for whoever factorizes.
//
// Definitions (sign of beta, tau = 0 for the identity) are those of kernels/src/householder.rs; sums that may have overflowed or lost
// digits are taken again from scaled numbers. Needs scalar.cuh and stair.cuh before it.
#pragma once

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
