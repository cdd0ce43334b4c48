//! A scheduler from scratch, the example of CONTRIBUTING.md: `lifo` runs what became ready last, on whoever asks first.
//!
//! A policy of the crate is the same file in `src/schedulers/`, with a line in `SCHEDULERS`; the conformance tests, the
//! command and the benchmarks then find it. `cargo run --example own_scheduler -p treeqr-runtime`.

use std::sync::Mutex;
use treeqr_runtime::*;

static LIFO: SchedulerEntry = SchedulerEntry {
    name: "lifo",
    about: "one central stack: what became ready last runs first",
    uses_models: false,
    create: |scene| {
        Box::new(Lifo {
            scene,
            stack: Mutex::default(),
        })
    },
};

struct Lifo<'s> {
    /// The workers, what they can run, how far they are from each other, what things cost, what time it is.
    scene: Scene<'s>,
    stack: Mutex<Vec<ReadyTask>>,
}

impl Scheduler for Lifo<'_> {
    fn push(&self, task: ReadyTask, _by: Option<WorkerId>) -> Wake {
        self.stack.lock().unwrap().push(task);
        // Any worker that is able to run it may take it. A policy that has chosen one says `Wake::Only`.
        self.scene.wake_able()
    }

    fn pop(&self, worker: WorkerId) -> Option<ReadyTask> {
        let mut stack = self.stack.lock().unwrap();
        // A worker must never get what it can't run.
        let last = stack
            .iter()
            .rposition(|task| self.scene.can_run(worker, task))?;
        Some(stack.remove(last))
    }

    fn queued(&self) -> usize {
        self.stack.lock().unwrap().len()
    }
}

struct Count;

impl Application for Count {
    type Scratch = ();
    fn scratch(&self, _worker: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        &[Codelet {
            name: "count",
            cpu: Some(|_, task, _| {
                task.write::<u64>(0)[0] += 1;
                Ok(())
            }),
        }]
    }
}

fn main() -> Result<(), RunError> {
    let mut store = DataStore::new(8);
    for h in 0..8 {
        store.allocate(Handle(h), 8).expect("64 bytes");
    }
    let config = Config {
        scheduler: &LIFO,
        ..Config::with_threads(2)
    };
    let ((), stats) = run(&config, &Count, &mut store, &(), |submitter| {
        for k in 0..800 {
            let task = TaskSpec::new(CodeletId(0), 0);
            submitter.submit(task.with(Handle(k % 8), Access::ReadWrite))?;
        }
        Ok(())
    })?;
    let sum: u64 = (0..8)
        .map(|h| store.get_as::<u64>(Handle(h)).unwrap()[0])
        .sum();
    println!("{}: {} tasks, counted {sum}", stats.scheduler, stats.tasks);
    assert_eq!(sum, 800);
    Ok(())
}
