//! Where one thread of a run writes its records.
//!
//! Takes records; writes them to a chunk of the thread's own, and exchanges it for an empty one when it is full. What finds no
//! chunk is not kept: the number of records that were made is, so what is missing is known at the end. No lock, no allocation,
//! no system call. (Only the submission, who allocates anyway, may start the keeper where a run turns out larger than was
//! expected.)

use super::Shared;
use super::packed::{KINDS, Kind, Packed, pack_accesses};
use super::pool::{Piece, touch};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use treeqr_runtime::{
    Lane, MemoryRecord, ShareRecord, StallRecord, StateRecord, TaskId, TaskRecord, TaskSpec, Track,
    TransferRecord,
};

/// The records of one thread.
#[derive(Debug)]
pub struct ThreadTrack {
    chunk: Box<[u64]>,
    used: usize,
    made: [u64; KINDS],
    submitted: u64,
    /// Tasks beyond which the submission asks for a keeper.
    expected: u64,
    stream: u32,
    lane: Lane,
    attached: u64,
    shared: Arc<Shared>,
}

/// What a thread hands back.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) stream: u32,
    pub(crate) lane: Lane,
    pub(crate) attached: u64,
    pub(crate) detached: u64,
    pub(crate) submitted: u64,
    /// Records by kind, those that were dropped too.
    pub(crate) made: [u64; KINDS],
    /// Its last piece, where no keeper took it.
    pub(crate) tail: Option<Piece>,
}

impl ThreadTrack {
    /// The track of `stream`, the thread `lane`, whose first chunk has `words` words.
    pub(super) fn new(
        shared: Arc<Shared>,
        stream: u32,
        lane: Lane,
        words: usize,
        expected: u64,
    ) -> Self {
        let chunk = shared.pool.allocate(words).map(touch).unwrap_or_default();
        shared.pool.attached.fetch_add(1, Ordering::AcqRel);
        ThreadTrack {
            chunk,
            used: 0,
            made: [0; KINDS],
            submitted: 0,
            expected,
            stream,
            lane,
            attached: shared.clock.ticks(),
            shared,
        }
    }

    #[inline]
    fn push<R: Packed>(&mut self, record: &R) {
        self.made[R::KIND as usize] += 1;
        let end = self.used + R::WORDS;
        if let Some(place) = self.chunk.get_mut(self.used..end) {
            record.pack(place);
            self.used = end;
        } else {
            self.push_elsewhere(record);
        }
    }

    #[cold]
    #[inline(never)]
    fn push_elsewhere<R: Packed>(&mut self, record: &R) {
        if self.exchange()
            && let Some(place) = self.chunk.get_mut(..R::WORDS)
        {
            record.pack(place);
            self.used = R::WORDS;
        }
    }

    /// Hands the chunk on and takes an empty one; whether there was one. If not, all stays as it is.
    #[cold]
    fn exchange(&mut self) -> bool {
        let pool = &self.shared.pool;
        let Some(queues) = pool.queues() else {
            pool.wanted.store(true, Ordering::Relaxed);
            return false;
        };
        let laid_by = || queues.reserve.pop().map(touch);
        let Some(fresh) = queues.ready.pop().or_else(laid_by) else {
            pool.wanted.store(true, Ordering::Relaxed);
            return false;
        };
        if self.chunk.is_empty() {
            self.chunk = fresh;
        } else {
            let full = Piece {
                stream: self.stream,
                used: self.used,
                words: mem::replace(&mut self.chunk, fresh),
            };
            if let Err(back) = queues.full.push(full) {
                let fresh = mem::replace(&mut self.chunk, back.words);
                let words = fresh.len();
                if queues.ready.push(fresh).is_err() {
                    pool.give_back(words);
                }
                return false;
            }
        }
        self.used = 0;
        true
    }

    /// The end of the thread's records.
    pub(super) fn close(mut self) -> Stream {
        let mut tail = (self.used > 0).then(|| Piece {
            stream: self.stream,
            used: self.used,
            words: mem::take(&mut self.chunk),
        });
        if let Some(queues) = self.shared.pool.queues() {
            tail = tail.and_then(|piece| queues.full.push(piece).err());
        }
        Stream {
            stream: self.stream,
            lane: self.lane,
            attached: self.attached,
            detached: self.shared.clock.ticks(),
            submitted: self.submitted,
            made: self.made,
            tail,
        }
    }

    /// A run that is larger than was expected gets a keeper.
    #[cold]
    fn ask_for_keeper(&mut self) {
        self.expected = u64::MAX;
        self.shared.start_keeper(0);
    }

    #[inline]
    fn is_short(&self) -> bool {
        self.expected != u64::MAX
            && (self.submitted > self.expected || self.shared.pool.wanted.load(Ordering::Relaxed))
    }
}

/// Also of a thread that panicked.
impl Drop for ThreadTrack {
    fn drop(&mut self) {
        self.shared.pool.give_back(self.chunk.len());
        self.shared.pool.attached.fetch_sub(1, Ordering::AcqRel);
    }
}

#[deny(clippy::missing_trait_methods)]
impl Track for ThreadTrack {
    fn submitted(&mut self, task: TaskId, spec: &TaskSpec, _: u64) {
        self.submitted += 1;
        if self.is_short() {
            self.ask_for_keeper();
        }
        self.made[Kind::Access as usize] += spec.accesses.len() as u64;
        let mut rest = &spec.accesses[..];
        while !rest.is_empty() {
            let place = &mut self.chunk[self.used..];
            if place.len() < 2 {
                if !self.exchange() {
                    return;
                }
                continue;
            }
            let (written, words) = pack_accesses(task, rest, place);
            self.used += words;
            rest = &rest[written..];
        }
    }

    #[inline]
    fn task(&mut self, record: &TaskRecord) {
        debug_assert_eq!(self.lane, Lane::Worker(record.worker as usize));
        self.push(record);
    }

    #[inline]
    fn memory(&mut self, record: &MemoryRecord) {
        self.push(record);
    }

    #[inline]
    fn state(&mut self, record: &StateRecord) {
        debug_assert_eq!(self.lane, Lane::Worker(record.worker as usize));
        self.push(record);
    }

    fn transfer(&mut self, record: &TransferRecord) {
        self.push(record);
    }

    fn stall(&mut self, record: &StallRecord) {
        self.push(record);
    }

    fn share(&mut self, record: &ShareRecord) {
        debug_assert_eq!(self.lane, Lane::Worker(record.worker as usize));
        self.push(record);
    }
}
