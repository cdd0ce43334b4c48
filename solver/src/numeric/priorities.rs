//! Priorities of the tasks: bottom levels, from fixed rates or from cost models.
//!
//! Takes the plan and the options of the run; gives a priority for every task in the order of submission, and how it came
//! by them. Knows no scheduler. Results do not depend on priorities, the order of tasks does.

use crate::plan::{CODELETS, Plan, bottom_levels, model_ns};
use treeqr_runtime::{Config, Estimate, KeptModels, TaskSpec};

/// From what durations bottom levels are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priorities {
    /// From a rate per codelet that is the same on every machine: so is the order of tasks on one worker.
    #[default]
    Fixed,
    /// From the cost models that earlier runs on this machine have kept ([`Config::models`]), on the fastest kind of
    /// worker; from the rates where too little was measured. The run measures its tasks, too.
    Models,
}

/// How the priorities of a run came about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PriorityReport {
    /// What was asked for.
    pub by: Priorities,
    /// Tasks whose duration a cost model said.
    pub from_models: u64,
    /// Why the models that are kept were not used.
    pub ignored: Option<String>,
}

/// The bottom level of every task, in ns. O(tasks).
pub(super) fn priorities(
    plan: &Plan<'_>,
    by: Priorities,
    variant: &str,
    run: &Config,
) -> (Vec<i64>, PriorityReport) {
    let mut report = PriorityReport {
        by,
        ..PriorityReport::default()
    };
    let kept = match by {
        Priorities::Fixed => KeptModels::default(),
        Priorities::Models => run.models.read().unwrap_or_else(|reason| {
            report.ignored = Some(reason.to_string());
            KeptModels::default()
        }),
    };
    let kinds = run.kinds();
    let estimates: Vec<Estimate<'_>> = CODELETS
        .iter()
        .map(|name| kept.of(name, variant, &kinds))
        .collect();
    let levels = bottom_levels(plan, |task: &TaskSpec| {
        let estimate = estimates[task.codelet.0 as usize].fastest_ns(task.flops);
        report.from_models += u64::from(estimate.is_some());
        estimate.unwrap_or_else(|| model_ns(plan, task))
    });
    (levels, report)
}
