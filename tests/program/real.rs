//! The real matrices of ../shared/matrices, where they are there: every one has the rank that is known of it, and is solved well.

use crate::dense;
use crate::lsqr::lsqr;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;
use treeqr::matrices::norm2;
use treeqr::{
    Csc, Deficient, DenseRows, FactorOptions, Options, Progress, RunShape, analyse, quality,
    quality_deficient, read_dense, read_sparse, solve_analysed,
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
/// Of these the singular values have no gap.
const NO_GAP: [&str; 2] = ["f855_mat9_T", "lpi_gran"];
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

/// The rank by SVD or by SuiteSparseQR; none where nobody knows.
fn ranks(folder: &Path) -> HashMap<String, Option<usize>> {
    let text = std::fs::read_to_string(folder.join("facts.tsv")).expect("readable");
    let line = |line: &str| {
        let fields: Vec<_> = line.split('\t').collect();
        let number = |k: usize| fields.get(k).and_then(|f| f.trim().parse::<usize>().ok());
        // Where singular values fall slowly, every rank is a choice.
        let known = !NO_GAP.contains(&fields[0]);
        let rank = number(4).or(number(8)).filter(|_| known);
        Some((fields[0].to_owned(), rank))
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
    rank: Option<usize>,
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
    let solved = |options: &FactorOptions| {
        solve_analysed(&symbolic, &a, &b, nrhs, options, &Progress::default())
    };
    let solution = solved(&options).unwrap_or_else(|e| panic!("{name}: {e}"));
    let found = &solution.rank;
    if let Some(rank) = rank {
        assert_eq!(found.rank, rank, "{name}: {found:?}");
    }
    assert!(
        found.raised_from.is_none_or(|from| from < found.tolerance),
        "{name}: {found:?}"
    );
    let norm_a = a.norm_frobenius();
    // What is known of r at all is as much smaller than r as rounding of A x is, and what was dropped of A.
    let dropped = found.dropped_norm;
    let judged = |x: &[f64], b: &[f64]| {
        assert!(x.iter().all(|v| v.is_finite()), "{name}");
        let q = if found.is_full() {
            quality(&a, x, b)
        } else {
            quality_deficient(&a, x, b)
        };
        let rounding = f64::EPSILON * (norm_a * q.solution_norm + norm2(b));
        let noise = (rounding + dropped * q.solution_norm) / q.residual_norm;
        eprintln!(
            "{name}: rank {}, {q:?}, {:.1?}",
            found.rank,
            begin.elapsed()
        );
        let bound = if q.consistent {
            1e-13
        } else {
            noise.max(1e-13)
        };
        assert!(q.normal_residual < bound, "{name}: {q:?}");
        q
    };
    let column = |all: &[f64], k: usize, len: usize| all[k * len..][..len].to_vec();
    for k in 0..nrhs {
        let (x, b) = (column(&solution.x, k, a.ncols()), column(&b, k, a.nrows()));
        let q = judged(&x, &b);
        if found.is_full() && (!q.consistent || a.nrows() <= a.ncols()) {
            compare(name, &a, &x, &b);
        }
        // R is not singular to working precision: x is no more than some digits of b's.
        assert!(norm_a * q.solution_norm < 1e15 * norm2(&b), "{name}: {q:?}");
    }
    if !found.is_full() && !NO_GAP.contains(&name) {
        let options = FactorOptions {
            deficient: Deficient::MinimumNorm,
            ..options
        };
        let shortest = solved(&options).unwrap_or_else(|e| panic!("{name}: {e}"));
        for k in 0..nrhs {
            let b = column(&b, k, a.nrows());
            let [x, short] = [&solution.x, &shortest.x].map(|x| column(x, k, a.ncols()));
            let [q, p] = [judged(&x, &b), judged(&short, &b)];
            assert!(p.solution_norm <= q.solution_norm * (1.0 + 1e-12), "{name}");
            let rounding = f64::EPSILON * (norm_a * q.solution_norm + norm2(&b));
            let difference = (p.residual_norm - q.residual_norm).abs();
            let bound = 1e-9 * q.residual_norm + 10.0 * rounding;
            assert!(difference <= bound, "{name}: {p:?} and {q:?}");
            if a.nrows() * a.ncols() <= 200_000 {
                let (expected, rank) = dense::shortest(&a, &b);
                assert_eq!(rank, found.rank, "{name}");
                let error: Vec<f64> = short.iter().zip(&expected).map(|(p, q)| p - q).collect();
                assert!(norm2(&error) <= 1e-8 * norm2(&expected), "{name}");
            }
        }
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
fn real_matrices_are_solved() {
    let Some(folder) = folder() else { return };
    let ranks = ranks(&folder);
    let mut done = 0;
    for (name, path) in files(&folder) {
        if !SLOW.contains(&name.as_str()) {
            done += usize::from(check(&folder, &name, &path, ranks[&name], |flops| {
                flops <= FAST
            }));
        }
    }
    assert!(done >= 30, "only {done} matrices were small enough");
}

/// fit2p has 25 dense columns: transposed they are rows, without which nothing fills. In the other two every row is like the others,
/// and some are split off all the same.
#[test]
fn dense_rows_of_real_matrices() {
    let Some(folder) = folder() else { return };
    let cases = [
        ("lp_fit2p", DenseRows::Auto, 25, 3000),
        ("miplib3_nw04", DenseRows::Auto, 0, 36),
        ("miplib3_nw04", DenseRows::Count(20), 20, 36),
        ("miplib3_air04", DenseRows::Auto, 0, 712),
        ("miplib3_air04", DenseRows::Count(20), 20, 712),
    ];
    for (name, asked, rows, rank) in cases {
        let a: Csc<f64> = read_sparse(folder.join(format!("{name}.mtx.gz"))).expect("a good file");
        for a in [a.adjoint(), a] {
            let options = Options {
                dense_rows: asked,
                ..Options::default()
            };
            let symbolic = analyse(a.pattern(), &options).expect("analysed");
            assert_eq!(symbolic.dense_rows().len(), rows, "{name}");
            let b: Vec<f64> = (0..a.nrows())
                .map(|i| 1.0 + (0.7 * i as f64).sin())
                .collect();
            let (options, progress) = (FactorOptions::default(), Progress::default());
            let solution = solve_analysed(&symbolic, &a, &b, 1, &options, &progress);
            let solution = solution.unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(solution.rank.rank, rank, "{name}: {:?}", solution.rank);
            let q = if solution.rank.is_full() {
                quality(&a, &solution.x, &b)
            } else {
                quality_deficient(&a, &solution.x, &b)
            };
            eprintln!("{name} {asked:?}: {q:?}");
            assert!(q.normal_residual < 1e-12, "{name} {asked:?}: {q:?}");
        }
    }
}

#[test]
#[ignore = "minutes: just test-large"]
fn large_real_matrices_are_solved() {
    let Some(folder) = folder() else { return };
    let ranks = ranks(&folder);
    for (name, path) in files(&folder) {
        check(&folder, &name, &path, ranks[&name], |flops| flops > FAST);
    }
}
