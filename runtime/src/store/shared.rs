//! The data store while a run has it: buffers are claimed by many workers.
//!
//! Takes the exclusive borrow of a [`DataStore`]; gives buffers under claims. Knows no task. One of the files with unsafe
//! code (see `mod.rs`).

use super::account::Change;
use super::block::{Block, Pinning};
use super::buffers::Held;
use super::claim::Mode;
use super::pool;
use super::{
    ANYTHING, Allocations, DataStore, Fill, MemoryNode, OutOfMemory, ReadBuffer, Replica,
    ScatterBuffer, Slot, WRITTEN, WorkingMemory, WriteBuffer, ZEROS,
};
use crate::spec::Handle;
use crate::sync::Ordering;
use bytemuck::Pod;
use treeqr_devices::Device;

/// A store that a run has borrowed, seen from one memory node; copies are the same borrow. It is made from an exclusive borrow, so for `'s` nobody
/// else can reach the store, and `DataStore::get` must not be called in this file.
#[derive(Clone, Copy)]
pub(crate) struct SharedStore<'s> {
    store: &'s DataStore,
    memory: MemoryNode,
    /// Whose freed blocks are looked at first.
    worker: usize,
    /// Those of `memory`.
    slots: &'s [Slot],
}

impl<'s> SharedStore<'s> {
    pub(super) fn new(store: &'s mut DataStore) -> Self {
        SharedStore {
            store,
            memory: MemoryNode::HOST,
            worker: 0,
            slots: &store.slots,
        }
    }

    /// The same store, seen from `memory`.
    pub(crate) fn on(&self, memory: MemoryNode) -> Self {
        let slots = match memory {
            MemoryNode::HOST => &self.store.slots,
            MemoryNode(device) => &self.store.devices[usize::from(device) - 1],
        };
        SharedStore {
            store: self.store,
            memory,
            worker: self.worker,
            slots,
        }
    }

    /// The same store, as `worker` has it.
    pub(crate) fn by(self, worker: usize) -> Self {
        SharedStore { worker, ..self }
    }

    /// Whose buffers these are.
    pub(crate) fn memory(&self) -> MemoryNode {
        self.memory
    }

    /// Bytes of the buffer of `handle`, if it has one.
    pub(crate) fn len(&self, handle: Handle) -> Option<usize> {
        let len = self.slots[handle.0 as usize].len.load(Ordering::Acquire);
        len.checked_sub(1)
    }

    /// What the buffer of `handle` was filled with, if nobody has taken it to write since then. Says nothing of a buffer that
    /// somebody may take at the same time.
    pub(crate) fn untouched(&self, handle: Handle) -> Option<Fill> {
        match self.slots[handle.0 as usize]
            .content
            .load(Ordering::Acquire)
        {
            ZEROS => Some(Fill::ZEROS),
            ANYTHING => Some(Fill::Anything),
            _ => None,
        }
    }

    /// Number of handles.
    pub(crate) fn handles(&self) -> usize {
        self.slots.len()
    }

