//! What recording costs a factorization: run times with the recorder over those with the unit observer, in pairs.
//!
//!     cargo bench -p treeqr --bench always_on [PAIRS] [MATRIX...]
//!
//! One pair is a run with and a run without, in turns with the one and the other first; the ratio of a pair is free of what changes
//! slowly on a machine. Printed per matrix: the median of the ratios, their quartiles, and the interval of the median at 95 %
//! (by order statistics). The recorder is finished outside of the timed part, as the command does it.

use std::time::Instant;
use treeqr::matrices::load;
use treeqr::profiling::{Expected, Recorder, RecorderOptions};
use treeqr::runtime::available_threads;
use treeqr::{FactorOptions, Options, RunShape, analyse, solver};

fn main() {
    let mut words = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .peekable();
    let pairs = words.next_if(|w| w.parse::<usize>().is_ok());
    let pairs = pairs.map_or(21, |w| w.parse().expect("looked at"));
    let mut matrices: Vec<String> = words.collect();
    if matrices.is_empty() {
        let default = ["gallery:lp-20000", "gallery:conv2d-500", "gallery:TF15"];
        matrices.extend(default.map(str::to_owned));
    }
    let threads = available_threads();
    println!("{threads} threads, {pairs} pairs; with the recorder / without");
    println!(
        "{:<20} {:>7} {:>9} {:>8} {:>15} {:>17}",
        "matrix", "tasks", "without", "median", "quartiles", "95 % of median"
    );
    for name in &matrices {
        measure(name, threads, pairs);
    }
}

fn measure(name: &str, threads: usize, pairs: usize) {
    let loaded = load::<f64>(name).expect("a matrix");
    let a = &loaded.matrix;
    let options = Options {
        threads,
        ..Options::default()
    };
    let symbolic = analyse(a.pattern(), &options).expect("a pattern");
    let options = FactorOptions {
        run: treeqr::Config::with_threads(threads),
        // Recording is the same whatever the rank is.
        tolerance: Some(0.0),
        ..FactorOptions::default()
    };
    let (b, nrhs) = match symbolic.transposed() {
        true => (Vec::new(), 0),
        false => (vec![1.0; a.nrows()], 1),
    };
    let prediction = symbolic.predict(RunShape::of::<f64>(nrhs, options.keep_q));
    let expected = Expected {
        tasks: prediction.task_count() as usize,
        accesses: prediction.accesses as usize,
        memory_events: (prediction.buffers.0 + prediction.buffers.1) as usize,
        shares: (prediction.flops >> 21) as usize,
    };
    let without = || {
        let begin = Instant::now();
        let done = solver::factorize(&symbolic, a, &b, nrhs, &options, &());
        let time = begin.elapsed().as_secs_f64();
        drop(done.expect("a factorization"));
        time
    };
    let with = || {
        let begin = Instant::now();
        let recorder = Recorder::new(RecorderOptions {
            expected: Some(expected),
            ..RecorderOptions::default()
        });
        let done = solver::factorize(&symbolic, a, &b, nrhs, &options, &recorder);
        let time = begin.elapsed().as_secs_f64();
        drop(done.expect("a factorization"));
        drop(recorder.finish());
        time
    };
    // The first of each warms up.
    let _ = (without(), with());
    let (mut ratios, mut bare) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        let (off, on) = if pair % 2 == 0 {
            let off = without();
            (off, with())
        } else {
            let on = with();
            (without(), on)
        };
        ratios.push(on / off);
        bare.push(off);
    }
    ratios.sort_by(f64::total_cmp);
    bare.sort_by(f64::total_cmp);
    let at = |sorted: &[f64], q: f64| sorted[((sorted.len() - 1) as f64 * q).round() as usize];
    let (low, high) = median_interval(pairs);
    println!(
        "{name:<20} {:>7} {:>7.1}ms {:>8.4} {:>7.4} {:>7.4}  {:>7.4} {:>7.4}",
        prediction.task_count(),
        1e3 * at(&bare, 0.5),
        at(&ratios, 0.5),
        at(&ratios, 0.25),
        at(&ratios, 0.75),
        ratios[low],
        ratios[high],
    );
}

/// Places in the sorted list between which the median lies with a probability of at least 95 %, by the binomial distribution
/// with p = 1/2.
fn median_interval(n: usize) -> (usize, usize) {
    let mut term = 0.5f64.powi(n as i32);
    let mut tail = 0.0;
    let mut low = 0;
    for k in 0..n / 2 {
        tail += term;
        if tail > 0.025 {
            break;
        }
        low = k + 1;
        term *= (n - k) as f64 / (k + 1) as f64;
    }
    let low = low.saturating_sub(1);
    (low, n - 1 - low)
}
