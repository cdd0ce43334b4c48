//! Mixed precision, refinement and condition numbers as programs use them.

use crate::dense;
use crate::examples::mixed_precision::monomials;
use crate::solutions::{SMALL, difference};
use std::sync::Arc;
use treeqr::matrices::{Scalar, Source, norm2};
use treeqr::solver::SolveError;
use treeqr::{
    Csc, Error, FactorOptions, FactorScalar, Fallback, MixedScalar, MixedSolution, Options,
    Progress, RefineEnd, RefineMethod, RefineOptions, Scaled, SolveOptions, Symbolic, analyse, c32,
    c64, factorize_seminormal, quality, refine, solve_analysed, solve_mixed,
};

/// Numbers without structure.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.next()).collect()
    }
}

pub fn named(name: &str) -> Csc<f64> {
    let source = Source::from(format!("gallery:{name}").as_str());
    source.matrix().expect("in the gallery").matrix
}

/// The pattern of a gallery matrix with complex values.
pub fn complex(name: &str, random: &mut Random) -> Csc<c64> {
    let a = named(name).to_precision::<c64>();
    let turn = |v: &c64| v * c64::new(1.0 + 0.1 * random.next(), 0.4 * random.next());
    let values = a.values().iter().map(turn).collect();
    Csc::new(a.pattern().clone(), values).expect("a value for each")
}

fn analysed<T: Scalar>(a: &Csc<T>) -> Arc<Symbolic> {
    let options = Options {
        threads: 2,
        ..Options::default()
    };
    analyse(a.pattern(), &options).expect("analysed")
}

fn mixed<T: MixedScalar>(
    a: &Csc<T>,
    b: &[T],
    nrhs: usize,
    refine: &RefineOptions,
) -> MixedSolution<T> {
    let (symbolic, options) = (analysed(a), FactorOptions::default());
    solve_mixed(
        &symbolic,
        a,
        b,
        nrhs,
        &options,
        refine,
        &Progress::default(),
    )
    .expect("solved")
}

#[test]
fn x_has_the_accuracy_of_double() {
    let mut random = Random(1);
    for name in SMALL {
        let a = named(name);
        let (m, n) = (a.nrows(), a.ncols());
        let b = random.vector(3 * m);
        let done = mixed(&a, &b, 3, &RefineOptions::default());
        assert_eq!(done.fallback, None, "{name}");
        // What was factorized is of single precision.
        assert_eq!(done.solution.run.record().shape().scalar_bytes, 4, "{name}");
        let report = done.refinement.expect("refined");
        assert!(
            report.succeeded() && (1..8).contains(&report.corrections()),
            "{name}: {report:?}"
        );
        assert_eq!(report.columns.len(), 3);
        let double = solve_analysed(
            &analysed(&a),
            &a,
            &b,
            3,
            &FactorOptions::default(),
            &Progress::default(),
        );
        let double = double.expect("full rank").x;
        for k in 0..3 {
            let (x, b) = (&done.solution.x[k * n..(k + 1) * n], &b[k * m..(k + 1) * m]);
            assert!(difference(x, &dense::solve(&a, b)) < 1e-9, "{name}");
            let (ours, theirs) = (
                quality(&a, x, b),
                quality(&a, &double[k * n..(k + 1) * n], b),
            );
            let (ours, theirs) = (ours.normal_residual, theirs.normal_residual);
            assert!(ours <= 10.0 * theirs + 1e-15, "{name}: {ours} {theirs}");
        }
    }
}

#[test]
fn complex_systems_are_refined_too() {
    let mut random = Random(2);
    for name in ["survey-8x6", "lp-40", "stencil27-3"] {
        let a = complex(name, &mut random);
        let mut number = || c64::new(random.next(), random.next());
        let b: Vec<c64> = (0..a.nrows()).map(|_| number()).collect();
        let done = mixed(&a, &b, 1, &RefineOptions::default());
        assert_eq!(done.fallback, None, "{name}");
        assert!(
            difference(&done.solution.x, &dense::solve_complex(&a, &b)) < 1e-9,
            "{name}"
        );
    }
}

/// x 2^by.
fn shift(x: f64, by: i32) -> f64 {
    x * 2f64.powi(by / 2) * 2f64.powi(by - by / 2)
}

