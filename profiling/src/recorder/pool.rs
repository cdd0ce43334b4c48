//! Chunks of memory on their way between the threads of a run and the keeper.
//!
//! Takes a budget; gives chunks, and takes them back when they are full. Knows no record.
//!
//! ```text
//!   keeper --- allocated ---> reserve --- touched by the keeper ---> ready ---> a thread --- full ---> full ---> keeper
//!                               `-------- touched by the thread, when none is ready ---^
//! ```
//!
//! The three queues are bounded and lock-free: neither side waits for the other, and nobody is woken through them.

use crossbeam_queue::ArrayQueue;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Words that one thread wrote. The pieces of a thread come in its order: the queue they go through keeps it.
#[derive(Debug)]
pub(crate) struct Piece {
    /// Which thread's.
    pub(crate) stream: u32,
    /// How many words are written.
    pub(crate) used: usize,
    pub(crate) words: Box<[u64]>,
}

/// See the head of this file.
#[derive(Debug)]
pub(super) struct Queues {
    /// Zeroed: their pages are there.
    pub(super) ready: ArrayQueue<Box<[u64]>>,
    /// Of length 0: their pages come from the system when somebody writes there.
    pub(super) reserve: ArrayQueue<Vec<u64>>,
    pub(super) full: ArrayQueue<Piece>,
}

/// What the threads of a run and the keeper share.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) chunk_words: usize,
    budget_bytes: usize,
    taken_bytes: AtomicUsize,
    /// Threads that record now.
    pub(super) attached: AtomicUsize,
    /// A thread found no chunk, and no keeper who would bring one.
    pub(super) wanted: AtomicBool,
    queues: OnceLock<Queues>,
}

const MOST_READY: usize = 1024;
const MOST_RESERVE: usize = 1024;
const MOST_FULL: usize = 1024;

/// Chunks that are laid by for a run without a keeper: 32 MiB where they have 64 KiB. All of them may be full at the end.
pub(super) const MOST_WITHOUT_KEEPER: usize = 512;

impl Pool {
    pub(super) fn new(chunk_words: usize, budget_bytes: usize) -> Self {
        Pool {
            chunk_words,
            budget_bytes,
            taken_bytes: AtomicUsize::new(0),
            attached: AtomicUsize::new(0),
            wanted: AtomicBool::new(false),
            queues: OnceLock::new(),
        }
    }

    /// The queues, if there is a keeper.
    #[inline]
    pub(super) fn queues(&self) -> Option<&Queues> {
        self.queues.get()
    }

    pub(super) fn open(&self) -> &Queues {
        self.queues.get_or_init(|| Queues {
            ready: ArrayQueue::new(MOST_READY),
            reserve: ArrayQueue::new(MOST_RESERVE),
            full: ArrayQueue::new(MOST_FULL),
        })
    }

    /// Memory for `words` words, untouched; `None` when the budget or the system has no more.
    pub(super) fn allocate(&self, words: usize) -> Option<Vec<u64>> {
        let bytes = words * size_of::<u64>();
        let within = |taken: usize| {
            let taken = taken.checked_add(bytes)?;
            (taken <= self.budget_bytes).then_some(taken)
        };
        let order = Ordering::Relaxed;
        self.taken_bytes.fetch_update(order, order, within).ok()?;
        let mut chunk = Vec::new();
        if chunk.try_reserve_exact(words).is_err() {
            self.give_back(words);
            return None;
        }
        Some(chunk)
    }

    /// So many words are freed.
    pub(super) fn give_back(&self, words: usize) {
        let bytes = words * size_of::<u64>();
        self.taken_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Frees what nobody took.
    pub(super) fn empty(&self) {
        if let Some(queues) = self.queues.get() {
            while queues.reserve.pop().is_some() || queues.ready.pop().is_some() {}
        }
    }

    /// Whether no chunk more is allowed.
    pub(super) fn is_used_up(&self) -> bool {
        let left = self.budget_bytes - self.taken_bytes.load(Ordering::Relaxed);
        left < self.chunk_words * size_of::<u64>()
    }

    /// Whether less than half of the budget is taken.
    pub(super) fn is_ample(&self) -> bool {
        self.taken_bytes.load(Ordering::Relaxed) < self.budget_bytes / 2
    }

    /// Chunks in the reserve.
    pub(super) fn laid_by(&self) -> usize {
        self.open().reserve.len()
    }

    /// Allocates up to `count` chunks for the reserve.
    pub(super) fn lay_by(&self, count: usize) {
        let queues = self.open();
        while queues.reserve.len() < count.min(MOST_RESERVE) && self.is_ample() {
            let Some(chunk) = self.allocate(self.chunk_words) else {
                return;
            };
            if queues.reserve.push(chunk).is_err() {
                return self.give_back(self.chunk_words);
            }
        }
    }
}

/// Brings in the pages of `chunk`. Neither allocates nor frees: its capacity becomes its length.
pub(super) fn touch(mut chunk: Vec<u64>) -> Box<[u64]> {
    chunk.resize(chunk.capacity(), 0);
    chunk.into_boxed_slice()
}
