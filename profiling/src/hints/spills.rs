//! The recorder wrote records to disk during the run, for want of memory, and disturbed it.
//!
//! Any writing is told, as a note. It is a cause where slow tasks beside it lost more than beside the same spans moved along the run, by
//! each of 40 steps of a 41st of it, and twice as much as on average: a long task touches whatever there is, so it has to be
//! compared with what it touches by chance. Or where workers have no task twice as often as in the time right before and
//! after it, as long again. Either must cost 1 % of the workers' time, and not more than three times what all workers had
//! during the writing, since that cannot come from it. The paper found up to 14 % of all idle time beside such writing.

use super::submission::inside;
use super::words::{percent, plural, si, time};
use super::{Fact, Findings, Hint, Place, Rule, Severity};
use crate::account::{Span, cut, length, union};

pub(super) const RULE: Rule = Rule {
    name: "recorder_spills",
    about: "the recorder's writing to disk disturbs the run",
    find,
};

/// Times as much lost as beside moved spans, on average.
const MORE_SLOW: f64 = 2.0;
/// So often they are moved.
const MOVES: u64 = 40;
/// Times the workers' time during the writing that can have been lost by it.
const MOST: f64 = 3.0;
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
    let near = near(f, &spans);
    let (mut busy_beside, mut busy_near) = (0.0, 0.0);
    for t in f.tasks() {
        busy_beside += inside(&spans, (t.start_ns, t.end_ns)) as f64;
        busy_near += inside(&near, (t.start_ns, t.end_ns)) as f64;
    }
    let (lost, mut slow) = beside(f, &spans);
    let moved: Vec<f64> = (1..=MOVES)
        .map(|k| beside(f, &shifted(f, &spans, k)).0)
        .collect();
    let by_chance = moved.iter().sum::<f64>() / MOVES as f64;
    // Only what lies within the run of the tasks can have disturbed them.
    let within = inside(&spans, f.tasks_ns) as f64;
    let workers = f.trace.tables.workers.len() as f64;
    let idle = |busy: f64, ns: f64| (1.0 - busy / (workers * ns).max(1.0)).max(0.0);
    let idle_beside = idle(busy_beside, within);
    let idle_apart = idle(busy_near, length(&near) as f64);
    let can = |lost: f64| lost >= LOST * f.all_ns && lost <= MOST * workers * within;
    let slower =
        can(lost) && lost >= MORE_SLOW * by_chance && moved.iter().all(|&other| lost > other);
    let idle_lost = (idle_beside - idle_apart).max(0.0) * workers * within;
    let idler = can(idle_lost) && idle_beside >= MORE_IDLE * idle_apart;
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
            Fact::new("Lost in slow tasks beside it", time(lost)).note(format!(
                "{}; {} beside other spans of that length",
                plural(slow.len(), "task", "tasks"),
                time(by_chance)
            )),
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

/// What anomalous tasks lost that touch one of the spans, and their rows.
fn beside(f: &Findings<'_>, spans: &[Span]) -> (f64, Vec<usize>) {
    let touches = |row: &usize| {
        let t = &f.tasks()[*row];
        f.anomalous[*row] && inside(spans, (t.start_ns, t.end_ns)) > 0
    };
    let rows: Vec<_> = (0..f.tasks().len()).filter(touches).collect();
    (rows.iter().map(|&row| f.lost_ns(row)).sum(), rows)
}

/// The spans moved by the `k`-th step along the run, around its end.
fn shifted(f: &Findings<'_>, spans: &[Span], k: u64) -> Vec<Span> {
    let (from, to) = f.tasks_ns;
    let length = (to - from).max(1);
    let by = (u128::from(length) * u128::from(k) / u128::from(MOVES + 1)) as u64;
    let inside = spans.iter().filter(|s| from <= s.0 && s.0 < to);
    let moved = inside.map(|s| {
        let begin = from + (s.0 - from + by) % length;
        (begin, begin.saturating_add(s.1 - s.0))
    });
    union(moved.collect())
}
