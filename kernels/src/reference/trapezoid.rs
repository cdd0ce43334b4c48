//! Twins of the triangular systems. A packed R is one k x n block here, with anything below its diagonal.

use crate::{KernelScalar, MatMut, MatRef};

/// Twin of [`crate::trsv`] and [`crate::trsv_packed`]: R is k x n, `z` has n rows, of which the first k are c and become x.
pub fn trsv<T: KernelScalar>(r: MatRef<T>, mut z: MatMut<T>) {
    let (k, n) = (r.nrows(), r.ncols());
    for y in 0..z.ncols() {
        let z = z.col_mut(y);
        for i in (0..k).rev() {
            let known: T = (i + 1..n).map(|j| r.at(i, j) * z[j]).sum();
            z[i] = (z[i] - known) / r.at(i, i);
        }
    }
}

/// Twin of [`crate::trsv_adjoint`] and [`crate::trsv_packed_adjoint`]: the first k of the n rows of `z` become y, and R^H y is taken from
/// the others.
pub fn trsv_adjoint<T: KernelScalar>(r: MatRef<T>, mut z: MatMut<T>) {
    let (k, n) = (r.nrows(), r.ncols());
    for y in 0..z.ncols() {
        let z = z.col_mut(y);
        for j in 0..n {
            let known: T = (0..j.min(k)).map(|i| r.at(i, j).conj() * z[i]).sum();
            z[j] -= known;
            if j < k {
                z[j] /= r.at(j, j).conj();
            }
        }
    }
}

/// Twin of [`crate::gemv`]: Z = Z - A X.
pub fn gemv<T: KernelScalar>(a: MatRef<T>, x: MatRef<T>, mut z: MatMut<T>) {
    for y in 0..z.ncols() {
        for i in 0..a.nrows() {
            let product: T = (0..a.ncols()).map(|j| a.at(i, j) * x.at(j, y)).sum();
            z.col_mut(y)[i] -= product;
        }
    }
}

/// Twin of [`crate::gemv_adjoint`]: Y = Y - A^H Z.
pub fn gemv_adjoint<T: KernelScalar>(a: MatRef<T>, z: MatRef<T>, mut y: MatMut<T>) {
    for c in 0..y.ncols() {
        for j in 0..a.ncols() {
            let product: T = (0..a.nrows()).map(|i| a.at(i, j).conj() * z.at(i, c)).sum();
            y.col_mut(c)[j] -= product;
        }
    }
}
