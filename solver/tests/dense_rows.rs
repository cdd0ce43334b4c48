//! Dense rows that are split off, against the dense singular value decomposition: all shapes, scalars, and ranks of the rest and of
//! the whole.

mod common;
use common::*;
use faer::prelude::*;
use std::sync::Arc;
use treeqr_matrices::{Csc, RealScalar, Scalar, c32, c64, gallery};
use treeqr_solver::{
    Deficient, DenseRows, FactorOptions, FactorScalar, Options, Scaled, SolveError, SolveOptions,
    analyse, factorize, quality, refine,
};

/// What the sparse rows are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sparse {
    /// Of full rank.
    Full,
    /// With columns that only the dense rows see, and two that are alike there.
    Blind,
    /// With more of them than there are dense rows: the whole lacks rank too.
    Lost,
}

/// m + k rows, of which the k last are dense, shuffled, by `n` columns. Gives the rank too.
fn planted<T: Scalar>(
    seed: u64,
    (m, n, k): (usize, usize, usize),
    kind: Sparse,
) -> (Csc<T>, usize) {
    let mut rng = Rng(seed ^ 0x5eed);
    let blind = match kind {
        Sparse::Full => 0,
        Sparse::Blind => 1.max(k / 2).min(n - 1),
        Sparse::Lost => (k + 2).min(n - 1),
    };
    let base: Csc<T> = random(seed, m, n - blind, 2 * n);
    let mut rows: Vec<u32> = (0..(m + k) as u32).collect();
    for i in (1..rows.len()).rev() {
        rows.swap(i, rng.below(i + 1));
    }
    let mut cols: Vec<u32> = (0..n as u32).collect();
    for i in (1..n).rev() {
        cols.swap(i, rng.below(i + 1));
    }
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    for col in 0..n - blind {
        let (at, values) = base.col(col);
        for (&row, &value) in at.iter().zip(values) {
            i.push(rows[row as usize]);
            j.push(cols[col]);
            v.push(value);
            // The sparse rows see the last column as they see the first: S lacks one more.
            if kind != Sparse::Full && col == 0 && blind > 0 {
                i.push(rows[row as usize]);
                j.push(cols[n - 1]);
                v.push(value + value);
            }
        }
    }
    for row in 0..k {
        for &col in &cols {
            i.push(rows[m + row]);
            j.push(col);
            v.push(rng.scalar());
        }
    }
    let a = Csc::from_triplets(m + k, n, &i, &j, &v).expect("in range");
    (a, n - blind + blind.min(k))
}

fn split_rows(k: usize) -> Vec<Options> {
    let with = |f: fn(&mut Options)| {
        options(|o| {
            f(o);
            o.dense_rows = DenseRows::Count(k);
        })
    };
    vec![
        with(|_| ()),
        with(|o| (o.mb, o.nb, o.ib, o.bh) = (Some(8), Some(4), Some(3), Some(2))),
    ]
}

fn length<T: Scalar>(x: &[T]) -> f64 {
    x.iter().map(|v| v.abs2().to_f64()).sum::<f64>().sqrt()
}

/// The shortest least-squares solution by the singular value decomposition in double precision, and the smallest singular value that
/// counts over the largest.
fn by_svd<T: Scalar>(a: &Csc<T>, b: &[T], rank: usize) -> (Vec<c64>, f64) {
    let (m, n) = (a.nrows(), a.ncols());
    let mut dense = Mat::<c64>::zeros(m, n);
    for j in 0..n {
        let (rows, values) = a.col(j);
        for (&i, v) in rows.iter().zip(values) {
            dense[(i as usize, j)] = c64::new(v.re().to_f64(), v.im().to_f64());
        }
    }
    let svd = dense.thin_svd().expect("it converges");
    let (u, s, v) = (svd.U(), svd.S().column_vector(), svd.V());
    let mut x = vec![c64::new(0.0, 0.0); n];
    for k in 0..rank {
        let mut dot = c64::new(0.0, 0.0);
        for i in 0..m {
            dot += u[(i, k)].conj() * c64::new(b[i].re().to_f64(), b[i].im().to_f64());
        }
        for (j, x) in x.iter_mut().enumerate() {
            *x += v[(j, k)] * dot / s[k];
        }
    }
    (x, s[rank - 1].re / s[0].re)
}

