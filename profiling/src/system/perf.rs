//! The door to the kernel's perf events, on Linux.
//!
//! Takes what to open for the calling thread; gives records of context switches from a ring that the kernel writes, and
//! values of counters. Knows no lane, no task and no table. What can't be had is a [`Denied`], with its reason.
//!
//! Context switches are read from a dummy event's side records: they need no right over the kernel's own code, and no
//! counter of the processor. A running thread changes its processor only while it is switched out, so the processors of
//! these records tell migrations too.

pub(super) use super::denied::Denied;
use super::denied::Step;
use super::modules::{CounterEntry, CounterKind, MAX_COUNTERS};
use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware, Raw, Software};
use perf_event::{Builder, Clock, Counter, Group, ReadFormat, SampleFlag, Sampler};
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
pub(super) struct RawSwitch {
    pub(super) monotonic_ns: u64,
    pub(super) cpu: u32,
    pub(super) out: bool,
    /// Switched out although it could have run on.
    pub(super) preempted: bool,
}

/// What is asked before each opening: tests refuse here what the system would.
pub(super) type Gate = fn(&str) -> io::Result<()>;

/// The context switches of one thread.
pub(super) struct SwitchRing {
    sampler: Sampler,
    lost_records: u64,
}

impl SwitchRing {
    /// For the calling thread, from now on.
    pub(super) fn open(gate: Gate) -> Result<SwitchRing, Denied> {
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
    pub(super) fn drain(&mut self, mut each: impl FnMut(RawSwitch)) {
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
    pub(super) fn lost(&mut self) -> u64 {
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

/// The counters of one thread, read together by one system call.
pub(super) struct CounterGroup {
    group: Group,
    /// They count as long as they are open.
    _members: Vec<Counter>,
}

/// How a counter was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opened {
    pub(super) entry: &'static CounterEntry,
    /// What happens in the kernel is not counted.
    pub(super) user_only: bool,
}

/// The values of a group since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) values: [u64; MAX_COUNTERS],
    /// Time on a processor.
    pub(super) enabled_ns: u64,
    /// Of that, with the group on the processor's counters.
    pub(super) running_ns: u64,
}

impl CounterGroup {
    /// For the calling thread: those of `asked` that can be had, side by side in this order; why the others can't; and
    /// what is not counted of those that are.
    pub(super) fn probe(
        asked: impl IntoIterator<Item = &'static CounterEntry>,
        gate: Gate,
    ) -> (Option<CounterGroup>, Vec<Opened>, Vec<(String, Denied)>) {
        let mut opened = Vec::new();
        let mut denied = Vec::new();
        let mut members = Vec::new();
        let asked: Vec<_> = asked.into_iter().collect();
        let mut group = match gate("counters").and_then(|()| Group::new()) {
            Ok(group) => group,
            Err(error) => {
                let why = Denied::new(Step::Open, &error);
                denied.extend(
                    asked
                        .iter()
                        .map(|entry| (entry.name.to_owned(), why.clone())),
                );
                return (None, opened, denied);
            }
        };
        for entry in asked {
            let mut add = |user_only| add(&mut group, entry, user_only, gate);
            let (member, user_only) = match add(false) {
                Err(in_kernel) if in_kernel.is_about_rights() && !entry.kind.only_in_kernel() => {
                    let member = add(true);
                    if member.is_ok() {
                        denied.push((format!("{} in the kernel", entry.name), in_kernel));
                    }
                    (member, true)
                }
                member => (member, false),
            };
            match member {
                Ok(member) => {
                    members.push(member);
                    opened.push(Opened { entry, user_only });
                }
                Err(why) => denied.push((entry.name.to_owned(), why)),
            }
        }
        if opened.is_empty() {
            return (None, opened, denied);
        }
        if let Err(error) = group.enable() {
            let why = Denied::new(Step::Open, &error);
            let all = opened.drain(..);
            denied.extend(all.map(|one| (one.entry.name.to_owned(), why.clone())));
            return (None, opened, denied);
        }
        let group = CounterGroup {
            group,
            _members: members,
        };
        (Some(group), opened, denied)
    }

    /// For the calling thread: all of these, or none.
    pub(super) fn open(wanted: &[Opened], gate: Gate) -> Result<CounterGroup, Denied> {
        gate("counters").map_err(|error| Denied::new(Step::Open, &error))?;
        let open = |error: io::Error| Denied::new(Step::Open, &error);
        let mut group = Group::new().map_err(open)?;
        let mut members = Vec::with_capacity(wanted.len());
        for one in wanted {
            members.push(add(&mut group, one.entry, one.user_only, gate)?);
        }
        group.enable().map_err(open)?;
        Ok(CounterGroup {
            group,
            _members: members,
        })
    }

    /// All values now: one system call.
    pub(super) fn read(&mut self) -> io::Result<Reading> {
        let data = self.group.read()?;
        let mut reading = Reading::default();
        for (value, entry) in reading.values.iter_mut().zip(data.iter()) {
            *value = entry.value();
        }
        let ns = |time: Option<std::time::Duration>| time.map_or(0, |t| t.as_nanos() as u64);
        reading.enabled_ns = ns(data.time_enabled());
        reading.running_ns = ns(data.time_running());
        Ok(reading)
    }
}

/// One more member of a group.
fn add(
    group: &mut Group,
    entry: &CounterEntry,
    user_only: bool,
    gate: Gate,
) -> Result<Counter, Denied> {
    let cache = |which| Cache {
        which,
        operation: CacheOp::READ,
        result: CacheResult::MISS,
    };
    let mut builder = match entry.kind {
        CounterKind::Cycles => Builder::new(Hardware::CPU_CYCLES),
        CounterKind::Instructions => Builder::new(Hardware::INSTRUCTIONS),
        CounterKind::L1Misses => Builder::new(cache(CacheId::L1D)),
        CounterKind::L2Misses => {
            Builder::new(Raw::new(l2_misses().ok_or(Denied::UnknownProcessor)?))
        }
        CounterKind::L3Misses => Builder::new(cache(CacheId::LL)),
        CounterKind::PageFaults => Builder::new(Software::PAGE_FAULTS),
        CounterKind::ContextSwitches => Builder::new(Software::CONTEXT_SWITCHES),
        CounterKind::CpuMigrations => Builder::new(Software::CPU_MIGRATIONS),
        CounterKind::TaskClock => Builder::new(Software::TASK_CLOCK),
    };
    builder.exclude_kernel(user_only);
    gate(entry.name)
        .and_then(|()| group.add(&builder))
        .map_err(|error| Denied::new(Step::Open, &error))
}

/// The number of the event "misses of the second-level cache", which has no common name: of AMD's Zen
/// (`l2_cache_req_stat.ic_dc_miss_in_l2`) and of Intel's cores with AVX-512 (`L2_RQSTS.MISS`). On others the same
/// number may count something else.
fn l2_misses() -> Option<u64> {
    let about = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    l2_misses_of(&about)
}

fn l2_misses_of(cpuinfo: &str) -> Option<u64> {
    let field = |name: &str| {
        let mut lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        let (_, value) = lines.find(|(field, _)| field.trim() == name)?;
        Some(value.trim())
    };
    let family: u32 = field("cpu family")?.parse().ok()?;
    let flags = field("flags").unwrap_or_default();
    match field("vendor_id")? {
        "AuthenticAMD" if family >= 0x17 => Some(0x0964),
        "GenuineIntel" if family == 6 && flags.split(' ').any(|flag| flag == "avx512f") => {
            Some(0x3f24)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_is_counted() {
        const SLEEPS: usize = 300;
        let mut ring = match SwitchRing::with_bytes(SMALLEST_RING_BYTES, |_| Ok(())) {
            Ok(ring) => ring,
            Err(why) => return eprintln!("no perf events here: {why}"),
        };
        for _ in 0..SLEEPS {
            std::thread::sleep(std::time::Duration::from_micros(1));
        }
        let mut kept = 0;
        ring.drain(|_| kept += 1);
        // 32 bytes a record.
        assert!((64..=128).contains(&kept), "{kept}");
        let lost = ring.lost() as usize;
        match ring.sampler.read_full().unwrap().lost() {
            Some(_) => assert!(kept + lost >= 2 * SLEEPS, "{kept} kept, {lost} lost"),
            None => eprintln!("before Linux 6.0 the kernel tells of losses later"),
        }
        // There is room again, and the kernel says in the ring what it had no room for.
        std::thread::sleep(std::time::Duration::from_micros(1));
        let mut later = 0;
        ring.drain(|_| later += 1);
        assert!(later >= 2, "{later}");
        assert!(ring.lost_records > 0 && ring.lost() as usize >= 2 * SLEEPS - 128);
    }

    #[test]
    fn the_second_level_is_counted_where_its_number_is_known() {
        let about = |vendor: &str, family: u32, flags: &str| {
            let text = format!(
                "processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: 1\nflags\t\t: fpu {flags}\n"
            );
            l2_misses_of(&text)
        };
        assert_eq!(about("AuthenticAMD", 25, "avx2"), Some(0x0964));
        assert_eq!(about("AuthenticAMD", 21, "avx"), None);
        assert_eq!(about("GenuineIntel", 6, "avx2 avx512f"), Some(0x3f24));
        assert_eq!(about("GenuineIntel", 6, "avx2"), None);
        assert_eq!(about("HygonGenuine", 24, "avx2"), None);
        assert_eq!(l2_misses_of(""), None);
    }
}
