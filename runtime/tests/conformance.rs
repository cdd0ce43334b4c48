//! What every scheduler of the table must hold, on random programs.

mod common;

use common::*;
use treeqr_runtime::*;

fn compare(
    entry: &'static SchedulerEntry,
    threads: usize,
    seed: u64,
    tasks: usize,
    delays: Delays,
) {
    let handles = 2 + seed as usize % 9;
    let program = program(seed, tasks, handles, delays);
    let mut expected = store(handles);
    let oracle = Steps::new(tasks);
    run_sequential(&config(entry, 1), &oracle, &mut expected, &(), |s| {
        submit(&program, s)
    })
    .unwrap();
    oracle.check(&program);
    let mut store = store(handles);
    let steps = Steps::new(tasks);
    let (_, stats) = run(&config(entry, threads), &steps, &mut store, &(), |s| {
        submit(&program, s)
    })
    .unwrap();
    assert_eq!(stats.tasks, tasks as u64);
    assert_eq!(stats.scheduler, entry.name);
    steps.check(&program);
    assert_eq!(
        contents(&store),
        contents(&expected),
        "{} seed {seed}",
        entry.name
    );
}

#[test]
fn results_and_order_are_those_of_the_sequential_program() {
    for entry in SCHEDULERS {
        for threads in 1..=4 {
            for seed in 0..12 {
                compare(entry, threads, seed, 150, Delays::None);
            }
        }
    }
}

#[test]
fn delays_change_nothing() {
    for entry in SCHEDULERS {
        for threads in 2..=4 {
            for seed in 100..104 {
                compare(entry, threads, seed, 150, Delays::Random);
            }
        }
    }
}

#[test]
fn more_workers_than_cores() {
    for entry in SCHEDULERS {
        for threads in 1..=8 {
            compare(entry, threads, 40 + threads as u64, 300, Delays::None);
        }
    }
}

#[test]
fn an_empty_run_ends() {
    for entry in SCHEDULERS {
        for threads in [1, 2, 5] {
            let app = Steps::new(0);
            let mut store = DataStore::new(0);
            let (value, stats) =
                run(&config(entry, threads), &app, &mut store, &(), |_| Ok(7)).unwrap();
            assert_eq!((value, stats.tasks, stats.threads), (7, 0, threads));
        }
    }
}

#[test]
fn a_slow_submission_finds_its_workers_awake() {
    // Between two tasks the workers fall asleep; each push must wake one, each chain link runs at once.
    for entry in SCHEDULERS {
        let tasks = 20;
        let program: Vec<_> = program(3, tasks, 3, Delays::None);
        let steps = Steps::new(tasks);
        run(&config(entry, 3), &steps, &mut store(3), &(), |submitter| {
            for spec in &program {
                submitter.submit(spec.clone())?;
                std::thread::sleep(std::time::Duration::from_micros(500));
            }
            Ok(())
        })
        .unwrap();
        steps.check(&program);
    }
}

#[test]
fn bound_and_unbound_workers_run() {
    let program = program(1, 100, 4, Delays::None);
    for bind in [false, true] {
        let config = Config {
            bind,
            ..Config::default()
        };
        let steps = Steps::new(100);
        let (_, stats) = run(&config, &steps, &mut store(4), &(), |s| submit(&program, s)).unwrap();
        steps.check(&program);
        assert!(bind || stats.bound_workers == 0);
        assert_eq!(stats.threads, available_threads());
        assert_eq!(stats.flush_denormals, cfg!(target_arch = "x86_64"));
    }
}

#[test]
fn a_handle_may_come_twice_in_a_task() {
    for entry in SCHEDULERS {
        let modes = [
            Access::Read,
            Access::ReadWrite,
            Access::Scatter,
            Access::Write,
        ];
        let count = std::sync::atomic::AtomicU32::new(0);
        let app = Count(&count);
        let mut store = DataStore::new(1);
        run(&config(entry, 2), &app, &mut store, &(), |submitter| {
            for a in modes {
                for b in modes {
                    let task = TaskSpec::new(CodeletId(0), 0).with(Handle(0), a);
                    submitter.submit(task.with(Handle(0), b))?;
                }
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(count.into_inner(), 16);
    }
}

struct Count<'c>(&'c std::sync::atomic::AtomicU32);

impl Application for Count<'_> {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        const {
            &[Codelet {
                name: "count",
                cpu: Some(|app, _, _| {
                    app.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    Ok(())
                }),
            }]
        }
    }
}

