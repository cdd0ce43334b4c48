//! Why a file could not be written.

use std::io;
use std::path::PathBuf;

/// Why a file could not be written. What was there before is unharmed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The folder does not exist or nothing may be written there.
    #[error("{}: can't be written: {source}", path.display())]
    Create {
        /// The file, as the caller named it.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The name is that of a folder, or of none.
    #[error("{}: is not the name of a file", path.display())]
    NotAFile {
        /// The file, as the caller named it.
        path: PathBuf,
    },
    /// A file of this name exists and is read-only.
    #[error("{}: exists and is read-only", path.display())]
    ReadOnly {
        /// The file, as the caller named it.
        path: PathBuf,
    },
    /// Writing failed on the way, as when the disk is full.
    #[error("{}: not written: {source}", path.display())]
    Write {
        /// The file, as the caller named it.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A value that the format has no word for, and that the reader would refuse.
    #[error("{}: not written: the value at row {row}, column {col} (from 1) is not finite", path.display())]
    NotFinite {
        /// The file, as the caller named it.
        path: PathBuf,
        /// Row of the value, from 1.
        row: usize,
        /// Column of the value, from 1.
        col: usize,
    },
}
