//! Sparse right-hand sides and chosen entries of x: the same numbers as from dense solves, and no work beyond the part of the
//! tree that they touch.

use super::*;
use std::collections::BTreeSet;
use treeqr_solver::{Deficient, Rotated};

/// Columns with no, one, two or three nonzeros.
fn columns<T: Scalar>(seed: u64, rows: usize, cols: usize) -> Csc<T> {
    let mut rng = Rng(seed);
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    for col in 0..cols {
        let chosen: BTreeSet<usize> = (0..rng.below(4)).map(|_| rng.below(rows)).collect();
        for row in chosen {
            i.push(row as u32);
            j.push(col as u32);
            v.push(rng.scalar::<T>());
        }
    }
    Csc::from_triplets(rows, cols, &i, &j, &v).expect("triplets")
}

fn spread<T: Scalar>(b: &Csc<T>) -> Vec<T> {
    let mut out = vec![T::zero(); b.nrows() * b.ncols()];
    for k in 0..b.ncols() {
        let (rows, values) = b.col(k);
        for (&i, &value) in rows.iter().zip(values) {
            out[k * b.nrows() + i as usize] = value;
        }
    }
    out
}

fn chosen<T: Copy>(x: &[T], len: usize, wanted: &[usize]) -> Vec<T> {
    let columns = x.chunks_exact(len);
    let of = columns.flat_map(|x| wanted.iter().map(|&j| x[j]));
    of.collect()
}

/// Every restricted solve against the one that it restricts.
fn check<T: FactorScalar>(name: &str, factors: &Factors<T>, symbolic: &Symbolic, nrhs: usize) {
    let (m, n) = (symbolic.nrows(), symbolic.ncols());
    let (rows, cols) = (m.max(n), m.min(n));
    let b = columns::<T>(3, m, nrhs);
    let tall = columns::<T>(4, rows, nrhs);
    let c = columns::<T>(5, cols, nrhs);
    let with_rest = columns::<T>(6, cols + symbolic.rest_rows(), nrhs);
    let wanted: Vec<usize> = [n / 3, n - 1, n / 3, n / 2].into();
    let few: Vec<usize> = [cols / 2, 0].into();
    let x = factors.solve(&spread(&b), nrhs).expect("solve");
    let rotated = factors.apply_q_adjoint(&spread(&tall), nrhs).expect("Q");
    let y = factors.solve_r_adjoint(&spread(&c), nrhs).expect("R");
    let z = factors.solve_r(&spread(&c), nrhs).expect("R");
    let q = factors.apply_q(&head_only(spread(&c)), nrhs).expect("Q");
    let columns_of = spread(&with_rest);
    let columns_of = columns_of.chunks_exact(with_rest.nrows());
    let both = Rotated {
        head: columns_of
            .clone()
            .flat_map(|c| c[..cols].to_vec())
            .collect(),
        rest: columns_of.flat_map(|c| c[cols..].to_vec()).collect(),
    };
    let q_rest = factors.apply_q(&both, nrhs).expect("Q");
    let dense = spread(&b);
    for workers in [0, 2] {
        for grain in [
            Duration::ZERO,
            Duration::from_micros(2),
            Duration::from_secs(1),
        ] {
            let o = &SolveOptions {
                grain: Some(grain),
                ..fine(workers)
            };
            let equal = |what: &str, found: Result<Vec<T>, SolveError>, expected: &[T]| {
                let found = found.expect(what);
                assert!(
                    same(&found, expected),
                    "{name}, {workers}, {grain:?}: {what}"
                );
            };
            equal("solve_sparse", factors.solve_sparse(&b, o, &()), &x);
            let some = factors.solve_entries(&dense, nrhs, &wanted, o, &());
            equal("solve_entries", some, &chosen(&x, n, &wanted));
            let found = factors.apply_q_adjoint_sparse(&tall, o, &()).expect("Q");
            assert!(same(&found.head, &rotated.head), "{name}: head");
            assert!(same(&found.rest, &rotated.rest), "{name}: rest");
            equal("apply_q", factors.apply_q_sparse(&c, o, &()), &q);
            let found = factors.apply_q_sparse(&with_rest, o, &());
            equal("apply_q, with rest", found, &q_rest);
            equal("solve_r", factors.solve_r_sparse(&c, o, &()), &z);
            let some = factors.solve_r_entries(&spread(&c), nrhs, &few, o, &());
            equal("solve_r_entries", some, &chosen(&z, cols, &few));
            let found = factors.solve_r_adjoint_sparse(&c, o, &());
            equal("solve_r_adjoint", found, &y);
        }
    }
}

