//! Idle time by cause.

use crate::common::{Random, Shape, random};
use crate::hand::{empty, state, task};
use treeqr_profiling::account::{IdleCauses, idle, time_split};
use treeqr_profiling::trace::Trace;
use treeqr_profiling::trace::schema::{Switch, SwitchReason, ThreadState, WorkerKind};

fn switch(trace: &mut Trace, worker: u16, out_ns: u64, in_ns: Option<u64>, reason: SwitchReason) {
    trace.tables.switches.push(Switch {
        worker: Some(worker),
        out_ns,
        in_ns,
        from_unit: 0,
        to_unit: in_ns.map(|_| 0),
        reason,
    });
}

/// One of each cause, on worker 0; worker 1 is busy.
#[test]
fn each_cause_is_found() {
    let mut trace = empty(2, 0, 1000);
    task(&mut trace, 0, 1, 10, 900);
    task(&mut trace, 0, 0, 100, 200);
    let late = task(&mut trace, 0, 0, 800, 850);
    (late.submit_ns, late.ready_ns, late.pop_ns) = (600, 630, 790);
    state(&mut trace, Some(0), ThreadState::Idle, 0, 95);
    state(&mut trace, Some(0), ThreadState::Sleeping, 210, 700);
    state(&mut trace, Some(0), ThreadState::Transferring, 792, 800);
    state(&mut trace, Some(0), ThreadState::Idle, 850, 1000);
    state(&mut trace, None, ThreadState::MemoryFull, 250, 300);
    state(&mut trace, None, ThreadState::WindowFull, 400, 420);
    switch(&mut trace, 0, 710, Some(725), SwitchReason::Preempted);
    switch(&mut trace, 0, 840, Some(845), SwitchReason::Preempted);
    switch(&mut trace, 0, 740, Some(750), SwitchReason::Migrated);
    let idle = idle(&trace);
    let causes = IdleCauses {
        between_runs_ns: 0,
        before_first_ns: 10,
        after_last_ns: 100,
        preempted_ns: 15 + 10,
        data_ns: 8,
        scheduling_ns: 70,
        memory_full_ns: 50,
        window_full_ns: 20,
        // From 10 to 95 and from 210 to 600, less the stalls.
        submission_ns: 85 + 390 - 70,
        // 600 to 630, then 850 to 900.
        starvation_ns: 30 + 50,
        // 95 to 100, 200 to 210, 700 to 792 less 25.
        runtime_ns: 5 + 10 + 92 - 25,
    };
    assert_eq!(idle.workers[0].causes, causes);
    assert_eq!(
        (
            idle.workers[0].executing_ns,
            idle.workers[0].causes.total_ns()
        ),
        (150, 850)
    );
    assert_eq!(idle.workers[1].causes.total_ns(), 110);
    assert_eq!((idle.executing_ns, idle.all.total_ns()), (1040, 960));
}

/// What only a CPU can run is no reason for a device to be busy.
#[test]
fn a_device_starves_beside_tasks_for_cpus() {
    let mut trace = empty(1, 1, 100);
    task(&mut trace, 0, 0, 0, 50);
    task(&mut trace, 0, 0, 50, 100).ready_ns = 0;
    task(&mut trace, 1, 1, 90, 100);
    state(&mut trace, Some(1), ThreadState::Idle, 0, 90);
    assert_eq!(idle(&trace).workers[1].causes.starvation_ns, 90);
    trace.tables.tasks[2].codelet = 0;
    let causes = idle(&trace).workers[1].causes;
    assert_eq!((causes.scheduling_ns, causes.starvation_ns), (50, 40));
}

/// A random run with stalls, transfers and switches.
fn eventful(seed: u64) -> Trace {
    let mut trace = random(Shape::small(seed));
    let mut dice = Random::new(seed + 77);
    let end = trace.manifest.run.end_ns;
    for s in &mut trace.tables.states {
        if s.worker.is_some() && dice.below(4) == 0 {
            s.state = ThreadState::Transferring;
        }
    }
    for _ in 0..30 {
        let from = dice.below(end);
        let to = from + dice.below(5000);
        let kind = [ThreadState::MemoryFull, ThreadState::WindowFull][dice.below(2) as usize];
        state(&mut trace, None, kind, from, to);
        let worker = dice.below(trace.tables.workers.len() as u64) as u16;
        let reason = SwitchReason::ALL[dice.below(3) as usize];
        let back = (dice.below(9) > 0).then_some(from + dice.below(3000));
        switch(&mut trace, worker, from + 10, back.map(|t| t + 10), reason);
    }
    trace
}

