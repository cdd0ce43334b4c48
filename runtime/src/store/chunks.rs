//! Large blocks: pages of chunks that are taken from the system once.
//!
//! Takes sizes; gives extents of whole pages, and their memory back to the system as long as nobody has it. Knows no handle. One of
//! the files with unsafe code (see `mod.rs`).
//!
//! Why: a mapping for each block takes a fault for each of its small pages, and a table of the process that all threads change; with
//! sixteen workers on fronts of a few megabytes a third of their time. A chunk is advised to be of huge pages; taking and freeing an
//! extent is a few steps under a lock, without a call to the system, and a page that nobody writes costs nothing. Where huge pages turn out
//! to come slowly, the rest comes in small ones ([`HugeCost`]).
//!
//! An extent comes from the first chunk with a free run that is long enough, and there from the shortest one: so late chunks empty.
//! Chunks stay, in their order, until [`Chunks::release`]: who takes and frees the same sizes in the same order a second time gets the
//! same extents.
//!
//! # Why it is sound
//! * Nobody here reads or writes memory; extents are disjoint by [`Pages`], and their pages are initialised: by the system, with
//!   zeros, or by whoever had them before.
//! * Memory is given back (pages become zero again under their address) in runs of pages that were taken like an extent, so no extent
//!   has one of them; a block's page-lock ends before its extent does (`block.rs`).
//! * A chunk is unmapped when no page of it is taken, or with the last extent: each keeps all chunks alive.

use super::huge::HugeCost;
use super::pages::{PAGE, Pages, Runs, SLAB, Taken};
use crate::sync::{Arc, AtomicU64, Mutex, Ordering, lock};
use memmap2::{MmapMut, MmapRaw};
use std::ops::{Range, RangeInclusive};
use std::ptr::NonNull;
use std::time::{Duration, Instant};

/// The smallest and the largest chunk, in bytes, if no block needs a larger one. Between them a chunk is as large as all before it.
const SIZES: RangeInclusive<usize> = 16 << 20..=64 << 20;

/// A first chunk of so many slabs is of small pages, unless as many bytes are expected: a small run must not take two megabytes for every
/// block.
const SMALL: usize = *SIZES.start() / SLAB;
const EXPECTED: u64 = *SIZES.start() as u64;

/// Blocks of so many bytes are extents, whose pages go back to the system: allocators keep them, in holes that the next front's blocks do not
/// fit in (on lp-20000 a fifth of the process's memory). Below it they cost a call to the system each for pages that an allocator may have
/// already, ...
pub(super) const LARGE: usize = 256 << 10;
/// ... which it has not for so many bytes. Then smaller ones are extents too: their pages come all at once, or huge.
const MANY: u64 = 8 << 20;
const LARGE_OF_MANY: usize = 32 << 10;

/// So many huge pages of an extent come when it is taken, to see how long they take; the others when they are written, by as many threads as
/// write them.
const TIMED: usize = 4;

/// Slabs that are given back at once.
const AT_ONCE: u64 = 8;

/// Slack may be this part of what is taken, as a power of two, whatever is asked for: to give it back breaks huge pages up.
const SLACK_LOG2: u32 = 8;

/// All chunks of a store.
pub(super) struct Chunks {
    chunks: Mutex<Vec<Option<Chunk>>>,
    /// Bytes of idle slabs.
    idle: AtomicU64,
    /// Bytes of slack.
    slack: AtomicU64,
    /// Bytes of extents.
    taken: AtomicU64,
    /// Bytes that somebody is going to take.
    expected: AtomicU64,
    /// So many bytes come in huge pages at most.
    huge_bytes: AtomicU64,
    huge: HugeCost,
}

impl Default for Chunks {
    fn default() -> Self {
        Chunks {
            chunks: Mutex::new(Vec::new()),
            idle: AtomicU64::new(0),
            slack: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            expected: AtomicU64::new(0),
            huge_bytes: AtomicU64::new(u64::MAX),
            huge: HugeCost::default(),
        }
    }
}

struct Chunk {
    pages: Pages,
    mapping: Arc<Mapping>,
}

/// Memory from the system.
struct Mapping {
    memory: MmapRaw,
    /// Bytes before its first slab.
    skip: usize,
    /// Its first slabs, of which huge pages come when they are touched.
    huge: usize,
}

/// Pages in a row that are one block's.
pub(super) struct Extent {
    chunks: Arc<Chunks>,
    chunk: usize,
    pages: Range<usize>,
    mapping: Arc<Mapping>,
    /// Its pages come one by one.
    small: bool,
    /// No page of it had been taken before, or was since the system had it last.
    fresh: bool,
    /// All of them had.
    recycled: bool,
    /// Nobody has written it since.
    untouched: bool,
}

