//! Systems with the upper trapezoidal rows of R of a front, or of a tile, for a few vectors at a time.
//!
//! ```text
//!   trsv_packed           [R1 R2] [x1; x2] = c      columns of R one after the other, without what is below the diagonal
//!   trsv_packed_adjoint   [R1 R2]^H y = [c1; c2]
//!   trsv, trsv_adjoint    R x = c, R^H y = c        in a tile
//!   gemv, gemv_adjoint    z = z - A x, y = y - A^H z
//!   add_abs_sums          the sums of |a| by columns
//! ```
//!
//! Reading R from memory is what takes the time. So four columns are gone through together, by four, two or one vectors, and as many
//! columns as fit into the second-level cache with all vectors before the next ones are read. Columns are put together by their
//! numbers, and each vector has sums of its own: its result does not depend on how many others there are.

mod columns;
#[cfg(test)]
mod tests;

use crate::scalar::KernelScalar;
use crate::simd::arch;
use crate::view::{MatMut, MatRef};
use columns::{FOUR, product, product_adjoint, triangle, triangle_adjoint};
use pulp::{Simd, WithSimd};

/// Bytes of R that all vectors go through before the next are read: half of a small second-level cache.
const BLOCK_BYTES: usize = 128 * 1024;

/// Solves \[R1 R2\] \[x1; x2\] = c with R1 k x k upper triangular.
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `r` | k (k + 1) / 2 + k (n - k) | the columns of R1 down to the diagonal, those of R2 | |
/// | `z` | n x w | \[c; x2\] | \[x1; x2\] |
///
/// # Panics
/// When the shapes don't fit.
///
/// # Cost
/// 2 w flops an entry of R.
pub fn trsv_packed<T: KernelScalar>(r: &[T], k: usize, z: MatMut<T>) {
    check_packed(r, k, z.nrows());
    arch().dispatch(Packed {
        r,
        k,
        z,
        adjoint: false,
    });
}

/// Solves R1^H y = c1 and takes R2^H y from c2, with R as in [`trsv_packed`].
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `z` | n x w | \[c1; c2\] | \[y; c2 - R2^H y\] |
///
/// # Panics
/// When the shapes don't fit.
///
/// # Cost
/// 2 w flops an entry of R.
pub fn trsv_packed_adjoint<T: KernelScalar>(r: &[T], k: usize, z: MatMut<T>) {
    check_packed(r, k, z.nrows());
    arch().dispatch(Packed {
        r,
        k,
        z,
        adjoint: true,
    });
}

fn check_packed<T>(r: &[T], k: usize, n: usize) {
    assert!(k <= n, "{k} rows of R with {n} columns");
    let len = k * (k + 1) / 2 + k * (n - k);
    assert!(r.len() == len, "R has {} entries, not {len}", r.len());
}

/// Solves R x = c with R upper triangular; what is below its diagonal is not read. `z` is c on entry and x on exit.
///
/// # Panics
/// When the shapes don't fit.
pub fn trsv<T: KernelScalar>(r: MatRef<T>, z: MatMut<T>) {
    check_square(r, z.nrows());
    let r = Upper::Dense(r);
    let adjoint = false;
    arch().dispatch(Triangle { r, z, adjoint });
}

/// Solves R^H y = c, with R as in [`trsv`]. `z` is c on entry and y on exit.
///
/// # Panics
/// When the shapes don't fit.
pub fn trsv_adjoint<T: KernelScalar>(r: MatRef<T>, z: MatMut<T>) {
    check_square(r, z.nrows());
    let r = Upper::Dense(r);
    let adjoint = true;
    arch().dispatch(Triangle { r, z, adjoint });
}

fn check_square<T>(r: MatRef<T>, rows: usize) {
    assert!(
        r.nrows() == rows && r.ncols() == rows,
        "a triangle of {} x {} for {rows} rows",
        r.nrows(),
        r.ncols()
    );
}

/// Z = Z - A X; A is m x k, X is k x w, Z is m x w. For few vectors: many are better off with a matrix product.
///
/// # Panics
/// When the shapes don't fit.
pub fn gemv<T: KernelScalar>(a: MatRef<T>, x: MatRef<T>, z: MatMut<T>) {
    check_product(a, x.nrows(), z.nrows(), x.ncols() == z.ncols());
    arch().dispatch(Product { a, x, z });
}

