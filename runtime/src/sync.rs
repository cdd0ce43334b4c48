//! The one door to synchronisation: every atomic, lock and parked thread of the crate comes through here.
//!
//! Gives the names of `std::sync` and `std::thread`; knows nothing of who uses them. A model checker (loom) replaces
//! them in this file and nowhere else.

pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
pub(crate) use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
pub(crate) use std::thread::{Thread, current, park};

/// Locks `mutex`, whether or not a thread panicked while it held it: all data behind the locks of this crate is
/// consistent between any two statements that can panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
