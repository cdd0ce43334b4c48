//! A file that is complete or absent.

use super::error::WriteError;
use crate::dense::Dense;
use crate::scalar::Scalar;
use crate::sparse::Csc;
use flate2::{Compression, GzBuilder};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file to be written, opened before the work that yields its contents.
///
/// Until one of the `write_*` methods has finished, nothing changes under the file's name: the text goes to a temporary
/// file in the same folder, which takes the name at last and disappears if the `Output` is dropped. A name that ends in
/// `.gz` compresses. A device or a pipe (`/dev/stdout`) is written to directly.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// To be renamed to the path, in which links are resolved.
    Replace(NamedTempFile, PathBuf),
    Direct(File),
}

impl Output {
    /// Makes sure that the file can be written, and opens it.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("x.mtx");
    /// let output = treeqr_matrices::Output::create(&path)?;
    /// assert!(!path.exists()); // not before it is complete
    /// output.write_dense(&treeqr_matrices::Dense::from_vector(vec![1.0, 0.5]), "x")?;
    /// assert_eq!(treeqr_matrices::read_dense::<f64>(&path)?.values(), [1.0, 0.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`WriteError`] when the folder is missing or not writable, and when the name is that of a folder or of a read-only
    /// file.
    pub fn create(path: impl AsRef<Path>) -> Result<Output, WriteError> {
        let path = path.as_ref().to_owned();
        let create = |source| WriteError::Create {
            path: path.clone(),
            source,
        };
        // A link keeps pointing where it did: the file behind it is replaced.
        let place = match fs::canonicalize(&path) {
            Ok(place) => place,
            Err(e) if e.kind() == io::ErrorKind::NotFound => path.clone(),
            Err(e) => return Err(create(e)),
        };
        if let Ok(existing) = fs::metadata(&place) {
            if existing.is_dir() {
                return Err(WriteError::NotAFile { path });
            }
            if !existing.is_file() {
                let file = OpenOptions::new()
                    .write(true)
                    .open(&place)
                    .map_err(create)?;
                let target = Target::Direct(file);
                return Ok(Output { path, target });
            }
            if existing.permissions().readonly() {
                return Err(WriteError::ReadOnly { path });
            }
        }
        if place.file_name().is_none() || ends_in_separator(&path) {
            return Err(WriteError::NotAFile { path });
        }
        let folder = match place.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let file = temporary(folder).map_err(create)?;
        let target = Target::Replace(file, place);
        Ok(Output { path, target })
    }

    /// The file, as the caller named it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The temporary file that holds the text until it is complete, for whoever ends the process without dropping the
    /// `Output`; none for a device.
    pub fn temporary_path(&self) -> Option<&Path> {
        match &self.target {
            Target::Replace(file, _) => Some(file.path()),
            Target::Direct(_) => None,
        }
    }

    /// Writes a sparse matrix as a coordinate file: `pattern` when all values are 1, `integer` when all are integers, else
    /// `real` or `complex`, with as many digits as it takes to read the same values again. Each line of `comment` becomes
    /// a comment line.
    ///
    /// # Errors
    /// [`WriteError`] for a full disk and the like, and for a value that is not finite.
    pub fn write_sparse<T: Scalar>(self, a: &Csc<T>, comment: &str) -> Result<(), WriteError> {
        if let Some((row, col)) = a.first_non_finite() {
            return Err(self.not_finite(row, col));
        }
        self.write_with(|w| super::text::sparse(w, a, comment))
    }

    /// Writes a dense matrix as an array file; the field and the digits as in [`Self::write_sparse`], without `pattern`.
    ///
    /// # Errors
    /// [`WriteError`] for a full disk and the like, and for a value that is not finite.
    pub fn write_dense<T: Scalar>(self, x: &Dense<T>, comment: &str) -> Result<(), WriteError> {
        if let Some(p) = x.values().iter().position(|v| !v.is_finite()) {
            return Err(self.not_finite(p % x.nrows(), p / x.nrows()));
        }
        self.write_with(|w| super::text::dense(w, x, comment))
    }

    /// Writes whatever `write` does, and puts the file in its place when that returned without an error.
    ///
    /// # Errors
    /// [`WriteError`] with the error of `write`, of the disk, or of the last step.
    pub fn write_with(
        self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), WriteError> {
        let Output { path, target } = self;
        let zipped = path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("gz"));
        let done = match target {
            Target::Direct(mut file) => pour(&mut file, zipped, write),
            Target::Replace(mut file, place) => pour(file.as_file_mut(), zipped, write)
                .and_then(|()| file.as_file().sync_all())
                .and_then(|()| file.persist(place).map(drop).map_err(|e| e.error)),
        };
        done.map_err(|source| WriteError::Write { path, source })
    }

    fn not_finite(self, row: usize, col: usize) -> WriteError {
        let (row, col) = (row + 1, col + 1);
        let path = self.path;
        WriteError::NotFinite { path, row, col }
    }
}

fn ends_in_separator(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes
        .last()
        .is_some_and(|&b| std::path::is_separator(b as char))
}

/// A new file with the permissions that any new file gets, not the tighter ones of a temporary file.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".treeqr-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder).map_err(plain)
}

/// The system's own error, without the name of the temporary file that `tempfile` puts into it.
fn plain(e: io::Error) -> io::Error {
    match e.to_string().rsplit_once(" at path ") {
        Some((what, _)) => io::Error::new(e.kind(), what),
        None => e,
    }
}

/// Writes into `file` through a buffer, compressed if so asked, to the last byte.
fn pour(
    file: &mut File,
    zipped: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffered = BufWriter::with_capacity(1 << 18, file);
    if zipped {
        // No name and no time in the stream: the same matrix gives the same bytes.
        let mut gzip = GzBuilder::new().write(&mut buffered, Compression::default());
        write(&mut gzip)?;
        gzip.finish()?;
    } else {
        write(&mut buffered)?;
    }
    buffered.flush()
}
