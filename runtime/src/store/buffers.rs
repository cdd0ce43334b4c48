//! The buffers that a task holds: to read, to write, to scatter into.
//!
//! Takes a claim on a slot and its block; gives slices of plain old data, and gives the claim back when dropped. Knows
//! no task. One of the files with unsafe code (see `mod.rs`): the guards keep raw pointers, because a reference kept in
//! a value that is passed to a function must stay valid until that function returns, even if it drops the value.

use super::claim::{Claim, Mode};
use bytemuck::Pod;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A claim that is held, on the memory that it covers.
pub(super) struct Held<'s> {
    pub(super) claim: &'s Claim,
    pub(super) mode: Mode,
    pub(super) start: NonNull<u8>,
    pub(super) len: usize,
}

impl Held<'_> {
    /// The memory as elements of `T`.
    fn cast<T: Pod>(&self) -> (NonNull<T>, usize) {
        const { assert!(size_of::<T>() > 0 && align_of::<T>() <= super::ALIGNMENT) }
        assert!(
            self.len.is_multiple_of(size_of::<T>()),
            "a buffer of {} bytes is no whole number of elements of {} bytes",
            self.len,
            size_of::<T>()
        );
        (self.start.cast(), self.len / size_of::<T>())
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.claim.release(self.mode);
    }
}

/// A buffer to read: a `[T]`, until it is dropped.
pub struct ReadBuffer<'s, T> {
    start: NonNull<T>,
    len: usize,
    _held: Held<'s>,
}

impl<'s, T: Pod> ReadBuffer<'s, T> {
    pub(super) fn new(held: Held<'s>) -> Self {
        debug_assert_eq!(held.mode, Mode::Shared);
        let (start, len) = held.cast();
        ReadBuffer {
            start,
            len,
            _held: held,
        }
    }
}

impl<T: Pod> Deref for ReadBuffer<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `start` is aligned and valid for `len` initialised elements of a type for which every bit pattern is
        // a value (`cast`, `Pod`). The claim keeps the block in its slot and every writer away until `self` is dropped.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

/// A buffer to read and write: a `[T]`, until it is dropped.
pub struct WriteBuffer<'s, T> {
    start: NonNull<T>,
    len: usize,
    _held: Held<'s>,
    _unique: PhantomData<&'s mut [T]>,
}

impl<'s, T: Pod> WriteBuffer<'s, T> {
    pub(super) fn new(held: Held<'s>) -> Self {
        debug_assert_eq!(held.mode, Mode::Exclusive);
        let (start, len) = held.cast();
        WriteBuffer {
            start,
            len,
            _held: held,
            _unique: PhantomData,
        }
    }
}

impl<T: Pod> Deref for WriteBuffer<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: as for `ReadBuffer`; the claim is exclusive.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Pod> DerefMut for WriteBuffer<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and `&mut self` is the only borrow of the only holder of this memory.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

/// A buffer that several tasks write at once, each its own part.
///
/// Writes are relaxed atomic stores of 4 or 8 bytes, so tasks that overlap by mistake leave a mixture of values but no
/// data race; on x86-64 they are plain moves.
pub struct ScatterBuffer<'s, T> {
    start: NonNull<T>,
    len: usize,
    _held: Held<'s>,
}

impl<'s, T: Pod> ScatterBuffer<'s, T> {
    /// How a buffer of `T` is claimed.
    pub(super) const MODE: Mode = if size_of::<T>().is_multiple_of(8) {
        Mode::Words8
    } else {
        Mode::Words4
    };

    pub(super) fn new(held: Held<'s>) -> Self {
        const { assert!(size_of::<T>().is_multiple_of(4), "whole words of 4 bytes") }
        assert_eq!(held.mode, Self::MODE, "words of its size");
        let (start, len) = held.cast();
        ScatterBuffer {
            start,
            len,
            _held: held,
        }
    }

    /// Its length, in elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes `values` to the elements `offset..offset + values.len()`: `buffer[offset + i] = values[i]`.
    ///
    /// Cost: one store per 8 bytes (per 4 where `T` is no multiple of 8 bytes).
    ///
    /// # Panics
    /// If the run does not lie within the buffer.
    pub fn write_run(&self, offset: usize, values: &[T]) {
        assert!(
            offset <= self.len && values.len() <= self.len - offset,
            "a run of {} elements from {offset} in a buffer of {}",
            values.len(),
            self.len
        );
        for (index, &value) in (offset..).zip(values) {
            // SAFETY: the run lies within the buffer, checked above.
            unsafe { self.store(index, value) }
        }
    }