#[test]
fn restricted_solves_give_what_the_whole_ones_give() {
    fn all<T: FactorScalar>() {
        for (name, a) in matrices::<T>() {
            for o in [options(|o| o.ordering = "natural".into()), small_tiles()] {
                let (symbolic, factored) = factor(&a, &o);
                let name = format!("{} {name}", T::NAME);
                check(&name, &factored.factors, &symbolic, 19);
                check(&name, &factored.factors, &symbolic, 1);
            }
        }
    }
    all::<f32>();
    all::<f64>();
    all::<c32>();
    all::<c64>();
}

#[test]
fn where_the_rank_is_not_full_too() {
    for (m, n) in [(70, 40), (40, 70), (50, 50)] {
        let a: Csc<c64> = random(5, m, n, 120);
        let a = repeating(&a);
        for deficient in [Deficient::Basic, Deficient::MinimumNorm] {
            let symbolic = treeqr_solver::analyse(a.pattern(), &small_tiles()).expect("analysis");
            let symbolic = std::sync::Arc::new(symbolic);
            let keep = FactorOptions {
                deficient,
                ..run_options(2, true)
            };
            let factors = factorize(&symbolic, &a, &[], 0, &keep, &()).expect("factors");
            let factors = factors.factors;
            assert!(factors.rank() < m.min(n));
            check("deficient", &factors, &symbolic, 3);
        }
    }
}

#[test]
fn faults_of_sparse_right_hand_sides_are_errors() {
    let a: Csc<f64> = random(1, 20, 10, 40);
    let factors = factor(&a, &options(|_| ())).1.factors;
    let o = &SolveOptions::default();
    let short = factors.solve_sparse(&columns(1, 19, 2), o, &());
    assert!(matches!(
        short,
        Err(SolveError::RhsLength { nrows: 20, .. })
    ));
    let bad = Csc::from_triplets(20, 2, &[7], &[1], &[f64::NAN]).expect("triplets");
    let bad = factors.solve_sparse(&bad, o, &());
    assert!(matches!(
        bad,
        Err(SolveError::RhsNotFinite { row: 8, col: 2 })
    ));
    let none = factors.solve_sparse(&columns(1, 20, 0), o, &());
    assert!(none.expect("nothing").is_empty());
    let none = factors.solve_entries(&vector(1, 20), 1, &[], o, &());
    assert!(none.expect("nothing").is_empty());
}

/// What ran: fronts of the sweep tasks, and flops.
fn ran(watch: Watch) -> (usize, u64) {
    let seen = watch.seen.into_inner().expect("not poisoned");
    let sweeps = seen.tasks.iter().filter(|t| t.codelet.0 < 4);
    (
        sweeps.clone().map(|t| t.params[3] as usize).sum(),
        sweeps.map(|t| t.flops).sum(),
    )
}

/// The front that eliminates a column, and those above it.
fn path(symbolic: &Symbolic, column: u32) -> Vec<usize> {
    let position = symbolic.column_order().position(|c| c == column);
    let pivot = (position.expect("a column") - symbolic.singletons()) as u32;
    let fronts = symbolic.fronts();
    let own = (0..fronts.len()).find(|&f| {
        let first = fronts[f].first_pivot;
        (first..first + fronts[f].npiv).contains(&pivot)
    });
    let mut out = vec![own.expect("no singleton")];
    while let Some(p) = fronts[*out.last().expect("not empty")].parent {
        out.push(p as usize);
    }
    out
}

