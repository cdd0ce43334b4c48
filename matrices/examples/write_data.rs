//! Writes the small files under `matrices/data/` anew, all from the gallery:
//! `cargo run -p treeqr-matrices --example write_data [-- FOLDER]`.
//!
//! A test compares them with what the gallery makes.

use std::error::Error;
use std::path::Path;
use treeqr_matrices::{Dense, Output, gallery};

/// The files with a matrix, and their names in the gallery.
pub const MATRICES: [(&str, &str); 3] = [
    ("survey", "survey-60x50"),
    ("bibd_9_3", "bibd_9_3"),
    ("ch4-4-b2", "ch4-4-b2"),
];

/// Writes every file into `folder`.
///
/// # Errors
/// When a file can't be written.
pub fn write_all(folder: &Path) -> Result<(), Box<dyn Error>> {
    for (file, name) in MATRICES {
        let made = gallery::make(name)?;
        let comment = |what: &str| {
            let description = made.description;
            format!("{name}{what}: {description}\nMade by treeqr (examples/write_data.rs).")
        };
        let create = |ending: &str| Output::create(folder.join(format!("{file}{ending}.mtx.gz")));
        create("")?.write_sparse(&made.matrix, &comment(""))?;
        if let Some(rhs) = &made.rhs {
            let rhs = Dense::from_vector(rhs.clone());
            create("_rhs")?.write_dense(&rhs, &comment(", right-hand side"))?;
        }
        if let Some(weights) = &made.weights {
            let weights = Dense::from_vector(weights.clone());
            create("_weights")?.write_dense(&weights, &comment(", weights of the rows in 1/m"))?;
        }
    }
    Ok(())
}

#[allow(dead_code)] // the test includes this file for its list
fn main() -> Result<(), Box<dyn Error>> {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/data");
    let folder = std::env::args().nth(1).unwrap_or_else(|| data.to_owned());
    write_all(Path::new(&folder))
}
