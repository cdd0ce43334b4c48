//! Traces at the edge of what there is, for all that shows traces.

use super::{CODELETS, Shape, random};
use treeqr_profiling::trace::schema::{
    Codelet, Counter, Role, Share, Spill, State, Switch, SwitchReason, Task, ThreadState,
    WorkerKind,
};
use treeqr_profiling::trace::{Status, Trace};

/// Random ones, one task, many workers, no fronts, no memory, no times that differ.
pub fn samples() -> Vec<(String, Trace)> {
    let mut out: Vec<(String, Trace)> = (0..6)
        .map(|seed| (format!("seed {seed}"), random(Shape::small(seed))))
        .collect();
    let base = || random(Shape::small(3));
    let mut one = base();
    one.tables.tasks.truncate(1);
    one.tables.states.clear();
    one.tables.memory.clear();
    out.push(("one task".into(), one));
    let mut bare = base();
    bare.tables.fronts.clear();
    bare.tables.memory.clear();
    bare.tables.workers.clear();
    bare.tables.codelets.clear();
    bare.tables.states.clear();
    out.push(("tasks alone".into(), bare));
    let mut flat = base();
    for task in &mut flat.tables.tasks {
        (task.submit_ns, task.ready_ns, task.pop_ns) = (5, 5, 5);
        (task.start_ns, task.end_ns, task.flops) = (5, 5, 0);
    }
    flat.tables.memory.clear();
    out.push(("no time at all".into(), flat));
    let many = Shape {
        seed: 9,
        tasks: 3000,
        cpus: 200,
        devices: 8,
    };
    out.push(("many workers".into(), random(many)));
    let mut named = base();
    named.manifest.matrix.insert(
        "name".into(),
        format!("<&\"'\u{0}\u{7}> {}", "long ".repeat(100)).into(),
    );
    named.manifest.run.memory_limit_bytes = Some(1);
    for phase in &mut named.tables.phases {
        // A circle.
        phase.part_of = Some(phase.phase.clone());
    }
    named
        .manifest
        .analysis
        .insert("peak_bytes".into(), u64::MAX.into());
    out.push(("odd words".into(), named));
    let one_worker = Shape {
        seed: 7,
        tasks: 80,
        cpus: 1,
        devices: 0,
    };
    out.push(("one worker".into(), random(one_worker)));
    let mut part = base();
    part.tables.tasks.retain(|task| task.task % 3 == 0);
    part.manifest.filtered = Some("every third task".into());
    out.push(("part of a trace".into(), part));
    let mut cancelled = base();
    let half = cancelled.tables.tasks.len() / 2;
    cancelled.tables.tasks.truncate(half);
    let last = cancelled.tables.tasks[half - 1].task;
    cancelled.tables.memory.retain(|row| row.task <= last);
    cancelled.manifest.status = Status::Cancelled;
    out.push(("cancelled".into(), cancelled));
    out.push(("solves, switches, counters".into(), rich(3)));
    out.push(("helpers".into(), helped(5)));
    out
}

/// A random one on several CPUs that help each other.
pub fn helped(seed: u64) -> Trace {
    let trace = with_helpers(random(Shape {
        seed,
        tasks: 150,
        cpus: 4,
        devices: (seed % 2) as u16,
    }));
    assert!(trace.tables.shares.len() > 10);
    trace
}

