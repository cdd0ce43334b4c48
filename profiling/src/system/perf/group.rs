//! The counters of one thread, read together.
//!
//! Takes the counters that are asked for; gives those that there are, and why not the others.

use super::super::modules::{CounterEntry, CounterKind, MAX_COUNTERS};
use super::{Denied, Gate, Step};
use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware, Raw, Software};
use perf_event::{Builder, Counter, Group};
use std::io;

/// The counters of one thread, read together by one system call.
pub(in crate::system) struct CounterGroup {
    group: Group,
    /// They count as long as they are open.
    _members: Vec<Counter>,
}

/// How a counter was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::system) struct Opened {
    pub(in crate::system) entry: &'static CounterEntry,
    /// What happens in the kernel is not counted.
    pub(in crate::system) user_only: bool,
}

/// The values of a group since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::system) struct Reading {
    pub(in crate::system) values: [u64; MAX_COUNTERS],
    /// Time on a processor.
    pub(in crate::system) enabled_ns: u64,
    /// Of that, with the group on the processor's counters.
    pub(in crate::system) running_ns: u64,
}

impl CounterGroup {
    /// For the calling thread: those of `asked` that can be had, side by side in this order; why the others can't; and
    /// what is not counted of those that are.
    pub(in crate::system) fn probe(
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
                Err(in_kernel) if in_kernel.is_about_rights() && !only_in_kernel(entry.kind) => {
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
    pub(in crate::system) fn open(wanted: &[Opened], gate: Gate) -> Result<CounterGroup, Denied> {
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
    pub(in crate::system) fn read(&mut self) -> io::Result<Reading> {
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

/// Whether it happens only in the kernel, so that a count of user code alone says nothing.
fn only_in_kernel(kind: CounterKind) -> bool {
    matches!(
        kind,
        CounterKind::ContextSwitches | CounterKind::CpuMigrations
    )
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
    // Enabled before the group is: a member that is enabled while its group runs begins to count only after the
    // thread's next context switch (seen on Linux 6.18).
    // (Time has no sides; asked for without the kernel's it needs no right.)
    let one_side = user_only || entry.kind == CounterKind::TaskClock;
    builder.exclude_kernel(one_side).enabled(true);
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
    use super::super::super::modules::COUNTERS;
    use super::*;

    #[test]
    fn a_group_counts_from_the_beginning() {
        let asked = || COUNTERS.iter().filter(|c| c.kind == CounterKind::TaskClock);
        let (group, _, denied) = CounterGroup::probe(asked(), |_| Ok(()));
        let Some(mut group) = group else {
            return eprintln!("no perf events here: {denied:?}");
        };
        for _ in 0..10 {
            let sum: u64 = (0..100_000).map(std::hint::black_box).sum();
            std::hint::black_box(sum);
            let reading = group.read().unwrap();
            // Both are this thread's time on a processor.
            assert!(reading.values[0] > reading.enabled_ns / 2, "{reading:?}");
            assert_eq!(reading.running_ns, reading.enabled_ns);
        }
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