impl Chunks {
    /// An extent of at least `bytes` bytes, and the parts of it, in bytes, that may hold something else than zeros; `None` where
    /// there is no memory.
    pub(super) fn take(chunks: &Arc<Self>, bytes: usize) -> Option<(Extent, Runs)> {
        let pages = bytes.max(1).div_ceil(PAGE);
        let found = chunks.find(&mut lock(&chunks.chunks), pages, 0);
        let (chunk, mapping, taken) = found.or_else(|| chunks.add(pages))?;
        let (first, mut holding) = (taken.first, taken.holding);
        for run in &mut holding {
            *run = (run.start - first) * PAGE..(run.end - first) * PAGE;
        }
        let extent = Extent {
            chunks: chunks.clone(),
            chunk,
            pages: first..first + pages,
            fresh: holding.is_empty(),
            small: taken.small,
            recycled: holding.first() == Some(&(0..pages * PAGE)),
            untouched: false,
            mapping,
        };
        Some((extent, holding))
    }

    /// Whether blocks of `bytes` bytes are extents.
    pub(super) fn are_for(&self, bytes: usize) -> bool {
        let least = match self.expected.load(Ordering::Relaxed) {
            MANY.. => LARGE_OF_MANY,
            _ => LARGE,
        };
        bytes >= least
    }

    /// So many bytes are going to be taken, and at most so many at a time: what lies beyond comes in small pages, as a huge one there
    /// would hold little.
    pub(super) fn expect(&self, bytes: u64, most: u64) {
        self.expected.store(bytes, Ordering::Relaxed);
        self.huge_bytes.store(most, Ordering::Relaxed);
    }

    /// Looks in the chunks from number `from` on.
    fn find(&self, chunks: &mut [Option<Chunk>], pages: usize, from: usize) -> Option<Found> {
        let later = chunks.iter_mut().enumerate().skip(from);
        for (k, chunk) in later.filter_map(|(k, chunk)| Some((k, chunk.as_mut()?))) {
            let taken = self.counted(&mut chunk.pages, |it| it.take(pages));
            if let Some(taken) = taken {
                return Some((k, chunk.mapping.clone(), taken));
            }
        }
        None
    }

    /// From a new chunk, unless another thread makes one meanwhile that will do.
    #[cold]
    fn add(&self, pages: usize) -> Option<Found> {
        let (before, number) = {
            let chunks = lock(&self.chunks);
            let sizes = chunks.iter().flatten().map(|chunk| chunk.pages.bytes());
            (sizes.sum::<u64>() as usize, chunks.len())
        };
        let least = pages.div_ceil(SLAB / PAGE);
        let slabs = least.max(before.clamp(*SIZES.start(), *SIZES.end()) / SLAB);
        let many = !self.huge.is_dear()
            && (before > 0 || self.expected.load(Ordering::Relaxed) >= EXPECTED || least > SMALL);
        let huge = match many {
            true => self.huge_bytes.load(Ordering::Relaxed),
            false => 0,
        };
        let huge = huge.saturating_sub(before as u64) / SLAB as u64;
        let new = |slabs| Some((slabs, Mapping::new(slabs, slabs.min(huge as usize))?));
        let (slabs, mapping) = new(slabs).or_else(|| new(least))?;
        let mut chunk = Chunk {
            pages: Pages::new(slabs, mapping.huge),
            mapping: Arc::new(mapping),
        };
        let mut chunks = lock(&self.chunks);
        if self.huge.is_dear() {
            // Since it was begun.
            chunk.mapping.come_small();
            chunk.pages.come_small();
        }
        let found = self.find(&mut chunks, pages, number);
        if found.is_some() {
            drop(chunks);
            return found;
        }
        let taken = self.counted(&mut chunk.pages, |it| it.take(pages))?;
        let found = (chunks.len(), chunk.mapping.clone(), taken);
        chunks.push(Some(chunk));
        Some(found)
    }

    /// What a huge page took to come, where that was too long and small ones are taken.
    pub(super) fn dear_page(&self) -> Option<Duration> {
        self.huge.dear_page()
    }

    /// A huge page took so long to come: if that was too long, all that are to come are small.
    fn came_in(&self, time: Duration) {
        if !self.huge.came_in(time) {
            return;
        }
        for chunk in lock(&self.chunks).iter_mut().flatten() {
            chunk.mapping.come_small();
            self.counted(&mut chunk.pages, Pages::come_small);
        }
    }

    /// Changes `pages`, and the sums by what that changes.
    fn counted<R>(&self, pages: &mut Pages, change: impl FnOnce(&mut Pages) -> R) -> R {
        let sums = |pages: &Pages| [pages.idle_bytes(), pages.slack_bytes(), pages.taken_bytes()];
        let before = sums(pages);
        let result = change(pages);
        let after = sums(pages);
        for (k, sum) in [&self.idle, &self.slack, &self.taken]
            .into_iter()
            .enumerate()
        {
            // Wrapping: a sum of numbers that are not negative.
            sum.fetch_add(after[k].wrapping_sub(before[k]), Ordering::Relaxed);
        }
        result
    }

