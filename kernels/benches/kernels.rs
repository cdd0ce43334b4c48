//! The kernels' speed beside the matrix product's, in GFlop/s on one core: medians, the two measured in turns.
//!
//! `cargo bench -p treeqr-kernels -- [filter ...]`: the rows whose name contains one of the filters, for instance
//! `tpmqrt_f64`, `front`, `all`. Without a filter: f64, the shapes that the solver uses most.
//! The column `gemm` is the product C += A B of 256^3 in the same precision.

mod common;

use common::{median, product, random, square, time};
use treeqr_kernels::*;
use treeqr_matrices::{c32, c64};

struct Row<'a> {
    name: String,
    shape: String,
    flops: u64,
    reset: Box<dyn FnMut() + 'a>,
    work: Box<dyn FnMut() + 'a>,
}

/// Measures the product and the row in turns, and prints a line.
fn report<T: KernelScalar>(mut row: Row) {
    let (mut gemm, gemm_flops) = product::<T>(256);
    let (mut theirs, mut ours) = (vec![], vec![]);
    for _ in 0..9 {
        theirs.push(gemm_flops / time(&mut || (), &mut gemm));
        ours.push(row.flops as f64 / time(&mut *row.reset, &mut *row.work));
    }
    let (gemm, rate) = (median(theirs) / 1e9, median(ours) / 1e9);
    let us = row.flops as f64 / rate / 1e3;
    println!(
        "{:<18} {:<26} {:>10.2} us {:>8.2} GF/s {:>6.1} gemm {:>5.1} %",
        row.name,
        row.shape,
        us,
        rate,
        gemm,
        100.0 * rate / gemm
    );
}

fn tiles<T: KernelScalar>(nb: usize, ib: usize, want: &dyn Fn(&str) -> bool) {
    let data = random::<T>(nb * nb);
    let other = random::<T>(nb * nb);
    let shape = format!("{nb} x {nb} ib {ib}");
    let name = |kernel: &str| format!("{kernel}_{}", T::NAME);
    let most = [
        geqrt_scratch::<T>(nb, nb, ib),
        gemqrt_scratch::<T>(nb, nb, nb, ib),
        tpqrt_scratch::<T>(nb, nb, ib),
        tpmqrt_scratch::<T>(nb, nb, nb, ib),
    ];
    let mut scratch = vec![T::zero(); most.into_iter().max().unwrap_or(0)];
    let mut a = data.clone();
    let mut t = vec![T::zero(); ib * nb];
    geqrt(
        square(nb, &mut a),
        Stair::Full,
        ib,
        MatMut::new(&mut t, ib, nb, ib),
        &mut scratch,
    );
    let mut v = vec![T::zero(); nb * nb];
    copy_v(MatRef::new(&a, nb, nb, nb), Stair::Full, square(nb, &mut v));
    if want(&name("geqrt")) {
        let mut t = t.clone();
        let work = std::cell::RefCell::new(a.clone());
        report::<T>(Row {
            name: name("geqrt"),
            shape: shape.clone(),
            flops: geqrt_flops::<T>(nb, nb, Stair::Full),
            reset: Box::new(|| work.borrow_mut().copy_from_slice(&data)),
            work: Box::new(|| {
                let t = MatMut::new(&mut t, ib, nb, ib);
                geqrt(
                    square(nb, &mut work.borrow_mut()),
                    Stair::Full,
                    ib,
                    t,
                    &mut scratch,
                );
            }),
        });
    }
    let mut c = other.clone();
    if want(&name("gemqrt")) {
        report::<T>(Row {
            name: name("gemqrt"),
            shape: shape.clone(),
            flops: gemqrt_flops::<T>(nb, nb, nb, Stair::Full),
            reset: Box::new(|| ()),
            work: Box::new(|| {
                let (v, t) = (MatRef::new(&v, nb, nb, nb), MatRef::new(&t, ib, nb, ib));
                gemqrt(
                    Op::ConjTrans,
                    v,
                    Stair::Full,
                    ib,
                    t,
                    square(nb, &mut c),
                    &mut scratch,
                );
            }),
        });
    }
    for (kind, stair) in [
        ("", None),
        ("_tt", Some((1..=nb as u32).collect::<Vec<_>>())),
    ] {
        let stair = match &stair {
            None => Stair::Full,
            Some(s) => Stair::Rows(s),
        };
        let (mut r, mut b) = (data.clone(), other.clone());
        tpqrt(
            square(nb, &mut r),
            square(nb, &mut b),
            stair,
            ib,
            MatMut::new(&mut t, ib, nb, ib),
            &mut scratch,
        );
        if kind == "_tt" {
            let copy = b.clone();
            copy_upper(MatRef::new(&copy, nb, nb, nb), square(nb, &mut b));
        }
        let v = b;
        if want(&name(&format!("tpqrt{kind}"))) {
            let mut t = t.clone();
            let (r, b) = (
                std::cell::RefCell::new(data.clone()),
                std::cell::RefCell::new(other.clone()),
            );
            report::<T>(Row {
                name: name(&format!("tpqrt{kind}")),
                shape: shape.clone(),
                flops: tpqrt_flops::<T>(nb, nb, stair),
                reset: Box::new(|| {
                    r.borrow_mut().copy_from_slice(&data);
                    b.borrow_mut().copy_from_slice(&other);
                }),
                work: Box::new(|| {
                    let t = MatMut::new(&mut t, ib, nb, ib);
                    tpqrt(
                        square(nb, &mut r.borrow_mut()),
                        square(nb, &mut b.borrow_mut()),
                        stair,
                        ib,
                        t,
                        &mut scratch,
                    );
                }),
            });
        }
        if want(&name(&format!("tpmqrt{kind}"))) {
            let (mut c1, mut c2) = (data.clone(), other.clone());
            report::<T>(Row {
                name: name(&format!("tpmqrt{kind}")),
                shape: shape.clone(),
                flops: tpmqrt_flops::<T>(nb, nb, nb, stair),
                reset: Box::new(|| ()),
                work: Box::new(|| {
                    let (v, t) = (MatRef::new(&v, nb, nb, nb), MatRef::new(&t, ib, nb, ib));
                    tpmqrt(
                        Op::ConjTrans,
                        v,
                        stair,
                        ib,
                        t,
                        square(nb, &mut c1),
                        square(nb, &mut c2),
                        &mut scratch,
                    );
                }),
            });
        }
    }
}

