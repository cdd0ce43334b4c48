//! From the system's tables to those of a trace: spans off the processor, and counters of tasks.
//!
//! Takes what the modules of [`system`](crate::system) recorded, and how their clock relates to the recorder's; gives rows. Knows no
//! run: whose rows they are is said by lanes.

use super::manifest::ModuleFacts;
use super::schema::{Counter, Switch, SwitchReason};
use crate::system::{ClockPair, SwitchEvent, SystemRecording, to_recording_ns};
use treeqr_runtime::Lane;

/// The worker of a lane; none for the submission.
pub(super) fn worker_of(lane: Lane) -> Option<u16> {
    match lane {
        Lane::Submission => None,
        Lane::Worker(worker) => Some(worker as u16),
    }
}

/// Spans in which the kernel did not run a thread, by their begin. A thread that came back on another unit was migrated,
/// whatever it had left the first one for.
pub fn switches(system: &SystemRecording, clock: &[ClockPair; 2]) -> Vec<Switch> {
    let mut open: Vec<Option<Switch>> = vec![None; system.threads.len()];
    let mut out = Vec::with_capacity(system.switches.len() / 2);
    for row in &system.switches {
        let at_ns = to_recording_ns(row.monotonic_ns, clock);
        let slot = &mut open[row.thread as usize];
        match row.event {
            SwitchEvent::Blocked | SwitchEvent::Preempted => {
                // Its return was lost.
                out.extend(slot.take());
                *slot = Some(Switch {
                    worker: worker_of(system.lane(row.thread)),
                    out_ns: at_ns,
                    in_ns: None,
                    from_unit: row.cpu,
                    to_unit: None,
                    reason: match row.event {
                        SwitchEvent::Preempted => SwitchReason::Preempted,
                        _ => SwitchReason::Voluntary,
                    },
                });
            }
            SwitchEvent::Resumed | SwitchEvent::Migrated => {
                // A thread comes onto its processor before it is seen to leave one.
                let Some(mut span) = slot.take() else {
                    continue;
                };
                span.in_ns = Some(at_ns.max(span.out_ns));
                span.to_unit = Some(row.cpu);
                if row.event == SwitchEvent::Migrated {
                    span.reason = SwitchReason::Migrated;
                }
                out.push(span);
            }
        }
    }
    out.extend(open.into_iter().flatten());
    out.sort_by_key(|span| (span.out_ns, span.worker));
    out
}

/// One row per task and counter, by task.
pub fn counters(system: &SystemRecording) -> Vec<Counter> {
    let of_row = |row: &crate::system::CounterRow| {
        let task = row.task.0;
        let values = row.values;
        let names = system.counter_names().zip(values);
        let cells = names.map(move |(name, value)| Counter {
            task,
            counter: name.replace('-', "_"),
            value,
        });
        cells.collect::<Vec<_>>()
    };
    let mut out: Vec<_> = system.counters.iter().flat_map(of_row).collect();
    out.sort_by(|a, b| (a.task, &a.counter).cmp(&(b.task, &b.counter)));
    out
}

/// What the manifest says of the modules that were asked for: `kernel` and `counters`.
pub fn modules(system: &SystemRecording, kernel: bool, counters: bool) -> Vec<ModuleFacts> {
    let missing = |kernel: bool| -> Vec<String> {
        let of_kernel = |what: &str| what.split(", ").any(|name| name.starts_with("kernel"));
        let rows = system.missing.iter();
        rows.filter(|row| of_kernel(&row.what) == kernel)
            .map(ToString::to_string)
            .collect()
    };
    let facts = |asked: bool, module: &str, lost_records, missing| {
        asked.then(|| ModuleFacts {
            module: module.to_owned(),
            missing,
            lost_records,
        })
    };
    let kernel = facts(kernel, "kernel", system.lost, missing(true));
    let counters = facts(counters, "counters", 0, missing(false));
    kernel.into_iter().chain(counters).collect()
}
