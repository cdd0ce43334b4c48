//! The pages of one chunk: which are free, which may hold something, and which give a slab of memory back.
//!
//! Takes a number of pages; gives runs of them and takes them back. Knows no address and no memory: numbers only, safe code.
//!
//! ```text
//!   pages      |a a a a a . . b|b b . . . . . .|. . . . . . . .|        a, b   taken
//!   written     1 1 1 1 1 1 0 1 1 1 1 0 0 0 0 0 1 1 1 0 0 0 0 0         0      all zeros, as it came from the system
//!   slabs      |     held      |     held      |     idle      |
//! ```
//!
//! A slab is what the system brings and takes at once: a huge page. With a page of it taken it is *held*; with none, but with one
//! that was, *idle*: it takes memory for nothing. What is free in a held slab is *slack*.

use smallvec::SmallVec;
use std::ops::Range;
use treeqr_devices::Arena;

/// The least that a block takes, in bytes: a page of memory or some, so that no two blocks share one.
pub(super) const PAGE: usize = if cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
    4 << 10
} else {
    64 << 10
};

/// A huge page of memory, in bytes.
pub(super) const SLAB: usize = 2 << 20;

/// Pages of a slab.
const PAGES: usize = SLAB / PAGE;

/// Runs of pages.
pub(super) type Runs = SmallVec<[Range<usize>; 4]>;

/// The pages of a chunk.
pub(super) struct Pages {
    /// By their places in bytes.
    free: Arena,
    /// A bit a page: whether it may hold something else than zeros.
    written: Vec<u64>,
    /// Pages that are taken, by slab.
    taken: Vec<usize>,
    held: usize,
    idle: usize,
}

impl Pages {
    /// All pages of `slabs` slabs, free and zero.
    pub(super) fn new(slabs: usize) -> Self {
        Pages {
            free: Arena::new(0, (slabs * SLAB) as u64),
            written: vec![0; (slabs * PAGES).div_ceil(64)],
            taken: vec![0; slabs],
            held: 0,
            idle: 0,
        }
    }

    /// The first of `pages` pages in a row that are the caller's from now on, and those of them that may hold something; `None`
    /// where no free run is so long. They count as written.
    pub(super) fn take(&mut self, pages: usize) -> Option<(usize, Runs)> {
        let first = self.free.take((pages * PAGE) as u64)? as usize / PAGE;
        let all = first..first + pages;
        let holding = self.runs(all.clone());
        self.recount(all, |pages, part| {
            pages.mark(part.clone(), true);
            pages.taken[part.start / PAGES] += part.len();
        });
        Some((first, holding))
    }

    /// Takes them back; `zero` where all of them hold zeros that the system has not brought yet.
    pub(super) fn give(&mut self, pages: Range<usize>, zero: bool) {
        let bytes = (pages.start * PAGE, pages.len() * PAGE);
        self.free.give(bytes.0 as u64, bytes.1 as u64);
        self.recount(pages, |pages, part| {
            pages.taken[part.start / PAGES] -= part.len();
            if zero {
                pages.mark(part, false);
            }
        });
    }

    /// Up to `most` idle slabs in a row, the last there are, as pages that are the caller's from now on.
    pub(super) fn take_idle(&mut self, most: usize) -> Option<Range<usize>> {
        if self.idle == 0 {
            return None;
        }
        let last = (0..self.taken.len()).rfind(|&slab| self.is_idle(slab))?;
        let before = (0..last).rev().take(most.saturating_sub(1));
        let first = before
            .take_while(|&slab| self.is_idle(slab))
            .last()
            .unwrap_or(last);
        let slabs = first..last + 1;
        let bytes = (first * SLAB, slabs.len() * SLAB);
        let free = self.free.take_at(bytes.0 as u64, bytes.1 as u64);
        assert!(free, "no page of an idle slab is taken");
        let pages = slabs.start * PAGES..slabs.end * PAGES;
        self.recount(pages.clone(), |pages, part| {
            pages.taken[part.start / PAGES] += part.len();
        });
        Some(pages)
    }

    /// Slabs with a page that is taken.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Slabs with none, but with one that may hold something.
    pub(super) fn idle(&self) -> usize {
        self.idle
    }

