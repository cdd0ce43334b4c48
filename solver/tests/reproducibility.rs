//! R, Q and x are bitwise the same for every scheduler, number of workers and run, and however fronts are grouped, for the
//! factorization and for the solve.

mod common;
use common::*;
use std::sync::Arc;
use std::time::Duration;
use treeqr_matrices::{Csc, gallery};
use treeqr_runtime::{Config, SCHEDULERS};
use treeqr_solver::{FactorOptions, Options, Rotated, SolveOptions, analyse, factorize};

/// All bits that a factorization and its solves give: Q^H of a vector, Q of one, x with Q kept and x on the way.
fn bits(a: &Csc<f64>, o: &Options, run: &Config, sequential: bool) -> Vec<u64> {
    let symbolic = Arc::new(analyse(a.pattern(), o).expect("analysis"));
    let options = |keep_q| FactorOptions {
        keep_q,
        run: run.clone(),
        sequential,
        ..FactorOptions::default()
    };
    // Every front by itself, against bundles as they are chosen.
    let solve = SolveOptions {
        sequential: Some(sequential),
        grain: (!sequential).then_some(Duration::ZERO),
        ..SolveOptions::from(&options(true))
    };
    // Three blocks of right-hand sides, one of them narrow.
    const NRHS: usize = 34;
    let b: Vec<f64> = vector(3, a.nrows() * NRHS);
    let kept = factorize(&symbolic, a, &[], 0, &options(true), &())
        .expect("finite")
        .factors;
    let mut all = kept.solve_with(&b, NRHS, &solve, &()).expect("solve");
    let (w, n) = (a.nrows().max(a.ncols()), a.nrows().min(a.ncols()));
    let rotated = kept.apply_q_adjoint_with(&vector(4, w), 1, &solve, &());
    let Rotated { head, rest } = rotated.expect("Q kept");
    let short = Rotated {
        head: head.clone(),
        rest: Vec::new(),
    };
    all.extend(kept.apply_q_with(&short, 1, &solve, &()).expect("Q kept"));
    all.extend(head);
    all.extend(rest);
    let c: Vec<f64> = vector(5, n * 2);
    all.extend(kept.solve_r_with(&c, 2, &solve, &()).expect("solve"));
    all.extend(
        kept.solve_r_adjoint_with(&c, 2, &solve, &())
            .expect("solve"),
    );
    all.extend(kept.trapezoid().expect("no row is split off").values());
    all.extend(kept.dead_columns().iter().map(|&j| f64::from(j)));
    all.push(kept.dropped_norm());
    if !symbolic.transposed() {
        let lean = factorize(&symbolic, a, &b[..a.nrows()], 1, &options(false), &())
            .expect("finite")
            .factors;
        all.extend(lean.solution_with(&solve, &()).expect("solve"));
    }
    all.into_iter().map(f64::to_bits).collect()
}

fn check(name: &str, a: &Csc<f64>, o: &Options) {
    let one = Config {
        bind: false,
        ..Config::with_threads(1)
    };
    let expected = bits(a, o, &one, true);
    for scheduler in SCHEDULERS {
        for threads in [1, 2, 3] {
            // The grouping of fronts into tasks follows the number of workers: it must not matter either.
            let o = Options {
                threads,
                ..o.clone()
            };
            let run = Config {
                threads,
                scheduler,
                bind: false,
                ..Config::default()
            };
            assert!(
                bits(a, &o, &run, false) == expected,
                "{name}: {} with {threads} workers gives other bits",
                scheduler.name
            );
        }
    }
}

#[test]
fn gallery_matrices_give_the_same_bits() {
    // Both small tiles, so that there are many tasks, and the partition that is chosen by itself.
    let tiles = options(|o| (o.mb, o.nb, o.ib, o.bh) = (Some(32), Some(16), Some(8), Some(2)));
    for name in [
        "grid3d-10",
        "stencil27-7",
        "conv2d-12",
        "conv2d-40",
        "ba-12x200",
        "lp-600",
        "survey-30x20",
        "pose-60",
    ] {
        let a = gallery::make(name).expect("gallery").matrix;
        check(name, &a, &tiles);
    }
    check(
        "grid3d-14",
        &gallery::make("grid3d-14").expect("gallery").matrix,
        &options(|_| ()),
    );
    check(
        "lp-2000",
        &gallery::make("lp-2000").expect("gallery").matrix,
        &options(|_| ()),
    );
}

/// Some columns are sums of others, some are zero: rows that dead pivots leave free go through the whole tree.
#[test]
fn matrices_that_lack_rank_give_the_same_bits() {
    let tiles = options(|o| (o.mb, o.nb, o.ib, o.bh) = (Some(32), Some(16), Some(8), Some(2)));
    let mut lacking = gallery::make("lp-600").expect("gallery").matrix;
    let colptr = lacking.pattern().colptr().to_vec();
    for j in (0..lacking.ncols()).step_by(11) {
        lacking.values_mut()[colptr[j]..colptr[j + 1]].fill(0.0);
    }
    check("lp-600 without columns", &lacking, &tiles);
    check("that, wide", &lacking.adjoint(), &tiles);
    let a = gallery::make("ch5-5-b2").expect("gallery").matrix;
    check("ch5-5-b2", &a, &tiles);
}

#[test]
fn random_patterns_give_the_same_bits() {
    for seed in 0..12 {
        let mut rng = Rng(seed);
        let (m, n) = (1 + rng.below(150), 1 + rng.below(100));
        let extra = rng.below(6 * m);
        let a: Csc<f64> = random(seed, m, n, extra);
        check(
            &format!("seed {seed}"),
            &a,
            &options(|o| (o.mb, o.nb, o.ib) = (Some(8), Some(8), Some(4))),
        );
    }
}

#[test]
fn an_emulated_device_gives_the_same_bits() {
    // Its memory holds a few tiles only, so that most of them come and go many times.
    let o = options(|o| (o.mb, o.nb, o.ib, o.bh) = (Some(32), Some(16), Some(8), Some(2)));
    for name in ["grid3d-8", "lp-400"] {
        let a = gallery::make(name).expect("gallery").matrix;
        let one = Config {
            bind: false,
            ..Config::with_threads(1)
        };
        let expected = bits(&a, &o, &one, true);
        for scheduler in SCHEDULERS {
            for devices in [
                &["cuda0:memory=24KiB,latency=0ns"][..],
                &["cuda0", "gpu1:speed=2"],
            ] {
                let run = Config {
                    scheduler,
                    devices: devices
                        .iter()
                        .map(|d| d.parse().expect("a device"))
                        .collect(),
                    ..one.clone()
                };
                assert!(
                    bits(&a, &o, &run, false) == expected,
                    "{name}: {} with {devices:?} gives other bits",
                    scheduler.name
                );
            }
        }
    }
}
