//! The window of unfinished tasks holds the submission back while workers have nothing to do.
//!
//! From 2 % of the workers' time on: without a window they would not have waited for this at all.

use super::memory_limit::Stalls;
use super::words::{percent, plural, time};
use super::{Fact, Findings, Hint, Place, Rule, Severity};
use crate::trace::schema::ThreadState;

pub(super) const RULE: Rule = Rule {
    name: "window_small",
    about: "the window of unfinished tasks keeps ready tasks from being seen",
    find,
};

/// Part of the workers' time.
const WAITED: f64 = 0.02;

fn find(f: &Findings<'_>) -> Vec<Hint> {
    let waited = f.idle.all.window_full_ns as f64;
    if waited < WAITED * f.all_ns {
        return Vec::new();
    }
    let stalls = Stalls::of(f, ThreadState::WindowFull);
    let mut evidence = vec![
        Fact::new("Workers waited", time(waited))
            .note(format!("{} of their time", percent(waited / f.all_ns))),
        Fact::new("The submission waited", time(stalls.sum_ns as f64)).note(plural(
            stalls.spans,
            "time",
            "times",
        )),
    ];
    if let Some(window) = f.option("window").and_then(serde_json::Value::as_u64) {
        evidence.push(Fact::new(
            "Window",
            plural(window as usize, "task", "tasks"),
        ));
    }
    vec![Hint {
        rule: RULE.name,
        severity: Severity::Cause,
        title: "The window of tasks was too small".to_owned(),
        text: "The submission waited for unfinished tasks to become fewer while workers had nothing to do: tasks that could have run \
               were not submitted yet. A larger --window, or none, lets it go on."
            .to_owned(),
        evidence,
        place: Some(Place::of("submitted").time(f, stalls.longest.unwrap_or(f.tasks_ns))),
        part: waited / f.all_ns,
    }]
}