fn with(deficient: Deficient) -> FactorOptions {
    FactorOptions {
        deficient,
        ..run_options(2, true)
    }
}

/// Q and R of the whole, its rank, and solutions, tall and wide.
fn check<T: FactorScalar>(w: &Csc<T>, rank: usize, o: &Options, what: &str) {
    let eps = <T::Real as RealScalar>::EPSILON.to_f64();
    let (m, n) = (w.nrows(), w.ncols());
    for a in [w.clone(), w.adjoint()] {
        let symbolic = Arc::new(analyse(a.pattern(), o).expect("analysis"));
        assert!(!symbolic.dense_rows().is_empty());
        let wide = a.nrows() < a.ncols();
        let b: Vec<T> = vector(9, a.nrows() * 3);
        for deficient in [Deficient::Basic, Deficient::MinimumNorm] {
            let late = factorize(&symbolic, &a, &[], 0, &with(deficient), &()).expect("finite");
            let factors = &late.factors;
            let details = factors.rank_details();
            assert_eq!(factors.rank(), rank, "{what}: {details:?}");
            assert_eq!(details.dead.len(), n - rank, "{what}");
            let mut all = vec![factors.solve(&b, 3).expect("solved")];
            if !wide {
                let options = FactorOptions {
                    keep_q: false,
                    ..with(deficient)
                };
                let early = factorize(&symbolic, &a, &b, 3, &options, &()).expect("finite");
                all.push(early.factors.solution().expect("solved"));
            }
            for x in all {
                for c in 0..3 {
                    let x = &x[c * a.ncols()..(c + 1) * a.ncols()];
                    let b = &b[c * a.nrows()..(c + 1) * a.nrows()];
                    let mut r = b.to_vec();
                    a.mul_add(-T::one(), x, &mut r);
                    let mut g = vec![T::zero(); a.ncols()];
                    a.adjoint_mul_add(T::one(), &r, &mut g);
                    let norm = w.norm_frobenius().to_f64();
                    let scale = norm * (norm * length(x) + length(b)) * m as f64 * eps;
                    let ratio = (length(&g) - norm * details.dropped_norm * length(x)) / scale;
                    assert!(ratio < 30.0, "{what} {deficient:?}: A^H r {ratio}");
                    let unique = wide || rank == n || deficient == Deficient::MinimumNorm;
                    if !unique {
                        // Basic: zero in what is dead.
                        let zero = |&j: &u32| x[j as usize] == T::zero();
                        assert!(details.dead.iter().all(zero), "{what}");
                        continue;
                    }
                    let (expected, smallest) = by_svd(&a, b, rank);
                    let error: Vec<c64> = x
                        .iter()
                        .zip(&expected)
                        .map(|(x, e)| c64::new(x.re().to_f64(), x.im().to_f64()) - e)
                        .collect();
                    let size = length(&expected) + length(b) / (norm * smallest);
                    let bound = 30.0 * m as f64 * eps / smallest * size;
                    assert!(
                        length(&error) <= bound,
                        "{what} {deficient:?} wide {wide}: {:e} of {bound:e}",
                        length(&error)
                    );
                }
            }
            orthogonal(w, rank, factors, eps, what);
        }
        let refused = factorize(&symbolic, &a, &[], 0, &with(Deficient::Refuse), &());
        match refused {
            Ok(_) => assert_eq!(rank, n, "{what}"),
            Err(SolveError::RankDeficient { index, .. }) => assert!(rank < n && index <= n),
            Err(e) => panic!("{what}: {e}"),
        }
    }
}

