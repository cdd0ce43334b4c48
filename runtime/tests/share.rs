//! Tasks in parts: every part once, whoever helps; what is then seen of it, and how it fails.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use treeqr_runtime::{
    Access, Application, Codelet, CodeletId, Config, DataStore, Handle, Lane, MemoryRecord,
    ModelStore, Observer, RunError, SCHEDULERS, ShareRecord, StateRecord, TaskContext, TaskFailure,
    TaskId, TaskRecord, TaskSpec, Track, run, run_sequential,
};

const SHARES: CodeletId = CodeletId(0);
const PLAIN: CodeletId = CodeletId(1);

/// Tasks of `params[0]` parts; every part adds to its own counter, and to that of the thread that did it.
struct Parts {
    codelets: [Codelet<Self>; 2],
    counts: Vec<AtomicU32>,
    /// Which part panics.
    panics: Option<usize>,
    /// Parts take this long.
    lasts: Duration,
    /// Whether the parts of a task were over when it went on.
    complete: AtomicBool,
    by_scratch: Mutex<Vec<usize>>,
}

impl Parts {
    fn new(parts: usize) -> Self {
        Parts {
            codelets: [
                Codelet {
                    name: "shares",
                    cpu: Some(Self::shares),
                },
                Codelet {
                    name: "plain",
                    cpu: Some(|_, _, _| Ok(())),
                },
            ],
            counts: (0..parts).map(|_| AtomicU32::new(0)).collect(),
            panics: None,
            lasts: Duration::ZERO,
            complete: AtomicBool::new(true),
            by_scratch: Mutex::new(Vec::new()),
        }
    }

    fn shares(&self, task: &TaskContext<'_>, scratch: &mut usize) -> Result<(), TaskFailure> {
        let [from, parts, ..] = task.task().params.map(|p| p as usize);
        let running = AtomicUsize::new(parts);
        task.share(parts, scratch, |part, scratch: &mut usize| {
            *scratch += 1;
            let begin = Instant::now();
            while begin.elapsed() < self.lasts {
                std::hint::spin_loop();
            }
            assert_ne!(self.panics, Some(part), "part {part} fails");
            self.counts[from + part].fetch_add(1, Ordering::Relaxed);
            running.fetch_sub(1, Ordering::Relaxed);
        });
        if running.load(Ordering::Relaxed) > 0 {
            self.complete.store(false, Ordering::Relaxed);
        }
        self.by_scratch.lock().expect("no panic").push(*scratch);
        Ok(())
    }

    fn assert_once(&self) {
        assert!(self.complete.load(Ordering::Relaxed));
        for (part, count) in self.counts.iter().enumerate() {
            assert_eq!(count.load(Ordering::Relaxed), 1, "part {part}");
        }
    }
}

impl Application for Parts {
    /// How many parts its worker has done.
    type Scratch = usize;

    fn scratch(&self, _: usize) -> usize {
        0
    }

    fn codelets(&self) -> &[Codelet<Self>] {
        &self.codelets
    }
}

/// Keeps what is told of tasks and helpers; the clock counts nanoseconds.
struct Watch {
    begin: Instant,
    tasks: Mutex<Vec<TaskRecord>>,
    shares: Mutex<Vec<ShareRecord>>,
    states: Mutex<Vec<StateRecord>>,
}

impl Watch {
    fn new() -> Self {
        Watch {
            begin: Instant::now(),
            tasks: Mutex::default(),
            shares: Mutex::default(),
            states: Mutex::default(),
        }
    }
}

#[derive(Default)]
struct Seen {
    tasks: Vec<TaskRecord>,
    shares: Vec<ShareRecord>,
    states: Vec<StateRecord>,
}

impl Track for Seen {
    fn submitted(&mut self, _: TaskId, _: &TaskSpec, _: u64) {}
    fn task(&mut self, record: &TaskRecord) {
        self.tasks.push(*record);
    }
    fn memory(&mut self, _: &MemoryRecord) {}
    fn share(&mut self, record: &ShareRecord) {
        self.shares.push(*record);
    }
    fn state(&mut self, record: &StateRecord) {
        self.states.push(*record);
    }
}

impl Observer for Watch {
    type Track = Seen;
    fn attach(&self, _: Lane) -> Seen {
        Seen::default()
    }
    fn detach(&self, track: Seen) {
        self.tasks.lock().expect("no panic").extend(track.tasks);
        self.shares.lock().expect("no panic").extend(track.shares);
        self.states.lock().expect("no panic").extend(track.states);
    }
    fn clock(&self) -> u64 {
        self.begin.elapsed().as_nanos() as u64
    }
}

/// Task k has `sizes[k]` parts; a chain if `chained`.
fn program(app: &Parts, sizes: &[usize], chained: bool, config: &Config, watch: &Watch) {
    let mut store = DataStore::new(sizes.len());
    let done = run(config, app, &mut store, watch, |s| {
        let mut from = 0;
        for (k, &parts) in sizes.iter().enumerate() {
            let handle = Handle(if chained { 0 } else { k as u32 });
            let params = [from as u32, parts as u32, 0, 0, 0, 0];
            let task = TaskSpec::new(SHARES, k as u32).params(params).flops(1000);
            s.submit(task.with(handle, Access::ReadWrite))?;
            s.submit(TaskSpec::new(PLAIN, k as u32).with(handle, Access::ReadWrite))?;
            from += parts;
        }
        Ok(())
    });
    done.expect("no task fails");
}