#[test]
fn powers_of_two_change_no_bit() {
    let mut random = Random(3);
    for name in ["survey-8x6", "lp-40"] {
        let a = named(name);
        let (m, n) = (a.nrows(), a.ncols());
        let wide = m < n;
        let b = random.vector(m);
        let expected = mixed(&a, &b, 1, &RefineOptions::default()).solution.x;
        // Columns of W by up to 2^950 either way, and b as a whole.
        let by: Vec<i32> = (0..m.min(n))
            .map(|_| (950.0 * random.next()) as i32)
            .collect();
        let mut scaled = a.clone();
        let colptr = a.pattern().colptr();
        for j in 0..n {
            for p in colptr[j]..colptr[j + 1] {
                let column = if wide {
                    a.pattern().rowidx()[p] as usize
                } else {
                    j
                };
                scaled.values_mut()[p] = shift(a.values()[p], by[column]);
            }
        }
        let all = if wide { -40 } else { -70 };
        let own = |i: usize| if wide { by[i] } else { 0 };
        let b: Vec<f64> = b
            .iter()
            .enumerate()
            .map(|(i, &v)| shift(v, all + own(i)))
            .collect();
        let done = mixed(&scaled, &b, 1, &RefineOptions::default());
        assert_eq!(done.fallback, None);
        for (j, (&x, &expected)) in done.solution.x.iter().zip(&expected).enumerate() {
            let own = if wide { 0 } else { by[j] };
            assert_eq!(x, shift(expected, all - own), "{name}: {j}");
        }
    }
}

#[test]
fn ill_conditioned_systems_are_refined_or_factorized_again() {
    let mut random = Random(4);
    let mut refined = 0;
    for degree in 3..14 {
        let a = monomials(degree, 60);
        let s = dense::singular_values(&a);
        let condition = s[0] / s[degree];
        let exact = random.vector(degree + 1);
        let mut b = vec![0.0; 60];
        a.mul_add(1.0, &exact, &mut b);
        let done = mixed(&a, &b, 1, &RefineOptions::default());
        // b is rounded: that alone costs the condition number.
        let error = difference(&done.solution.x, &exact);
        assert!(
            error < 100.0 * condition * f64::EPSILON,
            "{degree}: {error:e} {condition:e}"
        );
        match (&done.fallback, &done.refinement) {
            (None, Some(report)) => {
                refined += 1;
                assert!(report.succeeded());
                // An estimate from below, of the matrix with scaled columns.
                assert!(report.condition < 2.0 * condition, "{degree}");
                // Enough for a contraction: the last correction is far below the first.
                let sizes = &report.columns[0].steps;
                assert!(sizes[sizes.len() - 1].correction < 1e-6 * sizes[0].correction);
            }
            (Some(why), _) => {
                assert!(condition > 1e5, "{degree}: {why} at {condition:e}");
                // Then x is that of double precision.
                let double = solve_analysed(
                    &analysed(&a),
                    &a,
                    &b,
                    1,
                    &FactorOptions::default(),
                    &Progress::default(),
                );
                assert_eq!(double.expect("full rank").x, done.solution.x);
                assert_eq!(done.solution.run.record().shape().scalar_bytes, 8);
            }
            (None, None) => unreachable!("refined or not"),
        }
        if condition > 1e9 {
            assert_ne!(done.fallback, None, "{degree}: {condition:e}");
        }
    }
    assert!(refined >= 4, "{refined}");
}

#[test]
fn what_single_precision_takes_for_singular_is_factorized_again() {
    // Two columns that differ in the tenth digit.
    for m in [3, 6, 40] {
        let mut random = Random(m as u64);
        let first = random.vector(m);
        let second: Vec<f64> = first.iter().map(|v| v + 1e-10 * random.next()).collect();
        let third = random.vector(m);
        let values: Vec<f64> = [first, second, third].concat();
        let rows: Vec<u32> = (0..3).flat_map(|_| 0..m as u32).collect();
        let cols: Vec<u32> = (0..3).flat_map(|k| vec![k; m]).collect();
        let a = Csc::from_triplets(m, 3, &rows, &cols, &values).expect("triplets");
        let done = mixed(&a, &random.vector(m), 1, &RefineOptions::default());
        assert!(
            matches!(
                done.fallback,
                Some(Fallback::IllConditioned | Fallback::NoPivot)
            ),
            "{m}: {:?}",
            done.refinement
        );
    }
}

