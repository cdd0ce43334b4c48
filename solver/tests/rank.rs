//! Matrices that lack rank: dependences planted in random patterns, over singletons, grouped fronts and fronts in tiles; rank,
//! factors and solutions against what was planted and against the singular value decomposition.

mod common;
#[path = "rank/components.rs"]
mod components;
#[path = "rank/parallel.rs"]
mod parallel;
#[path = "rank/shortest.rs"]
mod shortest;
use common::*;
use faer::prelude::*;
use shortest::pseudo_inverse;
use std::sync::Arc;
use treeqr_kernels::{MatMut, Stair, reference};
use treeqr_matrices::{Csc, RealScalar, Scalar, c32, c64, gallery};
use treeqr_solver::{
    Deficient, FactorOptions, FactorScalar, Factors, Options, RankVerdict, SolveError,
    SolveOptions, analyse, factorize, quality,
};

/// What the added columns are.
#[derive(Clone, Copy, Debug)]
enum Plant {
    Copies,
    Zeros,
    Sums,
    All,
}

/// An m x (n + extra) matrix of rank n whose columns come in a random order: n random ones, and `extra` that depend on them.
fn planted<T: Scalar>(seed: u64, (m, n): (usize, usize), extra: usize, plant: Plant) -> Csc<T> {
    let base: Csc<T> = random(seed, m, n, 3 * n);
    let mut rng = Rng(seed ^ 77);
    let mut columns: Vec<Vec<(u32, T)>> = (0..n)
        .map(|j| {
            let (rows, values) = base.col(j);
            rows.iter().copied().zip(values.iter().copied()).collect()
        })
        .collect();
    for k in 0..extra {
        let kind = match plant {
            Plant::All => [Plant::Copies, Plant::Zeros, Plant::Sums][k % 3],
            kind => kind,
        };
        let mut column = Vec::new();
        let mut add = |by: T| {
            // Also of columns that were added: dependences in chains.
            let from = rng.below(columns.len());
            column.extend(columns[from].iter().map(|&(i, v)| (i, by * v)));
        };
        match kind {
            Plant::Copies => add(T::from_f64(-2.0, 0.5)),
            Plant::Sums => (0..4).for_each(|k| add(T::from_f64(1.0, 0.25 * f64::from(k)))),
            _ => {
                // Zeros that are stored, and none at all.
                column.extend((0..k % 3).map(|i| (i as u32, T::zero())));
            }
        }
        columns.push(column);
    }
    for k in (1..columns.len()).rev() {
        columns.swap(k, rng.below(k + 1));
    }
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    for (col, column) in columns.iter().enumerate() {
        for &(row, value) in column {
            i.push(row);
            j.push(col as u32);
            v.push(value);
        }
    }
    Csc::from_triplets(m, columns.len(), &i, &j, &v).expect("in range")
}

/// No tiles, small tiles, tiles with a binary tree.
fn partitions() -> Vec<Options> {
    vec![
        options(|_| ()),
        options(|o| (o.mb, o.nb, o.ib, o.bh) = (Some(8), Some(4), Some(3), Some(2))),
        options(|o| {
            o.ordering = "natural".into();
            (o.mb, o.nb, o.ib, o.bh) = (Some(32), Some(16), Some(8), Some(0));
        }),
    ]
}

fn length<T: Scalar>(x: &[T]) -> f64 {
    x.iter().map(|v| v.abs2().to_f64()).sum::<f64>().sqrt()
}

fn with(deficient: Deficient) -> FactorOptions {
    FactorOptions {
        deficient,
        ..run_options(2, true)
    }
}

