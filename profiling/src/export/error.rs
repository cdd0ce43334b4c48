//! What can keep an export from being written.

use crate::part::PartError;
use std::io;
use std::path::PathBuf;

/// An export that was not written; its target is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A folder or file cannot be written.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The stream that was given cannot be written to.
    #[error("the export cannot be written: {0}")]
    Stream(#[from] io::Error),
    /// The target exists.
    #[error("{path} exists already", path = path.display())]
    Exists {
        /// The target.
        path: PathBuf,
    },
    /// The target exists and is nothing that this export writes: it is not replaced, whatever is asked for.
    #[error("{path} exists and is no {export} export: it is left alone", path = path.display())]
    Foreign {
        /// The target.
        path: PathBuf,
        /// The export.
        export: &'static str,
    },
    /// A stream was given for an export of several files.
    #[error("a {export} export is a folder: it cannot go to a stream")]
    NeedsFolder {
        /// The export.
        export: &'static str,
    },
    /// The trace has no task with a time.
    #[error(
        "the trace has no tasks that were run: a {export} export would be empty (dot and csv need no times)"
    )]
    NeedsTimes {
        /// The export.
        export: &'static str,
    },
    /// Two spans of one thread cross: no tool can nest them.
    #[error(
        "{thread}: a span that ends at {end_ns} ns crosses one from {start_ns} ns on; `treeqr trace check` says more"
    )]
    Crossing {
        /// The thread.
        thread: String,
        /// End of the first.
        end_ns: u64,
        /// Start of the second.
        start_ns: u64,
    },
    /// The graph has more tasks than a layout program can place.
    #[error(
        "{tasks} tasks are more than the limit of {limit}; choose a tree node, or raise the limit"
    )]
    TooManyTasks {
        /// Tasks asked for.
        tasks: usize,
        /// The limit.
        limit: usize,
    },
    /// No task belongs to the tree node that was asked for.
    #[error("no task belongs to tree node {node}")]
    NoSuchNode {
        /// The node.
        node: u32,
    },
}

impl ExportError {
    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| ExportError::Io { path, source }
    }
}

impl From<PartError> for ExportError {
    fn from(error: PartError) -> Self {
        match error {
            PartError::Exists { path } => ExportError::Exists { path },
            PartError::Io { path, source } => ExportError::Io { path, source },
        }
    }
}
