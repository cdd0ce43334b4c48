//! When the kernel did not run a worker: it slept, another program had its processing unit, or it was moved to another unit.

use super::spans::{Kind, Lane, RowSpan, Rows, Style};
use super::subject::Subject;
use super::{Drawing, PanelEntry};
use crate::palette::Colour;
use crate::trace::schema::SwitchReason;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "switches",
    about: "the kernel's context switches by worker, where they were recorded",
    drawing: Drawing::Rows(rows),
};

/// What must not be hidden comes last.
const REASONS: [(SwitchReason, &str, Colour); 3] = [
    (SwitchReason::Voluntary, "slept", Colour::new(0xDD_DD_DD)),
    (
        SwitchReason::Migrated,
        "moved to another unit",
        Colour::new(0xEE_77_33),
    ),
    (
        SwitchReason::Preempted,
        "preempted",
        Colour::new(0xCC_33_11),
    ),
];

fn rows(subject: &Subject<'_>) -> Rows {
    let mut rows = Rows::new("Context switches", Style::Seen);
    let switches = &subject.trace.tables.switches;
    if switches.is_empty() {
        return rows.without(subject.without_module("kernel"));
    }
    rows.heading = "preempted";
    // The submission above the workers.
    let mut counts = vec![0_u64; subject.workers.len() + 1];
    let mut all = [0_u64; REASONS.len()];
    for row in switches {
        let lane = match row.worker {
            None => 0,
            Some(worker) if subject.knows(worker) => 1 + subject.lane(worker),
            Some(_) => continue,
        };
        let from = subject.since(row.out_ns);
        // One that did not come back was away to the end.
        let to = row.in_ns.map_or(subject.to, |at| subject.since(at));
        if subject.visible((from, to)).is_none() {
            continue;
        }
        let kind = REASONS.iter().position(|reason| reason.0 == row.reason);
        let kind = kind.unwrap_or(0);
        all[kind] += 1;
        counts[lane] += u64::from(row.reason == SwitchReason::Preempted);
        rows.spans.push(RowSpan {
            lane,
            kind,
            from,
            to: to.max(from),
        });
    }
    let names = ["submission".to_owned()].into_iter();
    let names = names.chain(subject.workers.iter().map(|worker| worker.name.clone()));
    rows.lanes = names
        .zip(counts)
        .map(|(name, count)| Lane {
            name,
            note: match count {
                1 => "once".to_owned(),
                n => format!("{n} times"),
            },
        })
        .collect();
    let kind = |((_, name, colour), count): (&(SwitchReason, &str, Colour), u64)| Kind {
        name: format!("{name}: {count}"),
        colour: *colour,
    };
    rows.kinds = REASONS.iter().zip(all).map(kind).collect();
    rows
}
