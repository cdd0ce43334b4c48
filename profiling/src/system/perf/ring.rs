//! The context switches of one thread, as the kernel writes them into a ring.
//!
//! Takes nothing but the calling thread; gives raw records to whichever thread looks.
//!
//! They are the side records of a dummy event: these need no right over the kernel's own code, and no counter of the
//! processor. A running thread changes its processor only while it is switched out, so the processors of these records
//! tell migrations too.

use super::{Denied, Gate, Step};
use perf_event::events::Software;
use perf_event::{Builder, Clock, Counter, ReadFormat, SampleFlag, Sampler};
use std::io;

/// Bytes of a ring: 16384 context switches between two looks at it. With its first page it is what a user without
/// rights may lock for each processor by default (`/proc/sys/kernel/perf_event_mlock_kb`, 516).
const RING_BYTES: usize = 512 << 10;
const SMALLEST_RING_BYTES: usize = 4 << 10;

// The kind of a record and one of its flags (linux/perf_event.h).
const RECORD_LOST: u32 = 2;
const RECORD_SWITCH: u32 = 14;
const MISC_SWITCH_OUT: u16 = 1 << 13;
const MISC_SWITCH_OUT_PREEMPT: u16 = 1 << 14;

/// One context switch as the kernel wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::system) struct RawSwitch {
    pub(in crate::system) monotonic_ns: u64,
    pub(in crate::system) cpu: u32,
    pub(in crate::system) out: bool,
    /// Switched out although it could have run on.
    pub(in crate::system) preempted: bool,
}

/// The context switches of one thread.
pub(in crate::system) struct SwitchRing {
    sampler: Sampler,
    lost_records: u64,
}

impl SwitchRing {
    /// For the calling thread, from now on.
    pub(in crate::system) fn open(gate: Gate) -> Result<SwitchRing, Denied> {
        Self::with_bytes(RING_BYTES, gate)
    }

    /// With a ring of at most so many bytes, a power of two.
    fn with_bytes(mut bytes: usize, gate: Gate) -> Result<SwitchRing, Denied> {
        let mut format = ReadFormat::LOST;
        loop {
            let counter = match open_switches(format, gate) {
                // Linux before 6.0 does not know the count of lost records.
                Err(error) if is_invalid(&error) && !format.is_empty() => {
                    format = ReadFormat::empty();
                    continue;
                }
                counter => counter.map_err(|error| Denied::new(Step::Open, &error))?,
            };
            match counter.sampled(bytes) {
                Ok(sampler) => {
                    return Ok(SwitchRing {
                        sampler,
                        lost_records: 0,
                    });
                }
                Err(error) if bytes <= SMALLEST_RING_BYTES => {
                    return Err(Denied::new(Step::Ring, &error));
                }
                Err(_) => bytes /= 2,
            }
        }
    }

    /// Takes out what the kernel wrote since the last time.
    pub(in crate::system) fn drain(&mut self, mut each: impl FnMut(RawSwitch)) {
        while let Some(record) = self.sampler.next_record() {
            let data = record.to_contiguous();
            match record.ty() {
                RECORD_SWITCH => {
                    let out = record.misc() & MISC_SWITCH_OUT != 0;
                    // Process and thread, time, processor.
                    if let (Some(monotonic_ns), Some(cpu)) = (u64_at(&data, 8), u64_at(&data, 16)) {
                        each(RawSwitch {
                            monotonic_ns,
                            cpu: cpu as u32,
                            out,
                            preempted: record.misc() & MISC_SWITCH_OUT_PREEMPT != 0,
                        });
                    }
                }
                // The event, and how many records found no room.
                RECORD_LOST => self.lost_records += u64_at(&data, 8).unwrap_or(0),
                _ => {}
            }
        }
    }

    /// Records that found no room in the ring until now. (Before Linux 6.0: those that the kernel has told of in the
    /// ring, which it does at the next record that finds room.)
    pub(in crate::system) fn lost(&mut self) -> u64 {
        let counted = self.sampler.read_full().ok();
        let counted = counted.and_then(|data| data.lost());
        counted.unwrap_or(0).max(self.lost_records)
    }
}

/// The event of a ring, for the calling thread.
fn open_switches(format: ReadFormat, gate: Gate) -> io::Result<Counter> {
    gate("context switches")?;
    Builder::new(Software::DUMMY)
        .context_switch(true)
        .sample_id_all(true)
        .sample(SampleFlag::TID)
        .sample(SampleFlag::TIME)
        .sample(SampleFlag::CPU)
        .clockid(Clock::MONOTONIC)
        .read_format(format)
        .enabled(true)
        .build()
}

/// The 64-bit number of this machine's byte order at a place; `None` where the record is too short.
fn u64_at(data: &[u8], at: usize) -> Option<u64> {
    let bytes = data.get(at..at + 8)?;
    Some(u64::from_ne_bytes(bytes.try_into().expect("8 bytes")))
}

fn is_invalid(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::INVAL)
}

#[cfg(test)]
mod tests {
    use super::super::super::totals::{thread_id, totals_of};
    use super::*;

    #[test]
    fn what_finds_no_room_is_counted() {
        let mut ring = match SwitchRing::with_bytes(SMALLEST_RING_BYTES, |_| Ok(())) {
            Ok(ring) => ring,
            Err(why) => return eprintln!("no perf events here: {why}"),
        };
        let id = thread_id().expect("Linux has /proc");
        let switches = || {
            let totals = totals_of(id).expect("Linux has /proc");
            (totals.voluntary + totals.involuntary) as usize
        };
        let before = switches();
        while switches() < before + 200 {
            std::thread::sleep(std::time::Duration::from_micros(50));
        }
        // Out and in.
        let records = 2 * (switches() - before);
        let mut kept = 0;
        ring.drain(|_| kept += 1);
        // 32 bytes a record.
        assert!((64..=128).contains(&kept), "{kept}");
        match ring.sampler.read_full().unwrap().lost() {
            Some(lost) => assert!(
                kept + lost as usize >= records,
                "{kept} + {lost}, {records}"
            ),
            None => eprintln!("before Linux 6.0 the kernel tells of losses later"),
        }
        // There is room again, and the kernel says in the ring what it had no room for.
        let before = switches();
        while switches() == before {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let mut later = 0;
        ring.drain(|_| later += 1);
        assert!(later >= 2, "{later}");
        assert!(kept + ring.lost_records as usize >= records);
        assert!(ring.lost() >= ring.lost_records);
    }
}
