//! What the runtime costs: nanoseconds per empty task with two accesses, from the first submission to the end.
//!
//! `cargo bench -p treeqr-runtime --bench overhead [-- TASKS] [SCHEDULER ...]`. Three graphs (independent tasks, one chain,
//! random handles out of 64), every scheduler or those named, 1 and 2 workers:
//!
//! * `off`: no observer; `on`: one that reads the monotonic clock and keeps records (the real recorder has its own bench);
//!   `window`: as `on`, with at most 4096 unfinished tasks;
//! * `StarPU`: the same with StarPU, its trace off, where it is installed (`starpu/`). Its threads run before the clock does,
//!   ours start on the clock.
//!
//! Medians of five, taken in turn. At the end the sequential runner, and memory per task in flight (resident; of
//! StarPU the heap): tasks behind one that waits until all are submitted, in a chain or all ready.

mod starpu;

use starpu::Starpu;
use std::num::NonZeroUsize;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;
use treeqr_runtime::*;

#[derive(Default)]
struct Empty {
    go: AtomicBool,
}

impl Application for Empty {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        const {
            &[
                Codelet {
                    name: "empty",
                    cpu: Some(|_, _, _| Ok(())),
                },
                Codelet {
                    name: "hold",
                    cpu: Some(|app, _, _| {
                        while !app.go.load(Relaxed) {
                            std::thread::yield_now();
                        }
                        Ok(())
                    }),
                },
            ]
        }
    }
}

/// Keeps every task record.
struct Keep {
    origin: Instant,
    /// Memory for records that was used before: the recorder's cost is not that of fresh pages.
    spare: Mutex<Vec<Vec<TaskRecord>>>,
    capacity: usize,
}

struct Kept(Vec<TaskRecord>);

