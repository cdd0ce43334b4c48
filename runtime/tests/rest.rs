//! A worker that finds no task is told so before it sleeps, while another works.

mod common;

use common::config;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};
use treeqr_runtime::*;

/// For a machine that does something else meanwhile.
const LONG: Duration = Duration::from_secs(60);

/// One task, which waits for the worker that has none to rest.
#[derive(Default)]
struct Waits {
    rested: [AtomicBool; 2],
}

impl Application for Waits {
    /// The worker's number.
    type Scratch = usize;

    fn scratch(&self, worker: usize) -> usize {
        worker
    }

    fn rest(&self, worker: &mut usize) {
        self.rested[*worker].store(true, SeqCst);
    }

    fn codelets(&self) -> &[Codelet<Self>] {
        const {
            &[Codelet {
                name: "waits",
                cpu: Some(|app, context, worker| {
                    let begin = Instant::now();
                    while !app.rested[1 - *worker].load(SeqCst) {
                        if begin.elapsed() > LONG {
                            return Err(context.fail("the other one does not rest"));
                        }
                        std::thread::yield_now();
                    }
                    Ok(())
                }),
            }]
        }
    }
}

#[test]
fn who_has_no_task_rests_while_another_works() {
    for entry in SCHEDULERS {
        for share in [true, false] {
            let app = Waits::default();
            let config = Config {
                share,
                ..config(entry, 2)
            };
            let task = TaskSpec::new(CodeletId(0), 0);
            let body = |s: &mut Submitter<'_>| s.submit(task).map(drop);
            let done = run(&config, &app, &mut DataStore::new(0), &(), body);
            done.unwrap_or_else(|e| panic!("{}: {e}", entry.name));
        }
    }
}
