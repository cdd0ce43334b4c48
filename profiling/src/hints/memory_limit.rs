//! The memory limit holds the submission back while workers have nothing to do, so nodes begin late.
//!
//! From 2 % of the workers' time on: without a limit they would not have waited for this at all. How much a larger limit would
//! spare cannot be told from one run; a second one tells.

use super::words::{percent, plural, si, time};
use super::{Fact, Findings, Hint, Place, Rule, Severity};
use crate::account::{Span, memory_peak};
use crate::trace::schema::{Role, Task, ThreadState};

pub(super) const RULE: Rule = Rule {
    name: "memory_limit",
    about: "the memory limit keeps nodes from being begun",
    find,
};

/// Part of the workers' time.
const WAITED: f64 = 0.02;

/// The stalls of the submission for one reason.
pub(super) struct Stalls {
    pub spans: usize,
    pub sum_ns: u64,
    pub longest: Option<Span>,
    all: Vec<Span>,
}

impl Stalls {
    pub fn of(f: &Findings<'_>, state: ThreadState) -> Self {
        let rows = f.trace.tables.states.iter().filter(|s| s.state == state);
        let all: Vec<Span> = rows
            .map(|s| (s.start_ns, s.end_ns.max(s.start_ns)))
            .collect();
        Stalls {
            spans: all.len(),
            sum_ns: all.iter().map(|s| s.1 - s.0).fold(0, u64::saturating_add),
            longest: all.iter().copied().max_by_key(|s| s.1 - s.0),
            all,
        }
    }
}

fn find(f: &Findings<'_>) -> Vec<Hint> {
    let waited = f.idle.all.memory_full_ns as f64;
    if waited < WAITED * f.all_ns {
        return Vec::new();
    }
    let mut stalls = Stalls::of(f, ThreadState::MemoryFull);
    let nodes = held_back(f, &mut stalls.all);
    let peak = memory_peak(f.trace);
    let mut evidence = vec![
        Fact::new("Workers waited", time(waited))
            .note(format!("{} of their time", percent(waited / f.all_ns))),
        Fact::new("The submission waited", time(stalls.sum_ns as f64)).note(format!(
            "{} before {}",
            plural(stalls.spans, "time", "times"),
            plural(nodes.len(), "node", "nodes")
        )),
    ];
    if let Some(limit) = peak.limit_bytes {
        let fact = Fact::new("Limit", si(limit as f64, "B"));
        evidence.push(match peak.predicted_bytes.filter(|&bytes| bytes > 0) {
            Some(bytes) => fact.note(format!(
                "{:.2} x of {}, the peak of a sequential run",
                limit as f64 / bytes as f64,
                si(bytes as f64, "B")
            )),
            None => fact,
        });
    }
    evidence.push(Fact::new("Held at most", si(peak.peak_bytes as f64, "B")));
    vec![Hint {
        rule: RULE.name,
        severity: Severity::Cause,
        title: "The memory limit held nodes back".to_owned(),
        text: "The submission waited for memory while workers had nothing to do: nodes that could have been begun beside others were \
               begun after them. A larger --memory-limit lets more of the tree be in memory at the same time."
            .to_owned(),
        evidence,
        place: Some(
            Place::of("memory")
                .time(f, stalls.longest.unwrap_or(f.tasks_ns))
                .nodes(nodes),
        ),
        part: waited / f.all_ns,
    }]
}

/// The nodes whose memory was waited for, the longest wait first: those of the first tasks that were submitted after a stall and
/// take memory.
fn held_back(f: &Findings<'_>, stalls: &mut [Span]) -> Vec<u32> {
    let takes = |t: &&Task| matches!(f.role(t.codelet), Some(Role::Activate | Role::Subtree));
    let mut begun: Vec<_> = (f.tasks().iter().filter(takes))
        .map(|t| (t.submit_ns, t.node))
        .collect();
    begun.sort_unstable();
    stalls.sort_by_key(|s| std::cmp::Reverse(s.1 - s.0));
    let mut nodes = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for stall in stalls {
        // The end of a stall is noted before the task that was held back.
        let next = begun.partition_point(|b| b.0 < stall.1);
        if let Some(&(_, node)) = begun.get(next)
            && seen.insert(node)
        {
            nodes.push(node);
        }
    }
    nodes
}
