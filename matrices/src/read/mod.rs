//! Matrix Market files, plain or compressed by gzip, and lists of numbers.
//!
//! Takes a path, or the bytes of a file; gives a [`Csc`] or a [`Dense`] of any scalar type. Accepts the coordinate and the
//! array format; real, integer, complex and pattern fields; general, symmetric, skew-symmetric and Hermitian matrices; a
//! banner in any case; comments and blank lines anywhere after it; CRLF line ends; exponents with a `D`, as Fortran
//! writes them. Duplicates are summed, and explicit zeros of a coordinate file stay entries.
//! Integers beyond 2^53 are rounded, as all numbers are. Refuses NaN and infinities. gzip is told by the first two bytes,
//! not by the name.
//!
//! The text is parsed in parallel, on the current rayon pool; what comes out does not depend on the number of threads. A large plain
//! coordinate file is read in pieces on the way, any other lies in memory as a whole. Memory: the text, if it does, and about two copies of the
//! entries.
//!
//! The format: R. Boisvert, R. Pozo, K. Remington, *The Matrix Market exchange formats: initial design*, NISTIR 5935,
//! 1996; <https://math.nist.gov/MatrixMarket/formats.html>.

mod array;
mod coordinate;
mod cursor;
mod error;
mod header;
mod lines;
#[cfg(unix)]
mod pieces;
mod stream;
mod whole;

pub use error::{ReadError, ReadErrorKind};
pub use stream::open_unpacked;

use crate::dense::Dense;
use crate::scalar::Scalar;
use crate::sparse::Csc;
use error::{Fault, Parsed, fault};
use header::Format;
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

/// Reads a sparse matrix from a Matrix Market file.
///
/// Zeros of an array file are dropped, explicit zeros of a coordinate file are kept.
///
/// # Errors
/// [`ReadError`], with the line and the word at fault.
pub fn read_sparse<T: Scalar>(path: impl AsRef<Path>) -> Result<Csc<T>, ReadError> {
    let path = path.as_ref();
    let _span = tracing::info_span!("read", path = %path.display()).entered();
    #[cfg(unix)]
    if let Some(matrix) = pieces::sparse(path) {
        return Ok(matrix);
    }
    parse_sparse(&bytes_of(path)?, path)
}

/// Reads a dense matrix: an array file, a coordinate file with any number of columns, or a file without a banner that
/// has one number a line (then it is one column, and lines that begin with `%` or `#` are comments).
///
/// # Errors
/// [`ReadError`], with the line and the word at fault.
pub fn read_dense<T: Scalar>(path: impl AsRef<Path>) -> Result<Dense<T>, ReadError> {
    let path = path.as_ref();
    let _span = tracing::info_span!("read", path = %path.display()).entered();
    parse_dense(&bytes_of(path)?, path)
}

/// As [`read_sparse`], from the bytes of a file; `name` is what errors call it.
///
/// ```
/// let text = b"%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 1.5D0\n";
/// let a = treeqr_matrices::parse_sparse::<f64>(text, "example")?;
/// assert_eq!((a.col(0), a.nnz()), ((&[1][..], &[1.5][..]), 1));
/// # Ok::<(), treeqr_matrices::ReadError>(())
/// ```
///
/// # Errors
/// [`ReadError`], with the line and the word at fault.
pub fn parse_sparse<T: Scalar>(bytes: &[u8], name: impl AsRef<Path>) -> Result<Csc<T>, ReadError> {
    parse(bytes, name.as_ref(), |text| {
        let header = header::parse(text, refuses_complex::<T>())?;
        match header.format {
            Format::Coordinate => coordinate::sparse(text, &header),
            Format::Array => array::sparse(text, &header),
        }
    })
}

/// As [`read_dense`], from the bytes of a file; `name` is what errors call it.
///
/// # Errors
/// [`ReadError`], with the line and the word at fault.
pub fn parse_dense<T: Scalar>(bytes: &[u8], name: impl AsRef<Path>) -> Result<Dense<T>, ReadError> {
    parse(bytes, name.as_ref(), |text| {
        if !header::has_banner(text) {
            return array::list(text);
        }
        let header = header::parse(text, refuses_complex::<T>())?;
        match header.format {
            Format::Coordinate => coordinate::dense(text, &header),
            Format::Array => array::dense(text, &header),
        }
    })
}

