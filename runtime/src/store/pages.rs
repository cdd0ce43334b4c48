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
//! that was, *idle*: it takes memory for nothing. So does *slack*, what is free in a held slab and there, since it was written or came
//! with the rest of a huge page. It can be given back too, but then the huge page is broken up, and what comes there again is small.

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

/// Shorter runs of slack stay.
const LEAST: usize = (64 << 10) / PAGE;

/// Runs of pages.
pub(super) type Runs = SmallVec<[Range<usize>; 4]>;

/// The pages of a chunk.
pub(super) struct Pages {
    /// By their places in bytes.
    free: Arena,
    /// A bit a page: whether it may hold something else than zeros.
    written: Vec<u64>,
    /// A bit a page: whether it is taken.
    used: Vec<u64>,
    slabs: Vec<Slab>,
    /// The first ones, which come as huge pages.
    huge: usize,
    /// Slabs with none of their pages taken, but written.
    idle: usize,
    /// Pages of the others that are written and not taken.
    slack: usize,
}

/// One slab of them.
#[derive(Clone, Copy, Default)]
struct Slab {
    /// Pages that are taken.
    taken: usize,
    /// Pages that were written.
    written: usize,
    /// It comes as one huge page: all of it with the first byte that is written.
    whole: bool,
}

impl Slab {
    fn is_idle(self) -> bool {
        self.taken == 0 && self.written > 0
    }

    fn slack(self) -> usize {
        match self.taken {
            0 => 0,
            taken if self.whole => PAGES - taken,
            taken => self.written - taken,
        }
    }
}

/// Pages that were free.
pub(super) struct Taken {
    /// The first of them.
    pub(super) first: usize,
    /// Those that may hold something.
    pub(super) holding: Runs,
    /// Some of them come in small pages.
    pub(super) small: bool,
}

impl Pages {
    /// All pages of `slabs` slabs, free and zero; those of the first `huge` ones come as huge pages, the others as small ones.
    pub(super) fn new(slabs: usize, huge: usize) -> Self {
        let slab = |number: usize| Slab {
            whole: number < huge,
            ..Slab::default()
        };
        Pages {
            free: Arena::new(0, (slabs * SLAB) as u64),
            written: vec![0; (slabs * PAGES).div_ceil(64)],
            used: vec![0; (slabs * PAGES).div_ceil(64)],
            slabs: (0..slabs).map(slab).collect(),
            huge,
            idle: 0,
            slack: 0,
        }
    }

    /// `pages` pages in a row, the caller's from now on; `None` where no free run is so long. They count as written.
    pub(super) fn take(&mut self, pages: usize) -> Option<Taken> {
        let first = self.free.take((pages * PAGE) as u64)? as usize / PAGE;
        let all = first..first + pages;
        let holding = runs(all.clone(), |word| self.written[word]);
        let slabs = &self.slabs[first / PAGES..all.end.div_ceil(PAGES)];
        let small = slabs.iter().any(|slab| !slab.whole);
        self.set(all, true, true);
        Some(Taken {
            first,
            holding,
            small,
        })
    }

    /// Takes them back; `zero` where all of them hold zeros that the system has not brought yet.
    pub(super) fn give(&mut self, pages: Range<usize>, zero: bool) {
        let bytes = (pages.start * PAGE, pages.len() * PAGE);
        self.free.give(bytes.0 as u64, bytes.1 as u64);
        self.set(pages, false, !zero);
    }

    /// Up to `most` idle slabs in a row, the last there are, as pages that are the caller's from now on.
    pub(super) fn take_idle(&mut self, most: usize) -> Option<Range<usize>> {
        if self.idle == 0 {
            return None;
        }
        let last = self.slabs.iter().rposition(|slab| slab.is_idle())?;
        let before = self.slabs[..last].iter().rev();
        let more = before.take_while(|slab| slab.is_idle()).count();
        let first = last - more.min(most.saturating_sub(1));
        let pages = first * PAGES..(last + 1) * PAGES;
        self.take_at(pages.clone());
        for (number, slab) in self.slabs[..=last].iter_mut().enumerate().skip(first) {
            slab.whole = number < self.huge;
        }
        Some(pages)
    }

    /// Slabs of which no page has come are of small pages from now on.
    pub(super) fn come_small(&mut self) {
        self.huge = 0;
        for slab in self.slabs.iter_mut().filter(|slab| slab.written == 0) {
            slab.whole = false;
        }
    }

    /// Some slack, as runs of pages that are the caller's from now on.
    pub(super) fn take_slack(&mut self) -> Option<Runs> {
        let mut found = Runs::new();
        let slabs = self.slabs.len();
        for slab in (0..slabs).filter(|&slab| self.slabs[slab].slack() >= LEAST) {
            let there = |word: usize| match self.slabs[slab].whole {
                true => u64::MAX,
                false => self.written[word],
            };
            let free = |word: usize| there(word) & !self.used[word];
            let runs = runs(slab * PAGES..(slab + 1) * PAGES, free);
            found.extend(runs.into_iter().filter(|run| run.len() >= LEAST));
            if found.len() >= found.inline_size() {
                break;
            }
        }
        for run in &found {
            self.take_at(run.clone());
        }
        for run in &found {
            let slab = run.start / PAGES;
            let before = self.slabs[slab];
            self.slabs[slab].whole = false;
            self.slack = self.slack + self.slabs[slab].slack() - before.slack();
        }
        (!found.is_empty()).then_some(found)
    }

