//! Runs that fail: with the right error, without a hang, and without harm to the next run.

mod common;

use common::{Delays, Steps, config, program, store, submit};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use treeqr_runtime::*;

/// Tasks fail as their first parameter says.
#[derive(Default)]
struct Faulty {
    done: AtomicU32,
}

const FINE: u32 = 0;
const PANICS: u32 = 1;
const FAILS: u32 = 2;
const EXHAUSTS: u32 = 3;

impl Application for Faulty {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        &[Codelet {
            name: "faulty",
            cpu: Some(|app, context, _| {
                match context.task().params[0] {
                    PANICS => panic!("bad tile {}", context.task().node),
                    FAILS => return Err(context.fail("not today")),
                    EXHAUSTS => context.allocate(Handle(0), usize::MAX / 4)?,
                    _ => {}
                }
                app.done.fetch_add(1, SeqCst);
                Ok(())
            }),
        }]
    }
}

/// A binary tree of 15 tasks, leaves first; task `k` does `fault`.
fn tree(k: u32, fault: u32, submitter: &mut Submitter<'_>) -> Result<(), Stopped> {
    for i in 0..15 {
        let params = [if i == k { fault } else { FINE }, 0, 0, 0, 0, 0];
        let mut task = TaskSpec::new(CodeletId(0), i).params(params);
        task = task.with(Handle(i), Access::ReadWrite);
        if i >= 8 {
            task = task.with(Handle(2 * (i - 8)), Access::Read);
            task = task.with(Handle(2 * (i - 8) + 1), Access::Read);
        }
        if fault == EXHAUSTS && i == k {
            task.accesses[0].0 = Handle(0);
        }
        submitter.submit(task)?;
    }
    Ok(())
}

#[test]
fn a_fault_in_any_task_ends_the_run_with_its_error() {
    for entry in SCHEDULERS {
        for threads in [1, 3] {
            for fault in [PANICS, FAILS, EXHAUSTS] {
                for k in 0..15 {
                    let (app, mut store) = (Faulty::default(), DataStore::new(15));
                    let config = config(entry, threads);
                    let error =
                        run(&config, &app, &mut store, &(), |s| tree(k, fault, s)).unwrap_err();
                    check(&error, k, fault);
                    assert!(app.done.load(SeqCst) < 15);
                    // The same application and store run again.
                    run(&config, &app, &mut store, &(), |s| tree(99, FINE, s)).unwrap();
                }
            }
        }
    }
    for fault in [PANICS, FAILS, EXHAUSTS] {
        let (app, mut store) = (Faulty::default(), DataStore::new(15));
        let error = run_sequential(&Config::default(), &app, &mut store, &(), |s| {
            tree(4, fault, s)
        });
        check(&error.unwrap_err(), 4, fault);
        assert_eq!(app.done.load(SeqCst), 4);
    }
}

fn check(error: &RunError, k: u32, fault: u32) {
    let expected = match fault {
        PANICS => format!("task `faulty` of tree node {k} panicked: bad tile {k}"),
        FAILS => format!("task `faulty` of tree node {k} failed: not today"),
        _ => format!(
            "out of memory: task `faulty` of tree node {k} asked for {} bytes",
            usize::MAX / 4
        ),
    };
    assert_eq!(error.to_string(), expected);
}

#[test]
fn submission_stops_when_the_run_has_failed() {
    let (app, mut store) = (Faulty::default(), DataStore::new(1));
    let config = config(schedulers::default_entry(), 2);
    let mut submitted = 0u64;
    let error = run(&config, &app, &mut store, &(), |submitter| {
        submitter.submit(TaskSpec::new(CodeletId(0), 0).params([PANICS, 0, 0, 0, 0, 0]))?;
        loop {
            // Would go on for ever.
            submitter.submit(TaskSpec::new(CodeletId(0), 1).with(Handle(0), Access::Read))?;
            submitted += 1;
        }
        #[allow(unreachable_code)]
        Ok(())
    });
    assert!(
        matches!(error, Err(RunError::TaskPanicked { node: 0, .. })),
        "{submitted}"
    );
}

#[test]
fn a_long_chain_behind_a_failed_task_is_taken_apart_without_recursion() {
    let mut store = DataStore::new(1);
    let config = config(schedulers::default_entry(), 1);
    let held = std::sync::Barrier::new(2);
    let error = std::thread::scope(|scope| {
        let app = Held(&held);
        run(&config, &app, &mut store, &(), |submitter| {
            for _ in 0..300_000 {
                submitter
                    .submit(TaskSpec::new(CodeletId(0), 0).with(Handle(0), Access::ReadWrite))?;
            }
            scope.spawn(|| held.wait());
            Ok(())
        })
    });
    assert!(matches!(error, Err(RunError::TaskFailed { .. })));
}

/// The first task waits until all are submitted, then fails.
struct Held<'h>(&'h std::sync::Barrier);

impl Application for Held<'_> {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        const {
            &[Codelet {
                name: "held",
                cpu: Some(|app, context, _| {
                    app.0.wait();
                    Err(context.fail("after all"))
                }),
            }]
        }
    }
}