fn front<T: KernelScalar>(m: usize, n: usize, stairs: bool, want: &dyn Fn(&str) -> bool) {
    let kind = if stairs { "_stair" } else { "" };
    let name = format!("front_qr{kind}_{}", T::NAME);
    if !want(&name) {
        return;
    }
    let steps: Vec<u32> = (0..n)
        .map(|j| (m - (n - 1 - j) * m / (2 * n)) as u32)
        .collect();
    let stair = if stairs {
        Stair::Rows(&steps)
    } else {
        Stair::Full
    };
    let mut data = random::<T>(m * n);
    for j in 0..n {
        data[j * m..][..m][stair.rows(j, m)..].fill(T::zero());
    }
    // Many copies for the small ones, so that the clock is not what is measured.
    let copies = (20_000 / (m * n)).max(1);
    let work = std::cell::RefCell::new(vec![data.clone(); copies]);
    let mut tau = vec![T::zero(); m.min(n)];
    let mut scratch = vec![T::zero(); front_qr_scratch::<T>(m, n, 0)];
    report::<T>(Row {
        name,
        shape: format!("{m} x {n}, {copies} times"),
        flops: front_qr_flops::<T>(m, n, 0, stair) * copies as u64,
        reset: Box::new(|| {
            work.borrow_mut()
                .iter_mut()
                .for_each(|a| a.copy_from_slice(&data))
        }),
        work: Box::new(|| {
            for a in work.borrow_mut().iter_mut() {
                front_qr(MatMut::new(a, m, n, m), n, stair, &mut tau, &mut scratch);
            }
        }),
    });
}

