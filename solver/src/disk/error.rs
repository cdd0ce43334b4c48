//! Why factors could not be loaded.

use std::io;

/// Why a stream does not give factors. Offsets are in bytes from its beginning, to within a block.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FactorsFileError {
    /// The system's word.
    #[error("factors could not be read at byte {offset}: {source}")]
    Read {
        /// Where.
        offset: u64,
        /// What it said.
        source: io::Error,
    },
    /// Something else than factors.
    #[error("this is no file of factors: it does not begin as one")]
    NotFactors,
    /// A format that this version does not know.
    #[error(
        "the factors are in format {found}, written by treeqr {writer}; known is format {known}"
    )]
    Version {
        /// The format found.
        found: u32,
        /// The format that is known.
        known: u32,
        /// Who wrote it.
        writer: String,
    },
    /// A machine with another order of bytes or another word.
    #[error("the factors were saved on a machine with other words or another order of bytes")]
    OtherMachine,
    /// Factors of another scalar.
    #[error("the factors are {found}, not {asked}")]
    Scalar {
        /// The scalar found.
        found: String,
        /// The scalar asked for.
        asked: &'static str,
    },
    /// The stream ends too early.
    #[error("the factors are cut off: the file ends after byte {offset}")]
    Truncated {
        /// Where.
        offset: u64,
    },
    /// A checksum that is wrong, or numbers that do not belong together.
    #[error("the factors are damaged near byte {offset}: {what}")]
    Damaged {
        /// Where.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// No memory for them.
    #[error("out of memory: cannot allocate {bytes} bytes for the factors")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
    },
}
