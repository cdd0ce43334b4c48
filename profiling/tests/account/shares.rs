//! Workers that help: by hand, and against the same run without them.

use crate::common::samples::{helped, worked};
use crate::hand::{empty, state, task};
use treeqr_profiling::account::{
    area_bound, critical_path, idle, node_activity, rates, time_split, use_by_depth, use_by_node,
};
use treeqr_profiling::compare::compare;
use treeqr_profiling::trace::Trace;
use treeqr_profiling::trace::schema::{Share, ThreadState};

/// A task of 300 operations on worker 0 from 0 to 100, of which worker 1 did parts from 20 to 70, idle before and after.
fn two() -> Trace {
    let mut trace = empty(2, 0, 100);
    task(&mut trace, 0, 0, 0, 100).flops = 300;
    state(&mut trace, Some(1), ThreadState::Idle, 0, 20);
    state(&mut trace, Some(1), ThreadState::Sleeping, 70, 100);
    trace.tables.shares.push(Share {
        task: 0,
        worker: 1,
        parts: 5,
        start_ns: 20,
        end_ns: 70,
    });
    trace
}

#[test]
fn by_hand() {
    let trace = two();
    let split = time_split(&trace);
    assert_eq!(
        (split.tasks_ns, split.idle_ns, split.runtime_ns),
        (150, 50, 0)
    );
    let idle = idle(&trace);
    assert_eq!((idle.executing_ns, idle.all.total_ns()), (150, 50));
    assert_eq!(idle.workers[1].causes.starvation_ns, 50);
    assert_eq!(idle.workers[1].causes.runtime_ns, 0);
    // The work is 150 ns on two workers; the chain is as long as the task was.
    let area = area_bound(&trace).unwrap();
    assert_eq!((area.bound_ns, area.classes[0].tasks), (75.0, 1));
    assert_eq!(critical_path(&trace).length_ns, 100);

    let rates = rates(&trace);
    let all = rates.all.unwrap();
    assert_eq!((all.tasks, all.busy_ns, all.flops), (1, 150, 300));
    assert_eq!((all.gflops_busy, all.gflops_span), (Some(2.0), Some(3.0)));
    let of: Vec<_> = (rates.workers.iter())
        .map(|w| (w.tasks, w.busy_ns, w.flops))
        .collect();
    assert_eq!(of, [(1, 100, 200), (0, 50, 100)]);

    let node = &node_activity(&trace)[0];
    assert_eq!((node.tasks, node.busy_ns, node.flops), (1, 150, 300));
    assert_eq!((node.from_ns, node.to_ns), (0, 100));
    assert_eq!(
        (node.running.max(), node.running.integral(0, 100)),
        (2.0, 150.0)
    );
    for used in [use_by_node(&trace, 10, 3), use_by_depth(&trace, 10)] {
        assert_eq!(used.rows[0].busy_ns, 150);
        assert_eq!(used.rows[0].share[3..7], [1.0; 4]);
        assert_eq!((used.rows[0].share[0], used.rows[0].share[9]), (0.5, 0.5));
    }
}

/// What is added up in several ways is the same.
#[test]
fn the_time_of_helpers_is_conserved() {
    for seed in 0..6 {
        let trace = helped(seed);
        let mut without = trace.clone();
        without.tables.shares.clear();
        let all: u64 = worked(&trace).map(|w| w.2).sum();
        let flops: u64 = trace.tables.tasks.iter().map(|t| t.flops).sum();
        assert_eq!(idle(&trace).executing_ns, all);
        let (before, after) = (idle(&without).all, idle(&trace).all);
        assert_eq!(
            before.runtime_ns,
            after.runtime_ns + before.total_ns() - after.total_ns()
        );
        let found = rates(&trace);
        for list in [&found.codelets, &found.nodes, &found.depths, &found.workers] {
            assert_eq!(list.iter().map(|r| r.busy_ns).sum::<u64>(), all);
            assert_eq!(list.iter().map(|r| r.flops).sum::<u64>(), flops);
            let tasks: u64 = list.iter().map(|r| r.tasks).sum();
            assert_eq!(tasks, trace.tables.tasks.len() as u64);
        }
        let area = area_bound(&trace).unwrap();
        let measured: f64 = area.resources.iter().map(|r| r.measured_ns).sum();
        assert!((measured - all as f64).abs() < 1e-6 * measured);
        assert_eq!(critical_path(&trace), critical_path(&without));
        let both = compare(&without, &trace).unwrap();
        let more = (all - worked(&without).map(|w| w.2).sum::<u64>()) as i64;
        assert_eq!(
            both.codelets.iter().map(|c| c.difference_ns).sum::<i64>(),
            more
        );
        assert_eq!(
            both.nodes.iter().map(|n| n.difference_ns).sum::<i64>(),
            more
        );
    }
}

/// A smaller trace may lack the task: then its helpers say nothing.
#[test]
fn helpers_of_tasks_that_are_not_there_are_left_out() {
    let mut trace = two();
    trace.tables.shares[0].task = 7;
    assert_eq!(idle(&trace).executing_ns, 100);
    assert_eq!(rates(&trace).all.unwrap().busy_ns, 100);
    assert_eq!(area_bound(&trace).unwrap().bound_ns, 50.0);
}
