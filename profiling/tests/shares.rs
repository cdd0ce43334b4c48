//! Tasks in parts, recorded: from helpers' records to a trace whose accounts add up.

use std::time::{Duration, Instant};
use treeqr_profiling::inspect::{Balance, check};
use treeqr_profiling::trace::schema::Role;
use treeqr_profiling::trace::{
    Manifest, Meaning, Overwrite, TaskMeaning, Trace, TraceKind, measured, parts,
};
use treeqr_profiling::{RecordedRun, Recorder, RecorderOptions, Recording, TimeSplit};
use treeqr_runtime::{
    Access, Application, Codelet, CodeletId, Config, DataStore, Handle, TaskSpec, run,
};

const THREADS: usize = 3;
const TASKS: u32 = 4;
const PARTS: usize = 64;

/// `shared` does its parts with whoever helps; `plain` follows it.
struct Parts;

impl Application for Parts {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        &[
            Codelet {
                name: "plain",
                cpu: Some(|_, _, _| Ok(())),
            },
            Codelet {
                name: "shared",
                cpu: Some(|_, context, scratch| {
                    context.share(PARTS, scratch, |_, _: &mut ()| {
                        let begin = Instant::now();
                        while begin.elapsed() < Duration::from_micros(400) {
                            std::hint::spin_loop();
                        }
                    });
                    Ok(())
                }),
            },
        ]
    }
}

/// Two runs, one after the other, each a chain: all workers but one have nothing else to do.
fn recorded() -> Recording {
    let recorder = Recorder::new(RecorderOptions::for_tasks(2 * TASKS as usize));
    for _ in 0..2 {
        let mut store = DataStore::new(1);
        let config = Config::with_threads(THREADS);
        run(&config, &Parts, &mut store, &recorder, |submitter| {
            for node in 0..TASKS {
                for codelet in [0, 1] {
                    let task = TaskSpec::new(CodeletId(codelet), node).flops(1_000_000);
                    submitter.submit(task.with(Handle(0), Access::ReadWrite))?;
                }
            }
            Ok(())
        })
        .expect("no task fails");
    }
    recorder.finish()
}

fn trace_of(recording: &Recording) -> Trace {
    let runs = &recording.runs;
    let meaning = Meaning {
        role: &|_| Role::Compute,
        task: &|_, _| TaskMeaning::default(),
        fronts: Vec::new(),
        phases: Vec::new(),
        switches: Vec::new(),
        counters: Vec::new(),
    };
    let mut manifest = Manifest::new(TraceKind::Measured, "shares".to_owned());
    manifest.run.begin_ns = runs[0].begin_ns;
    manifest.run.end_ns = runs[1].end_ns;
    manifest.run.submitted_tasks = runs.iter().map(|r| r.submitted).sum();
    manifest.run.parts = parts(runs, &["factorize", "again"]);
    Trace {
        manifest,
        tables: measured(runs, meaning),
    }
}

fn helping_ns(run: &RecordedRun) -> u64 {
    run.shares.iter().map(|s| s.end_ns - s.start_ns).sum()
}

#[test]
fn what_helpers_did_is_in_every_account_once() {
    let recording = recorded();
    for (k, run) in recording.runs.iter().enumerate() {
        assert_eq!((run.dropped, run.drops.shares), (0, 0));
        let helping = helping_ns(run);
        assert!(helping > 0, "nobody helped in 100 ms");
        assert!(run.shares.is_sorted_by_key(|s| (s.worker, s.start_ns)));
        let own: u64 = run.tasks.iter().map(|t| t.end_ns - t.start_ns).sum();
        for share in &run.shares {
            let task = &run.tasks[share.task.0 as usize];
            assert_eq!((task.id, task.codelet), (share.task, CodeletId(1)));
            assert_ne!(task.worker, share.worker);
            assert!((task.start_ns..=task.end_ns).contains(&share.start_ns));
            assert!(0 < share.parts && share.parts <= PARTS as u32);
        }
        let summary = recording.summary(k);
        for (w, row) in summary.workers.iter().zip(&run.workers) {
            let mine = run.shares.iter().filter(|s| s.worker == row.worker);
            assert_eq!(
                w.helping_ns,
                mine.map(|s| s.end_ns - s.start_ns).sum::<u64>()
            );
            let states = run.states.iter().filter(|s| s.worker == row.worker);
            let scheduling: u64 = states
                .filter(|s| s.state == treeqr_runtime::WorkerState::Scheduling)
                .map(|s| s.end_ns - s.start_ns)
                .sum();
            let sum = w.executing_ns + w.idle_ns + w.sleeping_ns + w.transferring_ns;
            assert_eq!(sum + w.runtime_ns, row.end_ns - row.start_ns);
            assert!(w.helping_ns <= w.executing_ns && scheduling <= w.runtime_ns);
        }
        let in_codelets: u64 = summary.codelets.iter().map(|c| c.time_ns).sum();
        assert_eq!(in_codelets, own + helping);
        let shared = &summary.codelets[1];
        assert_eq!((shared.name, shared.count), ("shared", TASKS.into()));
        assert!(
            shared.time_ns >= TASKS as u64 * PARTS as u64 * 400_000,
            "its work, whoever did it"
        );
        assert!(summary.occupancy <= 1.0);
        let parts: u64 = summary
            .codelets
            .iter()
            .map(|c| (c.share * 1e9) as u64)
            .sum();
        assert!((999_999_990..=1_000_000_000).contains(&parts));
        assert!(
            summary
                .to_string()
                .contains(" ms in parts of other workers' tasks\n")
        );
        assert_eq!(TimeSplit::of(run).tasks_ns, own + helping);
    }

    let trace = trace_of(&recording);
    assert_eq!(check(&trace), []);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    trace.write(&path, Overwrite::Never).unwrap();
    assert_eq!(Trace::open(&path).unwrap().tables, trace.tables);
    // Tasks of the second run are numbered after those of the first.
    let second = trace.tables.shares.iter().filter(|s| s.task >= 2 * TASKS);
    assert_eq!(second.count(), recording.runs[1].shares.len());
    let balance = Balance::of(&trace).unwrap();
    let helping: u64 = recording.runs.iter().map(helping_ns).sum();
    assert_eq!(
        balance.workers.iter().map(|w| w.helping_ns).sum::<u64>(),
        helping
    );
    for w in &balance.workers {
        let waiting = w.scheduling_ns + w.idle_ns + w.sleeping_ns + w.transferring_ns;
        assert_eq!(w.executing_ns() + waiting + w.runtime_ns, w.time_ns);
    }
    let idle = treeqr_profiling::account::idle(&trace);
    let executing: u64 = balance.workers.iter().map(|w| w.executing_ns()).sum();
    assert_eq!(idle.executing_ns, executing);
}
