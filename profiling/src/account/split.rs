//! The efficiency split from traces alone.
//!
//! Takes a trace, and where there are some those of the same work on one worker; gives the factors of
//! [`Efficiency`]. Of one trace alone only pipeline and runtime are known. A solve after the factorization is left out: it may
//! have had other workers, or none.

use crate::inspect::pieces;
use crate::trace::schema::ThreadState;
use crate::trace::{RunPart, Trace};
use crate::{Efficiency, TimeSplit};

/// The time of all workers of the first run of the runtime, as [`TimeSplit::of`] has it of a recording.
pub fn time_split(trace: &Trace) -> TimeSplit {
    let (part, tables) = (first(trace), &trace.tables);
    let wall_ns = part.end_ns.saturating_sub(part.begin_ns);
    let without_task = |state| matches!(state, ThreadState::Idle | ThreadState::Sleeping);
    let spans = tables.states.iter().filter(|s| s.start_ns <= part.end_ns);
    let idle = spans.filter(|s| s.worker.is_some() && without_task(s.state));
    let idle_ns = sum(idle.map(|s| s.end_ns.saturating_sub(s.start_ns)));
    let tasks_ns = in_tasks_ns(trace);
    let there = tables.workers.iter().filter(|w| w.start_ns <= part.end_ns);
    let workers = there.count();
    let all = (workers as u64).saturating_mul(wall_ns);
    TimeSplit {
        workers,
        wall_ns,
        tasks_ns,
        runtime_ns: all.saturating_sub(tasks_ns.saturating_add(idle_ns)),
        idle_ns,
    }
}

/// The first run; if it is the only one, what lies beyond its end is its too.
fn first(trace: &Trace) -> RunPart {
    let mut parts = trace.manifest.parts();
    let alone = parts.len() == 1;
    let mut part = parts.swap_remove(0);
    if alone {
        part.submitted_tasks = u64::MAX;
    }
    part
}

/// The factors, with the same tasks on one worker and the coarsest cut of the work on one worker, where those were traced.
pub fn efficiency(
    trace: &Trace,
    one_worker: Option<&Trace>,
    coarsest: Option<&Trace>,
) -> Efficiency {
    let of = |trace: Option<&Trace>| trace.map(in_tasks_ns);
    Efficiency::of(&time_split(trace), of(one_worker), of(coarsest))
}

fn in_tasks_ns(trace: &Trace) -> u64 {
    let part = first(trace);
    let numbers = part.first_task..part.first_task.saturating_add(part.submitted_tasks);
    let pieces = pieces(&trace.tables.tasks, &trace.tables.shares);
    sum(pieces
        .filter(|p| numbers.contains(&p.task.task.into()))
        .map(|p| p.duration_ns()))
}

fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}
