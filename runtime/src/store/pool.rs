//! Blocks that tasks have freed, for those that take memory next.
//!
//! Takes freed blocks; gives one that is large enough, or none. Why: whoever factorizes again with other values needs no new
//! memory, and who takes memory to overwrite it need not have it cleared. Within one factorization it saves no page faults: there
//! the system's allocator recycles as well, and nearly every page is touched for the first time once. Knows no handle, and not
//! what blocks hold: they are initialised, with whatever was there before. Safe code.
//!
//! Large blocks are none of the pool's: the chunks they are parts of (`chunks.rs`) fit them more closely, and give pages back one slab at
//! a time. It keeps those that were copied to or from a device in this run, since page-locking a block takes longer than copying it.
//!
//! Blocks come in classes of capacity, eight to a power of two. Within a class any block serves any buffer, so a program that
//! takes and frees the same sizes in the same order a second time finds a block each time. What a block is larger than its
//! buffer is less than an eighth of it (for buffers below 1 KiB, less than 128 bytes).
//!
//! A worker gives to a shard of its own and looks there first: what it finds has lain in its caches and on its memory node.
//! Only when its own has none it looks through the others.

use super::ALIGNMENT;
use super::block::Block;
use crate::sync::{Apart, AtomicU64, Mutex, Ordering, lock};
use std::time::Duration;

/// Workers beyond this share shards.
const SHARDS: usize = 16;

/// Classes between two powers of two, as a power of two.
const STEPS_LOG2: u32 = 3;

/// Freed blocks, and how often they served.
#[derive(Default)]
pub(super) struct Pool {
    /// By class; grown up to the largest that was given.
    shards: [Apart<Mutex<Vec<Vec<Block>>>>; SHARDS],
    bytes: AtomicU64,
    peak_bytes: AtomicU64,
    fresh: AtomicU64,
    fresh_bytes: AtomicU64,
    recycled: AtomicU64,
    recycled_bytes: AtomicU64,
}

/// Where the buffers of a run came from, as far as its tasks took them on the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Allocations {
    /// Buffers in memory from the system.
    pub fresh: u64,
    /// Bytes of these buffers.
    pub fresh_bytes: u64,
    /// Buffers in memory that another buffer of the store had before.
    pub recycled: u64,
    /// Bytes of these buffers.
    pub recycled_bytes: u64,
    /// The most bytes that lay in the store without being a buffer's. They are in no account and no peak of it.
    pub peak_pooled_bytes: u64,
    /// How long a huge page took to come, where that was so long that small ones were taken from then on: the host of a virtual machine may have
    /// to bring back what it has taken.
    pub dear_huge_page: Option<Duration>,
}

/// Number of the smallest class whose blocks hold `len` bytes, and their capacity; `None` where no such size exists.
fn class(len: usize) -> Option<(usize, usize)> {
    let units = len.div_ceil(ALIGNMENT).max(1);
    let shift = units.ilog2().saturating_sub(STEPS_LOG2);
    let steps = units.div_ceil(1 << shift);
    let capacity = (steps << shift).checked_mul(ALIGNMENT)?;
    Some(((shift << STEPS_LOG2) as usize + steps, capacity))
}

/// Bytes that a block needs to be of use for other buffers of about `len` bytes too.
pub(super) fn capacity_for(len: usize) -> usize {
    class(len).map_or(len, |(_, capacity)| capacity)
}

impl Pool {
    /// A block for a buffer of `len` bytes, if there is one. What it holds is left over.
    pub(super) fn take(&self, worker: usize, len: usize) -> Option<Block> {
        if self.bytes() == 0 {
            return None;
        }
        let (class, _) = class(len)?;
        let own = worker % SHARDS;
        let mut block = (0..SHARDS).find_map(|k| {
            let mut shard = lock(&self.shards[(own + k) % SHARDS].0);
            shard.get_mut(class)?.pop()
        })?;
        self.bytes
            .fetch_sub(block.capacity() as u64, Ordering::Relaxed);
        self.count_recycled(len);
        block.set_len(len);
        Some(block)
    }

    /// Keeps a block.
    pub(super) fn give(&self, worker: usize, block: Block) {
        let capacity = block.capacity();
        let Some((class, whole)) = class(capacity) else {
            return;
        };
        if whole != capacity {
            // It would be the smallest of its class and serve some of its buffers only: not one of this pool's.
            return;
        }
        self.bytes.fetch_add(capacity as u64, Ordering::Relaxed);
        let mut shard = lock(&self.shards[worker % SHARDS].0);
        if shard.len() <= class {
            shard.resize_with(class + 1, Vec::new);
        }
        shard[class].push(block);
    }

