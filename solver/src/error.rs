//! What can go wrong, with its place. Rows and columns in messages count from 1, as in a Matrix Market file.

use crate::numeric::magnitude::shift;

/// Why a pattern was not analysed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnalyseError {
    /// An ordering that is not in the table.
    #[error("there is no ordering {name:?}; known are {known}")]
    UnknownOrdering {
        /// What was asked for.
        name: String,
        /// The known names.
        known: String,
    },
    /// The ordering's own code gave up.
    #[error("the ordering {name} failed: {why}")]
    OrderingFailed {
        /// Which ordering.
        name: &'static str,
        /// What it said.
        why: String,
    },
    /// A given column order that is not a permutation.
    #[error("the given column order is not a permutation of 1..{ncols}: {why}")]
    BadPermutation {
        /// Columns to order.
        ncols: usize,
        /// The first thing that is wrong with it.
        why: String,
    },
    /// A matrix without rows or columns.
    #[error("the matrix is {nrows} x {ncols}: there is nothing to solve")]
    Empty {
        /// Rows.
        nrows: usize,
        /// Columns.
        ncols: usize,
    },
    /// Numbers that no run can count to.
    #[error(
        "the factorization would have at least {count} {what}, and can have no more than {limit}"
    )]
    TooLarge {
        /// Of what.
        what: &'static str,
        /// How many, or the largest number if there are more.
        count: u64,
        /// How many there may be.
        limit: u64,
    },
    /// Tile sizes that do not fit together.
    #[error("tiles cannot be {what}")]
    BadTiles {
        /// What is wrong with the sizes.
        what: String,
    },
}

