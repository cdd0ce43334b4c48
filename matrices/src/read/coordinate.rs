//! Coordinate files: one line `row column value` for each entry, indices from 1.
//!
//! In a symmetric, skew-symmetric or Hermitian file an entry off the diagonal stands for two: itself and its mirror
//! image (equal, negated or conjugated). The format asks for entries of the lower triangle; many programs write the upper
//! one, and the entry means the same there, so both are taken. A file that has a position *and* its mirror image gives
//! each of the two places twice, and what comes twice is summed, as everywhere: such a file is not the matrix with each
//! value once. SciPy and MATLAB's mmread do the same.

use super::cursor::Cursor;
use super::error::{Fault, Parsed, ReadErrorKind, fault};
use super::header::{Header, Symmetry};
use super::lines::{parse_lines, value};
use crate::dense::Dense;
use crate::scalar::Scalar;
use crate::sparse::Csc;
use crate::triplets::Triplets;

/// Bytes of the shortest line: two indices, and the ends of both.
const SHORTEST: usize = 4;
/// One in so many entries has room beyond what the average says.
const SPARE: usize = 32;

/// The entries of a coordinate file in compressed columns, duplicates summed.
pub(super) fn sparse<T: Scalar>(text: &[u8], header: &Header) -> Parsed<Csc<T>> {
    let pieces = triplets::<T>(text, header)?;
    put_together(header, pieces).map_err(|kind| {
        Box::new(Fault {
            at: text.len(),
            kind,
        })
    })
}

/// The entries of all pieces in compressed columns, duplicates summed.
pub(super) fn put_together<T: Scalar>(
    header: &Header,
    pieces: Vec<Triplets<T>>,
) -> Result<Csc<T>, ReadErrorKind> {
    let count = pieces.iter().map(|piece| piece.view().2.len()).sum();
    let matrix = Csc::from_parts(header.nrows, header.ncols, pieces);
    if matrix.nnz() < count
        && let Some((row, col)) = matrix.first_non_finite()
    {
        return Err(sum_not_finite(row, col));
    }
    Ok(matrix)
}

/// The entries of a coordinate file in a dense matrix, zero elsewhere, duplicates summed.
pub(super) fn dense<T: Scalar>(text: &[u8], header: &Header) -> Parsed<Dense<T>> {
    let (nrows, ncols) = (header.nrows, header.ncols);
    // A sparse file may stand for a dense matrix that memory can't hold.
    if nrows as u64 * ncols as u64 > (1 << 26) + 64 * text.len() as u64 {
        let (nrows, ncols, bytes) = (nrows as u64, ncols as u64, text.len());
        let kind = ReadErrorKind::Implausible {
            nrows,
            ncols,
            bytes,
        };
        return fault(header.size_at, kind);
    }
    let pieces = triplets::<T>(text, header)?;
    let mut values = vec![T::zero(); nrows * ncols];
    for piece in &pieces {
        let (rows, cols, entries) = piece.view();
        for ((&i, &j), &v) in rows.iter().zip(cols).zip(entries) {
            values[i as usize + j as usize * nrows] += v;
        }
    }
    if let Some(p) = values.iter().position(|v| !v.is_finite()) {
        return fault(text.len(), sum_not_finite(p % nrows, p / nrows));
    }
    Ok(Dense::new(nrows, ncols, values).expect("one value for every place"))
}

fn sum_not_finite(row: usize, col: usize) -> ReadErrorKind {
    ReadErrorKind::SumNotFinite {
        row: row + 1,
        col: col + 1,
    }
}

/// The entries from 0, mirror images included, in the order of the text.
fn triplets<T: Scalar>(text: &[u8], header: &Header) -> Parsed<Vec<Triplets<T>>> {
    let h = *header;
    let room = Room::new(header, text.len() - h.body);
    let parse = move |cursor: &mut Cursor<'_>, out: &mut Triplets<T>| entry(cursor, &h, out);
    let empty = |bytes| room.of(bytes);
    parse_lines(text, h.body, Some(h.entries), is_comment, empty, parse)
}

pub(super) fn is_comment(byte: u8) -> bool {
    byte == b'%'
}

/// How many entries a piece of the text has room for at first.
pub(super) struct Room {
    /// In a byte, on average.
    lines: f64,
    /// Of a line.
    entries: usize,
}

impl Room {
    /// For all lines in so many bytes.
    pub fn new(header: &Header, bytes: usize) -> Self {
        Room {
            lines: header.entries as f64 / bytes as f64,
            entries: match header.symmetry {
                Symmetry::General => 1,
                _ => 2,
            },
        }
    }

    /// As many as there are bytes in it; no more than lines of a few characters.
    pub fn of<T: Copy>(&self, bytes: usize) -> Triplets<T> {
        let lines = (self.lines * bytes as f64) as usize;
        let lines = (lines + lines / SPARE + 1).min(bytes / SHORTEST + 1);
        Triplets::with_capacity(self.entries * lines)
    }
}

#[inline(always)]
pub(super) fn entry<T: Scalar>(
    cursor: &mut Cursor<'_>,
    header: &Header,
    out: &mut Triplets<T>,
) -> Parsed<()> {
    let start = cursor.at;
    let i = position(cursor, "row", header.nrows)?;
    let j = position(cursor, "column", header.ncols)?;
    let v: T = value(cursor, header)?;
    cursor.end_line()?;
    match header.symmetry {
        Symmetry::General => out.push(i, j, v),
        symmetry if i == j => {
            check_diagonal(v, symmetry).map_err(|kind| Box::new(Fault { at: start, kind }))?;
            out.push(i, j, v);
        }
        symmetry => {
            out.push(i, j, v);
            out.push(j, i, mirror(v, symmetry));
        }
    }
    Ok(())
}

/// An index from 1 to `limit`, as one from 0.
#[inline(always)]
fn position(cursor: &mut Cursor<'_>, what: &'static str, limit: usize) -> Parsed<u32> {
    cursor.skip_blanks();
    let at = cursor.at;
    let index = cursor.index(match what {
        "row" => "row index",
        _ => "column index",
    })?;
    if index == 0 || index > limit as u64 {
        let limit = limit as u64;
        return fault(at, ReadErrorKind::OutOfRange { what, index, limit });
    }
    Ok((index - 1) as u32)
}

/// The value at (j, i) that the value at (i, j) implies.
pub(super) fn mirror<T: Scalar>(v: T, symmetry: Symmetry) -> T {
    match symmetry {
        Symmetry::General | Symmetry::Symmetric => v,
        Symmetry::Skew => -v,
        Symmetry::Hermitian => v.conj(),
    }
}

/// Refuses a value on the diagonal that the symmetry rules out.
pub(super) fn check_diagonal<T: Scalar>(v: T, symmetry: Symmetry) -> Result<(), ReadErrorKind> {
    let must = match symmetry {
        Symmetry::Skew if v != T::zero() => "zero",
        Symmetry::Hermitian if v.im() != T::Real::zero() => "real",
        _ => return Ok(()),
    };
    let symmetry = symmetry.name();
    Err(ReadErrorKind::Diagonal { symmetry, must })
}
