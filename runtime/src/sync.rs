//! The one door to synchronisation: every atomic, lock and parked thread of the crate comes through here.
//!
//! Gives the names of `std::sync` and `std::thread`; knows nothing of who uses them. Under `--cfg loom` a model checker
//! replaces them, in this file and nowhere else (`engine/loom.rs`, `just loom`).

#[cfg(loom)]
pub(crate) use loom::{
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    sync::{Arc, Mutex, MutexGuard},
    thread::{Thread, current, park, yield_now},
};
#[cfg(not(loom))]
pub(crate) use std::{
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    sync::{Arc, Mutex, MutexGuard},
    thread::{Thread, current, park, yield_now},
};

// The model checker has none of its own; once set they are only read.
pub(crate) use std::sync::{OnceLock, PoisonError, TryLockError};

/// Locks `mutex`, whether or not a thread panicked while it held it: all data behind the locks of this crate is
/// consistent between any two statements that can panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value, if nobody else holds it. Of many who give up the last shares at the same time one gets it.
pub(crate) fn into_inner<T>(shared: Arc<T>) -> Option<T> {
    #[cfg(loom)]
    return Arc::try_unwrap(shared).ok();
    #[cfg(not(loom))]
    Arc::into_inner(shared)
}

/// On cache lines of its own: what one thread writes at every task must not lie beside what others read.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Apart<T>(pub(crate) T);
