//! The factors are what they claim to be: A = Q R with an orthogonal Q, for random patterns of all shapes, for fronts as
//! blocks and in tiles, flat and with a tree.

mod common;
use common::*;
use treeqr_matrices::{Csc, c32, c64};
use treeqr_solver::{FactorScalar, Options, quality};

fn shapes() -> Vec<(usize, usize, usize)> {
    vec![
        (1, 1, 0),
        (5, 1, 4),
        (1, 6, 5),
        (7, 7, 12),
        (30, 20, 60),
        (20, 30, 60),
        (100, 40, 300),
        (60, 60, 240),
        (200, 90, 900),
        (90, 200, 900),
        (400, 150, 1500),
    ]
}

fn tilings() -> Vec<(&'static str, Options)> {
    vec![
        ("default", options(|_| ())),
        (
            "square tiles",
            options(|o| (o.mb, o.nb, o.ib) = (Some(8), Some(8), Some(3))),
        ),
        (
            "tall tiles",
            options(|o| (o.mb, o.nb, o.ib) = (Some(16), Some(4), Some(4))),
        ),
        (
            "tree",
            options(|o| (o.mb, o.nb, o.ib, o.bh) = (Some(8), Some(4), Some(2), Some(1))),
        ),
        (
            "groups of two",
            options(|o| (o.mb, o.nb, o.ib, o.bh) = (Some(4), Some(4), Some(4), Some(2))),
        ),
    ]
}

fn check<T: FactorScalar>(name: &str, a: &Csc<T>, o: &Options) {
    let (symbolic, factored) = factor(a, o);
    let (backward, loss) = ratios(a, &symbolic, &factored);
    assert!(backward < 30.0, "{name}: ||A - QR|| ratio {backward}");
    assert!(loss < 30.0, "{name}: orthogonality ratio {loss}");
}

#[test]
fn qr_of_random_patterns() {
    for (s, (m, n, extra)) in shapes().into_iter().enumerate() {
        for ordering in ["natural", "colamd", "metis", "nd"] {
            for (tiles, mut o) in tilings() {
                o.ordering = ordering.into();
                let a: Csc<f64> = random(s as u64, m, n, extra);
                check(&format!("{m} x {n}, {ordering}, {tiles}"), &a, &o);
            }
        }
    }
}

#[test]
fn qr_in_every_scalar() {
    fn all<T: FactorScalar>() {
        for (m, n, extra) in [(80, 50, 300), (50, 80, 300)] {
            for (tiles, o) in tilings() {
                check(
                    &format!("{} {m} x {n}, {tiles}", T::NAME),
                    &random::<T>(3, m, n, extra),
                    &o,
                );
            }
        }
    }
    all::<f32>();
    all::<f64>();
    all::<c32>();
    all::<c64>();
}

/// A random m x n matrix with two to five entries in each row.
fn tall<T: FactorScalar>(seed: u64, m: usize, n: usize) -> Csc<T> {
    let mut rng = Rng(seed);
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..m {
        let first = rng.below(n);
        let other = (first + 1 + rng.below(n - 1)) % n;
        let more = (0..rng.below(4)).map(|_| rng.below(n));
        for column in [first, other].into_iter().chain(more.collect::<Vec<_>>()) {
            i.push(row as u32);
            j.push(column as u32);
            v.push(rng.scalar());
        }
    }
    Csc::from_triplets(m, n, &i, &j, &v).expect("valid triplets")
}

#[test]
fn qr_of_fronts_in_parts() {
    fn all<T: FactorScalar>() {
        for (m, n) in [(6000, 24), (3000, 90)] {
            let a = tall::<T>(5, m, n);
            let a = if n == 90 { a.adjoint() } else { a };
            for (tiles, o) in tilings().into_iter().step_by(3) {
                let (symbolic, factored) = factor(&a, &o);
                let parts = symbolic.fronts().iter().filter(|front| front.npiv == 0);
                assert!(parts.count() > 1, "{m} x {n}");
                let (backward, loss) = ratios(&a, &symbolic, &factored);
                let name = T::NAME;
                assert!(backward < 30.0, "{name} {m} x {n}, {tiles}: {backward}");
                assert!(loss < 30.0, "{name} {m} x {n}, {tiles}: {loss}");
            }
        }
    }
    all::<f32>();
    all::<f64>();
    all::<c32>();
    all::<c64>();
}

