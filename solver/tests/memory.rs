//! A memory limit is kept, whatever the tree looks like, and changes no bit of the result.

mod common;
use common::*;
use std::sync::Arc;
use treeqr_matrices::gallery;
use treeqr_solver::{FactorOptions, MemoryLimit, SolveError, analyse, factorize};

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
