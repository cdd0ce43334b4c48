//! The sparse inverse subset against a dense inverse of A^H A.

use super::*;
use treeqr_solver::InverseSubset;

/// The inverse of a matrix by Gauss and Jordan with pivoting, column by column.
fn inverse(mut a: Vec<c64>, n: usize) -> Vec<c64> {
    let mut out = vec![c64::new(0.0, 0.0); n * n];
    (0..n).for_each(|j| out[j * n + j] = c64::new(1.0, 0.0));
    for k in 0..n {
        let size = |i: &usize| a[k * n + i].norm();
        let pivot = (k..n)
            .max_by(|i, j| size(i).total_cmp(&size(j)))
            .expect("a row");
        for m in [&mut a, &mut out] {
            (0..n).for_each(|j| m.swap(j * n + k, j * n + pivot));
        }
        let by = a[k * n + k].inv();
        for m in [&mut a, &mut out] {
            (0..n).for_each(|j| m[j * n + k] *= by);
        }
        for i in (0..n).filter(|&i| i != k) {
            let by = a[k * n + i];
            for m in [&mut a, &mut out] {
                for j in 0..n {
                    let of = m[j * n + k];
                    m[j * n + i] -= by * of;
                }
            }
        }
    }
    out
}

/// A^H A in double precision.
fn gram<T: Scalar>(a: &Csc<T>) -> Vec<c64> {
    let n = a.ncols();
    let mut out = vec![c64::new(0.0, 0.0); n * n];
    let double = |v: T| c64::new(v.re().to_f64(), v.im().to_f64());
    for j in 0..n {
        let mut column = vec![c64::new(0.0, 0.0); a.nrows()];
        let (rows, values) = a.col(j);
        for (&i, &v) in rows.iter().zip(values) {
            column[i as usize] = double(v);
        }
        for i in 0..n {
            let (rows, values) = a.col(i);
            let products = rows.iter().zip(values);
            out[j * n + i] = products
                .map(|(&r, &v)| double(v).conj() * column[r as usize])
                .sum();
        }
    }
    out
}

fn check<T: FactorScalar>(name: &str, a: &Csc<T>, o: &Options) {
    let n = a.ncols();
    let factors = factor(a, o).1.factors;
    let gram = gram(a);
    let exact = inverse(gram.clone(), n);
    let norm = |m: &[c64]| m.iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt();
    // cond(A)^2; an R of this precision gives the inverse to about cond(A) units of it, and the comparison to cond(A)^2 units of double.
    let condition2 = norm(&gram) * norm(&exact);
    let unit = <T::Real as RealScalar>::EPSILON.to_f64();
    let bound = norm(&exact)
        * n as f64
        * (10.0 * unit * condition2.sqrt() + 10.0 * f64::EPSILON * condition2);
    let pattern = factors.trapezoid().expect("no row is split off");
    let mut seen: Option<InverseSubset<T>> = None;
    for workers in [0, 2] {
        let z = factors.inverse_subset(&fine(workers)).expect("full rank");
        assert_eq!(z.order(), n);
        let mut known = 0;
        for i in 0..n {
            for j in 0..n {
                let Some(value) = z.get(i, j) else {
                    continue;
                };
                known += u64::from(i <= j);
                assert_eq!(z.get(j, i), Some(value.conj()), "{name}: Hermitian");
                let value = c64::new(value.re().to_f64(), value.im().to_f64());
                let error = (value - exact[j * n + i]).norm();
                assert!(
                    error <= bound,
                    "{name} ({i}, {j}): {error:e}, bound {bound:e}"
                );
                // The same bits for every number of workers.
                if let Some(seen) = &seen {
                    assert_eq!(seen.get(i, j), z.get(i, j));
                }
            }
        }
        assert_eq!(known, z.entries(), "{name}");
        // Rows of R meet in every pair of their columns that are neighbours in it: at least each column and the pivot of each row.
        let order: Vec<u32> = factors.symbolic().column_order().collect();
        for j in 0..n {
            for &row in pattern.col(j).0 {
                let pivot = order[row as usize] as usize;
                assert!(z.get(pivot, j).is_some(), "{name} ({pivot}, {j})");
            }
        }
        for (j, (&d, value)) in z
            .diagonal()
            .iter()
            .zip(exact.iter().step_by(n + 1))
            .enumerate()
        {
            assert!((d - value.re).abs() <= bound, "{name}: variance {j}");
        }
        seen = Some(z);
    }
    // By solves, or by the subset: whichever takes less.
    let all: Vec<usize> = (0..n).rev().collect();
    let few = [n / 2, 0];
    for columns in [&all[..], &few] {
        let found = factors.variances(columns, &fine(0)).expect("full rank");
        for (&j, v) in columns.iter().zip(found) {
            assert!((v - exact[j * n + j].re).abs() <= bound, "{name}: {j}");
        }
    }
    let columns = factors
        .covariance_columns(&few, &fine(0))
        .expect("full rank");
    for (&j, column) in few.iter().zip(columns.chunks_exact(n)) {
        for (value, exact) in column.iter().zip(&exact[j * n..]) {
            let value = c64::new(value.re().to_f64(), value.im().to_f64());
            assert!((value - exact).norm() <= bound, "{name}: column {j}");
        }
    }
}

