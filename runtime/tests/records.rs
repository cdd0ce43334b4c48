//! What an observer is told of tasks and of stalls of the submission.

mod common;

use common::config;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::ThreadId;
use std::time::{Duration, Instant};
use treeqr_runtime::*;

/// Keeps the records of tasks and stalls.
struct Keep {
    origin: Instant,
    tasks: Mutex<Vec<TaskRecord>>,
    stalls: Mutex<Vec<(Lane, StallRecord)>>,
    /// Lets tasks end.
    go: AtomicBool,
    /// Whose next reading of the clock lets tasks end.
    opens: Mutex<Option<ThreadId>>,
}

struct Kept<'k>(&'k Keep, Lane);

impl Keep {
    fn new() -> Self {
        Keep {
            origin: Instant::now(),
            tasks: Mutex::default(),
            stalls: Mutex::default(),
            go: AtomicBool::new(false),
            opens: Mutex::new(None),
        }
    }
}

impl<'k> Observer for &'k Keep {
    type Track = Kept<'k>;
    fn attach(&self, lane: Lane) -> Kept<'k> {
        Kept(self, lane)
    }
    fn detach(&self, _: Kept<'k>) {}
    fn clock(&self) -> u64 {
        if *self.opens.lock().unwrap() == Some(std::thread::current().id()) {
            self.go.store(true, SeqCst);
        }
        self.origin.elapsed().as_nanos() as u64
    }
}

impl Track for Kept<'_> {
    fn submitted(&mut self, _: TaskId, _: &TaskSpec, _: u64) {}
    fn task(&mut self, record: &TaskRecord) {
        self.0.tasks.lock().unwrap().push(*record);
    }
    fn memory(&mut self, _: &MemoryRecord) {}
    fn stall(&mut self, record: &StallRecord) {
        self.0.stalls.lock().unwrap().push((self.1, *record));
    }
    fn state(&mut self, _: &StateRecord) {}
}

/// One codelet: it waits until it may end.
struct Hold<'k>(&'k AtomicBool);

impl Application for Hold<'_> {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        const {
            &[Codelet {
                name: "hold",
                cpu: Some(|app, _, _| {
                    while !app.0.load(SeqCst) {
                        std::thread::yield_now();
                    }
                    Ok(())
                }),
            }]
        }
    }
}

fn reader(i: u32) -> TaskSpec {
    TaskSpec::new(CodeletId(0), i).with(Handle(0), Access::Read)
}

#[test]
fn a_task_says_when_it_was_popped_and_how_many_it_left_behind() {
    const READERS: u32 = 20;
    for entry in SCHEDULERS {
        let keep = Keep::new();
        let app = Hold(&keep.go);
        // One worker, and all readers become ready when the first task ends: from then on the queue only shrinks.
        let body = |s: &mut Submitter<'_>| {
            s.submit(TaskSpec::new(CodeletId(0), 0).with(Handle(0), Access::Write))?;
            for i in 1..=READERS {
                s.submit(reader(i).priority(i64::from(i % 3)))?;
            }
            keep.go.store(true, SeqCst);
            Ok(())
        };
        run(
            &config(entry, 1),
            &app,
            &mut DataStore::new(1),
            &&keep,
            body,
        )
        .unwrap();
        let tasks = keep.tasks.into_inner().unwrap();
        let queued: Vec<_> = tasks.iter().map(|task| task.queued).collect();
        let expected: Vec<_> = std::iter::once(0).chain((0..READERS).rev()).collect();
        assert_eq!(queued, expected, "{}", entry.name);
        for task in &tasks {
            assert!(
                task.submit <= task.ready && task.ready <= task.pop,
                "{task:?}"
            );
            assert!(task.pop == task.start && task.start <= task.end, "{task:?}");
        }
    }
}

#[test]
fn the_wait_for_data_on_a_device_lies_between_pop_and_start() {
    let entry = schedulers::by_name("eager").unwrap();
    let mut config = config(entry, 1);
    // A link that takes a millisecond.
    let device = "cuda0:speed=1,bandwidth=1GB/s,memory=1MiB,latency=1ms";
    config.devices = vec![device.parse().unwrap()];
    let (keep, app) = (Keep::new(), OnDevice);
    let mut store = DataStore::new(1);
    store.allocate(Handle(0), 4096).unwrap();
    let body = |s: &mut Submitter<'_>| s.submit(reader(0)).map(drop);
    run(&config, &app, &mut store, &&keep, body).unwrap();
    let task = keep.tasks.into_inner().unwrap()[0];
    assert_eq!(task.worker, 1);
    assert!(task.start - task.pop >= 1_000_000, "{task:?}");
}

/// Its codelet has code for devices only.
struct OnDevice;

impl Application for OnDevice {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        const {
            &[Codelet {
                name: "there",
                cpu: None,
            }]
        }
    }
    fn device_code(&self, _: CodeletId) -> Option<CpuCode<Self>> {
        Some(|_, _, _| Ok(()))
    }
}

#[test]
fn every_wait_of_the_submission_is_a_record_with_its_reason() {
    let keep = Keep::new();
    let app = Hold(&keep.go);
    let mut config = config(schedulers::default_entry(), 1);
    config.window = NonZeroUsize::new(2);
    let body = |s: &mut Submitter<'_>| {
        s.wait_until(|_| true)?;
        s.submit(reader(0))?;
        // No at first, and yes as soon as it may take its time.
        s.wait_until(|patience| patience > Duration::ZERO)?;
        s.submit(reader(1))?;
        // Found full: the stall begins with a reading of the clock, and only that lets the tasks end.
        *keep.opens.lock().unwrap() = Some(std::thread::current().id());
        s.submit(reader(2)).map(drop)
    };
    let ((), stats) = run(&config, &app, &mut DataStore::new(1), &&keep, body).unwrap();
    let stalls = keep.stalls.into_inner().unwrap();
    let told: Vec<_> = stalls
        .iter()
        .map(|(_, s)| (s.reason, s.submitted))
        .collect();
    assert_eq!(told, [(StallReason::Memory, 1), (StallReason::Window, 2)]);
    assert_eq!(stats.stalls, 2);
    for (lane, stall) in stalls {
        assert_eq!(lane, Lane::Submission);
        assert!(stall.start <= stall.end);
    }
}

/// Counts what it is told by its node.
struct Counting;

impl Application for Counting {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        const {
            &[Codelet {
                name: "count",
                cpu: Some(|_, task, _| {
                    for k in 0..task.task().node {
                        task.count_flops(u64::from(k));
                    }
                    Ok(())
                }),
            }]
        }
    }
}

#[test]
fn flops_that_a_task_counts_are_added_to_those_it_was_given() {
    let config = config(schedulers::by_name("lws").unwrap(), 2);
    for sequential in [true, false] {
        let keep = Keep::new();
        let body = |s: &mut Submitter<'_>| {
            for node in 0..6 {
                s.submit(TaskSpec::new(CodeletId(0), node).flops(100))?;
            }
            Ok(())
        };
        let mut store = DataStore::new(0);
        let done = match sequential {
            true => run_sequential(&config, &Counting, &mut store, &&keep, body),
            false => run(&config, &Counting, &mut store, &&keep, body),
        };
        done.unwrap();
        let mut tasks = keep.tasks.into_inner().unwrap();
        tasks.sort_by_key(|task| task.id.0);
        let flops: Vec<u64> = tasks.iter().map(|task| task.flops).collect();
        assert_eq!(flops, [100, 100, 101, 103, 106, 110]);
    }
}
