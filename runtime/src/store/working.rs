//! Memory that tasks have for themselves.
//!
//! Takes a block from where buffers come from; gives a slice of plain old data, and the block back when dropped. Knows no handle: it is
//! in no account of a memory node, and no other task can see it. Safe code.
//!
//! Why not all of it a worker's own from the start: what is large is then there as often as there are workers, from the first time that
//! one needs it until the run is over. This is there as long as somebody wants it, and its pages serve the buffers that come next.

use super::account::Account;
use super::block::Block;
use crate::sync::Arc;
use bytemuck::Pod;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Working memory of a task, or of some that follow each other on one worker: a `[T]`, until it is dropped. It holds anything at first.
pub struct WorkingMemory<T> {
    block: Block,
    in_use: Arc<Account>,
    elements: PhantomData<T>,
}

impl<T: Pod> WorkingMemory<T> {
    pub(super) fn new(block: Block, in_use: &Arc<Account>) -> Self {
        const { assert!(size_of::<T>() > 0 && align_of::<T>() <= super::ALIGNMENT) }
        in_use.add(block.len());
        WorkingMemory {
            block,
            in_use: in_use.clone(),
            elements: PhantomData,
        }
    }
}

impl<T: Pod> Deref for WorkingMemory<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(self.block.bytes())
    }
}

impl<T: Pod> DerefMut for WorkingMemory<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(self.block.bytes_mut())
    }
}

impl<T> Drop for WorkingMemory<T> {
    fn drop(&mut self) {
        // Its pages go back to their chunk, within bounds again with the next buffer that is taken or freed.
        self.in_use.remove(self.block.len());
    }
}
