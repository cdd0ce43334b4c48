//! Solves on the runtime: against R itself, for numbers of right-hand sides around the width of a block, for trees of all
//! shapes, side by side, cancelled, and with faults on purpose.

mod common;
#[path = "solve/condition.rs"]
mod condition;
#[path = "solve/extract.rs"]
mod extract;
#[path = "solve/inverse.rs"]
mod inverse;
#[path = "solve/preconditioned.rs"]
mod preconditioned;
#[path = "solve/shortest.rs"]
mod shortest;
#[path = "solve/sparse.rs"]
mod sparse;
use common::*;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use treeqr_matrices::{Csc, RealScalar, Scalar, c32, c64, gallery};
use treeqr_runtime::*;
use treeqr_solver::{
    Deficient, FactorOptions, FactorScalar, Factors, Options, RefineOptions, SOLVE_CODELETS,
    Scaled, SolveError, SolveOptions, Symbolic, analyse, factorize, refine,
};

/// Every front by itself, on so many workers; 0 for none.
fn fine(workers: usize) -> SolveOptions {
    SolveOptions {
        run: Config {
            bind: false,
            ..Config::with_threads(workers.max(1))
        },
        sequential: Some(workers == 0),
        grain: Some(Duration::ZERO),
    }
}

fn small_tiles() -> Options {
    options(|o| (o.mb, o.nb, o.ib, o.bh) = (Some(16), Some(8), Some(4), Some(2)))
}

/// Matrices whose trees and edges differ: with singletons only, forests, one front, empty rows, chains, wide ones.
fn matrices<T: FactorScalar>() -> Vec<(String, Csc<T>)> {
    let mut out: Vec<(String, Csc<T>)> = Vec::new();
    for (m, n, extra) in [
        (1, 1, 0),
        (40, 1, 20),
        (1, 30, 20),
        (60, 60, 0),
        (50, 30, 12),
        (30, 50, 12),
        (90, 60, 150),
        (60, 90, 150),
        (70, 70, 280),
        (40, 30, 900),
    ] {
        for seed in 0..3 {
            let name = format!("random {m} x {n}, {extra}, seed {seed}");
            out.push((name, random(seed, m, n, extra)));
        }
    }
    // Blocks that do not meet, and rows without entries between them.
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    let mut rng = Rng(7);
    for block in 0..9u32 {
        for row in 0..7 {
            for col in 0..4 {
                i.push(10 * block + row);
                j.push(4 * block + col);
                v.push(rng.scalar::<T>());
            }
        }
    }
    let forest = Csc::from_triplets(95, 36, &i, &j, &v).expect("triplets");
    out.push(("a forest, wide".into(), forest.adjoint()));
    out.push(("a forest".into(), forest));
    // Block triangular: fronts that leave columns but no row.
    for (name, sizes) in [
        ("loose fronts", &[2usize, 3, 2, 2, 4, 2, 3, 2][..]),
        ("large loose fronts", &[3, 40, 2, 30, 3, 25]),
    ] {
        let n: usize = sizes.iter().sum();
        let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = 0;
        for (block, &size) in sizes.iter().enumerate() {
            for row in first..first + size {
                for col in first..n {
                    let inside = col < first + size;
                    // A band in the large blocks, so that they are trees.
                    let near = size < 10 || row.abs_diff(col) < 3;
                    if if inside {
                        near
                    } else {
                        (7 * row + 5 * col + block) % 11 == 0
                    } {
                        i.push(row as u32);
                        j.push(col as u32);
                        let large = if row == col { 4.0 } else { 0.0 };
                        v.push(rng.scalar::<T>() + T::from_f64(large, 0.0));
                    }
                }
            }
            first += size;
        }
        let a = Csc::from_triplets(n, n, &i, &j, &v).expect("triplets");
        out.push((format!("{name}, adjoint"), a.adjoint()));
        out.push((name.into(), a));
    }
    // Twice four tall blocks that share columns, the first four coupled to the others: a loose front with a tree below it.
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    let place = |k: usize, size: usize| (k / 90, k % 90 / size);
    for row in 0..180 {
        for col in 0..180 {
            let ((half, block), (other, beside)) = (place(row, 22), place(col, 20));
            let inside = half == other && (block == beside || beside == 4);
            if inside || (half < other && row % 20 == 0 && (row + col) % 23 == 0) {
                i.push(row as u32);
                j.push(col as u32);
                let large = if row % 90 % 22 == col % 90 % 20 {
                    9.0
                } else {
                    0.0
                };
                v.push(rng.scalar::<T>() + T::from_f64(large, 0.0));
            }
        }
    }
    let bordered = Csc::from_triplets(180, 180, &i, &j, &v).expect("triplets");
    out.push(("bordered".into(), bordered));
    // Upper triangular: nothing but singletons.
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    for col in 0..30u32 {
        for row in (0..=col).step_by(3).chain([col]) {
            i.push(row);
            j.push(col);
            v.push(rng.scalar::<T>() + T::from_f64(if row == col { 6.0 } else { 0.0 }, 0.0));
        }
    }
    let triangle = Csc::from_triplets(33, 30, &i, &j, &v).expect("triplets");
    out.push(("a triangle".into(), triangle));
    out
}

