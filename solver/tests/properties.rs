//! Random patterns of every shape and rank: rank and solutions are right by an independent dense computation; never NaN, never
//! a panic.

mod common;
use common::*;
use faer::prelude::*;
use proptest::prelude::*;
use std::sync::Arc;
use treeqr_matrices::{Csc, RealScalar, Scalar, c32, c64};
use treeqr_solver::{
    Deficient, FactorOptions, FactorScalar, Factors, Options, SolveError, analyse, factorize,
    quality,
};

/// A sparse matrix from triplets that proptest can shrink; values are small integers, so exact dependence happens.
fn matrix() -> impl Strategy<Value = Csc<f64>> {
    let shape = prop_oneof![
        4 => (1usize..25, 1usize..25),
        1 => (1usize..4, 1usize..60),
        1 => (1usize..60, 1usize..4),
        1 => (1usize..20).prop_map(|n| (n, n)),
    ];
    shape.prop_flat_map(|(m, n)| {
        let entry = (
            0..m as u32,
            0..n as u32,
            prop_oneof![8 => -4i32..5, 1 => Just(0)],
        );
        let dense_rows = proptest::collection::vec(0..m as u32, 0..2);
        (proptest::collection::vec(entry, 0..4 * (m + n)), dense_rows).prop_map(
            move |(entries, dense)| {
                let mut t: Vec<(u32, u32, f64)> = entries
                    .into_iter()
                    .map(|(i, j, v)| (i, j, f64::from(v)))
                    .collect();
                t.extend(
                    dense
                        .into_iter()
                        .flat_map(|i| (0..n as u32).map(move |j| (i, j, 1.0 + f64::from(j % 3)))),
                );
                let (i, (j, v)): (Vec<_>, (Vec<_>, Vec<_>)) =
                    t.into_iter().map(|(i, j, v)| (i, (j, v))).unzip();
                Csc::from_triplets(m, n, &i, &j, &v).expect("in range")
            },
        )
    })
}

fn tiles() -> impl Strategy<Value = Options> {
    let ordering = prop_oneof![
        Just("auto"),
        Just("natural"),
        Just("colamd"),
        Just("amd"),
        Just("metis"),
        Just("nd")
    ];
    let sizes = prop_oneof![
        Just(None),
        (1u32..5, 1u32..4, 1u32..6, 0u32..4).prop_map(Some)
    ];
    (ordering, sizes).prop_map(|(ordering, sizes)| {
        options(|o| {
            o.ordering = ordering.into();
            if let Some((nb, factor, ib, bh)) = sizes {
                (o.mb, o.nb, o.ib, o.bh) = (Some(nb * factor), Some(nb), Some(ib), Some(bh));
            }
        })
    })
}

fn dense(a: &Csc<f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), a.ncols());
    for j in 0..a.ncols() {
        let (rows, values) = a.col(j);
        for (&i, &v) in rows.iter().zip(values) {
            out[(i as usize, j)] = v;
        }
    }
    out
}

