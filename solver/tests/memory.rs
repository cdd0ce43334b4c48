//! A memory limit is kept, whatever the tree looks like, and changes no bit of the result; memory that served before serves again,
//! and nobody sees what it held; what goes into a file comes out of it; counts are right beyond 32 bits, and what does not fit is refused.

mod common;
use common::*;
use std::sync::Arc;
use treeqr_matrices::{Csc, Pattern, c32, c64, gallery};
use treeqr_runtime::{Config, Faults};
use treeqr_solver::{
    AnalyseError, Deficient, FactorOptions, FactorScalar, Factors, FactorsFileError, MemoryLimit,
    Options, RunShape, SolveError, analyse, factorize, scalar_of_factors,
};

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
                memory_limit: Some(MemoryLimit::Relative(factor)),
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
            memory_limit: Some(MemoryLimit::Bytes(smallest - 1)),
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
    let mut all = factors
        .trapezoid()
        .expect("no row is split off")
        .values()
        .to_vec();
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
    out
}

fn sequential(keep_q: bool) -> FactorOptions {
    FactorOptions {
        sequential: true,
        ..run_options(1, keep_q)
    }
}

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
        memory_limit: Some(MemoryLimit::Relative(1.1)),
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

fn saved<T: FactorScalar>(factors: &Factors<T>) -> Vec<u8> {
    let mut file = Vec::new();
    factors.save(&mut file).expect("memory takes it");
    file
}

fn loaded<T: FactorScalar>(mut file: &[u8]) -> Result<Factors<T>, FactorsFileError> {
    Factors::load(&mut file)
}

fn saved_and_loaded<T: FactorScalar>() {
    for (k, (a, after, o)) in pairs::<T>().into_iter().enumerate() {
        let symbolic = Arc::new(analyse(a.pattern(), &o).expect("analysis"));
        for (keep_q, deficient) in [
            (true, Deficient::MinimumNorm),
            (true, Deficient::Basic),
            (false, Deficient::Basic),
        ] {
            if symbolic.transposed() && !keep_q {
                continue;
            }
            let b: Vec<T> = if keep_q {
                Vec::new()
            } else {
                vector(1, a.nrows())
            };
            let nrhs = usize::from(!keep_q);
            let options = FactorOptions {
                deficient,
                ..sequential(keep_q)
            };
            let fresh = |a, options: &FactorOptions| {
                factorize(&symbolic, a, &b, nrhs, options, &())
                    .expect("finite")
                    .factors
            };
            let factors = fresh(&a, &options);
            let file = saved(&factors);
            assert_eq!(scalar_of_factors(&mut &file[..]).expect("a head"), T::NAME);
            let mut again: Factors<T> = loaded(&file).unwrap_or_else(|e| panic!("{k}: {e}"));
            assert!(
                bits(&again) == bits(&factors),
                "matrix {k}, Q kept: {keep_q}"
            );
            assert_eq!(again.bytes(), factors.bytes());
            assert!(saved(&again) == file, "matrix {k}: saved again");
            // Nothing of what memory held before is in it.
            let mut poison = FactorOptions {
                deficient,
                ..run_options(2, keep_q)
            };
            poison.run.faults.poison = true;
            assert!(saved(&fresh(&a, &poison)) == file, "matrix {k}: leftovers");
            again
                .refactorize(&after, &b, &options, &())
                .expect("finite");
            assert!(bits(&again) == bits(&fresh(&after, &options)), "matrix {k}");
        }
    }
}

#[test]
fn saved_and_loaded_f64() {
    saved_and_loaded::<f64>();
}

#[test]
fn saved_and_loaded_f32() {
    saved_and_loaded::<f32>();
}

#[test]
fn saved_and_loaded_c64() {
    saved_and_loaded::<c64>();
}

#[test]
fn saved_and_loaded_c32() {
    saved_and_loaded::<c32>();
}

/// Factors of a matrix with singletons, fronts in tiles, groups, and dead columns.
fn small_file() -> Vec<u8> {
    let a: Csc<f64> = doubled(9, 120, 80, 300);
    let o = options(|o| (o.mb, o.nb, o.ib) = (Some(16), Some(8), Some(3)));
    let symbolic = Arc::new(analyse(a.pattern(), &o).expect("analysis"));
    let done = factorize(&symbolic, &a, &[], 0, &sequential(true), &()).expect("finite");
    saved(&done.factors)
}

