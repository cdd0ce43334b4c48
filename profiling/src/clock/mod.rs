//! Time-stamps of some nanoseconds' cost.
//!
//! Takes nothing; gives ticks while a run goes on, and afterwards nanoseconds for them. Knows no record.
//!
//! Ticks are those of the processor's counter where it is invariant, else nanoseconds of the monotonic clock. Two anchors
//! (the same moment on both clocks), taken when the clock is made and when it is calibrated, give offset and rate; nothing is
//! trusted that the system says about the frequency. Anchors in between say how far off that line is.

mod tsc;

use std::time::{Duration, Instant};

/// What ticks count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockKind {
    /// Cycles of the processor's invariant time-stamp counter.
    Tsc,
    /// Nanoseconds of the operating system's monotonic clock.
    Monotonic,
}

/// A running clock.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    kind: ClockKind,
    origin: Instant,
    first: Anchor,
}

/// The same moment on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// On the clock of the records.
    pub ticks: u64,
    /// On the monotonic clock, in nanoseconds since the recorder was made.
    pub ns: u64,
    /// Between the readings of the ticks before and after that of the monotonic clock: the moment lies between them, `ticks` is
    /// the middle.
    pub width_ticks: u64,
}

/// The two anchors must be this far apart, so that the error of one (some tens of nanoseconds) is below 10 ppm.
const SHORTEST_BASE: Duration = Duration::from_millis(5);

impl Clock {
    /// The best clock of this machine.
    pub(crate) fn new() -> Self {
        Self::of_kind(ClockKind::Tsc)
    }

    /// A clock of this kind, or the monotonic one where the counter is not invariant.
    pub(crate) fn of_kind(kind: ClockKind) -> Self {
        let kind = match kind {
            ClockKind::Tsc if tsc::is_invariant() => kind,
            _ => ClockKind::Monotonic,
        };
        let first = Anchor {
            ticks: 0,
            ns: 0,
            width_ticks: 0,
        };
        let mut clock = Clock {
            kind,
            origin: Instant::now(),
            first,
        };
        clock.first = clock.anchor();
        clock
    }

    /// Now, in ticks. On x86-64 about the time of reading the counter: instructions before it may still be under way.
    #[inline]
    pub(crate) fn ticks(&self) -> u64 {
        match self.kind {
            ClockKind::Tsc => tsc::now(),
            ClockKind::Monotonic => self.origin.elapsed().as_nanos() as u64,
        }
    }

    /// Offset and rate since the clock was made, and how well the anchors `between` agree with them. Waits until the clock is
    /// 5 ms old.
    pub(crate) fn calibrate(&self, between: &[Anchor]) -> Calibration {
        if self.kind == ClockKind::Tsc {
            std::thread::sleep(SHORTEST_BASE.saturating_sub(self.origin.elapsed()));
        }
        Calibration::of(self.kind, self.first, self.anchor(), between)
    }

    /// Both clocks now: of some tries the one with the shortest time between its two readings of the ticks. Some microseconds.
    pub(crate) fn anchor(&self) -> Anchor {
        if self.kind == ClockKind::Monotonic {
            let ns = self.ticks();
            return Anchor {
                ticks: ns,
                ns,
                width_ticks: 0,
            };
        }
        let reading = || {
            let before = self.ticks();
            let ns = self.origin.elapsed().as_nanos() as u64;
            let width_ticks = self.ticks().saturating_sub(before);
            Anchor {
                ticks: before + width_ticks / 2,
                ns,
                width_ticks,
            }
        };
        let readings = std::iter::repeat_with(reading).take(16);
        readings.min_by_key(|a| a.width_ticks).expect("16 tries")
    }
}

/// How ticks became nanoseconds: the line through two anchors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// What the ticks are.
    pub kind: ClockKind,
    /// The ticks at 0 ns: when the recorder was made.
    pub origin_ticks: u64,
    /// The rate.
    pub ns_per_tick: f64,
    /// When the recorder was made.
    pub first: Anchor,
    /// When it was finished.
    pub last: Anchor,
    /// How far a time may be off, in nanoseconds: the largest distance between the line and the anchors taken when runs began, or half
    /// the width of an anchor where that is more.
    pub residual_ns: f64,
}

impl Calibration {
    fn of(kind: ClockKind, first: Anchor, last: Anchor, between: &[Anchor]) -> Self {
        let ns_per_tick = match kind {
            ClockKind::Monotonic => 1.0,
            ClockKind::Tsc => {
                let ticks = last.ticks.saturating_sub(first.ticks).max(1);
                last.ns.saturating_sub(first.ns) as f64 / ticks as f64
            }
        };
        let before = (first.ns as f64 / ns_per_tick.max(f64::MIN_POSITIVE)) as u64;
        let mut line = Calibration {
            kind,
            origin_ticks: first.ticks.saturating_sub(before),
            ns_per_tick,
            first,
            last,
            residual_ns: 0.0,
        };
        for anchor in [&first, &last].into_iter().chain(between) {
            let off = line.nanoseconds(anchor.ticks).abs_diff(anchor.ns) as f64;
            let width = anchor.width_ticks as f64 * ns_per_tick / 2.0;
            line.residual_ns = line.residual_ns.max(off).max(width);
        }
        line
    }

    /// Ticks in a second.
    pub fn rate_hz(&self) -> f64 {
        1e9 / self.ns_per_tick
    }

    /// Nanoseconds from the origin to `ticks`; 0 for anything before.
    pub fn nanoseconds(&self, ticks: u64) -> u64 {
        (ticks.saturating_sub(self.origin_ticks) as f64 * self.ns_per_tick) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_measure_a_sleep() {
        for kind in [Clock::new().kind, ClockKind::Monotonic] {
            let clock = Clock::of_kind(kind);
            let (begin, start) = (Instant::now(), clock.ticks());
            std::thread::sleep(Duration::from_millis(20));
            let (end, elapsed) = (clock.ticks(), begin.elapsed());
            let calibration = clock.calibrate(&[]);
            let measured = calibration.nanoseconds(end) - calibration.nanoseconds(start);
            let error = measured as f64 / elapsed.as_nanos() as f64 - 1.0;
            assert!(error.abs() < 0.01, "{kind:?}: off by {error}");
        }
    }

    #[test]
    fn offset_rate_and_what_is_off_follow_from_the_anchors() {
        let anchor = |ticks, ns, width_ticks| Anchor {
            ticks,
            ns,
            width_ticks,
        };
        // Half a nanosecond a tick; 0 ns were at 900 ticks.
        let (first, last) = (anchor(1000, 50, 20), anchor(201_000, 100_050, 30));
        let line = Calibration::of(ClockKind::Tsc, first, last, &[]);
        assert_eq!((line.origin_ticks, line.rate_hz()), (900, 2e9));
        assert_eq!(line.nanoseconds(1100), 100);
        assert_eq!(line.nanoseconds(10), 0);
        assert_eq!(line.residual_ns, 7.5);
        let between = [anchor(101_000, 50_090, 4), anchor(51_000, 25_030, 4)];
        let line = Calibration::of(ClockKind::Tsc, first, last, &between);
        assert_eq!(line.residual_ns, 40.0);
        let line = Calibration::of(ClockKind::Monotonic, anchor(70, 70, 0), last, &[]);
        assert_eq!((line.origin_ticks, line.ns_per_tick), (0, 1.0));
    }
}
