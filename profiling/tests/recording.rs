//! Recorded runs: the tables are complete, consistent with each other and with what the runtime itself counts.

use proptest::prelude::*;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use treeqr_profiling::*;
use treeqr_runtime::*;

/// `alloc` allocates its first access, `work` reads and writes, `free` frees its first access.
struct Work;

const ALLOC: CodeletId = CodeletId(0);
const WORK: CodeletId = CodeletId(1);
const FREE: CodeletId = CodeletId(2);

impl Application for Work {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        &[
            Codelet {
                name: "alloc",
                cpu: Some(|_, context, _| {
                    let (handle, _) = context.task().accesses[0];
                    Ok(context.allocate(handle, 1000 + 8 * handle.0 as usize)?)
                }),
            },
            Codelet {
                name: "work",
                cpu: Some(|_, context, _| {
                    let x = context.read::<f64>(0);
                    let mut y = context.write::<f64>(1);
                    y[0] += x[0] + 1.0;
                    (0..1000).for_each(|_| std::hint::spin_loop());
                    Ok(())
                }),
            },
            Codelet {
                name: "free",
                cpu: Some(|_, context, _| {
                    context.free(context.task().accesses[0].0);
                    Ok(())
                }),
            },
        ]
    }
}

/// `Work`, whose second codelet runs on devices too.
struct Offloaded;

impl Application for Offloaded {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        &[
            Codelet {
                name: "alloc",
                cpu: Some(|_, context, _| {
                    let (handle, _) = context.task().accesses[0];
                    Ok(context.allocate(handle, 1000 + 8 * handle.0 as usize)?)
                }),
            },
            Codelet {
                name: "work",
                cpu: None,
            },
            Codelet {
                name: "free",
                cpu: Some(|_, context, _| {
                    context.free(context.task().accesses[0].0);
                    Ok(())
                }),
            },
        ]
    }
    fn device_code(&self, codelet: CodeletId) -> Option<CpuCode<Self>> {
        (codelet == WORK).then_some(|_, context, _| {
            context.write::<f64>(1)[0] += context.read::<f64>(0)[0] + 1.0;
            Ok(())
        })
    }
}

#[test]
fn transfers_of_an_emulated_device_are_a_table() {
    for scheduler in SCHEDULERS {
        let recorder = Recorder::new(RecorderOptions::for_tasks(TASKS));
        let mut store = DataStore::new(HANDLES as usize);
        let config = Config {
            devices: vec!["cuda0:memory=4kB,latency=0ns,speed=2".parse().unwrap()],
            ..config(scheduler, 1)
        };
        let (_, stats) = run(&config, &Offloaded, &mut store, &recorder, program).unwrap();
        let recording = recorder.finish();
        let run = &recording.runs[0];
        assert_eq!((run.dropped, run.lost_tracks), (0, 0));
        assert_eq!(
            (&*run.devices, run.time_scale),
            (&["cuda0".to_owned()][..], 2.0)
        );
        let bytes = |kind| -> u64 {
            let rows = run.transfers.iter().filter(|t| t.kind == kind);
            rows.map(|t| t.bytes).sum()
        };
        let link = stats.devices[0].link;
        assert_eq!(bytes(TransferKind::Fetch), link.fetched_bytes);
        assert_eq!(bytes(TransferKind::Prefetch), link.prefetched_bytes);
        assert_eq!(bytes(TransferKind::Return), link.returned_bytes);
        assert_eq!(bytes(TransferKind::WriteBack), link.written_back_bytes);
        assert!(link.evictions > 0);
        // One link, one transfer at a time, but for the rounding of clocks.
        let mut rows = run.transfers.clone();
        rows.sort_by_key(|t| t.start_ns);
        for pair in rows.windows(2) {
            assert!(pair[0].asked_ns <= pair[0].start_ns && pair[0].start_ns <= pair[0].end_ns);
        }
        let device = run.memory.iter().filter(|m| m.memory == MemoryNode(1));
        let peak = device.map(|m| m.after_bytes).max();
        assert_eq!(peak, Some(link.peak_bytes));
        assert!(link.peak_bytes <= 4000);
        let summary = recording.summary(0).to_string();
        assert!(summary.contains("emulated: cuda0; times are 2 times those"));
    }
}

const HANDLES: u32 = 20;
const TASKS: usize = 20 + 400 + 10;

