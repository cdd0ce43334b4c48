//! Factors in a file: a [`Factorization`] or its factors saved here solve elsewhere, without the matrix and without a factorization.
//!
//! Takes a path; gives factors, or a file that is complete or absent. What is in it: `docs/factors-format.md`.

use crate::error::Error;
use crate::factorization::Factorization;
use std::io::Read;
use std::path::{Path, PathBuf};
use treeqr_matrices::{Output, open_unpacked};
use treeqr_solver::{FactorScalar, Factors, FactorsFileError, scalar_of_factors};

/// A file that gives no factors.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct LoadFactorsError {
    /// The file.
    pub path: PathBuf,
    /// Why not.
    pub source: FactorsFileError,
}

/// Saves factors as `path`: the whole file, or what was there before. A name that ends in `.gz` compresses, which takes longer than it
/// saves: numbers without a pattern become little smaller.
///
/// # Errors
/// [`Error::Write`]: the folder, the disk, or that there are no factors.
pub fn save_factors<T: FactorScalar>(
    path: impl AsRef<Path>,
    factors: &Factors<T>,
) -> Result<(), Error> {
    let output = Output::create(path)?;
    Ok(output.write_with(|mut out| factors.save(&mut out))?)
}

/// Loads factors that were saved as `path`, compressed or not: bitwise those that were saved. [`Factors::check_matrix`] tells whether they
/// are those of a matrix at hand.
///
/// ```
/// use treeqr::{FactorOptions, Options, analyse, factorize, load_factors};
/// use treeqr::matrices::gallery;
///
/// let network = gallery::make("survey-20x10")?;
/// let (a, b) = (network.matrix, network.rhs.expect("a survey has observations"));
/// let symbolic = analyse(a.pattern(), &Options::default())?;
/// let factorization = factorize(&symbolic, &a, &FactorOptions::default())?;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("survey.factors");
/// factorization.save(&path)?;
///
/// let factors = load_factors::<f64>(&path)?; // in another process, say
/// assert_eq!(factors.solve(&b, 1)?, factorization.solve(&b)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::LoadFactors`]: no such file, another file, one of another scalar, version or machine, a damaged one.
pub fn load_factors<T: FactorScalar>(path: impl AsRef<Path>) -> Result<Factors<T>, Error> {
    read_with(path.as_ref(), Factors::load)
}

/// The scalar of the factors that were saved as `path`: `f64`, `f32`, `c64` or `c32`. Reads no more than their head.
///
/// # Errors
/// As [`load_factors`], as far as the head tells.
pub fn scalar_of_factors_file(path: impl AsRef<Path>) -> Result<String, Error> {
    read_with(path.as_ref(), scalar_of_factors)
}

fn read_with<R>(
    path: &Path,
    read: impl FnOnce(&mut dyn Read) -> Result<R, FactorsFileError>,
) -> Result<R, Error> {
    let file = open_unpacked(path).map_err(|source| FactorsFileError::Read { offset: 0, source });
    file.and_then(|mut file| read(&mut file)).map_err(|source| {
        Error::LoadFactors(LoadFactorsError {
            path: path.to_owned(),
            source,
        })
    })
}

impl<T: FactorScalar> Factorization<T> {
    /// Saves the factors, for [`load_factors`]. See [`save_factors`].
    ///
    /// # Errors
    /// As [`save_factors`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        save_factors(path, self.factors())
    }
}
