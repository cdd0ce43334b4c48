//! The real matrices of ../shared/matrices, where they are there: every one is either solved well or refused for its rank.

use crate::dense;
use crate::lsqr::lsqr;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;
use treeqr::matrices::norm2;
use treeqr::solver::SolveError;
use treeqr::{
    Csc, Error, FactorOptions, Options, Progress, RunShape, analyse, quality, read_dense,
    read_sparse, solve_analysed,
};

/// Flops of the fast test.
const FAST: u64 = 30_000_000_000;
/// Of these even the analysis takes long.
const SLOW: [&str; 4] = [
    "gen_TF16",
    "gen_flower_7_4",
    "gen_flower_8_4",
    "gen_ch8-8-b3",
];
/// Bytes that a test may take.
const MEMORY: usize = 12 << 30;

fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/matrices");
    if !folder.join("facts.tsv").exists() {
        eprintln!("SKIPPED: {} is not there", folder.display());
        return None;
    }
    Some(folder)
}

/// Whether the matrix has full rank, by SVD or by SuiteSparseQR; none where nobody knows.
fn full_rank(folder: &Path) -> HashMap<String, Option<bool>> {
    let text = std::fs::read_to_string(folder.join("facts.tsv")).expect("readable");
    let line = |line: &str| {
        let fields: Vec<_> = line.split('\t').collect();
        let number = |k: usize| fields.get(k).and_then(|f| f.trim().parse::<usize>().ok());
        let smaller = number(1)?.min(number(2)?);
        let rank = number(4).or(number(8));
        Some((fields[0].to_owned(), rank.map(|r| r == smaller)))
    };
    text.lines().skip(1).filter_map(line).collect()
}

/// Files by name, without right-hand sides.
fn files(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(folder).expect("readable");
    let mut files: Vec<_> = entries
        .map(|e| e.expect("readable").path())
        .filter_map(|path| {
            let name = path
                .file_name()?
                .to_str()?
                .strip_suffix(".mtx.gz")?
                .to_owned();
            Some((name, path))
        })
        .collect();
    files.sort();
    files
}

/// Solves for all ones, for a wave, and for the file's own right-hand side if there is one.
fn check(
    folder: &Path,
    name: &str,
    path: &Path,
    full: Option<bool>,
    wanted: impl Fn(u64) -> bool,
) -> bool {
    let begin = Instant::now();
    let a: Csc<f64> = read_sparse(path).expect("a good file");
    let symbolic = analyse(a.pattern(), &Options::default()).expect("analysed");
    let wide = symbolic.transposed();
    let prediction = symbolic.predict(RunShape::of::<f64>(usize::from(!wide), wide));
    if !wanted(prediction.flops) {
        return false;
    }
    if prediction.peak_bytes > MEMORY {
        eprintln!("SKIPPED: {name} needs {} GB", prediction.peak_bytes >> 30);
        return false;
    }
    // The first may be a combination of the columns, as in a matrix of differences; the second is none.
    let mut b = vec![1.0; a.nrows()];
    b.extend((0..a.nrows()).map(|i| 1.0 + (0.7 * i as f64).sin()));
    let mut nrhs = 2;
    if let Ok(own) = read_dense::<f64>(folder.join(format!("{name}_rhs.txt.gz"))) {
        b.extend_from_slice(own.values());
        nrhs = 3;
    }
    let options = FactorOptions::default();
    match solve_analysed(&symbolic, &a, &b, nrhs, &options, &Progress::default()) {
        Ok(solution) => {
            assert_ne!(
                full,
                Some(false),
                "{name} is not of full rank and was solved"
            );
            for k in 0..nrhs {
                let (x, b) = (
                    &solution.x[k * a.ncols()..][..a.ncols()],
                    &b[k * a.nrows()..][..a.nrows()],
                );
                assert!(x.iter().all(|v| v.is_finite()), "{name}");
                let q = quality(&a, x, b);
                eprintln!("{name}: {q:?}, {:.1?}", begin.elapsed());
                assert!(q.normal_residual < 1e-13, "{name}: {q:?}");
                if !q.consistent || a.nrows() <= a.ncols() {
                    compare(name, &a, x, b);
                }
            }
        }
        Err(Error::Solve(e @ SolveError::RankDeficient { .. })) => {
            eprintln!("{name}: {e}, {:.1?}", begin.elapsed());
            assert_ne!(full, Some(true), "{name} has full rank: {e}");
        }
        Err(e) => panic!("{name}: {e}"),
    }
    true
}

/// The residual norm, or for a wide matrix the norm of x, against dense QR or LSQR where these are quick.
fn compare(name: &str, a: &Csc<f64>, x: &[f64], b: &[f64]) {
    let (small, large) = (a.nrows().min(a.ncols()), a.nrows().max(a.ncols()));
    let residual = |x: &[f64]| {
        let mut r = b.to_vec();
        a.mul_add(-1.0, x, &mut r);
        norm2(&r)
    };
    if a.nrows() <= a.ncols() {
        if small <= 100 && large <= 2000 {
            let expected = norm2(&dense::solve(a, b));
            assert!((norm2(x) - expected).abs() <= 1e-9 * expected, "{name}");
        }
    } else if small <= 800 && large <= 2000 {
        let expected = residual(&dense::solve(a, b));
        assert!(
            (residual(x) - expected).abs() <= 1e-9 * expected,
            "{name}: dense {expected}"
        );
        let expected = residual(&lsqr(a, b, 20 * small));
        assert!(
            (residual(x) - expected).abs() <= 1e-9 * expected,
            "{name}: LSQR {expected}"
        );
    }
}

#[test]
fn real_matrices_are_solved_or_refused() {
    let Some(folder) = folder() else { return };
    let full = full_rank(&folder);
    let mut done = 0;
    for (name, path) in files(&folder) {
        if !SLOW.contains(&name.as_str()) {
            done += usize::from(check(&folder, &name, &path, full[&name], |flops| {
                flops <= FAST
            }));
        }
    }
    assert!(done >= 30, "only {done} matrices were small enough");
}

#[test]
#[ignore = "minutes: just test-large"]
fn large_real_matrices_are_solved_or_refused() {
    let Some(folder) = folder() else { return };
    let full = full_rank(&folder);
    for (name, path) in files(&folder) {
        check(&folder, &name, &path, full[&name], |flops| flops > FAST);
    }
}