fn program(submitter: &mut Submitter<'_>) -> Result<(), Stopped> {
    for h in 0..HANDLES {
        submitter.submit(TaskSpec::new(ALLOC, h).with(Handle(h), Access::Write))?;
    }
    for i in 0..400 {
        let (a, b) = (Handle(i * 7 % HANDLES), Handle((i * 11 + 3) % HANDLES));
        let b = if a == b {
            Handle((b.0 + 1) % HANDLES)
        } else {
            b
        };
        let task = TaskSpec::new(WORK, i % 20)
            .priority(i64::from(i % 3))
            .flops(1000);
        let task = task.params([i, 1, 2, 3, 4, 5]);
        submitter.submit(task.with(a, Access::Read).with(b, Access::ReadWrite))?;
    }
    for h in 0..10 {
        submitter.submit(TaskSpec::new(FREE, h).with(Handle(h), Access::ReadWrite))?;
    }
    Ok(())
}

fn config(scheduler: &'static SchedulerEntry, threads: usize) -> Config {
    Config {
        scheduler,
        bind: false,
        ..Config::with_threads(threads)
    }
}

/// Records a run; `threads` 0 is the sequential one.
fn record(
    scheduler: &'static SchedulerEntry,
    threads: usize,
    options: RecorderOptions,
) -> (Recording, RunStats, u64) {
    let recorder = Recorder::new(options);
    let mut store = DataStore::new(HANDLES as usize + 1);
    store.allocate(Handle(HANDLES), 500).unwrap();
    let config = config(scheduler, threads.max(1));
    let ((), stats) = match threads {
        0 => run_sequential(&config, &Work, &mut store, &recorder, program),
        _ => run(&config, &Work, &mut store, &recorder, program),
    }
    .unwrap();
    (recorder.finish(), stats, store.bytes())
}

#[test]
fn the_tables_are_complete_and_consistent() {
    for scheduler in SCHEDULERS {
        for threads in [0, 1, 2, 4] {
            for exact_starts in [true, false] {
                let mut options = RecorderOptions::for_tasks(TASKS);
                options.exact_starts = exact_starts;
                let (recording, stats, bytes) = record(scheduler, threads, options);
                let run = &recording.runs[0];
                assert_eq!((run.dropped, run.lost_tracks), (0, 0));
                assert_eq!((run.submitted, stats.tasks), (TASKS as u64, TASKS as u64));
                assert_eq!(run.workers.len(), threads.max(1));
                check_tasks(run);
                check_edges(run);
                check_spans(run);
                check_memory(run, &stats, bytes);
                check_summary(&recording, &stats);
            }
        }
    }
}

fn check_tasks(run: &RecordedRun) {
    assert!(run.tasks.iter().map(|t| t.id.0).eq(0..TASKS as u32));
    for t in &run.tasks {
        let times = [
            run.begin_ns,
            t.submit_ns,
            t.ready_ns,
            t.start_ns,
            t.end_ns,
            run.end_ns,
        ];
        assert!(times.is_sorted(), "{t:?}: {times:?}");
    }
    let t = run.tasks[30];
    assert_eq!(
        (t.codelet, t.node, t.params, t.priority),
        (WORK, 10, [10, 1, 2, 3, 4, 5], 1)
    );
    let touched = run.accesses.iter().filter(|a| a.task == t.id);
    let bytes: u64 = touched.map(|a| 1000 + 8 * u64::from(a.handle.0)).sum();
    assert_eq!((t.flops, t.bytes), (1000, bytes));
}

/// The dependencies, inferred again from the recorded accesses, hold in the recorded times.
fn check_edges(run: &RecordedRun) {
    let mut dependencies = Dependencies::new(HANDLES as usize + 1);
    let mut edges = 0;
    assert_eq!(run.accesses.len(), 20 + 800 + 10);
    for row in &run.accesses {
        let after = &run.tasks[row.task.0 as usize];
        let never_over = |_: TaskId| false;
        dependencies.access(row.handle, row.access, row.task, never_over, |earlier| {
            let before = &run.tasks[earlier.0 as usize];
            assert!(before.end_ns <= after.ready_ns, "{before:?}\n{after:?}");
            edges += 1;
            true
        });
    }
    assert!(edges > 400);
}

/// A worker does one thing at a time, and is always in a task, in a state, or shortly in between.
fn check_spans(run: &RecordedRun) {
    for worker in &run.workers {
        let tasks = run.tasks.iter().filter(|t| t.worker == worker.worker);
        let states = run.states.iter().filter(|s| s.worker == worker.worker);
        let mut spans: Vec<_> = tasks.map(|t| (t.start_ns, t.end_ns)).collect();
        spans.extend(states.map(|s| (s.start_ns, s.end_ns)));
        spans.sort_unstable();
        let mut now = worker.start_ns;
        for (start, end) in spans {
            assert!(now <= start && start <= end);
            now = end;
        }
        assert!(now <= worker.end_ns);
    }
}

