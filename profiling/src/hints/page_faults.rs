//! Page faults: the system gives memory page by page when it is first touched, in the middle of tasks.
//!
//! Needs the counter `page_faults`. A fault costs at least 100 ns: at 40 GB/s the page of 4096 bytes alone takes that long to be cleared,
//! and the way into the kernel and back comes on top. Told from 2 % of the time in tasks on, by this lowest price.

use super::words::{percent, si, time};
use super::{Fact, Findings, Hint, Place, Rule, Severity};
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule {
    name: "page_faults",
    about: "memory that is touched first costs time in tasks",
    find,
};

/// Lowest price of a fault.
const FAULT_NS: f64 = 100.0;
/// Part of the time in tasks.
const LOST: f64 = 0.02;

fn find(f: &Findings<'_>) -> Vec<Hint> {
    let mut faults: Vec<(u64, usize)> = (f.trace.tables.counters.iter())
        .filter(|c| c.counter == "page_faults" && c.value > 0)
        .filter_map(|c| Some((c.value, f.row(c.task)?)))
        .collect();
    let all: f64 = faults.iter().map(|c| c.0 as f64).sum();
    let busy = (f.idle.executing_ns as f64).max(1.0);
    if all * FAULT_NS < LOST * busy {
        return Vec::new();
    }
    let mut by_codelet: BTreeMap<u16, u64> = BTreeMap::new();
    for &(count, row) in &faults {
        let sum = by_codelet.entry(f.tasks()[row].codelet).or_default();
        *sum = sum.saturating_add(count);
    }
    let most = by_codelet.iter().max_by_key(|c| c.1);
    faults.sort_by_key(|&(count, row)| (std::cmp::Reverse(count), row));
    let mut evidence = vec![
        Fact::new("Page faults in tasks", si(all, "")),
        Fact::new("They took at least", time(all * FAULT_NS)).note(format!(
            "{} of the time in tasks, at 100 ns each",
            percent(all * FAULT_NS / busy)
        )),
    ];
    if let Some((&codelet, &count)) = most {
        let text = format!(
            "{}, {} of them",
            f.name(codelet),
            percent(count as f64 / all)
        );
        evidence.push(Fact::new("Most of them in", text));
    }
    let rows = || faults.iter().take(Place::MOST).map(|c| &f.tasks()[c.1]);
    vec![Hint {
        rule: RULE.name,
        severity: Severity::Cause,
        title: "Tasks waited for the system to give them memory".to_owned(),
        text: "Memory that a task is the first to touch is cleared by the system page by page, in the task's time. Larger pages (transparent \
               huge pages set to `always`) or an allocator that keeps what was freed make it less."
            .to_owned(),
        evidence,
        place: Some(
            Place::of("gantt")
                .tasks(rows().map(|t| t.task))
                .nodes(rows().map(|t| t.node)),
        ),
        part: all * FAULT_NS / f.all_ns,
    }]
}
