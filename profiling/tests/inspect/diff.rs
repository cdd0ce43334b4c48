//! Differences are those that were made, the largest first.

use crate::sample::{graph, sample};
use treeqr_profiling::inspect::diff;
use treeqr_profiling::trace::{Trace, TraceKind};

fn slower(factor: u64, codelet: u16) -> Trace {
    let mut trace = sample(4, 5, 3, 7);
    for t in trace
        .tables
        .tasks
        .iter_mut()
        .filter(|t| t.codelet == codelet)
    {
        t.end_ns = t.start_ns + factor * (t.end_ns - t.start_ns);
    }
    trace
}

#[test]
fn a_trace_does_not_differ_from_itself() {
    let trace = sample(4, 5, 3, 7);
    let same = diff(&trace, &trace).unwrap();
    assert!(same.same_tree && same.notes.is_empty());
    assert!(
        same.totals
            .iter()
            .chain(&same.phases)
            .all(|f| f.difference() == 0.0)
    );
    assert!(
        same.codelets
            .iter()
            .chain(&same.nodes)
            .all(|g| g.difference_ns() == 0)
    );
    assert_eq!((same.codelets.len(), same.nodes.len()), (4, 15));
}

#[test]
fn the_slower_codelet_comes_first() {
    let both = diff(&slower(1, 0), &slower(3, 2)).unwrap();
    let first = &both.codelets[0];
    assert_eq!((&*first.name, first.tasks), ("geqrt", [75, 75]));
    assert_eq!(first.relative(), Some(2.0));
    assert!(both.codelets[1..].iter().all(|g| g.difference_ns() == 0));
    let in_tasks = both.totals.iter().find(|f| f.name == "in tasks").unwrap();
    assert!(in_tasks.difference() > 0.0);
    assert!(both.nodes.is_sorted_by_key(|g| -g.difference_ns()));
    assert_eq!(
        both.nodes.iter().map(|g| g.difference_ns()).sum::<i64>(),
        first.difference_ns()
    );
}

#[test]
fn what_makes_it_doubtful_is_noted() {
    let mut other = sample(3, 5, 2, 7);
    other.manifest.matrix["name"] = "another".into();
    other.manifest.kind = TraceKind::Simulated;
    other.manifest.recorder.dropped_records = 4;
    let both = diff(&sample(4, 5, 3, 7), &other).unwrap();
    assert_eq!(
        both.notes,
        [
            "matrices differ: sample and another",
            "kinds differ: measured and simulated",
            "the second lacks 4 records that found no room",
            "the elimination trees differ: nodes are not compared",
        ]
    );
    assert!(!both.same_tree && both.nodes.is_empty() && !both.codelets.is_empty());
    let error = diff(&other, &graph(3, 5)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the second trace is only a graph: it has no times to compare"
    );
}