fn norm<T: Scalar>(v: &[T]) -> f64 {
    v.iter().map(|x| x.abs2().to_f64()).sum::<f64>().sqrt()
}

/// R, dense: rows in elimination order, columns of W.
fn dense_r<T: FactorScalar>(a: &Csc<T>, symbolic: &Symbolic, factors: &Factors<T>) -> Vec<T> {
    let w = if symbolic.transposed() {
        a.adjoint()
    } else {
        a.clone()
    };
    let mut dense = vec![T::zero(); w.nrows() * w.ncols()];
    for j in 0..w.ncols() {
        let (rows, values) = w.col(j);
        for (&i, &v) in rows.iter().zip(values) {
            dense[j * w.nrows() + i as usize] = v;
        }
    }
    let rotated = factors.apply_q_adjoint(&dense, w.ncols());
    rotated.expect("Q kept").head
}

/// Residuals of R x = c and R^H y = c against a dense R, scaled as LAPACK's tests do, for three right-hand sides.
fn check_triangular<T: FactorScalar>(name: &str, a: &Csc<T>, o: &Options) {
    let (symbolic, factored) = factor(a, o);
    let n = a.nrows().min(a.ncols());
    let r = dense_r(a, &symbolic, &factored.factors);
    let eps = <T::Real as RealScalar>::EPSILON.to_f64();
    let c: Vec<T> = vector(8, 3 * n);
    for workers in [0, 2] {
        let x = factored.factors.solve_r_with(&c, 3, &fine(workers), &());
        let y = factored
            .factors
            .solve_r_adjoint_with(&c, 3, &fine(workers), &());
        let (x, y) = (x.expect("solve"), y.expect("solve"));
        for k in 0..3 {
            let part = k * n..(k + 1) * n;
            let (x, y, c) = (&x[part.clone()], &y[part.clone()], &c[part]);
            let mut left = c.to_vec();
            for j in 0..n {
                (0..n).for_each(|i| left[i] -= r[j * n + i] * x[j]);
            }
            let scale = n as f64 * eps * norm(&r);
            let ratio = norm(&left) / (scale * norm(x));
            assert!(ratio < 30.0, "{name}: R x = c: {ratio}");
            let mut left = c.to_vec();
            for j in 0..n {
                (0..n).for_each(|i| left[j] -= r[j * n + i].conj() * y[i]);
            }
            let ratio = norm(&left) / (scale * norm(y));
            assert!(ratio < 30.0, "{name}: R^H y = c: {ratio}");
        }
    }
}

#[test]
fn some_of_the_matrices_have_loose_fronts() {
    for (name, a) in matrices::<f64>() {
        let (symbolic, _) = factor(&a, &options(|o| o.ordering = "natural".into()));
        let fronts = symbolic.fronts().iter();
        let loose = fronts.filter(|f| f.parent.is_none() && f.cb_cols() > 0);
        let of: Vec<usize> = loose.map(|f| f.children.len()).collect();
        match name.as_str() {
            "loose fronts" => assert!(of.len() > 3, "{of:?}"),
            "large loose fronts" => assert!(!of.is_empty(), "{of:?}"),
            "bordered" => assert!(of.iter().any(|&children| children > 1), "{of:?}"),
            _ => {}
        }
    }
}

#[test]
fn triangular_solves_in_every_scalar_on_trees_of_all_shapes() {
    fn all<T: FactorScalar>() {
        for (name, a) in matrices::<T>() {
            let mut natural = small_tiles();
            natural.ordering = "natural".into();
            for o in [options(|_| ()), small_tiles(), natural] {
                check_triangular(&format!("{} {name}", T::NAME), &a, &o);
            }
        }
    }
    all::<f32>();
    all::<f64>();
    all::<c32>();
    all::<c64>();
}