#[test]
fn a_damaged_file_is_an_error_with_its_place() {
    let file = small_file();
    assert!(loaded::<f64>(&file).is_ok());
    // Cut off everywhere near the head, and in many places behind.
    let mut rng = Rng(1);
    let cuts = (0..200).chain((0..200).map(|_| rng.below(file.len())));
    for len in cuts.chain([
        file.len() - 1,
        file.len() - 8,
        file.len() - 9,
        file.len() - 12,
    ]) {
        match loaded::<f64>(&file[..len]).err() {
            Some(FactorsFileError::NotFactors) if len < 8 => {}
            Some(FactorsFileError::Truncated { offset }) => assert_eq!(offset, len as u64),
            other => panic!("cut off after {len} bytes: {other:?}"),
        }
    }
    // Every bit of the head, and bits in many places behind.
    let bits = (0..8 * 80).chain((0..400).map(|_| rng.below(8 * file.len())));
    for bit in bits.collect::<Vec<_>>() {
        let mut wrong = file.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        let error = loaded::<f64>(&wrong).err();
        assert!(error.is_some(), "bit {bit} is not missed");
        if bit >= 8 * 56 {
            let told = matches!(
                error,
                Some(FactorsFileError::Damaged { .. } | FactorsFileError::Truncated { .. })
            );
            assert!(told, "bit {bit}: {error:?}");
        }
    }
    let longer = [&file[..], &[0]].concat();
    assert!(matches!(
        loaded::<f64>(&longer),
        Err(FactorsFileError::Damaged { .. })
    ));
}

#[test]
fn other_files_are_told_apart() {
    let file = small_file();
    for foreign in [&b""[..], b"%%MatrixMarket matrix coordinate", &[0; 5000]] {
        assert!(matches!(
            loaded::<f64>(foreign),
            Err(FactorsFileError::NotFactors)
        ));
    }
    let error = loaded::<c32>(&file).err().expect("another scalar");
    assert_eq!(error.to_string(), "the factors are f64, not c32");
    let mut newer = file.clone();
    newer[16] += 1;
    let error = loaded::<f64>(&newer).err().expect("another format");
    let writer = env!("CARGO_PKG_VERSION");
    let message =
        format!("the factors are in format 2, written by treeqr {writer}; known is format 1");
    assert_eq!(error.to_string(), message);
    let mut elsewhere = file;
    elsewhere[8..12].reverse();
    assert!(matches!(
        loaded::<f64>(&elsewhere),
        Err(FactorsFileError::OtherMachine)
    ));
}

/// Blocks of 1 MiB: one that is missing, doubled or in another place has a right checksum by itself.
#[test]
fn blocks_in_another_order_are_found() {
    let a = gallery::make("grid3d-14").expect("gallery").matrix;
    let (_, done) = factor(&a, &options(|_| ()));
    let file = saved(&done.factors);
    const HEAD: usize = 52;
    const BLOCK: usize = 4 + (1 << 20) + 8;
    let (head, blocks) = file.split_at(HEAD);
    let (first, second, rest) = (
        &blocks[..BLOCK],
        &blocks[BLOCK..2 * BLOCK],
        &blocks[2 * BLOCK..],
    );
    assert!(loaded::<f64>(&[head, first, second, rest].concat()).is_ok());
    for wrong in [
        [head, second, first, rest].concat(),
        [head, first, rest].concat(),
        [head, first, first, rest].concat(),
    ] {
        assert!(matches!(
            loaded::<f64>(&wrong),
            Err(FactorsFileError::Damaged { .. })
        ));
    }
    // A stream that says no more is an error of its own, and so is one that takes nothing.
    let full = done.factors.save(&mut &mut [0u8; 1000][..]).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::WriteZero);
}

/// A diagonal over one full row: R is full, with one front and reflectors of length 2.
fn diagonal_and_row(n: usize) -> Arc<Pattern> {
    let colptr = (0..=n).map(|j| 2 * j).collect();
    let rows = (0..n as u32).flat_map(|j| [j, n as u32]).collect();
    Arc::new(Pattern::new(n + 1, n, colptr, rows).expect("in order"))
}

/// A full column before a pair of rows for every other one: one full front of all rows and columns.
fn column_and_pairs(n: usize) -> Arc<Pattern> {
    let m = 2 * n;
    let mut colptr = vec![0, m];
    let mut rows: Vec<u32> = (0..m as u32).collect();
    for j in 1..n as u32 {
        rows.extend([2 * j, 2 * j + 1]);
        colptr.push(rows.len());
    }
    Arc::new(Pattern::new(m, n, colptr, rows).expect("in order"))
}

fn natural(mb: usize, nb: usize) -> Options {
    options(|o| {
        o.ordering = "natural".into();
        (o.mb, o.nb) = (Some(mb as u32), Some(nb as u32));
    })
}