/// Y = Y - A^H Z; A is m x k, Z is m x w, Y is k x w.
///
/// # Panics
/// When the shapes don't fit.
pub fn gemv_adjoint<T: KernelScalar>(a: MatRef<T>, z: MatRef<T>, y: MatMut<T>) {
    check_product(a, y.nrows(), z.nrows(), y.ncols() == z.ncols());
    arch().dispatch(ProductAdjoint { a, z, y });
}

fn check_product<T>(a: MatRef<T>, columns: usize, rows: usize, alike: bool) {
    assert!(
        alike && a.ncols() == columns && a.nrows() == rows,
        "a product with {} x {} on {rows} rows and {columns} columns",
        a.nrows(),
        a.ncols()
    );
}

/// Adds to each of `sums` the sum of |a| over the column of R that belongs to it.
pub fn add_abs_sums<'a, T: KernelScalar>(columns: impl Iterator<Item = &'a [T]>, sums: &mut [T]) {
    arch().dispatch(AbsSums { columns, sums });
}

/// An upper triangle.
#[derive(Clone, Copy)]
enum Upper<'a, T> {
    /// Its columns one after the other, down to the diagonal.
    Packed(&'a [T]),
    Dense(MatRef<'a, T>),
}

impl<'a, T> Upper<'a, T> {
    /// The first `rows` entries of column j, no more than j + 1.
    #[inline(always)]
    fn col(self, j: usize, rows: usize) -> &'a [T] {
        match self {
            Upper::Packed(r) => &r[j * (j + 1) / 2..][..rows],
            Upper::Dense(r) => &r.col(j)[..rows],
        }
    }
}

/// Columns of so many entries that are read before others.
fn block_columns<T>(rows: usize, vectors: usize) -> usize {
    if vectors <= FOUR {
        // Once is all they are read.
        return usize::MAX;
    }
    let columns = BLOCK_BYTES / (rows * size_of::<T>()).max(1);
    (columns / FOUR).max(1) * FOUR
}

struct Packed<'a, T> {
    r: &'a [T],
    k: usize,
    z: MatMut<'a, T>,
    adjoint: bool,
}

impl<T: KernelScalar> WithSimd for Packed<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let (k, n) = (self.k, self.z.nrows());
        let (r1, r2) = self.r.split_at(k * (k + 1) / 2);
        let r1 = Upper::Packed(r1);
        let r2 = MatRef::new(r2, k, n - k, k.max(1));
        let (mut top, mut below) = self.z.split_at_row_mut(k);
        if self.adjoint {
            triangle_adjoint(s, r1, top.rb_mut());
            product_adjoint(s, r2, top.rb(), below.rb_mut());
        } else {
            product(s, r2, below.rb(), top.rb_mut());
            triangle(s, r1, top);
        }
    }
}

struct Triangle<'a, T> {
    r: Upper<'a, T>,
    z: MatMut<'a, T>,
    adjoint: bool,
}

impl<T: KernelScalar> WithSimd for Triangle<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        if self.adjoint {
            triangle_adjoint(s, self.r, self.z);
        } else {
            triangle(s, self.r, self.z);
        }
    }
}

struct Product<'a, T> {
    a: MatRef<'a, T>,
    x: MatRef<'a, T>,
    z: MatMut<'a, T>,
}

impl<T: KernelScalar> WithSimd for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        product(s, self.a, self.x, self.z);
    }
}

struct ProductAdjoint<'a, T> {
    a: MatRef<'a, T>,
    z: MatRef<'a, T>,
    y: MatMut<'a, T>,
}

impl<T: KernelScalar> WithSimd for ProductAdjoint<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        product_adjoint(s, self.a, self.z, self.y);
    }
}

struct AbsSums<'s, I, T> {
    columns: I,
    sums: &'s mut [T],
}

impl<'a, T: KernelScalar, I: Iterator<Item = &'a [T]>> WithSimd for AbsSums<'_, I, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        for (column, sum) in self.columns.zip(self.sums) {
            *sum += T::from_f64(T::abs_sum(s, column), 0.0);
        }
    }
}