fn same<T: Scalar>(a: &[T], b: &[T]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x == y)
}

#[test]
fn many_right_hand_sides_are_each_solved_as_by_itself() {
    fn all<T: FactorScalar>() {
        for (name, a) in matrices::<T>() {
            let m = a.nrows();
            let b: Vec<T> = vector(2, 140 * m);
            for o in [options(|o| o.ordering = "natural".into()), small_tiles()] {
                let (symbolic, factored) = factor(&a, &o);
                let factors = &factored.factors;
                let n = a.ncols();
                let of_100 = factors.solve_with(&b[..100 * m], 100, &fine(0), &());
                let of_140 = factors.solve_with(&b, 140, &fine(0), &());
                let (of_100, of_140) = (of_100.expect("solve"), of_140.expect("solve"));
                let tiled = symbolic.unit_counts().1 > 0;
                for nrhs in [1, 2, 15, 16, 17, 31, 32, 33, 100, 128, 140] {
                    let b = &b[..m * nrhs];
                    let alone = factors.solve(b, nrhs).expect("solve");
                    for workers in [0, 1, 3] {
                        let x = factors.solve_with(b, nrhs, &fine(workers), &());
                        let x = x.expect("solve");
                        assert!(same(&x, &alone), "{name}, {nrhs}: {workers} workers");
                    }
                    // Full blocks of one width do not see how many come after them; without tiles nobody sees how many there are.
                    let (whole, width) = if nrhs < 128 {
                        (&of_100, 16)
                    } else {
                        (&of_140, 32)
                    };
                    let equal = if tiled { nrhs / width * width } else { nrhs };
                    assert!(
                        same(&alone[..n * equal], &whole[..n * equal]),
                        "{} {name}: of {nrhs} and of more",
                        T::NAME
                    );
                    assert!(tiled || same(&alone[..n], &of_140[..n]), "{name}: {nrhs}");
                }
            }
        }
    }
    all::<f32>();
    all::<f64>();
    all::<c32>();
    all::<c64>();
}

#[test]
fn right_hand_sides_on_the_way_and_later_give_one_solution() {
    for (name, a) in matrices::<f64>() {
        if a.nrows() < a.ncols() {
            continue;
        }
        let b = vector(2, 35 * a.nrows());
        let (symbolic, kept) = factor(&a, &small_tiles());
        let lean = factorize(&symbolic, &a, &b, 35, &run_options(2, false), &());
        let lean = lean.expect("full rank").factors;
        let x = kept.factors.solve_with(&b, 35, &fine(2), &());
        let y = lean.solution_with(&fine(2), &()).expect("solve");
        let x = x.expect("solve");
        let difference: Vec<f64> = x.iter().zip(&y).map(|(p, q)| p - q).collect();
        assert!(norm(&difference) <= 1e-9 * norm(&x), "{name}");
        assert!(same(&y, &lean.solution().expect("solve")), "{name}");
    }
}

#[test]
fn no_right_hand_side_is_no_work() {
    let a: Csc<f64> = random(1, 20, 10, 40);
    let factors = factor(&a, &options(|_| ())).1.factors;
    assert!(factors.solve(&[], 0).expect("nothing").is_empty());
    let rotated = factors.apply_q_adjoint(&[], 0).expect("nothing");
    assert!(rotated.head.is_empty() && rotated.rest.is_empty());
}

#[test]
fn several_threads_solve_with_the_same_factors() {
    let a = gallery::make("grid3d-8").expect("gallery").matrix;
    let factors = factor(&a, &small_tiles()).1.factors;
    let b: Vec<f64> = vector(4, 40 * a.nrows());
    let expected = factors.solve_with(&b, 40, &fine(0), &()).expect("solve");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (factors, b, expected) = (&factors, &b, &expected);
            scope.spawn(move || {
                for _ in 0..3 {
                    let x = factors
                        .solve_with(b, 40, &fine(thread), &())
                        .expect("solve");
                    assert!(same(&x, expected));
                }
            });
        }
    });
}

