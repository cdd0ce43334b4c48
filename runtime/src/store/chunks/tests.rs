//! Extents by way of blocks, against a model that knows nothing of pages: who holds which bytes, and what is in them.

use super::*;
use crate::store::block::Block;

const LEAST: usize = 256 << 10;

fn block(chunks: &Arc<Chunks>, bytes: usize) -> Block {
    Block::zeroed(bytes, bytes, bytes, chunks).expect("memory for a test")
}

fn is_all(bytes: &[u8], value: u8) -> bool {
    let page = [value; PAGE];
    bytes.chunks(PAGE).all(|part| part == &page[..part.len()])
}

fn place(block: &Block) -> Range<usize> {
    let start = block.start().as_ptr() as usize;
    start..start + block.capacity()
}

/// Numbers below `n`, the same in every run.
fn random(seed: &mut u64, n: usize) -> usize {
    *seed = seed
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    (*seed >> 33) as usize % n
}

#[test]
fn random_blocks_are_disjoint_zero_and_keep_what_is_theirs() {
    let chunks = Arc::new(Chunks::default());
    let (mut held, mut seed): (Vec<(Block, u8)>, u64) = (Vec::new(), 7);
    let mut recycled = 0;
    for step in 0..1200 {
        match random(&mut seed, 20) {
            0 => chunks.trim(random(&mut seed, 16 << 20) as u64),
            1 => chunks.release(),
            k if k < 11 && held.len() < 20 => {
                let most = 3 << random(&mut seed, 22);
                let bytes = LEAST + random(&mut seed, most);
                let mut new = match k {
                    2 => Block::left_over(bytes, bytes, 0, &chunks).expect("memory"),
                    3 => Block::zeroed(bytes, bytes, bytes / 2, &chunks).expect("memory"),
                    _ => block(&chunks, bytes),
                };
                assert!(k == 2 || is_all(new.bytes(), 0), "step {step}");
                assert!(place(&new).start.is_multiple_of(PAGE));
                for (other, _) in &held {
                    let (a, b) = (place(&new), place(other));
                    let apart = |a: &Range<usize>, b: &Range<usize>| {
                        a.end.next_multiple_of(PAGE) <= b.start
                    };
                    assert!(apart(&a, &b) || apart(&b, &a));
                }
                recycled += usize::from(new.is_recycled());
                let value = 1 + (step % 255) as u8;
                new.bytes_mut().fill(value);
                held.push((new, value));
            }
            _ if !held.is_empty() => {
                let (old, value) = held.swap_remove(random(&mut seed, held.len()));
                assert!(is_all(old.bytes(), value), "step {step}");
            }
            _ => {}
        }
        let taken: usize = held
            .iter()
            .map(|(block, _)| block.capacity().next_multiple_of(PAGE))
            .sum();
        assert_eq!(chunks.taken.load(Ordering::Relaxed), taken as u64);
        assert!(chunks.idle_bytes().is_multiple_of(SLAB as u64));
    }
    assert!(recycled > 50, "{recycled}");
    drop(held);
    assert_eq!(chunks.slack_bytes(), 0);
    chunks.release();
    assert_eq!(chunks.idle_bytes(), 0);
    assert!(lock(&chunks.chunks).is_empty());
}

#[test]
fn the_same_sizes_in_the_same_order_get_the_same_pages() {
    let chunks = Arc::new(Chunks::default());
    let go = || {
        let (mut held, mut places, mut seed) = (Vec::new(), Vec::new(), 3);
        for _ in 0..300 {
            if random(&mut seed, 5) < 3 {
                let new = block(&chunks, LEAST + random(&mut seed, 6 << 20));
                places.push((place(&new), new.is_recycled()));
                held.push(new);
            } else if !held.is_empty() {
                held.swap_remove(random(&mut seed, held.len()));
            }
        }
        places
    };
    let (first, second) = (go(), go());
    for (k, ((a, _), (b, recycled))) in first.iter().zip(&second).enumerate() {
        assert!(a == b && *recycled, "block {k}");
    }
    // Given back, but still mapped: nothing of it is left over.
    chunks.trim(0);
    assert_eq!((chunks.idle_bytes(), chunks.slack_bytes()), (0, 0));
    let third = go();
    assert!(!third[0].1 && third.iter().zip(&first).all(|(a, b)| a.0 == b.0));
}