/// W = Q [R; 0], Q orthogonal, R a trapezoid; solutions have residuals orthogonal to the columns.
fn check<T: FactorScalar>(a: &Csc<T>, rank: usize, o: &Options) {
    let eps = <T::Real as RealScalar>::EPSILON.to_f64();
    let symbolic = Arc::new(analyse(a.pattern(), o).expect("analysis"));
    let factors = factorize(&symbolic, a, &[], 0, &with(Deficient::Basic), &())
        .expect("finite")
        .factors;
    let details = factors.rank_details();
    if details.doubtful > 0 {
        // The live columns are as badly conditioned as that: Heath's method may then find one too few, and says so.
        assert!(
            factors.rank() >= rank && factors.rank() <= rank + 1,
            "{details:?}"
        );
        return;
    }
    assert_eq!(factors.rank(), rank, "{details:?}");
    assert_eq!(details.dead.len(), a.nrows().min(a.ncols()) - rank);
    assert!(details.dead.is_sorted_by(|a, b| a < b));
    assert!(details.smallest_pivot > details.tolerance);
    let w = if symbolic.transposed() {
        a.adjoint()
    } else {
        a.clone()
    };
    let (m, n) = (w.nrows(), w.ncols());
    let norm = w.norm_frobenius().to_f64();

    // Q^H W is R in the live rows, and nothing in the others.
    let dense = entries(&w);
    let rotated = factors.apply_q_adjoint(&dense, n).expect("Q kept");
    let r = factors.trapezoid().expect("no row is split off");
    assert_eq!((r.nrows(), r.ncols()), (rank, n));
    let order: Vec<u32> = symbolic.column_order().collect();
    let is_dead = |place: usize| details.dead.binary_search(&order[place]).is_ok();
    let live: Vec<usize> = (0..n).filter(|&place| !is_dead(place)).collect();
    let mut difference = length(&rotated.rest).powi(2);
    for j in 0..n {
        let head = &rotated.head[j * n..(j + 1) * n];
        let mut expected = vec![T::zero(); n];
        let (rows, values) = r.col(j);
        for (&i, &v) in rows.iter().zip(values) {
            expected[live[i as usize]] = v;
        }
        for (&x, &y) in head.iter().zip(&expected) {
            difference += (x - y).abs2().to_f64();
        }
    }
    let bound = 30.0 * m.max(n) as f64 * eps * norm + details.dropped_norm;
    assert!(
        difference.sqrt() <= bound,
        "{}: Q^H W - R: {:e} of {norm:e}",
        T::NAME,
        difference.sqrt()
    );
    // Trapezoidal: the first entry of row k is in the column of the k-th live pivot.
    for (k, &place) in live.iter().enumerate() {
        for before in &order[..place] {
            assert!(!r.col(*before as usize).0.contains(&(k as u32)));
        }
        assert!(r.col(order[place] as usize).0.contains(&(k as u32)));
    }
    let x: Vec<T> = vector(7, m * 2);
    let y = factors.apply_q_adjoint(&x, 2).expect("Q kept");
    let back = factors.apply_q(&y, 2).expect("Q kept");
    let loss: Vec<T> = x.iter().zip(&back).map(|(&a, &b)| a - b).collect();
    assert!(length(&loss) <= 30.0 * m as f64 * eps * length(&x));
    let rotated = (length(&y.head).powi(2) + length(&y.rest).powi(2)).sqrt();
    assert!((rotated - length(&x)).abs() <= 30.0 * m as f64 * eps * length(&x));

    // The null space: orthonormal, and W takes it to nothing.
    let z = factors.null_space();
    let d = n - rank;
    assert_eq!(z.len(), n * d);
    let growth = details.condition.unwrap_or(1.0);
    for (j, column) in z.chunks_exact(n.max(1)).enumerate().take(d) {
        let mut wz = vec![T::zero(); m];
        w.mul_add(T::one(), column, &mut wz);
        let bound = 30.0 * m.max(n) as f64 * eps * norm * (1.0 + growth);
        assert!(length(&wz) <= bound, "W Z: {:e}", length(&wz));
        for (i, other) in z.chunks_exact(n).enumerate() {
            let dot: T = (other.iter().zip(column)).map(|(a, &b)| a.conj() * b).sum();
            let unit = if i == j { T::one() } else { T::zero() };
            assert!((dot - unit).abs().to_f64() <= 30.0 * n as f64 * eps);
        }
    }

    // R^{-1} and R^{-H}: on the live part each undoes R.
    let mut c: Vec<T> = vector(8, n);
    let x = factors.solve_r(&c, 1).expect("solved");
    let mut rx = vec![T::zero(); rank];
    r.mul_add(T::one(), &x, &mut rx);
    let error: Vec<T> = live.iter().zip(&rx).map(|(&p, &v)| c[p] - v).collect();
    assert!(length(&error) <= 30.0 * n as f64 * eps * (norm * length(&x) + length(&c)));
    for place in (0..n).filter(|&place| is_dead(place)) {
        assert!(x[order[place] as usize] == T::zero());
        c[order[place] as usize] = T::zero();
    }
    let y = factors.solve_r_adjoint(&c, 1).expect("solved");
    let short: Vec<T> = live.iter().map(|&place| y[place]).collect();
    assert!(
        (length(&short) - length(&y)).abs() == 0.0,
        "zero at dead pivots"
    );
    let mut rhy = vec![T::zero(); n];
    r.adjoint_mul_add(T::one(), &short, &mut rhy);
    let error: Vec<T> = (live.iter().map(|&p| order[p] as usize))
        .map(|j| rhy[j] - c[j])
        .collect();
    assert!(length(&error) <= 30.0 * n as f64 * eps * (norm * length(&y) + length(&c)));

    solutions(a, o, eps);
}

