//! All bytes of a file, parts of it on all threads.
//!
//! Takes a path; gives bytes. Where the system has the file in memory, reading it is copying into fresh pages, which take a thread alone
//! longer than all threads then take to parse what is in them.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes that a thread reads at once.
const PART: usize = 1 << 20;
/// Files with less are read by one.
const WORTH_IT: usize = 4 * PART;

/// Reads a file.
///
/// # Errors
/// Those of the system, and a lack of memory for it.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Opened once: a pipe whose writer is done by then would not open again.
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    let len = usize::try_from(about.len()).unwrap_or(usize::MAX);
    if about.is_file() && len >= WORTH_IT {
        // A vector of zeros ends the program where there is no memory for it; this one tells.
        Vec::<u8>::new().try_reserve_exact(len)?;
        if let Some(bytes) = in_parts(&file, len) {
            return Ok(bytes);
        }
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The `len` bytes that are there, or nothing if they are not all, or not any more.
#[cfg(unix)]
fn in_parts(file: &File, len: usize) -> Option<Vec<u8>> {
    use rayon::prelude::*;
    use std::os::unix::fs::FileExt;
    let mut bytes = vec![0; len];
    let parts = bytes.par_chunks_mut(PART).enumerate();
    let done = parts.try_for_each(|(k, part)| file.read_exact_at(part, (k * PART) as u64));
    let ends = matches!(file.read_at(&mut [0], len as u64), Ok(0));
    (done.is_ok() && ends).then_some(bytes)
}

#[cfg(not(unix))]
fn in_parts(_: &File, _: usize) -> Option<Vec<u8>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn files_of_all_sizes_are_what_was_written() {
        for len in [0, 1, WORTH_IT - 1, WORTH_IT, WORTH_IT + 1, 5 * PART + 17] {
            let bytes: Vec<u8> = (0..len).map(|k| (k / 3 % 251) as u8).collect();
            let mut file = tempfile::NamedTempFile::new().expect("a file");
            file.write_all(&bytes).expect("room for it");
            assert!(read(file.path()).expect("a file") == bytes, "{len} bytes");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_file_of_another_length_is_not_read_in_parts() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(&vec![7; WORTH_IT]).expect("room for it");
        let opened = File::open(file.path()).expect("a file");
        let in_parts = |len| in_parts(&opened, len).map(|bytes| bytes.len());
        assert_eq!(in_parts(WORTH_IT), Some(WORTH_IT));
        assert_eq!(in_parts(WORTH_IT - 1), None);
        assert_eq!(in_parts(WORTH_IT + 1), None);
    }

    #[test]
    fn what_is_no_file_is_an_error() {
        assert!(read(Path::new("/no/such/file")).is_err());
        assert!(read(&std::env::temp_dir()).is_err());
    }
}
