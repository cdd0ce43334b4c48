//! The file for records that memory has no room for.
//!
//! Takes words; gives them back. It has no name while it is used, where the system can do that, so that it goes with the
//! process whatever happens; elsewhere it is removed when it is closed. Knows no record.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// An open file.
#[derive(Debug)]
pub(crate) struct SpillFile {
    file: Option<File>,
    /// Where it is still to be removed.
    name: Option<PathBuf>,
    bytes: Vec<u8>,
    end: u64,
}

/// Where some words are in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    offset: u64,
    words: usize,
}

const WORD: usize = size_of::<u64>();

impl SpillFile {
    /// A new file in `folder`.
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("treeqr-records-{}-{number}.tmp", std::process::id());
            let name = folder.join(name);
            let mut options = OpenOptions::new();
            match options.read(true).write(true).create_new(true).open(&name) {
                Ok(file) => {
                    let still_there = fs::remove_file(&name).is_err();
                    return Ok(SpillFile {
                        file: Some(file),
                        name: still_there.then_some(name),
                        bytes: Vec::new(),
                        end: 0,
                    });
                }
                // Of another process that had this number, and died.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn file(&mut self) -> &mut File {
        self.file.as_mut().expect("open until it is dropped")
    }

    /// Appends `words`. After an error nothing of them counts, and the next ones take their place.
    pub(super) fn write(&mut self, words: &[u64]) -> io::Result<Place> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        let offset = self.end;
        let file = self.file();
        let written = file
            .seek(SeekFrom::Start(offset))
            .and_then(|_| file.write_all(&bytes));
        self.bytes = bytes;
        written?;
        self.end += (words.len() * WORD) as u64;
        Ok(Place {
            offset,
            words: words.len(),
        })
    }

    /// The words that were written at `place`, in `words`.
    pub(crate) fn read(&mut self, place: Place, words: &mut Vec<u64>) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.resize(place.words * WORD, 0);
        let file = self.file();
        let read = file
            .seek(SeekFrom::Start(place.offset))
            .and_then(|_| file.read_exact(&mut bytes));
        words.clear();
        let (whole, _) = bytes.as_chunks();
        words.extend(whole.iter().map(|&word| u64::from_ne_bytes(word)));
        self.bytes = bytes;
        read
    }
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        drop(self.file.take());
        if let Some(name) = self.name.take() {
            // What can't be removed stays: there is nobody to tell.
            let _ = fs::remove_file(name);
        }
    }
}
