//! One aligned block of memory, zeroed when it is new.
//!
//! Takes a size, and for a large one the chunks that it is a part of; gives its start. Knows no handle and no claim. One of the files with unsafe code (see `mod.rs`).

use super::chunks::{Chunks, Extent, LARGE};
use crate::sync::{Arc, OnceLock};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use treeqr_devices::{Device, Pinned};

/// Alignment of every buffer, in bytes: two cache lines, so that neighbours never share a pair that is fetched at once.
pub const ALIGNMENT: usize = 128;

/// What the allocator guarantees anyway. Asking it for no more lets it use `calloc`, which takes large blocks as zero
/// pages from the system, untouched until somebody writes them; for a larger alignment it would clear them by hand.
const BASE_ALIGNMENT: usize = 16;

/// A page of memory, or a part of one.
const PAGE: usize = 4096;

/// A block is page-locked when it is copied to or from a device for the second time: it is slow, and of no use for a single copy.
const PINNED_AT_COPY: u32 = 2;

/// What became of a try to page-lock a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pinning {
    /// There was nothing to do: too small, or not copied often enough, or tried before.
    None,
    /// Now it is page-locked, all of its bytes.
    Pinned(usize),
    /// The device refused.
    Refused,
}

/// Where the memory of a block comes from.
enum Origin {
    /// The allocator: what it gave.
    Heap(NonNull<u8>),
    /// Pages of a chunk, the chunk's again when this is dropped.
    Pages(Extent),
}

/// An owned block; its address does not change when the value moves.
pub(super) struct Block {
    /// Page-locked for devices, or tried in vain. Before `origin`: it is dropped before the pages are somebody else's.
    pin: OnceLock<Option<Box<dyn Pinned>>>,
    /// Copies to and from devices.
    copies: AtomicU32,
    origin: Origin,
    start: NonNull<u8>,
    len: usize,
    /// Bytes from `start` on, all initialised; `len` of them are in use.
    capacity: usize,
}

// SAFETY: a block owns its memory as a `Box<[u8]>` does; only the pointers hide it. An extent can be given back by any thread.
unsafe impl Send for Block {}

impl Block {
    /// A block of `len` bytes, all 0, with room for `capacity` (no less), or `None` where there is no memory for it. The bytes from
    /// `written_from` on will be written: small pages of theirs come at once, which takes two thirds of the time that they take one
    /// by one as they are written, and much less than where they are read before: a page that is read first is the system's one
    /// page of zeros, which all processors have to forget when it is written.
    pub(super) fn zeroed(
        len: usize,
        capacity: usize,
        written_from: usize,
        chunks: &Arc<Chunks>,
    ) -> Option<Block> {
        assert!(len <= capacity);
        let written = written_from.min(len)..len;
        if chunks.are_for(capacity) {
            return Self::of_pages(len, capacity, written, true, chunks);
        }
        let layout = Self::layout(capacity)?;
        // SAFETY: the layout's size is at least ALIGNMENT, not 0.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let skip = base.align_offset(ALIGNMENT);
        assert!(skip <= ALIGNMENT - BASE_ALIGNMENT);
        // SAFETY: skip + capacity <= size of the layout, by the line above and by `layout`.
        let start = unsafe { base.add(skip) };
        let mut block = Block {
            pin: OnceLock::new(),
            copies: AtomicU32::new(0),
            origin: Origin::Heap(base),
            start,
            len,
            capacity,
        };
        let written = &mut block.bytes_mut()[written];
        // Not left out, though they are zero.
        written
            .iter_mut()
            .step_by(PAGE)
            .for_each(|byte| *byte = std::hint::black_box(0));
        Some(block)
    }

    /// As [`Self::zeroed`], for a large block that is overwritten: it holds what somebody has left there, or 0.
    pub(super) fn left_over(
        len: usize,
        capacity: usize,
        written_from: usize,
        chunks: &Arc<Chunks>,
    ) -> Option<Block> {
        assert!(len <= capacity && chunks.are_for(capacity));
        let written = written_from.min(len)..len;
        Self::of_pages(len, capacity, written, false, chunks)
    }

