//! What the runtime costs: nanoseconds per empty task with two accesses, submission included.
//!
//! `cargo bench -p treeqr-runtime --bench overhead [-- TASKS]`. Three graphs (independent tasks, one chain, random
//! handles out of 64), every scheduler, 1 and 2 workers, observer off and on (a minimal one that reads the processor's
//! monotonic clock and keeps records; the real recorder has its own bench). Best of five runs. The last line is the
//! sequential runner.

use std::sync::Mutex;
use std::time::Instant;
use treeqr_runtime::*;

struct Empty;

impl Application for Empty {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        &[Codelet {
            name: "empty",
            cpu: Some(|_, _, _| Ok(())),
        }]
    }
}

/// Keeps every task record.
struct Keep {
    origin: Instant,
    capacity: usize,
    kept: Mutex<usize>,
}

struct Kept(Vec<TaskRecord>);

impl Observer for Keep {
    type Track = Kept;
    fn attach(&self, _: Lane) -> Kept {
        Kept(Vec::with_capacity(self.capacity))
    }
    fn detach(&self, track: Kept) {
        *self.kept.lock().unwrap() += track.0.len();
    }
    fn clock(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }
}

impl Track for Kept {
    fn submitted(&mut self, _: TaskId, _: &TaskSpec, _: u64) {}
    fn task(&mut self, record: &TaskRecord) {
        self.0.push(*record);
    }
    fn memory(&mut self, _: &MemoryRecord) {}
    fn state(&mut self, _: &StateRecord) {}
}

#[derive(Clone, Copy, Debug)]
enum Graph {
    Independent,
    Chain,
    Random,
}

const HANDLES: u32 = 4096;

impl Graph {
    /// The two handles of task `i`.
    fn handles(self, i: u32, random: &mut u64) -> (u32, u32) {
        match self {
            Graph::Independent => (2 * i % HANDLES, (2 * i + 1) % HANDLES),
            Graph::Chain => (0, 1),
            Graph::Random => {
                *random = random
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                ((*random >> 40) as u32 % 64, (*random >> 50) as u32 % 64)
            }
        }
    }

    fn submit(self, tasks: u32, submitter: &mut Submitter<'_>) -> Result<(), Stopped> {
        let mut random = 1;
        for i in 0..tasks {
            let (a, b) = self.handles(i, &mut random);
            let (first, second) = match self {
                // Readers only: no edge, whatever the number of handles.
                Graph::Independent => (Access::Read, Access::Read),
                _ => (Access::Read, Access::ReadWrite),
            };
            let task = TaskSpec::new(CodeletId(0), i).priority(i64::from(i % 100));
            submitter.submit(task.with(Handle(a), first).with(Handle(b), second))?;
        }
        Ok(())
    }
}

fn best(tasks: u32, mut once: impl FnMut() -> RunStats) -> f64 {
    let times = (0..5).map(|_| once().elapsed.as_nanos() as f64 / f64::from(tasks));
    times.fold(f64::INFINITY, f64::min)
}

fn main() {
    let tasks = std::env::args().find_map(|a| a.parse().ok());
    let tasks: u32 = tasks.unwrap_or(200_000);
    let mut store = DataStore::new(HANDLES as usize);
    let keep = Keep {
        origin: Instant::now(),
        capacity: tasks as usize,
        kept: Mutex::new(0),
    };
    println!("ns per empty task of 2 accesses, {tasks} tasks, best of 5");
    println!(
        "{:<12} {:<12} {:>7} {:>10} {:>10}",
        "scheduler", "graph", "workers", "off", "on"
    );
    for entry in SCHEDULERS {
        for graph in [Graph::Independent, Graph::Chain, Graph::Random] {
            for threads in [1, 2] {
                let config = Config {
                    scheduler: entry,
                    ..Config::with_threads(threads)
                };
                let off = best(tasks, || {
                    let body = |s: &mut Submitter<'_>| graph.submit(tasks, s);
                    run(&config, &Empty, &mut store, &(), body).unwrap().1
                });
                let on = best(tasks, || {
                    let body = |s: &mut Submitter<'_>| graph.submit(tasks, s);
                    run(&config, &Empty, &mut store, &keep, body).unwrap().1
                });
                println!(
                    "{:<12} {graph:<12?} {threads:>7} {off:>10.0} {on:>10.0}",
                    entry.name
                );
            }
        }
    }
    let config = Config::with_threads(1);
    let off = best(tasks, || {
        let body = |s: &mut Submitter<'_>| Graph::Random.submit(tasks, s);
        run_sequential(&config, &Empty, &mut store, &(), body)
            .unwrap()
            .1
    });
    println!("{:<12} {:<12} {:>7} {off:>10.0}", "sequential", "Random", 1);
}