#[test]
fn only_the_ways_to_the_roots_are_gone() {
    let grid = gallery::make("grid3d-7").expect("gallery").matrix;
    let forest = matrices::<f64>().into_iter().find(|m| m.0 == "a forest");
    for (name, a) in [("grid", grid), ("forest", forest.expect("there").1)] {
        let (symbolic, factored) = factor(&a, &small_tiles());
        assert_eq!(symbolic.singletons(), 0);
        let (factors, fronts) = (factored.factors, symbolic.fronts());
        let r = |list: &BTreeSet<usize>| {
            let entries = list.iter().map(|&f| fronts[f].r_entries());
            entries.sum::<usize>() as u64
        };
        let mut shorter = 0;
        for column in (0..a.ncols()).step_by(5) {
            let way: BTreeSet<usize> = path(&symbolic, column as u32).into_iter().collect();
            shorter += usize::from(way.len() < fronts.len());
            let unit = Csc::from_triplets(a.ncols(), 1, &[column as u32], &[0], &[1.0]);
            let unit = unit.expect("triplets");
            for workers in [0, 2] {
                let watch = Watch::default();
                let y = factors.solve_r_adjoint_sparse(&unit, &fine(workers), &&watch);
                y.expect("solve");
                assert_eq!(ran(watch), (way.len(), 2 * r(&way)), "{name}: R^H");
                let watch = Watch::default();
                let c = vector(1, a.ncols());
                let x = factors.solve_r_entries(&c, 1, &[column], &fine(workers), &&watch);
                x.expect("solve");
                assert_eq!(ran(watch), (way.len(), 2 * r(&way)), "{name}: R");
            }
            let plan = factors.plan_solve_r_adjoint_sparse(&unit, &fine(0));
            assert_eq!(plan.flops, 2 * r(&way));
            assert_eq!(plan.task_count(), 1 + way.len() as u64);
            // Two columns far from each other, in one block: what they share is gone once.
            let other = (column + a.ncols() / 2) % a.ncols();
            let both = way
                .iter()
                .copied()
                .chain(path(&symbolic, other as u32))
                .collect();
            let plan = factors.plan_solve_entries(1, &[column, other], &fine(0));
            let up: u64 = plan.expect("Q kept").tasks[1];
            let both: BTreeSet<usize> = both;
            assert_eq!(up, both.len() as u64);
        }
        assert!(shorter > 3, "{name}");
    }
}

#[test]
fn blocks_have_parts_of_their_own() {
    let forest = matrices::<f64>().into_iter().find(|m| m.0 == "a forest");
    let a = forest.expect("there").1;
    let (symbolic, factored) = factor(&a, &small_tiles());
    let factors = factored.factors;
    // 16 right-hand sides in the first tree, and 16 in the last: each block sees one of nine.
    let rows: Vec<u32> = (0..16)
        .map(|k| k % 7)
        .chain((0..16).map(|k| 80 + k % 7))
        .collect();
    let cols: Vec<u32> = (0..32).collect();
    let b = Csc::from_triplets(95, 32, &rows, &cols, &[1.0; 32]).expect("triplets");
    let plan = factors.plan_solve_sparse(&b, &fine(0)).expect("Q kept");
    let whole = factors.plan_solve(32, &fine(0)).expect("Q kept");
    let fronts = symbolic.fronts().len() as u64;
    assert_eq!(whole.tasks[..2], [2 * fronts; 2]);
    assert_eq!(9 * plan.flops, whole.flops);
    assert_eq!(plan.tasks[0], plan.tasks[1]);
    assert_eq!(9 * plan.tasks[0], whole.tasks[0]);
    let x = factors.solve_sparse(&b, &fine(2), &()).expect("solve");
    let dense = factors.solve(&spread(&b), 32).expect("solve");
    assert!(same(&x, &dense));
}
