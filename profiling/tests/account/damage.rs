//! Traces that no run wrote: everything still gives an answer. And large ones.

use crate::common::{Random, Shape, random};
use std::time::Instant;
use treeqr_profiling::account::*;
use treeqr_profiling::trace::Trace;

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
            match dice.below(14) {
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

/// Says what each takes, and asks for none of it.
#[test]
#[ignore = "seconds"]
fn a_million_tasks() {
    let trace = random(Shape {
        seed: 4,
        tasks: 1_000_000,
        cpus: 16,
        devices: 2,
    });
    let edges = trace.tables.dependencies.len();
    println!("{} tasks, {edges} dependencies", trace.tables.tasks.len());
    fn timed<T>(name: &str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let out = work();
        println!("{name:20} {:8.1} ms", start.elapsed().as_secs_f64() * 1e3);
        out
    }
    timed("area_bound", || {
        area_bound(&trace).map(|a| a.bound_ns).unwrap()
    });
    timed("critical_path", || critical_path(&trace));
    let idle = timed("idle", || idle(&trace));
    timed("tasks_over_time", || tasks_over_time(&trace));
    let flops = timed("flops_over_time", || flops_over_time(&trace));
    timed("bins", || flops.bins(0, trace.manifest.run.end_ns, 2000));
    timed("nodes_over_time", || nodes_over_time(&trace));
    timed("memory_over_time", || memory_over_time(&trace, 10));
    timed("node_activity", || node_activity(&trace));
    timed("use_by_depth", || use_by_depth(&trace, 2000));
    timed("use_by_node", || use_by_node(&trace, 2000, 20));
    timed("delays", || delays(&trace));
    timed("rates", || rates(&trace));
    assert!(
        idle.workers
            .iter()
            .all(|w| w.executing_ns + w.causes.total_ns() == w.time_ns)
    );
    let all: u64 = trace.tables.tasks.iter().map(|t| t.flops).sum();
    let sum = flops.integral(0, trace.manifest.run.end_ns + 10);
    assert!((sum - all as f64).abs() <= 1e-9 * all as f64);
}
