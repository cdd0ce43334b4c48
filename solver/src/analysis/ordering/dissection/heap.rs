//! Vertices by gain, the largest first, with gains that change.

const OUT: u32 = u32::MAX;
/// Children of a place. Gains mostly grow while a vertex is in, so that few levels count for more than few comparisons.
const ARITY: usize = 4;

/// A heap that knows where each vertex lies. Among equal gains the largest number comes first, so that what it gives does not
/// depend on how it is built.
#[derive(Default)]
pub(crate) struct Heap {
    /// Gain and vertex in one number, as [`key`] has them.
    items: Vec<i64>,
    place: Vec<u32>,
}

/// Numbers in the order of the gains, those of equal gain in the order of the vertices. Gains that 32 bits do not hold count as the
/// largest or the least that they do.
fn key(gain: i64, v: u32) -> i64 {
    (gain.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) << 32) | i64::from(v)
}

fn vertex(key: i64) -> u32 {
    key as u32
}

impl Heap {
    /// Makes an empty one fit for the vertices `0..n`.
    pub fn fit(&mut self, n: usize) {
        if self.place.len() < n {
            self.place.resize(n, OUT);
        }
    }

    pub fn clear(&mut self) {
        for key in self.items.drain(..) {
            self.place[vertex(key) as usize] = OUT;
        }
    }

    /// The vertex of the largest gain.
    pub fn peek(&self) -> Option<u32> {
        self.items.first().map(|&key| vertex(key))
    }

    /// Puts v in, or changes its gain.
    pub fn set(&mut self, v: u32, gain: i64) {
        if self.place[v as usize] == OUT {
            self.items.push(0);
            self.up(self.items.len() - 1, key(gain, v));
        } else {
            self.change(v, gain);
        }
    }

    /// Changes the gain of v where it is in.
    #[inline]
    pub fn change(&mut self, v: u32, gain: i64) {
        let at = self.place[v as usize];
        if at != OUT {
            self.settle(at as usize, key(gain, v));
        }
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
    fn settle(&mut self, at: usize, key: i64) {
        let before = self.items[at];
        if key > before {
            self.up(at, key);
        } else if key < before {
            self.down(at, key);
        }
    }

    fn up(&mut self, mut at: usize, key: i64) {
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

    fn down(&mut self, mut at: usize, key: i64) {
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

    fn put(&mut self, at: usize, key: i64) {
        self.items[at] = key;
        self.place[vertex(key) as usize] = at as u32;
    }
}
