//! A device's clock beside the observer's.
//!
//! Takes readings of both clocks at the same moment, one before and one after a stretch of a stream's work; gives the ticks of any
//! moment between them. Knows no task.
//!
//! ```text
//!   anchor    ticks before, the device's clock, ticks after: it was read in between, so the middle is off by half of that at most
//!   piece     the straight line through two anchors; what lies between them is off by no more than the worse of the two, and by
//!             what the device's clock departs from a straight line meanwhile
//! ```
//!
//! Pieces share their anchors, so the whole is one rising curve: times of a stream stay in order.

use treeqr_devices::{DeviceError, Stream};

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub(crate) device_ns: u64,
    pub(crate) ticks: u64,
    /// How far `ticks` may be off.
    pub(crate) error_ticks: u64,
}

/// A reading is taken so often, and the one that took least time counts: a thread may lose its core in between.
const TRIES: usize = 3;

impl Anchor {
    /// Reads both clocks. The stream should have nothing to do.
    pub(crate) fn take(
        stream: &mut dyn Stream,
        ticks: impl Fn() -> u64,
    ) -> Result<Anchor, DeviceError> {
        let mut best: Option<Anchor> = None;
        for _ in 0..TRIES {
            let before = ticks();
            let device_ns = stream.now()?;
            let length = ticks().saturating_sub(before);
            let error_ticks = length.div_ceil(2);
            if best.is_none_or(|best| error_ticks < best.error_ticks) {
                best = Some(Anchor {
                    device_ns,
                    ticks: before + length / 2,
                    error_ticks,
                });
            }
        }
        Ok(best.expect("at least one try"))
    }
}

/// The ticks of what the device's clock showed as `device_ns`, by the line through two anchors.
pub(crate) fn ticks_of(from: Anchor, to: Anchor, device_ns: u64) -> u64 {
    let span_ns = to.device_ns.saturating_sub(from.device_ns);
    let span = to.ticks.saturating_sub(from.ticks);
    let inside = device_ns.saturating_sub(from.device_ns).min(span_ns);
    match span_ns {
        0 => from.ticks,
        _ => from.ticks + (u128::from(inside) * u128::from(span) / u128::from(span_ns)) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a clock shows that is off from the beginning, runs fast, and faster and faster: 3 ticks are a nanosecond.
    fn device_ns(ticks: f64) -> u64 {
        let ns = ticks / 3.0;
        (5e9 + ns * 1.002 + ns * ns * 1e-14) as u64
    }

    #[test]
    fn moments_come_back_within_the_error_of_the_anchors_and_in_order() {
        // Anchors that are off by up to 40 ticks, to both sides.
        let anchors: Vec<Anchor> = (0..8u64)
            .map(|k| {
                let ticks = 30_000_000 * k;
                let off = [-40.0, 35.0, 0.0, 40.0][k as usize % 4];
                Anchor {
                    device_ns: device_ns(ticks as f64 + off),
                    ticks,
                    error_ticks: 40,
                }
            })
            .collect();
        let mut last = 0;
        for pair in anchors.windows(2) {
            for step in 0..1000 {
                let ticks = pair[0].ticks + 30_000 * step;
                let found = ticks_of(pair[0], pair[1], device_ns(ticks as f64));
                // A stretch of 10 ms departs from its line by a quarter of a nanosecond.
                assert!(found.abs_diff(ticks) <= 40 + 4, "{ticks}: {found}");
                assert!(found >= last);
                last = found;
            }
        }
        // A clock that stands still, and moments outside.
        let (a, b) = (anchors[1], anchors[2]);
        assert_eq!(ticks_of(a, a, 7), a.ticks);
        assert_eq!(ticks_of(a, b, 0), a.ticks);
        assert_eq!(ticks_of(a, b, u64::MAX), b.ticks);
    }
}
