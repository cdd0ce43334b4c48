//! The window of the submission and limits on codelets: they hold, nothing is lost, and results do not change.

mod common;

use common::*;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use treeqr_runtime::*;

fn sequential(program: &[TaskSpec], handles: usize) -> Vec<Option<Vec<u8>>> {
    let (mut data, steps) = (store(handles), Steps::new(program.len()));
    let config = config(schedulers::default_entry(), 1);
    run_sequential(&config, &steps, &mut data, &(), |s| submit(program, s)).unwrap();
    contents(&data)
}

#[test]
fn the_window_bounds_what_is_unfinished() {
    let program = program(11, 400, 5, Delays::Random);
    let expected = sequential(&program, 5);
    for entry in SCHEDULERS {
        for threads in [1, 3] {
            for window in [1, 2, 3, 16, 1000] {
                let config = Config {
                    window: NonZeroUsize::new(window),
                    ..config(entry, threads)
                };
                let (mut data, steps) = (store(5), Steps::new(program.len()));
                let body = |s: &mut Submitter<'_>| submit(&program, s);
                let ((), stats) = run(&config, &steps, &mut data, &(), body).unwrap();
                steps.check(&program);
                assert_eq!(contents(&data), expected);
                assert!(stats.peak_tasks <= window as u64, "{window}: {stats:?}");
                match window {
                    1 => assert_eq!(stats.peak_tasks, 1),
                    1000 => assert_eq!((stats.stalls, stats.stalled.as_nanos()), (0, 0)),
                    _ => {}
                }
            }
        }
    }
}

/// Counts how many of its tasks run at the same time, by codelet.
#[derive(Default)]
struct Crowded {
    running: [AtomicUsize; 2],
    most: [AtomicUsize; 2],
    order: Mutex<Vec<u32>>,
    /// All is submitted: the first task of the third test waits for it.
    submitted: AtomicBool,
}

impl Crowded {
    fn visit(&self, context: &TaskContext<'_>) {
        let codelet = context.task().codelet.0 as usize;
        let now = self.running[codelet].fetch_add(1, SeqCst) + 1;
        self.most[codelet].fetch_max(now, SeqCst);
        self.order.lock().unwrap().push(context.id().0);
        (0..context.task().params[0]).for_each(|_| std::thread::yield_now());
        while context.task().params[1] == 1 && !self.submitted.load(SeqCst) {
            std::thread::yield_now();
        }
        self.running[codelet].fetch_sub(1, SeqCst);
    }
}

impl Application for Crowded {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        const {
            let cpu: Option<CpuCode<Self>> = Some(|app, context, _| {
                app.visit(context);
                Ok(())
            });
            &[Codelet { name: "few", cpu }, Codelet { name: "many", cpu }]
        }
    }
}

#[test]
fn a_limit_on_a_codelet_holds_under_every_scheduler() {
    for entry in SCHEDULERS {
        for (at_once, window) in [(1, None), (2, None), (1, NonZeroUsize::new(4))] {
            let limit = Limit {
                codelet: CodeletId(0),
                at_once: NonZeroUsize::new(at_once).unwrap(),
            };
            let config = Config {
                limits: vec![limit],
                window,
                ..config(entry, 4)
            };
            let app = Crowded::default();
            let mut random = Random(at_once as u64);
            let body = |s: &mut Submitter<'_>| {
                for i in 0..300 {
                    let task = TaskSpec::new(CodeletId(u16::from(i % 3 == 0)), i);
                    let task = task.params([random.below(20) as u32, 0, 0, 0, 0, 0]);
                    let access = if i % 2 == 0 {
                        Access::Read
                    } else {
                        Access::ReadWrite
                    };
                    s.submit(task.priority(i64::from(i % 7)).with(Handle(i % 40), access))?;
                }
                Ok(())
            };
            run(&config, &app, &mut DataStore::new(40), &(), body).unwrap();
            let mut order = app.order.into_inner().unwrap();
            order.sort_unstable();
            assert!(order.into_iter().eq(0..300));
            assert!(app.most[0].load(SeqCst) <= at_once, "{}", entry.name);
        }
    }
}

#[test]
fn those_that_wait_for_their_turn_come_by_priority() {
    let limit = Limit {
        codelet: CodeletId(0),
        at_once: NonZeroUsize::MIN,
    };
    for entry in SCHEDULERS {
        let config = Config {
            limits: vec![limit],
            // One worker: with two, the second may be done with a reader before the first has released all.
            ..config(entry, 1)
        };
        let app = Crowded::default();
        let body = |s: &mut Submitter<'_>| {
            // Behind the first all become ready at the same time; it writes what they read.
            let write = TaskSpec::new(CodeletId(1), 0).params([0, 1, 0, 0, 0, 0]);
            s.submit(write.with(Handle(0), Access::Write))?;
            for i in 1..40 {
                let task = TaskSpec::new(CodeletId(0), i).priority(i64::from(i * 7 % 40));
                s.submit(task.with(Handle(0), Access::Read))?;
            }
            app.submitted.store(true, SeqCst);
            Ok(())
        };
        run(&config, &app, &mut DataStore::new(1), &(), body).unwrap();
        let order = app.order.into_inner().unwrap();
        // The first reader was let in before the others had arrived.
        assert_eq!(order[..2], [0, 1], "{}", entry.name);
        let priorities: Vec<_> = order[2..].iter().map(|i| i * 7 % 40).collect();
        assert!(
            priorities.is_sorted_by(|a, b| a > b),
            "{}: {priorities:?}",
            entry.name
        );
    }
}

#[test]
#[should_panic(expected = "a limit on codelet 2: there is none")]
fn a_limit_on_a_codelet_that_does_not_exist_is_a_broken_contract() {
    let limit = Limit {
        codelet: CodeletId(2),
        at_once: NonZeroUsize::MIN,
    };
    let config = Config {
        limits: vec![limit],
        ..config(schedulers::default_entry(), 1)
    };
    let _ = run(
        &config,
        &Crowded::default(),
        &mut DataStore::new(0),
        &(),
        |_| Ok(()),
    );
}
