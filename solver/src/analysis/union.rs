//! A set of columns that is given sorted: the columns of a front, which are a union of lists.

/// Bits, and a bit for each word of them that is not 0.
pub(crate) struct Union {
    words: Vec<u64>,
    filled: Vec<u64>,
    count: usize,
}

impl Union {
    /// An empty one for the columns `0..ncols`.
    pub fn new(ncols: usize) -> Self {
        let words = ncols.div_ceil(64);
        Union {
            words: vec![0; words],
            filled: vec![0; words.div_ceil(64)],
            count: 0,
        }
    }

    pub fn add(&mut self, column: u32) {
        let word = column as usize / 64;
        let (before, bit) = (self.words[word], 1 << (column % 64));
        self.count += usize::from(before & bit == 0);
        self.words[word] = before | bit;
        self.filled[word / 64] |= 1 << (word % 64);
    }

    /// The columns, increasing; none are left. O(columns + ncols / 4096).
    pub fn take(&mut self) -> Vec<u32> {
        let mut out = Vec::with_capacity(std::mem::take(&mut self.count));
        for (f, filled) in self.filled.iter_mut().enumerate() {
            for_each_bit(std::mem::take(filled), |w| {
                let word = 64 * f + w;
                let bits = std::mem::take(&mut self.words[word]);
                for_each_bit(bits, |k| out.push((64 * word + k) as u32));
            });
        }
        out
    }
}

fn for_each_bit(mut bits: u64, mut visit: impl FnMut(usize)) {
    while bits != 0 {
        visit(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_union_is_what_a_tree_set_holds() {
        let mut union = Union::new(10_000);
        for lists in [1u32, 7, 40] {
            let mut set = BTreeSet::new();
            for k in 0..lists * lists {
                let column = (k * k * 31 + lists) % 10_000;
                union.add(column);
                set.insert(column);
            }
            assert_eq!(union.take(), Vec::from_iter(set));
        }
        assert_eq!(union.take(), []);
    }
}
