//! R, Q and x are bitwise the same for every scheduler, number of workers and run, and however fronts are grouped, for the
//! factorization and for the solve.

mod common;
use common::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use treeqr_matrices::{Csc, gallery};
use treeqr_matrices::{Pattern, RealScalar, c32, c64};
use treeqr_runtime::{
    Config, Lane, MemoryRecord, Observer, SCHEDULERS, ShareRecord, StateRecord, TaskId, TaskRecord,
    TaskSpec, Track,
};
use treeqr_solver::{
    FactorOptions, FactorScalar, Options, Rotated, SolveOptions, analyse, factorize,
};

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

/// Counts the parts that helpers did.
#[derive(Default)]
struct Helped(AtomicU32);

struct Count<'a>(&'a Helped);

impl<'a> Observer for &'a Helped {
    type Track = Count<'a>;
    fn attach(&self, _: Lane) -> Count<'a> {
        Count(self)
    }
    fn detach(&self, _: Count<'a>) {}
    fn clock(&self) -> u64 {
        0
    }
}

impl Track for Count<'_> {
    fn submitted(&mut self, _: TaskId, _: &TaskSpec, _: u64) {}
    fn task(&mut self, _: &TaskRecord) {}
    fn memory(&mut self, _: &MemoryRecord) {}
    fn state(&mut self, _: &StateRecord) {}
    fn share(&mut self, record: &ShareRecord) {
        self.0.0.fetch_add(record.parts, Ordering::Relaxed);
    }
}

/// A dense front on four workers, most of which have nothing to do but to help: whole, and in tiles for a device. The factors' bits are those of
/// one worker alone.
fn helpers_change_no_bit<T: FactorScalar>() {
    let (m, n) = (1300, 700);
    let rows: Vec<u32> = (0..n).flat_map(|_| 0..m).collect();
    let starts: Vec<usize> = (0..=n as usize).map(|j| j * m as usize).collect();
    let pattern = Pattern::new(m as usize, n as usize, starts, rows).expect("a full block");
    let rng = &mut Rng(7);
    let values = (0..pattern.nnz()).map(|_| T::from_f64(rng.unit(), rng.unit()));
    let a = Csc::new(Arc::new(pattern.clone()), values.collect()).expect("as many");
    let whole = options(|o| o.nb = Some(5000));
    let tiles = options(|o| (o.mb, o.nb, o.ib) = (Some(640), Some(640), Some(128)));
    for (o, tasks) in [(whole, "a whole front"), (tiles, "tiles")] {
        let symbolic = Arc::new(analyse(a.pattern(), &o).expect("analysis"));
        let bits = |run: Config, sequential| {
            let helped = Helped::default();
            let options = FactorOptions {
                keep_q: true,
                run: Config { bind: false, ..run },
                sequential,
                ..FactorOptions::default()
            };
            let done = factorize(&symbolic, &a, &[], 0, &options, &&helped).expect("finite");
            let factors = done.factors;
            let r = factors.trapezoid().expect("no row is split off");
            let b: Vec<T> = (0..m)
                .map(|k| T::from_f64(f64::from(k % 17), 1.0))
                .collect();
            let x = factors.solve(&b, 1).expect("solve");
            let mut numbers = r.values().to_vec();
            numbers.extend(x);
            let parts = |x: &T| [x.re(), x.im()].map(|x| x.to_f64().to_bits());
            let bits: Vec<_> = numbers.iter().map(parts).collect();
            (bits, helped.0.into_inner())
        };
        let (alone, _) = bits(Config::with_threads(1), true);
        let mut helped = 0;
        for run in 0..5 {
            let (shared, parts) = bits(Config::with_threads(4), false);
            assert!(shared == alone, "{tasks}, run {run}, {}", T::NAME);
            helped += parts;
        }
        assert!(helped > 0, "nobody helped with {tasks}");
        let unshared = Config {
            share: false,
            ..Config::with_threads(4)
        };
        let (unshared, parts) = bits(unshared, false);
        assert!(unshared == alone && parts == 0);
    }
}

#[test]
fn helpers_give_the_same_bits() {
    helpers_change_no_bit::<f32>();
    helpers_change_no_bit::<f64>();
    helpers_change_no_bit::<c32>();
    helpers_change_no_bit::<c64>();
}
