//! Matrix Market files out: complete or absent, plain or compressed.

mod error;
mod output;
mod text;

pub use error::WriteError;
pub use output::Output;

use crate::dense::Dense;
use crate::scalar::Scalar;
use crate::sparse::Csc;
use std::io::{self, Write};
use std::path::Path;

/// Writes a sparse matrix, as [`Output::write_sparse`] does.
///
/// # Errors
/// [`WriteError`]; then an older file of that name is as it was.
pub fn write_sparse<T: Scalar>(
    path: impl AsRef<Path>,
    a: &Csc<T>,
    comment: &str,
) -> Result<(), WriteError> {
    Output::create(path)?.write_sparse(a, comment)
}

/// Writes a dense matrix, as [`Output::write_dense`] does.
///
/// # Errors
/// [`WriteError`]; then an older file of that name is as it was.
pub fn write_dense<T: Scalar>(
    path: impl AsRef<Path>,
    x: &Dense<T>,
    comment: &str,
) -> Result<(), WriteError> {
    Output::create(path)?.write_dense(x, comment)
}

/// Writes the text of a sparse matrix into a stream, as [`Output::write_sparse`] does into a file.
///
/// # Errors
/// Those of the stream.
///
/// # Panics
/// When a value is not finite: files have no word for it.
pub fn write_sparse_to<T: Scalar>(
    mut stream: impl Write,
    a: &Csc<T>,
    comment: &str,
) -> io::Result<()> {
    assert_eq!(a.first_non_finite(), None, "a value is not finite");
    text::sparse(&mut stream, a, comment)
}

/// Writes the text of a dense matrix into a stream, as [`Output::write_dense`] does into a file.
///
/// # Errors
/// Those of the stream.
///
/// # Panics
/// When a value is not finite: files have no word for it.
pub fn write_dense_to<T: Scalar>(
    mut stream: impl Write,
    x: &Dense<T>,
    comment: &str,
) -> io::Result<()> {
    assert!(
        x.values().iter().all(|v| v.is_finite()),
        "a value is not finite"
    );
    text::dense(&mut stream, x, comment)
}
