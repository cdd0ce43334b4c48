//! Traces on disk: a folder with a manifest and one Parquet file a table that has rows.
//!
//! Takes tables and a manifest; gives a folder that is complete or absent, and takes it apart again. What a file holds is
//! compared with the manifest's checksum before it is read, so that damage is found here and not by a decoder.

use super::error::TraceError;
use super::manifest::{MANIFEST, Manifest, TableFacts};
use super::schema::SCHEMA_VERSION;
use super::table::{self, Table};
use super::{TableVisitor, Trace};
use crate::part::Part;
use serde_json::Value;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread;
use twox_hash::XxHash64;

/// What to do when the target exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// Refuse.
    Never,
    /// Replace a trace; refuse what is none.
    Trace,
}

/// A trace's folder, its manifest read: tables can be read one by one.
#[derive(Clone, Debug)]
pub struct TraceFolder {
    path: PathBuf,
    manifest: Manifest,
}

impl TraceFolder {
    /// Reads the manifest.
    ///
    /// # Errors
    /// [`TraceError`]: no folder, no manifest, one of another version or that is damaged.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let file = path.join(MANIFEST);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound && path.is_dir() => {
                return Err(TraceError::NotATrace { path: path.into() });
            }
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                return Err(TraceError::NotATrace { path: path.into() });
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(TraceError::io(path)(error));
            }
            Err(error) => return Err(TraceError::io(file)(error)),
        };
        let bad = |message: String| TraceError::Manifest {
            path: file.clone(),
            message,
        };
        // The version first: what else stands there is the version's business.
        let json: Value = serde_json::from_str(&text).map_err(|e| bad(e.to_string()))?;
        let version = json.get("schema_version").and_then(Value::as_u64);
        let found = version.ok_or_else(|| bad("there is no `schema_version`".to_owned()))?;
        if found != u64::from(SCHEMA_VERSION) {
            return Err(TraceError::Version {
                path: path.into(),
                found,
            });
        }
        let manifest = serde_json::from_value(json).map_err(|e| bad(e.to_string()))?;
        Ok(TraceFolder {
            path: path.into(),
            manifest,
        })
    }

    /// What the trace says about itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The rows of a table; none where it has no file.
    ///
    /// # Errors
    /// [`TraceError::Io`], and [`TraceError::Damaged`] for a file that is not the one that was written.
    pub fn table<T: Table>(&self) -> Result<Vec<T>, TraceError> {
        let Some(facts) = self.manifest.tables.iter().find(|t| t.table == T::NAME) else {
            return Ok(Vec::new());
        };
        let path = self.path.join(file_name(T::NAME));
        let damaged = |message: String| TraceError::Damaged {
            path: path.clone(),
            message,
        };
        let bytes = fs::read(&path).map_err(TraceError::io(&path))?;
        if bytes.len() as u64 != facts.bytes {
            return Err(damaged(format!(
                "{} bytes where the manifest says {}",
                bytes.len(),
                facts.bytes
            )));
        }
        if checksum(&bytes) != facts.checksum {
            return Err(damaged(
                "its contents are not those that were written".to_owned(),
            ));
        }
        // A file with the right checksum may still be made up. The decoder is not ours: should it panic, a thread ends.
        let rows = thread::scope(|scope| scope.spawn(|| table::read::<T>(bytes)).join());
        let rows = rows.map_err(|_| damaged("it cannot be decoded".to_owned()))?;
        let rows = rows.map_err(|error| damaged(error.to_string()))?;
        if rows.len() as u64 != facts.rows {
            return Err(damaged(format!(
                "{} rows where the manifest says {}",
                rows.len(),
                facts.rows
            )));
        }
        Ok(rows)
    }
}

/// Writes `trace` as the folder `path`: into a folder beside it first, which takes its name when it is complete.
///
/// # Errors
/// [`TraceError::Exists`], [`TraceError::Foreign`], [`TraceError::Io`]. The target is then as it was.
pub(super) fn write(
    trace: &Trace,
    path: &Path,
    overwrite: Overwrite,
) -> Result<Manifest, TraceError> {
    check_target(path, overwrite)?;
    let part = Part::folder(path)?;
    let mut files = Files {
        folder: part.path(),
        facts: Vec::new(),
        error: None,
    };
    trace.tables.visit(&mut files);
    if let Some(error) = files.error {
        return Err(error);
    }
    let manifest = Manifest {
        tables: files.facts,
        ..trace.manifest.clone()
    };
    let text = serde_json::to_string_pretty(&manifest).expect("plain data");
    let file = part.path().join(MANIFEST);
    fs::write(&file, text + "\n").map_err(TraceError::io(&file))?;
    part.become_target(overwrite == Overwrite::Trace)?;
    Ok(manifest)
}

/// Fails, before any work, where [`write`] would.
///
/// # Errors
/// [`TraceError::Exists`], [`TraceError::Foreign`].
pub fn check_target(path: &Path, overwrite: Overwrite) -> Result<(), TraceError> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    match overwrite {
        Overwrite::Never => Err(TraceError::Exists { path: path.into() }),
        // Any version will do, and damage too: it was a trace.
        Overwrite::Trace if path.join(MANIFEST).is_file() => Ok(()),
        Overwrite::Trace => Err(TraceError::Foreign { path: path.into() }),
    }
}

fn file_name(table: &str) -> String {
    format!("{table}.parquet")
}

fn checksum(bytes: &[u8]) -> String {
    let mut hasher = XxHash64::with_seed(0);
    hasher.write(bytes);
    format!("{:016x}", hasher.finish())
}

/// Writes each table that has rows.
struct Files<'a> {
    folder: &'a Path,
    facts: Vec<TableFacts>,
    error: Option<TraceError>,
}

impl Files<'_> {
    fn write<T: Table>(&self, rows: &[T]) -> Result<TableFacts, TraceError> {
        let path = self.folder.join(file_name(T::NAME));
        let file = File::create(&path).map_err(TraceError::io(&path))?;
        let file = table::write(rows, Counted::new(BufWriter::new(file)));
        let mut file = file.map_err(|error| TraceError::Io {
            path: path.clone(),
            source: std::io::Error::other(error),
        })?;
        file.flush().map_err(TraceError::io(&path))?;
        Ok(TableFacts {
            table: T::NAME.to_owned(),
            rows: rows.len() as u64,
            bytes: file.bytes,
            checksum: format!("{:016x}", file.hasher.finish()),
        })
    }
}

impl TableVisitor for Files<'_> {
    fn table<T: Table>(&mut self, rows: &[T]) {
        if rows.is_empty() || self.error.is_some() {
            return;
        }
        match self.write(rows) {
            Ok(facts) => self.facts.push(facts),
            Err(error) => self.error = Some(error),
        }
    }
}

/// Counts and hashes what goes through.
struct Counted<W> {
    inner: W,
    bytes: u64,
    hasher: XxHash64,
}

impl<W> Counted<W> {
    fn new(inner: W) -> Self {
        Counted {
            inner,
            bytes: 0,
            hasher: XxHash64::with_seed(0),
        }
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.write(buffer)?;
        self.hasher.write(&buffer[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}
