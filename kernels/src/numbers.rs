//! Numbers without order for the unit tests: those of a seed, between -1 and 1.

use crate::scalar::KernelScalar;

pub(crate) fn numbers<T: KernelScalar>(len: usize, seed: u64) -> Vec<T> {
    let mut state = seed;
    let mut next = move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..len).map(|_| T::from_f64(next(), next())).collect()
}