/// Q^H W has nothing below R; Q is orthogonal; R^{-1} and R^{-H} belong to it.
fn orthogonal<T: FactorScalar>(
    w: &Csc<T>,
    rank: usize,
    factors: &treeqr_solver::Factors<T>,
    eps: f64,
    what: &str,
) {
    let (m, n) = (w.nrows(), w.ncols());
    let norm = w.norm_frobenius().to_f64();
    let dense = entries(w);
    let r = factors.apply_q_adjoint(&dense, n).expect("Q kept");
    let bound = 30.0 * m as f64 * eps;
    let dropped = factors.dropped_norm();
    assert!(length(&r.rest) <= bound * norm + dropped, "{what}: Q^H W");
    let x: Vec<T> = vector(7, m * 2);
    let y = factors.apply_q_adjoint(&x, 2).expect("Q kept");
    let back = factors.apply_q(&y, 2).expect("Q kept");
    let loss: Vec<T> = x.iter().zip(&back).map(|(&a, &b)| a - b).collect();
    assert!(length(&loss) <= bound * length(&x), "{what}: Q");
    let rotated = (length(&y.head).powi(2) + length(&y.rest).powi(2)).sqrt();
    assert!(
        (rotated - length(&x)).abs() <= bound * length(&x),
        "{what}: Q"
    );
    // R x, by the columns of Q^H W.
    let times_r = |x: &[T]| {
        let mut out = vec![T::zero(); n];
        for (column, &x) in r.head.chunks_exact(n).zip(x) {
            out.iter_mut().zip(column).for_each(|(o, &v)| *o += v * x);
        }
        out
    };
    let mut c: Vec<T> = vector(8, n);
    c[rank..].fill(T::zero());
    let x = factors.solve_r(&c, 1).expect("solved");
    let error: Vec<T> = times_r(&x).iter().zip(&c).map(|(&r, &c)| r - c).collect();
    let scale = norm * length(&x) + length(&c);
    assert!(
        length(&error) <= bound * scale + dropped * length(&x),
        "{what}: R x"
    );
    let g: Vec<T> = vector(6, n);
    let y = factors.solve_r_adjoint(&g, 1).expect("solved");
    assert!(y[rank..].iter().all(|&v| v == T::zero()), "{what}");
    for (j, column) in r.head.chunks_exact(n).enumerate() {
        if factors.dead_columns().binary_search(&(j as u32)).is_err() {
            let dot: T = column.iter().zip(&y).map(|(r, &y)| r.conj() * y).sum();
            let error = (dot - g[j]).abs().to_f64();
            assert!(
                error <= bound * (norm * length(&y) + length(&g)),
                "{what}: R^H y"
            );
        }
    }
    let z = factors.null_space();
    assert_eq!(z.len(), n * (n - rank), "{what}");
    let growth = factors.rank_details().condition.unwrap_or(1.0);
    for z in z.chunks_exact(n) {
        let mut wz = vec![T::zero(); m];
        w.mul_add(T::one(), z, &mut wz);
        assert!(length(&wz) <= bound * norm * (1.0 + growth), "{what}: W Z");
    }
    assert!(factors.trapezoid().is_none());
}

fn all_of_them<T: FactorScalar>() {
    for seed in 1..4 {
        let n = 12 + 7 * seed as usize;
        for k in [1, 2, 5, 3 * seed as usize] {
            for kind in [Sparse::Full, Sparse::Blind, Sparse::Lost] {
                let (w, rank) = planted::<T>(seed, (2 * n, n, k), kind);
                for o in split_rows(k) {
                    let what = format!("{} seed {seed} {n} {k} {kind:?}", T::NAME);
                    check(&w, rank, &o, &what);
                }
            }
        }
    }
}

#[test]
fn all_ranks_in_double() {
    all_of_them::<f64>();
}

#[test]
fn all_ranks_in_single() {
    all_of_them::<f32>();
}

#[test]
fn all_ranks_in_complex_double() {
    all_of_them::<c64>();
}

#[test]
fn all_ranks_in_complex_single() {
    all_of_them::<c32>();
}

#[test]
fn extremes() {
    // Fifty dense rows; as many as there are columns; all of them; more than there are.
    let (w, rank) = planted::<f64>(3, (200, 90, 50), Sparse::Blind);
    check(&w, rank, &split_rows(50)[0], "fifty");
    let (w, rank) = planted::<f64>(4, (40, 15, 20), Sparse::Lost);
    check(&w, rank, &split_rows(20)[1], "more than columns");
    for k in [30, 1000] {
        let (w, rank) = planted::<f64>(5, (25, 10, 5), Sparse::Blind);
        check(&w, rank, &split_rows(k)[0], "all rows");
    }
}

