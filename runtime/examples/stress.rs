//! Random runs until the time is over: graphs, delays, windows, limits, panics and cancellations, under every scheduler of
//! the table in turn. `cargo run --release -p treeqr-runtime --example stress [-- SECONDS [SEED]]`, ten minutes by default.
//!
//! A run that ends well must have done every task once, after all that it must come after, and must have left what the
//! sequential run leaves. One that was made to fail must say how. A run that makes no progress for a minute is a hang: the
//! watchdog says which, and aborts. At the end threads and memory are counted: no thread may be left, and memory may not
//! grow after the first tenth.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Delays, Random, Steps, contents, program, store, submit};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};
use treeqr_runtime::*;

/// Without any progress for so long, a run hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// How much memory may grow, in KiB.
const GROWTH_KIB: u64 = 32 << 10;

static ROUNDS: AtomicU64 = AtomicU64::new(0);
static ROUND: Mutex<String> = Mutex::new(String::new());

/// What is done to a run.
#[derive(Debug)]
enum Harm {
    None,
    Panic(u32),
    CancelBefore,
    CancelAfter(Duration),
}

/// Runs of one scheduler, by how they ended.
#[derive(Default)]
struct Ends {
    done: u64,
    panicked: u64,
    cancelled: u64,
    tasks: u64,
}

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .map(|a| a.parse().expect("a number"));
    let seconds = arguments.next().unwrap_or(600);
    let mut random = Random(arguments.next().unwrap_or(1));
    let (begin, length) = (Instant::now(), Duration::from_secs(seconds));
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.to_string();
        if !message.contains("a fault was asked for") {
            eprintln!("{message}\nin {}", ROUND.lock().unwrap());
        }
    }));
    std::thread::spawn(watch);
    let (threads, start_kib) = (proc_status("Threads:"), proc_status("VmRSS:"));
    let mut ends: Vec<Ends> = SCHEDULERS.iter().map(|_| Ends::default()).collect();
    let mut warm_kib = None;
    while begin.elapsed() < length {
        for (entry, ends) in SCHEDULERS.iter().zip(&mut ends) {
            round(entry, &mut random, ends);
            ROUNDS.fetch_add(1, SeqCst);
        }
        if begin.elapsed() > length / 10 && warm_kib.is_none() {
            warm_kib = proc_status("VmRSS:");
        }
    }
    println!("scheduler        done  panicked cancelled      tasks");
    for (entry, ends) in SCHEDULERS.iter().zip(&ends) {
        let Ends {
            done,
            panicked,
            cancelled,
            tasks,
        } = ends;
        let name = entry.name;
        println!("{name:<12} {done:>8} {panicked:>9} {cancelled:>9} {tasks:>10}");
    }
    let (now, kib) = (settled(threads), proc_status("VmRSS:"));
    let show = |count: Option<u64>| count.map_or("unknown".to_owned(), |count| count.to_string());
    println!(
        "threads: {} at the start, {} at the end",
        show(threads),
        show(now)
    );
    let [start, warm, end] = [start_kib, warm_kib, kib].map(show);
    println!(
        "memory in KiB: {start} at the start, {warm} after a tenth of the time, {end} at the end"
    );
    assert_eq!(threads, now, "threads are left");
    if let (Some(before), Some(after)) = (warm_kib, kib) {
        assert!(after <= before + GROWTH_KIB, "memory grows");
    }
}

/// The number of threads when it is `expected`, or after ten seconds: the system takes a moment to forget one that has ended.
fn settled(expected: Option<u64>) -> Option<u64> {
    for _ in 0..1000 {
        if proc_status("Threads:") == expected {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    proc_status("Threads:")
}

fn round(entry: &'static SchedulerEntry, random: &mut Random, ends: &mut Ends) {
    let tasks = 1 + random.below(400);
    let handles = 1 + random.below(10);
    let delays = [Delays::None, Delays::Random][random.below(2)];
    let window = [0, 1, 1 + random.below(20), 200][random.below(4)];
    let limit = NonZeroUsize::new([0, 0, 1, 2][random.below(4)]);
    let harm = match random.below(6) {
        0 => Harm::Panic(random.below(tasks) as u32),
        1 => Harm::CancelAfter(Duration::from_micros(random.below(3000) as u64)),
        2 if random.below(20) == 0 => Harm::CancelBefore,
        _ => Harm::None,
    };
    let seed = random.next();
    let cancel = CancelHandle::new();
    let config = Config {
        window: NonZeroUsize::new(window),
        limits: Vec::from_iter(limit.map(|at_once| Limit {
            codelet: CodeletId(0),
            at_once,
        })),
        cancel: cancel.clone(),
        faults: Faults {
            panic_in_task: match harm {
                Harm::Panic(k) => Some(k),
                _ => None,
            },
            ..Faults::default()
        },
        ..common::config(entry, 1 + random.below(6))
    };
    *ROUND.lock().unwrap() = format!(
        "{}, {} threads, program({seed}, {tasks}, {handles}), window {window}, limit {limit:?}, {harm:?}",
        entry.name, config.threads
    );
    let program = program(seed, tasks, handles, delays);
    let (mut data, steps) = (store(handles), Steps::new(tasks));
    let outcome = std::thread::scope(|scope| {
        match harm {
            Harm::CancelBefore => cancel.cancel(),
            Harm::CancelAfter(wait) => drop(scope.spawn(move || {
                std::thread::sleep(wait);
                cancel.cancel();
            })),
            _ => {}
        }
        run(&config, &steps, &mut data, &(), |s| submit(&program, s))
    });
    match (outcome, harm) {
        (Ok((_, stats)), Harm::None | Harm::CancelAfter(_)) => {
            assert_eq!(stats.tasks, tasks as u64);
            steps.check(&program);
            let mut expected = store(handles);
            let oracle = Steps::new(tasks);
            let plain = common::config(entry, 1);
            run_sequential(&plain, &oracle, &mut expected, &(), |s| submit(&program, s)).unwrap();
            assert_eq!(contents(&data), contents(&expected));
            ends.done += 1;
            ends.tasks += stats.tasks;
        }
        (Err(RunError::TaskPanicked { node, .. }), Harm::Panic(k)) if node == k => {
            ends.panicked += 1;
        }
        (Err(RunError::Cancelled), Harm::CancelBefore | Harm::CancelAfter(_)) => {
            ends.cancelled += 1;
        }
        (outcome, harm) => panic!("{:?} after {harm:?}", outcome.map(|(_, stats)| stats)),
    }
}

fn watch() {
    let (mut seen, mut since) = (0, Instant::now());
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let now = ROUNDS.load(SeqCst);
        if now != seen {
            (seen, since) = (now, Instant::now());
        }
        if since.elapsed() > PATIENCE {
            eprintln!("a run hangs: {}", ROUND.lock().unwrap());
            std::process::abort();
        }
    }
}

/// A number of this process, where the system tells.
fn proc_status(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}