#[test]
fn every_method_and_limit_ends_as_it_says() {
    let a = named("survey-8x6");
    let b = Random(5).vector(a.nrows());
    let with = |method, max_steps| {
        let options = RefineOptions {
            method,
            max_steps,
            ..RefineOptions::default()
        };
        mixed(&a, &b, 1, &options)
    };
    let expected = dense::solve(&a, &b);
    for method in [RefineMethod::Seminormal, RefineMethod::Gradients] {
        let done = with(method, 40);
        assert_eq!(done.fallback, None);
        assert!(difference(&done.solution.x, &expected) < 1e-11);
        let report = done.refinement.expect("refined");
        assert_eq!(
            (report.method, report.columns[0].end),
            (method, RefineEnd::Converged)
        );
        let short = with(method, 0);
        assert_eq!(short.fallback, Some(Fallback::NotConverged));
        assert!(difference(&short.solution.x, &expected) < 1e-11);
    }
    // Nothing to be done for b = 0.
    let zero = mixed(&a, &vec![0.0; a.nrows()], 1, &RefineOptions::default());
    assert!(zero.solution.x.iter().all(|&v| v == 0.0) && zero.fallback.is_none());
}

/// Right-hand sides that come later, with R alone; and how far the condition number may be off.
fn without_q<T: FactorScalar>(
    a: &Csc<T>,
    expected: &dyn Fn(&[T]) -> Vec<T>,
    tolerance: f64,
    condition: f64,
) {
    let symbolic = analysed(a);
    let wide = symbolic.transposed();
    let factored = treeqr::solver::factorize(&symbolic, a, &[], 0, &FactorOptions::default(), &())
        .expect("full rank");
    let factors = &factored.factors;
    assert!(!factors.has_q());
    let mut random = Random(6);
    let b: Vec<T> = (0..a.nrows())
        .map(|_| T::from_f64(random.next(), random.next()))
        .collect();
    let scaled = Scaled::evenly(a);
    let (x, report) =
        refine(&scaled, factors, &b, 1, None, &RefineOptions::default()).expect("refined");
    assert!(report.succeeded(), "{}, wide {wide}: {report:?}", T::NAME);
    let error = difference(&x, &expected(&b));
    assert!(error < tolerance, "{}, wide {wide}: {error:e}", T::NAME);
    // It can't be improved any more.
    let (again, report) =
        refine(&scaled, factors, &b, 1, Some(&x), &RefineOptions::default()).expect("refined");
    assert!(
        report.corrections() <= 2 && difference(&again, &x) < tolerance,
        "{report:?}"
    );

    let n = symbolic.nrows().min(symbolic.ncols()) as f64;
    let estimate = factors
        .condition_estimate(&SolveOptions::default())
        .expect("estimated");
    // Between norms 1 and 2 lies the root of the order, for R and for its inverse; the estimator may be off by 3.
    assert!(
        estimate <= 1.01 * n * condition,
        "{}: {estimate} {condition}",
        T::NAME
    );
    assert!(
        estimate >= condition / n / 3.0,
        "{}: {estimate} {condition}",
        T::NAME
    );
}

#[test]
fn later_right_hand_sides_need_no_q_in_any_scalar() {
    let mut random = Random(7);
    for name in ["survey-8x6", "lp-40", "grid3d-5"] {
        let a = named(name);
        let s = dense::singular_values(&a);
        let condition = s[0] / s[s.len() - 1];
        without_q(&a, &|b| dense::solve(&a, b), 1e-10, condition);
        let single = a.to_precision::<f32>();
        let double = |b: &[f32]| {
            let b: Vec<f64> = b.iter().map(|&v| v.into()).collect();
            dense::solve(&a, &b)
                .iter()
                .map(|&v| v as f32)
                .collect::<Vec<_>>()
        };
        without_q(&single, &double, 0.02, condition);
        let a = complex(name, &mut random);
        let s = dense::singular_values(&dense::embedded(&a));
        let condition = s[0] / s[s.len() - 1];
        without_q(&a, &|b| dense::solve_complex(&a, b), 1e-10, condition);
        let single = a.to_precision::<c32>();
        let double = |b: &[c32]| {
            let b: Vec<c64> = b
                .iter()
                .map(|v| c64::new(v.re.into(), v.im.into()))
                .collect();
            let x = dense::solve_complex(&a, &b);
            x.iter()
                .map(|v| c32::new(v.re as f32, v.im as f32))
                .collect::<Vec<_>>()
        };
        without_q(&single, &double, 0.02, condition);
    }
}