/// All that factors are asked for, in one list of bits.
fn everything(factors: &Factors<f64>, scaled: &Scaled<f64>, workers: usize) -> Vec<u64> {
    let (symbolic, solve) = (factors.symbolic(), fine(workers));
    let (m, n) = (symbolic.nrows(), symbolic.ncols());
    let b: Vec<f64> = vector(4, 3 * m);
    let mut all = factors.solve_with(&b, 3, &solve, &()).expect("solve");
    let rotated = factors
        .apply_q_adjoint_with(&b, 3, &solve, &())
        .expect("Q kept");
    all.extend(
        factors
            .apply_q_with(&rotated, 3, &solve, &())
            .expect("Q kept"),
    );
    all.extend(&rotated.head);
    all.extend(&rotated.rest);
    all.extend(
        factors
            .solve_r_with(&rotated.head, 3, &solve, &())
            .expect("solve"),
    );
    let y = factors.solve_r_adjoint_with(&b[..3 * n], 3, &solve, &());
    all.extend(y.expect("solve"));
    all.push(factors.condition_estimate(&solve).expect("estimate"));
    all.extend(factors.trapezoid().expect("no row is split off").values());
    all.extend(factors.null_space());
    if factors.rank_details().is_full() {
        all.extend(factors.variances(&[0, n - 1], &solve).expect("variances"));
        let options = RefineOptions {
            solve,
            ..RefineOptions::default()
        };
        let (x, _) = refine(scaled, factors, &b, 3, None, &options).expect("refined");
        all.extend(x);
    }
    all.into_iter().map(f64::to_bits).collect()
}

#[test]
fn several_threads_do_everything_at_once() {
    let full: Csc<f64> = random(5, 150, 100, 500);
    let lacking = {
        // The first column again, in the place of the last.
        let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
        for col in 0..full.ncols() {
            let (rows, values) = full.col(if col == 99 { 0 } else { col });
            i.extend(rows);
            j.extend(rows.iter().map(|_| col as u32));
            v.extend(values);
        }
        Csc::from_triplets(150, 100, &i, &j, &v).expect("valid")
    };
    for a in [full, lacking] {
        let symbolic = Arc::new(analyse(a.pattern(), &small_tiles()).expect("analysis"));
        let options = FactorOptions {
            deficient: Deficient::MinimumNorm,
            ..run_options(2, true)
        };
        let done = factorize(&symbolic, &a, &[], 0, &options, &()).expect("finite");
        let (factors, scaled) = (done.factors, Scaled::evenly(&a));
        let expected = everything(&factors, &scaled, 0);
        std::thread::scope(|scope| {
            for thread in 0..6 {
                let (factors, scaled, expected) = (&factors, &scaled, &expected);
                scope.spawn(move || {
                    for round in 0..4 {
                        let found = everything(factors, scaled, (thread + round) % 3);
                        assert!(found == *expected, "thread {thread}, round {round}");
                    }
                });
            }
        });
    }
}

/// Notes what runs, and cancels when so many tasks are done.
#[derive(Default)]
struct Watch {
    cancel: Option<(CancelHandle, usize)>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    scheduler: &'static str,
    codelets: Vec<String>,
    tasks: Vec<TaskRecord>,
}

struct Notes<'a>(&'a Watch);

impl<'a> Observer for &'a Watch {
    type Track = Notes<'a>;
    fn begin(&self, run: &RunInfo<'_>) {
        let mut seen = self.seen.lock().expect("not poisoned");
        seen.scheduler = run.scheduler;
        seen.codelets = run.codelets.iter().map(|c| (*c).to_owned()).collect();
    }
    fn attach(&self, _: Lane) -> Notes<'a> {
        Notes(self)
    }
    fn detach(&self, _: Notes<'a>) {}
    fn clock(&self) -> u64 {
        0
    }
}

impl Track for Notes<'_> {
    fn submitted(&mut self, _: TaskId, _: &TaskSpec, _: u64) {}
    fn task(&mut self, record: &TaskRecord) {
        let mut seen = self.0.seen.lock().expect("not poisoned");
        seen.tasks.push(*record);
        if let Some((cancel, after)) = &self.0.cancel
            && seen.tasks.len() == *after
        {
            cancel.cancel();
        }
    }
    fn memory(&mut self, _: &MemoryRecord) {}
    fn state(&mut self, _: &StateRecord) {}
}

