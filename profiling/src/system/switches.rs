//! The context switches of one thread, on their way from the kernel's ring to rows.
//!
//! Takes a ring that the kernel writes; gives rows, with migrations found from the processors. Any thread may look;
//! the one that is observed does not, until it ends.

use super::perf::{RawSwitch, SwitchRing};
use super::recording::{SwitchEvent, SwitchRow};

/// A thread's ring and the rows that were taken out of it.
pub(super) struct ThreadSwitches {
    ring: Option<SwitchRing>,
    rows: Rows,
    lost: u64,
}

impl ThreadSwitches {
    pub(super) fn new(thread: u32, ring: SwitchRing) -> Self {
        ThreadSwitches {
            ring: Some(ring),
            rows: Rows::new(thread),
            lost: 0,
        }
    }

    /// Takes out what the kernel wrote, to make room, and says how many rows it was.
    pub(super) fn drain(&mut self) -> usize {
        let before = self.rows.rows.len();
        if let Some(ring) = &mut self.ring {
            ring.drain(|raw| self.rows.push(raw));
        }
        self.rows.rows.len() - before
    }

    /// The last look; no more is recorded.
    pub(super) fn close(&mut self) {
        self.drain();
        if let Some(mut ring) = self.ring.take() {
            self.lost = ring.lost();
        }
    }

    /// The rows, and how many are lost.
    pub(super) fn take(&mut self) -> (Vec<SwitchRow>, u64) {
        self.close();
        (std::mem::take(&mut self.rows.rows), self.lost)
    }
}

struct Rows {
    thread: u32,
    /// The processor that the thread left last.
    left: Option<u32>,
    rows: Vec<SwitchRow>,
}

impl Rows {
    fn new(thread: u32) -> Self {
        Rows {
            thread,
            left: None,
            rows: Vec::new(),
        }
    }

    fn push(&mut self, raw: RawSwitch) {
        let event = match (raw.out, raw.preempted) {
            (true, true) => SwitchEvent::Preempted,
            (true, false) => SwitchEvent::Blocked,
            (false, _) => match self.left {
                Some(left) if left != raw.cpu => SwitchEvent::Migrated,
                _ => SwitchEvent::Resumed,
            },
        };
        self.left = raw.out.then_some(raw.cpu);
        self.rows.push(SwitchRow {
            monotonic_ns: raw.monotonic_ns,
            thread: self.thread,
            cpu: raw.cpu,
            event,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SwitchEvent::*;

    #[test]
    fn migrations_are_found_from_the_processors() {
        let mut rows = Rows::new(3);
        let history = [
            // out, preempted, processor
            (true, false, 0),
            (false, false, 0),
            (true, true, 0),
            (false, false, 1),
            // Lost: where it was switched out after this.
            (false, false, 0),
            (true, true, 0),
        ];
        for (k, (out, preempted, cpu)) in (0..).zip(history) {
            rows.push(RawSwitch {
                monotonic_ns: k,
                cpu,
                out,
                preempted,
            });
        }
        let events: Vec<_> = rows.rows.iter().map(|row| row.event).collect();
        assert_eq!(
            events,
            [Blocked, Resumed, Preempted, Migrated, Resumed, Preempted]
        );
        let last = rows.rows[5];
        assert_eq!((last.monotonic_ns, last.thread, last.cpu), (5, 3, 0));
    }
}