#[test]
fn threads_take_zeros_and_give_them_back_dirty() {
    let chunks = Arc::new(Chunks::default());
    std::thread::scope(|scope| {
        for thread in 1..9u8 {
            let chunks = &chunks;
            scope.spawn(move || {
                let (mut held, mut seed) = (Vec::new(), u64::from(thread));
                for _ in 0..60 {
                    let mut new = block(chunks, LEAST + random(&mut seed, 3 << 20));
                    assert!(is_all(new.bytes(), 0));
                    new.bytes_mut().fill(thread);
                    held.push(new);
                    if held.len() > random(&mut seed, 5) {
                        let old = held.swap_remove(random(&mut seed, held.len()));
                        assert!(is_all(old.bytes(), thread));
                    }
                    if random(&mut seed, 4) == 0 {
                        chunks.trim(random(&mut seed, 8 << 20) as u64);
                    }
                }
            });
        }
    });
    assert_eq!(chunks.slack_bytes(), 0);
    chunks.release();
    assert_eq!((chunks.idle_bytes(), lock(&chunks.chunks).len()), (0, 0));
}

#[test]
fn what_nobody_wrote_is_as_new() {
    let chunks = Arc::new(Chunks::default());
    let mut first = block(&chunks, 5 << 20);
    assert!(!first.is_to_come());
    first.untouched();
    assert!(first.is_to_come());
    drop(first);
    assert_eq!(chunks.idle_bytes(), 0);
    // Written: the slabs are idle, and the next who does not write it has had them cleared all the same.
    block(&chunks, 5 << 20).bytes_mut().fill(1);
    let mut second = block(&chunks, 5 << 20);
    second.untouched();
    assert!(second.is_recycled() && !second.is_to_come() && is_all(second.bytes(), 0));
    drop(second);
    assert_eq!(chunks.idle_bytes(), 6 << 20);
    // Between blocks of a pool nobody knows.
    chunks.trim(0);
    let mut third = block(&chunks, 1 << 20);
    third.set_len(1 << 19);
    third.untouched();
    assert!(!third.is_to_come());
}

