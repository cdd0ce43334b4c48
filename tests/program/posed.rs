//! Weights, damping and column scaling, against the same problems built by hand.

use crate::dense;
use crate::mixed::{Random, complex, named};
use treeqr::matrices::{Scalar, norm2};
use treeqr::{
    Csc, FactorOptions, Posed, PosedError, RunShape, Settings, Terms, analyse, c64, factorize,
    r_squared, solve, weighted_residual,
};

fn difference(x: &[f64], y: &[f64]) -> f64 {
    let d: Vec<_> = x.iter().zip(y).map(|(x, y)| x - y).collect();
    norm2(&d) / norm2(y).max(1e-300)
}

fn x_of(posed: &Posed<f64>, b: &[f64], nrhs: usize) -> Vec<f64> {
    let settings = Settings::with_threads(2);
    let y = solve(posed.matrix(), &posed.rhs(b, nrhs), nrhs, &settings)
        .expect("solved")
        .x;
    posed.solution(&y, nrhs)
}

/// [S A; lambda I], by hand.
fn explicit(a: &Csc<f64>, weights: &[f64], damping: f64) -> Csc<f64> {
    let (m, n) = (a.nrows(), a.ncols());
    let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for j in 0..n {
        let (indices, entries) = a.col(j);
        for (&i, &v) in indices.iter().zip(entries) {
            rows.push(i);
            cols.push(j as u32);
            values.push(v * weights[i as usize].sqrt());
        }
        rows.push((m + j) as u32);
        cols.push(j as u32);
        values.push(damping);
    }
    Csc::from_triplets(m + n, n, &rows, &cols, &values).expect("triplets")
}

#[test]
fn damping_and_weights_are_those_of_the_explicit_problem() {
    let mut random = Random(11);
    for name in ["survey-8x6", "grid3d-5", "lp-40", "bibd_9_3", "conv2d-12"] {
        let a = named(name);
        let (m, n) = (a.nrows(), a.ncols());
        let weights: Vec<f64> = random.vector(m).iter().map(|v| (3.0 * v).exp()).collect();
        let b = random.vector(2 * m);
        for damping in [0.03, 1.0, 40.0] {
            for scale_columns in [false, true] {
                let terms = Terms {
                    weights: Some(weights.clone()),
                    damping: Some(damping),
                    scale_columns,
                };
                let posed = Posed::new(&a, &terms).expect("posed");
                // A wide A gets an R of the order of its rows.
                let order = posed.matrix().nrows().min(posed.matrix().ncols());
                assert_eq!(order, m.min(n));
                let x = x_of(&posed, &b, 2);
                let by_hand = explicit(&a, &weights, damping);
                for k in 0..2 {
                    let mut c: Vec<f64> = b[k * m..(k + 1) * m].to_vec();
                    c.iter_mut().zip(&weights).for_each(|(b, w)| *b *= w.sqrt());
                    c.resize(m + n, 0.0);
                    let expected = dense::solve(&by_hand, &c);
                    let error = difference(&x[k * n..(k + 1) * n], &expected);
                    assert!(error < 1e-9, "{name}, {damping}: {error:e}");
                }
            }
        }
    }
}

#[test]
fn a_weight_of_three_is_three_rows() {
    let a = named("survey-8x6");
    let mut random = Random(12);
    let b = random.vector(a.nrows());
    let weights: Vec<f64> = (0..a.nrows()).map(|i| 1.0 + (i % 3) as f64).collect();
    let terms = Terms {
        weights: Some(weights.clone()),
        ..Terms::default()
    };
    let x = x_of(&Posed::new(&a, &terms).expect("posed"), &b, 1);
    let rows: Vec<usize> = (0..a.nrows()).flat_map(|i| vec![i; 1 + i % 3]).collect();
    let t = a.adjoint();
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    for (k, &row) in rows.iter().enumerate() {
        let (cols, values) = t.col(row);
        i.extend(vec![k as u32; cols.len()]);
        j.extend_from_slice(cols);
        v.extend_from_slice(values);
    }
    let repeated = Csc::from_triplets(rows.len(), a.ncols(), &i, &j, &v).expect("triplets");
    let c: Vec<f64> = rows.iter().map(|&i| b[i]).collect();
    let expected = dense::solve(&repeated, &c);
    assert!(difference(&x, &expected) < 1e-11);
    let r = norm2(&weighted_residual(&a, &x, &b, Some(&weights)));
    let by_hand = norm2(&weighted_residual(&repeated, &expected, &c, None));
    assert!((r - by_hand).abs() < 1e-11 * by_hand);
}

