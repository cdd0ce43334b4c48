//! Columns near overflow and underflow, zero columns, and what must be the identity.

mod common;

use common::*;
use treeqr_kernels::*;
use treeqr_matrices::{RealScalar, c64};

/// Residual of front_qr and geqrt on a matrix times 10^e, column by column.
fn scaled<T: KernelScalar>(m: usize, n: usize, exponent: impl Fn(usize) -> i32) {
    let rng = &mut Rng(17);
    let a = Block::<T>::random(m, n, 0, rng).map(|_, j, x| {
        T::from_f64(
            x.re().to_f64() * 10f64.powi(exponent(j)),
            x.im().to_f64() * 10f64.powi(exponent(j)),
        )
    });
    let k = m.min(n);
    for ib in [4, 32] {
        let (mut f, mut t) = (a.clone(), Block::filled(ib, k, 0, T::zero()));
        let mut scratch = vec![nan(); geqrt_scratch::<T>(m, n, ib)];
        geqrt(f.view_mut(), Stair::Full, ib, t.view_mut(), &mut scratch);
        let mut v = Block::filled(m, k, 0, T::zero());
        copy_v(f.view(), Stair::Full, v.view_mut());
        let mut qr = f.upper();
        let mut scratch = vec![nan(); gemqrt_scratch::<T>(m, n, k, ib)];
        gemqrt(
            Op::NoTrans,
            v.view(),
            Stair::Full,
            ib,
            t.view(),
            qr.view_mut(),
            &mut scratch,
        );
        compare("geqrt", &a, &qr);
    }
    let (mut f, mut tau) = (a.clone(), vec![T::zero(); k]);
    let mut scratch = vec![nan(); front_qr_scratch::<T>(m, n, 0)];
    front_qr(f.view_mut(), n, Stair::Full, &mut tau, &mut scratch);
    let packed: Vec<T> = (0..k)
        .flat_map(|j| f.view().col(j)[j + 1..].to_vec())
        .collect();
    let mut qr = f.upper();
    apply_packed(Op::NoTrans, &packed, Stair::Full, &tau, qr.view_mut());
    compare("front_qr", &a, &qr);

    // The same rows, the first n as a triangle above the others.
    let (top, bottom) = (n, m - n);
    let part = |r0: usize, rows: usize| {
        Block::filled(rows, n, 0, T::zero()).map(|i, j, _| a.view().at(r0 + i, j))
    };
    let (mut r, mut b) = (part(0, top).upper(), part(top, bottom));
    let before = r.stack(&b);
    let mut t = Block::filled(32, n, 0, T::zero());
    let mut scratch = vec![nan(); tpqrt_scratch::<T>(bottom, n, 32)];
    tpqrt(
        r.view_mut(),
        b.view_mut(),
        Stair::Full,
        32,
        t.view_mut(),
        &mut scratch,
    );
    let (mut c1, mut c2) = (r.upper(), Block::filled(bottom, n, 0, T::zero()));
    let mut scratch = vec![nan(); tpmqrt_scratch::<T>(bottom, n, n, 32)];
    tpmqrt(
        Op::NoTrans,
        b.view(),
        Stair::Full,
        32,
        t.view(),
        c1.view_mut(),
        c2.view_mut(),
        &mut scratch,
    );
    compare("tpqrt", &before, &c1.stack(&c2));
}

/// Column by column, relative to the column's own norm.
fn compare<T: KernelScalar>(what: &str, a: &Block<T>, b: &Block<T>) {
    for j in 0..a.n {
        let column = |x: &Block<T>| Block {
            data: x.view().col(j).to_vec(),
            m: x.m,
            n: 1,
            ld: x.m,
        };
        let (a, b) = (column(a), column(b));
        let d = distance(a.view(), b.view());
        assert_small::<T>(&format!("{what}, column {j}"), d, norm(a.view()), a.m);
    }
}

