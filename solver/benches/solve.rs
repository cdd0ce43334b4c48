//! What a solve takes: 1, 32 and 256 right-hand sides with Q kept, on the calling thread, as it is chosen by itself, and on 1
//! and 2 workers.
//!
//! `cargo bench -p treeqr-solver --bench solve [-- REPETITIONS] [MATRIX ...]`; matrices are names of the gallery. The ways
//! take turns; medians, and the time on the calling thread over them.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use treeqr_matrices::gallery;
use treeqr_runtime::Config;
use treeqr_solver::{FactorOptions, Factors, Options, SolveOptions, analyse, factorize};

const MATRICES: [&str; 4] = ["lp-20000", "grid3d-30", "lp-2000", "survey-30x20"];
const RHS: [usize; 3] = [1, 32, 256];
const WAYS: [(&str, usize, Option<bool>); 4] = [
    ("calling", 1, Some(true)),
    ("auto (2)", 2, None),
    ("1 worker", 1, Some(false)),
    ("2 workers", 2, Some(false)),
];

fn main() {
    let mut repetitions = 7;
    let mut names = Vec::new();
    for argument in std::env::args().skip(1).filter(|a| a != "--bench") {
        match argument.parse() {
            Ok(number) => repetitions = number,
            Err(_) => names.push(argument),
        }
    }
    if names.is_empty() {
        names = MATRICES.map(str::to_owned).to_vec();
    }
    for name in &names {
        let a = gallery::make(name).expect("a name of the gallery").matrix;
        let symbolic = Arc::new(analyse(a.pattern(), &Options::default()).expect("analysis"));
        let keep = FactorOptions {
            keep_q: true,
            ..FactorOptions::default()
        };
        let factors = factorize(&symbolic, &a, &[], 0, &keep, &())
            .expect("full rank")
            .factors;
        let megabytes = factors.bytes() as f64 / 1e6;
        println!(
            "{name}: {} x {}, {} fronts, factors of {megabytes:.1} MB",
            a.nrows(),
            a.ncols(),
            symbolic.fronts().len()
        );
        for nrhs in RHS {
            let b: Vec<f64> = (0..a.nrows() * nrhs)
                .map(|i| ((i * 7919) % 1009) as f64 / 1009.0)
                .collect();
            row(&factors, &b, nrhs, repetitions);
        }
    }
}

/// One line of the table.
fn row(factors: &Factors<f64>, b: &[f64], nrhs: usize, repetitions: usize) {
    let ways = WAYS.map(|(_, threads, sequential)| SolveOptions {
        run: Config::with_threads(threads),
        sequential,
        grain: None,
    });
    let mut times = WAYS.map(|_| Vec::new());
    // The first turn warms up.
    for turn in 0..=repetitions {
        for (options, times) in ways.iter().zip(&mut times) {
            let begin = Instant::now();
            black_box(factors.solve_with(b, nrhs, options, &()).expect("solve"));
            if turn > 0 {
                times.push(begin.elapsed().as_secs_f64());
            }
        }
    }
    let medians = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    print!("  {nrhs:>4} rhs");
    for ((name, ..), median) in WAYS.iter().zip(medians) {
        let speed_up = medians[0] / median;
        print!("   {name} {:>9.3} ms x{speed_up:.2}", 1e3 * median);
    }
    println!();
}
