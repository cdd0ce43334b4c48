//! What recording costs, in three tables.
//!
//! The first: nanoseconds for one reading of a clock, for a record of a task, and for sending the same record through a channel;
//! many batches of each in turn, so that all see the same machine, with the median and the middle four fifths of the
//! batches. The second: nanoseconds per empty task of a run, without an observer and with the recorder, in turn; the median of
//! the ratios of neighbours. The third: microseconds for a run of ten empty tasks, from the recorder's making to its end.
//! `cargo bench -p treeqr-profiling --bench recorder [-- TASKS]`.

use std::hint::black_box;
use std::time::{Duration, Instant};
use treeqr_profiling::{ClockKind, Recorder, RecorderOptions, ThreadTrack};
use treeqr_runtime::*;

fn main() {
    let tasks = std::env::args().find_map(|a| a.parse().ok());
    let tasks: u32 = tasks.unwrap_or(200_000);
    one_record();
    println!();
    whole_runs(tasks);
    println!();
    small_runs();
}

/// Median, and the tenth and ninetieth part in a hundred.
fn spread(mut samples: Vec<f64>) -> (f64, f64, f64) {
    samples.sort_by(f64::total_cmp);
    let at = |part: f64| samples[((samples.len() - 1) as f64 * part).round() as usize];
    (at(0.5), at(0.1), at(0.9))
}

const BATCHES: usize = 101;
const PAUSE: Duration = Duration::from_millis(5);
/// As many as a chunk holds, some times over: exchanges are in.
const RECORDS: u32 = 2000;

/// Ways to use a time-stamp; each gives nanoseconds per record of a batch.
struct Ways {
    recorder: Recorder,
    monotonic: Recorder,
    track: ThreadTrack,
    slow_track: ThreadTrack,
    sender: crossbeam_channel::Sender<TaskRecord>,
    receiver: crossbeam_channel::Receiver<TaskRecord>,
}

