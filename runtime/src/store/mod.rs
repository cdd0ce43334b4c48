//! The data store: one slot per handle, with the buffer that lies there.
//!
//! Takes a number of handles; gives aligned buffers and counts their bytes. Knows no task, no dependency and no element type.
//!
//! # The room with unsafe code
//! All unsafe code that touches the application's data is in this folder (`block.rs`, `buffers.rs`, `chunks.rs`, `shared.rs`),
//! and it relies on nothing outside of it:
//!
//! * The store is either *owned* ([`DataStore`]: borrows checked by the compiler) or *shared* by a run
//!   ([`SharedStore`], which borrows the store exclusively for as long as it exists). `get` needs the first, so it can
//!   never see a buffer that a task holds.
//! * While shared, a block is touched only under a claim on its slot (`claim.rs`), checked at run time by one atomic
//!   word. A wrong order of tasks ends in a panic, not in a data race.
//! * Memory is zero when it comes from the system, always: a `&mut [T]` over memory that nobody wrote would be undefined,
//!   and for large blocks zeros come free with the pages, which the worker that touches them first gets near to it. A
//!   block that had a buffer before is initialised memory; it is cleared by hand where zeros are asked for ([`Fill`]).
//!
//! # Memory that is freed
//! What a task frees goes to a pool (`pool.rs`), a large block to the chunk of memory that it came from (`chunks.rs`), and serves
//! later buffers of the run. Such bytes are in no account: buffers, what tasks work in (`working.rs`), pool and the unused part of chunks
//! together are kept within what the first two took at most, or within [`DataStore::keep_up_to`] where that is more, and all goes back to the system
//! before a buffer is refused. Chunks keep up to a 256th beside that, where giving it back costs too much.

mod account;
mod block;
mod buffers;
mod chunks;
mod claim;
mod huge;
mod pages;
mod pool;
mod shared;
mod working;

pub use block::ALIGNMENT;
pub use buffers::{ReadBuffer, ScatterBuffer, WriteBuffer};
pub use pool::Allocations;
pub use working::WorkingMemory;

pub(crate) use account::Change;
pub(crate) use block::Pinning;
pub(crate) use shared::SharedStore;

use crate::spec::Handle;
use crate::sync::{Arc, AtomicU32, AtomicUsize, Ordering};
use account::Account;
use block::Block;
use bytemuck::Pod;
use chunks::Chunks;
use claim::Claim;
use pool::Pool;
use std::cell::UnsafeCell;

/// Where buffers lie: node 0 is the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryNode(pub u16);

impl MemoryNode {
    /// The memory that CPU workers use.
    pub const HOST: MemoryNode = MemoryNode(0);
}

/// A buffer could not be allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("out of memory: cannot allocate {bytes} bytes")]
pub struct OutOfMemory {
    /// Size of the buffer, in bytes.
    pub bytes: usize,
}

/// The data of an application: per handle a buffer, or none.
pub struct DataStore {
    /// On the host.
    slots: Vec<Slot>,
    /// On the devices of the last run, the first being memory node 1; empty when it is over.
    devices: Vec<Vec<Slot>>,
    /// By memory node.
    accounts: Vec<Account>,
    /// On the host: buffers, and what tasks work in.
    in_use: Arc<Account>,
    /// What tasks have freed on the host.
    pool: Pool,
    /// What large buffers on the host, those of modelled devices too, are parts of.
    chunks: Arc<Chunks>,
    /// Buffers and pool may take this even if the buffers alone never did.
    keep_up_to: u64,
}

/// What a new buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// Zeros, of which the bytes from here on will be written.
    Zeros { written_from: usize },
    /// Anything: whoever takes it writes all of it.
    Anything,
    /// Anything: whoever takes it writes parts of it, and reads no others.
    Parts,
    /// Bytes 0xFF, which are NaN in every format: a test of who said `Anything`.
    Poison,
}

impl Fill {
    /// Zeros of which nobody knows what becomes.
    pub(crate) const ZEROS: Fill = Fill::Zeros {
        written_from: usize::MAX,
    };
}

struct Slot {
    claim: Claim,
    replica: UnsafeCell<Option<Replica>>,
    /// Length of the buffer plus 1, or 0: can be asked for without a claim.
    len: AtomicUsize,
    /// What a buffer holds that nobody has taken to write since it was allocated: [`WRITTEN`], [`ZEROS`] or [`ANYTHING`].
    content: AtomicU32,
}

/// Somebody may have written it.
const WRITTEN: u32 = 0;
/// All zeros.
const ZEROS: u32 = 1;
/// Whatever was there before: it will be overwritten.
const ANYTHING: u32 = 2;

