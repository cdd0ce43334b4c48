//! The numbers of one node of the inverse subset: dense blocks and matrix products.
//!
//! Takes the node's rows of R and Z22; gives \[Z11 Z12\], and of these and Z22 what a child needs. Knows no task.

use super::structure::Structure;
use crate::numeric::FactorScalar;
use crate::rank::Nodes;
use treeqr_kernels::{Beta, MatMut, MatRef};

/// Systems of this order are solved by loops.
const SMALL: usize = 16;

/// \[Z11 Z12\] of a node, column by column. `z22` is square, and of the order of its other columns.
pub(super) fn node_inverse<T: FactorScalar>(
    nodes: &Nodes<'_, T>,
    structure: &Structure,
    node: usize,
    z22: &[T],
) -> Vec<T> {
    let (k, others) = (structure.npiv(node), &structure.others[node]);
    let c = others.len();
    let cols = nodes.cols(node);
    let mut r11 = vec![T::zero(); k * k];
    // R12, and then U.
    let mut u = vec![T::zero(); k * c];
    nodes.row_parts(node, |j, row, values| {
        let to = if j < k {
            &mut r11[j * k..(j + 1) * k]
        } else {
            let place = others.binary_search(&cols[j]);
            let place = place.expect("R's columns are in the structure");
            &mut u[place * k..(place + 1) * k]
        };
        to[row..row + values.len()].copy_from_slice(values);
    });
    let r11 = MatRef::new(&r11, k, k, k);
    let mut inverse = vec![T::zero(); k * k];
    inverse
        .iter_mut()
        .step_by(k + 1)
        .for_each(|d| *d = T::one());
    solve_upper(r11, MatMut::new(&mut inverse, k, k, k));
    // R11^{-1} R11^{-H}, as (X^H)^H (X^H) for the inverse X.
    let inverse = adjoint(&inverse, k);
    let x = MatRef::new(&inverse, k, k, k);
    let mut z = vec![T::zero(); k * (k + c)];
    let (z11, z12) = z.split_at_mut(k * k);
    T::gemm_adjoint(Beta::Zero, MatMut::new(z11, k, k, k), T::one(), x, x);
    if c > 0 {
        solve_upper(r11, MatMut::new(&mut u, k, c, k));
        let z22 = MatRef::new(z22, c, c, c);
        let minus = -T::one();
        let of_u = MatRef::new(&u, k, c, k);
        T::gemm(Beta::Zero, MatMut::new(z12, k, c, k), minus, of_u, z22);
        let u = adjoint(&u, k);
        let (z12, u) = (MatRef::new(z12, k, c, k), MatRef::new(&u, c, k, c));
        T::gemm(Beta::One, MatMut::new(z11, k, k, k), minus, z12, u);
    }
    // Hermitian to the last bit.
    for j in 0..k {
        let diagonal = z11[j * k + j];
        z11[j * k + j] = T::from_f64(treeqr_matrices::RealScalar::to_f64(diagonal.re()), 0.0);
        for i in 0..j {
            z11[i * k + j] = z11[j * k + i].conj();
        }
    }
    z
}

/// Z22 of a child, from the parent's \[Z11 Z12\] and Z22. `map` has the child's columns among the parent's.
pub(super) fn child_part<T: FactorScalar>(z: &[T], z22: &[T], k: usize, map: &[u32]) -> Vec<T> {
    let order = z.len() / k - k;
    let mut out = Vec::with_capacity(map.len() * map.len());
    for &j in map {
        let j = j as usize;
        out.extend(map.iter().map(|&i| {
            let i = i as usize;
            match (i < k, j < k) {
                (true, _) => z[j * k + i],
                (false, true) => z[i * k + j].conj(),
                (false, false) => z22[(j - k) * order + (i - k)],
            }
        }));
    }
    out
}

/// B = R^{-1} B for an upper triangular R. k^2 flops a column, most of them in products.
fn solve_upper<T: FactorScalar>(r: MatRef<'_, T>, mut b: MatMut<'_, T>) {
    let (k, cols) = (r.nrows(), b.ncols());
    if k <= SMALL {
        for column in 0..cols {
            let b = b.col_mut(column);
            for j in (0..k).rev() {
                let r = r.col(j);
                let value = b[j] / r[j];
                b[j] = value;
                for (b, &r) in b[..j].iter_mut().zip(r) {
                    *b -= r * value;
                }
            }
        }
        return;
    }
    let half = k / 2;
    let (mut top, mut bottom) = b.split_at_row_mut(half);
    solve_upper(r.submatrix(half, half, k - half, k - half), bottom.rb_mut());
    let beside = r.submatrix(0, half, half, k - half);
    T::gemm(Beta::One, top.rb_mut(), -T::one(), beside, bottom.rb());
    solve_upper(r.submatrix(0, 0, half, half), top);
}

/// The conjugate transpose of a matrix with `rows` rows.
fn adjoint<T: FactorScalar>(a: &[T], rows: usize) -> Vec<T> {
    let cols = a.len() / rows;
    let row = |i: usize| (0..cols).map(move |j| a[j * rows + i].conj());
    (0..rows).flat_map(row).collect()
}
