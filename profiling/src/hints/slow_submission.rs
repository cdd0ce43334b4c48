//! Workers wait for the submission, which waits for nobody: tasks are done faster than they are submitted.
//!
//! From 5 % of the workers' time on. At the beginning of every run workers wait for the first tasks; that is less in a run that is
//! long enough to be looked at.

use super::words::{percent, time};
use super::{Fact, Findings, Hint, Place, Rule, Severity};
use crate::account::duration_ns;

pub(super) const RULE: Rule = Rule {
    name: "submission_slow",
    about: "workers wait for tasks to be submitted",
    find,
};

/// Part of the workers' time.
const WAITED: f64 = 0.05;

fn find(f: &Findings<'_>) -> Vec<Hint> {
    let waited = f.idle.all.submission_ns as f64;
    if waited < WAITED * f.all_ns {
        return Vec::new();
    }
    let submits = || f.tasks().iter().map(|t| t.submit_ns);
    let (from, to) = (submits().min().unwrap_or(0), submits().max().unwrap_or(0));
    let tasks = f.tasks().len().max(1) as f64;
    let mean = f.tasks().iter().map(|t| duration_ns(t) as f64).sum::<f64>() / tasks;
    vec![Hint {
        rule: RULE.name,
        severity: Severity::Cause,
        title: "Tasks were submitted too slowly".to_owned(),
        text: "Workers had done all that was ready while further tasks were still being submitted. Larger tiles (--nb, --mb) make \
               fewer and longer tasks."
            .to_owned(),
        evidence: vec![
            Fact::new("Workers waited", time(waited))
                .note(format!("{} of their time", percent(waited / f.all_ns))),
            Fact::new("A submission took", time((to - from) as f64 / tasks))
                .note("on average over the submission, with what it waited"),
            Fact::new("A task took", time(mean)).note("on average"),
        ],
        place: Some(Place::of("submitted").time(f, (from, to))),
        part: waited / f.all_ns,
    }]
}