impl Slot {
    fn empty() -> Self {
        Slot {
            claim: Claim::free(),
            replica: UnsafeCell::new(None),
            len: AtomicUsize::new(0),
            content: AtomicU32::new(WRITTEN),
        }
    }

    fn set_len(&self, bytes: Option<usize>) {
        let len = bytes.map_or(0, |bytes| bytes.wrapping_add(1));
        self.len.store(len, Ordering::Release);
    }
}

/// The content of a handle on one memory node.
struct Replica {
    memory: MemoryNode,
    block: Block,
}

impl DataStore {
    /// A store with the handles `0..handles`, all without a buffer.
    pub fn new(handles: usize) -> Self {
        let mut store = DataStore {
            slots: Vec::new(),
            devices: Vec::new(),
            accounts: vec![Account::default()],
            in_use: Arc::default(),
            pool: Pool::default(),
            chunks: Arc::default(),
            keep_up_to: 0,
        };
        store.grow(handles);
        store
    }

    /// A store with handles of its own for what is made of the buffers of this one: large buffers take what lies here unused before they take
    /// more from the system. It may keep as much as this one may keep beside its buffers; [`Self::release_pool`] of either gives back what both leave.
    pub fn beside(&self, handles: usize) -> DataStore {
        let most = self.keep_up_to.max(self.in_use.peak());
        DataStore {
            chunks: self.chunks.clone(),
            keep_up_to: most.saturating_sub(self.in_use.now()),
            ..DataStore::new(handles)
        }
    }

    /// Adds handles until there are `handles`; never removes one.
    pub fn grow(&mut self, handles: usize) {
        let handles = handles.max(self.slots.len());
        self.slots.resize_with(handles, Slot::empty);
    }

    /// Number of handles.
    pub fn handles(&self) -> usize {
        self.slots.len()
    }

