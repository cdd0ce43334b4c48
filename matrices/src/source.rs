//! Matrices by one word: the path of a file, which may be a pipe, or `gallery:NAME`.

use crate::dense::Dense;
use crate::gallery::{self, GalleryError};
use crate::read::{
    ReadError, bytes_of, is_complex, parse_dense, parse_sparse, read_dense, read_sparse,
    says_complex,
};
use crate::scalar::Scalar;
use crate::sparse::Csc;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How the standard input is called.
const STANDARD_INPUT: &str = "-";
/// What a word must begin with to mean the gallery.
const GALLERY: &str = "gallery:";

/// Where a matrix or a right-hand side comes from.
///
/// ```
/// use treeqr_matrices::Source;
/// let a = Source::from("gallery:survey-6x5").matrix::<f64>()?;
/// let b = Source::from("gallery:survey-6x5:rhs").dense::<f64>()?;
/// assert_eq!((a.name.as_str(), a.matrix.nrows()), ("survey-6x5", b.nrows()));
/// # Ok::<(), treeqr_matrices::LoadError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// A file; `./gallery:x` for one whose name begins like the gallery's.
    File(PathBuf),
    /// What a file holds, plain or compressed, where it can't be read twice: see [`Source::hold`].
    Held {
        /// How it is called.
        name: PathBuf,
        /// Its bytes.
        bytes: Arc<[u8]>,
    },
    /// A matrix of the gallery (`gallery:NAME`), or what comes with it (`gallery:NAME:rhs`, `gallery:NAME:weights`).
    Gallery {
        /// The matrix.
        name: String,
        /// The word behind the name, if there is one.
        part: Option<String>,
    },
}

impl From<&OsStr> for Source {
    fn from(word: &OsStr) -> Self {
        let Some(rest) = word.to_str().and_then(|w| w.strip_prefix(GALLERY)) else {
            return Source::File(word.into());
        };
        let (name, part) = match rest.split_once(':') {
            Some((name, part)) => (name, Some(part.to_owned())),
            None => (rest, None),
        };
        let name = name.to_owned();
        Source::Gallery { name, part }
    }
}

impl From<&str> for Source {
    fn from(word: &str) -> Self {
        OsStr::new(word).into()
    }
}

impl From<OsString> for Source {
    fn from(word: OsString) -> Self {
        word.as_os_str().into()
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::File(path) | Source::Held { name: path, .. } => path.display().fmt(f),
            Source::Gallery { name, part: None } => write!(f, "{GALLERY}{name}"),
            Source::Gallery {
                name,
                part: Some(part),
            } => write!(f, "{GALLERY}{name}:{part}"),
        }
    }
}

/// A matrix with what came with it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Loaded<T> {
    /// The file's name without folder and endings, or the name in the gallery.
    pub name: String,
    /// One sentence, for matrices of the gallery.
    pub description: Option<&'static str>,
    /// The matrix.
    pub matrix: Csc<T>,
    /// The right-hand side that the gallery gives with it.
    pub rhs: Option<Vec<T>>,
}

/// Why a [`Source`] gave nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The gallery has no such matrix.
    #[error(transparent)]
    Gallery(#[from] GalleryError),
    /// The matrix of the gallery has no right-hand side, or no weights.
    #[error("'{name}' of the gallery has no {part}")]
    NoPart {
        /// The matrix.
        name: String,
        /// What it lacks.
        part: String,
    },
    /// `gallery:NAME:part` where the matrix itself must stand.
    #[error("'{spec}' is not a matrix: leave the last part away")]
    NotAMatrix {
        /// The word.
        spec: String,
    },
}

impl Source {
    /// Reads what can be read but once, a pipe, or the standard input that `-` stands for, so that it can be asked both what its entries are
    /// and for them. All else stays as it is. Memory: its bytes, for as long as the source is there.
    ///
    /// # Errors
    /// Those of the system, with the name.
    pub fn hold(&mut self) -> Result<(), ReadError> {
        let Source::File(name) = self else {
            return Ok(());
        };
        let place = match name.as_os_str() == STANDARD_INPUT {
            true => Path::new("/dev/stdin"),
            false => name,
        };
        // What is not there, or no file, is told when it is read.
        if place
            .metadata()
            .is_ok_and(|about| !about.is_file() && !about.is_dir())
            || place != name
        {
            let bytes = bytes_of(place)?.into();
            let name = std::mem::take(name);
            *self = Source::Held { name, bytes };
        }
        Ok(())
    }

    /// Whether the entries are complex: what a file's first line says, see [`is_complex`]; the gallery is real.
    pub fn is_complex(&self) -> bool {
        match self {
            Source::File(path) => is_complex(path),
            Source::Held { bytes, .. } => says_complex(bytes),
            Source::Gallery { .. } => false,
        }
    }

    /// Reads or makes the sparse matrix.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn matrix<T: Scalar>(&self) -> Result<Loaded<T>, LoadError> {
        match self {
            Source::File(path) => Ok(Loaded {
                name: stem(path),
                description: None,
                matrix: read_sparse(path)?,
                rhs: None,
            }),
            Source::Held { name, bytes } => Ok(Loaded {
                name: stem(name),
                description: None,
                matrix: parse_sparse(bytes, name)?,
                rhs: None,
            }),
            Source::Gallery { name, part: None } => {
                let made = gallery::make(name)?;
                Ok(Loaded {
                    name: made.name,
                    description: Some(made.description),
                    matrix: made.matrix.to_precision(),
                    rhs: made
                        .rhs
                        .map(|b| Dense::from_vector(b).to_precision().into_values()),
                })
            }
            Source::Gallery { .. } => {
                let spec = self.to_string();
                Err(LoadError::NotAMatrix { spec })
            }
        }
    }

    /// Reads or makes the dense matrix: a right-hand side (what `gallery:NAME` means here as well) or weights.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn dense<T: Scalar>(&self) -> Result<Dense<T>, LoadError> {
        match self {
            Source::File(path) => Ok(read_dense(path)?),
            Source::Held { name, bytes } => Ok(parse_dense(bytes, name)?),
            Source::Gallery { name, part } => {
                let made = gallery::make(name)?;
                let part = part.as_deref().unwrap_or("rhs");
                let values = match part {
                    "rhs" => made.rhs,
                    "weights" => made.weights,
                    _ => None,
                };
                match values {
                    Some(values) => Ok(Dense::from_vector(values).to_precision()),
                    None => Err(LoadError::NoPart {
                        name: name.clone(),
                        part: part.to_owned(),
                    }),
                }
            }
        }
    }
}

/// Reads or makes a sparse matrix: `Source::from(spec).matrix()`.
///
/// # Errors
/// [`LoadError`].
pub fn load<T: Scalar>(spec: &str) -> Result<Loaded<T>, LoadError> {
    Source::from(spec).matrix()
}

/// The file's name without folder, `.gz` and `.mtx`.
fn stem(path: &Path) -> String {
    let name = path
        .file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let name = [".mtx", ".txt"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    name.to_owned()
}