/// The least-squares (or minimum-norm) solution and the rank by the singular value decomposition.
fn by_svd(a: &Csc<f64>, b: &[f64]) -> (Vec<f64>, usize, f64) {
    let svd = dense(a).thin_svd().expect("converges");
    let s: Vec<f64> = svd.S().column_vector().iter().copied().collect();
    let largest = s.first().copied().unwrap_or(0.0);
    let rank = s.iter().filter(|&&x| x > 1e-10 * largest).count();
    let mut x = vec![0.0; a.ncols()];
    for (k, &sigma) in s.iter().enumerate().take(rank) {
        let dot: f64 = (0..a.nrows()).map(|i| svd.U()[(i, k)] * b[i]).sum();
        for (i, xi) in x.iter_mut().enumerate() {
            *xi += svd.V()[(i, k)] * dot / sigma;
        }
    }
    let smallest = if rank > 0 { s[rank - 1] / largest } else { 0.0 };
    (x, rank, smallest)
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// The residual norm of x.
fn residual(a: &Csc<f64>, x: &[f64], b: &[f64]) -> f64 {
    let mut r = b.to_vec();
    a.mul_add(-1.0, x, &mut r);
    norm(&r)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ranks_and_solutions_are_those_of_the_svd(a in matrix(), o in tiles(), seed in 0u64..1000) {
        let b: Vec<f64> = vector(seed, a.nrows());
        let (expected, rank, conditioning) = by_svd(&a, &b);
        let full = a.nrows().min(a.ncols());
        let symbolic = Arc::new(analyse(a.pattern(), &o).expect("a matrix with rows and columns"));
        for deficient in [Deficient::Basic, Deficient::MinimumNorm] {
            let options = FactorOptions { deficient, ..run_options(2, true) };
            let factors = factorize(&symbolic, &a, &[], 0, &options, &()).expect("finite").factors;
            prop_assert_eq!(factors.rank(), rank);
            prop_assert_eq!(factors.dead_columns().len(), full - rank);
            prop_assert!(factors.dropped_norm() <= factors.rank_details().tolerance * (full as f64).sqrt());
            let mut solutions = vec![factors.solve(&b, 1).expect("finite")];
            if !symbolic.transposed() {
                // b carried along, nothing of Q kept.
                let options = FactorOptions { keep_q: false, ..options };
                let lean = factorize(&symbolic, &a, &b, 1, &options, &()).expect("finite").factors;
                prop_assert_eq!(lean.rank_details(), factors.rank_details());
                solutions.push(lean.solution().expect("finite"));
            }
            for x in solutions {
                prop_assert!(x.iter().all(|v| v.is_finite()));
                let scale = norm(&expected).max(1e-3);
                let shortest = rank == full || symbolic.transposed() || deficient == Deficient::MinimumNorm;
                if shortest {
                    for (p, q) in x.iter().zip(&expected) {
                        prop_assert!((p - q).abs() <= 1e-11 * scale / (conditioning * conditioning), "{} and {}", p, q);
                    }
                } else {
                    let dead = factors.dead_columns().iter();
                    prop_assert!(dead.clone().all(|&j| x[j as usize] == 0.0));
                }
                // As small a residual as that of the SVD, and orthogonal to the columns, up to rounding of the size of
                // ||A|| (||A|| ||x|| + ||b||), however small r is.
                let q = quality(&a, &x, &b);
                let size = a.norm_frobenius() * q.solution_norm + norm(&b);
                let best = residual(&a, &expected, &b);
                prop_assert!((q.residual_norm - best).abs() <= 1e-12 * size / conditioning, "{} and {}", q.residual_norm, best);
                if rank == full {
                    let bound = if q.consistent { 1e-13 } else { 1e-14 * size / q.residual_norm };
                    prop_assert!(q.normal_residual <= bound, "{:?}", q);
                }
            }
        }
    }

    #[test]
    fn refused_columns_depend_on_others(a in matrix(), o in tiles()) {
        let rank = by_svd(&a, &vec![0.0; a.nrows()]).1;
        let symbolic = Arc::new(analyse(a.pattern(), &o).expect("a matrix with rows and columns"));
        let options = FactorOptions { deficient: Deficient::Refuse, ..run_options(2, true) };
        match factorize(&symbolic, &a, &[], 0, &options, &()) {
            Ok(factored) => {
                prop_assert_eq!(rank, a.nrows().min(a.ncols()));
                prop_assert_eq!(factored.factors.rank(), rank);
            }
            Err(SolveError::RankDeficient { what, index, .. }) => {
                prop_assert!(rank < a.nrows().min(a.ncols()));
                prop_assert_eq!(what, if a.nrows() < a.ncols() { "row" } else { "column" });
                // Leaving the named one out must leave the rank as it is: it depends on the others.
                prop_assert!(depends(&a, what, index - 1), "{} {} does not depend on the others", what, index);
            }
            Err(e) => prop_assert!(false, "{}", e),
        }
    }
}

/// Whether a column (or row) depends on the others: the rank stays without it.
fn depends(a: &Csc<f64>, what: &str, index: usize) -> bool {
    let mut without = a.clone();
    let rank = by_svd(a, &vec![0.0; a.nrows()]).1;
    let rows: Vec<u32> = a.pattern().rowidx().to_vec();
    let colptr = a.pattern().colptr().to_vec();
    for (p, v) in without.values_mut().iter_mut().enumerate() {
        let col = colptr.partition_point(|&s| s <= p) - 1;
        if (what == "column" && col == index) || (what == "row" && rows[p] as usize == index) {
            *v = 0.0;
        }
    }
    by_svd(&without, &vec![0.0; a.nrows()]).1 == rank
}

#[test]
fn special_shapes() {
    // 1 x 1; a zero that is stored; an empty column of a tall matrix; an empty column of a wide one.
    let solve = |m, n, i: &[u32], j: &[u32], v: &[f64], b: &[f64]| {
        let a = Csc::from_triplets(m, n, i, j, v).expect("in range");
        let symbolic = Arc::new(analyse(a.pattern(), &options(|_| ())).expect("analysis"));
        factorize(&symbolic, &a, &[], 0, &run_options(1, true), &())
            .map(|f| (f.factors.solve(b, 1).expect("solve"), f.factors.rank()))
            .expect("finite")
    };
    assert_eq!(solve(1, 1, &[0], &[0], &[2.0], &[6.0]), (vec![3.0], 1));
    assert_eq!(solve(1, 1, &[0], &[0], &[0.0], &[1.0]), (vec![0.0], 0));
    let (x, rank) = solve(3, 2, &[0, 1, 2], &[0, 0, 0], &[1.0, 2.0, 3.0], &[1.0; 3]);
    assert!(rank == 1 && (x[0] - 6.0 / 14.0).abs() < 1e-15 && x[1] == 0.0);
    assert_eq!(solve(2, 2, &[], &[], &[], &[1.0; 2]), (vec![0.0; 2], 0));
    let (x, rank) = solve(2, 3, &[0, 0], &[0, 2], &[1.0, 1.0], &[1.0; 2]);
    assert!(rank == 1 && (x[0] - 0.5).abs() < 1e-15 && x[1] == 0.0 && (x[2] - 0.5).abs() < 1e-15);
    let (wide, rank) = solve(1, 3, &[0, 0], &[0, 2], &[3.0, 4.0], &[25.0]);
    assert_eq!(rank, 1);
    assert!(
        (wide[0] - 3.0).abs() < 1e-14 && wide[1] == 0.0 && (wide[2] - 4.0).abs() < 1e-14,
        "{wide:?}"
    );
}

#[test]
fn bad_input_is_an_error() {
    let a: Csc<f64> = random(1, 6, 4, 8);
    let symbolic = Arc::new(analyse(a.pattern(), &options(|_| ())).expect("analysis"));
    let run = run_options(1, false);
    let go = |a: &Csc<f64>, b: &[f64]| match factorize(&symbolic, a, b, 1, &run, &()) {
        Ok(_) => panic!("accepted"),
        Err(e) => e.to_string(),
    };
    let mut nan = a.clone();
    nan.values_mut()[0] = f64::NAN;
    assert!(go(&nan, &[1.0; 6]).contains("not finite at row"));
    let mut b = [1.0; 6];
    b[2] = f64::INFINITY;
    assert!(go(&a, &b).contains("row 3, column 1"));
    assert!(go(&a, &[1.0; 5]).contains("5 entries"));
    assert!(go(&random(2, 6, 4, 8), &[1.0; 6]).contains("pattern"));
    let unknown = analyse(a.pattern(), &options(|o| o.ordering = "best".into()))
        .expect_err("unknown")
        .to_string();
    assert!(
        unknown.contains("colamd") && unknown.contains("metis"),
        "{unknown}"
    );
    let twice = options(|o| o.given_order = Some(Arc::new(vec![0, 1, 1, 2])));
    assert!(
        analyse(a.pattern(), &twice)
            .expect_err("no permutation")
            .to_string()
            .contains("twice")
    );
    let tiles = options(|o| (o.mb, o.nb) = (Some(10), Some(4)));
    assert!(
        analyse(a.pattern(), &tiles)
            .expect_err("tiles")
            .to_string()
            .contains("multiple")
    );
}

#[test]
fn a_given_order_is_followed() {
    let a: Csc<f64> = random(5, 30, 12, 60);
    let order: Vec<u32> = (0..12).rev().collect();
    let o = options(|o| o.given_order = Some(Arc::new(order)));
    let (symbolic, factored) = factor(&a, &o);
    assert_eq!(symbolic.ordering(), "given");
    let (backward, loss) = ratios(&a, &symbolic, &factored);
    assert!(backward < 30.0 && loss < 30.0);
}

/// As in LAPACK's test programs: ratios below 30, for all shapes, of matrices as sparse as a diagonal and as full as they can be.
fn ratios_over_a_grid<T: FactorScalar>() {
    let sizes = [1, 2, 3, 5, 10, 16, 50];
    let small = options(|o| (o.mb, o.nb, o.ib, o.bh) = (Some(6), Some(3), Some(2), Some(2)));
    for (seed, (m, n)) in sizes
        .iter()
        .flat_map(|&m| sizes.map(|n| (m, n)))
        .enumerate()
    {
        for extra in [0, m + n, 8 * m * n] {
            for o in [options(|_| ()), small.clone()] {
                let a: Csc<T> = random(seed as u64, m, n, extra);
                let (symbolic, done) = factor(&a, &o);
                let (backward, loss) = ratios(&a, &symbolic, &done);
                let place = format!("{} {m} x {n}, {extra}", T::NAME);
                assert!(
                    backward < 30.0 && loss < 30.0,
                    "{place}: {backward}, {loss}"
                );
                let solved = solution_ratio(&a, &done.factors);
                assert!(solved < 30.0, "{place}: {solved}");
            }
        }
    }
}

/// ||A^H r|| / (||A|| (||A|| ||x|| + ||b||) max(m, n) eps); where A is not tall ||r|| over the same without one ||A||.
fn solution_ratio<T: FactorScalar>(a: &Csc<T>, factors: &Factors<T>) -> f64 {
    let b: Vec<T> = vector(3, a.nrows());
    let x = factors.solve(&b, 1).expect("solved");
    let length = |x: &[T]| treeqr_matrices::norm2(x).to_f64();
    let (norm, eps) = (a.norm_frobenius().to_f64(), T::Real::EPSILON.to_f64());
    let mut r = b.clone();
    a.mul_add(-T::one(), &x, &mut r);
    let largest = a.nrows().max(a.ncols()) as f64;
    let size = (norm * length(&x) + length(&b)) * largest * eps;
    if a.nrows() <= a.ncols() {
        return length(&r) / size;
    }
    let mut g = vec![T::zero(); a.ncols()];
    a.adjoint_mul_add(T::one(), &r, &mut g);
    length(&g) / (norm * size)
}

#[test]
fn ratios_are_small_in_every_scalar() {
    ratios_over_a_grid::<f64>();
    ratios_over_a_grid::<f32>();
    ratios_over_a_grid::<c64>();
    ratios_over_a_grid::<c32>();
}

/// v 2^by, in steps that are powers of two of every format; exact, but for what the format does not hold.
fn times_power<T: Scalar>(values: &[T], by: i32) -> Vec<T> {
    let mut out = values.to_vec();
    let step = 100 * by.signum();
    let mut left = by;
    while left != 0 {
        let part = if left.abs() > 100 { step } else { left };
        let power = T::Real::from_f64(2f64.powi(part), 0.0);
        out.iter_mut().for_each(|v| *v = v.scale(power));
        left -= part;
    }
    out
}

/// Powers of two change the exponents of x and of the rank's figures, and no bit beside: also where squares leave the format,
/// and where all numbers are denormal, which workers flush to zero.
fn powers_of_two_are_exact<T: FactorScalar>(powers: &[i32], denormal: i32) {
    let deficient = {
        // Every third column twice that before it.
        let a: Csc<T> = random(9, 50, 30, 100);
        let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
        for col in 0..30 {
            let from = if col % 3 == 2 { col - 1 } else { col };
            let (rows, values) = a.col(from);
            let by = T::from_f64(if from == col { 1.0 } else { 2.0 }, 0.0);
            i.extend_from_slice(rows);
            j.extend(rows.iter().map(|_| col as u32));
            v.extend(values.iter().map(|&v| by * v));
        }
        Csc::from_triplets(50, 30, &i, &j, &v).expect("in range")
    };
    let whole = options(|_| ());
    let tiles = options(|o| (o.mb, o.nb, o.ib) = (Some(8), Some(4), Some(2)));
    let orders = ["natural", "colamd", "amd", "metis", "nd"].map(|name| {
        options(|o| {
            o.ordering = name.into();
            (o.mb, o.nb, o.ib) = (Some(8), Some(4), Some(2));
        })
    });
    let matrices = [
        (random(1, 40, 25, 120), &whole),
        (random(2, 25, 40, 120), &tiles),
        (random(3, 30, 30, 120), &whole),
        (deficient.adjoint(), &tiles),
        (deficient.clone(), &whole),
    ];
    // What rounding leaves of a dependent column depends on the order.
    let of_wide = orders.iter().map(|o| (deficient.adjoint(), o));
    for (a, o) in matrices.into_iter().chain(of_wide) {
        let a = &a;
        let symbolic = Arc::new(analyse(a.pattern(), o).expect("analysis"));
        let solve = |a: &Csc<T>, b: &[T]| {
            let run = run_options(2, true);
            let done = factorize(&symbolic, a, &[], 0, &run, &()).expect("finite");
            let x = done.factors.solve(b, 2).expect("finite");
            if !symbolic.transposed() {
                let run = run_options(2, false);
                let lean = factorize(&symbolic, a, b, 2, &run, &()).expect("finite");
                let y = lean.factors.solution().expect("finite");
                let difference: Vec<T> = x.iter().zip(&y).map(|(&x, &y)| x - y).collect();
                let length = |x: &[T]| treeqr_matrices::norm2(x).to_f64();
                assert!(length(&difference) <= 1e-4 * length(&x));
            }
            (x, done.factors)
        };
        let scaled = |by: i32| {
            Csc::new(a.pattern().clone(), times_power(a.values(), by)).expect("a value for each")
        };
        let b: Vec<T> = vector(4, 2 * a.nrows());
        let (x, factors) = solve(a, &b);
        let c: Vec<T> = vector(5, a.nrows().min(a.ncols()));
        let r_inverse = factors.solve_r(&c, 1).expect("solved");
        for &by in powers {
            let (y, other) = solve(&scaled(by), &times_power(&b, by));
            assert!(y == x, "{} 2^{by}: x", T::NAME);
            let (was, is) = (factors.rank_details(), other.rank_details());
            assert_eq!(was.dead, is.dead);
            let figures = |r: &treeqr_solver::Rank| {
                [r.tolerance, r.smallest_pivot, r.dropped_norm].map(f64::to_bits)
            };
            let moved = times_power(&[is.tolerance, is.smallest_pivot, is.dropped_norm], -by);
            // Beyond, the figures themselves are denormal.
            if by.abs() <= 700 {
                assert_eq!(figures(was)[..2], [moved[0], moved[1]].map(f64::to_bits));
            }
            if by.abs() <= powers[0].abs() / 2 {
                // Columns of b by themselves; R alone.
                let mut mixed = times_power(&b[..a.nrows()], by);
                mixed.extend_from_slice(&b[a.nrows()..]);
                let y = other.solve(&mixed, 2).expect("finite");
                let (first, second) = x.split_at(a.ncols());
                assert!(y[..a.ncols()] == *first);
                assert!(y[a.ncols()..] == times_power(second, -by)[..]);
                let z = other.solve_r(&c, 1).expect("solved");
                assert!(z == times_power(&r_inverse, -by), "{} 2^{by}: R", T::NAME);
            }
        }

        // Q and Q^H of vectors that are as far from 1: the same numbers, and denormal ones do not vanish.
        let w = a.nrows().max(a.ncols());
        let v: Vec<T> = vector(6, w);
        let rotated = factors.apply_q_adjoint(&v, 1).expect("Q kept");
        let back = factors.apply_q(&rotated, 1).expect("Q kept");
        for &by in powers.iter().filter(|by| by.abs() <= powers[2].abs()) {
            let moved = factors
                .apply_q_adjoint(&times_power(&v, by), 1)
                .expect("Q kept");
            assert!(
                moved.head == times_power(&rotated.head, by),
                "{} 2^{by}: Q^H",
                T::NAME
            );
            assert!(moved.rest == times_power(&rotated.rest, by));
            let moved = factors.apply_q(&moved, 1).expect("Q kept");
            assert!(moved == times_power(&back, by), "{} 2^{by}: Q", T::NAME);
        }
        let tiny = times_power(&v, denormal);
        let there = factors.apply_q_adjoint(&tiny, 1).expect("Q kept");
        let and_back = times_power(&factors.apply_q(&there, 1).expect("Q kept"), -denormal);
        let lost = and_back
            .iter()
            .zip(&v)
            .map(|(&x, &v)| (x - v).abs().to_f64());
        // Bits of the least denormal number, as many times as an entry is made of others.
        let least = if size_of::<T::Real>() == 8 {
            -1074
        } else {
            -149
        };
        let bound = w as f64 * 2f64.powi(least - denormal);
        assert!(
            lost.fold(0.0, f64::max) <= bound,
            "{}: denormal, Q",
            T::NAME
        );

        // Bits are lost where numbers are denormal, but before: the same matrix in ordinary numbers is the reference.
        let small = scaled(denormal);
        let small_b = times_power(&b, denormal);
        let large = times_power(small.values(), -denormal);
        let large = Csc::new(a.pattern().clone(), large).expect("a value for each");
        let (x, reference) = solve(&large, &times_power(&small_b, -denormal));
        let (y, factors) = solve(&small, &small_b);
        assert_eq!(factors.rank(), reference.rank());
        assert!(factors.rank() > 0 && x.iter().any(|&v| v != T::zero()));
        assert!(y == x, "{}: denormal", T::NAME);
        // What x would be for an ordinary b is no number of the format.
        match factors.solve(&times_power(&b, -denormal / 2), 2) {
            Err(SolveError::SolutionOverflow { row, col }) => {
                assert!((1..=a.ncols()).contains(&row) && (1..=2).contains(&col));
            }
            Err(e) => panic!("{e}"),
            Ok(_) => panic!("an overflow without a word"),
        }
    }
}

#[test]
fn powers_of_two_change_no_bit() {
    let double = [-996, 996, -700, 500, -330, 210, 200, -200];
    powers_of_two_are_exact::<f64>(&double, -1050);
    powers_of_two_are_exact::<c64>(&double, -1050);
    let single = [-100, 99, -60, 60, -30, 30, -10, 10];
    powers_of_two_are_exact::<f32>(&single, -135);
    powers_of_two_are_exact::<c32>(&single, -135);
}
