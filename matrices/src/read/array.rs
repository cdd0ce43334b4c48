//! Array files and plain lists of numbers: one value a line, column after column.
//!
//! A symmetric or Hermitian array holds the lower triangle with its diagonal, a skew-symmetric one the lower triangle
//! without it.

use super::coordinate::{check_diagonal, mirror};
use super::cursor::Cursor;
use super::error::{Parsed, ReadErrorKind, fault};
use super::header::{Header, Symmetry};
use super::lines::{entry_start, finite, parse_lines, value};
use crate::dense::Dense;
use crate::scalar::Scalar;
use crate::sparse::Csc;

/// The dense matrix of an array file.
pub(super) fn dense<T: Scalar>(text: &[u8], header: &Header) -> Parsed<Dense<T>> {
    let h = *header;
    let parse = move |cursor: &mut Cursor<'_>, out: &mut Vec<T>| {
        out.push(value(cursor, &h)?);
        cursor.end_line()
    };
    let values = parse_lines(
        text,
        h.body,
        Some(h.entries),
        |b| b == b'%',
        |_| Vec::new(),
        parse,
    )?
    .concat();
    let values = match h.symmetry {
        Symmetry::General => values,
        _ => expand(&values, header).or_else(|(entry, kind)| {
            let at = entry_start(text, h.body, text.len(), entry, |b| b == b'%');
            fault(at, kind)
        })?,
    };
    Ok(Dense::new(h.nrows, h.ncols, values).expect("the parser counted the values"))
}

/// The nonzeros of an array file; an array writes every zero, so that a zero in it is no entry.
pub(super) fn sparse<T: Scalar>(text: &[u8], header: &Header) -> Parsed<Csc<T>> {
    let full = dense::<T>(text, header)?;
    let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for j in 0..full.ncols() {
        for (i, &v) in full.col(j).iter().enumerate().filter(|e| *e.1 != T::zero()) {
            rows.push(i as u32);
            cols.push(j as u32);
            values.push(v);
        }
    }
    Ok(
        Csc::from_owned_triplets(full.nrows(), full.ncols(), rows, cols, values)
            .expect("indices of a matrix"),
    )
}

/// A list of numbers, one a line, with comments after `%` or `#`, as one column.
pub(super) fn list<T: Scalar>(text: &[u8]) -> Parsed<Dense<T>> {
    let parse = |cursor: &mut Cursor<'_>, out: &mut Vec<T>| {
        out.push(T::from_f64(finite::<T>(cursor)?, 0.0));
        cursor.end_line()
    };
    let is_comment = |b| matches!(b, b'%' | b'#');
    let values = parse_lines(text, 0, None, is_comment, |_| Vec::new(), parse)?.concat();
    Ok(Dense::from_vector(values))
}

/// The whole matrix from its lower triangle; or the position in it of the value at fault.
fn expand<T: Scalar>(lower: &[T], header: &Header) -> Result<Vec<T>, (u64, ReadErrorKind)> {
    let n = header.nrows;
    let skew = header.symmetry == Symmetry::Skew;
    let mut values = vec![T::zero(); n * n];
    let mut next = lower.iter().zip(0..);
    for j in 0..n {
        for i in j + usize::from(skew)..n {
            let (&v, entry) = next.next().expect("the parser counted the values");
            if i == j {
                check_diagonal(v, header.symmetry).map_err(|kind| (entry, kind))?;
            }
            values[j + i * n] = mirror(v, header.symmetry);
            values[i + j * n] = v;
        }
    }
    Ok(values)
}