#[test]
fn entries_of_the_inverse_are_those_of_a_dense_one() {
    fn all<T: FactorScalar>() {
        let mut singletons = 0;
        for (name, a) in matrices::<T>() {
            if a.nrows() < a.ncols() {
                continue;
            }
            for o in [options(|o| o.ordering = "natural".into()), small_tiles()] {
                check(&format!("{} {name}", T::NAME), &a, &o);
                singletons += factor(&a, &o).0.singletons();
            }
        }
        assert!(singletons > 50);
        let grid = gallery::make("grid3d-5").expect("gallery").matrix;
        check(T::NAME, &grid.to_precision::<T>(), &small_tiles());
    }
    all::<f32>();
    all::<f64>();
    all::<c32>();
    all::<c64>();
}

#[test]
fn the_subset_is_taken_where_it_is_cheaper_and_is_as_large_as_r() {
    let a = gallery::make("grid3d-8").expect("gallery").matrix;
    let (symbolic, factored) = factor(&a, &options(|_| ()));
    let factors = factored.factors;
    let n = a.ncols();
    let all: Vec<usize> = (0..n).collect();
    assert_eq!(symbolic.singletons(), 0);
    let z = factors.inverse_subset(&fine(0)).expect("full rank");
    assert_eq!(z.entries(), symbolic.nnz_r());
    let unit = |j: usize| Csc::from_triplets(n, 1, &[j as u32], &[0], &[1.0]).expect("triplets");
    let solve = |j: usize| {
        factors
            .plan_solve_r_adjoint_sparse(&unit(j), &fine(0))
            .flops
    };
    let solves: u64 = all.iter().map(|&j| solve(j)).sum();
    assert!(factors.inverse_subset_flops() < solves);
    // The same numbers to the last bit: they are from the subset. For one column they are not.
    let found = factors.variances(&all, &fine(0)).expect("full rank");
    assert!(same(&found, &z.diagonal()));
    assert!(factors.inverse_subset_flops() > solve(0));
}

#[test]
fn without_full_rank_there_is_no_inverse() {
    let a: Csc<f64> = random(5, 30, 20, 60);
    // Column 7 twice.
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    for col in 0..20 {
        let (rows, values) = a.col(if col == 3 { 7 } else { col });
        i.extend_from_slice(rows);
        v.extend_from_slice(values);
        j.extend(rows.iter().map(|_| col as u32));
    }
    let a = Csc::from_triplets(30, 20, &i, &j, &v).expect("triplets");
    let factors = factor(&a, &options(|_| ())).1.factors;
    assert_eq!(factors.rank(), 19);
    let refused = |found: Result<(), SolveError>| {
        assert!(matches!(found, Err(SolveError::RankDeficient { .. })));
    };
    refused(factors.inverse_subset(&fine(0)).map(drop));
    refused(factors.variances(&[1], &fine(0)).map(drop));
    refused(factors.covariance_columns(&[1], &fine(0)).map(drop));
}