/// Pages of `place` that take memory.
#[cfg(target_os = "linux")]
fn present(place: &Range<usize>) -> Option<usize> {
    use std::io::{Read, Seek, SeekFrom};
    let mut map = std::fs::File::open("/proc/self/pagemap").ok()?;
    let mut words = vec![0; place.len() / PAGE * 8];
    let at = SeekFrom::Start((place.start / PAGE * 8) as u64);
    map.seek(at).and_then(|_| map.read_exact(&mut words)).ok()?;
    // The top bit of a word: the page is there.
    Some(words.chunks(8).filter(|word| word[7] & 0x80 != 0).count())
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn memory_goes_back_to_the_system() {
    let chunks = Arc::new(Chunks::default());
    let mut blocks: Vec<_> = (0..16).map(|_| block(&chunks, 2 << 20)).collect();
    let places: Vec<_> = blocks.iter().map(place).collect();
    let there = || {
        let pages = places.iter().map(present);
        pages.sum::<Option<usize>>().map(|pages| pages * PAGE)
    };
    let Some(before) = there() else { return };
    assert_eq!(before, 0, "nobody has written anything");
    blocks
        .iter_mut()
        .for_each(|block| block.bytes_mut().fill(3));
    assert_eq!(there(), Some(32 << 20));
    blocks.truncate(5);
    assert_eq!((there(), chunks.idle_bytes()), (Some(32 << 20), 22 << 20));
    chunks.trim(6 << 20);
    assert_eq!((there(), chunks.idle_bytes()), (Some(16 << 20), 6 << 20));
    chunks.release();
    assert_eq!((there(), chunks.idle_bytes()), (Some(10 << 20), 0));
    assert!(blocks.iter().all(|block| is_all(block.bytes(), 3)));
}

#[test]
fn where_much_is_expected_the_first_pages_are_huge() {
    let has_huge = Mapping::new(1, 1).expect("memory").huge == 1;
    let comes_small = |expected: u64| {
        let chunks = Arc::<Chunks>::default();
        chunks.expect(expected, u64::MAX);
        Chunks::take(&chunks, 1 << 20).expect("memory").0.small
    };
    assert!(comes_small(0) && comes_small(EXPECTED - 1));
    assert_eq!(comes_small(EXPECTED), !has_huge);
}

#[test]
fn what_is_beyond_the_most_comes_in_small_pages() {
    let has_huge = Mapping::new(1, 1).expect("memory").huge == 1;
    let chunks = Arc::<Chunks>::default();
    let most = *SIZES.start() as u64 + 5 * SLAB as u64;
    chunks.expect(most, most + SLAB as u64 - 1);
    let take = || Chunks::take(&chunks, SLAB).expect("memory").0;
    let extents: Vec<Extent> = (0..16).map(|_| take()).collect();
    let small: Vec<bool> = extents.iter().map(|extent| extent.small).collect();
    // A chunk of eight slabs, five more of the next, and three of it that lie beyond.
    let huge = |slab: usize| has_huge && slab < 13;
    let expected: Vec<bool> = (0..16).map(|slab| !huge(slab)).collect();
    assert_eq!(small, expected);
    // Given back to the system, they come again as they did.
    drop(extents);
    chunks.trim(0);
    assert_eq!(chunks.idle_bytes(), 0);
    let again: Vec<bool> = {
        let extents: Vec<Extent> = (0..16).map(|_| take()).collect();
        extents.iter().map(|extent| extent.small).collect()
    };
    assert_eq!(again, expected);
}

#[test]
fn where_much_is_expected_smaller_blocks_are_extents() {
    for (expected, least) in [
        (0, LARGE),
        (MANY - 1, LARGE),
        (MANY, LARGE_OF_MANY),
        (u64::MAX, LARGE_OF_MANY),
    ] {
        let chunks = Arc::<Chunks>::default();
        chunks.expect(expected, u64::MAX);
        assert!(chunks.are_for(least) && !chunks.are_for(least - 1));
        let block = |len: usize| Block::zeroed(len, len, 0, &chunks).expect("memory");
        assert!(block(least).is_large() && !block(least - 1).is_large());
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn where_huge_pages_are_dear_the_rest_is_small() {
    let chunks = Arc::<Chunks>::default();
    chunks.expect(EXPECTED, u64::MAX);
    let first = block(&chunks, 1 << 20);
    if Mapping::new(1, 1).expect("memory").huge == 0 || present(&place(&first)).is_none() {
        eprintln!("SKIPPED: this system has no huge pages, or does not say which pages are there");
        return;
    }
    let written = || Block::zeroed(5 << 20, 5 << 20, 0, &chunks).expect("memory");
    let all = Some((5 << 20) / PAGE);
    // The rest of the first slab, which comes with its first page, and two more of which each is brought.
    assert_eq!(present(&place(&written())), all);
    let slow = Duration::from_millis(6);
    (0..2).for_each(|_| chunks.came_in(slow));
    assert_eq!(chunks.dear_page().is_some(), chunks.huge.is_dear());
    assert!(chunks.huge.is_dear());
    // Behind what is there already, in the same chunk; and in a new one.
    let held: Vec<_> = (0..4).map(|_| written()).collect();
    for block in &held {
        assert_eq!(present(&place(block)), all);
    }
    let mut last = block(&chunks, 1 << 20);
    last.bytes_mut()[0] = 1;
    assert_eq!(present(&place(&last)), Some(1), "no page but that one");
    drop((held, first, last));
    chunks.release();
    assert!(!chunks.huge.is_dear(), "other memory may come");
}