    /// Writes `values` to elements that lie apart: `buffer[offset + (places[i] - first)] = values[i]`.
    ///
    /// Cost: as [`Self::write_run`], and a look at the places beforehand.
    ///
    /// # Panics
    /// If there are not as many places as values, or one of them lies before `first` or behind the buffer.
    pub fn write_each(&self, offset: usize, (places, first): (&[u32], u32), values: &[T]) {
        assert_eq!(places.len(), values.len(), "a place for every value");
        let least = places.iter().fold(u32::MAX, |a, &b| a.min(b));
        let most = places.iter().fold(first, |a, &b| a.max(b));
        let room = self.len.saturating_sub(offset);
        assert!(
            first <= least && (places.is_empty() || ((most - first) as usize) < room),
            "places {least} to {most} of {first} and more, from {offset} in a buffer of {}",
            self.len
        );
        for (&place, &value) in places.iter().zip(values) {
            // SAFETY: `offset` and what lies between `first` and the place make less than the length, checked above.
            unsafe { self.store(offset + (place - first) as usize, value) }
        }
    }

    /// Stores an element, by words.
    ///
    /// # Safety
    /// `index` is less than the length.
    #[inline(always)]
    unsafe fn store(&self, index: usize, value: T) {
        // SAFETY: within the buffer, by the contract.
        let target = unsafe { self.start.as_ptr().add(index) };
        let source = &raw const value;
        if size_of::<T>().is_multiple_of(8) {
            let (source, target) = (source.cast::<u64>(), target.cast::<u64>());
            for i in 0..size_of::<T>() / 8 {
                // SAFETY: word i of `value`, which is initialised plain old data but may be aligned to less.
                let word = unsafe { source.add(i).read_unaligned() };
                // SAFETY: word i of the element. The buffer is aligned to 128 bytes and the element starts a multiple of 8
                // bytes in, as its size is one. The claim keeps readers, writers and scatterers of another word size away;
                // scatterers of this word size store atomically too.
                unsafe { AtomicU64::from_ptr(target.add(i)) }.store(word, Ordering::Relaxed);
            }
        } else {
            let (source, target) = (source.cast::<u32>(), target.cast::<u32>());
            for i in 0..size_of::<T>() / 4 {
                // SAFETY: as above, with words of 4 bytes.
                let word = unsafe { source.add(i).read_unaligned() };
                // SAFETY: as above, with words of 4 bytes.
                unsafe { AtomicU32::from_ptr(target.add(i)) }.store(word, Ordering::Relaxed);
            }
        }
    }

    /// Writes one element.
    ///
    /// # Panics
    /// If there is no element `index`.
    pub fn set(&self, index: usize, value: T) {
        self.write_run(index, std::slice::from_ref(&value));
    }
}

#[cfg(test)]
mod tests {
    use crate::spec::Handle;
    use crate::store::DataStore;
    use bytemuck::Pod;

    /// What a buffer of `len` elements holds when `values` went where `places` say.
    fn scattered<T: Pod>(len: usize, offset: usize, places: (&[u32], u32), values: &[T]) -> Vec<T> {
        let mut store = DataStore::new(1);
        store
            .allocate(Handle(0), len * size_of::<T>())
            .expect("memory");
        let shared = store.share(0);
        let buffer = shared.scatter::<T>(Handle(0));
        buffer.write_each(offset, places, values);
        drop(buffer);
        store.get_as::<T>(Handle(0)).expect("a buffer").to_vec()
    }

    #[test]
    fn each_goes_to_its_place_whatever_its_size() {
        let (places, first) = (&[9, 7, 12][..], 7);
        let got = scattered(9, 3, (places, first), &[1.0f64, 2.0, 3.0]);
        assert_eq!(got, [0.0, 0.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 3.0]);
        let got = scattered(9, 3, (places, first), &[1.0f32, 2.0, 3.0]);
        assert_eq!(got, [0.0, 0.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 3.0]);
        let got = scattered(9, 2, (places, first), &[[1.0f64; 2], [2.0; 2], [3.0; 2]]);
        let wanted = [0.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 3.0, 0.0];
        assert_eq!(got, wanted.map(|x| [x; 2]));
        assert_eq!(scattered::<f64>(2, 5, (&[], 0), &[]), [0.0; 2]);
    }

    #[test]
    #[should_panic(expected = "places 7 to 12 of 7 and more, from 4")]
    fn behind_the_end_is_refused() {
        scattered(9, 4, (&[9, 7, 12], 7), &[1.0f64, 2.0, 3.0]);
    }

    #[test]
    #[should_panic(expected = "places 7 to 12 of 8 and more")]
    fn before_the_first_is_refused() {
        scattered(9, 0, (&[9, 7, 12], 8), &[1.0f64, 2.0, 3.0]);
    }

    #[test]
    #[should_panic(expected = "a place for every value")]
    fn a_value_without_a_place_is_refused() {
        scattered(9, 0, (&[1, 2], 0), &[1.0f64, 2.0, 3.0]);
    }
}