fn solutions<T: FactorScalar>(a: &Csc<T>, o: &Options, eps: f64) {
    let symbolic = Arc::new(analyse(a.pattern(), o).expect("analysis"));
    let b: Vec<T> = vector(9, a.nrows() * 3);
    let solve = |deficient, b: &[T]| {
        let factors = factorize(&symbolic, a, &[], 0, &with(deficient), &()).expect("finite");
        factors
            .factors
            .solve(b, b.len() / a.nrows())
            .expect("solved")
    };
    let basic = solve(Deficient::Basic, &b);
    let short = solve(Deficient::MinimumNorm, &b);
    for k in 0..3 {
        let b = &b[k * a.nrows()..][..a.nrows()];
        let [basic, short] = [&basic, &short].map(|x| &x[k * a.ncols()..][..a.ncols()]);
        for x in [basic, short] {
            let mut r = b.to_vec();
            a.mul_add(-T::one(), x, &mut r);
            let mut g = vec![T::zero(); a.ncols()];
            a.adjoint_mul_add(T::one(), &r, &mut g);
            let norm = a.norm_frobenius().to_f64();
            // The shortest solution is what is left of the basic one, which may be much longer.
            let scale = norm * (norm * length(basic) + length(b));
            assert!(
                length(&g) <= 30.0 * eps * a.nrows().max(a.ncols()) as f64 * scale,
                "{}: A^H r: {:e} of {scale:e}",
                T::NAME,
                length(&g)
            );
        }
        assert!(length(short) <= length(basic) * (1.0 + 1e3 * eps));
        // The shortest x is in the range of A^H: of all that have its A x it is the shortest again.
        let mut ax = vec![T::zero(); a.nrows()];
        a.mul_add(T::one(), short, &mut ax);
        let again = solve(Deficient::MinimumNorm, &ax);
        let error: Vec<T> = again.iter().zip(short).map(|(&p, &q)| p - q).collect();
        assert!(
            length(&error) <= 1e5 * eps * length(short),
            "{}: {:e} of {:e}",
            T::NAME,
            length(&error),
            length(short)
        );
    }
}

fn all_plants<T: FactorScalar>() {
    for (k, o) in partitions().iter().enumerate() {
        for (seed, plant) in [Plant::Copies, Plant::Zeros, Plant::Sums, Plant::All]
            .into_iter()
            .enumerate()
        {
            let seed = (10 * k + seed) as u64;
            for extra in [1, 9] {
                let a: Csc<T> = planted(seed, (70, 40), extra, plant);
                check(&a, 40, o);
                check(&a.adjoint(), 40, o);
            }
        }
        // More columns than rows, before and after.
        let a: Csc<T> = planted(3, (30, 30), 50, Plant::All);
        check(&a, 30, o);
        let a: Csc<T> = planted(4, (40, 25), 15, Plant::All);
        check(&a, 25, o);
        check(&a.adjoint(), 25, o);
    }
}

#[test]
fn planted_f64() {
    all_plants::<f64>();
}

#[test]
fn planted_f32() {
    all_plants::<f32>();
}

#[test]
fn planted_c64() {
    all_plants::<c64>();
}