/// Whether the file says in its first line that its entries are complex. Looks at the beginning of the file only; false when
/// that can't be read or is no banner: reading the whole tells what is wrong.
pub fn is_complex(path: impl AsRef<Path>) -> bool {
    let Ok(file) = std::fs::File::open(path) else {
        return false;
    };
    says_complex(&start(file))
}

/// As [`is_complex`], from the first bytes of a file.
pub(crate) fn says_complex(bytes: &[u8]) -> bool {
    let text = if bytes.starts_with(&GZIP) {
        start(flate2::read::MultiGzDecoder::new(bytes))
    } else {
        start(bytes)
    };
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text);
    let complex = |fault: &Fault| matches!(fault.kind, ReadErrorKind::ComplexIntoReal { .. });
    header::parse(text, Some("real")).is_err_and(|fault| complex(&fault))
}

/// As much as has the banner.
fn start(from: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What comes before an error is as good as the rest.
    let _ = from.take(BANNER_BYTES).read_to_end(&mut bytes);
    bytes
}

/// More than any banner has.
const BANNER_BYTES: u64 = 4096;
/// The first bytes of a file that is compressed.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// What editors of one operating system put in front.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The name of a real type, for the error about complex entries.
fn refuses_complex<T: Scalar>() -> Option<&'static str> {
    (!T::IS_COMPLEX).then_some(T::NAME)
}

/// All bytes of a file, as they lie there.
pub(crate) fn bytes_of(path: &Path) -> Result<Vec<u8>, ReadError> {
    whole::read(path).map_err(|e| ReadError {
        path: path.to_owned(),
        line: None,
        column: None,
        kind: ReadErrorKind::Io(e),
    })
}

/// Uncompresses, parses, and turns the byte at fault into a line and a column.
fn parse<V>(
    bytes: &[u8],
    name: &Path,
    parser: impl Fn(&[u8]) -> Parsed<V>,
) -> Result<V, ReadError> {
    let mut text = Cow::Borrowed(bytes);
    let mut outcome = Ok(());
    if bytes.starts_with(&GZIP) {
        let (plain, result) = gunzip(bytes);
        outcome = result.map_err(|e| (plain.len(), ReadErrorKind::Gzip(e)));
        text = Cow::Owned(plain);
    }
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text);
    let result = match outcome {
        Err((at, kind)) => fault(at, kind),
        Ok(()) if text.iter().all(u8::is_ascii_whitespace) => fault(0, ReadErrorKind::Empty),
        Ok(()) => parser(text),
    };
    result.map_err(|e| {
        let Fault { at, kind } = *e;
        let (line, column) = place(text, at, &kind);
        ReadError {
            path: name.to_owned(),
            line,
            column,
            kind,
        }
    })
}

/// Line and column, both from 1, of a byte of the text; what concerns the file as a whole has no column, or no line.
fn place(text: &[u8], at: usize, kind: &ReadErrorKind) -> (Option<usize>, Option<usize>) {
    use ReadErrorKind as K;
    if matches!(kind, K::Empty | K::SumNotFinite { .. }) {
        return (None, None);
    }
    let before = &text[..at.min(text.len())];
    let line_start = before
        .iter()
        .rposition(|&b| b == b'\n')
        .map_or(0, |n| n + 1);
    let ends = before.iter().filter(|&&b| b == b'\n').count();
    if matches!(kind, K::Gzip(_) | K::TooFewEntries { .. } | K::NoSizeLine) {
        // The last line that there is.
        let last = ends + usize::from(line_start < before.len());
        return (Some(last.max(1)), None);
    }
    (Some(ends + 1), Some(at - line_start + 1))
}

/// The text, up to where it is intact.
fn gunzip(bytes: &[u8]) -> (Vec<u8>, std::io::Result<()>) {
    // The last four bytes are the length of the text; a wrong one is harmless, since deflate can't do better than 1:1032.
    let hint = bytes
        .last_chunk()
        .map_or(0, |b| u32::from_le_bytes(*b) as usize);
    let mut text = Vec::with_capacity(hint.min(bytes.len().saturating_mul(1032)));
    let result = flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut text);
    (text, result.map(|_| ()))
}