#[test]
fn every_part_is_done_once_under_every_scheduler() {
    let sizes = [1, 7, 0, 300, 2, 64, 1, 1, 33];
    for entry in SCHEDULERS {
        for (threads, chained, share) in [
            (1, false, true),
            (2, true, true),
            (4, false, true),
            (7, true, true),
            (4, true, false),
        ] {
            let app = Parts::new(sizes.iter().sum());
            let watch = Watch::new();
            let config = Config {
                scheduler: entry,
                share,
                ..Config::with_threads(threads)
            };
            program(&app, &sizes, chained, &config, &watch);
            app.assert_once();
            let helped = watch.shares.lock().expect("no panic");
            if threads == 1 || !share {
                assert!(helped.is_empty(), "{}: {helped:?}", entry.name);
            }
        }
    }
}

#[test]
fn idle_workers_help_and_are_seen_to() {
    // A chain of tasks, so three of four workers have nothing else; parts long enough for them to wake up.
    let sizes = [64; 4];
    let mut app = Parts::new(256);
    app.lasts = Duration::from_micros(400);
    let watch = Watch::new();
    program(&app, &sizes, true, &Config::with_threads(4), &watch);
    app.assert_once();
    let tasks = watch.tasks.into_inner().expect("no panic");
    let shares = watch.shares.into_inner().expect("no panic");
    let states = watch.states.into_inner().expect("no panic");
    let helped: u32 = shares.iter().map(|s| s.parts).sum();
    assert!(helped > 0, "nobody helped in 100 ms");
    for share in &shares {
        let task = tasks.iter().find(|t| t.id == share.task).expect("a task");
        assert_eq!(task.codelet, SHARES);
        assert_ne!(task.worker, share.worker, "nobody helps himself");
        // Its last part was over when the task was; the reading of the clock behind it may come later.
        assert!(
            task.start <= share.start && share.start <= task.end,
            "{share:?}"
        );
        assert!(0 < share.parts && share.parts <= 64);
        let mine = states.iter().filter(|s| s.worker == share.worker);
        for state in mine {
            assert!(
                state.end <= share.start || share.end <= state.start,
                "{state:?}, {share:?}"
            );
        }
    }
    // Each by its own worker, with its own scratch: all parts are in one of them, and helpers' are not in the owner's.
    let most = app
        .by_scratch
        .into_inner()
        .expect("no panic")
        .into_iter()
        .max();
    assert!(
        most.expect("four tasks") < 256,
        "helpers' parts are in a scratch of their own"
    );
}

#[test]
fn a_part_that_panics_fails_its_task_after_the_others() {
    for threads in [1, 4] {
        for panics in [0, 17, 99] {
            let mut app = Parts::new(100);
            app.panics = Some(panics);
            app.lasts = Duration::from_micros(20);
            let mut store = DataStore::new(1);
            let config = Config::with_threads(threads);
            let done = run(&config, &app, &mut store, &(), |s| {
                let task = TaskSpec::new(SHARES, 5).params([0, 100, 0, 0, 0, 0]);
                s.submit(task.with(Handle(0), Access::ReadWrite))?;
                Ok(())
            });
            match done {
                Err(RunError::TaskPanicked {
                    codelet,
                    node,
                    message,
                }) => {
                    assert_eq!((codelet, node), ("shares", 5));
                    assert!(
                        message.contains(&format!("part {panics} fails")),
                        "{message}"
                    );
                }
                other => panic!("{:?}", other.err()),
            }
            let done = app
                .counts
                .iter()
                .filter(|c| c.load(Ordering::Relaxed) == 1)
                .count();
            assert_eq!(done, 99);
        }
    }
}

#[test]
fn a_sequential_run_does_them_in_order() {
    let app = Parts::new(5);
    let mut store = DataStore::new(1);
    let (_, stats) = run_sequential(&Config::default(), &app, &mut store, &(), |s| {
        let task = TaskSpec::new(SHARES, 0).params([0, 5, 0, 0, 0, 0]);
        s.submit(task.with(Handle(0), Access::ReadWrite))?;
        Ok(())
    })
    .expect("no task fails");
    assert_eq!(stats.tasks, 1);
    app.assert_once();
}

#[test]
fn cost_models_learn_what_a_task_takes_alone() {
    // Each part spins for its time, whoever does it: 16 tasks of 40 parts, in a chain, most of them helped.
    let (sizes, lasts) = ([40; 16], Duration::from_micros(100));
    let mut app = Parts::new(640);
    app.lasts = lasts;
    let path = std::env::temp_dir().join(format!("treeqr-runtime-share-{}", std::process::id()));
    let config = Config {
        models: ModelStore::File(path.clone()),
        learn: true,
        ..Config::with_threads(4)
    };
    program(&app, &sizes, true, &config, &Watch::new());
    let kept = config.models.read().expect("just written");
    let estimate = kept.of("shares", "", &config.kinds());
    let alone = estimate.fastest_ns(1000).expect("16 were measured");
    let least = 40.0 * lasts.as_nanos() as f64;
    assert!(alone >= least, "{alone} ns, {least} at least");
    std::fs::remove_file(path).expect("written by this test");
}