#[test]
fn planted_c32() {
    all_plants::<c32>();
}

/// For a wide A, what solutions ask for where A x = b has none is made when one is wanted: for b that is in the range it never is, and x
/// is the same to the last bit, whatever comes beside it or came before.
#[test]
fn a_basis_of_the_null_space_is_made_when_it_is_needed() {
    for (k, o) in partitions().iter().enumerate() {
        for (shape, extra) in [((260, 150), 30), ((220, 90), 125)] {
            let a: Csc<f64> = planted(k as u64, shape, extra, Plant::All).adjoint();
            let (m, n) = (a.nrows(), a.ncols());
            let mut inside = vec![0.0; 2 * m];
            for (b, z) in inside
                .chunks_exact_mut(m)
                .zip(vector::<f64>(5, 2 * n).chunks_exact(n))
            {
                a.mul_add(1.0, z, b);
            }
            let outside: Vec<f64> = vector(2, m);
            let symbolic = Arc::new(analyse(a.pattern(), o).expect("analysis"));
            let made = |b: &[f64]| {
                let options = with(Deficient::Basic);
                let done = factorize(&symbolic, &a, b, b.len() / m, &options, &());
                done.expect("finite").factors
            };
            let factors = made(&[]);
            let bytes = factors.bytes();
            assert_eq!(made(&inside).bytes(), bytes, "b says that none is needed");
            let x = factors.solve(&inside, 2).expect("solved");
            assert_eq!(factors.bytes(), bytes);
            for (x, b) in x.chunks_exact(n).zip(inside.chunks_exact(m)) {
                let (expected, _) = pseudo_inverse(&a, b);
                let error: Vec<f64> = x.iter().zip(&expected).map(|(p, q)| p - q).collect();
                assert!(length(&error) <= 1e-8 * length(&expected));
            }
            let both = [&inside[..m], &outside].concat();
            let beside = factors.solve(&both, 2).expect("solved");
            assert_eq!(beside[..n], x[..n]);
            assert!(factors.bytes() > bytes, "now there is one");
            assert_eq!(factors.solve(&inside, 2).expect("solved"), x);
            let (expected, _) = pseudo_inverse(&a, &outside);
            let error: Vec<f64> = beside[n..]
                .iter()
                .zip(&expected)
                .map(|(p, q)| p - q)
                .collect();
            assert!(length(&error) <= 1e-8 * length(&expected));
            let ready = made(&both);
            assert_eq!(ready.bytes(), factors.bytes(), "b says that one is needed");
            assert_eq!(ready.solve(&both, 2).expect("solved"), beside);
        }
    }
}

/// Published ranks of matrices of the gallery.
#[test]
fn ranks_of_the_gallery() {
    for (name, rank) in [("ch6-6-b3", 1985), ("ch8-8-b2", 1505)] {
        let a = gallery::make(name).expect("a gallery name").matrix;
        let b: Vec<f64> = vector(1, a.nrows());
        let symbolic = Arc::new(analyse(a.pattern(), &options(|_| ())).expect("analysis"));
        let factors = factorize(&symbolic, &a, &b, 1, &run_options(2, false), &())
            .expect("finite")
            .factors;
        assert_eq!(factors.rank(), rank, "{name}");
        let q = quality(&a, &factors.solution().expect("solved"), &b);
        assert!(
            q.normal_residual < 1e-14 && q.solution_norm < 1e3,
            "{name}: {q:?}"
        );
    }
}

#[test]
#[ignore = "a minute: just test-large"]
fn ranks_of_the_large_gallery() {
    for (name, rank) in [("ch7-6-b3", 3611), ("mk11-b4", 10143)] {
        let a = gallery::make(name).expect("a gallery name").matrix;
        let symbolic = Arc::new(analyse(a.pattern(), &options(|_| ())).expect("analysis"));
        let b: Vec<f64> = vector(1, a.nrows());
        let factors = factorize(&symbolic, &a, &[], 0, &run_options(2, true), &())
            .expect("finite")
            .factors;
        assert_eq!(factors.rank(), rank, "{name}");
        let q = quality(&a, &factors.solve(&b, 1).expect("solved"), &b);
        assert!(q.solution_norm < 1e3, "{name}: {q:?}");
    }
}

