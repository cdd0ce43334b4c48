//! A set of columns that is given sorted: the columns of a front, which are a union of lists.

use std::ops::Range;

/// Bits, and a bit for each word of them that is not 0.
pub(crate) struct Union {
    words: Vec<u64>,
    filled: Vec<u64>,
    /// Words of `filled` that may not be 0.
    touched: Range<usize>,
    count: usize,
}

/// No word: any that is touched is the first and the last.
const NOWHERE: Range<usize> = Range {
    start: usize::MAX,
    end: 0,
};

impl Union {
    /// An empty one for the columns `0..ncols`.
    pub fn new(ncols: usize) -> Self {
        let words = ncols.div_ceil(64);
        Union {
            words: vec![0; words],
            filled: vec![0; words.div_ceil(64)],
            touched: NOWHERE,
            count: 0,
        }
    }

    pub fn add(&mut self, column: u32) {
        let word = column as usize / 64;
        let (before, bit) = (self.words[word], 1 << (column % 64));
        self.count += usize::from(before & bit == 0);
        self.words[word] = before | bit;
        let at = word / 64;
        self.filled[at] |= 1 << (word % 64);
        self.touched = self.touched.start.min(at)..self.touched.end.max(at + 1);
    }

    /// How many columns there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Appends the columns to `out`, increasing; none are left. O(columns), and a 4096th of how far they are apart.
    pub fn take(&mut self, out: &mut Vec<u32>) {
        out.reserve(std::mem::take(&mut self.count));
        let touched = std::mem::replace(&mut self.touched, NOWHERE);
        for f in touched {
            for_each_bit(std::mem::take(&mut self.filled[f]), |w| {
                let word = 64 * f + w;
                let bits = std::mem::take(&mut self.words[word]);
                for_each_bit(bits, |k| out.push((64 * word + k) as u32));
            });
        }
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
            let mut out = vec![lists];
            union.take(&mut out);
            assert_eq!(out.split_off(1), Vec::from_iter(set));
            assert_eq!(out, [lists]);
        }
        let mut out = Vec::new();
        union.take(&mut out);
        assert_eq!(out, []);
    }
}