    /// Bytes of whole slabs that nobody has.
    pub(super) fn idle_bytes(&self) -> u64 {
        self.idle.load(Ordering::Relaxed)
    }

    /// Bytes that nobody has, in slabs that somebody has.
    pub(super) fn slack_bytes(&self) -> u64 {
        self.slack.load(Ordering::Relaxed)
    }

    /// Gives unused memory back to the system until there are no more than `keep` bytes: idle slabs, those of late chunks first; then
    /// slack, as far as it is more than a part of what is in use.
    pub(super) fn trim(&self, keep: u64) {
        loop {
            let more = (self.idle_bytes() + self.slack_bytes()).saturating_sub(keep);
            if more == 0 || self.idle_bytes() == 0 {
                break;
            }
            let slabs = more.div_ceil(SLAB as u64).min(AT_ONCE) as usize;
            let idle = |pages: &mut Pages| Some(Runs::from_iter([pages.take_idle(slabs)?]));
            if !self.empty(idle) {
                break;
            }
        }
        let taken = self.taken.load(Ordering::Relaxed);
        let keep = keep.saturating_add(taken >> SLACK_LOG2);
        while self.slack_bytes() > keep && self.empty(Pages::take_slack) {}
    }

    /// Gives the memory of pages back that `find` takes in the last chunk where it can; says whether there was any.
    fn empty(&self, find: impl Fn(&mut Pages) -> Option<Runs>) -> bool {
        let mut chunks = lock(&self.chunks);
        let found = chunks.iter_mut().enumerate().rev().find_map(|(k, chunk)| {
            let chunk = chunk.as_mut()?;
            let runs = self.counted(&mut chunk.pages, &find)?;
            Some((k, runs, chunk.mapping.clone()))
        });
        drop(chunks);
        let Some((k, runs, mapping)) = found else {
            return false;
        };
        let mut all = true;
        for pages in runs {
            let done = mapping.empty(pages.clone());
            self.give(k, pages, done);
            all &= done;
        }
        all
    }

    /// Gives all memory back that nobody has, and unmaps chunks of which nobody has a page.
    pub(super) fn release(&self) {
        let mut unused = Vec::new();
        let mut chunks = lock(&self.chunks);
        for chunk in chunks.iter_mut() {
            if let Some(found) = chunk.take_if(|chunk| chunk.pages.taken_bytes() == 0) {
                let idle = found.pages.idle_bytes();
                self.idle.fetch_sub(idle, Ordering::Relaxed);
                unused.push(found);
            }
        }
        let last = chunks.iter().rposition(Option::is_some);
        chunks.truncate(last.map_or(0, |last| last + 1));
        if chunks.is_empty() {
            self.huge.forget();
        }
        drop(chunks);
        drop(unused);
        self.trim(0);
    }

    fn give(&self, chunk: usize, pages: Range<usize>, zero: bool) {
        let mut chunks = lock(&self.chunks);
        let chunk = chunks[chunk].as_mut().expect("it is in use");
        self.counted(&mut chunk.pages, |it| it.give(pages, zero));
    }
}

/// Number of a chunk, its mapping, and pages of it.
type Found = (usize, Arc<Mapping>, Taken);

