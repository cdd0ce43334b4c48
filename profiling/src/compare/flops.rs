//! Operations done until a time, in both runs, and by how much one is ahead of the other.
//!
//! Takes tasks; gives exact steps: a task counts when it ends, whole numbers of operations. Times are since the beginning of
//! each run.

use crate::account::{Steps, span_ns};
use crate::trace::Trace;
use serde::Serialize;

/// Operations of the tasks that have ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlopsCompared {
    /// Of the first run.
    pub first: Steps,
    /// Of the second.
    pub second: Steps,
    /// Second less first: above 0 while the second is ahead.
    pub difference: Steps,
}

impl FlopsCompared {
    /// O(n log n).
    pub(super) fn of(a: &Trace, b: &Trace) -> Self {
        let [x, y] = [a, b].map(ends);
        let of = |changes: &[(u64, i128)]| steps(changes.iter().copied());
        let mut both: Vec<_> = x
            .iter()
            .map(|&(t, n)| (t, -n))
            .chain(y.iter().copied())
            .collect();
        both.sort_unstable_by_key(|change| change.0);
        FlopsCompared {
            first: of(&x),
            second: of(&y),
            difference: of(&both),
        }
    }
}

/// When how many operations were done, by time.
fn ends(trace: &Trace) -> Vec<(u64, i128)> {
    let from = span_ns(trace).0;
    let tasks = trace.tables.tasks.iter().filter(|t| t.flops > 0);
    let mut out: Vec<_> = tasks
        .map(|t| (t.end_ns.saturating_sub(from), i128::from(t.flops)))
        .collect();
    out.sort_unstable();
    out
}

fn steps(changes: impl Iterator<Item = (u64, i128)>) -> Steps {
    let (mut out, mut sum) = (Steps::default(), 0_i128);
    let mut changes = changes.peekable();
    while let Some((time_ns, change)) = changes.next() {
        sum += change;
        // One step a time, and none where the sum comes out the same.
        if changes.peek().is_none_or(|next| next.0 > time_ns) {
            out.set(time_ns, sum as f64);
        }
    }
    out
}
