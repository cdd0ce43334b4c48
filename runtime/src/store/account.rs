//! How many bytes lie on each memory node, now and at most.
//!
//! Takes allocations and releases from all workers; gives two numbers a node. Knows no buffer. Safe code.

use super::MemoryNode;
use crate::sync::{AtomicU64, Ordering};

/// Bytes on one memory node.
#[derive(Default)]
pub(super) struct Account {
    now: AtomicU64,
    peak: AtomicU64,
}

impl Account {
    /// `bytes` more; returns how many that makes.
    pub(super) fn add(&self, bytes: usize) -> u64 {
        let after = self.now.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        self.peak.fetch_max(after, Ordering::Relaxed);
        after
    }

    /// `bytes` fewer; returns how many are left.
    pub(super) fn remove(&self, bytes: usize) -> u64 {
        self.now.fetch_sub(bytes as u64, Ordering::Relaxed) - bytes as u64
    }

    pub(super) fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    pub(super) fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    pub(super) fn reset_peak(&self) {
        self.peak.store(self.now(), Ordering::Relaxed);
    }
}

/// A change of the bytes on a memory node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Where.
    pub(crate) memory: MemoryNode,
    /// Bytes gained or given back.
    pub(crate) delta_bytes: i64,
    /// Bytes there afterwards.
    pub(crate) after_bytes: u64,
}