#[test]
fn solutions_from_fronts_in_parts() {
    let (m, n) = (5000, 30);
    let a: Csc<f64> = tall(8, m, n);
    let b = vector::<f64>(2, m);
    let o = options(|_| ());
    let symbolic = std::sync::Arc::new(treeqr_solver::analyse(a.pattern(), &o).expect("analysis"));
    assert!(symbolic.fronts().iter().any(|front| front.npiv == 0));
    let (_, kept) = factor(&a, &o);
    let x = kept.factors.solve(&b, 1).expect("solve");
    let mut run = run_options(1, false);
    run.sequential = true;
    let lean = treeqr_solver::factorize(&symbolic, &a, &b, 1, &run, &()).expect("factorize");
    let peak = lean.prediction.peak_bytes;
    assert_eq!(lean.stats.peak_bytes, peak as u64);
    assert!(peak < m * n * size_of::<f64>() / 3, "{peak}");
    let y = lean.factors.solution().expect("solve");
    for x in [&x, &y] {
        let q = quality(&a, x, &b);
        assert!(q.normal_residual < 1e-14, "{q:?}");
    }
    // The normal equations, solved densely.
    let mut normal = faer::Mat::<f64>::zeros(n, n);
    let mut right = faer::Mat::<f64>::zeros(n, 1);
    let dense = entries(&a);
    for i in 0..n {
        let column = |j: usize| &dense[j * m..(j + 1) * m];
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        right[(i, 0)] = dot(column(i), &b);
        (0..n).for_each(|j| normal[(i, j)] = dot(column(i), column(j)));
    }
    use faer::prelude::Solve;
    let expected = normal.partial_piv_lu().solve(&right);
    for i in 0..n {
        assert!((x[i] - expected[(i, 0)]).abs() < 1e-10, "{i}");
        assert!((y[i] - expected[(i, 0)]).abs() < 1e-10, "{i}");
    }
    // The same factors from a file, and for other values.
    let mut file = Vec::new();
    kept.factors.save(&mut file).expect("written");
    let mut loaded = treeqr_solver::Factors::<f64>::load(&mut &file[..]).expect("read");
    assert_eq!(loaded.solve(&b, 1).expect("solve"), x);
    let values = a.values().iter().map(|v| 2.0 * v).collect();
    let doubled = Csc::new(a.pattern().clone(), values).expect("as many");
    loaded
        .refactorize(&doubled, &[], &run_options(2, true), &())
        .expect("factorized");
    let half = loaded.solve(&b, 1).expect("solve");
    assert!(half.iter().zip(&x).all(|(h, x)| 2.0 * h == *x));
}

#[test]
fn solution_with_q_kept_and_on_the_way_agree() {
    for (tiles, o) in tilings() {
        let a: Csc<f64> = random(11, 200, 90, 900);
        let b = vector(5, 400);
        let (symbolic, kept) = factor(&a, &o);
        let x = kept.factors.solve(&b, 2).expect("solve");
        let lean = treeqr_solver::factorize(&symbolic, &a, &b, 2, &run_options(2, false), &())
            .expect("factorize");
        let y = lean.factors.solution().expect("solve");
        for (p, q) in x.iter().zip(&y) {
            assert!((p - q).abs() < 1e-12, "{tiles}: {p} and {q}");
        }
        for k in 0..2 {
            let q = quality(&a, &y[k * 90..(k + 1) * 90], &b[k * 200..(k + 1) * 200]);
            assert!(q.normal_residual < 1e-13, "{tiles}: {q:?}");
        }
        assert!(lean.factors.bytes() < kept.factors.bytes());
    }
}

#[test]
fn predictions_hold_to_the_unit() {
    for (tiles, o) in tilings() {
        for (keep_q, nrhs) in [(true, 0), (false, 1), (false, 3)] {
            let a: Csc<f64> = random(21, 400, 150, 1500);
            let symbolic =
                std::sync::Arc::new(treeqr_solver::analyse(a.pattern(), &o).expect("analysis"));
            let b = vector(1, 400 * nrhs);
            let mut run = run_options(1, keep_q);
            run.sequential = true;
            let done =
                treeqr_solver::factorize(&symbolic, &a, &b, nrhs, &run, &()).expect("factorize");
            assert_eq!(done.stats.tasks, done.prediction.task_count(), "{tiles}");
            assert_eq!(
                done.stats.peak_bytes, done.prediction.peak_bytes as u64,
                "{tiles} {keep_q} {nrhs}"
            );
            assert_eq!(
                done.factors.bytes(),
                done.prediction.factor_bytes as u64,
                "{tiles} {keep_q} {nrhs}"
            );
        }
    }
}

/// In whole fronts the factors are R and H and nothing else: their bytes are the predicted entries.
#[test]
fn factors_hold_the_predicted_entries() {
    for name in ["grid3d-9", "lp-150", "pose-40", "stencil27-6"] {
        let a = treeqr_matrices::gallery::make(name)
            .expect("gallery")
            .matrix;
        let (symbolic, factored) = factor(&a, &options(|_| ()));
        assert_eq!(symbolic.unit_counts().1, 0, "{name}: no front in tiles");
        // Rows of singletons are entries of R that stay in A.
        let rows: u64 = symbolic.fronts().iter().map(|f| f.r_entries() as u64).sum();
        assert!(rows <= symbolic.nnz_r());
        assert_eq!(
            factored.factors.bytes(),
            8 * (rows + symbolic.nnz_h()),
            "{name}"
        );
    }
}
