//! What the C library's allocator does with large blocks that are freed.
//!
//! glibc maps a large block on its own and unmaps it when it is freed, but from the first time on that it frees one, blocks of that
//! size come from its heap, where they leave holes. After an analysis these hold a tenth or more of what a process then takes for the
//! factorization (docs/performance.md).

/// Blocks from so many bytes on stay mappings of their own.
const MAPPED_FROM: std::ffi::c_int = 1 << 20;

/// Lets large blocks go back to the system whenever they are freed, for the rest of the process. For programs, at their start: it is
/// a decision for all of the process, and no library's. Does nothing where the allocator is not glibc's.
pub fn give_back_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: sets a number of the allocator's, under its own lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_FROM);
    }
}
