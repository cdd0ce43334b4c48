//! How fast Matrix Market files are read, in MB/s of uncompressed text: this crate on one core and on all, and two other
//! crates. `cargo bench -p treeqr-matrices --bench read [-- ENTRIES]`; best of three runs.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;
use treeqr_matrices::{Csc, Output, read_sparse};

/// Entries of the file unless the command line says otherwise.
const ENTRIES: usize = 5_000_000;

fn main() {
    // cargo passes --bench.
    let count = std::env::args().skip(1).find_map(|a| a.parse().ok());
    let count: usize = count.unwrap_or(ENTRIES);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (nrows, ncols) = (count / 5 + 1, count / 25 + 1);
    let (rows, cols, values) = entries(count, nrows, ncols);

    let sorted = folder.path().join("sorted.mtx");
    let shuffled = folder.path().join("shuffled.mtx");
    write(&shuffled, nrows, ncols, &rows, &cols, &values);
    let best = best_of_3(|| {
        Csc::from_triplets(nrows, ncols, &rows, &cols, &values).expect("triplets in range");
    });
    println!("{count} entries in any order to columns: {best:.3} s");
    let matrix = Csc::from_triplets(nrows, ncols, &rows, &cols, &values).expect("in range");
    let start = Instant::now();
    let output = Output::create(&sorted).expect("a writable folder");
    output.write_sparse(&matrix, "").expect("space on the disk");
    println!(
        "written by this crate: {:.3} s",
        start.elapsed().as_secs_f64()
    );
    let by_column: Vec<u32> = (0..ncols)
        .flat_map(|j| std::iter::repeat_n(j as u32, matrix.col(j).0.len()))
        .collect();
    let best = best_of_3(|| {
        let (rows, values) = (matrix.pattern().rowidx(), matrix.values());
        Csc::from_triplets(nrows, ncols, rows, &by_column, values).expect("in range");
    });
    println!("the same in order of columns:          {best:.3} s");
    let zipped = folder.path().join("sorted.mtx.gz");
    let output = Output::create(&zipped).expect("a writable folder");
    output.write_sparse(&matrix, "").expect("space on the disk");
    let size = std::fs::metadata(&sorted).expect("written").len() as f64 / 1e6;
    println!(
        "{size:.1} MB of text\n\n{:<34} {:>8} {:>10}",
        "reader", "s", "MB/s"
    );

    let one = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a thread");
    let cores = rayon::current_num_threads();
    for (what, path) in [
        ("by columns", &sorted),
        ("any order", &shuffled),
        ("gzip", &zipped),
    ] {
        let read = || drop(read_sparse::<f64>(path).expect("a valid file"));
        report(
            &format!("treeqr, {what}, 1 core"),
            size,
            best_of_3(|| one.install(read)),
        );
        report(
            &format!("treeqr, {what}, {cores} cores"),
            size,
            best_of_3(read),
        );
    }
    let read = || {
        let triplets: sprs::TriMatI<f64, u32> =
            sprs::io::read_matrix_market(&sorted).expect("sprs reads real general files");
        drop(triplets.to_csc::<usize>());
    };
    report("sprs", size, best_of_3(read));
    let read = || {
        let read = matrix_market_rs::MtxData::<f64>::from_file(&sorted);
        drop(read.unwrap_or_else(|_| panic!("matrix-market-rs reads real general files")));
    };
    report("matrix-market-rs (triplets only)", size, best_of_3(read));
}

fn entries(count: usize, nrows: usize, ncols: usize) -> (Vec<u32>, Vec<u32>, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut below = |n: usize| ((u64::from(rng.next_u32()) * n as u64) >> 32) as u32;
    let rows = (0..count).map(|_| below(nrows)).collect();
    let cols = (0..count).map(|_| below(ncols)).collect();
    let values = (0..count)
        .map(|_| f64::from(below(1 << 30)) / 3e8 - 1.0)
        .collect();
    (rows, cols, values)
}

fn write(path: &Path, nrows: usize, ncols: usize, rows: &[u32], cols: &[u32], values: &[f64]) {
    let mut text = String::from("%%MatrixMarket matrix coordinate real general\n");
    writeln!(text, "{nrows} {ncols} {}", values.len()).expect("memory");
    for ((i, j), v) in rows.iter().zip(cols).zip(values) {
        writeln!(text, "{} {} {v}", i + 1, j + 1).expect("memory");
    }
    std::fs::write(path, text).expect("space on the disk");
}

fn best_of_3(mut run: impl FnMut()) -> f64 {
    let mut timed = || {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..3).map(|_| timed()).fold(f64::INFINITY, f64::min)
}

fn report(what: &str, megabytes: f64, seconds: f64) {
    println!("{what:<34} {seconds:>8.3} {:>10.0}", megabytes / seconds);
}