/// Powers of two change nothing but the exponents.
#[test]
fn scaling_changes_no_decision() {
    let a: Csc<f64> = planted(5, (60, 40), 12, Plant::All);
    let go = |by: f64| {
        let mut a = a.clone();
        a.values_mut().iter_mut().for_each(|v| *v *= by);
        let symbolic = Arc::new(analyse(a.pattern(), &options(|_| ())).expect("analysis"));
        let b: Vec<f64> = vector(2, a.nrows());
        let factors = factorize(&symbolic, &a, &b, 1, &run_options(1, false), &()).expect("finite");
        let x = factors.factors.solution().expect("solved");
        let x: Vec<f64> = x.iter().map(|v| v * by).collect();
        (factors.factors.dead_columns().to_vec(), x)
    };
    let (dead, x) = go(1.0);
    assert_eq!(dead.len(), 12);
    for by in [2f64.powi(-400), 2f64.powi(300)] {
        let (other, y) = go(by);
        assert_eq!(other, dead, "{by:e}");
        let error: Vec<f64> = x.iter().zip(&y).map(|(p, q)| p - q).collect();
        assert!(length(&error) <= 1e-12 * length(&x), "{by:e}");
    }
}

/// A pivot that is above the default tolerance, with which R is singular to working precision all the same.
#[test]
fn the_tolerance_is_raised_where_r_is_singular() {
    // x_n = 1 makes x_0 = 2^(n - 1): the inverse of the leading part is that large, and the last pivot is 1e-10.
    let n = 30u32;
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..n {
        i.push(k);
        j.push(k);
        v.push(if k == n - 1 { 1e-10 } else { 1.0 });
        if k > 0 {
            i.push(k - 1);
            j.push(k);
            v.push(-2.0);
        }
    }
    let a = Csc::from_triplets(40, n as usize, &i, &j, &v).expect("in range");
    let natural = options(|o| o.ordering = "natural".into());
    let symbolic = Arc::new(analyse(a.pattern(), &natural).expect("analysis"));
    let go = |tolerance| {
        let options = FactorOptions {
            tolerance,
            ..run_options(1, true)
        };
        let done = factorize(&symbolic, &a, &[], 0, &options, &()).expect("finite");
        done.factors.rank_details().clone()
    };
    let raised = go(None);
    assert_eq!((raised.rank, &raised.dead[..]), (29, &[29][..]));
    assert!(raised.raised_from.is_some_and(|t| t < 1e-10) && raised.tolerance >= 1e-10);
    let condition = raised.condition.expect("estimated");
    assert!((1e8..1e12).contains(&condition), "{condition:e}");
    // What the user says holds.
    let kept = go(Some(1e-11));
    assert_eq!((kept.rank, kept.raised_from), (30, None));
    assert!(kept.condition.is_some_and(|c| c > 1e17));
}

/// A tolerance of the user's; none at all; an overflow.
#[test]
fn the_tolerance_decides() {
    // Column 2 is column 1 but for 1e-6.
    let a = Csc::from_triplets(
        3,
        2,
        &[0, 1, 0, 1, 2],
        &[0, 0, 1, 1, 1],
        &[1.0, 1.0, 1.0, 1.0, 1e-6],
    )
    .expect("in range");
    let symbolic = Arc::new(analyse(a.pattern(), &options(|_| ())).expect("analysis"));
    let go = |tolerance: Option<f64>| {
        let options = FactorOptions {
            tolerance,
            ..run_options(1, true)
        };
        let factors = factorize(&symbolic, &a, &[], 0, &options, &()).map(|done| done.factors);
        factors.expect("finite").rank_details().clone()
    };
    let full = go(None);
    assert_eq!((full.rank, full.doubtful), (2, 0));
    assert!((full.smallest_pivot - 1e-6).abs() < 1e-15);
    let doubtful = go(Some(1e-8));
    assert_eq!((doubtful.rank, doubtful.doubtful), (2, 1));
    let low = go(Some(1e-5));
    assert_eq!(low.rank, 1);
    assert!((low.dropped_norm - 1e-6).abs() < 1e-15 && low.smallest_pivot > 1.0);
    assert_eq!(go(Some(-1.0)).rank, 2);

    let a = Csc::from_triplets(3, 1, &[0, 1, 2], &[0, 0, 0], &[1.5e308; 3]).expect("in range");
    let symbolic = Arc::new(analyse(a.pattern(), &options(|_| ())).expect("analysis"));
    match factorize(&symbolic, &a, &[], 0, &run_options(1, true), &()) {
        Err(SolveError::Overflow { what, index }) => assert_eq!((what, index), ("column", 1)),
        Err(e) => panic!("{e}"),
        Ok(done) => panic!("rank {}", done.factors.rank()),
    }
}

