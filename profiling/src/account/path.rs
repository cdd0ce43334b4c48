//! The critical path: the longest chain of tasks that depend on each other, by measured durations.
//!
//! Takes tasks and dependencies; gives the chain and each task's slack. A virtual source comes before all tasks without
//! predecessors and a virtual sink after all without successors, so the chain need not begin with the earliest task nor end
//! with the last. A task's duration is that on its own worker, whoever helped. No run with these durations can be shorter than
//! the chain, whatever the number of workers.
//!
//! Where the trace has several runs of the runtime, one begins when the one before it has ended: the chain leads through each.

use super::graph::{Graph, codelet_names, duration_ns};
use crate::trace::Trace;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;

/// The longest chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CriticalPath {
    /// Sum of the durations on it.
    pub length_ns: u64,
    /// Numbers of its tasks, from source to sink; of several chains of that length, one.
    pub tasks: Vec<u32>,
    /// Its time by codelet, the largest first.
    pub codelets: Vec<CodeletShare>,
    /// Time within the run in which its tasks waited for each other or for a worker: from the first start to the last end,
    /// less `length_ns`.
    pub waited_ns: u64,
    /// By row of the task table: how much longer the task could have taken before the longest chain grew; 0 on it.
    pub slack_ns: Vec<u64>,
    /// Dependencies that name no task of the trace.
    pub left_out: u64,
}

/// What a codelet has of the path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CodeletShare {
    /// Its name.
    pub codelet: String,
    /// Its tasks on the path.
    pub tasks: u64,
    /// Their time.
    pub time_ns: u64,
}

/// The runs of the runtime, as places in the order of the graph: one after the other, all of it.
fn runs(trace: &Trace, graph: &Graph) -> Vec<Range<usize>> {
    let number = |row: u32| u64::from(trace.tables.tasks[row as usize].task);
    let parts = trace.manifest.parts();
    let begin = |first: u64| graph.order.partition_point(|&row| number(row) < first);
    let mut begins: Vec<usize> = parts.iter().map(|part| begin(part.first_task)).collect();
    // Whatever the manifest says, no task is left out, and none is in two.
    begins[0] = 0;
    begins.sort_unstable();
    begins.push(graph.order.len());
    begins.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// The critical path of a run. O(tasks + edges) where the tasks are in the order of their numbers.
pub fn critical_path(trace: &Trace) -> CriticalPath {
    let tasks = &trace.tables.tasks;
    let graph = Graph::of(trace);
    let duration = |row: u32| duration_ns(&tasks[row as usize]);
    let runs = runs(trace, &graph);
    // Longest chain that ends with the task, itself included.
    let mut until = vec![0_u64; tasks.len()];
    for rows in &runs {
        let first = graph.order[..rows.start].iter();
        let runs_before = first.map(|&row| until[row as usize]).max().unwrap_or(0);
        for &row in &graph.order[rows.clone()] {
            let before = graph.predecessors(row).iter().map(|&p| until[p as usize]);
            let before = before.fold(runs_before, u64::max);
            until[row as usize] = before.saturating_add(duration(row));
        }
    }
    let length_ns = until.iter().copied().max().unwrap_or(0);
    // Longest chain behind the task, itself left out.
    let mut behind = vec![0_u64; tasks.len()];
    let mut runs_behind = 0;
    for rows in runs.iter().rev() {
        let mut longest = runs_behind;
        for &row in graph.order[rows.clone()].iter().rev() {
            behind[row as usize] = behind[row as usize].max(runs_behind);
            let from_here = behind[row as usize].saturating_add(duration(row));
            longest = longest.max(from_here);
            for &p in graph.predecessors(row) {
                behind[p as usize] = behind[p as usize].max(from_here);
            }
        }
        runs_behind = longest;
    }
    let slack =
        |(&until, &behind): (&u64, &u64)| length_ns.saturating_sub(until.saturating_add(behind));
    let slack_ns = until.iter().zip(&behind).map(slack).collect();

    let longest = |rows: &mut dyn Iterator<Item = u32>| {
        // The smallest number of several.
        rows.max_by_key(|&row| {
            (
                until[row as usize],
                std::cmp::Reverse(tasks[row as usize].task),
            )
        })
    };
    let mut rows = Vec::new();
    let mut at = longest(&mut graph.order.iter().copied());
    while let Some(row) = at {
        rows.push(row);
        at = longest(&mut graph.predecessors(row).iter().copied());
        if at.is_none() {
            let number = tasks[row as usize].task;
            let place = graph
                .order
                .partition_point(|&r| tasks[r as usize].task < number);
            let run = runs.iter().find(|run| run.contains(&place));
            let before = run.map_or(0, |run| run.start);
            at = longest(&mut graph.order[..before].iter().copied());
        }
    }
    rows.reverse();

    let names = codelet_names(trace);
    let mut shares: BTreeMap<u16, (u64, u64)> = BTreeMap::new();
    for &row in &rows {
        let share = shares.entry(tasks[row as usize].codelet).or_default();
        *share = (share.0 + 1, share.1.saturating_add(duration(row)));
    }
    let share = |(codelet, (tasks, time_ns)): (u16, (u64, u64))| CodeletShare {
        codelet: names[&codelet].clone(),
        tasks,
        time_ns,
    };
    let mut codelets: Vec<_> = shares.into_iter().map(share).collect();
    codelets.sort_by_key(|share| std::cmp::Reverse(share.time_ns));
    let ends = rows.first().zip(rows.last());
    let took = ends.map_or(0, |(&first, &last)| {
        let (first, last) = (&tasks[first as usize], &tasks[last as usize]);
        last.end_ns.saturating_sub(first.start_ns)
    });
    CriticalPath {
        length_ns,
        tasks: rows.iter().map(|&row| tasks[row as usize].task).collect(),
        codelets,
        waited_ns: took.saturating_sub(length_ns),
        slack_ns,
        left_out: graph.left_out,
    }
}
