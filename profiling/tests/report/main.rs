//! Reports: what a page holds, read by a decoder that shares no code with the one that wrote it.

#[path = "../common/mod.rs"]
mod common;
mod decoder;
mod levels;
mod pages;
mod rows;

use common::{Shape, random};
use std::collections::HashSet;
use treeqr_profiling::models;
use treeqr_profiling::trace::Trace;

/// Random traces in which tasks that compute are as long as their operations say, but for some that are far longer.
pub fn with_anomalies(shape: Shape) -> Trace {
    let mut trace = random(shape);
    for (k, task) in trace.tables.tasks.iter_mut().enumerate() {
        let regular = 20 + task.flops / 10_000 + k as u64 % 7;
        if task.flops > 0 && k % 97 != 5 {
            task.end_ns = task.end_ns.min(task.start_ns + regular);
        }
    }
    trace
}

/// Their numbers.
pub fn anomalies(trace: &Trace) -> HashSet<u32> {
    let models = models::fit(&trace.tables, models::LEVEL);
    models.anomalies().iter().map(|a| a.task).collect()
}