#[test]
fn doubles_from_tiny_to_huge() {
    for (m, n) in [(12, 5), (90, 40)] {
        for e in [-300, -250, -160, -150, -20, 0, 150, 160, 250, 300] {
            scaled::<f64>(m, n, |_| e);
            scaled::<c64>(m, n, |_| e);
        }
        scaled::<f64>(m, n, |j| [0, 150, -150, 80, -80][j % 5]);
    }
}

#[test]
fn singles_from_tiny_to_huge() {
    for (m, n) in [(12, 5), (90, 40)] {
        for e in [-30, -22, -15, 0, 15, 22, 30] {
            scaled::<f32>(m, n, |_| e);
        }
        scaled::<f32>(m, n, |j| [0, 12, -12, 6, -6][j % 5]);
    }
}

/// A matrix of zeros, and a triangle: nothing to annihilate, so nothing may change.
fn identity<T: KernelScalar>() {
    let rng = &mut Rng(4);
    for (m, n) in [(1, 1), (4, 4), (40, 17), (300, 40)] {
        for a in [
            Block::<T>::filled(m, n, 2, T::zero()),
            Block::random(m, n, 2, rng).upper(),
        ] {
            let k = m.min(n);
            let (mut f, mut t) = (a.clone(), Block::filled(8, k, 0, nan()));
            let mut scratch = vec![nan(); geqrt_scratch::<T>(m, n, 8)];
            geqrt(f.view_mut(), Stair::Full, 8, t.view_mut(), &mut scratch);
            assert_eq!(distance(a.view(), f.view()), 0.0);
            for j in 0..k {
                assert!(
                    t.view().col(j)[..8.min(k - j / 8 * 8)]
                        .iter()
                        .all(|&x| x == T::zero())
                );
            }
            let (mut f, mut tau) = (a.clone(), vec![nan(); k]);
            let mut scratch = vec![nan(); front_qr_scratch::<T>(m, n, 0)];
            front_qr(f.view_mut(), n, Stair::Full, &mut tau, &mut scratch);
            assert_eq!(distance(a.view(), f.view()), 0.0);
            assert!(tau.iter().all(|&x| x == T::zero()));
        }
    }
}

#[test]
fn nothing_to_annihilate_is_the_identity() {
    four_scalars!(identity());
}

#[test]
fn empty_shapes() {
    let mut none: Vec<f64> = vec![];
    let mut scratch = vec![0.0; 4096];
    for (m, n) in [(0, 0), (0, 3), (3, 0)] {
        let mut a = vec![0.0; m * n];
        let ld = m.max(1);
        geqrt(
            MatMut::new(&mut a, m, n, ld),
            Stair::Full,
            4,
            MatMut::new(&mut none, 4, 0, 4),
            &mut scratch,
        );
        front_qr(
            MatMut::new(&mut a, m, n, ld),
            n,
            Stair::Full,
            &mut [],
            &mut scratch,
        );
        apply_packed(
            Op::NoTrans,
            &[],
            Stair::Full,
            &[],
            MatMut::new(&mut a, m, n, ld),
        );
        let (mut r, mut t) = (vec![1.0; n * n], vec![0.0; 4 * n]);
        let t = MatMut::new(&mut t, 4, n, 4);
        tpqrt(
            MatMut::new(&mut r, n, n, n.max(1)),
            MatMut::new(&mut a, m, n, ld),
            Stair::Full,
            4,
            t,
            &mut scratch,
        );
        assert_eq!(r, vec![1.0; n * n]);
    }
}

#[test]
fn not_a_number_comes_back_and_nothing_hangs() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut a = vec![1.0; 50 * 20];
        a[3] = bad;
        let mut tau = vec![0.0; 20];
        let mut scratch = vec![0.0; front_qr_scratch::<f64>(50, 20, 0)];
        front_qr(
            MatMut::new(&mut a, 50, 20, 50),
            20,
            Stair::Full,
            &mut tau,
            &mut scratch,
        );
        assert!(a.iter().any(|x| !x.is_finite()));
    }
}