    /// Bytes on the host now.
    pub(crate) fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    /// The most bytes that lay on the host.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.store.peak_bytes()
    }

    /// Where buffers came from in this run.
    pub(crate) fn allocations(&self) -> Allocations {
        self.store.allocations()
    }

    /// The buffer of `handle`, shared with other readers.
    pub(crate) fn read<T: Pod>(&self, handle: Handle) -> ReadBuffer<'s, T> {
        ReadBuffer::new(self.hold(handle, Mode::Shared))
    }

    /// The buffer of `handle`, alone.
    pub(crate) fn write<T: Pod>(&self, handle: Handle) -> WriteBuffer<'s, T> {
        WriteBuffer::new(self.hold(handle, Mode::Exclusive))
    }

    /// The buffer of `handle`, shared with others that scatter.
    pub(crate) fn scatter<T: Pod>(&self, handle: Handle) -> ScatterBuffer<'s, T> {
        ScatterBuffer::new(self.hold(handle, ScatterBuffer::<T>::MODE))
    }

    fn hold(&self, handle: Handle, mode: Mode) -> Held<'s> {
        let slot = &self.slots[handle.0 as usize];
        if !slot.claim.try_claim(mode) {
            conflict(handle, mode);
        }
        // SAFETY: under a claim of any mode nobody replaces or drops the replica (`replace` needs the exclusive claim),
        // and this reference to the slot's content, not to its bytes, ends here.
        let place = unsafe { &*slot.replica.get() }
            .as_ref()
            .map(|replica| (replica.block.start(), replica.block.len()));
        let Some((start, len)) = place else {
            slot.claim.release(mode);
            panic!("handle {} has no buffer", handle.0);
        };
        if mode != Mode::Shared {
            slot.content.store(WRITTEN, Ordering::Release);
        }
        Held {
            claim: &slot.claim,
            mode,
            start,
            len,
        }
    }

    /// Before a copy between the buffer of `handle` and `device`: page-locks it if that pays.
    pub(crate) fn pin(&self, handle: Handle, device: &dyn Device) -> Pinning {
        let slot = &self.slots[handle.0 as usize];
        if !slot.claim.try_claim(Mode::Shared) {
            conflict(handle, Mode::Shared);
        }
        // SAFETY: as in `hold`: under the claim nobody replaces or drops the replica, and the reference ends before the claim.
        let replica = unsafe { &*slot.replica.get() }.as_ref();
        let done = replica.map_or(Pinning::None, |replica| replica.block.pin(device));
        slot.claim.release(Mode::Shared);
        done
    }

    /// Gives `handle` a buffer of `bytes` bytes; `change` hears of what was freed and allocated.
    pub(crate) fn allocate(
        &self,
        handle: Handle,
        bytes: usize,
        fill: Fill,
        mut change: impl FnMut(Change),
    ) -> Result<(), OutOfMemory> {
        self.free(handle, &mut change);
        let block = self.block(bytes, fill).ok_or(OutOfMemory { bytes })?;
        let memory = self.memory;
        self.replace(handle, Some(Replica { memory, block }));
        let after_bytes = self.store.accounts[memory.0 as usize].add(bytes);
        if memory == MemoryNode::HOST {
            self.store.in_use.add(bytes);
        }
        let content = match fill {
            Fill::Zeros { .. } => ZEROS,
            Fill::Anything | Fill::Parts | Fill::Poison => ANYTHING,
        };
        let slot = &self.slots[handle.0 as usize];
        slot.content.store(content, Ordering::Release);
        change(Change {
            memory,
            delta_bytes: bytes as i64,
            after_bytes,
        });
        Ok(())
    }

    /// Frees the buffer of `handle`, if it has one; `change` hears of it.
    pub(crate) fn free(&self, handle: Handle, mut change: impl FnMut(Change)) {
        if let Some(Replica { memory, block }) = self.replace(handle, None) {
            let bytes = block.len();
            let after_bytes = self.store.accounts[memory.0 as usize].remove(bytes);
            match memory {
                MemoryNode::HOST => self.keep(block),
                _ => drop(block),
            }
            change(Change {
                memory,
                delta_bytes: -(bytes as i64),
                after_bytes,
            });
        }
    }

    /// Memory of `len` elements to work in, on the host; `None` where there is none.
    pub(crate) fn working_memory<T: Pod>(
        &self,
        len: usize,
        fill: Fill,
    ) -> Option<WorkingMemory<T>> {
        let block = self.block(len.checked_mul(size_of::<T>())?, fill)?;
        Some(WorkingMemory::new(block, &self.store.in_use))
    }

    /// Keeps a block that is in use no more for later buffers, as long as what is kept is within bounds.
    fn keep(&self, block: Block) {
        let store = self.store;
        let now = store.in_use.remove(block.len());
        let keep = self.most(now) - now;
        let pool_has_it = !block.is_large() || (self.pools_large() && !block.is_to_come());
        if pool_has_it && store.pool.bytes() + block.capacity() as u64 <= keep {
            store.pool.give(self.worker, block);
        } else {
            drop(block);
        }
        store.trim(self.worker, keep);
        store.pool.count_unused(store.unused_bytes());
    }

    /// Large blocks that were copied to a device are page-locked and stay what they are; without devices chunks fit better.
    fn pools_large(&self) -> bool {
        !self.store.devices.is_empty()
    }

    /// Memory for a buffer: from the pool if it has some, else from a chunk or from the system.
    fn block(&self, bytes: usize, fill: Fill) -> Option<Block> {
        let store = self.store;
        if self.memory != MemoryNode::HOST {
            return Block::zeroed(bytes, bytes, bytes, &store.chunks);
        }
        let large = store.chunks.are_for(bytes);
        let pooled = !large || self.pools_large();
        let found = pooled.then(|| store.pool.take(self.worker, bytes));
        if let Some(mut block) = found.flatten() {
            match fill {
                Fill::Zeros { .. } => block.bytes_mut().fill(0),
                Fill::Anything | Fill::Parts => {}
                Fill::Poison => block.bytes_mut().fill(0xff),
            }
            return Some(block);
        }
        let written_from = match fill {
            // Where there are devices it may be that all is written there.
            _ if !store.devices.is_empty() => bytes,
            Fill::Zeros { written_from } => written_from,
            Fill::Anything => 0,
            Fill::Parts | Fill::Poison => bytes,
        };
        let capacity = match pooled {
            true => pool::capacity_for(bytes),
            false => bytes,
        };
        let take = |capacity| match fill {
            Fill::Anything | Fill::Parts | Fill::Poison if large => {
                Block::left_over(bytes, capacity, written_from, &store.chunks)
            }
            _ => Block::zeroed(bytes, capacity, written_from, &store.chunks),
        };
        let now = store.in_use.now().saturating_add(bytes as u64);
        let keep = self.most(now) - now;
        if !large {
            store.trim(self.worker, keep);
        }
        let mut block = take(capacity).or_else(|| {
            store.release(self.worker);
            take(bytes)
        })?;
        if large {
            // Not before: it may have found its pages among those that would go.
            store.trim(self.worker, keep);
        }
        match block.is_recycled() {
            true => store.pool.count_recycled(bytes),
            false => store.pool.count_fresh(bytes),
        }
        if fill == Fill::Poison {
            block.bytes_mut().fill(0xff);
        }
        Some(block)
    }

    /// What memory in use and unused may take together, when that in use takes `now` bytes.
    fn most(&self, now: u64) -> u64 {
        self.store.keep_up_to.max(self.store.in_use.peak()).max(now)
    }

    fn replace(&self, handle: Handle, replica: Option<Replica>) -> Option<Replica> {
        let slot = &self.slots[handle.0 as usize];
        if !slot.claim.try_claim(Mode::Exclusive) {
            conflict(handle, Mode::Exclusive);
        }
        let len = replica.as_ref().map(|replica| replica.block.len());
        // SAFETY: the exclusive claim is held: no buffer of this handle exists, and nobody else is in here.
        let mut before = std::mem::replace(unsafe { &mut *slot.replica.get() }, replica);
        if slot.content.load(Ordering::Acquire) == ZEROS
            && let Some(replica) = &mut before
        {
            replica.block.untouched();
        }
        slot.set_len(len);
        slot.content.store(WRITTEN, Ordering::Release);
        slot.claim.release(Mode::Exclusive);
        before
    }
}

#[cold]
fn conflict(handle: Handle, mode: Mode) -> ! {
    panic!(
        "handle {} is held in another mode than {mode:?}: taken twice by one task, or by two tasks that should have \
         been ordered",
        handle.0
    );
}
