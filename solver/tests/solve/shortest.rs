//! The shortest solutions for wide matrices from R alone, against those with Q.

use super::*;
use treeqr_solver::Shortest;

fn factors_without_q<T: FactorScalar>(a: &Csc<T>, o: &Options, threads: usize) -> Factors<T> {
    let symbolic = Arc::new(analyse(a.pattern(), o).expect("analysis"));
    let done = factorize(&symbolic, a, &[], 0, &run_options(threads, false), &());
    done.expect("finite").factors
}

fn length<T: Scalar>(x: &[T]) -> f64 {
    x.iter().map(|v| v.abs2().to_f64()).sum::<f64>().sqrt()
}

/// Rows of `a`, and `extra` more that are sums of two of them.
fn with_dependent_rows<T: FactorScalar>(a: &Csc<T>, extra: usize) -> Csc<T> {
    let rows = a.adjoint();
    let mut rng = Rng(3);
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..a.nrows() + extra {
        let from = match row < a.nrows() {
            true => vec![row],
            false => vec![rng.below(a.nrows()), rng.below(a.nrows())],
        };
        for k in from {
            let (columns, values) = rows.col(k);
            i.extend(columns.iter().map(|_| row as u32));
            j.extend_from_slice(columns);
            v.extend(values.iter().map(|v| v.conj()));
        }
    }
    Csc::from_triplets(a.nrows() + extra, a.ncols(), &i, &j, &v).expect("in range")
}

/// x from R alone and from Q agree to what the condition explains, and where A x = b has a solution both leave nothing of b.
fn agrees<T: FactorScalar>() {
    let unit = T::Real::EPSILON.to_f64();
    let (mut tried, mut deficient) = (0, 0);
    for (name, a) in matrices::<T>() {
        if a.nrows() >= a.ncols() {
            continue;
        }
        let dependent = with_dependent_rows(&a, 4.min((a.ncols() - a.nrows()) / 2));
        for a in [a, dependent] {
            for o in [Options::default(), small_tiles()] {
                let (m, n) = (a.nrows(), a.ncols());
                let known = factor(&a, &o).1.factors;
                let factors = factors_without_q(&a, &o, 2);
                assert!(!factors.has_q());
                let rank = factors.rank_details();
                let condition = match rank.is_full() {
                    true => factors.condition_estimate(&fine(0)).expect("estimate"),
                    false => rank.condition.expect("columns are dead"),
                };
                if condition * unit.sqrt() > 1.0 {
                    continue;
                }
                (tried, deficient) = (tried + 1, deficient + usize::from(!rank.is_full()));
                // One in the range of A, and others that only are where the rank is full.
                let mut b: Vec<T> = vector(8, 18 * m);
                b[..m].fill(T::zero());
                a.mul_add(T::one(), &vector::<T>(5, n), &mut b[..m]);
                let x = factors
                    .solve_shortest(&a, &b, 18, &fine(2))
                    .expect("solved");
                let expected = known.solve(&b, 18).expect("solved");
                for (k, (x, y)) in x.chunks_exact(n).zip(expected.chunks_exact(n)).enumerate() {
                    let error: Vec<T> = x.iter().zip(y).map(|(&x, &y)| x - y).collect();
                    let bound = 100.0 * unit * condition * length(y);
                    assert!(length(&error) <= bound, "{name}, {k}: {condition}");
                    let mut left = b[k * m..(k + 1) * m].to_vec();
                    a.mul_add(-T::one(), x, &mut left);
                    let scale = a.norm_frobenius().to_f64() * length(x) + length(&b[k * m..][..m]);
                    let is_solvable = rank.is_full() || k == 0;
                    assert!(
                        !is_solvable || length(&left) <= 10.0 * unit * scale,
                        "{name}, {k}"
                    );
                }
            }
        }
    }
    assert!(tried > 20 && deficient > 5, "{tried} {deficient}");
}

#[test]
fn r_alone_gives_the_shortest_solutions() {
    agrees::<f64>();
    agrees::<f32>();
    agrees::<c64>();
    agrees::<c32>();
}

