//! The systems beside their twins, with the vectors of this machine and with none; and that a vector's result is its own.

use super::{AbsSums, Packed, Product, ProductAdjoint, Triangle, Upper};
use crate::numbers::numbers;
use crate::reference;
use crate::scalar::KernelScalar;
use crate::simd::arch;
use crate::view::{MatMut, MatRef};
use pulp::Arch;
use treeqr_matrices::{RealScalar, c32, c64};

/// k x n, with n >= k, and vectors.
const SHAPES: [(usize, usize, usize); 11] = [
    (0, 0, 1),
    (0, 5, 2),
    (1, 1, 1),
    (3, 3, 2),
    (4, 9, 1),
    (8, 20, 4),
    (11, 40, 7),
    (17, 17, 3),
    (33, 90, 16),
    (64, 71, 1),
    // More than one block of columns.
    (150, 400, 6),
];

fn nan<T: KernelScalar>() -> T {
    T::from_f64(f64::NAN, f64::NAN)
}

/// R as a block with NaN below the diagonal, k + 2 apart; and packed. Well conditioned.
fn trapezoid<T: KernelScalar>(k: usize, n: usize) -> (Vec<T>, Vec<T>) {
    let mut r = numbers::<T>((k + 2) * n, 1);
    let mut packed = Vec::new();
    for (j, column) in r.chunks_exact_mut(k + 2).enumerate() {
        let rows = k.min(j + 1);
        column[rows..].fill(nan());
        if j < k {
            column[j] += T::from_f64(k as f64 / 2.0 + 1.0, 0.5);
        }
        packed.extend_from_slice(&column[..rows]);
    }
    (r, packed)
}

/// With vectors, and without.
fn machines() -> Vec<Arch> {
    let here = Some(arch()).filter(|a| !matches!(a, Arch::Scalar));
    here.into_iter().chain([Arch::Scalar]).collect()
}

fn assert_close<T: KernelScalar>(is: &[T], want: &[T], terms: usize, what: &str) {
    let epsilon = <T::Real as RealScalar>::EPSILON.to_f64();
    let largest = want.iter().map(|v| v.abs().to_f64()).fold(1.0, f64::max);
    for (is, want) in is.iter().zip(want) {
        let error = (*is - *want).abs().to_f64();
        let bound = 10.0 * epsilon * (terms + 1) as f64 * largest;
        assert!(error <= bound, "{} {what}: {error:e} > {bound:e}", T::NAME);
    }
}

fn all<T: KernelScalar>() {
    for arch in machines() {
        for (k, n, w) in SHAPES {
            let (r, packed) = trapezoid::<T>(k, n);
            let block = MatRef::new(&r, k, n, k + 2);
            let z = numbers::<T>(n * w, 2);
            for adjoint in [false, true] {
                let what = format!("{arch:?} {k} x {n}, {w} vectors, adjoint {adjoint}");
                let twin = if adjoint {
                    reference::trsv_adjoint
                } else {
                    reference::trsv
                };
                let (mut is, mut want) = (z.clone(), z.clone());
                arch.dispatch(Packed {
                    r: &packed,
                    k,
                    z: MatMut::new(&mut is, n, w, n.max(1)),
                    adjoint,
                });
                twin(block, MatMut::new(&mut want, n, w, n.max(1)));
                assert_close(&is, &want, n, &what);

                let triangle = block.submatrix(0, 0, k, k);
                let (mut is, mut want) = (z.clone(), z.clone());
                arch.dispatch(Triangle {
                    r: Upper::Dense(triangle),
                    z: MatMut::new(&mut is, k, w, n.max(1)),
                    adjoint,
                });
                twin(triangle, MatMut::new(&mut want, k, w, n.max(1)));
                assert_close(&is, &want, k, &what);
            }
            products::<T>(arch, k, n, w);
            let heights = (0..n).map(|j| k.min(j + 1));
            let mut rest = &packed[..];
            let columns = heights.map(|rows| rest.split_off(..rows).expect("a column"));
            let mut sums = vec![T::one(); n];
            arch.dispatch(AbsSums {
                columns,
                sums: &mut sums,
            });
            let want = (0..n).map(|j| {
                let column = (0..k.min(j + 1)).map(|i| block.at(i, j).abs().to_f64());
                T::from_f64(1.0 + column.sum::<f64>(), 0.0)
            });
            assert_close(&sums, &want.collect::<Vec<_>>(), k, "sums");
        }
    }
}

fn products<T: KernelScalar>(arch: Arch, m: usize, k: usize, w: usize) {
    let (a, x, z) = (
        numbers::<T>((m + 1) * k, 3),
        numbers::<T>(k * w, 4),
        numbers::<T>(m * w, 5),
    );
    let a = MatRef::new(&a, m, k, m + 1);
    let (mut is, mut want) = (z.clone(), z.clone());
    let given = MatRef::new(&x, k, w, k.max(1));
    arch.dispatch(Product {
        a,
        x: given,
        z: MatMut::new(&mut is, m, w, m.max(1)),
    });
    reference::gemv(a, given, MatMut::new(&mut want, m, w, m.max(1)));
    assert_close(&is, &want, k, "A X");
    let (mut is, mut want) = (x.clone(), x.clone());
    let given = MatRef::new(&z, m, w, m.max(1));
    arch.dispatch(ProductAdjoint {
        a,
        z: given,
        y: MatMut::new(&mut is, k, w, k.max(1)),
    });
    reference::gemv_adjoint(a, given, MatMut::new(&mut want, k, w, k.max(1)));
    assert_close(&is, &want, m, "A^H Z");
}

#[test]
fn systems_are_solved_as_plain_loops_solve_them() {
    all::<f64>();
    all::<f32>();
    all::<c64>();
    all::<c32>();
}

fn alone<T: KernelScalar>() {
    for (k, n, w) in [(33, 90, 16), (150, 400, 7), (5, 6, 3)] {
        let (_, packed) = trapezoid::<T>(k, n);
        let z = numbers::<T>(n * w, 2);
        for solve in [super::trsv_packed, super::trsv_packed_adjoint] {
            let mut together = z.clone();
            solve(&packed, k, MatMut::new(&mut together, n, w, n));
            for (z, together) in z.chunks_exact(n).zip(together.chunks_exact(n)) {
                let mut alone = z.to_vec();
                solve(&packed, k, MatMut::new(&mut alone, n, 1, n));
                // Not NaN: then they would not be equal.
                assert!(alone == together, "{} {k} x {n}, {w} vectors", T::NAME);
            }
        }
    }
}

#[test]
fn a_vector_has_the_same_bits_whatever_others_there_are() {
    alone::<f64>();
    alone::<f32>();
    alone::<c64>();
    alone::<c32>();
}
