//! Vertices by gain, the largest first.

use crate::analysis::heap;

/// Vertices by their gains. Among equal ones the largest number comes first.
pub(crate) type Heap = heap::Heap<Gain>;

/// Gain and vertex in one number. Gains that 32 bits do not hold count as the largest or the least that they do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gain(i64);

impl heap::Key for Gain {
    type Worth = i64;

    #[inline]
    fn new(gain: i64, v: u32) -> Self {
        let gain = gain.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
        Gain((gain << 32) | i64::from(v))
    }

    #[inline]
    fn number(self) -> u32 {
        self.0 as u32
    }
}