/// Dead columns and R are those of Heath's method on the dense matrix, its columns in elimination order.
#[test]
fn decisions_are_those_of_the_dense_method() {
    let mut clear = 0;
    for o in partitions() {
        for seed in 0..20 {
            let a: Csc<f64> = planted(seed, (60, 35), 12, Plant::All);
            let a = if seed % 2 == 0 { a } else { a.adjoint() };
            let symbolic = Arc::new(analyse(a.pattern(), &o).expect("analysis"));
            let factors = factorize(&symbolic, &a, &[], 0, &with(Deficient::Basic), &())
                .expect("finite")
                .factors;
            let details = factors.rank_details();
            if details.doubtful > 0 {
                continue;
            }
            clear += 1;
            let w = if symbolic.transposed() {
                a.adjoint()
            } else {
                a
            };
            let (m, n) = (w.nrows(), w.ncols());
            let order: Vec<u32> = symbolic.column_order().collect();
            let mut dense = vec![0.0; m * n];
            for (k, &j) in order.iter().enumerate() {
                let (rows, values) = w.col(j as usize);
                for (&i, &v) in rows.iter().zip(values) {
                    dense[k * m + i as usize] = v;
                }
            }
            let block = MatMut::new(&mut dense, m, n, m);
            let tolerance = details.tolerance;
            let (_, live, _) = reference::deflate(block, n, n, tolerance, Stair::Full);
            let mut dead: Vec<u32> = (0..n as u32)
                .filter(|k| !live.contains(k))
                .map(|k| order[k as usize])
                .collect();
            dead.sort_unstable();
            assert_eq!(details.dead, dead, "seed {seed}");
            let r = factors.trapezoid().expect("no row is split off");
            for (j, &column) in order.iter().enumerate() {
                let (rows, values) = r.col(column as usize);
                for (&i, &v) in rows.iter().zip(values) {
                    let expected: f64 = dense[j * m + i as usize];
                    assert!((v.abs() - expected.abs()).abs() < 1e-8, "R({i}, {j})");
                }
            }
        }
    }
    assert!(clear > 50, "only {clear} of 60 without doubt");
}

/// The singular values of R in its live columns, increasing, in double precision.
fn live_singular_values<T: FactorScalar>(factors: &Factors<T>) -> Vec<f64> {
    let r = factors.trapezoid().expect("no row is split off");
    let dead = factors.dead_columns();
    let live: Vec<usize> = (0..r.ncols())
        .filter(|&j| dead.binary_search(&(j as u32)).is_err())
        .collect();
    let mut dense = Mat::<c64>::zeros(r.nrows(), live.len());
    for (k, &j) in live.iter().enumerate() {
        let (rows, values) = r.col(j);
        for (&i, v) in rows.iter().zip(values) {
            dense[(i as usize, k)] = c64::new(v.re().to_f64(), v.im().to_f64());
        }
    }
    let svd = dense.thin_svd().expect("converges");
    let mut s: Vec<f64> = svd.S().column_vector().iter().map(|v| v.re).collect();
    s.reverse();
    s
}

