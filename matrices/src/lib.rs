//! Sparse matrices, Matrix Market files in and out, and the gallery of generated matrices.
//!
//! This crate is the bottom of the house: it knows no kernel, no task and no factorization.
//!
//! # A tour
//!
//! ```
//! use treeqr_matrices::{Csc, Dense, Output, Source, gallery, read_dense, read_sparse};
//! # let folder = tempfile::tempdir()?;
//! # let (matrix_path, x_path) = (folder.path().join("a.mtx.gz"), folder.path().join("x.mtx"));
//! // Open what will be written before the work begins: a bad name costs nothing then.
//! let output = Output::create(&x_path)?;
//!
//! // A matrix of the gallery: a levelling network with its right-hand side.
//! let network = gallery::make("survey-20x10@7")?;
//! treeqr_matrices::write_sparse(&matrix_path, &network.matrix, network.description)?;
//!
//! // Files are read in any precision; values survive the way out and in.
//! let a: Csc<f64> = read_sparse(&matrix_path)?;
//! assert_eq!(a, network.matrix);
//!
//! // One word for both: a path, or `gallery:NAME`.
//! let b: Dense<f64> = Source::from("gallery:survey-20x10@7:rhs").dense()?;
//! assert_eq!(b.nrows(), a.nrows());
//!
//! // The file appears when it is complete, and not before.
//! output.write_dense(&b, "heights")?;
//! assert_eq!(read_dense::<f64>(&x_path)?, b);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is where
//!
//! | | |
//! | --- | --- |
//! | [`Scalar`], [`RealScalar`] | what the solver asks of `f32`, `f64`, [`c32`] and [`c64`] |
//! | [`Pattern`], [`Csc`] | sparse matrices in compressed columns, from triplets and from and to `sprs` |
//! | [`Dense`] | right-hand sides and solutions |
//! | [`read_sparse`], [`read_dense`], [`ReadError`] | Matrix Market files in, with the line and the word at fault |
//! | [`write_sparse`], [`write_dense`], [`Output`] | and out, complete or absent |
//! | [`gallery`] | matrices that are made from a name |
//! | [`Source`], [`load`] | a path or `gallery:NAME` |
//!
//! Rows, columns and entries count from 0 here, and from 1 in files and in messages about files.
#![forbid(unsafe_code)]

mod convert;
mod dense;
pub mod gallery;
mod norms;
mod pattern;
mod read;
mod scalar;
mod source;
mod sparse;
mod triplets;
mod write;

pub use dense::Dense;
pub use norms::{first_non_finite, largest_part, norm2};
pub use pattern::{Pattern, SparseError};
pub use read::{
    ReadError, ReadErrorKind, is_complex, open_unpacked, parse_dense, parse_sparse, read_dense,
    read_sparse,
};
pub use scalar::{RealScalar, Scalar, c32, c64};
pub use source::{LoadError, Loaded, Source, load};
pub use sparse::Csc;
pub use write::{Output, WriteError, write_dense, write_dense_to, write_sparse, write_sparse_to};
