//! How idle workers sleep and are woken. The protocol is told in `runtime/README.md`.
//!
//! Takes announcements of sleepers and calls of wakers; gives one wake-up per call. Knows no task and no scheduler.

use crate::schedulers::Wake;
use crate::spec::WorkerId;
use crate::sync::{
    Apart, AtomicBool, AtomicUsize, OnceLock, Ordering, Thread, current, fence, park,
};

/// The beds of the workers of one run.
pub(crate) struct Sleep {
    beds: Vec<Bed>,
    /// How many beds are taken; 0 makes a wake cost one load.
    sleepers: Apart<AtomicUsize>,
}

/// On cache lines of its own.
#[repr(align(128))]
#[derive(Default)]
struct Bed {
    /// The worker sleeps, or is about to, and nobody has called it yet.
    taken: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Sleep {
    pub(crate) fn new(workers: usize) -> Self {
        Sleep {
            beds: std::iter::repeat_with(Bed::default).take(workers).collect(),
            sleepers: Apart(AtomicUsize::new(0)),
        }
    }

    /// The calling thread is `worker`; before its first `announce`.
    pub(crate) fn register(&self, worker: WorkerId) {
        let _ = self.beds[worker].thread.set(current());
    }

    /// `worker` wants to sleep. It must now look for work once more, then `retract` or `park`.
    pub(crate) fn announce(&self, worker: WorkerId) {
        // Counted first: who sees the bed taken may count it out, so the count is never below the number of taken beds.
        self.sleepers.0.fetch_add(1, Ordering::Relaxed);
        self.beds[worker].taken.store(true, Ordering::Release);
        // Pairs with the fence in `wake`: either the waker sees the taken bed, or this worker's last look sees the work.
        fence(Ordering::SeqCst);
    }

    /// `worker` found work after all.
    pub(crate) fn retract(&self, worker: WorkerId) {
        self.rouse(worker);
    }

    /// Sleeps until called.
    pub(crate) fn park(&self, worker: WorkerId) {
        while self.beds[worker].taken.load(Ordering::Acquire) {
            park();
        }
    }

    /// Work was made visible: calls one sleeper, if there is one.
    pub(crate) fn wake(&self, whom: Wake) {
        fence(Ordering::SeqCst);
        if self.sleepers.0.load(Ordering::Relaxed) == 0 {
            return;
        }
        let first = match whom {
            Wake::Any => 0,
            Wake::Prefer(worker) => worker,
            Wake::Only(worker) => {
                if self.rouse(worker) {
                    self.unpark(worker);
                }
                return;
            }
            Wake::All => return self.wake_all(),
        };
        let (before, from) = (0..first, first..self.beds.len());
        for worker in from.chain(before) {
            if self.rouse(worker) {
                return self.unpark(worker);
            }
        }
    }

    /// The run is over: calls everybody.
    pub(crate) fn wake_all(&self) {
        fence(Ordering::SeqCst);
        for worker in 0..self.beds.len() {
            if self.rouse(worker) {
                self.unpark(worker);
            }
        }
    }

    /// Frees the bed; whether the caller did it. One caller per `announce` succeeds.
    fn rouse(&self, worker: WorkerId) -> bool {
        let taken = &self.beds[worker].taken;
        let mine = taken.load(Ordering::Relaxed) && taken.swap(false, Ordering::AcqRel);
        if mine {
            self.sleepers.0.fetch_sub(1, Ordering::Relaxed);
        }
        mine
    }

    fn unpark(&self, worker: WorkerId) {
        if let Some(thread) = self.beds[worker].thread.get() {
            thread.unpark();
        }
    }
}