impl Mapping {
    /// `slabs` slabs, of which the first `huge` ones are to come as huge pages.
    fn new(slabs: usize, huge: usize) -> Option<Mapping> {
        let len = slabs.checked_mul(SLAB)?.checked_add(SLAB)?;
        let memory = MmapRaw::from(MmapMut::map_anon(len).ok()?);
        let skip = memory.as_ptr().align_offset(SLAB);
        assert!(skip < SLAB);
        let mapping = Mapping { memory, skip, huge };
        #[cfg(all(target_os = "linux", not(miri)))]
        let mapping = mapping.advised(slabs);
        Some(mapping)
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    fn advised(mut self, slabs: usize) -> Self {
        use memmap2::Advice::{HugePage, NoHugePage};
        let advise = |advice, slabs: Range<usize>| {
            let start = self.skip + slabs.start * SLAB;
            let done = self.memory.advise_range(advice, start, slabs.len() * SLAB);
            slabs.is_empty() || done.is_ok()
        };
        if self.huge > 0 {
            let huge = huge_pages() && advise(HugePage, 0..self.huge);
            // A system that gives huge pages to all is told where they are not wanted.
            self.huge = match huge {
                true if advise(NoHugePage, self.huge..slabs) => self.huge,
                true => slabs,
                false => 0,
            };
        }
        self
    }

    /// What is not there yet will come in small pages.
    fn come_small(&self) {
        #[cfg(all(target_os = "linux", not(miri)))]
        if self.huge > 0 {
            let (start, len) = (self.skip, self.memory.len() - SLAB);
            // A system that refuses it goes on as before.
            let _ = self
                .memory
                .advise_range(memmap2::Advice::NoHugePage, start, len);
        }
    }

    fn start(&self, page: usize) -> *mut u8 {
        let place = self.skip + page * PAGE;
        assert!(place < self.memory.len());
        self.memory.as_mut_ptr().wrapping_add(place)
    }

    /// Gives the memory of `pages`, which the caller has taken, back to the system; then they are zero.
    fn empty(&self, pages: Range<usize>) -> bool {
        #[cfg(all(target_os = "linux", not(miri)))]
        {
            let (start, len) = (self.skip + pages.start * PAGE, pages.len() * PAGE);
            assert!(start + len <= self.memory.len());
            // SAFETY: a private anonymous mapping, whose pages read as zeros afterwards: initialised still. They are taken, and not
            // by an extent: no block and no page-lock has one of them.
            let done = unsafe {
                self.memory
                    .unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, len)
            };
            done.is_ok()
        }
        // Elsewhere nobody promises zeros afterwards.
        #[cfg(not(all(target_os = "linux", not(miri))))]
        {
            let _ = pages;
            false
        }
    }
}

/// Whether the system has huge pages for who asks for them.
#[cfg(all(target_os = "linux", not(miri)))]
fn huge_pages() -> bool {
    static FOUND: crate::sync::OnceLock<bool> = crate::sync::OnceLock::new();
    *FOUND.get_or_init(|| {
        let path = "/sys/kernel/mm/transparent_hugepage/enabled";
        std::fs::read_to_string(path).is_ok_and(|text| !text.contains("[never]"))
    })
}

impl Extent {
    /// Its first byte, aligned to a page and valid, initialised and nobody else's for [`Self::bytes`] while the extent lives.
    pub(super) fn start(&self) -> NonNull<u8> {
        NonNull::new(self.mapping.start(self.pages.start)).expect("within a mapping")
    }

    /// Its length.
    pub(super) fn bytes(&self) -> usize {
        self.pages.len() * PAGE
    }

    /// Brings pages of `part`, in bytes, which is about to be written: all of them where touching them would bring small ones one by
    /// one, and of huge ones some.
    pub(super) fn populate(&mut self, part: Range<usize>) {
        assert!(part.end <= self.bytes());
        if part.is_empty() {
            return;
        }
        if self.small {
            self.fresh = false;
            self.bring(part);
        } else if self.chunks.huge.is_in_doubt() {
            self.fresh = false;
            self.bring_huge(part);
        }
    }

    fn bring(&self, part: Range<usize>) {
        #[cfg(all(target_os = "linux", not(miri)))]
        {
            // A system that can't (before Linux 5.14) brings them as they are touched.
            let start = self.mapping.skip + self.pages.start * PAGE + part.start;
            let advice = memmap2::Advice::PopulateWrite;
            let _ = self.mapping.memory.advise_range(advice, start, part.len());
        }
        #[cfg(not(all(target_os = "linux", not(miri))))]
        let _ = part;
    }

    /// The first huge pages of `part`, timed; and all that is left of it where they are too dear.
    fn bring_huge(&self, part: Range<usize>) {
        let before = self.pages.start * PAGE % SLAB;
        let mut at = part.start;
        for _ in 0..TIMED {
            if at >= part.end {
                return;
            }
            if self.chunks.huge.is_dear() {
                return self.bring(at..part.end);
            }
            let begin = Instant::now();
            self.bring(at..at + 1);
            self.chunks.came_in(begin.elapsed());
            at = (before + at + 1).next_multiple_of(SLAB) - before;
        }
    }

    /// Whether all of its pages held something when it was taken, or may have.
    pub(super) fn is_recycled(&self) -> bool {
        self.recycled
    }

    /// Somebody has written it, whatever is said later.
    pub(super) fn written(&mut self) {
        self.fresh = false;
    }

    /// Nobody has written it since it was taken: if the system has not brought its pages, it need not take them back.
    pub(super) fn untouched(&mut self) {
        self.untouched = true;
    }

    /// Whether its pages are still to come from the system.
    pub(super) fn is_to_come(&self) -> bool {
        self.fresh && self.untouched
    }
}

impl Drop for Extent {
    fn drop(&mut self) {
        let (chunk, pages) = (self.chunk, self.pages.clone());
        self.chunks.give(chunk, pages, self.is_to_come());
    }
}

#[cfg(test)]
mod tests;
