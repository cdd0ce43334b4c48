//! The recorder wrote records to disk during the run, for want of memory, and disturbed it.
//!
//! Any writing is told, as a note. It is a cause where tasks beside it are above their model's interval three times as often as
//! others (four deviations of the two-proportion test), or workers have no task twice as often as in the time right before and
//! after it, as long again, with at least 1 % of their time lost in either way. The paper found up to 14 % of all idle time beside such writing.

use super::statistics::share_above;
use super::submission::inside;
use super::words::{percent, plural, si, time};
use super::{Fact, Findings, Hint, Place, Rule, Severity};
use crate::account::{Span, cut, length, union};

pub(super) const RULE: Rule = Rule {
    name: "recorder_spills",
    about: "the recorder's writing to disk disturbs the run",
    find,
};

/// How many times as many anomalies.
const MORE_SLOW: f64 = 3.0;
/// Deviations.
const SURE: f64 = 4.0;
/// How many times as much time without a task.
const MORE_IDLE: f64 = 2.0;
/// Part of the workers' time.
const LOST: f64 = 0.01;

fn find(f: &Findings<'_>) -> Vec<Hint> {
    let rows = &f.trace.tables.spills;
    if rows.is_empty() {
        return Vec::new();
    }
    let spans = union(rows.iter().map(|s| (s.start_ns, s.end_ns)).collect());
    let writing = length(&spans) as f64;
    let (mut beside, mut apart) = ((0, 0), (0, 0));
    let near = near(f, &spans);
    let (mut lost, mut busy_beside, mut busy_near, mut slow) = (0.0, 0.0, 0.0, Vec::new());
    for (row, t) in f.tasks().iter().enumerate() {
        let touched = inside(&spans, (t.start_ns, t.end_ns));
        busy_beside += touched as f64;
        busy_near += inside(&near, (t.start_ns, t.end_ns)) as f64;
        if f.excess[row].is_none() {
            continue;
        }
        let of = if touched > 0 { &mut beside } else { &mut apart };
        *of = (of.0 + 1, of.1 + usize::from(f.anomalous[row]));
        if touched > 0 && f.anomalous[row] {
            lost += f.lost_ns(row);
            slow.push(row);
        }
    }
    // Only what lies within the run of the tasks can have disturbed them.
    let within = inside(&spans, f.tasks_ns) as f64;
    let workers = f.trace.tables.workers.len() as f64;
    let idle = |busy: f64, ns: f64| (1.0 - busy / (workers * ns).max(1.0)).max(0.0);
    let idle_beside = idle(busy_beside, within);
    let idle_apart = idle(busy_near, length(&near) as f64);
    let share = |(n, found): (usize, usize)| found as f64 / n.max(1) as f64;
    let slower = share(beside) >= MORE_SLOW * share(apart).max(0.5 / apart.0.max(1) as f64)
        && share_above(beside.1, beside.0, apart.1, apart.0) >= SURE
        && lost >= LOST * f.all_ns;
    let idle_lost = (idle_beside - idle_apart).max(0.0) * workers * within;
    let idler = idle_beside >= MORE_IDLE * idle_apart && idle_lost >= LOST * f.all_ns;
    slow.sort_by(|&a, &b| f.lost_ns(b).total_cmp(&f.lost_ns(a)));
    let longest = spans.iter().copied().max_by_key(|s| s.1 - s.0);
    let bytes: u64 = rows.iter().map(|s| s.bytes).fold(0, u64::saturating_add);
    let seen = match (slower, idler) {
        (true, true) => {
            "Tasks beside it took longer, and workers waited more than right before and after."
        }
        (true, false) => "Tasks beside it took longer than otherwise.",
        (false, true) => "Workers waited more during it than right before and after.",
        (false, false) => "No effect on tasks or workers was seen.",
    };
    vec![Hint {
        rule: RULE.name,
        severity: match slower || idler {
            true => Severity::Cause,
            false => Severity::Note,
        },
        title: match slower || idler {
            true => "The recorder's writing disturbed the run".to_owned(),
            false => "The recorder wrote to disk during the run".to_owned(),
        },
        text: format!(
            "The memory for records was full, so they went to a file while the run went on. {seen} More memory for records \
             (--trace-memory) avoids it."
        ),
        evidence: vec![
            Fact::new("Written", si(bytes as f64, "B")).note(format!(
                "{}, {}",
                plural(rows.len(), "time", "times"),
                time(writing)
            )),
            Fact::new("Slow tasks beside it", percent(share(beside)))
                .note(format!("{} of {}", beside.1, beside.0)),
            Fact::new("Slow tasks otherwise", percent(share(apart)))
                .note(format!("{} of {}", apart.1, apart.0)),
            Fact::new("Workers without a task during it", percent(idle_beside))
                .note(format!("{} right before and after", percent(idle_apart))),
        ],
        place: longest.map(|span| {
            let tasks = slow.iter().map(|&row| f.tasks()[row].task);
            Place::of("stalls").time(f, span).tasks(tasks)
        }),
        part: match (slower, idler) {
            (false, false) => 0.0,
            _ => (if slower { lost } else { 0.0 } + if idler { idle_lost } else { 0.0 }) / f.all_ns,
        },
    }]
}

/// As long again before each span and after it, within the run of the tasks, without the spans themselves.
fn near(f: &Findings<'_>, spans: &[Span]) -> Vec<Span> {
    let wider = |s: &Span| {
        let length = s.1 - s.0;
        let from = s.0.saturating_sub(length).max(f.tasks_ns.0);
        (from, s.1.saturating_add(length).min(f.tasks_ns.1))
    };
    let mut near = union(spans.iter().map(wider).collect());
    cut(&mut near, spans);
    near
}
