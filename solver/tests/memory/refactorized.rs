//! Other values in the memory of factors that are there; and nobody sees what memory held before.

use super::*;

fn refactorized<T: FactorScalar>() {
    for (k, (before, after, o)) in pairs::<T>().into_iter().enumerate() {
        let symbolic = Arc::new(analyse(before.pattern(), &o).expect("analysis"));
        for keep_q in [true, false] {
            if symbolic.transposed() && !keep_q {
                continue;
            }
            let rhs = |seed| {
                if keep_q {
                    Vec::new()
                } else {
                    vector(seed, before.nrows())
                }
            };
            let (b, c): (Vec<T>, Vec<T>) = (rhs(1), rhs(2));
            let nrhs = usize::from(!keep_q);
            let options = FactorOptions {
                deficient: if k % 2 == 0 {
                    Deficient::Basic
                } else {
                    Deficient::MinimumNorm
                },
                ..sequential(keep_q)
            };
            let fresh = |a, b: &[T], options: &FactorOptions| {
                factorize(&symbolic, a, b, nrhs, options, &()).expect("finite")
            };
            let expected = bits(&fresh(&after, &c, &options).factors);
            let keep = FactorOptions {
                keep_storage: true,
                ..options.clone()
            };
            let first = fresh(&before, &b, &keep);
            let buffers = first.stats.allocations.fresh + first.stats.allocations.recycled;
            let mut factors = first.factors;
            let done = factors
                .refactorize(&after, &c, &options, &())
                .expect("finite");
            assert!(bits(&factors) == expected, "matrix {k}, Q kept: {keep_q}");
            let from = done.stats.allocations;
            assert_eq!((from.fresh, from.recycled), (0, buffers), "matrix {k}");
            assert_eq!(done.stats.peak_bytes, done.prediction.peak_bytes as u64);

            // Workers, and back to the first values.
            let parallel = FactorOptions {
                deficient: options.deficient,
                ..run_options(2, keep_q)
            };
            let expected = bits(&fresh(&before, &b, &parallel).factors);
            factors
                .refactorize(&before, &b, &parallel, &())
                .expect("finite");
            assert!(bits(&factors) == expected, "matrix {k}, Q kept: {keep_q}");

            // Without the option the first takes memory for its fronts, the second none.
            let mut factors = fresh(&before, &b, &options).factors;
            assert_eq!(factors.kept_bytes(), 0);
            factors
                .refactorize(&after, &c, &options, &())
                .expect("finite");
            let done = factors
                .refactorize(&before, &b, &options, &())
                .expect("finite");
            assert_eq!(done.stats.allocations.fresh, 0, "matrix {k}");
            factors.release_storage();
            assert_eq!(factors.kept_bytes(), 0);
            assert!(bits(&factors) == expected, "matrix {k}, Q kept: {keep_q}");
        }
    }
}

#[test]
fn refactorized_f64() {
    refactorized::<f64>();
}

#[test]
fn refactorized_f32() {
    refactorized::<f32>();
}

#[test]
fn refactorized_c64() {
    refactorized::<c64>();
}

#[test]
fn refactorized_c32() {
    refactorized::<c32>();
}

/// With workers a refactorization may need blocks that the one before did not, since other fronts meet in memory. But there are
/// never more blocks of a class than buffers of it (and one on its way for every worker), however often it is done.
#[test]
fn blocks_are_bounded_over_many_parallel_refactorizations() {
    let o = options(|o| (o.mb, o.nb, o.ib) = (Some(32), Some(16), Some(8)));
    let a = gallery::make("grid3d-10").expect("gallery").matrix;
    let symbolic = Arc::new(analyse(a.pattern(), &o).expect("analysis"));
    let options = FactorOptions {
        keep_storage: true,
        ..run_options(2, true)
    };
    let first = factorize(&symbolic, &a, &[], 0, &options, &()).expect("finite");
    let from = first.stats.allocations;
    let buffers = from.fresh + from.recycled;
    let mut factors = first.factors;
    let mut fresh = from.fresh;
    for seed in 0..8 {
        let a = other_values(&a, seed);
        let done = factors.refactorize(&a, &[], &options, &()).expect("finite");
        let from = done.stats.allocations;
        assert_eq!(from.fresh + from.recycled, buffers);
        fresh += from.fresh;
    }
    assert!(buffers > 400, "{buffers}");
    assert!(
        fresh <= buffers + 2 * 60,
        "{fresh} blocks for {buffers} buffers"
    );
}

