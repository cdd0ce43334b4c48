//! The factors as matrices: A P = Q R from what was extracted, Q from Householder vectors against Q as it is applied.

use super::*;

/// A P = Q R with Q^H Q = I, and H, scaled as LAPACK's tests do.
fn check<T: FactorScalar>(name: &str, a: &Csc<T>, o: &Options) {
    let (symbolic, factored) = factor(a, o);
    let factors = factored.factors;
    let w = if symbolic.transposed() {
        a.adjoint()
    } else {
        a.clone()
    };
    let (m, n) = (w.nrows(), w.ncols());
    let unit = <T::Real as RealScalar>::EPSILON.to_f64();
    let r = factors.r_matrix().expect("no row is split off");
    let q = factors.q_economy(&fine(2)).expect("Q kept");
    assert_eq!((r.nrows(), r.ncols()), (factors.rank(), n));
    assert_eq!((q.nrows(), q.ncols()), (m, factors.rank()));
    let mut left = 0.0;
    for (k, column) in symbolic.column_order().enumerate() {
        let (rows, values) = r.col(k);
        assert!(rows.iter().all(|&i| i as usize <= k), "{name}: R");
        let mut rest = vec![T::zero(); m];
        let (at, of) = w.col(column as usize);
        at.iter().zip(of).for_each(|(&i, &v)| rest[i as usize] = v);
        for (&i, &value) in rows.iter().zip(values) {
            let q = q.col(i as usize);
            rest.iter_mut().zip(q).for_each(|(x, &q)| *x -= q * value);
        }
        left += norm(&rest).powi(2);
    }
    let size = w.norm_frobenius().to_f64();
    let ratio = left.sqrt() / (size * m as f64 * unit);
    assert!(ratio < 30.0, "{name}: A P - Q R: {ratio}");
    let mut left = 0.0;
    for j in 0..q.ncols() {
        for i in 0..q.ncols() {
            let products = q.col(i).iter().zip(q.col(j));
            let dot: T = products.map(|(x, &y)| x.conj() * y).sum();
            let expected = if i == j { T::one() } else { T::zero() };
            left += (dot - expected).abs2().to_f64();
        }
    }
    let ratio = left.sqrt() / (m as f64 * unit);
    assert!(ratio < 30.0, "{name}: Q^H Q - I: {ratio}");

    let h = factors.householder().expect("Q kept");
    let rows = h.vectors.nrows();
    assert_eq!(rows, n + symbolic.rest_rows());
    assert_eq!(h.vectors.ncols(), h.tau.len());
    let mut order = h.row_order.clone();
    order.sort_unstable();
    assert!(order.iter().copied().eq(0..rows as u32), "{name}: rows");
    for seed in 0..2 {
        let b: Vec<T> = vector(seed, m);
        let expected = factors.apply_q_adjoint(&b, 1).expect("Q kept");
        let expected = [expected.head, expected.rest].concat();
        let mut found = b.clone();
        // Rows that the analysis has added are zero.
        found.resize(rows, T::zero());
        h.apply_adjoint(&mut found);
        let difference: Vec<T> = found.iter().zip(&expected).map(|(&x, &y)| x - y).collect();
        let ratio = norm(&difference) / (norm(&b) * rows as f64 * unit);
        assert!(ratio < 30.0, "{name}: Q^H b from H: {ratio}");
        h.apply(&mut found);
        let back: Vec<T> = found.iter().zip(&b).map(|(&x, &y)| x - y).collect();
        let ratio = norm(&back) / (norm(&b) * rows as f64 * unit);
        assert!(ratio < 30.0, "{name}: Q Q^H b from H: {ratio}");
    }
}

#[test]
fn factors_are_told_as_matrices() {
    fn all<T: FactorScalar>() {
        let mut tiled = 0;
        for (name, a) in matrices::<T>() {
            for o in [options(|o| o.ordering = "natural".into()), small_tiles()] {
                check(&format!("{} {name}", T::NAME), &a, &o);
                tiled += factor(&a, &o).0.unit_counts().1;
            }
        }
        assert!(tiled > 10, "{tiled} fronts in tiles");
        let grid = gallery::make("grid3d-5").expect("gallery").matrix;
        // Flat reductions, trees of heads, and one tile after the other.
        for bh in [0, 1, 3] {
            let mut o = small_tiles();
            o.bh = Some(bh);
            check(T::NAME, &grid.to_precision::<T>(), &o);
        }
    }
    all::<f32>();
    all::<f64>();
    all::<c32>();
    all::<c64>();
}

#[test]
fn and_where_the_rank_is_not_full() {
    for (m, n) in [(70, 40), (40, 70)] {
        let a: Csc<f64> = random(5, m, n, 150);
        let a = repeating(&a);
        for o in [options(|_| ()), small_tiles()] {
            assert!(factor(&a, &o).1.factors.rank() < 40);
            check("deficient", &a, &o);
        }
    }
}

#[test]
fn without_q_there_is_r_alone() {
    let a: Csc<f64> = random(1, 20, 10, 40);
    let symbolic = std::sync::Arc::new(
        treeqr_solver::analyse(a.pattern(), &options(|_| ())).expect("analysis"),
    );
    let lean = factorize(&symbolic, &a, &[], 0, &run_options(1, false), &());
    let factors = lean.expect("full rank").factors;
    assert_eq!(factors.r_matrix().expect("no row is split off").ncols(), 10);
    assert!(matches!(factors.householder(), Err(SolveError::NoQ { .. })));
    let q = factors.q_economy(&fine(0));
    assert!(matches!(q, Err(SolveError::NoQ { .. })));
}
