//! What recording costs: nanoseconds per empty task of a run, without an observer and with the recorder, and what the
//! recorder itself says about a record. `cargo bench -p treeqr-profiling --bench recorder [-- TASKS]`. Best of seven.

use treeqr_profiling::{Recorder, RecorderOptions};
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

const HANDLES: u32 = 64;

fn submit(tasks: u32, submitter: &mut Submitter<'_>) -> Result<(), Stopped> {
    for i in 0..tasks {
        let (a, b) = (
            Handle(i.wrapping_mul(0x9e37_79b9) >> 26),
            Handle(i % HANDLES),
        );
        let task = TaskSpec::new(CodeletId(0), i);
        submitter.submit(task.with(a, Access::Read).with(b, Access::ReadWrite))?;
    }
    Ok(())
}

fn main() {
    let tasks = std::env::args().find_map(|a| a.parse().ok());
    let tasks: u32 = tasks.unwrap_or(200_000);
    let mut store = DataStore::new(HANDLES as usize);
    println!("ns per empty task, {tasks} tasks, best of 7");
    println!(
        "{:>8} {:>8} {:>14} {:>14} {:>14}",
        "workers", "off", "exact starts", "shared stamps", "ns a record"
    );
    for threads in [0, 1, 2] {
        let mut best = [f64::INFINITY; 3];
        let mut cost = 0.0;
        for _ in 0..7 {
            for (kind, best) in best.iter_mut().enumerate() {
                let recorder = Recorder::new(RecorderOptions {
                    exact_starts: kind == 1,
                    ..RecorderOptions::for_tasks(tasks as usize)
                });
                let elapsed = match kind {
                    0 => once(threads, tasks, &mut store, &()),
                    _ => once(threads, tasks, &mut store, &recorder),
                };
                *best = best.min(elapsed);
                if kind == 1 {
                    cost = recorder.finish().ns_per_record;
                }
            }
        }
        println!(
            "{:>8} {:>8.0} {:>14.0} {:>14.0} {cost:>14.1}",
            threads, best[0], best[1], best[2]
        );
    }
    println!("(0 workers: the sequential run)");
}

/// Nanoseconds per task of one run.
fn once<O: Observer>(threads: usize, tasks: u32, store: &mut DataStore, observer: &O) -> f64 {
    let config = Config::with_threads(threads.max(1));
    let body = |submitter: &mut Submitter<'_>| submit(tasks, submitter);
    let ((), stats) = match threads {
        0 => run_sequential(&config, &Empty, store, observer, body),
        _ => run(&config, &Empty, store, observer, body),
    }
    .expect("empty tasks do not fail");
    stats.elapsed.as_nanos() as f64 / f64::from(tasks)
}
