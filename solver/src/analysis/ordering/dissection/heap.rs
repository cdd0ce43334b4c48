//! Vertices by gain, the largest first, with gains that change.

const OUT: u32 = u32::MAX;

/// A binary heap that knows where each vertex lies.
pub(crate) struct Heap {
    items: Vec<(i64, u32)>,
    place: Vec<u32>,
}

impl Heap {
    /// An empty one for the vertices `0..n`.
    pub fn new(n: usize) -> Self {
        Heap {
            items: Vec::new(),
            place: vec![OUT; n],
        }
    }

    pub fn clear(&mut self) {
        for (_, v) in self.items.drain(..) {
            self.place[v as usize] = OUT;
        }
    }

    pub fn peek(&self) -> Option<(i64, u32)> {
        self.items.first().copied()
    }

    /// Puts v in, or changes its gain.
    pub fn set(&mut self, v: u32, gain: i64) {
        match self.place[v as usize] {
            OUT => {
                self.items.push((gain, v));
                self.up(self.items.len() - 1);
            }
            at => {
                let at = at as usize;
                let before = std::mem::replace(&mut self.items[at].0, gain);
                if gain > before {
                    self.up(at);
                } else {
                    self.down(at);
                }
            }
        }
    }

    /// Changes the gain of v where it is in.
    pub fn change(&mut self, v: u32, gain: i64) {
        if self.place[v as usize] != OUT {
            self.set(v, gain);
        }
    }

    pub fn remove(&mut self, v: u32) {
        let at = std::mem::replace(&mut self.place[v as usize], OUT) as usize;
        if at == OUT as usize {
            return;
        }
        let last = self.items.pop().expect("v is in");
        if at < self.items.len() {
            let before = std::mem::replace(&mut self.items[at], last);
            self.place[last.1 as usize] = at as u32;
            if last > before {
                self.up(at);
            } else {
                self.down(at);
            }
        }
    }

    fn up(&mut self, mut at: usize) {
        let item = self.items[at];
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.items[parent] >= item {
                break;
            }
            self.put(at, self.items[parent]);
            at = parent;
        }
        self.put(at, item);
    }

    fn down(&mut self, mut at: usize) {
        let item = self.items[at];
        loop {
            let mut child = 2 * at + 1;
            if child >= self.items.len() {
                break;
            }
            if child + 1 < self.items.len() && self.items[child + 1] > self.items[child] {
                child += 1;
            }
            if self.items[child] <= item {
                break;
            }
            self.put(at, self.items[child]);
            at = child;
        }
        self.put(at, item);
    }

    fn put(&mut self, at: usize, item: (i64, u32)) {
        self.items[at] = item;
        self.place[item.1 as usize] = at as u32;
    }
}