#[test]
fn many_readers_scatterers_and_links() {
    // Readers of one handle are forgotten when done; a chain runs without recursion.
    for access in [Access::Read, Access::Scatter, Access::ReadWrite] {
        let count = std::sync::atomic::AtomicU32::new(0);
        let app = Count(&count);
        let mut store = DataStore::new(1);
        run(
            &config(schedulers::default_entry(), 2),
            &app,
            &mut store,
            &(),
            |submitter| {
                for _ in 0..100_000 {
                    submitter.submit(TaskSpec::new(CodeletId(0), 0).with(Handle(0), access))?;
                }
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(count.into_inner(), 100_000);
    }
}

#[test]
fn an_unknown_scheduler_is_an_error_that_names_the_known_ones() {
    let error = schedulers::by_name("fifo").unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown scheduler `fifo`; known are eager, random, prio, ws, lws, dm, dmda, dmdas, dmdasd, heteroprio, heteroprio25"
    );
    for entry in SCHEDULERS {
        assert_eq!(schedulers::by_name(entry.name).unwrap().name, entry.name);
        assert!(!entry.about.is_empty());
    }
}

/// The first task holds the only worker until all are submitted; the others note their order.
struct Ordered<'o> {
    submitted: &'o std::sync::Barrier,
    order: std::sync::Mutex<Vec<u32>>,
}

impl Application for Ordered<'_> {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        const {
            &[Codelet {
                name: "note",
                cpu: Some(|app, context, _| {
                    match context.task().node {
                        u32::MAX => drop(app.submitted.wait()),
                        node => app.order.lock().unwrap().push(node),
                    }
                    Ok(())
                }),
            }]
        }
    }
}

fn order_on_one_worker(scheduler: &str, tasks: &[TaskSpec]) -> Vec<u32> {
    let submitted = std::sync::Barrier::new(2);
    let app = Ordered {
        submitted: &submitted,
        order: Default::default(),
    };
    let config = config(schedulers::by_name(scheduler).unwrap(), 1);
    run(&config, &app, &mut DataStore::new(4), &(), |submitter| {
        submitter.submit(TaskSpec::new(CodeletId(0), u32::MAX).priority(i64::MAX))?;
        // It has the worker before anything else is there to be chosen.
        std::thread::sleep(std::time::Duration::from_millis(20));
        submit(tasks, submitter)?;
        submitted.wait();
        Ok(())
    })
    .unwrap();
    app.order.into_inner().unwrap()
}

#[test]
fn one_worker_follows_the_priorities_where_there_are_any() {
    let task = |node, priority| TaskSpec::new(CodeletId(0), node).priority(priority);
    let data = Handle(0);
    let tasks = [
        task(0, 0),
        task(1, -3),
        task(2, 5).with(data, Access::Write),
        task(3, 0),
        // Become ready when 2 is done, and go before what was ready long before.
        task(4, 9)
            .with(data, Access::Read)
            .with(Handle(1), Access::Write),
        task(5, 9).with(data, Access::Read),
        task(6, 5),
        // Nested: behind 4, above all else.
        task(7, 10).with(Handle(1), Access::Read),
    ];
    for scheduler in ["prio", "lws", "dmdas", "dmdasd"] {
        let order = order_on_one_worker(scheduler, &tasks);
        assert_eq!(order, [2, 4, 7, 5, 6, 0, 3, 1], "{scheduler}");
    }
    for scheduler in ["eager", "random", "dm", "dmda", "heteroprio"] {
        let order = order_on_one_worker(scheduler, &tasks);
        assert_eq!(order, [0, 1, 2, 3, 6, 4, 5, 7], "{scheduler}");
    }
    assert_eq!(order_on_one_worker("ws", &tasks), [6, 3, 2, 5, 4, 7, 1, 0]);
}

#[test]
fn a_writer_waits_for_each_of_many_readers() {
    // Long groups are swept of finished tasks; the others must stay.
    for mode in [Access::Read, Access::Scatter] {
        let mut random = Random(17);
        let mut program = Vec::new();
        for i in 0..300 {
            let access = if i % 100 == 99 {
                Access::ReadWrite
            } else {
                mode
            };
            let mut task = TaskSpec::new(CodeletId(0), i).with(Handle(0), access);
            task.params[0] = i % 16;
            task.params[5] = 1 + random.below(3000) as u32;
            // Some of them hang on a chain, and so end long after others that came later.
            if i % 7 == 0 {
                task = task.with(Handle(1), Access::ReadWrite);
                task.params[5] = 20_000;
            }
            program.push(task);
        }
        for entry in SCHEDULERS {
            let steps = Steps::new(300);
            run(&config(entry, 3), &steps, &mut store(2), &(), |s| {
                submit(&program, s)
            })
            .unwrap();
            steps.check(&program);
        }
    }
}