#[test]
fn a_cancelled_solve_ends_with_an_error_or_the_whole_result() {
    let a = gallery::make("grid3d-5").expect("gallery").matrix;
    let factors = factor(&a, &small_tiles()).1.factors;
    let b: Vec<f64> = vector(4, 33 * a.nrows());
    let expected = factors.solve(&b, 33).expect("solve");
    let mut ended = 0;
    for workers in [0, 2] {
        for after in (0..60).chain([100_000]) {
            let options = fine(workers);
            let cancel = options.run.cancel.clone();
            if after == 0 {
                cancel.cancel();
            }
            let watch = Watch {
                cancel: Some((cancel, after)),
                ..Watch::default()
            };
            match factors.solve_with(&b, 33, &options, &&watch) {
                Ok(x) => assert!(same(&x, &expected)),
                Err(SolveError::Run(RunError::Cancelled)) => ended += 1,
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert!(ended > 50, "{ended} were cancelled");
    // The factors are as they were.
    assert!(same(&factors.solve(&b, 33).expect("solve"), &expected));
}

#[test]
fn a_fault_in_any_task_or_allocation_is_an_error() {
    let a = gallery::make("grid3d-5").expect("gallery").matrix;
    let factors = factor(&a, &small_tiles()).1.factors;
    let b: Vec<f64> = vector(4, a.nrows());
    let expected = factors.solve(&b, 1).expect("solve");
    for workers in [0, 2] {
        let mut errors = [0, 0];
        for k in 0..200 {
            for (kind, errors) in errors.iter_mut().enumerate() {
                let mut options = fine(workers);
                if kind == 0 {
                    options.run.faults.panic_in_task = Some(k);
                } else {
                    options.run.faults.fail_allocation = Some(k.into());
                }
                match factors.solve_with(&b, 1, &options, &()) {
                    Ok(x) => assert!(same(&x, &expected)),
                    Err(SolveError::Run(
                        RunError::TaskPanicked { codelet, .. }
                        | RunError::OutOfMemory { codelet, .. },
                    )) => {
                        assert!(SOLVE_CODELETS.contains(&codelet));
                        *errors += 1;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
        assert!(errors.iter().all(|&e| e > 10 && e < 200), "{errors:?}");
    }
}

#[test]
fn tasks_say_what_they_do() {
    let a = gallery::make("grid3d-8").expect("gallery").matrix;
    let (symbolic, factored) = factor(&a, &small_tiles());
    let b: Vec<f64> = vector(4, 33 * a.nrows());
    for workers in [0, 2] {
        let watch = Watch::default();
        let x = factored.factors.solve_with(&b, 33, &fine(workers), &&watch);
        x.expect("solve");
        let seen = watch.seen.into_inner().expect("not poisoned");
        assert_eq!(seen.codelets, SOLVE_CODELETS);
        // Without singletons all entries of R are in fronts.
        assert_eq!(symbolic.singletons(), 0);
        let flops: u64 = seen.tasks.iter().map(|t| t.flops).sum();
        assert_eq!(flops, 33 * (4 * symbolic.nnz_h() + 2 * symbolic.nnz_r()));
        let of = |name: &str| {
            let of = seen.tasks.iter();
            of.filter(|t| seen.codelets[t.codelet.0 as usize] == name)
                .count()
        };
        let fronts = symbolic.fronts().len();
        let counts: Vec<usize> = SOLVE_CODELETS.iter().map(|name| of(name)).collect();
        assert_eq!(counts, [3 * fronts, 3 * fronts, 0, 0, 3, 3]);
    }
}

#[test]
fn little_work_stays_on_the_calling_thread() {
    let scheduler = |name: &str, nrhs: usize, threads: usize| {
        let a = gallery::make(name).expect("gallery").matrix;
        let factors = factor(&a, &options(|_| ())).1.factors;
        let watch = Watch::default();
        let solve = SolveOptions::from(&FactorOptions {
            run: Config {
                bind: false,
                ..Config::with_threads(threads)
            },
            ..FactorOptions::default()
        });
        let b: Vec<f64> = vector(4, nrhs * a.nrows());
        factors
            .solve_with(&b, nrhs, &solve, &&watch)
            .expect("solve");
        watch.seen.into_inner().expect("not poisoned").scheduler
    };
    assert_eq!(scheduler("grid3d-6", 1, 2), "sequential");
    assert_eq!(scheduler("grid3d-12", 256, 1), "sequential");
    assert_ne!(scheduler("grid3d-12", 256, 2), "sequential");
}

/// The same with every ninth row and column equal to an earlier one: not of full rank.
fn repeating<T: Scalar>(a: &Csc<T>) -> Csc<T> {
    let source = |k: usize| if k % 9 == 8 { k - 5 } else { k };
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    for col in 0..a.ncols() {
        let (rows, values) = a.col(source(col));
        for row in 0..a.nrows() {
            if let Ok(at) = rows.binary_search(&(source(row) as u32)) {
                i.push(row as u32);
                j.push(col as u32);
                v.push(values[at]);
            }
        }
    }
    Csc::from_triplets(a.nrows(), a.ncols(), &i, &j, &v).expect("triplets")
}
