//! The staircase of a block of reflectors, as it is found in V: products go no further down than it.

use crate::view::MatRef;
use treeqr_matrices::Scalar;

/// Rows are looked at so many at a time.
const ROWS: usize = 8;
/// Blocks of more reflectors are taken as full.
const MOST: usize = 64;

/// How far down the reflectors of a block reach.
#[derive(Clone, Copy)]
pub(super) struct Steps {
    /// The rows behind which reflector j and all before it are zero; no less than that, and no more than all.
    rows: [u32; MOST],
    /// All rows of the block.
    all: usize,
    reflectors: usize,
}

impl Steps {
    /// Of `reflectors` that may have all `rows`.
    pub fn full(reflectors: usize, rows: usize) -> Self {
        Self {
            rows: [rows as u32; MOST],
            all: rows,
            reflectors,
        }
    }

    /// Of V, of which all is zero from row `rows` on.
    pub fn of<T: Scalar>(v: MatRef<T>, rows: usize) -> Self {
        let reflectors = v.ncols();
        let mut steps = Self::full(reflectors, rows);
        if reflectors > MOST {
            return steps;
        }
        let mut least = 0;
        for (j, step) in steps.rows.iter_mut().enumerate().take(reflectors) {
            let below = v.col(j)[least.min(rows)..rows].rchunks(ROWS);
            let zeros = below.take_while(|rows| rows.iter().all(|&x| x == T::zero()));
            least = rows - zeros.map(<[T]>::len).sum::<usize>().min(rows - least);
            *step = least as u32;
        }
        steps
    }

    /// Rows that the reflectors before `end` have.
    pub fn rows(&self, end: usize) -> usize {
        match end {
            0 => 0,
            _ if self.reflectors > MOST => self.all,
            _ => self.rows[end.min(self.reflectors) - 1] as usize,
        }
    }

    /// The first reflector that has a row from `row` on, or one before it; of those before `end`, which is such a reflector or follows the last.
    #[inline(always)]
    pub fn first_below(&self, row: usize, end: usize) -> usize {
        if self.reflectors > MOST {
            return 0;
        }
        let mut first = end;
        while first > 0 && self.rows[(first - 1) % MOST] as usize > row {
            first -= 1;
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_zeros_lies_below() {
        for (m, k) in [(1, 1), (40, 8), (137, 24), (90, 64), (50, 65)] {
            let mut seed = (m * 31 + k) as u32;
            let mut v = vec![0.0; m * k];
            for j in 0..k {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // They rise, but for one reflector in eight, which has no row.
                let rows = if seed >> 29 == 0 { 0 } else { m * (j + 1) / k };
                v[j * m..][..rows].fill(1.0);
            }
            let rows = m - m / 5;
            for x in &mut v.chunks_exact_mut(m) {
                x[rows..].fill(0.0);
            }
            let v = MatRef::new(&v, m, k, m);
            let steps = Steps::of(v, rows);
            for end in 0..=k {
                let reach = steps.rows(end);
                let last = (0..end).filter_map(|j| v.col(j).iter().rposition(|&x| x != 0.0));
                let last = last.max().map_or(0, |i| i + 1);
                assert!((last..=rows).contains(&reach), "{m} x {k}: {end}");
                if k <= MOST {
                    assert!(reach < last + ROWS, "{m} x {k}: {end}");
                }
            }
            let mut first = k;
            for row in (0..m).rev() {
                first = steps.first_below(row, first);
                let is_zero = |j: usize| v.col(j)[row..].iter().all(|&x| x == 0.0);
                assert!((0..first).all(is_zero), "{m} x {k}: from row {row} on");
            }
            assert_eq!(first, 0, "{m} x {k}");
        }
    }
}
