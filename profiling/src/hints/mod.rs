//! Hints: why a run took longer than it might have, in plain words, each with its figures and its place in the panels.
//!
//! Takes what [`account`](crate::account) and [`models`](crate::models) say of a trace ([`Findings`]); gives [`Hint`]s. A rule is a file
//! here and a line in [`RULES`]; it explains its thresholds itself. Knows no picture and no page: a place is a name of a
//! panel with times, tasks and tree nodes.
//!
//! | file | subject |
//! | --- | --- |
//! | `findings` | what is computed once of a trace, for all rules |
//! | `hint` | what a hint consists of |
//! | `statistics`, `words` | tests and numbers that rules share |
//! | `records` | records that are missing |
//! | `units` | two workers on one processing unit; units that others took |
//! | `slow_worker` | a worker that is slower than the others at the same tasks |
//! | `submission` | the submitting thread takes time from workers |
//! | `slow_submission`, `window`, `memory_limit` | workers wait for the submission, and why it waits |
//! | `spills` | the recorder's own writing |
//! | `denormals`, `page_faults`, `subtrees` | tasks that take longer than their operations say |
//! | `held_up` | single tasks that took many times what their size says |
//! | `late_copies` | what begins a front waits while others run, and the end of the run waits for it |
//! | `few_tasks` | nothing was ready, and why |
//! | `split` | what ran on CPUs and what on devices |
//!
//! A hint of severity `cause` names what cost time; the rule has seen an effect of a size that matters. A `note` says what to know
//! before the rest is believed, or what can only be suspected.
//!
//! ```
//! use treeqr_profiling::hints::{RULES, hints};
//! # use treeqr_profiling::trace::{Manifest, Tables, Trace, TraceKind};
//! # let trace = Trace { manifest: Manifest::new(TraceKind::Measured, "example".into()), tables: Tables::default() };
//! assert!(RULES.len() > 9);
//! // A run without tasks has nothing to be hinted at.
//! assert!(hints(&trace).is_empty());
//! ```

mod denormals;
mod few_tasks;
mod findings;
mod held_up;
mod hint;
mod late_copies;
mod memory_limit;
mod page_faults;
mod records;
mod slow_submission;
mod slow_worker;
mod spills;
mod split;
mod statistics;
mod submission;
mod subtrees;
mod units;
mod window;
mod words;

pub use findings::{Computed, Findings};
pub use hint::{Fact, Hint, Place, Severity};

use crate::trace::{Trace, TraceKind};

/// The rules: those of reports and of tests.
pub static RULES: &[Rule] = &[
    records::RULE,
    units::RULE,
    slow_worker::RULE,
    submission::RULE,
    slow_submission::RULE,
    window::RULE,
    memory_limit::RULE,
    spills::RULE,
    denormals::RULE,
    page_faults::RULE,
    subtrees::RULE,
    held_up::RULE,
    late_copies::RULE,
    few_tasks::RULE,
    split::RULE,
];

/// One rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name, in [`Hint::rule`].
    pub name: &'static str,
    /// What it looks for, in a sentence.
    pub about: &'static str,
    find: fn(&Findings<'_>) -> Vec<Hint>,
}

impl Rule {
    /// What it has to say of a trace: nothing, in most cases.
    pub fn apply(&self, findings: &Findings<'_>) -> Vec<Hint> {
        (self.find)(findings)
    }
}

/// What all rules say: causes before notes, each by how much of the workers' time they explain.
pub fn all(findings: &Findings<'_>) -> Vec<Hint> {
    if findings.trace.manifest.kind == TraceKind::Graph {
        return Vec::new();
    }
    let mut out: Vec<_> = RULES.iter().flat_map(|r| r.apply(findings)).collect();
    out.iter_mut()
        .for_each(|hint| hint.part = hint.part.clamp(0.0, 1.0));
    // Stable: equal ones stay in the order of the table.
    out.sort_by(|a, b| (a.severity.cmp(&b.severity)).then(b.part.total_cmp(&a.part)));
    out
}

/// The hints of a trace, with all that they need computed for them alone. O(n log n).
pub fn hints(trace: &Trace) -> Vec<Hint> {
    let computed = Computed::of(trace);
    all(&computed.findings(trace))
}
