//! A worker that takes longer than the others for the same tasks: a slow, hot or shared core, or data far away.
//!
//! For each codelet the worker's log(duration / model) is compared with that of all others on CPUs: it must be shifted as a whole, in
//! its quartiles and its median, since a worker that merely did more of the slow ones of two kinds of tasks is not slow. The
//! shifts are put together by the worker's time in each codelet. From a factor of 1.25 on it is told: second
//! hardware threads under load, memory of another socket and turbo steps make smaller differences on machines without
//! a fault. It must also be four standard errors off, which one pair of workers in ten thousand is by chance.

use super::statistics::shift;
use super::words::{list, percent, plural, time, times};
use super::{Fact, Findings, Hint, Place, Rule, Severity};
use crate::account::duration_ns;
use crate::trace::schema::WorkerKind;
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule {
    name: "slow_worker",
    about: "one worker takes longer than the others for the same tasks",
    find,
};

/// Factor of the durations.
const SLOWER: f64 = 1.25;
/// Standard errors.
const SURE: f64 = 4.0;
/// Fewer tasks of a codelet, on the worker or on the others, say nothing.
const FEWEST: usize = 8;
/// Fewer tasks of a worker, in all codelets that are compared.
const FEWEST_IN_ALL: usize = 24;

/// A worker against the others.
struct Slow {
    worker: u16,
    factor: f64,
    busy_ns: f64,
    tasks: usize,
    rows: Vec<usize>,
}

fn find(f: &Findings<'_>) -> Vec<Hint> {
    // By codelet, the rows of each worker.
    let mut groups: BTreeMap<u16, BTreeMap<u16, Vec<usize>>> = BTreeMap::new();
    for (row, t) in f.tasks().iter().enumerate() {
        if f.excess[row].is_some() && f.kind(t.worker) == Some(WorkerKind::Cpu) {
            let by_worker = groups.entry(t.codelet).or_default();
            by_worker.entry(t.worker).or_default().push(row);
        }
    }
    let workers = &f.trace.tables.workers;
    let mut slow: Vec<_> = (workers.iter().filter(|w| w.kind == WorkerKind::Cpu))
        .filter_map(|w| compared(f, &groups, w.worker))
        .collect();
    // With half of them slow, the others would be fast: that is no fault of either.
    if slow.is_empty() || 2 * slow.len() > f.cpus() {
        return Vec::new();
    }
    slow.sort_by(|a, b| b.factor.total_cmp(&a.factor));
    let names: Vec<_> = slow.iter().map(|s| f.worker_name(s.worker)).collect();
    let recorded = !f.trace.tables.switches.is_empty();
    let cause = match recorded {
        true => "The context switches, which were recorded, say whether others ran there.",
        false => {
            "Whether others ran there cannot be told from this trace; --record kernel would say."
        }
    };
    let mut worst = std::mem::take(&mut slow[0].rows);
    worst.sort_by(|&a, &b| f.lost_ns(b).total_cmp(&f.lost_ns(a)));
    let span = |of: fn(u64, u64) -> u64, at: &dyn Fn(usize) -> u64| {
        worst.iter().map(|&row| at(row)).reduce(of)
    };
    let from = span(u64::min, &|row| f.tasks()[row].start_ns).unwrap_or(0);
    let to = span(u64::max, &|row| f.tasks()[row].end_ns).unwrap_or(from);
    vec![Hint {
        rule: RULE.name,
        severity: Severity::Cause,
        title: match &names[..] {
            [one] => format!("{one} was slower than the other workers"),
            _ => format!("{} were slower than the other workers", list(&names)),
        },
        text: format!(
            "The same kind of task with as many operations took {} as long on {} as on the others. A processor that is slowed \
             down, hot, or shared with another program or a second hardware thread does that. {cause}",
            times(slow[0].factor),
            names[0],
        ),
        evidence: (slow.iter())
            .map(|s| {
                let text = format!("{} as long as on the others", times(s.factor));
                let tasks = plural(s.tasks, "task", "tasks");
                let note = format!("{tasks} compared, {} in them", time(s.busy_ns));
                Fact::new(f.worker_name(s.worker), text).note(note)
            })
            .chain([Fact::new("Of all workers' time", percent(part(f, &slow)))])
            .collect(),
        place: Some(
            Place::of("gantt")
                .time(f, (from, to))
                .tasks(worst.iter().map(|&row| f.tasks()[row].task)),
        ),
        part: part(f, &slow),
    }]
}

/// What the slow ones would have spared at the speed of the others.
fn part(f: &Findings<'_>, slow: &[Slow]) -> f64 {
    let lost = slow.iter().map(|s| s.busy_ns * (1.0 - 1.0 / s.factor));
    lost.sum::<f64>() / f.all_ns
}

fn compared(
    f: &Findings<'_>,
    groups: &BTreeMap<u16, BTreeMap<u16, Vec<usize>>>,
    worker: u16,
) -> Option<Slow> {
    let (mut busy, mut sum, mut square) = (0.0, 0.0, 0.0);
    let mut rows = Vec::new();
    for by_worker in groups.values() {
        let Some(own) = by_worker.get(&worker).filter(|own| own.len() >= FEWEST) else {
            continue;
        };
        let others = by_worker.iter().filter(|(w, _)| **w != worker);
        let logs = |rows: &mut dyn Iterator<Item = &usize>| -> Vec<f64> {
            rows.filter_map(|&row| f.excess[row]).collect()
        };
        let mut a = logs(&mut own.iter());
        let mut b = logs(&mut others.flat_map(|(_, rows)| rows));
        if b.len() < FEWEST {
            continue;
        }
        let (difference, sure) = shift(&mut a, &mut b)?;
        let time: f64 = own
            .iter()
            .map(|&row| duration_ns(&f.tasks()[row]) as f64)
            .sum();
        let error = if sure == 0.0 { 0.0 } else { difference / sure };
        busy += time;
        sum += time * difference;
        square += (time * error).powi(2);
        rows.extend(own);
    }
    let mean = sum / busy.max(1.0);
    let sure = mean >= SURE * square.sqrt() / busy.max(1.0);
    (rows.len() >= FEWEST_IN_ALL && mean > SLOWER.ln() && sure).then(|| Slow {
        worker,
        factor: mean.exp(),
        busy_ns: busy,
        tasks: rows.len(),
        rows,
    })
}
