//! The tasks of a stream that wait for their times: a device's clock is known after the fact, between two readings beside the host's.
//!
//! Takes records with the device's own begin and end; gives them to the track of their worker with true times, in order, some hundred
//! at once. Knows no clock but those it is shown.

use crate::machine::{Anchor, ticks_of};
use crate::observer::{TaskRecord, Track};
use treeqr_devices::{Span, Stream};

/// Records that wait at most; a reading of both clocks is some waits for the device.
const MOST: usize = 256;
/// A worker without a task lets go of them if there are so many.
const SOME: usize = 32;

/// What waits.
pub(super) struct DeviceLog {
    /// The last reading of both clocks; `None` if there is none: then times are those that the host saw.
    from: Option<Anchor>,
    held: Vec<(TaskRecord, Span)>,
    /// The largest error of a reading.
    error_ticks: u64,
    /// The end of the task before.
    last_end: u64,
}

impl DeviceLog {
    /// Reads both clocks for the first time.
    pub(super) fn new(stream: &mut dyn Stream, ticks: impl Fn() -> u64) -> Self {
        let from = Anchor::take(stream, ticks).ok();
        DeviceLog {
            from,
            held: Vec::with_capacity(MOST),
            error_ticks: from.map_or(0, |anchor| anchor.error_ticks),
            last_end: 0,
        }
    }

    /// A task has ended. Its record has what the host saw: a start before the device's, and an end after it.
    pub(super) fn note(&mut self, record: TaskRecord, span: Span) {
        self.held.push((record, span));
    }

    /// Whether so many wait that they should go now.
    pub(super) fn is_full(&self, is_idle: bool) -> bool {
        self.held.len() >= if is_idle { SOME } else { MOST }
    }

    /// Gives all that waits to `track`.
    pub(super) fn flush(
        &mut self,
        stream: &mut dyn Stream,
        ticks: impl Fn() -> u64,
        track: &mut impl Track,
    ) {
        let ends = match self.held.is_empty() {
            true => None,
            false => self.from.and_then(|_| Anchor::take(stream, ticks).ok()),
        };
        for (mut record, span) in self.held.drain(..) {
            if let (Some(from), Some(to)) = (self.from, ends) {
                let earliest = record.start.max(self.last_end.min(record.end));
                let start = ticks_of(from, to, span.begin_ns).clamp(earliest, record.end);
                record.end = ticks_of(from, to, span.end_ns).clamp(start, record.end);
                record.start = start;
            }
            self.last_end = record.end;
            track.task(&record);
        }
        if let Some(to) = ends {
            self.error_ticks = self.error_ticks.max(to.error_ticks);
            self.from = ends;
        }
    }

    /// How far times may be off, in ticks.
    pub(super) fn error_ticks(&self) -> u64 {
        self.error_ticks
    }
}
