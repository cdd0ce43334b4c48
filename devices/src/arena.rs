//! Memory that was taken once, cut into blocks: no block of a device costs a call to the driver, none of the host one to the system.
//!
//! Takes a range of addresses; gives blocks of it and takes them back, neighbours joined. Knows no device. Best fit: the smallest
//! free range that is large enough, of equals the first; so large ranges last.

use std::collections::{BTreeMap, BTreeSet};

/// Blocks begin at multiples of this, as those of CUDA's own allocator.
const ALIGNMENT: u64 = 256;

/// A range of addresses with its free parts.
#[derive(Debug)]
pub struct Arena {
    start: u64,
    bytes: u64,
    /// Free ranges: length by address.
    by_address: BTreeMap<u64, u64>,
    /// The same: length, address.
    by_length: BTreeSet<(u64, u64)>,
    used_bytes: u64,
}

impl Arena {
    /// All of `start..start + bytes` is free.
    ///
    /// # Panics
    /// If `start` is not aligned.
    pub fn new(start: u64, bytes: u64) -> Self {
        assert!(start.is_multiple_of(ALIGNMENT), "{start:#x} is not aligned");
        let bytes = bytes / ALIGNMENT * ALIGNMENT;
        let mut arena = Arena {
            start,
            bytes,
            by_address: BTreeMap::new(),
            by_length: BTreeSet::new(),
            used_bytes: 0,
        };
        if bytes > 0 {
            arena.insert(start, bytes);
        }
        arena
    }

    /// The address of its first byte.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Bytes in all.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that blocks take.
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes
    }

    /// What a block of `bytes` takes.
    pub fn rounded(bytes: u64) -> u64 {
        bytes.max(1).div_ceil(ALIGNMENT).saturating_mul(ALIGNMENT)
    }

    /// The address of a block of `bytes`, or `None` if no free range is so long.
    pub fn take(&mut self, bytes: u64) -> Option<u64> {
        let length = Self::rounded(bytes);
        let &(free, address) = self.by_length.range((length, 0)..).next()?;
        self.remove(address, free);
        if free > length {
            self.insert(address + length, free - length);
        }
        self.used_bytes += length;
        Some(address)
    }

    /// Makes `address..address + bytes` a block, and says so if all of it was free; `address` is a multiple of 256 as all blocks' are.
    pub fn take_at(&mut self, address: u64, bytes: u64) -> bool {
        let length = Self::rounded(bytes);
        let before = self.by_address.range(..=address).next_back();
        let Some((&free, &long)) = before else {
            return false;
        };
        let (end, free_end) = (address + length, free + long);
        if end > free_end {
            return false;
        }
        self.remove(free, long);
        if free < address {
            self.insert(free, address - free);
        }
        if end < free_end {
            self.insert(end, free_end - end);
        }
        self.used_bytes += length;
        true
    }

    /// Takes a block of `bytes` back.
    pub fn give(&mut self, address: u64, bytes: u64) {
        let (mut address, mut length) = (address, Self::rounded(bytes));
        self.used_bytes -= length;
        if let Some((&before, &free)) = self.by_address.range(..address).next_back()
            && before + free == address
        {
            self.remove(before, free);
            (address, length) = (before, length + free);
        }
        if let Some(&free) = self.by_address.get(&(address + length)) {
            self.remove(address + length, free);
            length += free;
        }
        self.insert(address, length);
    }

    fn insert(&mut self, address: u64, length: u64) {
        self.by_address.insert(address, length);
        self.by_length.insert((length, address));
    }

    fn remove(&mut self, address: u64, length: u64) {
        self.by_address.remove(&address);
        self.by_length.remove(&(length, address));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_fit_and_joined_neighbours() {
        let mut arena = Arena::new(0x1000, 10 * 256 + 17);
        assert_eq!((arena.start(), arena.bytes()), (0x1000, 2560));
        let blocks: Vec<u64> = (0..5).map(|_| arena.take(512).unwrap()).collect();
        assert_eq!(blocks, [0x1000, 0x1200, 0x1400, 0x1600, 0x1800]);
        assert_eq!(arena.take(1), None);
        // Holes of 512 and of 1024: the smaller one serves first.
        arena.give(blocks[0], 512);
        arena.give(blocks[2], 512);
        arena.give(blocks[3], 512);
        assert_eq!(arena.take(300), Some(0x1000));
        assert_eq!(arena.take(513), Some(0x1400));
        assert_eq!(arena.used_bytes(), 3 * 512 + 768);
        arena.give(0x1400, 513);
        arena.give(0x1000, 300);
        arena.give(blocks[1], 512);
        arena.give(blocks[4], 512);
        assert_eq!((arena.used_bytes(), arena.by_address.len()), (0, 1));
        assert_eq!(arena.take(2560), Some(0x1000));
    }

    #[test]
    fn a_place_is_taken_if_it_is_free() {
        let mut arena = Arena::new(0x1000, 10 * 256);
        assert!(!arena.take_at(0, 256) && !arena.take_at(0x1900, 513));
        assert!(arena.take_at(0x1200, 512) && !arena.take_at(0x1300, 256));
        assert!(arena.take_at(0x1000, 512) && arena.take_at(0x1900, 256));
        assert_eq!(arena.by_address, BTreeMap::from([(0x1400, 5 * 256)]));
        for (address, bytes) in [(0x1200, 512), (0x1900, 256), (0x1000, 512)] {
            arena.give(address, bytes);
        }
        assert_eq!(arena.take(2560), Some(0x1000));
    }

    #[test]
    fn random_blocks_never_overlap() {
        let (mut arena, mut seed) = (Arena::new(0, 1 << 16), 1u64);
        let mut random = |n: u64| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        let mut held: Vec<(u64, u64)> = Vec::new();
        for _ in 0..5000 {
            if random(2) == 0 {
                let bytes = 1 + random(5000);
                if let Some(address) = arena.take(bytes) {
                    assert!(address + bytes <= 1 << 16);
                    for &(other, length) in &held {
                        assert!(address + bytes <= other || other + length <= address);
                    }
                    held.push((address, bytes));
                }
            } else if !held.is_empty() {
                let (address, bytes) = held.swap_remove(random(held.len() as u64) as usize);
                arena.give(address, bytes);
            }
            let used: u64 = held.iter().map(|&(_, bytes)| Arena::rounded(bytes)).sum();
            assert_eq!(arena.used_bytes(), used);
        }
    }
}
