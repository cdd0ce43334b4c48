//! Flush-to-zero and denormals-are-zero on the current thread (x86-64).
//!
//! Takes nothing; gives a guard that restores what was set before. Denormal numbers cost up to a hundred cycles each
//! and carry no accuracy that a factorization could use. Elsewhere than on x86-64
//! (and under miri, which knows no assembly) nothing is set, and the guard says so.

/// Holds the two modes on for the current thread until it is dropped.
pub(crate) struct FlushDenormals {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    before: u32,
    /// The modes belong to the thread.
    _thread: std::marker::PhantomData<*const ()>,
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl FlushDenormals {
    /// Bit 15 of MXCSR: results that are denormal become 0.
    const FLUSH_TO_ZERO: u32 = 1 << 15;
    /// Bit 6 of MXCSR: operands that are denormal count as 0.
    const DENORMALS_ARE_ZERO: u32 = 1 << 6;

    /// Sets both modes; `None` where the machine has no such switch.
    pub(crate) fn set() -> Option<Self> {
        let before = read();
        write(before | Self::FLUSH_TO_ZERO | Self::DENORMALS_ARE_ZERO);
        Some(FlushDenormals {
            before,
            _thread: std::marker::PhantomData,
        })
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Drop for FlushDenormals {
    fn drop(&mut self) {
        write(self.before);
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
impl FlushDenormals {
    /// Sets both modes; `None` where the machine has no such switch.
    pub(crate) fn set() -> Option<Self> {
        None
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn read() -> u32 {
    let mut value = 0u32;
    // SAFETY: stmxcsr (in every x86-64) stores four bytes to `value`, which is ours.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags));
    }
    value
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn write(value: u32) {
    // SAFETY: ldmxcsr loads four bytes from `value`, which was read by stmxcsr and differs in FTZ and DAZ alone: no
    // reserved bit, no unmasked exception. Rust asks that assembly leave the floating-point mode as it was, because the
    // compiler may fold constants under the default one. Those two modes only change arithmetic on denormal numbers,
    // for which callers of this crate accept either result.
    unsafe {
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags, readonly));
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn denormals_vanish_while_the_guard_lives() {
        let tiny = f64::MIN_POSITIVE;
        let half = |x: f64| black_box(x) * black_box(0.5);
        assert!(half(tiny) > 0.0);
        let guard = FlushDenormals::set();
        assert_eq!(half(tiny), 0.0);
        drop(guard);
        assert!(half(tiny) > 0.0);
    }
}