fn check_memory(run: &RecordedRun, stats: &RunStats, bytes: u64) {
    assert_eq!(run.memory.len(), 30);
    let change: i64 = run.memory.iter().map(|m| m.delta_bytes).sum();
    assert_eq!(run.host_bytes, 500);
    assert_eq!(500 + change, bytes as i64);
    let peak = run.memory.iter().map(|m| m.after_bytes).max().unwrap();
    assert_eq!(peak, stats.peak_bytes);
    let mut by_handle = HashMap::new();
    for m in &run.memory {
        *by_handle.entry(m.handle).or_insert(0) += m.delta_bytes;
        assert_eq!(m.node, m.handle.0);
    }
    assert!((0..10).all(|h| by_handle[&Handle(h)] == 0));
}

fn check_summary(recording: &Recording, stats: &RunStats) {
    let summary = recording.summary(0);
    assert_eq!(summary.peak_bytes, stats.peak_bytes);
    assert_eq!(summary.scheduler, stats.scheduler);
    let counts: Vec<_> = summary
        .codelets
        .iter()
        .map(|c| (c.name, c.count, c.flops))
        .collect();
    assert_eq!(
        counts,
        [("alloc", 20, 0), ("work", 400, 400_000), ("free", 10, 0)]
    );
    let share: f64 = summary.codelets.iter().map(|c| c.share).sum();
    assert!((share - 1.0).abs() < 1e-9);
    assert!(
        summary.occupancy > 0.0 && summary.occupancy <= 1.0,
        "{}",
        summary.occupancy
    );
    assert!(u128::from(summary.makespan_ns) <= stats.elapsed.as_nanos() * 11 / 10);
    let all_working = summary.workers.len() as f64 * summary.codelets[1].gflops();
    assert!(summary.gflops() > 0.0 && summary.gflops() <= all_working);
    assert_eq!(
        summary.workers.iter().map(|w| w.tasks).sum::<u64>(),
        TASKS as u64
    );
    assert_eq!(
        (summary.kept, summary.dropped),
        (recording.runs[0].kept(), 0)
    );
    assert!(summary.ns_per_record > 0.0 && summary.ns_per_record < 10_000.0);
    let text = summary.to_string();
    assert!(
        text.contains("alloc") && text.contains("0 dropped"),
        "{text}"
    );
}

#[test]
fn runs_follow_each_other_on_one_time_axis_even_after_a_failure() {
    let recorder = Recorder::new(RecorderOptions::for_tasks(TASKS));
    let config = config(schedulers::default_entry(), 2);
    let mut store = DataStore::new(HANDLES as usize);
    let failed = run(&config, &Work, &mut store, &recorder, |submitter| {
        // Nothing there to read: the task panics.
        let task = TaskSpec::new(WORK, 0).with(Handle(0), Access::Read);
        submitter.submit(task.with(Handle(1), Access::ReadWrite))?;
        Ok(())
    });
    assert!(failed.is_err());
    run(&config, &Work, &mut store, &recorder, program).unwrap();
    run_sequential(&config, &Work, &mut store, &recorder, program).unwrap();
    let recording = recorder.finish();
    let [first, second, third] = &recording.runs[..] else {
        panic!()
    };
    assert_eq!(
        (first.tasks.len(), first.submitted, first.lost_tracks),
        (0, 1, 0)
    );
    assert_eq!((second.tasks.len(), third.tasks.len()), (TASKS, TASKS));
    assert!(first.end_ns <= second.begin_ns && second.end_ns <= third.begin_ns);
    assert_eq!((second.scheduler, third.scheduler), ("lws", "sequential"));
    assert_eq!(recording.summary(0).occupancy, 0.0);
}

/// One task of a random program.
#[derive(Clone, Copy, Debug)]
struct Step {
    read: u32,
    write: u32,
    access: Access,
    node: u32,
    priority: i64,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let access = prop_oneof![
        Just(Access::ReadWrite),
        Just(Access::ReadWrite),
        Just(Access::Write)
    ];
    let step = (0..HANDLES, 1..HANDLES, access, 0..1000u32, -9..9i64);
    let step = step.prop_map(|(read, ahead, access, node, priority)| Step {
        read,
        write: (read + ahead) % HANDLES,
        access,
        node,
        priority,
    });
    prop::collection::vec(step, 0..200)
}

fn submit_steps(steps: &[Step], submitter: &mut Submitter<'_>) -> Result<(), Stopped> {
    for h in 0..HANDLES {
        submitter.submit(TaskSpec::new(ALLOC, h).with(Handle(h), Access::Write))?;
    }
    for (step, i) in steps.iter().zip(0..) {
        let task = TaskSpec::new(WORK, step.node)
            .priority(step.priority)
            .flops(u64::from(i) * 7)
            .params([i, 0, 1, 2, 3, 4]);
        let task = task.with(Handle(step.read), Access::Read);
        submitter.submit(task.with(Handle(step.write), step.access))?;
    }
    for h in 0..HANDLES {
        submitter.submit(TaskSpec::new(FREE, h).with(Handle(h), Access::ReadWrite))?;
    }
    Ok(())
}

