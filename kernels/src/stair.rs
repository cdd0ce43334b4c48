//! The staircase: how far down each column of a block reaches.

/// For each column, the number of leading rows that may be nonzero; it never decreases from left to right.
///
/// ```text
///   stair = [2, 2, 5]     x x x
///                         x x x
///                             x
///                             x
///                             x
/// ```
///
/// What lies below the staircase is zero by structure: no kernel writes it, and no flop count includes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stair<'a> {
    /// Every column reaches the last row.
    Full,
    /// Column `j` reaches row `rows[j] - 1`. There may be more entries than columns; the rest is ignored.
    Rows(&'a [u32]),
}

impl<'a> Stair<'a> {
    /// The number of leading rows of column `j` that may be nonzero, in a block of `m` rows.
    ///
    /// # Panics
    /// When the staircase has no column `j`.
    #[inline(always)]
    #[track_caller]
    pub fn rows(self, j: usize, m: usize) -> usize {
        match self {
            Stair::Full => m,
            Stair::Rows(rows) => rows[j] as usize,
        }
    }

    /// The staircase of the columns from `j` on, counted in the same rows.
    ///
    /// # Panics
    /// When the staircase has fewer than `j` columns.
    #[inline(always)]
    #[track_caller]
    pub fn from_col(self, j: usize) -> Self {
        match self {
            Stair::Full => Stair::Full,
            Stair::Rows(rows) => Stair::Rows(&rows[j..]),
        }
    }

    /// Checks that this is a staircase for `n` columns of `m` rows.
    ///
    /// # Panics
    /// When it has fewer than `n` entries, decreases, or reaches below row `m`.
    #[track_caller]
    pub fn check(self, m: usize, n: usize) {
        if let Stair::Rows(rows) = self {
            assert!(
                rows.len() >= n,
                "a staircase of {} columns for a block of {n}",
                rows.len()
            );
            let rows = &rows[..n];
            assert!(rows.is_sorted(), "the staircase decreases: {rows:?}");
            if let Some(&last) = rows.last() {
                assert!(
                    last as usize <= m,
                    "the staircase reaches row {last} of a block of {m}"
                );
            }
        }
    }
}
