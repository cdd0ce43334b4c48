//! Sparse matrices, Matrix Market files in and out, and the gallery of generated matrices.
//!
//! This crate is the bottom of the house: it knows no kernel, no task and no factorization.

mod scalar;
mod sparse;

pub use scalar::{RealScalar, Scalar, c32, c64};
pub use sparse::{Csc, Pattern, SparseError, norm2};