/// Where a CPU worker had no task while another's lasted, it does parts of that one. It looks at the clock a little late.
pub fn with_helpers(mut trace: Trace) -> Trace {
    let tables = &mut trace.tables;
    let workers = tables.workers.iter();
    let cpus = workers.filter(|w| w.kind == WorkerKind::Cpu);
    let cpus: Vec<u16> = cpus.map(|w| w.worker).collect();
    for state in std::mem::take(&mut tables.states) {
        let helper = state.worker.filter(|w| cpus.contains(w));
        let common = |t: &Task| (state.start_ns.max(t.start_ns), state.end_ns.min(t.end_ns));
        let task = tables.tasks.iter().find(|t| {
            let other = cpus.contains(&t.worker) && state.worker != Some(t.worker);
            other && common(t).0 + 20 < common(t).1
        });
        let (Some(worker), Some(task)) = (helper, task) else {
            tables.states.push(state);
            continue;
        };
        let (from, to) = common(task);
        let to = state.end_ns.min(to + 1);
        tables.shares.push(Share {
            task: task.task,
            worker,
            parts: 1 + (to - from) as u32 % 7,
            start_ns: from,
            end_ns: to,
        });
        for (start_ns, end_ns) in [(state.start_ns, from), (to, state.end_ns)] {
            if start_ns < end_ns {
                tables.states.push(State {
                    start_ns,
                    end_ns,
                    ..state
                });
            }
        }
    }
    tables.shares.sort_by_key(|s| (s.start_ns, s.worker));
    trace
}

/// What workers did in tasks: worker, task, and nanoseconds; of tasks that are there.
pub fn worked(trace: &Trace) -> impl Iterator<Item = (u16, &Task, u64)> {
    let tasks = &trace.tables.tasks;
    let own = tasks.iter().map(|t| (t.worker, t, t.end_ns - t.start_ns));
    let helped = trace.tables.shares.iter().filter_map(|s| {
        let task = tasks.iter().find(|t| t.task == s.task)?;
        Some((s.worker, task, s.end_ns - s.start_ns))
    });
    own.chain(helped)
}

/// With all that a trace can have: tasks of a solve, spills, context switches, counters, stalls of both kinds.
pub fn rich(seed: u64) -> Trace {
    let mut trace = with_solves(random(Shape::small(seed)));
    let tables = &mut trace.tables;
    let end = tables.tasks.iter().map(|t| t.end_ns).max().unwrap();
    let reasons = [
        SwitchReason::Voluntary,
        SwitchReason::Preempted,
        SwitchReason::Migrated,
    ];
    for (k, task) in tables.tasks.iter().enumerate() {
        if k % 5 == 0 {
            tables.switches.push(Switch {
                worker: (k % 2 == 0).then_some(task.worker),
                out_ns: task.start_ns,
                in_ns: (k % 3 > 0).then_some(task.end_ns),
                from_unit: 0,
                to_unit: None,
                reason: reasons[k % 3],
            });
        }
        for (counter, value) in [("cycles", 3000), ("page_faults", u64::from(k == 7))] {
            tables.counters.push(Counter {
                task: task.task,
                counter: counter.to_owned(),
                value,
            });
        }
    }
    tables.states.push(State {
        worker: None,
        state: ThreadState::MemoryFull,
        start_ns: end / 2,
        end_ns: end / 2 + 300,
    });
    tables.spills.push(Spill {
        worker: Some(0),
        start_ns: end / 3,
        end_ns: end / 3 + 100,
        bytes: 1 << 20,
    });
    trace
}

/// After the factorization, for every front a task that solves with it.
pub fn with_solves(mut trace: Trace) -> Trace {
    let tables = &mut trace.tables;
    let mut at = tables.tasks.iter().map(|t| t.end_ns).max().unwrap();
    let (codelet, name) = (CODELETS.len() as u16, "solve_r".to_owned());
    let role = Role::Solve;
    tables.codelets.push(Codelet {
        codelet,
        name,
        role,
    });
    let like = tables.tasks[0].clone();
    let first = tables.tasks.iter().map(|t| t.task).max().unwrap() + 1;
    for (task, front) in (first..).zip(&tables.fronts) {
        let submit_ns = at;
        at += 700;
        tables.tasks.push(Task {
            task,
            codelet,
            worker: 0,
            node: front.node,
            submit_ns,
            ready_ns: submit_ns,
            pop_ns: submit_ns,
            start_ns: submit_ns + 10,
            end_ns: at,
            flops: 1000,
            ..like.clone()
        });
    }
    trace
}
