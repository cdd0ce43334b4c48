//! Whether huge pages are worth it where this process runs.
//!
//! Takes how long each one took to come; says when they have cost more than small ones would have. Knows no memory: numbers only,
//! safe code.
//!
//! Why: a huge page is cleared at once, in 0.1 to 0.3 ms, and saves 511 faults. But the host of a virtual machine may have taken back what was free
//! there (free page reporting), and then whoever touches it waits until the host has brought all of it again: 5 to 7 ms have been seen.
//! Small pages come from fragments that the host has left alone, at 1 ms for as many bytes (docs/performance/memory.md). No setting of the
//! system tells of it beforehand; so it is measured, on pages that come anyway.

use crate::sync::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// What small pages cost for as many bytes.
const SMALL_NS: u64 = 1_000_000;

/// A page that comes faster was there already.
const THERE_NS: u64 = 20_000;

/// One page counts for no more: the thread may have been interrupted.
const MOST_NS: u64 = 6_000_000;

/// So much more than small pages would have cost they may cost in all: more than one page can.
const ALLOWED_NS: u64 = 8_000_000;

/// After so many in a row that were no dearer than small ones every fourth extent is looked at: whoever writes the others brings their
/// pages, near to its core and beside other workers.
const TRUSTED: u32 = 64;
const EVERY: u32 = 4;

/// What the huge pages of a store have cost.
#[derive(Default)]
pub(super) struct HugeCost {
    /// How much more it was than small ones would have cost, lately.
    excess_ns: AtomicU64,
    /// How long the one took that made them too dear; before, 0.
    dear_ns: AtomicU64,
    /// Those since the last that was dearer than small ones.
    good: AtomicU32,
    /// Extents that came when most of them were not looked at.
    passed: AtomicU32,
}

impl HugeCost {
    /// One took so long to come. Says whether that was the one that made them too dear.
    pub(super) fn came_in(&self, time: Duration) -> bool {
        let ns = time.as_nanos() as u64;
        if ns < THERE_NS {
            return false;
        }
        match ns <= SMALL_NS {
            true => self.good.fetch_add(1, Ordering::Relaxed),
            false => self.good.swap(0, Ordering::Relaxed),
        };
        let sum = |excess: u64| (excess + ns.min(MOST_NS)).saturating_sub(SMALL_NS);
        let update = |excess| Some(sum(excess));
        let before = self
            .excess_ns
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, update)
            .unwrap_or_else(|same| same);
        let is_first = || {
            let order = Ordering::Relaxed;
            self.dear_ns.compare_exchange(0, ns, order, order).is_ok()
        };
        sum(before) > ALLOWED_NS && is_first()
    }

    /// Whether the pages of the next extent are to be timed.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.good.load(Ordering::Relaxed) < TRUSTED
            || self
                .passed
                .fetch_add(1, Ordering::Relaxed)
                .is_multiple_of(EVERY)
    }

    /// Whether small ones are better from now on.
    pub(super) fn is_dear(&self) -> bool {
        self.dear_ns.load(Ordering::Relaxed) > 0
    }

    /// Where they are too dear: how long the one took that made them so.
    pub(super) fn dear_page(&self) -> Option<Duration> {
        let ns = self.dear_ns.load(Ordering::Relaxed);
        (ns > 0).then(|| Duration::from_nanos(ns))
    }

    /// All memory went back to the system: what comes next may be other memory.
    pub(super) fn forget(&self) {
        self.excess_ns.store(0, Ordering::Relaxed);
        self.dear_ns.store(0, Ordering::Relaxed);
        self.good.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many pages of so many microseconds each they were too dear, of a thousand.
    fn dear_after(cost: &HugeCost, us: u64) -> Option<usize> {
        (1..=1000).find(|_| cost.came_in(Duration::from_micros(us)))
    }

    #[test]
    fn a_few_slow_pages_are_enough_and_one_is_not() {
        for (us, pages) in [
            (1, None),
            (250, None),
            (1000, None),
            (1500, Some(17)),
            (5500, Some(2)),
        ] {
            let cost = HugeCost::default();
            assert_eq!(dear_after(&cost, us), pages, "{us} us a page");
            assert_eq!(cost.is_dear(), pages.is_some());
            let page = pages.map(|_| Duration::from_micros(us));
            assert_eq!(cost.dear_page(), page);
        }
        // However long one took, and however many were fast before.
        let cost = HugeCost::default();
        assert!(!cost.came_in(Duration::from_secs(1)));
        assert_eq!(dear_after(&cost, 250), None);
        assert_eq!(dear_after(&cost, 5500), Some(2));
        assert!(!cost.came_in(Duration::from_millis(7)), "said only once");
        assert!((0..8).all(|_| cost.is_in_doubt()));
        assert_eq!(dear_after(&cost, 250), None);
        assert_eq!((0..8).filter(|_| cost.is_in_doubt()).count(), 2);
        cost.forget();
        assert_eq!((cost.is_dear(), dear_after(&cost, 5500)), (false, Some(2)));
    }
}