#[test]
fn a_panic_of_the_submission_goes_on_after_the_threads_have_ended() {
    let mut store = DataStore::new(1);
    let config = config(schedulers::default_entry(), 2);
    type Submission = fn(&mut Submitter<'_>) -> Result<(), Stopped>;
    let bad: [Submission; 3] = [
        |_| panic!("by itself"),
        |s| s.submit(TaskSpec::new(CodeletId(9), 0)).map(drop),
        |s| {
            s.submit(TaskSpec::new(CodeletId(0), 0).with(Handle(7), Access::Read))
                .map(drop)
        },
    ];
    for bad in bad {
        let app = Faulty::default();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            run(&config, &app, &mut store, &(), |s| {
                s.submit(TaskSpec::new(CodeletId(0), 0))?;
                bad(s)
            })
        }));
        assert!(outcome.is_err());
    }
}

struct NoScratch;

impl Application for NoScratch {
    type Scratch = ();
    fn scratch(&self, worker: usize) {
        assert!(worker != 1, "no scratch");
    }
    fn codelets(&self) -> &[Codelet<Self>] {
        &[]
    }
}

#[test]
fn a_panic_outside_of_a_task_is_an_error_too() {
    let config = config(schedulers::default_entry(), 2);
    let error = run(&config, &NoScratch, &mut DataStore::new(0), &(), |_| Ok(())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "worker 1 panicked outside of a task: no scratch"
    );
}

#[test]
fn a_good_run_follows_a_bad_one() {
    for entry in SCHEDULERS {
        let mut data = store(4);
        let config = config(entry, 2);
        let _ = run(
            &config,
            &Faulty::default(),
            &mut DataStore::new(15),
            &(),
            |s| tree(3, PANICS, s),
        );
        let program = program(5, 100, 4, Delays::None);
        let steps = Steps::new(100);
        run(&config, &steps, &mut data, &(), |s| submit(&program, s)).unwrap();
        steps.check(&program);
    }
}

/// Every task writes its handle anew from those of the two tasks before.
struct Allocating;

impl Application for Allocating {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        &[Codelet {
            name: "fill",
            cpu: Some(|_, context, _| {
                let (handle, _) = context.task().accesses[0];
                let before = 1..context.task().accesses.len();
                let sum: u64 = before.map(|i| context.read::<u64>(i)[0]).sum();
                context.allocate(handle, 8)?;
                context.write::<u64>(0)[0] = sum + 1;
                Ok(())
            }),
        }]
    }
}

const FILLS: u32 = 12;

fn fill(submitter: &mut Submitter<'_>) -> Result<(), Stopped> {
    for i in 0..FILLS {
        let mut task = TaskSpec::new(CodeletId(0), i).with(Handle(i), Access::Write);
        for before in [2, 3] {
            if i >= before {
                task = task.with(Handle(i - before), Access::Read);
            }
        }
        submitter.submit(task)?;
    }
    Ok(())
}

#[test]
fn a_fault_asked_for_in_any_task_or_allocation_is_met() {
    let mut expected = DataStore::new(FILLS as usize);
    let config_1 = Config::with_threads(1);
    run_sequential(&config_1, &Allocating, &mut expected, &(), fill).unwrap();
    for entry in SCHEDULERS {
        for threads in [1, 2, 4] {
            for k in 0..=FILLS {
                for faults in [
                    Faults {
                        panic_in_task: Some(k),
                        ..Faults::default()
                    },
                    Faults {
                        fail_allocation: Some(u64::from(k)),
                        ..Faults::default()
                    },
                ] {
                    let mut faulty = Config {
                        faults,
                        ..config(entry, threads)
                    };
                    let mut data = DataStore::new(FILLS as usize);
                    let outcome = run(&faulty, &Allocating, &mut data, &(), fill);
                    let there = (0..FILLS).filter(|&h| data.get(Handle(h)).is_some());
                    let there = there.count() as u32;
                    match outcome {
                        Ok(_) => assert_eq!((k, there), (FILLS, FILLS)),
                        Err(RunError::TaskPanicked { node, message, .. }) => {
                            assert_eq!(faults.panic_in_task, Some(k));
                            assert_eq!(node, k);
                            assert_eq!(message, format!("a fault was asked for in task {k}"));
                            assert!(there < FILLS);
                        }
                        Err(RunError::OutOfMemory { bytes: 8, .. }) => {
                            assert_eq!(faults.fail_allocation, Some(u64::from(k)));
                            assert!((k..FILLS).contains(&there));
                        }
                        Err(other) => panic!("{other}"),
                    }
                    assert_eq!(data.bytes(), u64::from(8 * there));
                    // The same store and options, without the fault.
                    faulty.faults = Faults::default();
                    run(&faulty, &Allocating, &mut data, &(), fill).unwrap();
                    assert_eq!(common::contents(&data), common::contents(&expected));
                }
            }
        }
    }
}
