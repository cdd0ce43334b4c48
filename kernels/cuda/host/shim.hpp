// Lets g++ compile the device sources as they are, for tests: a block's threads are fibers, blocks run one after the other.
//
// __shared__ variables are static: all threads of the block that runs see them, and there is only one such block. A barrier (of
// the block or of a warp) gives the processor to the next fiber until all have arrived; shuffles exchange through memory between
// two barriers. All fibers must reach the same barriers, as on a device. Not for more than one host thread at a time.
#pragma once
// Some compilers have it on by themselves; its longjmp takes a jump from one fiber's stack to another's for an error.
#undef _FORTIFY_SOURCE
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <csetjmp>
#include <type_traits>
#include <ucontext.h>
#include <utility>
#include <vector>

#define __device__
#define __global__
#define __shared__ static
#define __launch_bounds__(threads)

namespace shim {
struct Index {
    unsigned x;
};
struct Barrier {
    unsigned arrived = 0, generation = 0;
};
struct Fiber {
    // Where it begins, and where it goes on: switching by jumps needs no system call.
    ucontext_t context;
    jmp_buf jump;
    std::vector<char> stack;
    bool started, done;
};
struct Block {
    std::vector<Fiber> fibers;
    jmp_buf scheduler;
    Barrier all;
    std::vector<Barrier> warps;
    std::vector<uint64_t> slots;
    void (*body)(void **);
    void **arguments;
    unsigned running;
};
inline Block block;
inline Index thread_index, block_index, block_size, grid_size;

inline void yield() {
    if (!_setjmp(block.fibers[block.running].jump)) _longjmp(block.scheduler, 1);
}

// Runs a fiber until it yields.
__attribute__((noinline)) inline void resume(Fiber &fiber) {
    if (_setjmp(block.scheduler)) return;
    if (fiber.started) _longjmp(fiber.jump, 1);
    fiber.started = true;
    setcontext(&fiber.context);
}

inline void wait(Barrier &barrier, unsigned members) {
    unsigned generation = barrier.generation;
    if (++barrier.arrived == members) {
        barrier.arrived = 0;
        barrier.generation++;
    } else {
        while (barrier.generation == generation) yield();
    }
}

inline void wait_warp() { wait(block.warps[thread_index.x / 32], 32); }

template <typename T> T shuffle_xor(T x, int lane) {
    static_assert(sizeof(T) <= 8, "one register or two");
    std::memcpy(&block.slots[thread_index.x], &x, sizeof(T));
    wait_warp();
    std::memcpy(&x, &block.slots[thread_index.x ^ (unsigned)lane], sizeof(T));
    wait_warp();
    return x;
}

inline void fiber() {
    block.body(block.arguments);
    block.fibers[block.running].done = true;
    yield();
}

// Runs a grid; the number of threads is a multiple of 32.
inline void run(void (*body)(void **), unsigned blocks, unsigned threads, void **arguments) {
    block.fibers.resize(threads);
    block.warps.assign(threads / 32, Barrier());
    block.slots.assign(threads, 0);
    block.body = body;
    block.arguments = arguments;
    grid_size.x = blocks;
    block_size.x = threads;
    for (unsigned b = 0; b < blocks; b++) {
        block.all = Barrier();
        for (auto &f : block.fibers) {
            f.stack.resize(1 << 15);
            f.started = f.done = false;
            getcontext(&f.context);
            f.context.uc_stack.ss_sp = f.stack.data();
            f.context.uc_stack.ss_size = f.stack.size();
            f.context.uc_link = nullptr;
            makecontext(&f.context, fiber, 0);
        }
        block_index.x = b;
        // Back and forth, so that what should be separated by a barrier meets in both orders.
        bool forth = true;
        for (unsigned left = threads; left > 0; forth = !forth) {
            for (unsigned k = 0; k < threads; k++) {
                unsigned t = forth ? k : threads - 1 - k;
                if (block.fibers[t].done) continue;
                thread_index.x = block.running = t;
                resume(block.fibers[t]);
                left -= block.fibers[t].done;
            }
        }
    }
}
} // namespace shim

#define threadIdx shim::thread_index
#define blockIdx shim::block_index
#define blockDim shim::block_size
#define gridDim shim::grid_size
#define __syncthreads() shim::wait(shim::block.all, blockDim.x)
#define __syncwarp() shim::wait_warp()
#define __shfl_xor_sync(mask, x, lane) shim::shuffle_xor(x, lane)

namespace shim {
// Arguments of a kernel from an array of pointers to them, as the CUDA driver takes them.
template <typename... A, size_t... I>
void apply(void (*kernel)(A...), void **arguments, std::index_sequence<I...>) {
    kernel(*static_cast<std::remove_reference_t<A> *>(arguments[I])...);
}
template <typename... A> void call(void (*kernel)(A...), void **arguments) {
    apply(kernel, arguments, std::index_sequence_for<A...>());
}
} // namespace shim