/// What is recorded of a program that does not depend on when and where its tasks ran.
fn timeless(run: &RecordedRun) -> impl PartialEq + std::fmt::Debug + use<> {
    let task = |t: &TaskRow| {
        let (queued, times) = (0, 0);
        TaskRow {
            worker: 0,
            queued,
            submit_ns: times,
            ready_ns: times,
            pop_ns: times,
            start_ns: times,
            end_ns: times,
            ..*t
        }
    };
    let tasks: Vec<_> = run.tasks.iter().map(task).collect();
    let change = |m: &MemoryRow| (m.task, m.handle, m.node, m.memory, m.delta_bytes);
    let mut memory: Vec<_> = run.memory.iter().map(change).collect();
    memory.sort();
    (
        run.submitted,
        run.codelets.clone(),
        tasks,
        run.accesses.clone(),
        memory,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever the program, the scheduler, the workers and the size of chunks: the tables are those of the sequential run.
    #[test]
    fn random_programs_are_recorded_as_the_sequential_run_is(
        steps in steps(),
        scheduler in 0..SCHEDULERS.len(),
        threads in 1..5usize,
        chunk_bytes in prop_oneof![Just(1024usize), Just(4096), Just(65536)],
        window in prop_oneof![Just(None), (1..20usize).prop_map(NonZeroUsize::new)],
    ) {
        let count = steps.len() + 2 * HANDLES as usize;
        // Far more than comes, so that nothing depends on how soon the helper thread gets a core.
        let options = RecorderOptions { chunk_bytes, ..RecorderOptions::for_tasks(8 * count) };
        let recorder = Recorder::new(options);
        let mut store = DataStore::new(HANDLES as usize);
        let config = Config { window, ..config(&SCHEDULERS[scheduler], threads) };
        let body = |submitter: &mut Submitter<'_>| submit_steps(&steps, submitter);
        run_sequential(&config, &Work, &mut store, &recorder, body).unwrap();
        let ((), stats) = run(&config, &Work, &mut store, &recorder, body).unwrap();
        let recording = recorder.finish();
        let [oracle, parallel] = &recording.runs[..] else { panic!("two runs") };
        prop_assert_eq!((oracle.dropped, parallel.dropped), (0, 0));
        prop_assert_eq!((oracle.lost_tracks, parallel.lost_tracks), (0, 0));
        prop_assert_eq!(parallel.tasks.len(), count);
        prop_assert_eq!(timeless(oracle), timeless(parallel));
        check_spans(parallel);
        // Waits of the submission are those that the runtime counts.
        prop_assert_eq!(parallel.stalls.len() as u64, stats.stalls);
        let stalled: u64 = parallel.stalls.iter().map(|s| s.end_ns - s.start_ns).sum();
        prop_assert!(u128::from(stalled) <= stats.elapsed.as_nanos() * 11 / 10);
        for stall in &parallel.stalls {
            prop_assert_eq!(stall.reason, StallReason::Window);
            prop_assert!(stall.start_ns <= stall.end_ns && u64::from(stall.submitted) < stats.tasks);
        }
    }
}

/// Whatever the run makes of it, what was recorded and what was dropped is all there was.
#[test]
fn what_does_not_fit_is_dropped_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    for memory_bytes in [0, 512, 2048, 16 << 10] {
        for spill_dir in [None, Some(folder.path().join("missing"))] {
            let options = RecorderOptions {
                memory_bytes,
                spill_dir,
                chunk_bytes: 512,
                ..RecorderOptions::default()
            };
            let (recording, stats, _) = record(schedulers::default_entry(), 2, options);
            let run = &recording.runs[0];
            assert_eq!((run.submitted, stats.tasks), (TASKS as u64, TASKS as u64));
            assert_eq!(run.tasks.len() as u64 + run.drops.tasks, stats.tasks);
            assert_eq!(run.accesses.len() as u64 + run.drops.accesses, 830);
            assert_eq!(run.memory.len() as u64 + run.drops.memory, 30);
            assert_eq!(run.dropped, run.drops.total());
            assert!(run.dropped > 0 && run.lost_tracks == 0);
            assert!(run.drop_reason.is_some());
            let text = recording.summary(0).to_string();
            assert!(text.contains("dropped, since "), "{text}");
        }
    }
}
