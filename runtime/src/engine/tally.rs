//! How many tasks are unfinished: the end of a run, and the window that holds the submission back.
//!
//! Takes tasks that are submitted and tasks that are done; tells the submission to wait and the run that it is over. Knows
//! no task.
//!
//! # The window
//! When `window` tasks are unfinished, the submission goes to bed, and gets up when a quarter of them is done: it works
//! in runs, not one task at a time. Only the submission adds to the count. While it sleeps the count falls by ones, so
//! exactly one `one_less` meets `resume`, and calls it. The bed is that of idle workers (`sleep.rs`), with the
//! same argument: the submission announces, fences and looks at the count once more; the worker counts down, fences and
//! looks at the bed. One of the two sees the other.
//!
//! *It cannot hang.* What has been submitted is closed under predecessors, so one of the unfinished tasks is ready or
//! runs, whatever the window.

use super::sleep::Sleep;
use crate::sync::{AtomicUsize, Ordering};
use std::num::NonZeroUsize;

/// The submission's bed.
const SUBMISSION: usize = 0;

/// Unfinished tasks of one run.
pub(crate) struct Tally {
    /// Tasks submitted and not done, and one for the submission until it is over.
    unfinished: AtomicUsize,
    /// The largest `unfinished` at which a task may be added: the window, with the submission's own one.
    window: usize,
    /// `unfinished` at which a waiting submission goes on.
    resume: usize,
    submission: Sleep,
}

impl Tally {
    /// A submission has begun; at most `window` tasks may be unfinished.
    pub(crate) fn new(window: Option<NonZeroUsize>) -> Self {
        let window = window.map_or(usize::MAX, NonZeroUsize::get);
        Tally {
            unfinished: AtomicUsize::new(1),
            window,
            // With the submission's one: at most window - 1 tasks, at least 0.
            resume: window - (window - 1) / 4,
            submission: Sleep::new(1),
        }
    }

    /// The calling thread submits; before its first `wait`.
    pub(crate) fn register(&self) {
        if self.window < usize::MAX {
            self.submission.register(SUBMISSION);
        }
    }

    /// Whether the window is full.
    pub(crate) fn is_full(&self) -> bool {
        self.unfinished.load(Ordering::Relaxed) > self.window
    }

    /// Waits until the window has room for a quarter of its tasks, or `is_over`. The submission only.
    pub(crate) fn wait(&self, is_over: impl Fn() -> bool) {
        let go_on = || self.unfinished.load(Ordering::Acquire) <= self.resume || is_over();
        while !go_on() {
            self.submission.announce(SUBMISSION);
            if go_on() {
                self.submission.retract(SUBMISSION);
                return;
            }
            self.submission.park(SUBMISSION);
        }
    }

    /// A task is submitted; returns how many are unfinished now.
    pub(crate) fn one_more(&self) -> usize {
        self.unfinished.fetch_add(1, Ordering::Relaxed)
    }

    /// The submission or a task is over; returns whether that was the last.
    pub(crate) fn one_less(&self) -> bool {
        let left = self.unfinished.fetch_sub(1, Ordering::AcqRel) - 1;
        if left == self.resume {
            self.submission.wake_all();
        }
        left == 0
    }

    /// Whether all that was submitted is done and nothing more will come.
    pub(crate) fn is_zero(&self) -> bool {
        self.unfinished.load(Ordering::Acquire) == 0
    }

    /// The run is over: lets the submission go.
    pub(crate) fn release(&self) {
        self.submission.wake_all();
    }
}
