//! The independent answer for small matrices: dense QR and SVD by faer.

use faer::Mat;
use faer::prelude::SolveLstsq;
use treeqr::Csc;

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