#[test]
fn r_and_a_solve_for_later_right_hand_sides_in_less_memory() {
    for name in ["survey-8x6", "lp-40", "grid3d-5", "stencil27-3"] {
        let a = named(name);
        let symbolic = analysed(&a);
        let options = FactorOptions::default();
        let whole = treeqr::factorize(&symbolic, &a, &options).expect("full rank");
        for method in [RefineMethod::Seminormal, RefineMethod::Gradients] {
            let refinement = RefineOptions {
                method,
                ..RefineOptions::default()
            };
            let lean = factorize_seminormal(&symbolic, &a, &options, &refinement);
            let lean = lean.expect("full rank");
            assert!(!lean.factors().has_q());
            assert!(lean.factors().bytes() < whole.factors().bytes(), "{name}");
            let b = Random(3).vector(3 * a.nrows());
            let (x, report) = lean.solve_many(&b, 3).expect("solved");
            assert!(report.succeeded() && report.method == method);
            assert_eq!(report.columns.len(), 3);
            let expected = whole.solve_many(&b, 3).expect("solved");
            assert!(difference(&x, &expected) < 1e-10, "{name}");
            let one = lean.solve(&b[..a.nrows()]).expect("solved");
            assert!(difference(&one, &expected[..a.ncols()]) < 1e-10, "{name}");
            let again = (lean.factors())
                .solve_seminormal(&a, &b, 3, &refinement)
                .expect("solved");
            assert_eq!(again.0, x);
        }
        let none = RefineOptions {
            max_steps: 0,
            ..RefineOptions::default()
        };
        let lean = factorize_seminormal(&symbolic, &a, &options, &none).expect("full rank");
        let short = lean.solve(&vec![1.0; a.nrows()]);
        assert!(
            matches!(short, Err(Error::Solve(SolveError::NotRefined { .. }))),
            "{name}"
        );
    }
    // Without full rank there is nothing to go by.
    let a = Csc::from_triplets(3, 2, &[0, 1, 0, 1], &[0, 0, 1, 1], &[1.0; 4]).expect("triplets");
    let symbolic = analysed(&a);
    let lean = factorize_seminormal(
        &symbolic,
        &a,
        &FactorOptions::default(),
        &RefineOptions::default(),
    );
    assert!(matches!(
        lean.map(drop),
        Err(Error::Solve(SolveError::RankDeficient { .. }))
    ));
}

#[test]
fn covariances_are_those_of_the_normal_equations() {
    let a = named("survey-8x6");
    let n = a.ncols();
    let factored =
        treeqr::solver::factorize(&analysed(&a), &a, &[], 0, &FactorOptions::default(), &());
    let factors = factored.expect("full rank").factors;
    // More than one block, in any order.
    let columns: Vec<usize> = (0..2 * n).map(|k| (7 * k + 3) % n).collect();
    let options = SolveOptions::default();
    let all = factors
        .covariance_columns(&columns, &options)
        .expect("solved");
    let variances = factors.variances(&columns, &options).expect("solved");
    for ((k, &j), c) in columns.iter().enumerate().zip(all.chunks_exact(n)) {
        // A^H A c = e_j.
        let (mut ac, mut unit) = (vec![0.0; a.nrows()], vec![0.0; n]);
        a.mul_add(1.0, c, &mut ac);
        a.adjoint_mul_add(1.0, &ac, &mut unit);
        unit[j] -= 1.0;
        assert!(norm2(&unit) < 1e-10, "{j}");
        assert!((c[j] - variances[k]).abs() < 1e-12 * c[j], "{j}");
    }
}