/// Powers of two far from 1 change nothing, and neither does the number of workers.
#[test]
fn shortest_solutions_to_the_bit() {
    let a: Csc<f64> = gallery::make("stencil27-5").expect("a name").matrix;
    let b: Vec<f64> = vector(2, 3 * a.nrows());
    let solved = |a: &Csc<f64>, b: &[f64], workers: usize| {
        let factors = factors_without_q(a, &small_tiles(), workers.max(1));
        factors
            .solve_shortest(a, b, 3, &fine(workers))
            .expect("solved")
    };
    let x = solved(&a, &b, 0);
    for workers in [1, 2, 5] {
        assert_eq!(solved(&a, &b, workers), x);
    }
    let by = |values: &mut [f64], power: i32| {
        let factor = 2f64.powi(power);
        values.iter_mut().for_each(|v| *v *= factor);
    };
    for (of_a, of_b) in [(500, -400), (-700, 100)] {
        let (mut a, mut b, mut x) = (a.clone(), b.clone(), x.clone());
        by(a.values_mut(), of_a);
        by(&mut b, of_b);
        by(&mut x, of_b - of_a);
        assert_eq!(solved(&a, &b, 2), x);
    }
}

/// What the factorization has found out about its right-hand side serves that one, to the bit, and no other.
#[test]
fn a_right_hand_side_that_was_tried_before() {
    let a = with_dependent_rows::<f64>(&random(3, 40, 60, 200), 5);
    let (m, n) = (a.nrows(), a.ncols());
    let mut solvable = vec![0.0; m];
    a.mul_add(1.0, &vector(5, n), &mut solvable);
    // What has no solution, what has one, the same up to the last bits, and one far from 1.
    let close = solvable.iter().map(|v| v * (1.0 + 1e-15)).collect();
    let far = solvable.iter().map(|v| v * 2f64.powi(-600)).collect();
    let all: [Vec<f64>; 4] = [vector(2, m), solvable, close, far];
    let symbolic = Arc::new(analyse(a.pattern(), &small_tiles()).expect("analysis"));
    let factors = |b: &[f64], keep_q: bool| {
        let (nrhs, options) = (b.len() / m, run_options(2, keep_q));
        let done = factorize(&symbolic, &a, b, nrhs, &options, &());
        done.expect("finite").factors
    };
    for first in &all {
        for b in &all {
            let (fresh, tried) = (factors(&[], false), factors(first, false));
            let solved = |of: &Factors<f64>| of.solve_shortest(&a, b, 1, &fine(2));
            let x = solved(&fresh).expect("solved");
            assert_eq!(solved(&tried).expect("solved"), x);
            assert_eq!(solved(&tried).expect("again"), x);
            let with_q = factors(&[], true).solve(b, 1).expect("solved");
            assert_eq!(factors(first, true).solve(b, 1).expect("solved"), with_q);
        }
    }
}

/// A correction follows where the first residual is that of a condition, and none where it is not.
#[test]
fn corrections_are_made_where_they_are_needed() {
    let well: Csc<f64> = random(3, 40, 60, 200);
    // Two rows that all but depend on others.
    let mut ill = with_dependent_rows(&well, 2);
    let last = ill.nrows() as u32 - 2;
    let rows = ill.pattern().rowidx().to_vec();
    for (k, (v, i)) in ill.values_mut().iter_mut().zip(rows).enumerate() {
        *v *= if i >= last {
            1.0 + 1e-7 * (k as f64).sin()
        } else {
            1.0
        };
    }
    for (a, steps) in [(&well, 1..=2), (&ill, 2..=2)] {
        let factors = factors_without_q(a, &Options::default(), 1);
        let b: Vec<f64> = vector(2, a.nrows());
        let options = fine(0);
        let mut shortest = Shortest::new(&factors, a, &b, 1, &options).expect("R alone");
        let mut count = 0;
        while !shortest.is_done() {
            assert!(shortest.plan().task_count() > 0);
            shortest.step(&()).expect("solved");
            count += 1;
        }
        assert!(steps.contains(&count), "{count}");
        shortest.finish().expect("accurate");
    }
}

#[test]
fn what_r_does_not_say_needs_q() {
    // Live rows over ten decades, and two that depend on others.
    let mut a: Csc<f64> = random(3, 40, 60, 200);
    let rows = a.pattern().rowidx().to_vec();
    for (v, i) in a.values_mut().iter_mut().zip(rows) {
        *v *= 10f64.powf(-f64::from(i) / 4.0);
    }
    let a = with_dependent_rows(&a, 2);
    let factors = factors_without_q(&a, &Options::default(), 1);
    let b: Vec<f64> = vector(2, a.nrows());
    let error = factors
        .solve_shortest(&a, &b, 1, &fine(0))
        .expect_err("ill conditioned");
    assert!(
        matches!(error, SolveError::NotRefined { condition, .. } if condition > 1e8),
        "{error}"
    );
    let error = factors.solve(&b, 1).expect_err("no Q");
    assert!(matches!(error, SolveError::NoQ { .. }));
}