#[test]
fn a_memory_limit_holds_for_what_is_kept() {
    let o = options(|o| (o.mb, o.nb, o.ib) = (Some(32), Some(16), Some(8)));
    let a = gallery::make("grid3d-10").expect("gallery").matrix;
    let symbolic = Arc::new(analyse(a.pattern(), &o).expect("analysis"));
    let options = FactorOptions {
        keep_storage: true,
        memory_limit: MemoryLimit::Relative(1.1),
        ..run_options(2, true)
    };
    let done = factorize(&symbolic, &a, &[], 0, &options, &()).expect("finite");
    let limit = (1.1 * done.prediction.peak_bytes as f64) as u64;
    let mut factors = done.factors;
    let expected = bits(&factors);
    for _ in 0..3 {
        assert!(factors.bytes() + factors.kept_bytes() <= limit);
        let done = factors.refactorize(&a, &[], &options, &()).expect("finite");
        assert!(done.stats.peak_bytes <= limit);
        assert!(bits(&factors) == expected);
    }
}

#[test]
fn factors_are_gone_when_a_refactorization_fails() {
    let a: Csc<f64> = random(3, 90, 60, 400);
    let o = options(|o| (o.mb, o.nb, o.ib) = (Some(16), Some(8), Some(3)));
    let symbolic = Arc::new(analyse(a.pattern(), &o).expect("analysis"));
    let options = FactorOptions {
        keep_storage: true,
        ..sequential(true)
    };
    let mut factors = factorize(&symbolic, &a, &[], 0, &options, &())
        .expect("finite")
        .factors;
    let expected = bits(&factors);
    let mut not_finite = a.values().to_vec();
    not_finite[17] = f64::NAN;
    let not_finite = Csc::new(a.pattern().clone(), not_finite).expect("as many");
    let refuse = FactorOptions {
        deficient: Deficient::Refuse,
        tolerance: Some(1e9),
        ..options.clone()
    };
    let cancelled = FactorOptions {
        run: Config::with_threads(2),
        sequential: false,
        ..options.clone()
    };
    cancelled.run.cancel.cancel();
    let panics = FactorOptions {
        run: Config {
            faults: Faults {
                panic_in_task: Some(9),
                ..Faults::default()
            },
            ..options.run.clone()
        },
        ..options.clone()
    };
    let other: Csc<f64> = random(4, 90, 60, 400);
    let faults: [(&str, &Csc<f64>, &FactorOptions); 5] = [
        ("has a value that is not finite", &not_finite, &options),
        ("has not the pattern", &other, &options),
        ("is rank-deficient", &a, &refuse),
        ("cancelled", &a, &cancelled),
        ("fault was asked for", &a, &panics),
    ];
    for (message, a_bad, options_bad) in faults {
        let error = factors
            .refactorize(a_bad, &[], options_bad, &())
            .unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert!(!factors.is_whole());
        let gone = |result: Result<(), SolveError>| {
            assert!(matches!(result, Err(SolveError::NoFactors)), "{message}");
        };
        let b: Vec<f64> = vector(1, 90);
        gone(factors.solve(&b, 1).map(drop));
        gone(factors.apply_q_adjoint(&b, 1).map(drop));
        gone(factors.solve_r(&b[..60], 1).map(drop));
        gone(factors.solve_r_adjoint(&b[..60], 1).map(drop));
        gone(factors.condition_estimate(&Default::default()).map(drop));
        gone(factors.variances(&[0], &Default::default()).map(drop));
        // The memory is still there.
        let done = factors.refactorize(&a, &[], &options, &()).expect("finite");
        assert_eq!(done.stats.allocations.fresh, 0, "{message}");
        assert!(bits(&factors) == expected, "after: {message}");
    }
}

fn poisoned<T: FactorScalar>() {
    for (k, (a, _, o)) in pairs::<T>().into_iter().enumerate() {
        let symbolic = Arc::new(analyse(a.pattern(), &o).expect("analysis"));
        for keep_q in [true, false] {
            if symbolic.transposed() && !keep_q {
                continue;
            }
            let b: Vec<T> = if keep_q {
                Vec::new()
            } else {
                vector(1, a.nrows())
            };
            let nrhs = usize::from(!keep_q);
            let factors = |options: &FactorOptions| {
                factorize(&symbolic, &a, &b, nrhs, options, &())
                    .expect("finite")
                    .factors
            };
            let expected = bits(&factors(&sequential(keep_q)));
            let mut options = run_options(2, keep_q);
            options.run.faults.poison = true;
            assert!(
                bits(&factors(&options)) == expected,
                "matrix {k}, Q kept: {keep_q}"
            );
        }
    }
}

/// What a task says it will overwrite holds NaN here: one that is read would be seen in R, Q or x.
#[test]
fn no_result_depends_on_what_memory_held() {
    poisoned::<f64>();
    poisoned::<f32>();
    poisoned::<c64>();
    poisoned::<c32>();
}