fn small_singular_values<T: FactorScalar>() {
    let eps = <T::Real as RealScalar>::EPSILON.to_f64();
    for (seed, extra) in [(1, 0), (2, 0), (3, 9), (4, 30)] {
        for o in partitions() {
            let a: Csc<T> = planted(seed, (70, 40), extra, Plant::All);
            for a in [a.adjoint(), a] {
                let symbolic = Arc::new(analyse(a.pattern(), &o).expect("analysis"));
                // Q is not asked for.
                let factors = factorize(&symbolic, &a, &[], 0, &run_options(2, false), &())
                    .expect("finite")
                    .factors;
                let exact = live_singular_values(&factors);
                let solve = SolveOptions::default();
                let found = factors.small_singular_values(4, &solve).expect("solved");
                assert_eq!(found.values.len(), 4);
                assert!(found.values.is_sorted());
                // What rounding in the solves makes of the smallest.
                let condition = exact[exact.len() - 1] / exact[0];
                let rounding = 100.0 * eps * condition;
                for (k, (&value, &error)) in
                    found.values.iter().zip(&found.relative_errors).enumerate()
                {
                    assert!(value >= exact[k] * (1.0 - rounding), "{k}: {found:?}");
                    let distance = |s: &f64| (value - s).abs() / value;
                    let nearest = exact.iter().map(distance).fold(f64::INFINITY, f64::min);
                    assert!(
                        nearest <= error / (1.0 - error).max(0.1) + rounding,
                        "{}: {k}: {found:?} and {exact:?}",
                        T::NAME
                    );
                }
                let error = (found.values[0] / exact[0] - 1.0).abs();
                assert!(error < 0.01 + rounding, "{found:?} and {exact:?}");
                // No more than there are.
                let all = factors.small_singular_values(1000, &solve);
                assert_eq!(all.expect("solved").values.len(), factors.rank());
                let check = factors.rank_check(4, &solve).expect("solved");
                let doubtful = factors.rank_details().doubtful > 0;
                if !(doubtful || T::Real::EPSILON.to_f64() > 1e-10 && condition > 1e3) {
                    assert_eq!(check.verdict, RankVerdict::Confirmed, "{check:?}");
                }
            }
        }
    }
}

#[test]
fn small_singular_values_are_those_of_the_svd() {
    small_singular_values::<f64>();
    small_singular_values::<f32>();
    small_singular_values::<c64>();
    small_singular_values::<c32>();
}

/// Kahan's matrix: no pivot is small, and R is singular all the same. A slow fall without any gap.
#[test]
fn the_check_sees_what_pivots_do_not_show() {
    let go = |n: usize, entry: &dyn Fn(usize, usize) -> f64| {
        let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
        for col in 0..n {
            for row in (0..=col).filter(|&row| entry(row, col) != 0.0) {
                i.push(row as u32);
                j.push(col as u32);
                v.push(entry(row, col));
            }
        }
        let a = Csc::from_triplets(n, n, &i, &j, &v).expect("in range");
        let natural = options(|o| o.ordering = "natural".into());
        let symbolic = Arc::new(analyse(a.pattern(), &natural).expect("analysis"));
        let done = factorize(&symbolic, &a, &[], 0, &run_options(1, false), &());
        let factors = done.expect("finite").factors;
        let check = factors.rank_check(6, &SolveOptions::default());
        (factors.rank_details().clone(), check.expect("solved"))
    };
    let (sine, cosine) = (0.91f64.sqrt(), 0.3);
    let kahan = |i: usize, j: usize| sine.powi(i as i32) * if i == j { 1.0 } else { -cosine };
    let (rank, check) = go(100, &kahan);
    assert!(rank.is_full() && rank.doubtful == 0, "{rank:?}");
    assert_eq!((check.verdict, check.below), (RankVerdict::TooHigh, 1));
    assert!(check.small.values[0] < 1e-3 * rank.smallest_pivot);

    let falling = |i: usize, j: usize| {
        if i == j { 0.5f64.powi(i as i32) } else { 0.0 }
    };
    let (rank, check) = go(70, &falling);
    assert!(!rank.is_full());
    assert_eq!((check.verdict, check.below), (RankVerdict::NoGap, 0));
    // Of a diagonal matrix the singular values are known.
    for (k, value) in check.small.values.iter().enumerate() {
        let exact = 0.5f64.powi((rank.rank - 1 - k) as i32);
        assert!((value / exact - 1.0).abs() < 1e-2, "{k}: {value:e}");
    }

    // Rank 0: nothing to look at.
    let (rank, check) = go(5, &|_, _| 0.0);
    assert_eq!(rank.rank, 0);
    assert_eq!(check.verdict, RankVerdict::Confirmed);
}
