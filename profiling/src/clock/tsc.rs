//! The processor's time-stamp counter.
//!
//! Takes nothing; gives ticks, and whether they pass at a constant rate on all cores. The only file of the crate with
//! unsafe code.

/// Whether the counter is invariant: one rate, whatever the frequency and the sleep states of the cores.
#[cfg(target_arch = "x86_64")]
pub(super) fn is_invariant() -> bool {
    use std::arch::x86_64::__cpuid;
    const POWER: u32 = 0x8000_0007;
    const INVARIANT: u32 = 1 << 8;
    __cpuid(0x8000_0000).eax >= POWER && __cpuid(POWER).edx & INVARIANT != 0
}

/// Now, in ticks.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn now() -> u64 {
    // SAFETY: rdtsc is in every x86-64 and has no effect but its result; systems that forbid it to programs are unknown
    // among those that Rust's standard library supports.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn is_invariant() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn now() -> u64 {
    unreachable!("not invariant, not used")
}
