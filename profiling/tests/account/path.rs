//! The critical path.

use crate::hand::{edge, empty, random_graph, task};
use treeqr_profiling::account::{CodeletShare, critical_path};
use treeqr_profiling::trace::Trace;

/// The earliest task is not on it, and neither is the last one to end.
#[test]
fn source_and_sink_are_virtual() {
    let mut trace = empty(2, 0, 40);
    task(&mut trace, 0, 0, 0, 2);
    task(&mut trace, 1, 1, 1, 10);
    task(&mut trace, 0, 0, 2, 4);
    task(&mut trace, 2, 1, 12, 17);
    task(&mut trace, 1, 0, 30, 33);
    edge(&mut trace, 0, 2);
    edge(&mut trace, 1, 3);
    let path = critical_path(&trace);
    assert_eq!((path.length_ns, &path.tasks[..]), (14, &[1, 3][..]));
    assert_eq!(path.waited_ns, 2);
    assert_eq!(path.slack_ns, [10, 0, 10, 0, 11]);
    let share = |codelet: &str, time_ns| CodeletShare {
        codelet: codelet.to_owned(),
        tasks: 1,
        time_ns,
    };
    assert_eq!(path.codelets, [share("c1", 9), share("c2", 5)]);
}

#[test]
fn an_empty_run_and_a_single_task() {
    let mut trace = empty(1, 0, 10);
    let path = critical_path(&trace);
    assert_eq!((path.length_ns, path.tasks.len()), (0, 0));
    task(&mut trace, 0, 0, 3, 8);
    let path = critical_path(&trace);
    assert_eq!(
        (path.length_ns, path.tasks, path.slack_ns),
        (5, vec![0], vec![0])
    );
}

/// Rows need not be in the order of their numbers, and numbers may be missing.
#[test]
fn numbers_count_and_not_rows() {
    let mut trace = random_graph(3, 40, 15);
    let before = critical_path(&trace);
    for t in &mut trace.tables.tasks {
        t.task = t.task * 3 + 7;
    }
    for e in &mut trace.tables.dependencies {
        (e.task, e.predecessor) = (e.task * 3 + 7, e.predecessor * 3 + 7);
    }
    trace.tables.tasks.reverse();
    edge(&mut trace, 8, 10);
    edge(&mut trace, 10, 7);
    let mut after = critical_path(&trace);
    after.slack_ns.reverse();
    assert_eq!(
        (after.length_ns, &after.slack_ns),
        (before.length_ns, &before.slack_ns)
    );
    let tasks: Vec<u32> = before.tasks.iter().map(|t| t * 3 + 7).collect();
    assert_eq!((after.tasks, after.left_out), (tasks, 2));
}

/// Every chain there is: its tasks, and how long it takes.
fn chains(trace: &Trace) -> Vec<(Vec<u32>, u64)> {
    fn longer(trace: &Trace, chain: &[u32], out: &mut Vec<(Vec<u32>, u64)>) {
        let tasks = &trace.tables.tasks;
        let time = |&t: &u32| tasks[t as usize].end_ns - tasks[t as usize].start_ns;
        out.push((chain.to_vec(), chain.iter().map(time).sum()));
        let last = chain[chain.len() - 1];
        for e in trace
            .tables
            .dependencies
            .iter()
            .filter(|e| e.predecessor == last)
        {
            longer(trace, &[chain, &[e.task]].concat(), out);
        }
    }
    let mut out = Vec::new();
    for task in 0..trace.tables.tasks.len() as u32 {
        longer(trace, &[task], &mut out);
    }
    out
}

#[test]
fn it_is_the_longest_of_all_chains() {
    for seed in 0..200 {
        let trace = random_graph(seed, 1 + (seed % 11) as u32, 30);
        let (path, chains) = (critical_path(&trace), chains(&trace));
        let longest = chains.iter().map(|c| c.1).max().unwrap();
        assert_eq!(path.length_ns, longest, "seed {seed}");
        let length = chains.iter().find(|c| c.0 == path.tasks).map(|c| c.1);
        assert_eq!(
            length,
            Some(longest),
            "seed {seed}: {:?} is no longest chain",
            path.tasks
        );
        let of_codelets: u64 = path.codelets.iter().map(|c| c.time_ns).sum();
        assert_eq!(of_codelets, longest, "seed {seed}");
        for (task, &slack) in (0..).zip(&path.slack_ns) {
            let through = chains.iter().filter(|c| c.0.contains(&task)).map(|c| c.1);
            assert_eq!(
                slack,
                longest - through.max().unwrap(),
                "seed {seed}, task {task}"
            );
        }
    }
}
