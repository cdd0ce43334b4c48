//! Counts and rates over time: what tools call counters or variables.
//!
//! Takes the tables; gives steps, each valid until the next. Knows no format.

use super::view::View;
pub(super) use crate::account::Step;
use crate::account::Steps;
use crate::inspect::pieces;

/// Windows in which rates are averages: as many as a screen has columns.
const WINDOWS: u64 = 1000;

/// Tasks that could run and that no worker had taken.
pub(super) fn ready(view: &View<'_>) -> Vec<Step> {
    let tasks = view.tasks().iter();
    let steps = Steps::count(
        tasks.clone().map(|task| task.ready_ns).collect(),
        tasks.map(|task| task.pop_ns.max(task.ready_ns)).collect(),
    );
    steps.steps
}

/// Tasks that had been submitted and were not done.
pub(super) fn submitted(view: &View<'_>) -> Vec<Step> {
    let tasks = view.tasks().iter();
    let steps = Steps::count(
        tasks.clone().map(|task| task.submit_ns).collect(),
        tasks.map(|task| task.end_ns.max(task.submit_ns)).collect(),
    );
    steps.steps
}

/// Bytes held by each memory node that has some.
pub(super) fn memory(view: &View<'_>) -> Vec<(u16, Vec<Step>)> {
    let mut nodes: Vec<(u16, Vec<Step>)> = Vec::new();
    for row in &view.trace.tables.memory {
        let step = Step {
            time_ns: row.time_ns,
            value: row.after_bytes as f64,
        };
        match nodes.iter_mut().find(|(node, _)| *node == row.memory_node) {
            Some((_, steps)) => match steps.last_mut() {
                // Of several changes at one time the last one counts.
                Some(last) if last.time_ns >= step.time_ns => last.value = step.value,
                _ => steps.push(step),
            },
            None => nodes.push((row.memory_node, vec![step])),
        }
    }
    nodes.sort_by_key(|(node, _)| *node);
    nodes
}

/// GFlop/s of each worker: averages over windows of the run, a task's operations spread evenly over its time and that of its
/// helpers. The last step is 0, at the end.
pub(super) fn rates(view: &View<'_>) -> Vec<Vec<Step>> {
    let tasks = view.tasks();
    let begin = tasks.iter().map(|task| task.start_ns).min().unwrap_or(0);
    let end = tasks.iter().map(|task| task.end_ns).max().unwrap_or(0);
    let width = (end.saturating_sub(begin)).div_ceil(WINDOWS).max(1);
    let windows = (end.saturating_sub(begin)).div_ceil(width) as usize;
    let mut flops = vec![vec![0.0; windows]; view.workers.len()];
    for piece in pieces(tasks, &view.trace.tables.shares) {
        // A helper looks at the clock when its task is over.
        let (start, stop) = (piece.start_ns.max(begin), piece.end_ns.min(end));
        let duration = stop.saturating_sub(start);
        if piece.flops == 0 || duration == 0 {
            continue;
        }
        let flops = &mut flops[view.lane(piece.worker)];
        let (mut from, to) = (start - begin, stop - begin);
        while from < to {
            let window = from / width;
            let until = to.min((window + 1) * width);
            let part = (until - from) as f64 / duration as f64;
            flops[window as usize] += piece.flops as f64 * part;
            from = until;
        }
    }
    let steps = |flops: Vec<f64>| -> Vec<Step> {
        let step = |(k, flops): (usize, f64)| {
            let from = k as u64 * width;
            let length = width.min(end - begin - from);
            Step {
                time_ns: begin + from,
                value: flops / length as f64,
            }
        };
        let last = Step {
            time_ns: end,
            value: 0.0,
        };
        let steps = flops.into_iter().enumerate().map(step);
        steps.chain((windows > 0).then_some(last)).collect()
    };
    flops.into_iter().map(steps).collect()
}
