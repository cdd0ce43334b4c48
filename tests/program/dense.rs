//! The independent answer for small matrices: dense QR and SVD by faer.

use faer::Mat;
use faer::prelude::SolveLstsq;
use treeqr::{Csc, c64};

/// A as a dense matrix.
fn dense(a: &Csc<f64>) -> Mat<f64> {
    let mut d = Mat::zeros(a.nrows(), a.ncols());
    for j in 0..a.ncols() {
        let (rows, values) = a.col(j);
        for (&i, &v) in rows.iter().zip(values) {
            d[(i as usize, j)] = v;
        }
    }
    d
}

/// The x of least ||b - A x||, and of least ||x|| among these.
pub fn solve(a: &Csc<f64>, b: &[f64]) -> Vec<f64> {
    let b = Mat::from_fn(b.len(), 1, |i, _| b[i]);
    let x = if a.nrows() >= a.ncols() {
        dense(a).col_piv_qr().solve_lstsq(&b)
    } else {
        let svd = dense(a).thin_svd().expect("the SVD converges");
        svd.pseudoinverse() * &b
    };
    (0..a.ncols()).map(|j| x[(j, 0)]).collect()
}

/// Singular values, the largest first.
pub fn singular_values(a: &Csc<f64>) -> Vec<f64> {
    let svd = dense(a).thin_svd().expect("the SVD converges");
    let s = svd.S().column_vector();
    (0..s.nrows()).map(|k| s[k]).collect()
}

/// A complex matrix as a real one of twice the size: [Re -Im; Im Re].
pub fn embedded(a: &Csc<c64>) -> Csc<f64> {
    let (m, n) = (a.nrows(), a.ncols());
    let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for j in 0..n {
        let (indices, entries) = a.col(j);
        for (&i, v) in indices.iter().zip(entries) {
            let i = i as usize;
            let four = [
                (i, j, v.re),
                (i, n + j, -v.im),
                (m + i, j, v.im),
                (m + i, n + j, v.re),
            ];
            for (row, col, value) in four {
                rows.push(row as u32);
                cols.push(col as u32);
                values.push(value);
            }
        }
    }
    Csc::from_triplets(2 * m, 2 * n, &rows, &cols, &values).expect("triplets")
}

/// The x of least ||b - A x||, and of least ||x|| among these, through the embedding.
pub fn solve_complex(a: &Csc<c64>, b: &[c64]) -> Vec<c64> {
    let parts: Vec<f64> = b
        .iter()
        .map(|v| v.re)
        .chain(b.iter().map(|v| v.im))
        .collect();
    let x = solve(&embedded(a), &parts);
    let (re, im) = x.split_at(a.ncols());
    re.iter()
        .zip(im)
        .map(|(&re, &im)| c64::new(re, im))
        .collect()
}

/// The shortest x of least ||b - A x||, and the rank: singular values up to 1e-11 of the largest count as zero.
pub fn shortest(a: &Csc<f64>, b: &[f64]) -> (Vec<f64>, usize) {
    let svd = dense(a).thin_svd().expect("the SVD converges");
    let s: Vec<f64> = svd.S().column_vector().iter().copied().collect();
    let rank = s.iter().filter(|&&x| x > 1e-11 * s[0]).count();
    let mut x = vec![0.0; a.ncols()];
    for (k, &sigma) in s.iter().enumerate().take(rank) {
        let dot: f64 = (0..a.nrows()).map(|i| svd.U()[(i, k)] * b[i]).sum();
        for (i, xi) in x.iter_mut().enumerate() {
            *xi += svd.V()[(i, k)] * dot / sigma;
        }
    }
    (x, rank)
}
