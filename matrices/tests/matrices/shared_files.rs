//! The collection of real and generated files that lies beside the checkout of the project's developers.

use crate::counts;
use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use treeqr_matrices::{Csc, gallery, read_dense, read_sparse};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/matrices");

/// The folder, or a line that says what was not tested (past the test harness, which would swallow it).
fn folder(test: &str) -> Option<&'static Path> {
    let folder = Path::new(FOLDER);
    if folder.join("index.tsv").exists() {
        return Some(folder);
    }
    let _ = writeln!(
        std::io::stderr(),
        "SKIPPED: {test}: there is no folder {FOLDER}"
    );
    None
}

#[test]
fn all_files_have_the_shape_of_the_index() {
    let Some(folder) = folder("all_files_have_the_shape_of_the_index") else {
        return;
    };
    let index = fs::read_to_string(folder.join("index.tsv")).unwrap();
    let mut lines = index.lines();
    let names: HashMap<&str, usize> = lines.next().unwrap().split('\t').zip(0..).collect();
    let mut read = 0;
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |name: &str| fields[names[name]].parse::<usize>().unwrap();
        let a: Csc<f64> = read_sparse(folder.join(format!("{}.mtx.gz", fields[0]))).unwrap();
        let expected = (number("m"), number("n"), number("nnz"));
        assert_eq!((a.nrows(), a.ncols(), a.nnz()), expected, "{}", fields[0]);
        read += 1;
    }
    assert_eq!(read, 43);
}

#[test]
fn right_hand_sides_belong_to_their_matrices() {
    let Some(folder) = folder("right_hand_sides_belong_to_their_matrices") else {
        return;
    };
    for (name, nrows) in [
        ("parking-garage", 37650),
        ("sphere2500", 29694),
        ("torus3D", 54288),
    ] {
        let b = read_dense::<f64>(folder.join(format!("slam_{name}_rhs.txt.gz"))).unwrap();
        assert_eq!((b.nrows(), b.ncols()), (nrows, 1), "{name}");
    }
}

/// Equal up to the order of rows and columns, as far as counts and norms can tell.
#[test]
fn the_gallery_makes_the_generated_files() {
    let Some(folder) = folder("the_gallery_makes_the_generated_files") else {
        return;
    };
    for name in [
        "TF14",
        "TF15",
        "TF16",
        "ch7-8-b3",
        "ch8-8-b3",
        "flower_7_4",
        "flower_8_4",
        "bibd_13_6",
    ] {
        let file = if name.starts_with("bibd") {
            name.to_owned()
        } else {
            format!("gen_{name}")
        };
        let theirs: Csc<f64> = read_sparse(folder.join(format!("{file}.mtx.gz"))).unwrap();
        let ours = gallery::make(name).unwrap().matrix;
        assert_eq!(
            (ours.nrows(), ours.ncols()),
            (theirs.nrows(), theirs.ncols()),
            "{name}"
        );
        let sorted = |a: &Csc<f64>| {
            let (mut rows, mut cols) = counts(a);
            rows.sort_unstable();
            cols.sort_unstable();
            let mut values: Vec<i64> = a.values().iter().map(|v| v.abs() as i64).collect();
            values.sort_unstable();
            (rows, cols, values)
        };
        assert!(sorted(&ours) == sorted(&theirs), "{name}");
        // Sums in another order.
        let (ours, theirs) = (ours.norm_frobenius(), theirs.norm_frobenius());
        assert!(
            (ours - theirs).abs() < 1e-12 * theirs,
            "{name}: {ours}, {theirs}"
        );
    }
}