    /// Gives blocks back to the system until no more than `keep` bytes are left, large ones first.
    pub(super) fn trim(&self, worker: usize, keep: u64) {
        for k in 0..SHARDS {
            while self.bytes() > keep {
                let mut shard = lock(&self.shards[(worker + k) % SHARDS].0);
                let Some(block) = shard.iter_mut().rev().find_map(Vec::pop) else {
                    break;
                };
                drop(shard);
                self.bytes
                    .fetch_sub(block.capacity() as u64, Ordering::Relaxed);
            }
        }
    }

    /// Lets large blocks go.
    pub(super) fn drop_large(&mut self) {
        for shard in &self.shards {
            for class in lock(&shard.0).iter_mut() {
                class.retain(|block| {
                    if block.is_large() {
                        let bytes = block.capacity() as u64;
                        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
                    }
                    !block.is_large()
                });
            }
        }
    }

    /// Bytes that lie here.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// A buffer of `len` bytes took memory from the system.
    pub(super) fn count_fresh(&self, len: usize) {
        self.fresh.fetch_add(1, Ordering::Relaxed);
        self.fresh_bytes.fetch_add(len as u64, Ordering::Relaxed);
    }

    /// A buffer of `len` bytes took memory that another one had.
    pub(super) fn count_recycled(&self, len: usize) {
        self.recycled.fetch_add(1, Ordering::Relaxed);
        self.recycled_bytes.fetch_add(len as u64, Ordering::Relaxed);
    }

    /// So many bytes lie in the store without being a buffer's.
    pub(super) fn count_unused(&self, bytes: u64) {
        self.peak_bytes.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Lets the counts start again; `unused` bytes lie in the store without being a buffer's.
    pub(super) fn reset_counts(&mut self, unused: u64) {
        for count in [
            &self.fresh,
            &self.fresh_bytes,
            &self.recycled,
            &self.recycled_bytes,
        ] {
            count.store(0, Ordering::Relaxed);
        }
        self.peak_bytes.store(unused, Ordering::Relaxed);
    }

    pub(super) fn counts(&self) -> Allocations {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Allocations {
            fresh: get(&self.fresh),
            fresh_bytes: get(&self.fresh_bytes),
            recycled: get(&self.recycled),
            recycled_bytes: get(&self.recycled_bytes),
            peak_pooled_bytes: get(&self.peak_bytes),
            dear_huge_page: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::Arc;

    #[test]
    fn classes_are_dense_and_tight() {
        let mut before = (0, 0);
        for len in (1..200_000).chain((17..40).map(|k| 3usize << k)) {
            let (number, capacity) = class(len).unwrap();
            assert!(capacity >= len);
            let waste = capacity - len;
            assert!(waste < ALIGNMENT.max(len / 8 + 1), "{len}: {capacity}");
            // A block of a class is of that class, whatever buffer it was made for.
            assert_eq!(class(capacity), Some((number, capacity)));
            if len < 200_000 {
                assert!(number == before.0 || (number == before.0 + 1 && capacity > before.1));
                before = (number, capacity);
            }
        }
        assert_eq!(class(usize::MAX), None);
    }

    #[test]
    fn blocks_are_found_in_other_shards_and_trimmed() {
        let (pool, chunks) = (Pool::default(), Arc::default());
        let block = |len| Block::zeroed(len, capacity_for(len), len, &chunks).unwrap();
        pool.give(0, block(5000));
        pool.give(3, block(100));
        let all = pool.bytes();
        assert_eq!(all, (capacity_for(5000) + capacity_for(100)) as u64);
        // 5120 bytes are of the next class but one.
        assert!(pool.take(1, 5121).is_none() && pool.take(1, 4000).is_none());
        let found = pool.take(7, 4999).expect("in the shard of worker 0");
        assert_eq!((found.len(), found.capacity()), (4999, capacity_for(5000)));
        pool.give(2 * SHARDS + 3, found);
        assert_eq!(pool.bytes(), all);
        pool.trim(0, all - 1);
        assert_eq!(pool.bytes(), capacity_for(100) as u64);
        pool.trim(0, 0);
        assert_eq!(pool.bytes(), 0);
        assert!(pool.take(3, 100).is_none());
        let counts = pool.counts();
        assert_eq!((counts.recycled, counts.recycled_bytes), (1, 4999));
    }
}