    fn take_at(&mut self, pages: Range<usize>) {
        let bytes = (pages.start * PAGE, pages.len() * PAGE);
        let free = self.free.take_at(bytes.0 as u64, bytes.1 as u64);
        assert!(free, "somebody has a page of {pages:?}");
        self.set(pages, true, true);
    }

    /// Bytes of slabs with no page that is taken, but with one that may hold something.
    pub(super) fn idle_bytes(&self) -> u64 {
        (self.idle * SLAB) as u64
    }

    /// Bytes of the other slabs that may hold something and that nobody has.
    pub(super) fn slack_bytes(&self) -> u64 {
        (self.slack * PAGE) as u64
    }

    /// Bytes that are taken.
    pub(super) fn taken_bytes(&self) -> u64 {
        self.free.used_bytes()
    }

    /// Bytes in all.
    pub(super) fn bytes(&self) -> u64 {
        self.free.bytes()
    }

    /// Marks pages, and keeps the counts.
    fn set(&mut self, pages: Range<usize>, used: bool, written: bool) {
        for slab in pages.start / PAGES..pages.end.div_ceil(PAGES) {
            let (first, end) = (slab * PAGES, (slab + 1) * PAGES);
            let before = self.slabs[slab];
            for (word, mask) in words(pages.start.max(first)..pages.end.min(end)) {
                put(&mut self.used[word], mask, used);
                put(&mut self.written[word], mask, written);
            }
            let count = |bits: &[u64]| {
                words(first..end)
                    .map(|(word, mask)| (bits[word] & mask).count_ones() as usize)
                    .sum()
            };
            let after = Slab {
                taken: count(&self.used),
                written: count(&self.written),
                ..before
            };
            self.slabs[slab] = after;
            self.idle = self.idle + usize::from(after.is_idle()) - usize::from(before.is_idle());
            self.slack = self.slack + after.slack() - before.slack();
        }
    }
}

fn put(word: &mut u64, mask: u64, to: bool) {
    match to {
        true => *word |= mask,
        false => *word &= !mask,
    }
}

/// Those of `pages` whose bits are set.
fn runs(pages: Range<usize>, bits: impl Fn(usize) -> u64) -> Runs {
    let mut runs = Runs::new();
    let mut add = |run: Range<usize>| match runs.last_mut() {
        Some(last) if last.end == run.start => last.end = run.end,
        _ => runs.push(run),
    };
    for (word, mask) in words(pages) {
        let mut bits = bits(word) & mask;
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
    use std::slice::from_ref;

    #[test]
    fn what_was_written_is_told_and_slabs_are_counted() {
        let mut pages = Pages::new(3, 0);
        let counts = |pages: &Pages| (pages.idle, pages.slack);
        let most = SLAB / PAGE;
        let a = pages.take(most - 3).unwrap();
        let b = pages.take(5).unwrap();
        assert_eq!((a.first, b.first), (0, most - 3));
        assert!(a.holding.is_empty() && b.holding.is_empty());
        assert_eq!(counts(&pages), (0, 0));
        assert_eq!(pages.taken_bytes(), ((most + 2) * PAGE) as u64);
        pages.give(0..most - 3, false);
        assert_eq!((counts(&pages), pages.take_idle(9)), ((0, most - 3), None));
        // The best fit for less, and what the first held.
        let c = pages.take(70).unwrap();
        assert_eq!(
            (c.first, &c.holding[..], c.small),
            (0, from_ref(&(0..70)), true)
        );
        pages.give(0..70, false);
        pages.give(b.first..b.first + 5, false);
        assert_eq!(counts(&pages), (2, 0));
        // One joined run again; two pages of the second slab were written.
        let all = pages.take(3 * most).unwrap();
        assert_eq!((all.first, &all.holding[..]), (0, from_ref(&(0..most + 2))));
        pages.give(0..3 * most, false);
        assert_eq!(pages.take_idle(2), Some(most..3 * most));
        assert_eq!(counts(&pages), (1, 0));
        assert!(pages.take(most + 1).is_none());
        pages.give(most..3 * most, true);
        let last = pages.take(3 * most).unwrap();
        assert_eq!(&last.holding[..], from_ref(&(0..most)));
        pages.give(0..2 * most, false);
        pages.give(2 * most..3 * most, true);
        assert_eq!(counts(&pages), (2, 0));
    }

    #[test]
    fn slack_goes_in_runs_that_are_worth_it() {
        let mut pages = Pages::new(2, 2);
        let most = SLAB / PAGE;
        assert!(pages.take(2 * most).is_some());
        pages.give(0..LEAST, false);
        pages.give(LEAST + 1..2 * LEAST, false);
        pages.give(most..2 * most, false);
        assert_eq!((pages.idle, pages.slack), (1, 2 * LEAST - 1));
        let found = pages.take_slack().unwrap();
        assert_eq!(
            (&found[..], pages.slack),
            (from_ref(&(0..LEAST)), LEAST - 1)
        );
        pages.give(0..LEAST, true);
        assert_eq!(pages.slack, LEAST - 1);
        assert!(pages.take_slack().is_none());
        // It comes again in small pages; the slab beside it does not.
        let small = pages.take(LEAST).unwrap();
        assert!(small.first == 0 && small.small && small.holding.is_empty());
        assert!(!pages.take(most).unwrap().small);
        pages.give(0..LEAST, false);
        pages.give(LEAST..LEAST + 1, false);
        pages.give(2 * LEAST..most, false);
        assert_eq!(pages.take_idle(1), Some(0..most));
        pages.give(0..most, true);
        // One page, and with it the rest.
        assert!(!pages.take(1).unwrap().small && pages.slack == most - 1);
    }
}
