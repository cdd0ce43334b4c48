//! A memory limit is kept, whatever the tree looks like, and changes no bit of the result; memory that served before serves again,
//! and nobody sees what it held; what goes into a file comes out of it; counts are right beyond 32 bits, and what does not fit is refused.

mod common;
#[path = "memory/files.rs"]
mod files;
#[path = "memory/refactorized.rs"]
mod refactorized;
#[path = "memory/sizes.rs"]
mod sizes;

use common::*;
use std::sync::Arc;
use treeqr_matrices::{Csc, Pattern, c32, c64, gallery};
use treeqr_runtime::{Config, Faults, RunError};
use treeqr_solver::{
    AnalyseError, Deficient, DenseRows, FactorOptions, FactorScalar, Factors, FactorsFileError,
    MemoryLimit, Options, RunShape, SolveError, analyse, factorize, scalar_of_factors,
};

/// Fronts that are too large for a worker to keep the memory for, in memory full of NaN: they read nothing that they have not written.
#[test]
fn large_fronts_do_not_read_what_was_in_their_memory() {
    fn bits<T: FactorScalar>(a: &Csc<T>, b: &[T], options: &FactorOptions) -> Vec<T> {
        let symbolic = Arc::new(analyse(a.pattern(), &Options::default()).expect("analysis"));
        let shape = RunShape::of::<T>(1, options.keep_q);
        let front = a.nrows() * a.ncols() * size_of::<T>();
        let scratch = symbolic.predict(shape).scratch_bytes;
        assert!(front > 1 << 20 && scratch > front, "{scratch}");
        let done = factorize(&symbolic, a, b, 1, options, &()).expect("finite");
        let mut all = done.factors.solution().expect("x");
        all.extend(done.factors.trapezoid().expect("R").values());
        all
    }
    for (m, n) in [(1600, 50), (1200, 60)] {
        let a: Csc<c64> = random(7, m, n, 40 * m);
        let b: Vec<c64> = vector(8, m);
        for keep_q in [false, true] {
            let mut options = run_options(2, keep_q);
            let expected = bits(&a, &b, &options);
            options.run.faults.poison = true;
            assert!(bits(&a, &b, &options) == expected, "{m} x {n}");
            let last = (0..).find(|&k| {
                let faults = &mut options.run.faults;
                faults.fail_allocation = Some(k);
                let symbolic = analyse(a.pattern(), &Options::default()).expect("analysis");
                match factorize(&Arc::new(symbolic), &a, &b, 1, &options, &()) {
                    Err(SolveError::Run(RunError::OutOfMemory { .. })) => false,
                    Err(other) => panic!("{other}"),
                    Ok(_) => true,
                }
            });
            assert!(last >= Some(2), "{last:?}");
        }
    }
}

#[test]
fn limits_are_kept_on_trees_of_all_shapes() {
    let small = options(|o| (o.mb, o.nb, o.ib) = (Some(32), Some(16), Some(8)));
    for (name, o) in [
        ("grid3d-10", options(|_| ())),
        ("grid3d-10", small.clone()),
        ("conv2d-40", small.clone()),
        ("ba-12x200", small.clone()),
        ("lp-1000", options(|_| ())),
        ("pose-60", small),
    ] {
        let a = gallery::make(name).expect("gallery").matrix;
        let b: Vec<f64> = vector(1, a.nrows());
        let symbolic = Arc::new(analyse(a.pattern(), &o).expect("analysis"));
        let free = factorize(&symbolic, &a, &b, 1, &run_options(3, false), &()).expect("no limit");
        let smallest = free.prediction.peak_bytes as u64;
        let expected = free.factors.solution().expect("solve");
        for factor in [1.0, 1.05, 1.3, 2.0, 3.0] {
            let options = FactorOptions {
                memory_limit: MemoryLimit::Relative(factor),
                ..run_options(3, false)
            };
            let done =
                factorize(&symbolic, &a, &b, 1, &options, &()).expect("the limit can be kept");
            let limit = (factor * smallest as f64) as u64;
            assert!(
                done.stats.peak_bytes <= limit,
                "{name} x {factor}: {} > {limit}",
                done.stats.peak_bytes
            );
            assert!(
                done.factors.solution().expect("solve") == expected,
                "{name} x {factor}: other bits"
            );
        }
        let options = FactorOptions {
            memory_limit: MemoryLimit::Bytes(smallest - 1),
            ..run_options(3, false)
        };
        match factorize(&symbolic, &a, &b, 1, &options, &()) {
            Err(SolveError::MemoryLimit {
                smallest: named, ..
            }) => assert_eq!(named, smallest),
            Err(e) => panic!("{e}"),
            Ok(_) => panic!("a limit below the sequential peak was accepted"),
        }
    }
}

