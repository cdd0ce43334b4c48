//! Single tasks that took many times what their size says: something held them up.
//!
//! Operands, a worker or a rate make many tasks slow, and other rules tell them. One task in a hundred or less that took ten times as long as
//! the tasks of its codelet do for their operations (their bytes, where they have none) was held up from outside. Mostly it is the host of a
//! virtual machine: it runs others, or brings memory back that it had taken from an idle guest, and no record of the guest shows it (on one
//! such machine the first run after a pause took 170 ms in the place of 18, 139 of them in `tpqrt`). Where context switches or page
//! faults were recorded and explain most of it, it is no matter of this rule.

use super::statistics::median;
use super::words::{percent, plural, time, times};
use super::{Fact, Findings, Hint, Place, Rule, Severity};
use crate::account::duration_ns;
use crate::trace::schema::SwitchReason;
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule {
    name: "held_up",
    about: "single tasks took many times what their size says",
    find,
};

/// Factor over the expectation: the scatter of small tasks stays below.
const LONGER: f64 = 10.0;
/// Fewer tasks of a codelet say little of what one takes.
const FEWEST: usize = 6;
/// Part of all tasks that may be so, and yet be single ones.
const SINGLE: f64 = 0.01;
/// Part of the run that they cost, and each of them: a small task may take a multiple of little.
const LOST: f64 = 0.05;
const LOST_EACH: f64 = 0.01;
/// What a page fault may take, at most.
const FAULT_NS: f64 = 2000.0;
/// So many are named.
const NAMED: usize = 3;

struct HeldUp {
    row: usize,
    took_ns: f64,
    expected_ns: f64,
}

impl HeldUp {
    fn lost_ns(&self) -> f64 {
        self.took_ns - self.expected_ns
    }
}

fn find(f: &Findings<'_>) -> Vec<Hint> {
    let mut found = longer(f);
    found.retain(|task| {
        let lost = task.lost_ns();
        lost >= LOST_EACH * f.makespan_ns() && explained_ns(f, task.row) < 0.5 * lost
    });
    let most = (SINGLE * f.tasks().len() as f64).max(1.0);
    let lost: f64 = found.iter().map(HeldUp::lost_ns).sum();
    if found.len() as f64 > most || lost < LOST * f.makespan_ns() {
        return Vec::new();
    }
    found.sort_by(|a, b| b.lost_ns().total_cmp(&a.lost_ns()));
    let named = |task: &HeldUp| {
        let t = &f.tasks()[task.row];
        format!("{} of node {}", f.name(t.codelet), t.node)
    };
    let worst = &found[0];
    let mut evidence: Vec<_> = (found.iter().take(NAMED))
        .map(|task| {
            let over = times(task.took_ns / task.expected_ns);
            let text = format!(
                "{}, {over} the {} that its size says",
                time(task.took_ns),
                time(task.expected_ns)
            );
            Fact::new(named(task), text)
        })
        .collect();
    let part = percent(lost / f.makespan_ns());
    evidence.push(Fact::new(
        "Lost",
        format!("{}, {part} of the run", time(lost)),
    ));
    let rows = || found.iter().map(|task| &f.tasks()[task.row]);
    let span = &f.tasks()[worst.row];
    vec![Hint {
        rule: RULE.name,
        severity: Severity::Cause,
        title: format!(
            "{} held up, for {}",
            plural(found.len(), "task was", "tasks were"),
            time(lost)
        ),
        text: "Nothing that was recorded says why. Others like them were quick, so it was neither their numbers nor their worker: most \
               often the host of a virtual machine, which runs somebody else or brings back memory that it took while nothing ran. Another run \
               right after this one tells: what it takes then is what the work takes."
            .to_owned(),
        evidence,
        place: Some(
            Place::of("gantt")
                .time(f, (span.start_ns, span.end_ns))
                .tasks(rows().map(|t| t.task))
                .nodes(rows().map(|t| t.node)),
        ),
        part: lost / f.all_ns,
    }]
}

/// Tasks that took [`LONGER`] times what is usual in their codelet.
fn longer(f: &Findings<'_>) -> Vec<HeldUp> {
    let mut by_codelet: BTreeMap<u16, Vec<(usize, f64)>> = BTreeMap::new();
    for (row, t) in f.tasks().iter().enumerate() {
        let took = duration_ns(t) as f64;
        let by_bytes =
            (t.flops == 0 && t.bytes > 0 && took > 0.0).then(|| (took / t.bytes as f64).ln());
        if let Some(log) = f.excess[row].or(by_bytes) {
            by_codelet.entry(t.codelet).or_default().push((row, log));
        }
    }
    let mut out = Vec::new();
    for rows in by_codelet.values().filter(|rows| rows.len() >= FEWEST) {
        let mut logs: Vec<f64> = rows.iter().map(|r| r.1).collect();
        let Some(usual) = median(&mut logs) else {
            continue;
        };
        let slow = rows.iter().filter(|r| r.1 - usual > LONGER.ln());
        out.extend(slow.map(|&(row, log)| {
            let took_ns = duration_ns(&f.tasks()[row]) as f64;
            HeldUp {
                row,
                took_ns,
                expected_ns: took_ns * (usual - log).exp(),
            }
        }));
    }
    out
}

/// Time of a task that records explain: off its unit, or in page faults.
fn explained_ns(f: &Findings<'_>, row: usize) -> f64 {
    let t = &f.tasks()[row];
    let tables = &f.trace.tables;
    let faults = tables.counters.iter();
    let faults = faults.filter(|c| c.task == t.task && c.counter == "page_faults");
    let faults: f64 = faults.map(|c| c.value as f64 * FAULT_NS).sum();
    let away = tables
        .switches
        .iter()
        .filter(|s| s.worker == Some(t.worker) && s.reason == SwitchReason::Preempted);
    let away = away.map(|s| {
        let end = s.in_ns.unwrap_or(t.end_ns).min(t.end_ns);
        end.saturating_sub(s.out_ns.max(t.start_ns)) as f64
    });
    faults + away.sum::<f64>()
}