/// Why a matrix was not factorized or a system not solved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// The matrix has another pattern than the one that was analysed.
    #[error(
        "the matrix is {nrows} x {ncols} with {nnz} entries and has not the pattern that was analysed"
    )]
    OtherPattern {
        /// Rows.
        nrows: usize,
        /// Columns.
        ncols: usize,
        /// Entries.
        nnz: usize,
    },
    /// The matrix has the pattern that was factorized, and other values.
    #[error("the matrix has other values than the one that was factorized")]
    OtherValues,
    /// NaN or infinity in A.
    #[error("the matrix has a value that is not finite at row {row}, column {col}")]
    MatrixNotFinite {
        /// Row, from 1.
        row: usize,
        /// Column, from 1.
        col: usize,
    },
    /// NaN or infinity in a right-hand side.
    #[error("the right-hand side has a value that is not finite at row {row}, column {col}")]
    RhsNotFinite {
        /// Row, from 1.
        row: usize,
        /// Column, from 1.
        col: usize,
    },
    /// A right-hand side of the wrong length.
    #[error(
        "the right-hand side has {found} entries; {expected} were expected ({nrhs} of length {nrows})"
    )]
    RhsLength {
        /// Entries given.
        found: usize,
        /// Entries needed.
        expected: usize,
        /// Right-hand sides.
        nrhs: usize,
        /// Length of each.
        nrows: usize,
    },
    /// A diagonal entry of R that is negligible: the columns are linearly dependent to working accuracy. Only where
    /// [`Deficient::Refuse`](crate::Deficient::Refuse) asks for it.
    #[error(
        "the matrix is rank-deficient: {what} {index} depends on those eliminated before it (|R_kk| = {pivot:.1e}, negligible below {tolerance:.1e})"
    )]
    RankDeficient {
        /// `column`, or `row` when A is wide and its rows are dependent.
        what: &'static str,
        /// The dependent column (or row) of A, from 1.
        index: usize,
        /// |R_kk|, zero when the structure alone leaves the column without a pivot.
        pivot: f64,
        /// The tolerance it was held against.
        tolerance: f64,
    },
    /// Numbers that overflow, or become NaN, on the way.
    #[error("the factorization overflows: R is not finite in the {what} {index}")]
    Overflow {
        /// `column`, or `row` when A is wide.
        what: &'static str,
        /// The column (or row) of A, from 1.
        index: usize,
    },
    /// A solution that the format can't hold: A is too small for this right-hand side, or too ill-conditioned.
    #[error("the solution overflows: entry {row} of column {col} is not finite")]
    SolutionOverflow {
        /// Entry of x, from 1.
        row: usize,
        /// Which right-hand side, from 1.
        col: usize,
    },
    /// The second factorization, for the shortest solution, could not be analysed.
    #[error("the shortest solution asks for a second factorization: {0}")]
    Second(#[source] AnalyseError),
    /// Factors that were made without Q, or without a right-hand side, asked for what needs it.
    #[error("{what} needs Q, which was not kept: factorize with `keep_q`")]
    NoQ {
        /// What was asked for.
        what: &'static str,
    },
    /// Asked of factors with dense rows split off ([`DenseRows`](crate::DenseRows)), which have no such thing.
    #[error("{what} cannot be had with dense rows split off: analyse with `dense_rows` as `None`")]
    DenseRows {
        /// What was asked for.
        what: &'static str,
    },
    /// Factors that are gone, because the refactorization that was to replace them failed.
    #[error("there are no factors: the last refactorization failed")]
    NoFactors,
    /// A memory limit below what a sequential run takes.
    #[error(
        "a memory limit of {limit} bytes is too low: the smallest that works is {smallest} bytes"
    )]
    MemoryLimit {
        /// The limit asked for, in bytes.
        limit: u64,
        /// The peak of a sequential run, in bytes.
        smallest: u64,
    },
    /// More tasks than a run can number.
    #[error("the factorization has {tasks} tasks: larger tiles make fewer")]
    TooManyTasks {
        /// Tasks of the plan.
        tasks: u64,
    },
    /// More right-hand sides at once than a solve can number the parts of.
    #[error("{nrhs} right-hand sides in {blocks} blocks are too many at once: solve for fewer")]
    TooManyColumns {
        /// Right-hand sides.
        nrhs: usize,
        /// Blocks that they make.
        blocks: usize,
    },
    /// More memory than there is.
    #[error(
        "the factorization needs at least {} of memory, and {} are available",
        Bytes(*needed),
        Bytes(*available)
    )]
    TooLarge {
        /// Bytes of a sequential run's peak and of the workers' scratch.
        needed: u64,
        /// Bytes that the system says are available.
        available: u64,
    },
    /// Corrections from the semi-normal equations that did not end: R says too little about A.
    #[error(
        "x could not be refined to the accuracy of its numbers in {corrections} corrections (condition number above {condition:.1e}): factorize with Q kept"
    )]
    NotRefined {
        /// An estimate from below of the condition number of A with scaled columns.
        condition: f64,
        /// Corrections that were made.
        corrections: usize,
    },
    /// The run of the tasks ended early.
    #[error(transparent)]
    Run(#[from] treeqr_runtime::RunError),
}

impl SolveError {
    /// That of a matrix larger by 2^by.
    pub(crate) fn shifted(self, by: i32) -> Self {
        match self {
            SolveError::RankDeficient {
                what,
                index,
                pivot,
                tolerance,
            } => SolveError::RankDeficient {
                what,
                index,
                pivot: shift(pivot, by),
                tolerance: shift(tolerance, by),
            },
            other => other,
        }
    }
}

/// A number of bytes, to three digits.
struct Bytes(u64);

impl std::fmt::Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let units = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];
        let (mut size, mut unit) = (self.0 as f64, 0);
        while size >= 999.5 {
            (size, unit) = (size / 1000.0, unit + 1);
        }
        let places = match size {
            _ if unit == 0 => 0,
            s if s < 9.995 => 2,
            s if s < 99.95 => 1,
            _ => 0,
        };
        write!(f, "{size:.places$} {}", units[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_to_three_digits() {
        let text = |n| Bytes(n).to_string();
        assert_eq!(text(0), "0 bytes");
        assert_eq!(text(999), "999 bytes");
        assert_eq!(text(1000), "1.00 kB");
        assert_eq!(text(99_960), "100 kB");
        assert_eq!(text(999_600), "1.00 MB");
        assert_eq!(text(23_456_000_000), "23.5 GB");
        assert_eq!(text(u64::MAX), "18.4 EB");
    }
}