#[test]
fn a_number_of_zero_and_none_are_no_split() {
    let a = gallery::make("dense-rows-400x4").expect("a name").matrix;
    for asked in [DenseRows::None, DenseRows::Count(0)] {
        let symbolic = analyse(a.pattern(), &options(|o| o.dense_rows = asked)).expect("analysis");
        assert!(symbolic.dense_rows().is_empty() && symbolic.update_flops() == 0);
    }
}

#[test]
fn dense_rows_that_stay_are_in_the_order_of_the_others() {
    let flops = |s: &treeqr_solver::Symbolic| {
        s.predict(treeqr_solver::RunShape::of::<f64>(1, false))
            .flops
    };
    for name in ["dense-rows-200x1", "dense-rows-200x10", "dense-rows-220x3"] {
        let a = gallery::make(name).expect("a name").matrix;
        let symbolic = analyse(a.pattern(), &options(|_| ())).expect("analysis");
        // What a split would save is not worth it.
        let why = symbolic.dense_rows_why();
        assert!(symbolic.dense_rows().is_empty() && why.contains("stayed"));
        let order = symbolic.ordering_why();
        assert!(order.contains("without the dense rows"), "{name}: {order}");
        for ordering in ["amd", "colamd"] {
            let other = analyse(a.pattern(), &options(|o| o.ordering = ordering.to_owned()));
            // R is full in any order; what is left to choose is the staircase.
            assert!(
                2.0 * flops(&symbolic) as f64 <= 3.0 * flops(&other.expect("analysis")) as f64,
                "{name}: {ordering}"
            );
        }
    }
}

#[test]
fn auto_takes_the_dense_rows_of_the_gallery_and_no_others() {
    for k in [1usize, 10, 50] {
        let a = gallery::make(&format!("dense-rows-2000x{k}"))
            .expect("a name")
            .matrix;
        let symbolic = analyse(a.pattern(), &options(|_| ())).expect("analysis");
        let last: Vec<u32> = (0..k as u32).map(|i| (a.nrows() - k) as u32 + i).collect();
        assert_eq!(symbolic.dense_rows(), last, "{}", symbolic.dense_rows_why());
        let whole = options(|o| o.dense_rows = DenseRows::None);
        let whole = analyse(a.pattern(), &whole).expect("analysis");
        let flops = |s: &treeqr_solver::Symbolic| {
            s.predict(treeqr_solver::RunShape::of::<f64>(1, false))
                .flops
        };
        assert!(2 * (flops(&symbolic) + symbolic.update_flops()) < flops(&whole));
        // They are the columns of a wide matrix.
        let wide = analyse(a.adjoint().pattern(), &options(|_| ())).expect("analysis");
        assert_eq!(wide.dense_rows(), last);
    }
    for name in [
        "survey-30x20",
        "lp-2000",
        "grid3d-9",
        "TF11",
        "ba-20x400",
        "stencil27-6",
    ] {
        let a = gallery::make(name).expect("a name").matrix;
        let symbolic = analyse(a.pattern(), &options(|_| ())).expect("analysis");
        assert!(symbolic.dense_rows().is_empty(), "{name}");
    }
}

/// The same x as without a split, where the sparse rows alone have rank n - 1, and where they are nearly of that rank: then K is large.
#[test]
fn as_accurate_as_without() {
    for small in [0.0, 1e-2, 1e-5, 1e-8, 1e-10] {
        let base = gallery::make("dense-rows-400x5").expect("a name").matrix;
        let (m, n) = (base.nrows() + 1, base.ncols());
        // A last sparse row that sees one unknown, weakly.
        let (mut i, mut j, mut v) = (vec![m as u32 - 1], vec![17u32], vec![small]);
        for col in 0..n {
            let (rows, values) = base.col(col);
            i.extend_from_slice(rows);
            j.extend(vec![col as u32; rows.len()]);
            v.extend_from_slice(values);
        }
        let a = Csc::from_triplets(m, n, &i, &j, &v).expect("in range");
        for a in [a.clone(), a.adjoint()] {
            let b: Vec<f64> = vector(11, a.nrows());
            let of = |asked| {
                let o = options(|o| o.dense_rows = asked);
                let factors = factor(&a, &o).1.factors;
                assert!(factors.rank_details().is_full());
                let x = factors.solve(&b, 1).expect("solved");
                let q = quality(&a, &x, &b);
                assert_eq!(factors.rank_details().doubtful, 0, "{small}");
                (x, q)
            };
            let (x, q) = of(DenseRows::Count(5));
            let (y, p) = of(DenseRows::None);
            assert!(
                q.normal_residual <= 10.0 * p.normal_residual + 1e-14,
                "{small:e}: {q:?} and {p:?}"
            );
            let error: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - y).collect();
            assert!(
                length(&error) <= 1e-10 * length(&y),
                "{small:e}: {:e}",
                length(&error)
            );
        }
    }
}