impl Observer for Keep {
    type Track = Kept;
    fn attach(&self, _: Lane) -> Kept {
        let spare = self.spare.lock().unwrap().pop();
        Kept(spare.unwrap_or_else(|| Vec::with_capacity(self.capacity)))
    }
    fn detach(&self, mut track: Kept) {
        track.0.clear();
        self.spare.lock().unwrap().push(track.0);
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

#[derive(Clone, Copy)]
enum Graph {
    Independent,
    Chain,
    Random,
}

const HANDLES: u32 = 4096;

impl Graph {
    fn name(self) -> &'static str {
        match self {
            Graph::Independent => "independent",
            Graph::Chain => "chain",
            Graph::Random => "random",
        }
    }

    /// The two handles of task `i`.
    fn handles(self, i: u32, random: &mut u64) -> (u32, u32) {
        match self {
            // One that nobody writes, and one of its own: it comes round again when its last writer is long done.
            Graph::Independent => (i % (HANDLES / 2), HANDLES / 2 + i % (HANDLES / 2)),
            Graph::Chain => (0, 1),
            Graph::Random => {
                *random = random
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                let a = (*random >> 40) as u32 % 64;
                (a, (a + 1 + (*random >> 50) as u32 % 63) % 64)
            }
        }
    }

    fn submit(self, tasks: u32, submitter: &mut Submitter<'_>) -> Result<(), Stopped> {
        let mut random = 1;
        for i in 0..tasks {
            let (a, b) = self.handles(i, &mut random);
            let task = TaskSpec::new(CodeletId(0), i).priority(i64::from(i % 100));
            submitter.submit(
                task.with(Handle(a), Access::Read)
                    .with(Handle(b), Access::ReadWrite),
            )?;
        }
        Ok(())
    }
}

fn median(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    match times.get(times.len() / 2) {
        Some(ns) => format!("{ns:.0}"),
        None => "-".to_owned(),
    }
}

fn main() {
    let mut tasks = 100_000;
    let mut wanted = Vec::new();
    for argument in std::env::args().skip(1).filter(|a| !a.starts_with('-')) {
        match argument.parse() {
            Ok(number) => tasks = number,
            Err(_) => wanted.push(argument),
        }
    }
    match wanted.first().map(String::as_str) {
        Some("bytes-of-chain") => return println!("{:.0}", bytes_in_flight(tasks, true)),
        Some("bytes-of-ready") => return println!("{:.0}", bytes_in_flight(tasks, false)),
        _ => {}
    }
    let starpu = Starpu::build();
    let mut store = DataStore::new(HANDLES as usize);
    let keep = Keep {
        origin: Instant::now(),
        spare: Mutex::default(),
        capacity: tasks as usize,
    };
    println!("ns per empty task of 2 accesses, {tasks} tasks, median of 5");
    match &starpu {
        Some(starpu) => println!("beside StarPU {}", starpu.version),
        None => println!("(without StarPU: it is not installed)"),
    }
    println!(
        "{:<12} {:<12} {:>7} {:>8} {:>8} {:>8} {:>8}",
        "scheduler", "graph", "workers", "off", "on", "window", "StarPU"
    );
    let entries = SCHEDULERS.iter();
    for entry in entries.filter(|e| wanted.is_empty() || wanted.iter().any(|w| w == e.name)) {
        for graph in [Graph::Independent, Graph::Chain, Graph::Random] {
            for threads in [1, 2] {
                let mut config = Config {
                    scheduler: entry,
                    models: ModelStore::Memory,
                    ..Config::with_threads(threads)
                };
                let per_task = |stats: RunStats| stats.elapsed.as_nanos() as f64 / f64::from(tasks);
                let body = |s: &mut Submitter<'_>| graph.submit(tasks, s);
                let app = Empty::default();
                let mut times: [Vec<f64>; 4] = Default::default();
                for _ in 0..5 {
                    config.window = None;
                    let off = run(&config, &app, &mut store, &(), body).unwrap().1;
                    let on = run(&config, &app, &mut store, &keep, body).unwrap().1;
                    config.window = NonZeroUsize::new(4096);
                    let window = run(&config, &app, &mut store, &keep, body).unwrap().1;
                    times[0].push(per_task(off));
                    times[1].push(per_task(on));
                    times[2].push(per_task(window));
                    let beside = starpu.as_ref();
                    let name = graph.name();
                    let beside = beside.and_then(|s| s.measure(entry.name, name, threads, tasks));
                    times[3].extend(beside);
                }
                let [off, on, window, beside] = times.map(median);
                println!(
                    "{:<12} {:<12} {threads:>7} {off:>8} {on:>8} {window:>8} {beside:>8}",
                    entry.name,
                    graph.name()
                );
            }
        }
    }
    let config = Config::with_threads(1);
    let sequential = (0..5).map(|_| {
        let body = |s: &mut Submitter<'_>| Graph::Random.submit(tasks, s);
        let app = Empty::default();
        let stats = run_sequential(&config, &app, &mut store, &(), body)
            .unwrap()
            .1;
        stats.elapsed.as_nanos() as f64 / f64::from(tasks)
    });
    println!(
        "sequential   random             1 {:>8}",
        median(sequential.collect())
    );
    let beside = starpu.and_then(|s| s.measure("lws", "memory", 1, tasks));
    let beside = beside.map_or("-".to_owned(), |bytes| format!("{bytes:.0}"));
    println!(
        "bytes per task in flight: chain {}, ready {}; StarPU, chain: {beside}",
        in_a_fresh_process(tasks, "bytes-of-chain"),
        in_a_fresh_process(tasks, "bytes-of-ready")
    );
}

/// What this program prints for `what`.
fn in_a_fresh_process(tasks: u32, what: &str) -> String {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program)
        .args([what, &tasks.to_string()])
        .output();
    let text = output.ok().and_then(|o| String::from_utf8(o.stdout).ok());
    text.unwrap_or_default().trim().to_owned()
}

/// Tasks behind one that waits: in a chain, or all queued by the scheduler (`lws`).
fn bytes_in_flight(tasks: u32, chain: bool) -> f64 {
    let config = Config::with_threads(1);
    let app = Empty::default();
    let mut store = DataStore::new(2);
    let (kib, _) = run(&config, &app, &mut store, &(), |submitter| {
        let hold = TaskSpec::new(CodeletId(1), 0).priority(i64::MAX);
        submitter.submit(hold.with(Handle(1), Access::ReadWrite))?;
        let before = resident_kib();
        for i in 0..tasks {
            let task = TaskSpec::new(CodeletId(0), i).priority(i64::from(i % 100));
            let task = task.with(Handle(0), Access::Read);
            let last = if chain {
                Access::ReadWrite
            } else {
                Access::Read
            };
            submitter.submit(task.with(Handle(u32::from(chain)), last))?;
        }
        let after = resident_kib();
        app.go.store(true, Relaxed);
        Ok(after - before)
    })
    .unwrap();
    1024.0 * kib / f64::from(tasks)
}

/// Resident memory of this process; NaN where the system doesn't tell.
fn resident_kib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(f64::NAN)
}
