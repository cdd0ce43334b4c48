//! What goes into a file comes out of it, and what is damaged is an error.

use super::*;

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
            assert!(again.check_matrix(&a).is_ok());
            assert!(matches!(
                again.check_matrix(&after),
                Err(SolveError::OtherValues)
            ));
            assert!(matches!(
                again.check_matrix(&random(99, a.nrows(), a.ncols(), 100)),
                Err(SolveError::OtherPattern { .. })
            ));
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
    small_file_with(DenseRows::None)
}

fn small_file_with(dense_rows: DenseRows) -> Vec<u8> {
    let a: Csc<f64> = doubled(9, 120, 80, 300);
    let o = options(|o| {
        (o.mb, o.nb, o.ib) = (Some(16), Some(8), Some(3));
        o.dense_rows = dense_rows;
    });
    let symbolic = Arc::new(analyse(a.pattern(), &o).expect("analysis"));
    let done = factorize(&symbolic, &a, &[], 0, &sequential(true), &()).expect("finite");
    saved(&done.factors)
}

#[test]
fn a_damaged_file_is_an_error_with_its_place() {
    damaged(&small_file());
}

#[test]
fn so_is_one_with_rows_split_off() {
    damaged(&small_file_with(DenseRows::Count(3)));
}

fn damaged(file: &[u8]) {
    assert!(loaded::<f64>(file).is_ok());
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
        let mut wrong = file.to_vec();
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
    let longer = [file, &[0]].concat();
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
        format!("the factors are in format 8, written by treeqr {writer}; known is format 7");
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