#[test]
fn condition_covariance_and_refinement_are_those_of_the_whole() {
    let a = gallery::make("dense-rows-150x3").expect("a name").matrix;
    let split = factor(&a, &options(|o| o.dense_rows = DenseRows::Count(3)))
        .1
        .factors;
    let whole = factor(&a, &options(|o| o.dense_rows = DenseRows::None))
        .1
        .factors;
    let solve = SolveOptions::default();
    let [c, d] = [&split, &whole].map(|f| f.condition_estimate(&solve).expect("run"));
    assert!(c < 30.0 * d && d < 30.0 * c, "{c:e} and {d:e}");
    let columns = [0, 7, 149];
    let [v, w] = [&split, &whole].map(|f| f.variances(&columns, &solve).expect("run"));
    let [p, q] = [&split, &whole].map(|f| f.covariance_columns(&columns, &solve).expect("run"));
    for (v, w) in v.iter().chain(&p).zip(w.iter().chain(&q)) {
        assert!((v - w).abs() <= 1e-10 * length(&q), "{v:e} {w:e}");
    }
    let b: Vec<f64> = vector(3, a.nrows());
    let (x, report) = refine(
        &Scaled::evenly(&a),
        &split,
        &b,
        1,
        None,
        &Default::default(),
    )
    .expect("refined");
    assert!(report.succeeded());
    assert!(quality(&a, &x, &b).normal_residual < 1e-13);
}

#[test]
fn the_same_bits_for_every_number_of_workers() {
    let a = gallery::make("dense-rows-900x7").expect("a name").matrix;
    let b: Vec<f64> = vector(5, a.nrows() * 4);
    let mut bits: Option<Vec<u64>> = None;
    for threads in [1, 2, 4] {
        let o = options(|o| {
            o.dense_rows = DenseRows::Count(7);
            o.threads = threads;
        });
        let symbolic = Arc::new(analyse(a.pattern(), &o).expect("analysis"));
        let run = run_options(threads, true);
        let factors = factorize(&symbolic, &a, &[], 0, &run, &())
            .expect("finite")
            .factors;
        let x = factors.solve(&b, 4).expect("solved");
        let x: Vec<u64> = x.iter().map(|v| v.to_bits()).collect();
        assert_eq!(
            bits.get_or_insert_with(|| x.clone()),
            &x,
            "{threads} threads"
        );
    }
}

#[test]
fn dense_columns_come_last() {
    // A column that every row of a large sparse matrix sees.
    let base: Csc<f64> = random(1, 3000, 600, 3000);
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    for col in 0..600u32 {
        let (rows, values) = base.col(col as usize);
        i.extend_from_slice(rows);
        j.extend(vec![if col == 0 { 600 } else { col }; rows.len()]);
        v.extend_from_slice(values);
    }
    for row in 0..3000 {
        i.push(row);
        j.push(0);
        v.push(1.0);
    }
    let a = Csc::from_triplets(3000, 601, &i, &j, &v).expect("in range");
    for ordering in ["auto", "colamd", "amd", "metis"] {
        let symbolic = analyse(a.pattern(), &options(|o| o.ordering = ordering.into()));
        let symbolic = symbolic.expect("analysis");
        assert_eq!(symbolic.dense_columns(), [0], "{ordering}");
        assert_eq!(symbolic.column_order().last(), Some(0), "{ordering}");
    }
    let natural = analyse(a.pattern(), &options(|o| o.ordering = "natural".into()));
    assert!(natural.expect("analysis").dense_columns().is_empty());
}