/// All that factors say, as bytes.
fn bits<T: FactorScalar>(factors: &Factors<T>) -> Vec<u8> {
    let symbolic = factors.symbolic();
    let split = !symbolic.dense_rows().is_empty();
    let mut all = match factors.trapezoid() {
        Some(r) => r.values().to_vec(),
        None => {
            assert!(split, "R is no trapezoid");
            factors.null_space()
        }
    };
    let n = symbolic.nrows().min(symbolic.ncols());
    let c: Vec<T> = vector(5, 2 * n);
    all.extend(factors.solve_r(&c, 2).expect("solve"));
    all.extend(factors.solve_r_adjoint(&c, 2).expect("solve"));
    if factors.has_q() {
        let b: Vec<T> = vector(6, 2 * symbolic.nrows());
        all.extend(factors.solve(&b, 2).expect("solve"));
        let w = symbolic.nrows().max(symbolic.ncols());
        let rotated = factors.apply_q_adjoint(&vector(7, w), 1).expect("Q kept");
        all.extend(factors.apply_q(&rotated, 1).expect("Q kept"));
        all.extend(rotated.head);
        all.extend(rotated.rest);
    } else {
        all.extend(factors.solution().expect("solve"));
    }
    let mut bytes: Vec<u8> = bytemuck::cast_slice(&all).to_vec();
    bytes.extend(format!("{:?}", factors.rank_details()).into_bytes());
    bytes
}

/// The same pattern with other values.
fn other_values<T: FactorScalar>(a: &Csc<T>, seed: u64) -> Csc<T> {
    let values: Vec<T> = vector(seed, a.nnz());
    Csc::new(a.pattern().clone(), values).expect("as many")
}

/// Two columns of the same pattern side by side, with the same values: rank n / 2.
fn doubled<T: FactorScalar>(seed: u64, m: usize, n: usize, extra: usize) -> Csc<T> {
    let half: Csc<T> = random(seed, m, n / 2, extra);
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    for col in 0..half.ncols() {
        let (rows, values) = half.col(col);
        for (&row, &value) in rows.iter().zip(values) {
            for copy in [0, half.ncols()] {
                i.push(row);
                j.push((col + copy) as u32);
                v.push(value);
            }
        }
    }
    Csc::from_triplets(m, 2 * half.ncols(), &i, &j, &v).expect("valid")
}

/// Matrices of all shapes, each with another of the same pattern, and how they are cut.
fn pairs<T: FactorScalar>() -> Vec<(Csc<T>, Csc<T>, Options)> {
    let small = options(|o| (o.mb, o.nb, o.ib) = (Some(16), Some(8), Some(3)));
    let tree = options(|o| (o.mb, o.nb, o.ib, o.bh) = (Some(24), Some(8), Some(4), Some(2)));
    let mut out = Vec::new();
    for (seed, (m, n, extra)) in [
        (90, 60, 400),
        (300, 200, 700),
        (60, 150, 500),
        (80, 80, 300),
    ]
    .into_iter()
    .enumerate()
    {
        for o in [&small, &tree, &options(|_| ())] {
            let a: Csc<T> = random(seed as u64, m, n, extra);
            let b = other_values(&a, 77 + seed as u64);
            out.push((a, b, o.clone()));
        }
    }
    let a: Csc<T> = doubled(9, 120, 80, 300);
    let full = other_values(&a, 5);
    // To a rank that is not full, and back.
    out.push((full.clone(), a.clone(), small.clone()));
    out.push((a, full, small));
    // Rows split off, of tall and wide ones; the last is of a rank that is not full.
    let split = options(|o| {
        (o.mb, o.nb, o.ib) = (Some(16), Some(8), Some(3));
        o.dense_rows = DenseRows::Count(4);
    });
    for a in [
        random(11, 90, 60, 400),
        random(12, 60, 150, 500),
        doubled(13, 120, 80, 300),
    ] {
        let b = other_values(&a, 6);
        out.push((a, b, split.clone()));
    }
    out
}

fn sequential(keep_q: bool) -> FactorOptions {
    FactorOptions {
        sequential: true,
        ..run_options(1, keep_q)
    }
}
