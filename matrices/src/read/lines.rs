//! All lines of the body, in parallel where there are many.
//!
//! The text is cut into pieces at line ends; every piece is parsed by itself into lists of its own, and the faults come
//! back in the order of the text. Which pieces there are depends on the text alone, so the result does too.

use super::cursor::{Cursor, quote};
use super::error::{Fault, Parsed, ReadErrorKind, fault};
use super::header::{Field, Header};
use crate::scalar::Scalar;
use rayon::prelude::*;

/// Bytes of a piece: some ten thousand entries.
const PIECE: usize = 1 << 20;

/// What one piece of the text held.
struct Piece<C> {
    content: C,
    /// Lines that are neither blank nor comments, up to the first fault.
    entries: u64,
    fault: Option<Box<Fault>>,
}

/// Parses every line from byte `body` on with `parse`, which is called at its first word and has to end behind the line;
/// returns the contents of all pieces, in order.
///
/// With `expected`, another number of lines is a fault. `empty` is what a piece of so many bytes begins with.
pub(super) fn parse_lines<C: Send>(
    text: &[u8],
    body: usize,
    expected: Option<u64>,
    is_comment: impl Fn(u8) -> bool + Sync,
    empty: impl Fn(usize) -> C + Sync,
    parse: impl Fn(&mut Cursor<'_>, &mut C) -> Parsed<()> + Sync,
) -> Parsed<Vec<C>> {
    let ranges = cut(text, body);
    let read = |&(start, end): &(usize, usize)| {
        let mut cursor = Cursor::new(text, start, end);
        let mut piece = Piece {
            content: empty(end - start),
            entries: 0,
            fault: None,
        };
        let parse = |cursor: &mut Cursor<'_>| parse(cursor, &mut piece.content);
        (piece.entries, piece.fault) = each_line(&mut cursor, &is_comment, parse);
        piece
    };
    let pieces: Vec<Piece<C>> = match ranges.len() {
        0 | 1 => ranges.iter().map(read).collect(),
        _ => ranges.par_iter().map(read).collect(),
    };

    let mut found = 0;
    let mut contents = Vec::with_capacity(pieces.len());
    for (piece, &(start, end)) in pieces.into_iter().zip(&ranges) {
        if let Some(expected) = expected.filter(|&n| found + piece.entries > n) {
            let at = entry_start(text, start, end, expected - found, &is_comment);
            let kind = ReadErrorKind::TooManyEntries { expected };
            return Err(Box::new(Fault { at, kind }));
        }
        found += piece.entries;
        match piece.fault {
            Some(fault) => return Err(fault),
            None => contents.push(piece.content),
        }
    }
    match expected.filter(|&n| n != found) {
        None => Ok(contents),
        Some(expected) => Err(Box::new(Fault {
            at: text.len(),
            kind: ReadErrorKind::TooFewEntries { expected, found },
        })),
    }
}

/// Parses lines that are neither blank nor comments; how many there were, up to the first fault.
#[inline(always)]
pub(super) fn each_line(
    cursor: &mut Cursor<'_>,
    is_comment: impl Fn(u8) -> bool,
    mut parse: impl FnMut(&mut Cursor<'_>) -> Parsed<()>,
) -> (u64, Option<Box<Fault>>) {
    let mut lines = 0;
    while cursor.next_line(&is_comment) {
        if let Err(fault) = parse(cursor) {
            return (lines, Some(fault));
        }
        lines += 1;
    }
    (lines, None)
}

/// Ranges of about [`PIECE`] bytes that end behind a line end.
fn cut(text: &[u8], body: usize) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut start = body;
    while start < text.len() {
        let mut end = text.len().min(start + PIECE);
        end += text[end..]
            .iter()
            .position(|&b| b == b'\n')
            .map_or(text.len() - end, |n| n + 1);
        ranges.push((start, end));
        start = end;
    }
    ranges
}

/// The byte at which the entry after the first `skip` ones from byte `start` on begins.
pub(super) fn entry_start(
    text: &[u8],
    start: usize,
    end: usize,
    skip: u64,
    is_comment: impl Fn(u8) -> bool,
) -> usize {
    let mut cursor = Cursor::new(text, start, end);
    for _ in 0..skip {
        cursor.next_line(&is_comment);
        cursor.skip_line();
    }
    cursor.next_line(&is_comment);
    cursor.at
}

/// The value at the end of a line, as the field of the header says, finite in `T`.
#[inline(always)]
pub(super) fn value<T: Scalar>(cursor: &mut Cursor<'_>, header: &Header) -> Parsed<T> {
    match header.field {
        Field::Pattern => Ok(T::one()),
        Field::Real => Ok(T::from_f64(finite::<T>(cursor)?, 0.0)),
        Field::Integer => {
            cursor.skip_blanks();
            let start = cursor.at;
            let number = finite::<T>(cursor)?;
            if number.fract() != 0.0 {
                return first_word(cursor, start, |found| ReadErrorKind::NotAnInteger { found });
            }
            Ok(T::from_f64(number, 0.0))
        }
        Field::Complex => {
            let re = finite::<T>(cursor)?;
            Ok(T::from_f64(re, finite::<T>(cursor)?))
        }
    }
}

/// A number that is finite in the precision of `T`.
#[inline(always)]
pub(super) fn finite<T: Scalar>(cursor: &mut Cursor<'_>) -> Parsed<f64> {
    cursor.skip_blanks();
    let start = cursor.at;
    let number = cursor.number()?;
    if !T::from_f64(number, 0.0).is_finite() {
        let scalar = T::NAME;
        return first_word(cursor, start, |found| ReadErrorKind::NotFinite {
            found,
            scalar,
        });
    }
    Ok(number)
}

/// A fault of the word at byte `start`.
#[cold]
fn first_word<T>(
    cursor: &mut Cursor<'_>,
    start: usize,
    kind: impl Fn(String) -> ReadErrorKind,
) -> Parsed<T> {
    cursor.at = start;
    let found = quote(cursor.word());
    fault(start, kind(found))
}
