//! One error for all that can go wrong between a file and x. The parts keep their own types; this one holds them.

use crate::posed::PosedError;
use crate::stored::LoadFactorsError;
use treeqr_matrices::gallery::GalleryError;
use treeqr_matrices::{LoadError, ReadError, SparseError, WriteError};
use treeqr_runtime::UnknownScheduler;
use treeqr_solver::{AnalyseError, SolveError};

/// What went wrong. The message is that of the part it happened in, with its place.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum Error {
    /// Arrays that describe no sparse matrix.
    Sparse(#[from] SparseError),
    /// A file that could not be read, or a matrix that the gallery has not.
    Load(#[from] LoadError),
    /// A file that could not be written.
    Write(#[from] WriteError),
    /// A scheduler that is not in the table.
    Scheduler(#[from] UnknownScheduler),
    /// A pattern that could not be analysed.
    Analyse(#[from] AnalyseError),
    /// A matrix that could not be factorized, or a right-hand side that could not be solved for.
    Solve(#[from] SolveError),
    /// A device that was asked for can't be used.
    Device(#[from] treeqr_devices::DeviceError),
    /// A file of factors that could not be loaded.
    LoadFactors(#[from] LoadFactorsError),
    /// Weights or a damping that make no least-squares problem.
    Posed(#[from] PosedError),
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        Error::Load(error.into())
    }
}

impl From<GalleryError> for Error {
    fn from(error: GalleryError) -> Self {
        Error::Load(error.into())
    }
}
