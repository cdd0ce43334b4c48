//! How many tasks are unfinished: the end of a run, and the window that holds the submission back.
//!
//! Takes tasks that are submitted and tasks that are done; tells the submission to wait and the run that it is over. Knows
//! no task.
//!
//! # One count, one goal
//! Workers count what is done, in one atomic word; what is submitted only the submission counts, for itself, so the two
//! sides do not fight for a cache line at every task. When the submission wants to hear of something (the window has
//! room again; all is done) it writes down the `goal` and sets a flag in the word:
//!
//! ```text
//!   submission  goal = g;  word |= FLAG   (returns how many were done)     if they were g or more: nothing to wait for
//!   worker      word += 1                 (returns the word before)        if it has a flag and was g - 1: calls
//! ```
//!
//! Both are read-modify-writes of one word, so they are ordered: either the submission sees the g-th task counted, or the
//! worker that counts it sees the flag, and with it the goal. Exactly one worker calls. The submission sleeps in a bed like
//! that of idle workers (`sleep.rs`).
//!
//! # The window
//! When `window` tasks are unfinished, the submission waits until a quarter of them is done: it works in runs, not one
//! task at a time. *It cannot hang*: what has been submitted is closed under predecessors, so one of the unfinished tasks
//! is ready or runs, whatever the window.

use super::sleep::Sleep;
use crate::sync::{Apart, AtomicUsize, Ordering};
use std::num::NonZeroUsize;

/// The submission waits for the goal.
const WAITING: usize = 1 << (usize::BITS - 1);
/// The submission is over: the goal is all that was submitted.
const CLOSED: usize = 1 << (usize::BITS - 2);
const COUNT: usize = CLOSED - 1;

/// The submission's bed.
const SUBMISSION: usize = 0;

/// Tasks of one run that are done.
pub(crate) struct Tally {
    /// How many, and the flags.
    done: Apart<AtomicUsize>,
    goal: AtomicUsize,
    window: usize,
    submission: Sleep,
}

/// What a done task has brought about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// Nothing that anybody waits for.
    Nothing,
    /// The end of the run.
    End,
}

impl Tally {
    /// A submission has begun; at most `window` tasks may be unfinished.
    pub(crate) fn new(window: Option<NonZeroUsize>) -> Self {
        Tally {
            done: Apart(AtomicUsize::new(0)),
            goal: AtomicUsize::new(0),
            window: window.map_or(usize::MAX, NonZeroUsize::get),
            submission: Sleep::new(1),
        }
    }

    /// The calling thread submits; before its first `wait`.
    pub(crate) fn register(&self) {
        self.submission.register(SUBMISSION);
    }

    /// Whether there is no room in the window for a task beside `unfinished` ones.
    pub(crate) fn is_full(&self, unfinished: usize) -> bool {
        unfinished >= self.window
    }

    /// How many are done.
    pub(crate) fn done(&self) -> usize {
        self.done.0.load(Ordering::Acquire) & COUNT
    }

    /// After `submitted` tasks: waits until the window has room for a quarter of its tasks, or `is_over`. The submission
    /// only.
    pub(crate) fn wait(&self, submitted: usize, is_over: impl Fn() -> bool) {
        let most_unfinished = self.window - self.window.div_ceil(4);
        let goal = submitted.saturating_sub(most_unfinished);
        self.goal.store(goal, Ordering::Relaxed);
        let done = self.done.0.fetch_or(WAITING, Ordering::AcqRel) & COUNT;
        let go_on = || self.done() >= goal || is_over();
        while done < goal && !go_on() {
            self.submission.announce(SUBMISSION);
            if go_on() {
                self.submission.retract(SUBMISSION);
                break;
            }
            self.submission.park(SUBMISSION);
        }
        self.done.0.fetch_and(!WAITING, Ordering::AcqRel);
    }

    /// A task is done.
    pub(crate) fn one_done(&self) -> Reached {
        let before = self.done.0.fetch_add(1, Ordering::AcqRel);
        match before & (WAITING | CLOSED) {
            0 => Reached::Nothing,
            flag => self.reached(flag, (before & COUNT) + 1),
        }
    }

    #[cold]
    fn reached(&self, flag: usize, done: usize) -> Reached {
        if done != self.goal.load(Ordering::Relaxed) {
            return Reached::Nothing;
        }
        if flag == CLOSED {
            return Reached::End;
        }
        self.submission.wake_all();
        Reached::Nothing
    }

    /// The submission is over, after `submitted` tasks. Returns whether the run is over, too.
    pub(crate) fn close(&self, submitted: usize) -> Reached {
        self.goal.store(submitted, Ordering::Relaxed);
        match self.done.0.fetch_or(CLOSED, Ordering::AcqRel) {
            done if done == submitted => Reached::End,
            _ => Reached::Nothing,
        }
    }

    /// Whether all that was submitted is done and nothing more will come.
    pub(crate) fn is_complete(&self) -> bool {
        let word = self.done.0.load(Ordering::Acquire);
        word & CLOSED != 0 && word & COUNT == self.goal.load(Ordering::Relaxed)
    }

    /// The run has failed: lets the submission go.
    pub(crate) fn release(&self) {
        self.submission.wake_all();
    }
}
