//! Traces of several runs of the runtime, one after the other.

use crate::hand::{empty, random_graph, state, task};
use treeqr_profiling::account::{critical_path, idle, memory_peak, time_split};
use treeqr_profiling::inspect::{Balance, check};
use treeqr_profiling::trace::schema::{Memory, Role, ThreadState};
use treeqr_profiling::trace::{FACTORIZE, RunPart, SOLVE, Trace};

fn part(name: &str, first_task: u64, tasks: u64, begin_ns: u64, end_ns: u64) -> RunPart {
    RunPart {
        name: name.to_owned(),
        scheduler: "ws".to_owned(),
        workers: 1,
        begin_ns,
        end_ns,
        first_task,
        submitted_tasks: tasks,
    }
}

/// A factorization on two workers until 100, a solve on one of them from 300 to 400; codelet 3 solves.
fn two_runs() -> Trace {
    let mut trace = empty(2, 0, 400);
    trace.tables.codelets[3].role = Role::Solve;
    trace.tables.workers[1].end_ns = 100;
    task(&mut trace, 0, 0, 10, 90);
    task(&mut trace, 1, 1, 20, 40);
    state(&mut trace, Some(1), ThreadState::Idle, 40, 100);
    let late = [(320, 340), (350, 390)];
    for (start, end) in late {
        let task = task(&mut trace, 3, 0, start, end);
        (task.submit_ns, task.flops) = (305, 7);
    }
    state(&mut trace, Some(0), ThreadState::Idle, 340, 350);
    trace.manifest.run.submitted_tasks = 4;
    trace.manifest.run.parts = vec![part(FACTORIZE, 0, 2, 0, 100), part(SOLVE, 2, 2, 300, 400)];
    trace
}

#[test]
fn what_lies_between_runs_is_no_starvation() {
    let trace = two_runs();
    let causes = idle(&trace).workers[0].causes;
    assert_eq!(causes.between_runs_ns, 200);
    // 0 to 10 and 300 to 320; 90 to 100 and 390 to 400.
    assert_eq!((causes.before_first_ns, causes.after_last_ns), (30, 20));
    // 340 to 350, when all was submitted.
    assert_eq!((causes.starvation_ns, causes.runtime_ns), (10, 0));
    assert_eq!(causes.total_ns(), 400 - 80 - 60);
    let other = idle(&trace).workers[1].causes;
    // Worker 1 was there for the factorization only: from 20 the first task of the run is done, until 90 the last.
    assert_eq!((other.between_runs_ns, other.before_first_ns), (0, 10));
    assert_eq!((other.starvation_ns, other.after_last_ns), (50, 10));

    let balance = Balance::of(&trace).expect("in memory");
    assert_eq!(balance.workers[0].time_ns, 200);
    assert_eq!(balance.workers[1].time_ns, 100);
    let times: Vec<_> = balance
        .parts
        .iter()
        .map(|p| (p.makespan_ns, p.tasks, p.flops))
        .collect();
    assert_eq!(times, [(90, 2, 0), (90, 2, 14)]);

    // The split is the factorization's.
    let split = time_split(&trace);
    assert_eq!((split.workers, split.wall_ns), (2, 100));
    assert_eq!(
        (split.tasks_ns, split.idle_ns, split.runtime_ns),
        (100, 60, 40)
    );
}

#[test]
fn one_part_is_as_none() {
    let mut trace = empty(2, 0, 1000);
    task(&mut trace, 0, 0, 100, 200);
    task(&mut trace, 0, 1, 150, 700);
    state(&mut trace, Some(0), ThreadState::Sleeping, 210, 900);
    let mut with = trace.clone();
    with.manifest.run.parts = vec![part(FACTORIZE, 0, 2, 0, 1000)];
    assert_eq!(idle(&trace), idle(&with));
    assert_eq!(time_split(&trace), time_split(&with));
    assert_eq!(critical_path(&trace), critical_path(&with));
    assert_eq!(memory_peak(&trace), memory_peak(&with));
}

/// The chain of two runs is that of the first, then that of the second; a task's slack is what it is in its own run.
#[test]
fn a_chain_leads_through_one_run_after_the_other() {
    for seed in 0..20 {
        let (a, b) = (random_graph(seed, 30, 10), random_graph(seed + 50, 25, 20));
        let (of_a, of_b) = (critical_path(&a), critical_path(&b));
        let mut both = a.clone();
        both.tables.tasks.extend(b.tables.tasks.iter().map(|t| {
            let mut t = t.clone();
            t.task += 30;
            t.start_ns += 5000;
            t.end_ns += 5000;
            t
        }));
        both.tables
            .dependencies
            .extend(b.tables.dependencies.iter().map(|e| {
                let mut e = e.clone();
                (e.task, e.predecessor) = (e.task + 30, e.predecessor + 30);
                e
            }));
        both.manifest.run.parts = vec![
            part(FACTORIZE, 0, 30, 0, 4000),
            part(SOLVE, 30, 25, 5000, 9000),
        ];
        let path = critical_path(&both);
        assert_eq!(path.length_ns, of_a.length_ns + of_b.length_ns);
        assert_eq!(path.slack_ns, [of_a.slack_ns, of_b.slack_ns].concat());
        let later: Vec<u32> = of_b.tasks.iter().map(|t| t + 30).collect();
        assert_eq!(path.tasks, [of_a.tasks, later].concat());
    }
}

#[test]
fn peak_and_limit_are_those_of_the_factorization() {
    let mut trace = two_runs();
    let mut event = |task, time_ns, delta_bytes, after_bytes| {
        trace.tables.memory.push(Memory {
            time_ns,
            task,
            node: 0,
            memory_node: 0,
            handle: task,
            delta_bytes,
            after_bytes,
        });
    };
    event(0, 20, 100, 100);
    event(0, 80, -30, 70);
    event(2, 330, 50, 120);
    trace.manifest.run.memory_limit_bytes = Some(110);
    let peak = memory_peak(&trace);
    assert_eq!((peak.peak_bytes, peak.left_bytes), (100, 70));
    assert_eq!(peak.memory_nodes[0].peak_bytes, 120);
    let of_limit = |trace: &Trace| {
        let found = check(trace).into_iter();
        found.filter(|f| f.rule == "limit").count()
    };
    assert_eq!(of_limit(&trace), 0);
    trace.manifest.run.parts.clear();
    assert_eq!(of_limit(&trace), 1);
}

#[test]
fn parts_that_contradict_themselves_are_found() {
    let of_parts = |change: fn(&mut Trace)| {
        let mut trace = two_runs();
        change(&mut trace);
        let found = check(&trace).into_iter();
        let told = found.filter(|f| f.rule == "parts" || f.rule == "life");
        told.map(|f| f.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of_parts(|_| {}), [""; 0]);
    let one = |change, message: &str| {
        let found = of_parts(change);
        assert!(found[0].contains(message), "{found:?}");
    };
    one(
        |t| t.manifest.run.parts[1].begin_ns = 50,
        "is not after 100 ns",
    );
    one(|t| t.manifest.run.parts[1].end_ns = 500, "within the run");
    one(
        |t| t.manifest.run.parts[1].first_task = 3,
        "begins with task 3, after 2 tasks",
    );
    one(
        |t| t.manifest.run.submitted_tasks = 5,
        "the parts have 4 tasks, but 5",
    );
    one(
        |t| t.manifest.run.parts[1].begin_ns = 310,
        "lies before the run begins at 310",
    );
    one(
        |t| t.tables.tasks[1].end_ns = 101,
        "the run ends at 100 ns lies before end at 101",
    );
}
