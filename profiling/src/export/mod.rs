//! Traces in the formats of other tools.
//!
//! Takes a [`Trace`]; gives files that are complete or absent. An export is a file here and a line in [`EXPORTS`].
//!
//! | file | subject |
//! | --- | --- |
//! | `starvz`, `paje`, `perfetto`, `dot`, `csv` | one export each |
//! | `view` | a trace by name and number: what all exports look up |
//! | `lanes` | the spans of a thread as beginnings and ends |
//! | `series` | counts and rates over time |
//! | `links` | which dependencies are shown; the critical path |
//! | `proto` | the encoding of protocol buffers |
//!
//! ```
//! use treeqr_profiling::export::{ExportEntry, ExportOptions};
//! use treeqr_profiling::trace::{Manifest, Tables, Trace, TraceKind, schema::Phase};
//!
//! let phase = Phase { phase: "read".into(), part_of: None, start_ns: -2000, end_ns: -500 };
//! let trace = Trace {
//!     manifest: Manifest::new(TraceKind::Measured, "example".into()),
//!     tables: Tables { phases: vec![phase], ..Tables::default() },
//! };
//! let folder = tempfile::tempdir()?;
//! let csv = ExportEntry::named("csv").unwrap();
//! csv.write(&trace, &folder.path().join("tables"), &ExportOptions::default())?;
//! let text = std::fs::read_to_string(folder.path().join("tables/phases.csv"))?;
//! assert_eq!(text, "phase,part_of,start_ns,end_ns\r\nread,,-2000,-500\r\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod csv;
mod dot;
mod error;
mod lanes;
mod links;
mod paje;
mod perfetto;
mod proto;
mod series;
mod starvz;
mod view;

pub use error::ExportError;

use crate::part::Part;
use crate::trace::Trace;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The exports: those of the command, of the tests and of docs/exports.md.
pub static EXPORTS: &[ExportEntry] = &[
    starvz::ENTRY,
    paje::ENTRY,
    perfetto::ENTRY,
    dot::ENTRY,
    csv::ENTRY,
];

/// One format.
#[derive(Clone, Copy, Debug)]
pub struct ExportEntry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is for, in a sentence.
    pub about: &'static str,
    /// How its file's name ends, or those of the files in its folder.
    pub ending: &'static str,
    /// One file or several.
    pub form: Form,
}

/// What an export writes.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// A file, or any stream.
    File(fn(&Trace, &ExportOptions, &mut dyn Write) -> Result<(), ExportError>),
    /// Files in a folder that exists and is empty.
    Folder(fn(&Trace, &ExportOptions, &Path) -> Result<(), ExportError>),
}

/// What can be chosen. An export ignores what does not concern it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportOptions {
    /// Which dependencies become arrows (paje, perfetto).
    pub dependencies: Dependencies,
    /// Which graph is drawn (dot).
    pub what: Graph,
    /// Only the tasks of this tree node, with those they depend on directly (dot).
    pub node: Option<u32>,
    /// Most tasks in one drawing (dot).
    pub task_limit: usize,
    /// Replace an earlier export of the same format.
    pub overwrite: bool,
}

impl Default for ExportOptions {
    /// The critical path as arrows; the task graph, of 5000 tasks at most; nothing is replaced.
    fn default() -> Self {
        ExportOptions {
            dependencies: Dependencies::Critical,
            what: Graph::Tasks,
            node: None,
            task_limit: 5000,
            overwrite: false,
        }
    }
}

/// Which dependencies are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependencies {
    /// None.
    None,
    /// Those on the longest path through the graph, by the durations that were measured.
    Critical,
    /// All. Viewers have trouble with more than some thousands.
    All,
}

/// Which graph is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Graph {
    /// Tasks and their dependencies.
    Tasks,
    /// The elimination tree.
    Tree,
}

impl ExportEntry {
    /// The export of that name.
    pub fn named(name: &str) -> Option<&'static ExportEntry> {
        EXPORTS.iter().find(|entry| entry.name == name)
    }

    /// Writes `trace` as the file or folder `path`: beside it first, under its name when complete.
    ///
    /// Time is linear in the rows of the trace, but for sorting; memory beyond the trace is some 50 bytes a task.
    ///
    /// # Errors
    /// [`ExportError`]. The target is then as it was.
    pub fn write(
        &self,
        trace: &Trace,
        path: &Path,
        options: &ExportOptions,
    ) -> Result<(), ExportError> {
        self.check_target(path, options.overwrite)?;
        let part = match self.form {
            Form::File(write) => {
                let (part, file) = Part::file(path)?;
                let mut out = BufWriter::with_capacity(1 << 18, file);
                let written = write(trace, options, &mut out)
                    .and_then(|()| out.flush().map_err(ExportError::from));
                written.map_err(|error| match error {
                    ExportError::Stream(source) => ExportError::io(path)(source),
                    other => other,
                })?;
                part
            }
            Form::Folder(write) => {
                let part = Part::folder(path)?;
                write(trace, options, part.path())?;
                part
            }
        };
        Ok(part.become_target(options.overwrite)?)
    }

    /// Writes `trace` to a stream, for exports that are one file. What was written before an error stays written.
    ///
    /// # Errors
    /// [`ExportError`].
    pub fn write_to(
        &self,
        trace: &Trace,
        out: &mut dyn Write,
        options: &ExportOptions,
    ) -> Result<(), ExportError> {
        match self.form {
            Form::File(write) => write(trace, options, out),
            Form::Folder(_) => Err(ExportError::NeedsFolder { export: self.name }),
        }
    }

    /// Fails, before any work, where [`Self::write`] would because of its target.
    ///
    /// With `overwrite`, a plain file gives way to an export that is a file; a folder to one that is a folder, if all it
    /// holds are plain files with that export's ending. Everything else stays.
    ///
    /// # Errors
    /// [`ExportError::Exists`], [`ExportError::Foreign`], [`ExportError::Io`].
    pub fn check_target(&self, path: &Path, overwrite: bool) -> Result<(), ExportError> {
        let Ok(found) = fs::symlink_metadata(path) else {
            return Ok(());
        };
        if !overwrite {
            return Err(ExportError::Exists { path: path.into() });
        }
        let ours = match self.form {
            Form::File(_) => found.is_file(),
            Form::Folder(_) => found.is_dir() && self.holds_only_ours(path)?,
        };
        match ours {
            true => Ok(()),
            false => Err(ExportError::Foreign {
                path: path.into(),
                export: self.name,
            }),
        }
    }

    fn holds_only_ours(&self, folder: &Path) -> Result<bool, ExportError> {
        for entry in fs::read_dir(folder).map_err(ExportError::io(folder))? {
            let entry = entry.map_err(ExportError::io(folder))?;
            let plain = entry
                .file_type()
                .map_err(ExportError::io(folder))?
                .is_file();
            let name = entry.path();
            if !plain || name.extension().is_none_or(|ending| ending != self.ending) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
