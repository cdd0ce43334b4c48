//! Ending a run from outside.
//!
//! Takes a wish from any thread, or from a signal handler; gives it to the threads of a run, which look between tasks.
//! Knows no run: one handle may serve several.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cancels the runs whose [`Config`](crate::Config) holds it or a clone of it.
///
/// A cancelled run takes no further task, finishes the tasks that are running, joins its workers and returns
/// [`RunError::Cancelled`](crate::RunError::Cancelled); a run whose last task had been done by then returns its result. How
/// long that takes is the length of the longest running task.
///
/// ```
/// use treeqr_runtime::{CancelHandle, Config};
///
/// let cancel = CancelHandle::new();
/// let config = Config { cancel: cancel.clone(), ..Config::with_threads(2) };
/// // In a handler of Ctrl-C, or on any thread, while a run with `config` goes on:
/// cancel.cancel();
/// # assert!(config.cancel.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelHandle {
    // The standard library's, not `sync`'s: it orders nothing but itself, and a model checker has no need to see it.
    cancelled: Arc<AtomicBool>,
}

impl CancelHandle {
    /// A handle that nobody has used.
    pub fn new() -> Self {
        CancelHandle::default()
    }

    /// Cancels. One atomic store: it neither waits, locks nor allocates, so a signal handler may call it.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether somebody has cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Makes it as new. A handle stays cancelled otherwise, and ends every further run at once.
    pub fn reset(&self) {
        self.cancelled.store(false, Ordering::Relaxed);
    }
}
