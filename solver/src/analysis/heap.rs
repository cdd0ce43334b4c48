//! Numbers from 0 on by what they are worth, the best first, with worths that change.

const OUT: u32 = u32::MAX;
/// Children of a place. What is in mostly gets better, so that few levels count for more than few comparisons.
const ARITY: usize = 4;

/// A number with its worth: the greatest is the best. Keys of different numbers differ, so that what a heap gives does not depend on
/// how it was built.
pub(crate) trait Key: Copy + Ord {
    type Worth;
    fn new(worth: Self::Worth, v: u32) -> Self;
    fn number(self) -> u32;
}

/// A heap that knows where each number lies.
pub(crate) struct Heap<K> {
    items: Vec<K>,
    place: Vec<u32>,
}

impl<K> Default for Heap<K> {
    fn default() -> Self {
        Heap {
            items: Vec::new(),
            place: Vec::new(),
        }
    }
}

impl<K: Key> Heap<K> {
    /// Makes an empty one fit for the numbers `0..n`.
    pub fn fit(&mut self, n: usize) {
        if self.place.len() < n {
            self.place.resize(n, OUT);
        }
    }

    pub fn clear(&mut self) {
        for key in self.items.drain(..) {
            self.place[key.number() as usize] = OUT;
        }
    }

    /// The best.
    pub fn peek(&self) -> Option<u32> {
        self.items.first().map(|key| key.number())
    }

    /// Puts v in, or changes its worth.
    pub fn set(&mut self, v: u32, worth: K::Worth) {
        if self.place[v as usize] == OUT {
            let key = K::new(worth, v);
            self.items.push(key);
            self.up(self.items.len() - 1, key);
        } else {
            self.change(v, worth);
        }
    }

    /// Changes the worth of v where it is in.
    #[inline]
    pub fn change(&mut self, v: u32, worth: K::Worth) {
        let at = self.place[v as usize];
        if at != OUT {
            self.settle(at as usize, K::new(worth, v));
        }
    }

    /// Takes the best out.
    pub fn pop(&mut self) -> Option<u32> {
        let best = self.peek()?;
        self.remove(best);
        Some(best)
    }

    pub fn remove(&mut self, v: u32) {
        let at = std::mem::replace(&mut self.place[v as usize], OUT) as usize;
        if at == OUT as usize {
            return;
        }
        let last = self.items.pop().expect("v is in");
        if at < self.items.len() {
            self.settle(at, last);
        }
    }

    /// Puts a key where another one was.
    #[inline]
    fn settle(&mut self, at: usize, key: K) {
        let before = self.items[at];
        if key > before {
            self.up(at, key);
        } else if key < before {
            self.down(at, key);
        }
    }

    fn up(&mut self, mut at: usize, key: K) {
        while at > 0 {
            let parent = (at - 1) / ARITY;
            let above = self.items[parent];
            if above >= key {
                break;
            }
            self.put(at, above);
            at = parent;
        }
        self.put(at, key);
    }

    fn down(&mut self, mut at: usize, key: K) {
        loop {
            let first = ARITY * at + 1;
            let end = (first + ARITY).min(self.items.len());
            if first >= end {
                break;
            }
            let (mut child, mut below) = (first, self.items[first]);
            for (c, &other) in (first..end).zip(&self.items[first..end]) {
                if other > below {
                    (child, below) = (c, other);
                }
            }
            if below <= key {
                break;
            }
            self.put(at, below);
            at = child;
        }
        self.put(at, key);
    }

    fn put(&mut self, at: usize, key: K) {
        self.items[at] = key;
        self.place[key.number() as usize] = at as u32;
    }
}
