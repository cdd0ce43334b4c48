//! The kernel's monotonic clock beside the recorder's.
//!
//! Takes moments of both; gives the recorder's nanoseconds for the kernel's. Knows no record.
//!
//! The kernel stamps its records with `CLOCK_MONOTONIC`, in nanoseconds since the machine was started. On Linux
//! `Instant` is the same clock, but its number can't be read; a [`MonotonicAnchor`] has both for one moment. Two such
//! moments, whose time on the recorder's axis is known (those at which it was calibrated), give the line between them
//! ([`to_recording_ns`]).
//!
//! Errors: an anchor's is at most half of its `width_ns`. Between the two moments the recorder's clock is taken to be
//! linear in the monotonic clock, as in its own calibration; what the system's clock discipline bends it within a run
//! comes on top (parts per million of the time to the nearer anchor). The kernel reads its clock without a lock, which
//! may be some nanoseconds beside what a thread reads at the moment of a clock update.

use std::time::{Duration, Instant};

/// One moment on both faces of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicAnchor {
    /// The moment.
    pub instant: Instant,
    /// The same, in nanoseconds of `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
    /// Time between the readings before and after: the error is at most half of it.
    pub width_ns: u64,
}

impl MonotonicAnchor {
    /// Now: of 16 tries the one with the shortest time between its readings (16 x 3 readings of a clock).
    pub fn now() -> MonotonicAnchor {
        let one = |_| {
            let before = monotonic_ns();
            let instant = Instant::now();
            let width_ns = monotonic_ns().saturating_sub(before);
            MonotonicAnchor {
                instant,
                monotonic_ns: before + width_ns / 2,
                width_ns,
            }
        };
        let tries = (0..16).map(one);
        tries
            .min_by_key(|anchor| anchor.width_ns)
            .expect("16 tries")
    }

    /// Another moment of the same clock, before or after.
    pub fn monotonic_of(&self, moment: Instant) -> u64 {
        let nanoseconds = |duration: Duration| duration.as_nanos() as u64;
        match moment.checked_duration_since(self.instant) {
            Some(later) => self.monotonic_ns + nanoseconds(later),
            None => {
                let earlier = nanoseconds(self.instant.duration_since(moment));
                self.monotonic_ns.saturating_sub(earlier)
            }
        }
    }
}

/// Nanoseconds of `CLOCK_MONOTONIC`. Elsewhere than on Linux, where no kernel record is stamped with it: since the first
/// call.
#[cfg(target_os = "linux")]
pub(super) fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(not(target_os = "linux"))]
pub(super) fn monotonic_ns() -> u64 {
    static FIRST: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// The same moment on the monotonic clock and on the recorder's axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockPair {
    /// On the monotonic clock, from [`MonotonicAnchor::monotonic_of`].
    pub monotonic_ns: u64,
    /// On the recorder's axis.
    pub recording_ns: u64,
}

/// The recorder's nanoseconds for a moment on the monotonic clock: the line through two pairs, also before the first and
/// after the last; 0 for what lies before the recorder's origin. With both pairs at one moment: the rate is 1.
pub fn to_recording_ns(monotonic_ns: u64, anchors: &[ClockPair; 2]) -> u64 {
    let [first, last] = anchors;
    let difference = |a: u64, b: u64| i128::from(a) - i128::from(b);
    let base = difference(last.monotonic_ns, first.monotonic_ns);
    let axis = difference(last.recording_ns, first.recording_ns);
    let since = difference(monotonic_ns, first.monotonic_ns);
    let moved = match base {
        0 => since,
        // Rounded to the nearest; the product of two times of a run fits easily.
        _ => (since * axis + base.abs() / 2 * (base.signum())).div_euclid(base),
    };
    let recording = i128::from(first.recording_ns) + moved;
    recording.clamp(0, i128::from(u64::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_lies_between_readings_of_its_clock() {
        let before = monotonic_ns();
        let (start, anchor) = (Instant::now(), MonotonicAnchor::now());
        let end = Instant::now();
        let after = monotonic_ns();
        assert!((before..=after).contains(&anchor.monotonic_ns));
        let error = anchor.width_ns;
        assert!(anchor.monotonic_of(start) + error >= before);
        assert!(anchor.monotonic_of(end) <= after + error);
        assert!(anchor.monotonic_of(start) <= anchor.monotonic_ns);
        assert_eq!(anchor.monotonic_of(anchor.instant), anchor.monotonic_ns);
    }

    #[test]
    fn the_line_goes_through_both_pairs_and_on() {
        let pair = |monotonic_ns, recording_ns| ClockPair {
            monotonic_ns,
            recording_ns,
        };
        // The recorder's axis runs 1 in 1000 faster.
        let anchors = [pair(5_000_000, 1_000), pair(7_000_000, 2_003_000)];
        let at = |monotonic_ns| to_recording_ns(monotonic_ns, &anchors);
        assert_eq!(at(5_000_000), 1_000);
        assert_eq!(at(7_000_000), 2_003_000);
        assert_eq!(at(6_000_000), 1_002_000);
        assert_eq!(at(8_000_000), 3_004_000);
        assert_eq!(at(4_999_500), 500);
        assert_eq!(at(4_000_000), 0);
        let [first, _] = anchors;
        assert_eq!(to_recording_ns(5_000_123, &[first, first]), 1_123);
        assert_eq!(to_recording_ns(4_999_001, &[first, first]), 1);
    }
}
