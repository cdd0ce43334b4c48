//! One aligned block of memory, zeroed when it comes from the system.
//!
//! Takes a size; gives its start. Knows no handle and no claim. One of the files with unsafe code (see `mod.rs`).

use crate::sync::OnceLock;
use memmap2::MmapMut;
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

/// From so many bytes on a block is a mapping of its own: when it is freed its pages go back to the system at once. Allocators
/// keep them, in holes that the next front's blocks do not fit in: on lp-20000 a fifth of the process's memory.
const MAPPED: usize = 256 << 10;

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
    /// A mapping, unmapped when this is dropped.
    Mapping(#[expect(dead_code, reason = "owned, not read")] MmapMut),
}

/// An owned block; its address does not change when the value moves.
pub(super) struct Block {
    /// Page-locked for devices, or tried in vain. Before `origin`: it is dropped before the mapping is.
    pin: OnceLock<Option<Box<dyn Pinned>>>,
    /// Copies to and from devices.
    copies: AtomicU32,
    origin: Origin,
    start: NonNull<u8>,
    len: usize,
    /// Bytes from `start` on, all initialised; `len` of them are in use.
    capacity: usize,
}

// SAFETY: a block owns its memory as a `Box<[u8]>` does; only the pointers hide it.
unsafe impl Send for Block {}

impl Block {
    /// A block of `len` bytes, all 0, with room for `capacity` (no less), or `None` where there is no memory for it. The bytes from
    /// `written_from` on will be written: their pages come at once, which takes two thirds of the time that they take one by one as
    /// they are written, and much less than where they are read before: a page that is read first is the system's one page of
    /// zeros, which all processors have to forget when it is written.
    pub(super) fn zeroed(len: usize, capacity: usize, written_from: usize) -> Option<Block> {
        assert!(len <= capacity);
        let written = written_from.min(len)..len;
        if capacity >= MAPPED {
            return Self::mapped(len, capacity, written);
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

    fn mapped(len: usize, capacity: usize, written: Range<usize>) -> Option<Block> {
        let mut mapping = MmapMut::map_anon(capacity).ok()?;
        #[cfg(target_os = "linux")]
        if !written.is_empty() {
            // A system that can't (before Linux 5.14) brings them as they are touched.
            let advice = memmap2::Advice::PopulateWrite;
            let _ = mapping.advise_range(advice, written.start, written.len());
        }
        #[cfg(not(target_os = "linux"))]
        let _ = written;
        // Whole pages, so aligned; the address stays when the value moves.
        let start = NonNull::new(mapping.as_mut_ptr())?;
        assert!(start.align_offset(ALIGNMENT) == 0);
        Some(Block {
            pin: OnceLock::new(),
            copies: AtomicU32::new(0),
            origin: Origin::Mapping(mapping),
            start,
            len,
            capacity,
        })
    }

    fn layout(capacity: usize) -> Option<Layout> {
        let size = capacity.checked_add(ALIGNMENT)?;
        Layout::from_size_align(size, BASE_ALIGNMENT).ok()
    }

    /// Its first byte, aligned to [`ALIGNMENT`]; valid for `len` initialised bytes while the block lives.
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Before each copy between it and `device`: page-locks it if that pays. Only mappings: their pages are theirs alone.
    pub(super) fn pin(&self, device: &dyn Device) -> Pinning {
        if matches!(self.origin, Origin::Heap(_)) {
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
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: `start` is valid for `capacity` initialised bytes (zeroed once, and plain data since), `len` of them at
        // most; they are owned by the block and thus borrowed as it is.
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
