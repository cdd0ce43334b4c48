//! Processing units: more workers than there are, two workers on one, or time that the system gave to somebody else.
//!
//! The first two are facts that the trace states. The third needs context switches (`--record kernel`); from 2 % of a worker's
//! time on it is told: interrupts, timers and the kernel's own threads stay below 1 % on a machine where nothing else runs.

use super::words::{list, percent, plural, time};
use super::{Fact, Findings, Hint, Place, Rule, Severity};
use crate::account::{Span, length, union};
use crate::trace::schema::{SwitchReason, WorkerKind};
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule {
    name: "units_shared",
    about: "workers share a processing unit, with each other or with other programs",
    find,
};

/// Part of a worker's time for which it was off its unit.
const TAKEN: f64 = 0.02;

fn find(f: &Findings<'_>) -> Vec<Hint> {
    let mut out = Vec::new();
    out.extend(too_many(f));
    out.extend(same_unit(f));
    out.extend(taken(f));
    out
}

fn too_many(f: &Findings<'_>) -> Option<Hint> {
    let (workers, units) = (f.cpus() as u64, f.units()?);
    (units > 0 && workers > units).then(|| Hint {
        rule: RULE.name,
        severity: Severity::Cause,
        title: "There were more workers than processors".to_owned(),
        text: format!(
            "{workers} workers shared {}. A worker that waits for its turn holds its task, and all that depends on it; the time \
             of a task contains what others ran meanwhile. --threads {units} is the most that can run at once.",
            plural(units as usize, "processing unit", "processing units")
        ),
        evidence: vec![
            Fact::new("Workers on CPUs", workers.to_string()),
            Fact::new("Processing units of the process", units.to_string()),
        ],
        place: Some(Place::of("gantt")),
        part: 1.0 - units as f64 / workers as f64,
    })
}

fn same_unit(f: &Findings<'_>) -> Option<Hint> {
    let mut by_unit: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for w in &f.trace.tables.workers {
        if let (WorkerKind::Cpu, Some(unit)) = (w.kind, w.bound_to) {
            by_unit.entry(unit).or_default().push(w.name.clone());
        }
    }
    by_unit.retain(|_, names| names.len() > 1);
    let shared: usize = by_unit.values().map(Vec::len).sum();
    let evidence: Vec<_> = (by_unit.iter())
        .map(|(unit, names)| Fact::new(format!("On unit {unit}"), list(names)))
        .collect();
    (shared > 0).then(|| Hint {
        rule: RULE.name,
        severity: Severity::Cause,
        title: "Workers were bound to the same processor".to_owned(),
        text: "Only one of them can run at a time; the other waits with its task in hand."
            .to_owned(),
        part: (shared - evidence.len()) as f64 / f.trace.tables.workers.len().max(1) as f64,
        evidence,
        place: Some(Place::of("gantt")),
    })
}

fn taken(f: &Findings<'_>) -> Option<Hint> {
    let mut spans: BTreeMap<u16, Vec<Span>> = BTreeMap::new();
    for s in &f.trace.tables.switches {
        if let (Some(worker), SwitchReason::Preempted) = (s.worker, s.reason) {
            let end = s.in_ns.unwrap_or(f.tasks_ns.1).min(f.tasks_ns.1);
            let span = (s.out_ns.max(f.tasks_ns.0), end);
            spans.entry(worker).or_default().push(span);
        }
    }
    let mut lost: Vec<(u64, u16, Vec<Span>)> = (spans.into_iter())
        .map(|(worker, spans)| (worker, union(spans)))
        .map(|(worker, spans)| (length(&spans), worker, spans))
        .filter(|(ns, ..)| *ns as f64 > TAKEN * f.makespan_ns())
        .collect();
    lost.sort_by_key(|(ns, ..)| std::cmp::Reverse(*ns));
    let (_, worst, spans) = lost.first()?;
    let longest = spans.iter().copied().max_by_key(|s| s.1 - s.0)?;
    let names: Vec<_> = lost.iter().map(|l| f.worker_name(l.1)).collect();
    let tasks = f.tasks().iter();
    let hit =
        tasks.filter(|t| t.worker == *worst && t.start_ns < longest.1 && longest.0 < t.end_ns);
    Some(Hint {
        rule: RULE.name,
        severity: Severity::Cause,
        title: format!("The system ran something else on {}", list(&names)),
        text: "The kernel took the processing unit away from the worker, in tasks or between them. Other programs, or the thread \
               that submits, ran there instead. One worker less, or a quieter machine, may be faster."
            .to_owned(),
        evidence: (lost.iter())
            .map(|(ns, worker, spans)| {
                let part = percent(*ns as f64 / f.makespan_ns());
                let text = format!("{}, {part} of the run", time(*ns as f64));
                let fact = Fact::new(format!("{} off its unit", f.worker_name(*worker)), text);
                fact.note(plural(spans.len(), "time", "times"))
            })
            .collect(),
        place: Some(Place::of("gantt").time(f, longest).tasks(hit.map(|t| t.task))),
        part: lost.iter().map(|l| l.0 as f64).sum::<f64>() / f.all_ns,
    })
}
