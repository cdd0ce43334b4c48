//! Who holds a buffer at this moment: a lock that never waits.
//!
//! Takes requests; gives or refuses them. The task graph orders all accesses, so a refusal means that the graph, a
//! scheduler or the application is wrong, and the run ends with a panic instead of a data race. Because of this word the
//! store is sound whatever the rest of the crate does. Safe code.
//!
//! ```text
//!   0              free
//!   1 .. 2^30      that many readers
//!   KIND + n       n scatterers of one word size   (KIND: one of the two top bits; 4 and 8 bytes never mix,
//!                                                   since atomic writes of different sizes must not race)
//!   u32::MAX       one writer
//! ```

use crate::sync::{AtomicU32, Ordering};

/// The state of one slot's buffer.
pub(super) struct Claim(AtomicU32);

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Shared,
    Exclusive,
    /// Scatter by words of 4 bytes.
    Words4,
    /// Scatter by words of 8 bytes.
    Words8,
}

const WRITER: u32 = u32::MAX;
const COUNT: u32 = (1 << 30) - 1;

impl Mode {
    fn kind(self) -> u32 {
        match self {
            Mode::Shared => 0,
            Mode::Words4 => 1 << 30,
            Mode::Words8 => 1 << 31,
            Mode::Exclusive => unreachable!("one writer is not counted"),
        }
    }
}

impl Claim {
    pub(super) fn free() -> Self {
        Claim(AtomicU32::new(0))
    }

    /// Whether `mode` can be had now; if so it is held until `release`. Acquires what earlier holders released.
    pub(super) fn try_claim(&self, mode: Mode) -> bool {
        if mode == Mode::Exclusive {
            return self
                .0
                .compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
        }
        let join = |now: u32| match now {
            0 => Some(mode.kind() + 1),
            WRITER => None,
            _ => (now & !COUNT == mode.kind() && now & COUNT < COUNT).then_some(now + 1),
        };
        self.0
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, join)
            .is_ok()
    }

    /// Gives back one claim of `mode`.
    pub(super) fn release(&self, mode: Mode) {
        if mode == Mode::Exclusive {
            self.0.store(0, Ordering::Release);
        } else {
            let leave = |now: u32| Some(if now & COUNT == 1 { 0 } else { now - 1 });
            let left = self
                .0
                .fetch_update(Ordering::AcqRel, Ordering::Relaxed, leave);
            debug_assert!(left.is_ok());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_join_and_exclude() {
        let all = [Mode::Shared, Mode::Exclusive, Mode::Words4, Mode::Words8];
        for first in all {
            for second in all {
                let claim = Claim::free();
                assert!(claim.try_claim(first));
                let joins = first == second && first != Mode::Exclusive;
                assert_eq!(claim.try_claim(second), joins, "{first:?} {second:?}");
                if joins {
                    claim.release(second);
                    assert!(!claim.try_claim(Mode::Exclusive));
                }
                claim.release(first);
                assert!(claim.try_claim(Mode::Exclusive));
            }
        }
    }
}
