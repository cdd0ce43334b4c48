// All kernels in one library for the host, with one door: run_kernel(name, blocks, threads, arguments).
#include "shim.hpp"

#include "../panel.cu"

#include "../strip.cu"

#include "../copies.cu"

#include "../assembly.cu"

#include "../fronts.cu"

#define OF(KERNEL, SUFFIX)                                                                                                 \
    if (!std::strcmp(name, #KERNEL "_" #SUFFIX)) {                                                                        \
        shim::run([](void **arguments) { shim::call(KERNEL##_##SUFFIX, arguments); }, blocks, threads, arguments);        \
        return 0;                                                                                                         \
    }
#define ALL(KERNEL) OF(KERNEL, f32) OF(KERNEL, f64) OF(KERNEL, c32) OF(KERNEL, c64)

// 0, or 1 if there is no such kernel.
extern "C" int run_kernel(const char *name, unsigned blocks, unsigned threads, void **arguments) {
    ALL(panel)
    ALL(strip_256)
    ALL(strip_1024)
    ALL(strip_2048)
    ALL(strip_apply)
    ALL(merge_t)
    ALL(copy_v)
    ALL(copy_upper)
    ALL(copy_stair)
    ALL(copy)
    ALL(subtract)
    ALL(extend)
    ALL(place)
    ALL(fronts)
    return 1;
}
