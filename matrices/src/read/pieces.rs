//! A large coordinate file in pieces: each is read into a buffer that its thread has at hand, and parsed from the nearest cache.
//!
//! Takes a path; gives the matrix. The text as a whole is never in memory: its pages would take the system as long as the numbers in them take to be parsed. What is wrong
//! in a file is not told here: whoever gets nothing reads it as a whole.

use super::coordinate::{self, Room};
use super::cursor::Cursor;
use super::header::{self, Format, Header};
use super::lines::each_line;
use super::refuses_complex;
use crate::scalar::Scalar;
use crate::sparse::Csc;
use crate::triplets::Triplets;
use rayon::prelude::*;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Most bytes of a piece: it stays in the second-level cache until it is parsed.
const MOST: u64 = 1 << 18;
/// Pieces that a small file comes in, so that threads end at about the same time.
const PIECES: u64 = 16;
/// Files with less are read as a whole.
const WORTH_IT: u64 = 1 << 18;
/// What the banner, the comments before the size and the size may take.
const HEAD: usize = 1 << 16;
/// What is read more at once, until the last line of a piece ends.
const MORE: usize = 1 << 12;

/// The matrix of a file that is large, plain and without fault.
pub(super) fn sparse<T: Scalar>(path: &Path) -> Option<Csc<T>> {
    // A pipe must not be opened twice.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let file = File::open(path).ok()?;
    let about = file.metadata().ok()?;
    if about.len() < WORTH_IT {
        return None;
    }
    let mut head = vec![0; HEAD];
    file.read_exact_at(&mut head, 0).ok()?;
    let header = header::parse(&head, refuses_complex::<T>()).ok()?;
    // A size line that ends with what was read may go on behind it.
    if header.format != Format::Coordinate || header.body >= HEAD {
        return None;
    }
    let text = Text {
        file: &file,
        body: header.body as u64,
        len: about.len(),
        piece: (about.len() / PIECES).min(MOST),
    };
    let room = Room::new(&header, (text.len - text.body) as usize);
    let pieces = (text.len - text.body).div_ceil(text.piece);
    let parsed: Option<Vec<(Triplets<T>, u64)>> = (0..pieces)
        .into_par_iter()
        .map_init(Vec::new, |buffer, k| {
            let lines = text.lines(k, buffer)?;
            parse(lines, &header, room.of(lines.len()))
        })
        .collect();
    let (contents, entries): (Vec<_>, Vec<u64>) = parsed?.into_iter().unzip();
    let is_whole = matches!(file.read_at(&mut [0], text.len), Ok(0));
    if !is_whole || entries.iter().sum::<u64>() != header.entries {
        return None;
    }
    tracing::debug_span!("put together")
        .in_scope(|| coordinate::put_together(&header, contents))
        .ok()
}

/// The entries of some lines, and how many lines.
fn parse<T: Scalar>(
    text: &[u8],
    header: &Header,
    mut out: Triplets<T>,
) -> Option<(Triplets<T>, u64)> {
    let mut cursor = Cursor::new(text, 0, text.len());
    let parse = |cursor: &mut Cursor<'_>| coordinate::entry(cursor, header, &mut out);
    match each_line(&mut cursor, coordinate::is_comment, parse) {
        (lines, None) => Some((out, lines)),
        (_, Some(_)) => None,
    }
}

/// The lines behind the head.
struct Text<'a> {
    file: &'a File,
    body: u64,
    len: u64,
    /// Bytes of a piece.
    piece: u64,
}

