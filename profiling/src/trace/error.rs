//! What can be wrong with a folder that is to be a trace, or is to become one.

use super::manifest::MANIFEST;
use super::schema::SCHEMA_VERSION;
use crate::part::PartError;
use std::io;
use std::path::PathBuf;

/// A trace that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// A folder or file cannot be read or written.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no manifest.
    #[error("{path} is not a trace: it has no {MANIFEST}", path = path.display())]
    NotATrace {
        /// The folder.
        path: PathBuf,
    },
    /// The manifest does not say what a manifest says.
    #[error("{path}: {message}", path = path.display())]
    Manifest {
        /// The manifest's file.
        path: PathBuf,
        /// What is wrong, with line and column where known.
        message: String,
    },
    /// Another version of the tables.
    #[error(
        "{path} has version {found} of the trace tables; this program reads version {SCHEMA_VERSION}",
        path = path.display()
    )]
    Version {
        /// The folder.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
    /// A table's file is not what was written.
    #[error("{path}: {message}", path = path.display())]
    Damaged {
        /// The table's file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The target exists.
    #[error("{path} exists already", path = path.display())]
    Exists {
        /// The target.
        path: PathBuf,
    },
    /// The target exists and is no trace: it is not replaced, whatever is asked for.
    #[error("{path} exists and is not a trace: it is left alone", path = path.display())]
    Foreign {
        /// The target.
        path: PathBuf,
    },
}

impl TraceError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| TraceError::Io { path, source }
    }
}

impl From<PartError> for TraceError {
    fn from(error: PartError) -> Self {
        match error {
            PartError::Exists { path } => TraceError::Exists { path },
            PartError::Io { path, source } => TraceError::Io { path, source },
        }
    }
}
