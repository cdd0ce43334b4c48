//! The efficiency split from traces alone.
//!
//! Takes a trace, and where there are some those of the same work on one worker; gives the factors of
//! [`Efficiency`]. Of one trace alone only pipeline and runtime are known.

use super::graph::duration_ns;
use crate::trace::Trace;
use crate::trace::schema::ThreadState;
use crate::{Efficiency, TimeSplit};

/// The time of all workers of a run, as [`TimeSplit::of`] has it of a recording.
pub fn time_split(trace: &Trace) -> TimeSplit {
    let (run, tables) = (&trace.manifest.run, &trace.tables);
    let wall_ns = run.end_ns.saturating_sub(run.begin_ns);
    let without_task = |state| matches!(state, ThreadState::Idle | ThreadState::Sleeping);
    let spans = tables.states.iter();
    let idle = spans.filter(|s| s.worker.is_some() && without_task(s.state));
    let idle_ns = sum(idle.map(|s| s.end_ns.saturating_sub(s.start_ns)));
    let tasks_ns = in_tasks_ns(trace);
    let all = (tables.workers.len() as u64).saturating_mul(wall_ns);
    TimeSplit {
        workers: tables.workers.len(),
        wall_ns,
        tasks_ns,
        runtime_ns: all.saturating_sub(tasks_ns.saturating_add(idle_ns)),
        idle_ns,
    }
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
    sum(trace.tables.tasks.iter().map(duration_ns))
}

fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}
