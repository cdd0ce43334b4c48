//! The parts of each worker's time add up to it.

use crate::sample::sample;
use treeqr_profiling::inspect::Balance;
use treeqr_profiling::trace::schema::{State, ThreadState};

#[test]
fn the_parts_add_up_and_are_the_sums_of_the_rows() {
    let mut trace = sample(5, 4, 3, 2);
    trace.tables.states.push(State {
        worker: None,
        state: ThreadState::MemoryFull,
        start_ns: 100,
        end_ns: 170,
    });
    let balance = Balance::of(&trace).unwrap();
    assert_eq!(
        balance.codelets,
        ["init_front", "block_copy", "geqrt", "clean_front"]
    );
    assert_eq!(balance.memory_full_ns, 70);
    assert_eq!(balance.tasks, trace.tables.tasks.len() as u64);
    let mut in_tasks = 0;
    for (w, row) in balance.workers.iter().zip(&trace.tables.workers) {
        let parts = [
            w.executing_ns(),
            w.scheduling_ns,
            w.idle_ns,
            w.sleeping_ns,
            w.transferring_ns,
            w.runtime_ns,
        ];
        assert_eq!(parts.iter().sum::<u64>(), row.end_ns - row.start_ns);
        assert!(parts[0] > 0 && parts[2] > 0 && parts[5] > 0);
        in_tasks += parts[0];
    }
    let rows: u64 = trace
        .tables
        .tasks
        .iter()
        .map(|t| t.end_ns - t.start_ns)
        .sum();
    assert_eq!(in_tasks, rows);
    let last = trace.tables.tasks.iter().map(|t| t.end_ns).max().unwrap();
    assert_eq!(balance.makespan_ns, last - trace.manifest.run.begin_ns);
}

#[test]
fn codelets_that_never_ran_are_not_shown() {
    let mut trace = sample(1, 2, 1, 2);
    trace.tables.tasks.retain(|t| t.codelet != 0);
    let balance = Balance::of(&trace).unwrap();
    assert_eq!(balance.codelets, ["geqrt"]);
    assert_eq!(balance.workers[0].by_codelet_ns.len(), 1);
}
