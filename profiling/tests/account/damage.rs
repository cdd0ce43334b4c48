//! Traces that no run wrote: everything still gives an answer. And large ones.

use crate::common::{Random, Shape, random};
use treeqr_profiling::account::*;
use treeqr_profiling::trace::schema::Task;
use treeqr_profiling::trace::{RunPart, Trace};

/// All that there is, as JSON.
fn everything(trace: &Trace) -> String {
    let write = |value: Result<String, serde_json::Error>| value.expect("plain data");
    let area =
        area_bound(trace).map_or_else(|e| e.to_string(), |a| write(serde_json::to_string(&a)));
    [
        area,
        bounds(trace).map_or_else(|e| e.to_string(), |b| write(serde_json::to_string(&b))),
        write(serde_json::to_string(&critical_path(trace))),
        write(serde_json::to_string(&idle(trace))),
        write(serde_json::to_string(&time_split(trace))),
        write(serde_json::to_string(&efficiency(trace, None, None))),
        write(serde_json::to_string(&tasks_over_time(trace))),
        write(serde_json::to_string(
            &flops_over_time(trace).bins(0, 100_000, 50),
        )),
        write(serde_json::to_string(&nodes_over_time(trace))),
        write(serde_json::to_string(&transfers_over_time(trace))),
        write(serde_json::to_string(&memory_over_time(trace, 3))),
        write(serde_json::to_string(&memory_peak(trace))),
        write(serde_json::to_string(&node_activity(trace))),
        write(serde_json::to_string(&use_by_depth(trace, 20))),
        write(serde_json::to_string(&use_by_node(trace, 20, 3))),
        write(serde_json::to_string(&delays(trace))),
        write(serde_json::to_string(&rates(trace))),
    ]
    .join("\n")
}

#[test]
fn damaged_traces_end_in_an_answer() {
    for seed in 0..300 {
        let mut trace = random(Shape::small(seed));
        let mut dice = Random::new(seed + 5);
        let wild = [0, 1, 7, 1000, 1 << 40, u64::MAX - 1, u64::MAX];
        let tables = &mut trace.tables;
        for _ in 0..4 {
            let value = wild[dice.below(7) as usize];
            let n = tables.tasks.len() as u64;
            let t = &mut tables.tasks[dice.below(n) as usize];
            match dice.below(15) {
                0 => t.start_ns = value,
                1 => t.end_ns = value,
                2 => t.submit_ns = value,
                3 => t.ready_ns = value,
                4 => t.pop_ns = value,
                5 => t.flops = value,
                6 => t.worker = value as u16,
                7 => t.codelet = value as u16,
                8 => t.node = value as u32,
                9 => t.task = value as u32,
                10 => tables.states[0].end_ns = value,
                11 => tables.workers[0].end_ns = value,
                12 => tables
                    .memory
                    .iter_mut()
                    .take(2)
                    .for_each(|m| (m.after_bytes, m.delta_bytes) = (value, -(value as i64 / 2))),
                13 => {
                    let mut part = |first_task| RunPart {
                        begin_ns: wild[dice.below(7) as usize],
                        end_ns: wild[dice.below(7) as usize],
                        submitted_tasks: wild[dice.below(7) as usize],
                        first_task,
                        ..RunPart::default()
                    };
                    trace.manifest.run.parts = vec![part(0), part(value), part(n / 2)];
                }
                _ => {
                    tables.workers.truncate(1);
                    trace.manifest.run.begin_ns = value;
                }
            }
        }
        let _ = everything(&trace);
    }
}

/// One task, one worker, none of either: figures are there as far as they mean something.
#[test]
fn small_runs_have_all_figures() {
    for (cpus, tasks) in [(1, 1), (1, 30), (4, 1)] {
        let trace = random(Shape {
            seed: 3,
            tasks,
            cpus,
            devices: 0,
        });
        let both = bounds(&trace).unwrap();
        assert!(0.0 < both.area_ns && both.bound_ns <= both.makespan_ns as f64);
        if cpus == 1 {
            assert!(
                (both.area_ns - both.bound_ns).abs() < 1e-6,
                "one worker: the path is no bound"
            );
        }
        assert_eq!(idle(&trace).workers.len(), usize::from(cpus));
        assert!(!everything(&trace).contains("NaN"));
    }
    let mut trace = random(Shape::small(2));
    trace.tables = Default::default();
    let (both, figures) = (bounds(&trace).unwrap(), rates(&trace));
    assert_eq!((both.bound_ns, both.makespan_ns), (0.0, 0));
    assert!(figures.all.is_none() && delays(&trace).is_empty());
    assert!(use_by_depth(&trace, 5).rows.is_empty());
    assert_eq!(idle(&trace).all.total_ns(), 0);
}