    /// Gives `handle` a buffer of `bytes` zero bytes, aligned to [`ALIGNMENT`]; what it had before is freed first.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn allocate(&mut self, handle: Handle, bytes: usize) -> Result<(), OutOfMemory> {
        self.free(handle);
        let capacity = match self.chunks.are_for(bytes) {
            true => bytes,
            false => pool::capacity_for(bytes),
        };
        let block = Block::zeroed(bytes, capacity, bytes, &self.chunks);
        let block = block.ok_or(OutOfMemory { bytes })?;
        let memory = MemoryNode::HOST;
        self.accounts[memory.0 as usize].add(bytes);
        self.in_use.add(bytes);
        *self.slot_mut(handle) = Some(Replica { memory, block });
        self.slots[handle.0 as usize].set_len(Some(bytes));
        Ok(())
    }

    /// Frees the buffer of `handle`, if it has one.
    pub fn free(&mut self, handle: Handle) {
        if let Some(replica) = self.slot_mut(handle).take() {
            self.accounts[replica.memory.0 as usize].remove(replica.block.len());
            self.in_use.remove(replica.block.len());
            self.slots[handle.0 as usize].set_len(None);
        }
    }

    /// The bytes of `handle`, if it has a buffer.
    pub fn get(&self, handle: Handle) -> Option<&[u8]> {
        // SAFETY: slots change through `&mut self` or through a `SharedStore`, which borrows the store exclusively; so
        // while `&self` lives nobody changes this slot or its bytes.
        let replica = unsafe { &*self.slots[handle.0 as usize].replica.get() };
        replica.as_ref().map(|replica| replica.block.bytes())
    }

    /// The bytes of `handle` to write, if it has a buffer.
    pub fn get_mut(&mut self, handle: Handle) -> Option<&mut [u8]> {
        let replica = self.slot_mut(handle).as_mut();
        replica.map(|replica| replica.block.bytes_mut())
    }

    /// The buffer of `handle` as elements of `T`.
    ///
    /// # Panics
    /// If its length is no whole number of them.
    pub fn get_as<T: Pod>(&self, handle: Handle) -> Option<&[T]> {
        self.get(handle).map(bytemuck::cast_slice)
    }

    /// The buffer of `handle` as elements of `T`, to write.
    ///
    /// # Panics
    /// If its length is no whole number of them.
    pub fn get_mut_as<T: Pod>(&mut self, handle: Handle) -> Option<&mut [T]> {
        self.get_mut(handle).map(bytemuck::cast_slice_mut)
    }

    /// Bytes of all buffers on the host.
    pub fn bytes(&self) -> u64 {
        self.accounts[MemoryNode::HOST.0 as usize].now()
    }

    /// The most bytes that lay on the host since the last run with this store began, or [`reset_peak`](Self::reset_peak)
    /// was called, or the store was made.
    pub fn peak_bytes(&self) -> u64 {
        self.accounts[MemoryNode::HOST.0 as usize].peak()
    }

    /// Lets the store keep memory that tasks free as long as that and the buffers together take no more than `bytes`. Without it, or
    /// with less than the peak of the buffers, that peak is the limit: what is kept then never makes a run need more memory.
    pub fn keep_up_to(&mut self, bytes: u64) {
        self.keep_up_to = bytes;
        self.trim(0, bytes.saturating_sub(self.bytes()));
    }

    /// Tells that buffers are going to take about so many bytes: many come in pages of their own, very many in huge ones, from the
    /// first on; and `most` at a time, beyond which pages are small.
    pub fn expect(&mut self, bytes: u64, most: u64) {
        self.chunks.expect(bytes, most);
    }

    /// Bytes that lie in the store for buffers to come, and that it can give back.
    pub fn pooled_bytes(&self) -> u64 {
        self.pool.bytes() + self.chunks.idle_bytes()
    }

    /// Gives memory back to the system that no buffer has, but for about so many bytes.
    pub fn keep_unused(&self, bytes: u64) {
        match bytes {
            0 => self.release(0),
            _ => self.trim(0, bytes),
        }
    }

    /// Gives all memory back to the system that no buffer has.
    pub fn release_pool(&mut self) {
        self.release(0);
    }

    /// The same, and what it can't give back.
    fn unused_bytes(&self) -> u64 {
        self.pooled_bytes() + self.chunks.slack_bytes()
    }

    /// Keeps `keep` bytes at most that no buffer has, if that can be.
    fn trim(&self, worker: usize, keep: u64) {
        self.chunks.trim(keep.saturating_sub(self.pool.bytes()));
        let beside = self.chunks.idle_bytes();
        self.pool.trim(worker, keep.saturating_sub(beside));
    }

    fn release(&self, worker: usize) {
        self.pool.trim(worker, 0);
        self.chunks.release();
    }

    /// Frees all buffers on the host; their memory stays in the store, whatever the limit, for the buffers of the next run.
    pub fn recycle(&mut self) {
        for (h, slot) in self.slots.iter_mut().enumerate() {
            if let Some(Replica { memory, block }) = slot.replica.get_mut().take() {
                slot.set_len(None);
                self.accounts[memory.0 as usize].remove(block.len());
                self.in_use.remove(block.len());
                if !block.is_large() {
                    self.pool.give(h, block);
                }
            }
        }
    }

    /// Where buffers came from since the last run with this store began.
    pub fn allocations(&self) -> Allocations {
        Allocations {
            dear_huge_page: self.chunks.dear_page(),
            ..self.pool.counts()
        }
    }

    /// Lets the peak start again from what lies there now.
    pub fn reset_peak(&mut self) {
        self.accounts.iter().for_each(Account::reset_peak);
        self.in_use.reset_peak();
    }

    /// Lends the store to a run with `devices` memory nodes beside the host; the peak starts again.
    pub(crate) fn share(&mut self, devices: usize) -> SharedStore<'_> {
        // What a run that failed left on its devices is gone.
        self.devices.clear();
        self.accounts.truncate(1);
        for _ in 0..devices {
            let slots = std::iter::repeat_with(Slot::empty).take(self.slots.len());
            self.devices.push(slots.collect());
            self.accounts.push(Account::default());
        }
        self.reset_peak();
        self.pool.reset_counts(self.unused_bytes());
        for slot in &mut self.slots {
            // A guard that was leaked in an earlier run can't hold anything any more.
            slot.claim = Claim::free();
            // Its owner may have written it since.
            slot.content = AtomicU32::new(WRITTEN);
        }
        SharedStore::new(self)
    }

    /// Page-locked memory is given back to the system's care: a run with devices is over.
    pub(crate) fn unpin(&mut self) {
        for slot in &mut self.slots {
            if let Some(replica) = slot.replica.get_mut() {
                replica.block.unpin();
            }
        }
        self.pool.drop_large();
    }

    fn slot_mut(&mut self, handle: Handle) -> &mut Option<Replica> {
        self.slots[handle.0 as usize].replica.get_mut()
    }
}

// SAFETY: what a slot hides in its `UnsafeCell` is `Send`, is read through `&DataStore` only (`get`), and is changed
// either through `&mut DataStore` or through a `SharedStore`, under a claim.
unsafe impl Sync for Slot {}

impl std::fmt::Debug for DataStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (handles, bytes) = (self.handles(), self.bytes());
        write!(f, "DataStore {{ handles: {handles}, bytes: {bytes} }}")
    }
}
