//! A file as a stream, unpacked where it is compressed.
//!
//! Takes a path; gives bytes. Knows not what they mean.

use super::GZIP;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// What is read at once.
const BUFFER: usize = 1 << 18;

/// Opens a file, plain or compressed by gzip, which is told by its first two bytes and not by its name.
///
/// # Errors
/// That of the system. One of a damaged compressed file comes when it is read.
pub fn open_unpacked(path: impl AsRef<Path>) -> io::Result<Box<dyn Read>> {
    let mut file = BufReader::with_capacity(BUFFER, File::open(path)?);
    // A first read of one byte alone would be no file of a disk.
    Ok(match file.fill_buf()?.starts_with(&GZIP) {
        true => Box::new(MultiGzDecoder::new(file)),
        false => Box::new(file),
    })
}
