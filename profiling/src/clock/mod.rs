//! Time-stamps of some nanoseconds' cost.
//!
//! Takes nothing; gives ticks while a run goes on, and afterwards nanoseconds for them. Knows no record.
//!
//! Ticks are those of the processor's counter where it is invariant, else nanoseconds of the monotonic clock. Two pairs
//! (ticks, nanoseconds), taken when the clock is made and when it is calibrated, give the rate between them; nothing is
//! trusted that the system says about the frequency.

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
    first: Pair,
}

/// The same moment on both clocks.
#[derive(Clone, Copy, Debug)]
struct Pair {
    ticks: u64,
    nanoseconds: u64,
}

/// The two pairs must be this far apart, so that the error of a pair (some tens of nanoseconds) is below 10 ppm.
const SHORTEST_BASE: Duration = Duration::from_millis(5);

impl Clock {
    /// The best clock of this machine.
    pub(crate) fn new() -> Self {
        Self::of_kind(if tsc::is_invariant() {
            ClockKind::Tsc
        } else {
            ClockKind::Monotonic
        })
    }

    pub(crate) fn of_kind(kind: ClockKind) -> Self {
        let origin = Instant::now();
        let first = Pair {
            ticks: 0,
            nanoseconds: 0,
        };
        let mut clock = Clock {
            kind,
            origin,
            first,
        };
        clock.first = clock.pair();
        clock
    }

    /// Now, in ticks.
    #[inline]
    pub(crate) fn ticks(&self) -> u64 {
        match self.kind {
            ClockKind::Tsc => tsc::now(),
            ClockKind::Monotonic => self.origin.elapsed().as_nanos() as u64,
        }
    }

    /// The rate since the clock was made. Waits until that is 5 ms ago.
    pub(crate) fn calibrate(&self) -> Calibration {
        if self.kind == ClockKind::Monotonic {
            return Calibration {
                kind: self.kind,
                origin_ticks: self.first.ticks,
                ns_per_tick: 1.0,
            };
        }
        std::thread::sleep(SHORTEST_BASE.saturating_sub(self.origin.elapsed()));
        let last = self.pair();
        let ticks = last.ticks.saturating_sub(self.first.ticks).max(1);
        let nanoseconds = last.nanoseconds - self.first.nanoseconds;
        Calibration {
            kind: self.kind,
            origin_ticks: self.first.ticks,
            ns_per_tick: nanoseconds as f64 / ticks as f64,
        }
    }

    /// Both clocks at one moment: of some tries the one with the shortest time between its two readings of the ticks.
    fn pair(&self) -> Pair {
        let reading = || {
            let before = self.ticks();
            let nanoseconds = self.origin.elapsed().as_nanos() as u64;
            let width = self.ticks().saturating_sub(before);
            let ticks = before + width / 2;
            (width, Pair { ticks, nanoseconds })
        };
        let readings = std::iter::repeat_with(reading).take(16);
        let (_, pair) = readings.min_by_key(|&(width, _)| width).expect("16 tries");
        pair
    }
}

/// How ticks become nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// What the ticks are.
    pub kind: ClockKind,
    /// The ticks at 0 ns: when the recorder was made.
    pub origin_ticks: u64,
    /// The rate.
    pub ns_per_tick: f64,
}

impl Calibration {
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
            let calibration = clock.calibrate();
            let measured = calibration.nanoseconds(end) - calibration.nanoseconds(start);
            let error = measured as f64 / elapsed.as_nanos() as f64 - 1.0;
            assert!(error.abs() < 0.01, "{kind:?}: off by {error}");
        }
    }
}
