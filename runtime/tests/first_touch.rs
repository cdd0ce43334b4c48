//! The pages of a buffer that a task allocates come to the thread of its worker.

mod common;

use common::config;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use treeqr_runtime::*;

const BYTES: usize = 64 << 20;

/// The least number of pages that a buffer can have: huge ones.
const PAGES: u64 = (BYTES >> 21) as u64;

/// Pages that the calling thread has got from the system so far; `None` where the system doesn't tell.
fn faults() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").ok()?;
    // The name in parentheses may have spaces; behind it minor faults are the eighth word.
    let (_, words) = stat.rsplit_once(')')?;
    words.split_whitespace().nth(7)?.parse().ok()
}

#[derive(Default)]
struct Touch {
    by_worker: AtomicU64,
}

impl Application for Touch {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        const {
            &[Codelet {
                name: "touch",
                cpu: Some(|app, context, _| {
                    let before = faults().unwrap_or(0);
                    context.allocate(Handle(0), BYTES)?;
                    context.write::<u8>(0).fill(1);
                    let after = faults().unwrap_or(0);
                    app.by_worker.fetch_add(after - before, SeqCst);
                    Ok(())
                }),
            }]
        }
    }
}

#[test]
fn a_worker_gets_the_pages_of_what_it_allocates() {
    let Some(before) = faults() else { return };
    let app = Touch::default();
    let task = TaskSpec::new(CodeletId(0), 0).with(Handle(0), Access::Write);
    let body = |s: &mut Submitter<'_>| s.submit(task).map(drop);
    let config = config(schedulers::default_entry(), 1);
    run(&config, &app, &mut DataStore::new(1), &(), body).unwrap();
    let by_submission = faults().unwrap() - before;
    let by_worker = app.by_worker.into_inner();
    assert!(by_worker >= PAGES, "{by_worker} pages");
    // The submission's own are those of the run's tables and of the thread's stack.
    let small_pages = (BYTES >> 12) as u64;
    assert!(by_submission < small_pages / 16, "{by_submission} pages");
}
