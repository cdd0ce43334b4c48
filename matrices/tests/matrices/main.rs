//! Tests of the whole crate through its public names.

mod convert;
mod data;
mod gallery;
mod published;
mod read_errors;
mod read_formats;
mod round_trip;
mod shared_files;
mod source;
mod triplets;
mod write;

use treeqr_matrices::{Csc, norm2};

/// The 2-norm of a matrix by power iteration on A'A, until it settles to 11 digits.
fn norm(a: &Csc<f64>) -> f64 {
    // A start that is orthogonal to nothing in particular.
    let mut x: Vec<f64> = (0..a.ncols()).map(|j| 1.0 + (j as f64).sin()).collect();
    let mut last = 0.0;
    loop {
        let length = norm2(&x);
        x.iter_mut().for_each(|v| *v /= length);
        let mut y = vec![0.0; a.nrows()];
        a.mul_add(1.0, &x, &mut y);
        let now = norm2(&y);
        if (now - last).abs() < 1e-11 * now {
            return now;
        }
        last = now;
        x.fill(0.0);
        a.adjoint_mul_add(1.0, &y, &mut x);
    }
}

/// Entries of every row and of every column.
fn counts(a: &Csc<f64>) -> (Vec<usize>, Vec<usize>) {
    let mut rows = vec![0; a.nrows()];
    for &i in a.pattern().rowidx() {
        rows[i as usize] += 1;
    }
    let cols = (0..a.ncols()).map(|j| a.col(j).0.len()).collect();
    (rows, cols)
}