/// What must hold of any trace without faults, each side computed in another way: sums over rows, and a longest chain task by
/// task.
fn sums_are_kept(trace: &Trace) {
    let tables = &trace.tables;
    let tasks = &tables.tasks;
    let end = tasks.iter().map(|t| t.end_ns).max().expect("tasks") + 10;
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} and {b}");
    let sum = |of: &dyn Fn(&Task) -> u64| tasks.iter().map(of).sum::<u64>();
    let count = tasks.len() as u64;
    let busy = sum(&|t| t.end_ns - t.start_ns);
    let flops = sum(&|t| t.flops);

    let area = area_bound(trace).expect("solved");
    assert_eq!(area.classes.iter().map(|c| c.tasks).sum::<u64>(), count);
    near(
        area.resources.iter().map(|r| r.measured_ns).sum(),
        busy as f64,
    );
    for class in &area.classes {
        near(class.ideal.iter().sum(), class.tasks as f64);
    }
    let bounds = bounds(trace).expect("solved");
    assert!(bounds.bound_ns <= bounds.makespan_ns as f64 * (1.0 + 1e-9));

    // Numbers are 0, 1, 2, ... here.
    let mut until = vec![0; tasks.len()];
    let mut edges = tables.dependencies.iter().peekable();
    for t in tasks {
        let mut before = 0;
        while let Some(edge) = edges.next_if(|e| e.task == t.task) {
            before = before.max(until[edge.predecessor as usize]);
        }
        until[t.task as usize] = before + (t.end_ns - t.start_ns);
    }
    assert!(edges.next().is_none(), "edges are by task");
    let path = critical_path(trace);
    assert_eq!(Some(path.length_ns), until.iter().copied().max());
    let on_path = path.tasks.iter().map(|&k| &tasks[k as usize]);
    assert_eq!(
        on_path.map(|t| t.end_ns - t.start_ns).sum::<u64>(),
        path.length_ns
    );
    assert!(path.tasks.iter().all(|&k| path.slack_ns[k as usize] == 0));

    for w in idle(trace).workers {
        assert_eq!(w.executing_ns + w.causes.total_ns(), w.time_ns);
    }
    let over_time = tasks_over_time(trace);
    near(over_time.running.integral(0, end), busy as f64);
    let waits = sum(&|t| t.pop_ns - t.ready_ns);
    near(over_time.ready.integral(0, end), waits as f64);
    let lives = sum(&|t| t.end_ns - t.submit_ns);
    near(over_time.unfinished.integral(0, end), lives as f64);
    let rate = flops_over_time(trace);
    near(rate.integral(0, end), flops as f64);
    let bins = rate.bins(0, end, 2000);
    let binned = bins.iter().map(|b| b.mean * (b.to_ns - b.from_ns) as f64);
    near(binned.sum(), flops as f64);
    let active = nodes_over_time(trace);
    for steps in [active.parallel, active.sequential, active.parallel_running] {
        assert_eq!(steps.at(end), 0.0);
    }

    let memory = memory_over_time(trace, 10);
    let nodes = memory.memory_nodes.iter();
    let held: f64 = nodes.map(|node| node.bytes.at(end)).sum();
    near(memory.total.at(end), held);
    let of_tree = memory.tree_nodes.iter().map(|node| node.bytes.at(end));
    let of_tree = of_tree.sum::<f64>() + memory.other_tree_nodes.at(end);
    let left: i64 = tables.memory.iter().map(|m| m.delta_bytes).sum();
    near(of_tree, left as f64);

    let activity = node_activity(trace);
    assert_eq!(activity.iter().map(|n| n.tasks).sum::<u64>(), count);
    assert_eq!(activity.iter().map(|n| n.busy_ns).sum::<u64>(), busy);
    for used in [use_by_depth(trace, 2000), use_by_node(trace, 2000, 20)] {
        assert_eq!(used.rows.iter().map(|row| row.busy_ns).sum::<u64>(), busy);
        let edges = used.edges_ns.windows(2);
        let widths: Vec<f64> = edges.map(|e| (e[1] - e[0]) as f64).collect();
        let time = |row: &UseRow| -> f64 {
            let shares = row.share.iter().zip(&widths);
            shares.map(|(s, w)| s * w).sum::<f64>() * used.workers as f64
        };
        near(used.rows.iter().map(time).sum(), busy as f64);
    }
    let delays = delays(trace);
    assert_eq!(delays.iter().map(|d| d.tasks).sum::<u64>(), count);
    let waited = sum(&|t| t.start_ns - t.ready_ns);
    near(
        delays.iter().map(|d| d.mean_ns * d.tasks as f64).sum(),
        waited as f64,
    );
    let rates = rates(trace);
    for by in [rates.codelets, rates.nodes, rates.depths, rates.workers] {
        assert_eq!(by.iter().map(|r| r.flops).sum::<u64>(), flops);
        assert_eq!(by.iter().map(|r| r.busy_ns).sum::<u64>(), busy);
    }
}

#[test]
fn sums_are_kept_by_small_runs() {
    for seed in 0..40 {
        sums_are_kept(&random(Shape::small(seed)));
    }
}

#[test]
#[ignore = "a million tasks, seconds: just test-large"]
fn sums_are_kept_by_a_million_tasks() {
    sums_are_kept(&random(Shape {
        seed: 4,
        tasks: 1_000_000,
        cpus: 16,
        devices: 2,
    }));
}
