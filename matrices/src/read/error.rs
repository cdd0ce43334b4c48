//! What can be wrong with a file, and where.

use std::path::PathBuf;

/// Why a file could not be read: what is wrong, and where it is.
///
/// Shown as `path:line:column: what is wrong`, with as much of the place as there is.
#[derive(Debug, thiserror::Error)]
#[error("{}: {kind}", self.place())]
#[non_exhaustive]
pub struct ReadError {
    /// The file, as the caller named it.
    pub path: PathBuf,
    /// Line of the (uncompressed) text, from 1; absent where the fault is not in a line.
    pub line: Option<usize>,
    /// Byte within the line, from 1, of the word at fault.
    pub column: Option<usize>,
    /// What is wrong.
    #[source]
    pub kind: ReadErrorKind,
}

impl ReadError {
    fn place(&self) -> String {
        let path = self.path.display();
        match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{path}:{line}:{column}"),
            (Some(line), None) => format!("{path}:{line}"),
            _ => path.to_string(),
        }
    }
}

/// What is wrong with a file. Words of the file are quoted shortened and with unprintable bytes escaped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The file can't be opened or read.
    #[error("{0}")]
    Io(#[source] std::io::Error),
    /// The gzip stream is cut off or damaged; the line is the one that the intact part ends in.
    #[error("the gzip stream is cut off or damaged: {0}")]
    Gzip(#[source] std::io::Error),
    /// No text at all.
    #[error("the file is empty")]
    Empty,
    /// The first line is not a Matrix Market banner.
    #[error("the first line must begin with %%MatrixMarket, not with '{found}'")]
    NoBanner {
        /// The first word of the file.
        found: String,
    },
    /// A word of the banner that is not known, or missing (then `found` is empty).
    #[error("the banner says '{found}' where one of {expected} must stand")]
    BannerWord {
        /// The word found.
        found: String,
        /// What may stand there.
        expected: &'static str,
    },
    /// Words of the banner that can't stand together, as `array pattern`.
    #[error("a matrix can't be both {first} and {second}")]
    BannerConflict {
        /// The one.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// Complex entries where the caller asked for a real type.
    #[error("the entries are complex, which {scalar} can't hold: ask for c32 or c64")]
    ComplexIntoReal {
        /// The type asked for.
        scalar: &'static str,
    },
    /// The file ends before the line with the dimensions.
    #[error("the file ends before the line with the dimensions")]
    NoSizeLine,
    /// A dimension that does not fit the 32-bit index, or more entries than memory can address.
    #[error("{nrows} x {ncols} is too large: dimensions must stay below 2^32 - 1")]
    TooLarge {
        /// Rows of the matrix.
        nrows: u64,
        /// Columns of the matrix.
        ncols: u64,
    },
    /// Dimensions that a file so small can't mean: memory would be spent on nothing.
    #[error(
        "{nrows} x {ncols} is too large for a file of {bytes} bytes: nearly all of it would be empty"
    )]
    Implausible {
        /// Rows of the matrix.
        nrows: u64,
        /// Columns of the matrix.
        ncols: u64,
        /// Size of the uncompressed text.
        bytes: usize,
    },
    /// A symmetric, skew-symmetric or Hermitian matrix that is not square.
    #[error("a {symmetry} matrix must be square, not {nrows} x {ncols}")]
    NotSquare {
        /// The symmetry that the banner states.
        symmetry: &'static str,
        /// Rows of the matrix.
        nrows: u64,
        /// Columns of the matrix.
        ncols: u64,
    },
    /// A line that ends too early.
    #[error("the line ends where the {what} must stand")]
    Missing {
        /// What is missing.
        what: &'static str,
    },
    /// More on a line than belongs there.
    #[error("'{found}' is more than belongs on this line")]
    TrailingText {
        /// The first word too many.
        found: String,
    },
    /// A word that is no non-negative integer where an index or a count must stand.
    #[error("'{found}' is not a valid {what}")]
    NotAnIndex {
        /// The word found.
        found: String,
        /// What it should be.
        what: &'static str,
    },
    /// An index that lies outside of the matrix. Indices count from 1.
    #[error("{what} index {index} is not within 1..={limit}")]
    OutOfRange {
        /// `row` or `column`.
        what: &'static str,
        /// The index found.
        index: u64,
        /// Rows or columns of the matrix.
        limit: u64,
    },
    /// A word that is no number.
    #[error("'{found}' is not a number")]
    NotANumber {
        /// The word found.
        found: String,
    },
    /// A number with a fraction in a file of integers.
    #[error("'{found}' is not an integer, which the banner promises")]
    NotAnInteger {
        /// The word found.
        found: String,
    },
    /// NaN, infinity, or a number beyond the largest of the type asked for.
    #[error("'{found}' is not a finite {scalar} number")]
    NotFinite {
        /// The word found.
        found: String,
        /// The type asked for.
        scalar: &'static str,
    },
    /// Entries of the same place whose sum overflows.
    #[error(
        "the entries at row {row}, column {col} (from 1) add up to something that is not finite"
    )]
    SumNotFinite {
        /// Row of the entry, from 1.
        row: usize,
        /// Column of the entry, from 1.
        col: usize,
    },
    /// A diagonal entry that the symmetry rules out: not zero (skew-symmetric) or not real (Hermitian).
    #[error("the diagonal of a {symmetry} matrix must be {must}")]
    Diagonal {
        /// The symmetry that the banner states.
        symmetry: &'static str,
        /// What the entry must be.
        must: &'static str,
    },
    /// The file ends before all entries came.
    #[error("the file ends after {found} of {expected} entries")]
    TooFewEntries {
        /// Entries promised by the line with the dimensions.
        expected: u64,
        /// Entries found.
        found: u64,
    },
    /// Entries beyond the number that was promised; the place is that of the first.
    #[error("more than the {expected} entries that the dimensions promise")]
    TooManyEntries {
        /// Entries promised by the line with the dimensions.
        expected: u64,
    },
}

/// A fault at a byte of the text; lines are counted only when there is one.
#[derive(Debug)]
pub(super) struct Fault {
    /// Byte of the text, from 0.
    pub at: usize,
    /// What is wrong there.
    pub kind: ReadErrorKind,
}

/// A result whose error is small enough not to slow down the loop over entries.
pub(super) type Parsed<T> = Result<T, Box<Fault>>;

#[cold]
pub(super) fn fault<T>(at: usize, kind: ReadErrorKind) -> Parsed<T> {
    Err(Box::new(Fault { at, kind }))
}