#[test]
fn another_damping_and_other_values_need_no_analysis() {
    for name in ["survey-8x6", "lp-40"] {
        let mut a = named(name);
        let b = Random(13).vector(a.nrows());
        let terms = Terms {
            damping: Some(0.0),
            ..Terms::default()
        };
        let mut posed = Posed::new(&a, &terms).expect("posed");
        let symbolic = analyse(posed.matrix().pattern(), &Default::default()).expect("analysed");
        for damping in [0.0, 0.5, 2.0] {
            posed.set_damping(damping).expect("posed");
            a.values_mut().iter_mut().for_each(|v| *v *= 1.5);
            posed.set_values(&a).expect("the same pattern");
            let qr = factorize(&symbolic, posed.matrix(), &FactorOptions::default());
            let y = qr
                .and_then(|qr| qr.solve(&posed.rhs(&b, 1)))
                .expect("solved");
            let mut c = b.clone();
            c.resize(a.nrows() + a.ncols(), 0.0);
            let expected = if damping == 0.0 {
                dense::solve(&a, &b)
            } else {
                dense::solve(&explicit(&a, &vec![1.0; a.nrows()], damping), &c)
            };
            let error = difference(&posed.solution(&y, 1), &expected);
            assert!(error < 1e-9, "{name}, {damping}: {error:e}");
        }
    }
}

/// The L-curve of Tikhonov: five dampings, one analysis. ||x|| falls, ||b - A x|| grows, and at every point A^H r = lambda^2 x.
#[test]
fn an_l_curve_takes_one_analysis() {
    for name in ["lp-40", "dense-rows-900x9", "stencil27-4"] {
        let a = named(name);
        let b = Random(16).vector(a.nrows());
        let terms = Terms {
            damping: Some(1.0),
            ..Terms::default()
        };
        let mut posed = Posed::new(&a, &terms).expect("posed");
        let symbolic = analyse(posed.matrix().pattern(), &Default::default()).expect("analysed");
        let pattern = posed.matrix().pattern().clone();
        let mut curve: Vec<(f64, f64)> = Vec::new();
        for lambda in [0.01, 0.1, 1.0, 10.0, 100.0] {
            posed.set_damping(lambda).expect("a damping");
            assert!(std::sync::Arc::ptr_eq(&pattern, posed.matrix().pattern()));
            let qr = factorize(&symbolic, posed.matrix(), &FactorOptions::default());
            let y = qr
                .and_then(|qr| qr.solve(&posed.rhs(&b, 1)))
                .expect("solved");
            let x = posed.solution(&y, 1);
            let r = weighted_residual(&a, &x, &b, None);
            let mut gradient: Vec<f64> = x.iter().map(|v| -lambda * lambda * v).collect();
            a.adjoint_mul_add(1.0, &r, &mut gradient);
            let scale = (a.norm_frobenius() + lambda) * norm2(&b);
            assert!(norm2(&gradient) < 1e-12 * scale, "{name}, {lambda}");
            curve.push((norm2(&x), norm2(&r)));
        }
        let falls = |w: &[(f64, f64)]| w[0].0 > w[1].0 && w[0].1 < w[1].1;
        assert!(curve.windows(2).all(falls), "{name}: {curve:?}");
    }
}

/// Damping adds rows of one entry: R stays as full as it was (but for singletons, which are none any more), and the work grows by
/// what a row more for each column costs.
#[test]
fn damping_adds_little_work() {
    let names = [
        "TF14",
        "conv2d-100",
        "dense-rows-1600x9",
        "lp-2000",
        "stencil27-8",
    ];
    for name in names {
        let a = named(name);
        let terms = Terms {
            damping: Some(1.0),
            ..Terms::default()
        };
        let posed = Posed::new(&a, &terms).expect("posed");
        let [plain, damped] = [&a, posed.matrix()].map(|a| {
            let symbolic = analyse(a.pattern(), &Default::default()).expect("analysed");
            let flops = symbolic.predict(RunShape::of::<f64>(1, false)).flops;
            (flops + symbolic.update_flops(), symbolic.nnz_r())
        });
        eprintln!("{name}: flops, nnz(R) {plain:?}, damped {damped:?}");
        assert!(damped.0 < 4 * plain.0, "{name}: {plain:?} {damped:?}");
        assert!(damped.1 < 3 * plain.1, "{name}: {plain:?} {damped:?}");
    }
}