type Way = (&'static str, fn(&mut Ways) -> f64);

const WAYS: &[Way] = &[
    ("Instant::now", |_| {
        each(|_| {
            black_box(Instant::now());
        })
    }),
    ("recorder's clock (rdtsc)", |w| {
        each(|_| {
            black_box(w.recorder.clock());
        })
    }),
    ("its fallback (monotonic)", |w| {
        each(|_| {
            black_box(w.monotonic.clock());
        })
    }),
    ("record, times given", |w| {
        each(|id| w.track.task(black_box(&task(id, 1, 2))))
    }),
    ("record, one reading", |w| {
        let mut start = w.recorder.clock();
        each(|id| {
            let end = w.recorder.clock();
            w.track.task(black_box(&task(id, start, end)));
            start = end;
        })
    }),
    ("record, two readings", |w| {
        each(|id| {
            let start = w.recorder.clock();
            let end = w.recorder.clock();
            w.track.task(black_box(&task(id, start, end)));
        })
    }),
    ("the same, fallback clock", |w| {
        each(|id| {
            let start = w.monotonic.clock();
            let end = w.monotonic.clock();
            w.slow_track.task(black_box(&task(id, start, end)));
        })
    }),
    ("state, one reading", |w| {
        each(|_| {
            let end = w.recorder.clock();
            w.track.state(&StateRecord {
                worker: 0,
                state: WorkerState::Idle,
                start: 1,
                end: black_box(end),
            });
        })
    }),
    ("crossbeam-channel, send", |w| {
        let sent = each(|id| {
            w.sender
                .send(black_box(task(id, 1, 2)))
                .expect("room for a batch")
        });
        w.receiver.try_iter().for_each(drop);
        sent
    }),
];

fn each(mut work: impl FnMut(u32)) -> f64 {
    let begin = Instant::now();
    (0..RECORDS).for_each(&mut work);
    begin.elapsed().as_nanos() as f64 / f64::from(RECORDS)
}

fn task(id: u32, start: u64, end: u64) -> TaskRecord {
    TaskRecord {
        id: TaskId(id),
        codelet: CodeletId(1),
        worker: 0,
        node: id,
        params: [id, 2, 3, 4, 5, 6],
        queued: 1,
        priority: 1,
        flops: 1000,
        bytes: 1000,
        submit: start,
        ready: start,
        pop: start,
        start,
        end,
    }
}

fn one_record() {
    let new = |clock| {
        let recorder = Recorder::new(RecorderOptions {
            clock,
            ..RecorderOptions::default()
        });
        recorder.begin(&RunInfo {
            workers: 1,
            scheduler: "none",
            codelets: &["work"],
            bound_to: &[None],
            host_bytes: 0,
            devices: &[],
            device_workers: &[],
            time_scale: 1.0,
            tasks: None,
        });
        recorder
    };
    let (recorder, monotonic) = (new(None), new(Some(ClockKind::Monotonic)));
    let (sender, receiver) = crossbeam_channel::bounded(RECORDS as usize);
    let mut ways = Ways {
        track: recorder.attach(Lane::Worker(0)),
        slow_track: monotonic.attach(Lane::Worker(0)),
        recorder,
        monotonic,
        sender,
        receiver,
    };
    let mut samples = vec![Vec::new(); WAYS.len()];
    for _ in 0..BATCHES {
        for ((_, way), samples) in WAYS.iter().zip(&mut samples) {
            // Nobody records without a pause for long; the keeper gets its turn.
            std::thread::sleep(PAUSE);
            samples.push(way(&mut ways));
        }
    }
    println!("ns each, {BATCHES} batches of {RECORDS}, in turn, with pauses");
    println!("{:<28} {:>8} {:>8} {:>8}", "", "median", "10 %", "90 %");
    for ((name, _), samples) in WAYS.iter().zip(samples) {
        let (median, low, high) = spread(samples);
        println!("{name:<28} {median:>8.1} {low:>8.1} {high:>8.1}");
    }
    ways.recorder.detach(ways.track);
    let recording = ways.recorder.finish();
    let run = &recording.runs[0];
    println!(
        "{} records kept ({} bytes), {} dropped; the recorder itself says {:.1} ns a task; clock {:.3} MHz, off by {:.0} ns",
        run.kept(),
        run.record_bytes,
        run.dropped,
        recording.ns_per_record,
        recording.clock.rate_hz() / 1e6,
        recording.clock.residual_ns
    );
}

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
const ROUNDS: usize = 15;

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

fn whole_runs(tasks: u32) {
    let mut store = DataStore::new(HANDLES as usize);
    println!(
        "ns per empty task, {tasks} tasks, {ROUNDS} rounds: medians, and of the ratios to the run before without"
    );
    println!(
        "{:>8} {:<14} {:>9} {:>8} {:>8} {:>8} {:>9} {:>9}",
        "workers", "recorder", "ns a task", "ratio", "10 %", "90 %", "dropped", "bytes"
    );
    for threads in [0, 1, 2] {
        let kinds = [
            ("exact starts", true, Some(tasks)),
            ("shared stamps", false, Some(tasks)),
            ("no prediction", true, None),
        ];
        let mut off = Vec::new();
        let mut on = vec![(Vec::new(), Vec::new(), 0, 0); kinds.len()];
        for _ in 0..ROUNDS {
            for (&(_, exact_starts, expected), on) in kinds.iter().zip(&mut on) {
                let options = match expected {
                    Some(tasks) => RecorderOptions::for_tasks(tasks as usize),
                    None => RecorderOptions::default(),
                };
                let recorder = Recorder::new(RecorderOptions {
                    exact_starts,
                    ..options
                });
                let without = once(threads, tasks, &mut store, &());
                let with = once(threads, tasks, &mut store, &recorder);
                let run = &recorder.finish().runs[0];
                off.push(without);
                on.0.push(with);
                on.1.push(with / without);
                on.2 += run.dropped;
                on.3 = run.record_bytes;
            }
        }
        println!("{threads:>8} {:<14} {:>9.0}", "off", spread(off).0);
        for ((name, ..), (with, ratios, dropped, bytes)) in kinds.iter().zip(on) {
            let (ratio, low, high) = spread(ratios);
            println!(
                "{threads:>8} {name:<14} {:>9.0} {ratio:>8.3} {low:>8.3} {high:>8.3} {dropped:>9} {bytes:>9}",
                spread(with).0
            );
        }
    }
    println!("(0 workers: the sequential run)");
}

fn small_runs() {
    const TASKS: u32 = 10;
    let mut store = DataStore::new(HANDLES as usize);
    let timed = |store: &mut DataStore, options: Option<RecorderOptions>| {
        let begin = Instant::now();
        match options {
            Some(options) => once(2, TASKS, store, &Recorder::new(options)),
            None => once(2, TASKS, store, &()),
        };
        begin.elapsed().as_nanos() as f64 / 1e3
    };
    let mut samples = [const { Vec::new() }; 3];
    for _ in 0..BATCHES {
        samples[0].push(timed(&mut store, None));
        let small = RecorderOptions::for_tasks(TASKS as usize);
        samples[1].push(timed(&mut store, Some(small)));
        let unknown = RecorderOptions::default();
        samples[2].push(timed(&mut store, Some(unknown)));
    }
    println!("us for a run of {TASKS} tasks on 2 workers, {BATCHES} of each, in turn");
    println!("{:<28} {:>8} {:>8} {:>8}", "", "median", "10 %", "90 %");
    let names = ["off", "said to be small", "not said: with helper thread"];
    for (name, samples) in names.into_iter().zip(samples) {
        let (median, low, high) = spread(samples);
        println!("{name:<28} {median:>8.0} {low:>8.0} {high:>8.0}");
    }
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
