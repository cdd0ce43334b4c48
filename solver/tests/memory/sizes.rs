//! Counts beyond 32 bits, and sizes that do not fit.

use super::*;

/// A diagonal over one full row: R is full, with one front and reflectors of length 2.
fn diagonal_and_row(n: usize) -> Arc<Pattern> {
    let colptr = (0..=n).map(|j| 2 * j).collect();
    let rows = (0..n as u32).flat_map(|j| [j, n as u32]).collect();
    Arc::new(Pattern::new(n + 1, n, colptr, rows).expect("in order"))
}

/// A full column before a pair of rows for every other one, which it shares with its neighbours: one full front of all rows and columns.
fn column_and_pairs(n: usize) -> Arc<Pattern> {
    let m = n + 1;
    let mut colptr = vec![0, m];
    let mut rows: Vec<u32> = (0..m as u32).collect();
    for j in 1..n as u32 {
        rows.extend([j, j + 1]);
        colptr.push(rows.len());
    }
    Arc::new(Pattern::new(m, n, colptr, rows).expect("in order"))
}

fn natural(mb: usize, nb: usize) -> Options {
    options(|o| {
        o.ordering = "natural".into();
        o.dense_rows = DenseRows::None;
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
    let n = 130_000u64;
    let (r, whole) = (n * (n + 1) / 2, natural(4 * n as usize, n as usize));
    let pattern = column_and_pairs(n as usize);
    let symbolic = analyse(&pattern, &whole).expect("analysis");
    let (m, wide) = (n + 1, u128::from(n));
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

    // Of a sparse matrix with many rows split off it is their update that does not fit.
    let (n, k) = (500_000, 20_000);
    let (colptr, rows) = ((0..=n).collect(), (0..n as u32).collect());
    let diagonal = Arc::new(Pattern::new(n, n, colptr, rows).expect("in order"));
    let split = options(|o| {
        o.ordering = "natural".to_owned();
        o.dense_rows = DenseRows::Count(k);
    });
    let symbolic = Arc::new(analyse(&diagonal, &split).expect("analysis"));
    let predicted = symbolic.predict(RunShape::of::<f64>(0, false));
    assert_eq!(predicted.update_bytes, 8 * ((4 * n + k) * k + n));
    let a = Csc::new(diagonal, vec![1.0; n]).expect("a value for each");
    match factorize(&symbolic, &a, &[], 0, &run_options(2, false), &()) {
        Err(SolveError::TooLarge { needed, .. }) => assert!(needed > 320_000_000_000),
        Err(e) => panic!("{e}"),
        Ok(_) => panic!("320 gigabytes were found"),
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
    let many = 1_300_000;
    assert_eq!(
        refused(&column_and_pairs(many), &natural(many, many)),
        "flops"
    );
    let lines = u32::MAX as usize - 3;
    let long = Pattern::new(lines, 3, vec![0, 1, 2, 3], vec![0, 1, 2]).expect("in order");
    assert_eq!(refused(&Arc::new(long), &tiny), "rows and columns");
}

#[test]
fn the_automatic_limit_is_no_less_than_reading_took() {
    let a = gallery::make("grid3d-4").expect("gallery").matrix;
    let symbolic = analyse(a.pattern(), &options(|_| ())).expect("analysis");
    let mut predicted = symbolic.predict(RunShape::of::<f64>(0, false));
    // A value, a row and a place.
    assert_eq!(predicted.matrix_bytes, 16 * a.nnz());
    let mib = |bytes: usize| bytes << 20;
    let mut auto = |peak: usize, matrix: usize, workers: usize| {
        (predicted.peak_bytes, predicted.matrix_bytes) = (mib(peak), mib(matrix));
        let limit = MemoryLimit::Auto.bytes(&predicted, workers);
        limit.expect("it is enough").expect("a limit") >> 20
    };
    assert_eq!(
        [1, 2, 3, 16].map(|workers| auto(100, 10, workers)),
        [100, 100, 150, 800]
    );
    assert_eq!(auto(2, 1, 2), 16);
    assert_eq!(auto(20, 30, 2), 60);
    assert_eq!(auto(100, 30, 16), 800);
}
