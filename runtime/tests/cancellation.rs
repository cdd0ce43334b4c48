//! Runs that are cancelled, from wherever: they end with the right error or the whole result, and the next one works.

mod common;

use common::*;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;
use treeqr_runtime::*;

/// Cancels when task `at` runs.
struct Quitter {
    cancel: CancelHandle,
    at: u32,
    done: AtomicU32,
}

impl Application for Quitter {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        const {
            &[Codelet {
                name: "step",
                cpu: Some(|app, context, _| {
                    if context.id().0 == app.at {
                        app.cancel.cancel();
                    }
                    app.done.fetch_add(1, SeqCst);
                    Ok(())
                }),
            }]
        }
    }
}

fn chains(tasks: u32, submitter: &mut Submitter<'_>) -> Result<(), Stopped> {
    for i in 0..tasks {
        let task = TaskSpec::new(CodeletId(0), i);
        submitter.submit(task.with(Handle(i % 3), Access::ReadWrite))?;
    }
    Ok(())
}

#[test]
fn a_run_cancelled_by_any_of_its_tasks_ends() {
    for entry in SCHEDULERS {
        for threads in [1, 3] {
            for window in [None, NonZeroUsize::new(2)] {
                for at in 0..12 {
                    let app = Quitter {
                        cancel: CancelHandle::new(),
                        at,
                        done: AtomicU32::new(0),
                    };
                    let config = Config {
                        window,
                        cancel: app.cancel.clone(),
                        ..config(entry, threads)
                    };
                    let mut data = DataStore::new(3);
                    let outcome = run(&config, &app, &mut data, &(), |s| chains(12, s));
                    let done = app.done.load(SeqCst);
                    match outcome {
                        Err(RunError::Cancelled) => assert!(done < 12),
                        Ok(_) => assert_eq!(done, 12),
                        Err(other) => panic!("{other}"),
                    }
                    // The same options still say so; made new, they run.
                    let again = run(&config, &app, &mut data, &(), |s| chains(12, s));
                    assert!(matches!(again, Err(RunError::Cancelled)));
                    assert_eq!(app.done.load(SeqCst), done);
                    app.cancel.reset();
                    let app = Quitter { at: 99, ..app };
                    run(&config, &app, &mut data, &(), |s| chains(12, s)).unwrap();
                    assert_eq!(app.done.load(SeqCst), done + 12);
                }
            }
        }
    }
}

#[test]
fn a_sequential_run_can_be_cancelled_too() {
    for at in 0..4 {
        let app = Quitter {
            cancel: CancelHandle::new(),
            at,
            done: AtomicU32::new(0),
        };
        let config = Config {
            cancel: app.cancel.clone(),
            ..Config::with_threads(1)
        };
        let mut data = DataStore::new(3);
        let outcome = run_sequential(&config, &app, &mut data, &(), |s| chains(4, s));
        assert_eq!(app.done.load(SeqCst), at + 1);
        match at {
            3 => assert!(outcome.is_ok()),
            _ => assert!(matches!(outcome, Err(RunError::Cancelled))),
        }
    }
}

#[test]
fn a_run_cancelled_from_another_thread_at_any_time_ends() {
    let program = program(3, 600, 6, Delays::Random);
    for (turn, entry) in SCHEDULERS.iter().enumerate() {
        for step in 0..6 {
            let cancel = CancelHandle::new();
            let config = Config {
                window: NonZeroUsize::new([1, 7, 10_000][step % 3]),
                cancel: cancel.clone(),
                ..config(entry, 1 + step % 3)
            };
            let (mut data, steps) = (store(6), Steps::new(program.len()));
            let wait = Duration::from_micros((150 * step + 40 * turn) as u64);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(wait);
                    cancel.cancel();
                });
                match run(&config, &steps, &mut data, &(), |s| submit(&program, s)) {
                    Ok(_) => steps.check(&program),
                    Err(error) => assert_eq!(error.to_string(), "the run was cancelled"),
                }
            });
        }
    }
}

#[test]
fn a_submission_that_would_go_on_for_ever_is_stopped() {
    let app = Quitter {
        cancel: CancelHandle::new(),
        at: 1000,
        done: AtomicU32::new(0),
    };
    let config = Config {
        window: NonZeroUsize::new(5),
        cancel: app.cancel.clone(),
        ..config(schedulers::default_entry(), 2)
    };
    let outcome = run(
        &config,
        &app,
        &mut DataStore::new(1),
        &(),
        |s| -> Result<(), _> {
            loop {
                s.submit(TaskSpec::new(CodeletId(0), 0))?;
            }
        },
    );
    assert!(matches!(outcome, Err(RunError::Cancelled)));
}
