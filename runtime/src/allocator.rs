//! What the C library's allocator does with large blocks that are freed.
//!
//! glibc maps a large block on its own and unmaps it when it is freed, but from the first time on that it frees one, blocks of that
//! size come from its heap, one heap for each thread, where they leave holes: after an analysis a tenth or more of what a process then
//! takes for the factorization. With every block a mapping of its own, on the other hand, an analysis touches the same memory for the
//! first time again and again, which costs more than the copying that is done in it (docs/performance/memory.md).

/// Blocks from so many bytes on are mappings of their own.
const MAPPED_FROM: std::ffi::c_int = 8 << 20;
/// Heaps of all threads together, at least. With one they wait for its lock, and so do many with two; more than there are threads leave more holes
/// (docs/performance/memory.md).
const HEAPS: std::ffi::c_int = 2;

/// Gives pages of the heap back to the system that nobody uses, wherever they lie: between a step that takes and frees much and one that
/// takes its memory elsewhere. Some milliseconds; what takes heap again after it, waits for pages. Does nothing where the allocator is not glibc's.
pub fn give_freed_memory_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: goes through the heap under its lock; no block that is in use changes.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// A heap for each of so many threads, from which what is freed is taken again, and mappings of their own for the largest blocks, for the rest of
/// the process. For programs, at their start: it is a decision for all of the process, and no library's. Does nothing where the
/// allocator is not glibc's.
#[cfg_attr(
    not(all(target_os = "linux", target_env = "gnu")),
    allow(unused_variables)
)]
pub fn keep_freed_memory(threads: usize) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let heaps = threads.try_into().unwrap_or(HEAPS).max(HEAPS);
        // SAFETY: sets numbers of the allocator's, under its own lock.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_FROM);
            libc::mallopt(libc::M_TRIM_THRESHOLD, std::ffi::c_int::MAX);
            libc::mallopt(libc::M_ARENA_MAX, heaps);
        }
    }
}