    fn of_pages(
        len: usize,
        capacity: usize,
        written: Range<usize>,
        zero: bool,
        chunks: &Arc<Chunks>,
    ) -> Option<Block> {
        let (mut extent, left_over) = Chunks::take(chunks, capacity)?;
        if !extent.is_recycled() {
            extent.populate(written);
        }
        // Whole pages, so aligned; the address stays when the value moves.
        let start = extent.start();
        assert!(start.align_offset(ALIGNMENT) == 0 && extent.bytes() >= capacity);
        let mut block = Block {
            pin: OnceLock::new(),
            copies: AtomicU32::new(0),
            origin: Origin::Pages(extent),
            start,
            len: capacity,
            capacity,
        };
        if zero {
            for part in left_over {
                let end = part.end.min(capacity);
                block.bytes_mut()[part.start.min(end)..end].fill(0);
            }
        }
        block.len = len;
        Some(block)
    }

    fn layout(capacity: usize) -> Option<Layout> {
        let size = capacity.checked_add(ALIGNMENT)?;
        Layout::from_size_align(size, BASE_ALIGNMENT).ok()
    }

    /// Its first byte, aligned to [`ALIGNMENT`]; valid for `len` initialised bytes while the block lives.
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Before each copy between it and `device`: page-locks it if that pays. Only large ones: their pages are theirs alone, and worth a call.
    pub(super) fn pin(&self, device: &dyn Device) -> Pinning {
        if matches!(self.origin, Origin::Heap(_)) || self.capacity < LARGE {
            return Pinning::None;
        }
        let before = self.copies.fetch_add(1, Ordering::Relaxed);
        if before.saturating_add(1) < PINNED_AT_COPY || self.pin.get().is_some() {
            return Pinning::None;
        }
        let mut done = Pinning::None;
        self.pin.get_or_init(|| {
            let pin = device.pin(self.start.as_ptr() as usize, self.capacity);
            done = match pin {
                Ok(_) => Pinning::Pinned(self.capacity),
                Err(_) => Pinning::Refused,
            };
            pin.ok()
        });
        done
    }

    /// Page-locked no more.
    pub(super) fn unpin(&mut self) {
        self.pin.take();
        *self.copies.get_mut() = 0;
    }

    /// Nobody has written it since it came zeroed.
    pub(super) fn untouched(&mut self) {
        if let Origin::Pages(extent) = &mut self.origin
            && *self.copies.get_mut() == 0
        {
            extent.untouched();
        }
    }

    /// Whether its pages are still to come from the system.
    pub(super) fn is_to_come(&self) -> bool {
        matches!(&self.origin, Origin::Pages(extent) if extent.is_to_come())
    }

    /// Whether all of its pages were another block's before.
    pub(super) fn is_recycled(&self) -> bool {
        matches!(&self.origin, Origin::Pages(extent) if extent.is_recycled())
    }

    /// Whether it is one of the chunks'.
    pub(super) fn is_large(&self) -> bool {
        matches!(self.origin, Origin::Pages(_))
    }

    /// Its length in bytes.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The most bytes that it can have.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Makes it `len` bytes long. What they hold is left over from before, or 0.
    pub(super) fn set_len(&mut self, len: usize) {
        assert!(len <= self.capacity);
        self.len = len;
        if let Origin::Pages(extent) = &mut self.origin {
            extent.written();
        }
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: `start` is valid for `capacity` initialised bytes (zeroed once, and plain data since, this block's or that of one
        // that had the pages before), `len` of them at most; they are owned by the block and thus borrowed as it is.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// Its bytes, to write.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and the exclusive borrow of the block is one of its bytes.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Origin::Heap(base) = self.origin {
            let layout = Self::layout(self.capacity).expect("the layout it was allocated with");
            // SAFETY: `base` came from this allocator with this layout, and nobody frees it but this drop.
            unsafe { dealloc(base.as_ptr(), layout) }
        }
    }
}
