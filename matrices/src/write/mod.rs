//! Matrix Market files out: complete or absent, plain or compressed.

mod error;
mod output;
mod text;

pub use error::WriteError;
pub use output::Output;

use crate::dense::Dense;
use crate::scalar::Scalar;
use crate::sparse::Csc;
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
