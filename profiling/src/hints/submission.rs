//! The thread that submits takes time from the workers: it has no processor of its own, so one of them waits while it runs.
//!
//! Tasks that ran beside bursts of submissions are compared with all others. The rule speaks where three times as many of them
//! are above their model's interval (with four deviations of the two-proportion test), they lost at least half a
//! percent of the workers' time, and not more than twice the time of the bursts: a thread cannot take more than it
//! had, and what is behind it in the caches, so a larger loss has another cause. It is silent where the process had
//! more processing units than workers.

use super::statistics::share_above;
use super::words::{percent, plural, time};
use super::{Fact, Findings, Hint, Place, Rule, Severity};
use crate::account::{Span, cut, duration_ns, length, union};
use crate::trace::schema::ThreadState;
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule {
    name: "submission_perturbs",
    about: "the submitting thread takes a processor away from a worker",
    find,
};

/// Fewer tasks beside bursts, or apart from them, say nothing.
const FEWEST: usize = 20;
/// How many times as many anomalies.
const MORE: f64 = 3.0;
/// Deviations.
const SURE: f64 = 4.0;
/// Part of the workers' time.
const LOST: f64 = 0.005;
/// A burst ends where no task comes for so long: a submission takes well below a microsecond, a slow plan some.
const PAUSE_NS: u64 = 20_000;

fn find(f: &Findings<'_>) -> Vec<Hint> {
    if f.units().is_some_and(|units| units > f.cpus() as u64) {
        return Vec::new();
    }
    let bursts = bursts(f);
    let (mut beside, mut apart) = ((0, 0), (0, 0));
    let (mut lost, mut by_worker) = (0.0, BTreeMap::<u16, (usize, f64)>::new());
    let mut rows = Vec::new();
    for (row, t) in f.tasks().iter().enumerate() {
        if f.excess[row].is_none() {
            continue;
        }
        let anomalous = usize::from(f.anomalous[row]);
        if 2 * inside(&bursts, (t.start_ns, t.end_ns)) < duration_ns(t) {
            apart = (apart.0 + 1, apart.1 + anomalous);
            continue;
        }
        beside = (beside.0 + 1, beside.1 + anomalous);
        if f.anomalous[row] {
            lost += f.lost_ns(row);
            let of = by_worker.entry(t.worker).or_default();
            *of = (of.0 + 1, of.1 + f.lost_ns(row));
            rows.push(row);
        }
    }
    let share = |(n, found): (usize, usize)| found as f64 / n.max(1) as f64;
    let floor = 0.5 / apart.0.max(1) as f64;
    let told = beside.0 >= FEWEST
        && apart.0 >= FEWEST
        && share(beside) >= MORE * share(apart).max(floor)
        && share_above(beside.1, beside.0, apart.1, apart.0) >= SURE
        && lost >= LOST * f.all_ns
        && lost <= 2.0 * length(&bursts) as f64;
    if !told {
        return Vec::new();
    }
    rows.sort_by(|&a, &b| f.lost_ns(b).total_cmp(&f.lost_ns(a)));
    let most = by_worker.iter().max_by(|a, b| a.1.1.total_cmp(&b.1.1));
    let mut evidence = vec![
        Fact::new("Slow tasks beside submissions", percent(share(beside)))
            .note(format!("{} of {}", beside.1, beside.0)),
        Fact::new("Slow tasks otherwise", percent(share(apart)))
            .note(format!("{} of {}", apart.1, apart.0)),
        Fact::new("Lost in them", time(lost)).note(format!(
            "the submission was at work for {}",
            time(length(&bursts) as f64)
        )),
    ];
    if let Some((&worker, &(tasks, ns))) = most {
        let name = f.worker_name(worker);
        let text = format!("{name}, {} of what was lost", percent(ns / lost));
        evidence.push(Fact::new("Most of it on", text).note(plural(tasks, "task", "tasks")));
    }
    let span = bursts
        .first()
        .zip(bursts.last())
        .map_or(f.tasks_ns, |(a, b)| (a.0, b.1));
    vec![Hint {
        rule: RULE.name,
        severity: Severity::Cause,
        title: "The submission took time from workers".to_owned(),
        text: "While tasks were submitted, more of them than later took longer than their kind does. The thread that submits had no \
               processor of its own, so a worker waited while it ran. One worker less leaves it one; a smaller --window spreads \
               the submission over the run. What else is only true at the beginning, such as the first use of memory, would look \
               the same."
            .to_owned(),
        evidence,
        place: Some(
            Place::of("gantt")
                .time(f, span)
                .tasks(rows.iter().map(|&row| f.tasks()[row].task)),
        ),
        part: lost / f.all_ns,
    }]
}

/// When the thread was at work: between submissions that follow each other, less what it waited.
fn bursts(f: &Findings<'_>) -> Vec<Span> {
    let mut times: Vec<u64> = f.tasks().iter().map(|t| t.submit_ns).collect();
    times.sort_unstable();
    let mut gaps: Vec<u64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    let middle = gaps.len() / 2;
    let usual = match gaps.is_empty() {
        true => 0,
        false => *gaps.select_nth_unstable(middle).1,
    };
    let pause = PAUSE_NS.max(usual.saturating_mul(50));
    let runs = times.chunk_by(|a, b| b - a <= pause);
    let mut spans = union(runs.map(|run| (run[0], run[run.len() - 1])).collect());
    let waits = |s: ThreadState| matches!(s, ThreadState::WindowFull | ThreadState::MemoryFull);
    let states = f.trace.tables.states.iter();
    let waited = states
        .filter(|s| waits(s.state))
        .map(|s| (s.start_ns, s.end_ns));
    cut(&mut spans, &union(waited.collect()));
    spans
}

/// How much of a span lies in `spans`. O(log n + spans in it).
pub(super) fn inside(spans: &[Span], span: Span) -> u64 {
    let first = spans.partition_point(|s| s.1 <= span.0);
    let touched = spans[first..].iter().take_while(|s| s.0 < span.1);
    touched.map(|s| s.1.min(span.1) - s.0.max(span.0)).sum()
}