#[test]
fn scaled_columns_change_no_solution_however_far_they_are() {
    let a = named("survey-8x6");
    let b = Random(14).vector(a.nrows());
    let expected = solve(&a, &b, 1, &Settings::with_threads(1))
        .expect("solved")
        .x;
    let by = |j: usize| 2f64.powi(40 * (j as i32 % 13) - 240);
    let mut far = a.clone();
    let colptr = a.pattern().colptr();
    for j in 0..a.ncols() {
        far.values_mut()[colptr[j]..colptr[j + 1]]
            .iter_mut()
            .for_each(|v| *v *= by(j));
    }
    let terms = Terms {
        scale_columns: true,
        ..Terms::default()
    };
    let x = x_of(&Posed::new(&far, &terms).expect("posed"), &b, 1);
    let back: Vec<f64> = x.iter().enumerate().map(|(j, v)| v * by(j)).collect();
    assert!(difference(&back, &expected) < 1e-12);
}

#[test]
fn complex_problems_are_posed_too() {
    let mut random = Random(15);
    let a = complex("lp-40", &mut random);
    let b: Vec<c64> = (0..a.nrows())
        .map(|_| c64::new(random.next(), random.next()))
        .collect();
    let terms = Terms {
        damping: Some(0.7),
        ..Terms::default()
    };
    let posed = Posed::new(&a, &terms).expect("posed");
    let y = solve(
        posed.matrix(),
        &posed.rhs(&b, 1),
        1,
        &Settings::with_threads(1),
    )
    .expect("solved")
    .x;
    let x = posed.solution(&y, 1);
    // At the minimum A^H (b - A x) = lambda^2 x.
    let r = weighted_residual(&a, &x, &b, None);
    let mut gradient: Vec<c64> = x.iter().map(|v| -v.scale(0.49)).collect();
    a.adjoint_mul_add(c64::one(), &r, &mut gradient);
    assert!(norm2(&gradient) < 1e-12 * a.norm_frobenius() * norm2(&b));
}

#[test]
fn r_squared_is_the_squared_correlation_of_a_line() {
    let t = [0.0, 1.0, 2.0, 3.0, 4.5];
    let b = [1.0, 2.5, 2.9, 4.4, 5.0];
    let rows = [0, 1, 2, 3, 4, 0, 1, 2, 3, 4];
    let cols = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1];
    let values: Vec<f64> = vec![1.0; 5].into_iter().chain(t).collect();
    let a = Csc::from_triplets(5, 2, &rows, &cols, &values).expect("triplets");
    let x = solve(&a, &b, 1, &Settings::with_threads(1))
        .expect("solved")
        .x;
    let mean = |v: &[f64]| v.iter().sum::<f64>() / 5.0;
    let sum = |u: &[f64], v: &[f64]| -> f64 {
        let products = u.iter().zip(v).map(|(p, q)| (p - mean(u)) * (q - mean(v)));
        products.sum()
    };
    let correlation = sum(&t, &b) / (sum(&t, &t) * sum(&b, &b)).sqrt();
    assert!((r_squared(&a, &x, &b, None) - correlation * correlation).abs() < 1e-14);
    let even = vec![2.0; 5];
    let weighted = r_squared(&a, &x, &b, Some(&even));
    assert!((weighted - correlation * correlation).abs() < 1e-14);
}

#[test]
fn what_makes_no_problem_is_said() {
    let a = named("survey-8x6");
    let m = a.nrows();
    let with = |weights, damping| {
        let terms = Terms {
            weights,
            damping,
            scale_columns: false,
        };
        Posed::new(&a, &terms).err().map(|e| e.to_string())
    };
    let mut bad = vec![1.0; m];
    bad[2] = -1.0;
    assert_eq!(
        with(Some(vec![1.0; 3]), None),
        Some(format!("there are 3 weights for {m} rows"))
    );
    assert_eq!(
        with(Some(bad), None).as_deref(),
        Some("weight 3 is -1: weights are finite and not negative")
    );
    assert!(with(None, Some(f64::NAN)).is_some() && with(None, Some(-0.1)).is_some());
    assert_eq!(with(Some(vec![0.0; m]), Some(0.0)), None);
    let mut plain = Posed::new(&a, &Terms::default()).expect("posed");
    assert!(matches!(
        plain.set_damping(1.0),
        Err(PosedError::OtherPattern(_))
    ));
    assert!(plain.set_values(&named("lp-40")).is_err() && !plain.has_terms());
    // Without terms its values are A's until others come; A keeps its own.
    assert_eq!(plain.matrix().values().as_ptr(), a.values().as_ptr());
    let twice = a.values().iter().map(|v| 2.0 * v).collect();
    let twice = Csc::new(a.pattern().clone(), twice).expect("as many");
    let before = a.values().to_vec();
    plain.set_values(&twice).expect("the same pattern");
    assert!(plain.matrix().values() == twice.values() && a.values() == before);
    assert_eq!(plain.rhs(&vec![3.0; m], 1), vec![3.0; m]);
}