impl Text<'_> {
    /// Those that begin in piece k, by way of a buffer.
    fn lines<'b>(&self, k: u64, buffer: &'b mut Vec<u8>) -> Option<&'b [u8]> {
        let (start, end) = (self.body + k * self.piece, self.body + (k + 1) * self.piece);
        // With the byte before, which tells whether a line begins at the start; that of the body is the end of the size line, if there is one.
        let (start, end) = (start - 1, end.min(self.len));
        buffer.resize((end - start) as usize, 0);
        self.file.read_exact_at(buffer, start).ok()?;
        let line_end = |bytes: &[u8]| bytes.iter().position(|&b| b == b'\n');
        let begin = match k {
            0 => 1,
            _ => line_end(buffer).map_or(buffer.len(), |n| n + 1),
        };
        if begin < buffer.len() && buffer.last() != Some(&b'\n') {
            let mut at = end;
            while at < self.len {
                let before = buffer.len();
                buffer.resize(before + MORE.min((self.len - at) as usize), 0);
                self.file.read_exact_at(&mut buffer[before..], at).ok()?;
                at += (buffer.len() - before) as u64;
                if let Some(n) = line_end(&buffer[before..]) {
                    buffer.truncate(before + n + 1);
                    break;
                }
            }
        }
        Some(&buffer[begin..])
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse_sparse, read_sparse};
    use super::*;
    use std::fmt::Write as _;
    use std::io::Write as _;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    fn file_of(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(text.as_bytes()).expect("room for it");
        file
    }

    /// Lines of all lengths with comments and blank lines between, so that pieces end at every place of a line.
    fn lines(entries: usize) -> String {
        let mut text = String::new();
        for k in 0..entries {
            let (i, j) = (k * 7919 % 3000 + 1, k * 104_729 % 2000 + 1);
            let digits = k % 17;
            writeln!(text, "{i} {j} {:.digits$e}", (k as f64 + 0.5) / 3.0).expect("a string");
            if k % 1000 == 999 {
                writeln!(text, "% {}\n", "-".repeat(k % 300)).expect("a string");
            }
        }
        text
    }

    #[test]
    fn a_file_in_pieces_is_the_same_as_in_one() {
        for (entries, banner, end) in [
            (
                220_000,
                "%%MatrixMarket matrix coordinate real general\n% a comment\n",
                "",
            ),
            (
                20_000,
                "%%MatrixMarket matrix coordinate real general\r\n",
                "\n\n",
            ),
        ] {
            let body = lines(entries);
            let text = format!("{banner}3000 2000 {entries}\n{}{end}", body.trim_end());
            assert!(text.len() as u64 > WORTH_IT);
            let file = file_of(&text);
            let expected = parse_sparse::<f64>(text.as_bytes(), "text").expect("a matrix");
            let found = sparse::<f64>(file.path()).expect("in pieces");
            assert_eq!(found.pattern(), expected.pattern());
            assert!(found.values() == expected.values());
        }
    }

    #[test]
    fn lines_longer_than_a_piece_are_in_one() {
        let comment = format!("%{}\n", "-".repeat(3 * MOST as usize));
        let head = "%%MatrixMarket matrix coordinate real general\n2 2 3\n";
        let blanks = " ".repeat(2 * MOST as usize + 5);
        let text = format!("{head}1 1 1\n{comment}2 1{blanks}2\n2 2 3");
        let found = sparse::<f64>(file_of(&text).path()).expect("in pieces");
        assert_eq!(found.values(), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_pipe_is_read_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("mkfifo").success());
        let text = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n";
        // A writer is often done before a second opening, which would wait for another one.
        for _ in 0..100 {
            let to = path.clone();
            let writer = thread::spawn(move || fs::write(to, text));
            let (send, found) = mpsc::channel();
            let from = path.clone();
            thread::spawn(move || send.send(read_sparse::<f64>(from)));
            let found = found.recv_timeout(Duration::from_secs(60));
            let matrix = found.expect("no second opening").expect("a matrix");
            assert_eq!(matrix.values(), [2.0]);
            writer.join().expect("a writer").expect("a reader");
        }
    }

    #[test]
    fn what_is_at_fault_has_its_place() {
        let body = lines(220_000);
        let head = "%%MatrixMarket matrix coordinate real general\n3000 2000";
        for (text, word) in [
            (format!("{head} 220000\n{body}1 1 1\n"), "220000"),
            (format!("{head} 220001\n{body}"), "220001"),
            (format!("{head} 220001\n{body}1 1 x\n"), "x"),
            (format!("{head} 220001\n{body}3001 1 1\n"), "3001"),
        ] {
            let file = file_of(&text);
            assert!(sparse::<f64>(file.path()).is_none());
            let error = read_sparse::<f64>(file.path()).expect_err("a fault");
            let expected = parse_sparse::<f64>(text.as_bytes(), file.path()).expect_err("a fault");
            assert_eq!(error.to_string(), expected.to_string());
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}