/// The cause at one moment, straight from the table of causes.
fn cause(trace: &Trace, worker: u16, at: u64) -> Option<&'static str> {
    let tables = &trace.tables;
    let within = |from: u64, to: u64| from <= at && at < to;
    let tasks = || tables.tasks.iter();
    if tasks().any(|t| t.worker == worker && within(t.start_ns, t.end_ns)) {
        return None;
    }
    if tasks().all(|t| at < t.start_ns) {
        return Some("before_first");
    }
    if tasks().all(|t| t.end_ns <= at) {
        return Some("after_last");
    }
    let switched = |reason| {
        let mine = tables
            .switches
            .iter()
            .filter(|s| s.worker == Some(worker) && s.reason == reason);
        mine.clone()
            .any(|s| within(s.out_ns, s.in_ns.unwrap_or(u64::MAX)))
    };
    if switched(SwitchReason::Preempted) {
        return Some("preempted");
    }
    let in_state = |worker: Option<u16>, states: &[ThreadState]| {
        let mut rows = tables.states.iter();
        rows.any(|s| {
            s.worker == worker && states.contains(&s.state) && within(s.start_ns, s.end_ns)
        })
    };
    use ThreadState::{Idle, MemoryFull, Scheduling, Sleeping, Transferring, WindowFull};
    if in_state(Some(worker), &[Transferring]) {
        return Some("data");
    }
    if !in_state(Some(worker), &[Idle, Sleeping, Scheduling]) {
        return Some(if switched(SwitchReason::Migrated) {
            "preempted"
        } else {
            "runtime"
        });
    }
    let kind = |worker: u16| tables.workers[usize::from(worker)].kind;
    let can = |codelet: u16, of: WorkerKind| {
        tasks().any(|t| t.codelet == codelet && kind(t.worker) == of)
    };
    if tasks().any(|t| within(t.ready_ns, t.pop_ns) && can(t.codelet, kind(worker))) {
        return Some("scheduling");
    }
    if in_state(None, &[MemoryFull]) {
        return Some("memory_full");
    }
    if in_state(None, &[WindowFull]) {
        return Some("window_full");
    }
    let submitting = tasks().any(|t| at < t.submit_ns);
    Some(if submitting {
        "submission"
    } else {
        "starvation"
    })
}

/// Between two times at which anything happens there is one cause.
#[test]
fn causes_are_those_of_each_moment() {
    for seed in [1, 2, 3, 5, 8] {
        let trace = eventful(seed);
        let tables = &trace.tables;
        let mut times: Vec<u64> = Vec::new();
        times.extend(
            tables
                .tasks
                .iter()
                .flat_map(|t| [t.submit_ns, t.ready_ns, t.pop_ns, t.start_ns, t.end_ns]),
        );
        times.extend(tables.states.iter().flat_map(|s| [s.start_ns, s.end_ns]));
        times.extend(
            tables
                .switches
                .iter()
                .flat_map(|s| [s.out_ns, s.in_ns.unwrap_or(0)]),
        );
        times.extend(tables.workers.iter().flat_map(|w| [w.start_ns, w.end_ns]));
        times.sort_unstable();
        times.dedup();
        let idle = idle(&trace);
        for (w, row) in tables.workers.iter().zip(&idle.workers) {
            let mut expected: Vec<(&str, u64)> = row.causes.named().map(|c| (c.0, 0)).to_vec();
            for pair in times
                .windows(2)
                .filter(|p| w.start_ns <= p[0] && p[1] <= w.end_ns)
            {
                if let Some(cause) = cause(&trace, w.worker, pair[0]) {
                    expected.iter_mut().find(|c| c.0 == cause).unwrap().1 += pair[1] - pair[0];
                }
            }
            assert_eq!(
                row.causes.named().to_vec(),
                expected,
                "seed {seed}, worker {}",
                w.worker
            );
        }
    }
}

#[test]
fn nothing_is_lost_or_counted_twice() {
    for seed in 0..40 {
        let trace = eventful(seed);
        let idle = idle(&trace);
        for w in &idle.workers {
            assert_eq!(
                w.executing_ns + w.causes.total_ns(),
                w.time_ns,
                "seed {seed}"
            );
        }
        let sum: u64 = idle.workers.iter().map(|w| w.causes.total_ns()).sum();
        assert_eq!(idle.all.total_ns(), sum);
        let in_tasks: u64 = trace
            .tables
            .tasks
            .iter()
            .map(|t| t.end_ns - t.start_ns)
            .sum();
        assert_eq!(idle.executing_ns, in_tasks, "seed {seed}");
        let split = time_split(&trace);
        assert_eq!(split.tasks_ns, in_tasks);
        assert_eq!(
            split.tasks_ns + split.idle_ns + split.runtime_ns,
            split.workers as u64 * split.wall_ns
        );
    }
}