    /// Bytes that are taken.
    pub(super) fn taken_bytes(&self) -> u64 {
        self.free.used_bytes()
    }

    /// Bytes in all.
    pub(super) fn bytes(&self) -> u64 {
        self.free.bytes()
    }

    /// Does `change` to the part of `pages` in each slab, and keeps the counts of slabs.
    fn recount(&mut self, pages: Range<usize>, change: impl Fn(&mut Self, Range<usize>)) {
        for slab in pages.start / PAGES..pages.end.div_ceil(PAGES) {
            let own = slab * PAGES..(slab + 1) * PAGES;
            let part = pages.start.max(own.start)..pages.end.min(own.end);
            self.held -= usize::from(self.taken[slab] > 0);
            self.idle -= usize::from(self.is_idle(slab));
            change(self, part);
            self.held += usize::from(self.taken[slab] > 0);
            self.idle += usize::from(self.is_idle(slab));
        }
    }

    fn is_idle(&self, slab: usize) -> bool {
        let own = slab * PAGES..(slab + 1) * PAGES;
        self.taken[slab] == 0 && words(own).any(|(word, mask)| self.written[word] & mask != 0)
    }

    fn mark(&mut self, pages: Range<usize>, written: bool) {
        for (word, mask) in words(pages) {
            match written {
                true => self.written[word] |= mask,
                false => self.written[word] &= !mask,
            }
        }
    }

    /// Those of `pages` that may hold something.
    fn runs(&self, pages: Range<usize>) -> Runs {
        let mut runs = Runs::new();
        let mut add = |run: Range<usize>| match runs.last_mut() {
            Some(last) if last.end == run.start => last.end = run.end,
            _ => runs.push(run),
        };
        for (word, mask) in words(pages) {
            let mut bits = self.written[word] & mask;
            while bits != 0 {
                let first = bits.trailing_zeros();
                let len = (bits >> first).trailing_ones();
                let start = word * 64 + first as usize;
                add(start..start + len as usize);
                bits &= !(u64::MAX >> (64 - len) << first);
            }
        }
        runs
    }
}

/// The words with bits of `pages`, and these bits.
fn words(pages: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    (pages.start / 64..pages.end.div_ceil(64)).map(move |word| {
        let first = pages.start.max(word * 64) - word * 64;
        let end = pages.end.min(word * 64 + 64) - word * 64;
        (word, u64::MAX >> (64 - (end - first)) << first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_told_and_slabs_are_counted() {
        let mut pages = Pages::new(3);
        let counts = |pages: &Pages| (pages.held(), pages.idle());
        let most = SLAB / PAGE;
        let (a, holding) = pages.take(most - 3).unwrap();
        let (b, none) = pages.take(5).unwrap();
        assert_eq!((a, b, holding.len(), none.len()), (0, most - 3, 0, 0));
        assert_eq!(counts(&pages), (2, 0));
        assert_eq!(pages.taken_bytes(), ((most + 2) * PAGE) as u64);
        pages.give(0..most - 3, false);
        assert_eq!((counts(&pages), pages.take_idle(9)), ((2, 0), None));
        // The best fit for less, and what the first held.
        let (c, holding) = pages.take(70).unwrap();
        assert_eq!((c, &holding[..]), (0, &[0..70][..]));
        pages.give(0..70, false);
        pages.give(b..b + 5, false);
        assert_eq!(counts(&pages), (0, 2));
        // One joined run again; three pages of it were written last.
        let (all, holding) = pages.take(3 * most).unwrap();
        assert_eq!((all, &holding[..]), (0, &[0..most + 2][..]));
        pages.give(0..3 * most, false);
        assert_eq!(pages.take_idle(2), Some(most..3 * most));
        assert_eq!((counts(&pages), pages.take(most + 1)), ((2, 1), None));
        pages.give(most..3 * most, true);
        let (_, holding) = pages.take(2 * most).unwrap();
        assert_eq!(&holding[..], &[0..most]);
        pages.give(0..2 * most, false);
        assert_eq!(counts(&pages), (0, 2));
    }
}
