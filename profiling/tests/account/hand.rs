//! Traces made by hand, and random graphs.

use crate::common::Random;
use treeqr_profiling::trace::schema::*;
use treeqr_profiling::trace::{Manifest, Tables, Trace, TraceKind};

/// A trace with `cpus` and `devices` workers from 0 to `end_ns`, and no task.
pub fn empty(cpus: u16, devices: u16, end_ns: u64) -> Trace {
    let worker = |worker: u16| {
        let device = worker.checked_sub(cpus);
        Worker {
            worker,
            kind: device.map_or(WorkerKind::Cpu, |_| WorkerKind::Device),
            name: format!("w{worker}"),
            memory_node: device.map_or(0, |d| d + 1),
            bound_to: None,
            start_ns: 0,
            end_ns,
        }
    };
    let codelet = |codelet: u16| Codelet {
        codelet,
        name: format!("c{codelet}"),
        role: Role::Compute,
    };
    let mut manifest = Manifest::new(TraceKind::Measured, "by hand".to_owned());
    manifest.run.end_ns = end_ns;
    Trace {
        manifest,
        tables: Tables {
            workers: (0..cpus + devices).map(worker).collect(),
            codelets: (0..4).map(codelet).collect(),
            ..Tables::default()
        },
    }
}

/// Adds a task: submitted at 0, ready and taken when it starts.
pub fn task(trace: &mut Trace, codelet: u16, worker: u16, start_ns: u64, end_ns: u64) -> &mut Task {
    let tasks = &mut trace.tables.tasks;
    tasks.push(Task {
        task: tasks.len() as u32,
        codelet,
        worker,
        node: 0,
        priority: 0,
        submit_ns: 0,
        ready_ns: start_ns,
        pop_ns: start_ns,
        start_ns,
        end_ns,
        flops: 0,
        bytes: 0,
        panel: None,
        tile_row: None,
        tile_col: None,
        child: None,
        rows: 0,
        cols: 0,
        inner: 0,
        coefficients: 0,
    });
    tasks.last_mut().expect("just pushed")
}

pub fn edge(trace: &mut Trace, predecessor: u32, task: u32) {
    trace
        .tables
        .dependencies
        .push(Dependency { task, predecessor });
}

pub fn state(
    trace: &mut Trace,
    worker: Option<u16>,
    state: ThreadState,
    start_ns: u64,
    end_ns: u64,
) {
    trace.tables.states.push(State {
        worker,
        state,
        start_ns,
        end_ns,
    });
}

/// Tasks with random durations, an edge between any two with a chance of `percent`.
pub fn random_graph(seed: u64, tasks: u32, percent: u64) -> Trace {
    let mut random = Random::new(seed + 1);
    let mut trace = empty(1, 0, 100_000);
    for number in 0..tasks {
        let start = random.below(1000);
        let end = start + random.below(100);
        task(&mut trace, random.below(4) as u16, 0, start, end);
        for before in 0..number {
            if random.below(100) < percent {
                edge(&mut trace, before, number);
            }
        }
    }
    trace
}

/// Tasks of a few classes that are faster on some workers than on others.
pub fn random_machine(seed: u64, cpus: u16, devices: u16, tasks: u32) -> Trace {
    let mut random = Random::new(seed + 1000);
    let mut trace = empty(cpus, devices, 1_000_000);
    let resources = usize::from(devices) + 1;
    let speed: Vec<u64> = (0..4 * 4 * resources)
        .map(|_| 1 + random.below(50))
        .collect();
    for _ in 0..tasks {
        let (codelet, size) = (random.below(4), random.below(4));
        let worker = random.below(u64::from(cpus + devices)) as u16;
        let resource = usize::from((worker + 1).saturating_sub(cpus));
        let cell = (codelet * 4 + size) as usize * resources + resource;
        let duration = 10 * speed[cell] + random.below(20);
        let task = task(&mut trace, codelet as u16, worker, 100, 100 + duration);
        task.flops = if size == 0 { 0 } else { 1000 << size };
    }
    trace
}