fn apply<T: KernelScalar>(m: usize, k: usize, n: usize, want: &dyn Fn(&str) -> bool) {
    let name = format!("apply_packed_{}", T::NAME);
    if !want(&name) {
        return;
    }
    let v = random::<T>(packed_len(m, k, Stair::Full));
    // Orthogonal or not, the work is the same; a small tau keeps the numbers bounded.
    let tau = vec![T::from_f64(1e-3 / m as f64, 0.0); k];
    let mut c = random::<T>(m * n);
    report::<T>(Row {
        name,
        shape: format!("{m} x {n}, {k} reflectors"),
        flops: apply_packed_flops::<T>(m, n, k, Stair::Full),
        reset: Box::new(|| ()),
        work: Box::new(|| {
            apply_packed(
                Op::ConjTrans,
                &v,
                Stair::Full,
                &tau,
                MatMut::new(&mut c, m, n, m),
            )
        }),
    });
}

/// Systems with a front's rows of R, packed: `k` of them with `n` columns, for `w` vectors.
fn sweep<T: KernelScalar>(k: usize, n: usize, w: usize, want: &dyn Fn(&str) -> bool) {
    let entries = k * (k + 1) / 2 + k * (n - k);
    let mut r = random::<T>(entries);
    // A large diagonal keeps x bounded, however often it is the right-hand side again.
    for j in 0..k {
        r[j * (j + 3) / 2] = T::from_f64(1.0 + n as f64, 0.0);
    }
    let z = std::cell::RefCell::new(random::<T>(n * w));
    let begin = random::<T>(n * w);
    for (kind, solve) in [
        (
            "trsv_packed",
            trsv_packed::<T> as fn(&[T], usize, MatMut<T>),
        ),
        ("trsv_packed_adjoint", trsv_packed_adjoint::<T>),
    ] {
        let name = format!("{kind}_{}", T::NAME);
        if !want(&name) {
            continue;
        }
        report::<T>(Row {
            name,
            shape: format!("{k} x {n}, {w} vectors"),
            flops: (if T::IS_COMPLEX { 8 } else { 2 } * entries * w) as u64,
            reset: Box::new(|| z.borrow_mut().copy_from_slice(&begin)),
            work: Box::new(|| solve(&r, k, MatMut::new(&mut z.borrow_mut(), n, w, n))),
        });
    }
}

fn all<T: KernelScalar>(tile_sizes: &[(usize, usize)], want: &dyn Fn(&str) -> bool) {
    for &(nb, ib) in tile_sizes {
        tiles::<T>(nb, ib, want);
    }
    for (m, n) in [(3, 3), (6, 4), (10, 6), (20, 10), (30, 20)] {
        front::<T>(m, n, false, want);
    }
    for (m, n) in [
        (60, 30),
        (100, 50),
        (140, 70),
        (200, 100),
        (400, 150),
        (1000, 100),
        (1000, 300),
        (2000, 400),
    ] {
        front::<T>(m, n, false, want);
        front::<T>(m, n, true, want);
    }
    for (m, k, n) in [(60, 30, 1), (1000, 300, 1), (1000, 300, 8)] {
        apply::<T>(m, k, n, want);
    }
    for (k, n, w) in [(10, 30, 1), (100, 300, 1), (100, 300, 2), (800, 1500, 1)] {
        sweep::<T>(k, n, w, want);
    }
}

fn main() {
    let filters: Vec<String> = std::env::args()
        .skip(1)
        .filter(|x| !x.starts_with("--"))
        .collect();
    let every = filters.iter().any(|f| f == "all");
    let want = |name: &str| {
        every
            || (filters.is_empty() && name.ends_with("f64"))
            || filters.iter().any(|f| name.contains(f.as_str()))
    };
    let mut sizes = vec![];
    for nb in [128, 192, 256, 320, 512] {
        for ib in [16, 24, 32, 48, 64] {
            if every || ib == 32 || filters.iter().any(|f| f == "sweep") {
                sizes.push((nb, ib));
            }
        }
    }
    all::<f64>(&sizes, &want);
    all::<f32>(&[(256, 32)], &want);
    all::<c64>(&[(256, 32)], &want);
    all::<c32>(&[(256, 32)], &want);
}