/// Beyond 2^31 (and 2^32) entries of R, counts are those of the formulas.
#[test]
fn counts_beyond_32_bits() {
    let n = 100_000u64;
    let whole = natural(4 * n as usize, n as usize);
    let pattern = diagonal_and_row(n as usize);
    let symbolic = analyse(&pattern, &whole).expect("analysis");
    assert_eq!(symbolic.fronts().len(), 1);
    let r = n * (n + 1) / 2;
    assert!(r > u64::from(u32::MAX));
    assert_eq!((symbolic.nnz_r(), symbolic.nnz_h()), (r, 2 * n));
    // 3 L for a reflector of length L, 4 L for each column that it is applied to.
    let flops = 6 * n + 8 * (n * (n - 1) / 2);
    for (nrhs, keep_q, complex) in [(0, false, false), (1, false, false), (0, true, true)] {
        let (shape, unit) = match complex {
            true => (RunShape::of::<c64>(nrhs, keep_q), 4),
            false => (RunShape::of::<f64>(nrhs, keep_q), 1),
        };
        let predicted = symbolic.predict(shape);
        let more = 8 * n * nrhs as u64;
        assert_eq!(predicted.flops, unit * (flops + more));
        // R, Q^H b, and of Q one number and a scale for each reflector.
        let kept = r + n * nrhs as u64 + if keep_q { 2 * n } else { 0 };
        let bytes = kept as usize * shape.scalar_bytes;
        assert_eq!(
            (predicted.factor_bytes, predicted.peak_bytes),
            (bytes, bytes)
        );
        assert!(predicted.scratch_bytes as u64 >= n * (n + 1) * shape.scalar_bytes as u64);
    }

    // In tiles: what is left is R, and the lower part of the tiles on its diagonal.
    let tiles = analyse(&pattern, &natural(4096, 2048)).expect("analysis");
    assert_eq!(tiles.nnz_r(), r);
    let predicted = tiles.predict(RunShape::of::<f64>(0, false));
    let (factors, rounded) = (predicted.factor_bytes as f64, 8.0 * (r + 4096 * n) as f64);
    assert!((8.0 * r as f64..rounded).contains(&factors), "{factors:e}");

    // 2^32 flops many times over.
    let pattern = column_and_pairs(n as usize);
    let symbolic = analyse(&pattern, &whole).expect("analysis");
    let (m, wide) = (2 * n, u128::from(n));
    assert_eq!(symbolic.nnz_r(), r);
    assert_eq!(symbolic.nnz_h(), n * m - n * (n - 1) / 2);
    let sums = (
        wide * (wide - 1) / 2,
        wide * (wide - 1) * (2 * wide - 1) / 6,
    );
    // The sum of (m - j) (3 + 4 (n - 1 - j)) over j.
    let (a, b) = (u128::from(m), 4 * wide - 1);
    let flops = a * b * wide - (4 * a + b) * sums.0 + 4 * sums.1;
    let predicted = symbolic.predict(RunShape::of::<f64>(0, false));
    assert_eq!(u128::from(predicted.flops), flops);
    assert!(predicted.flops > 1 << 51);
}

/// What does not fit is an error before the work: in the memory of any machine, and in what can be counted at all.
#[test]
fn sizes_that_do_not_fit_are_errors() {
    let n = 1_500_000;
    let pattern = diagonal_and_row(n);
    let symbolic = Arc::new(analyse(&pattern, &natural(8192, 4096)).expect("analysis"));
    let a = Csc::new(pattern, vec![1.0; 2 * n]).expect("a value for each");
    match factorize(&symbolic, &a, &[], 0, &run_options(2, false), &()) {
        Err(e @ SolveError::TooLarge { needed, available }) => {
            assert!(needed > 9_000_000_000_000 && available < needed);
            let text = e.to_string();
            assert!(
                text.contains("needs at least 9.") && text.contains("TB"),
                "{text}"
            );
        }
        Err(e) => panic!("{e}"),
        Ok(_) => panic!("nine terabytes were found"),
    }

    let refused = |pattern: &Arc<Pattern>, o: &Options| match analyse(pattern, o) {
        Err(AnalyseError::TooLarge { what, count, limit }) => {
            assert!(count > limit);
            what
        }
        Err(e) => panic!("{e}"),
        Ok(_) => panic!("accepted"),
    };
    let tiny = natural(1, 1);
    assert_eq!(refused(&column_and_pairs(20_000), &tiny), "tasks");
    assert_eq!(refused(&diagonal_and_row(60_000), &tiny), "buffers");
    let many = 1_000_000;
    assert_eq!(
        refused(&column_and_pairs(many), &natural(many, many)),
        "flops"
    );
    let lines = u32::MAX as usize - 3;
    let long = Pattern::new(lines, 3, vec![0, 1, 2, 3], vec![0, 1, 2]).expect("in order");
    assert_eq!(refused(&Arc::new(long), &tiny), "rows and columns");
}
