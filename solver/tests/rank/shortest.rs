//! The shortest of the least-squares solutions, against singular value decompositions.

use super::*;
use faer::Mat;

fn dense(a: &Csc<f64>) -> Mat<f64> {
    let mut dense = Mat::<f64>::zeros(a.nrows(), a.ncols());
    for j in 0..a.ncols() {
        let (rows, values) = a.col(j);
        for (&i, &v) in rows.iter().zip(values) {
            dense[(i as usize, j)] = v;
        }
    }
    dense
}

pub(super) fn pseudo_inverse(a: &Csc<f64>, b: &[f64]) -> (Vec<f64>, usize) {
    let svd = dense(a).thin_svd().expect("converges");
    let s: Vec<f64> = svd.S().column_vector().iter().copied().collect();
    let rank = s.iter().filter(|&&x| x > 1e-11 * s[0]).count();
    let mut x = vec![0.0; a.ncols()];
    for (k, &sigma) in s.iter().enumerate().take(rank) {
        let dot: f64 = (0..a.nrows()).map(|i| svd.U()[(i, k)] * b[i]).sum();
        for (i, xi) in x.iter_mut().enumerate() {
            *xi += svd.V()[(i, k)] * dot / sigma;
        }
    }
    (x, rank)
}

/// Larger ones, with many dependences over many fronts, against the dense pseudo-inverse; by the null space, and where that would
/// be large by a second factorization.
#[test]
fn the_shortest_solution_is_that_of_the_pseudo_inverse() {
    for (k, o) in partitions().iter().enumerate() {
        for (shape, extra) in [((260, 150), 30), ((220, 120), 100), ((220, 90), 130)] {
            let a: Csc<f64> = planted(k as u64, shape, extra, Plant::All);
            for a in [a.adjoint(), a] {
                let b: Vec<f64> = vector(2, a.nrows());
                let (expected, rank) = pseudo_inverse(&a, &b);
                let symbolic = Arc::new(analyse(a.pattern(), o).expect("analysis"));
                let done = factorize(&symbolic, &a, &[], 0, &with(Deficient::MinimumNorm), &());
                let factors = done.expect("finite").factors;
                assert_eq!(factors.rank_details().doubtful, 0);
                assert_eq!((factors.rank(), rank), (shape.1, shape.1));
                let x = factors.solve(&b, 1).expect("solved");
                let error: Vec<f64> = x.iter().zip(&expected).map(|(p, q)| p - q).collect();
                assert!(length(&error) <= 1e-8 * length(&expected));
            }
        }
    }
}

/// Parts of the shortest solution of a tall `a` of this rank, in eps: of its gradient, and of what of it is in the null space over the
/// condition of `a`. All by the singular value decomposition but the solution.
fn errors_of_the_shortest(a: &Csc<f64>, rank: usize, factors: &Factors<f64>) -> [f64; 2] {
    assert_eq!(factors.rank(), rank, "{:?}", factors.rank_details());
    let b: Vec<f64> = vector(2, a.nrows());
    let x = factors.solve(&b, 1).expect("solved");
    let (mut r, mut gradient) = (b, vec![0.0; a.ncols()]);
    a.mul_add(-1.0, &x, &mut r);
    a.adjoint().mul_add(1.0, &r, &mut gradient);
    let svd = dense(a).thin_svd().expect("converges");
    let (s, v) = (svd.S().column_vector(), svd.V());
    let dot = |k| x.iter().enumerate().map(|(j, x)| v[(j, k)] * x).sum();
    let inside: Vec<f64> = (rank..a.ncols()).map(dot).collect();
    let scale = s[0] * (length(&r) + s[0] * length(&x));
    [
        length(&gradient) / (f64::EPSILON * scale),
        length(&inside) / (f64::EPSILON * s[0] / s[rank - 1] * length(&x)),
    ]
}

/// Rows over so many decades that the live columns are ill conditioned, as the matrix is: the basis of the null space serves all the same,
/// up to where R's adjoint is factorized.
#[test]
fn the_shortest_solution_where_the_live_columns_are_ill_conditioned() {
    let mut conditions = Vec::new();
    for (k, o) in partitions().iter().enumerate() {
        for decades in [2, 4, 6, 8] {
            let (m, n) = (260, 150);
            let mut a: Csc<f64> = planted(k as u64, (m, n), 30, Plant::Sums);
            let rows = a.pattern().rowidx().to_vec();
            for (v, i) in a.values_mut().iter_mut().zip(rows) {
                *v *= 10f64.powf(-f64::from(decades) * f64::from(i) / m as f64);
            }
            let symbolic = Arc::new(analyse(a.pattern(), o).expect("analysis"));
            let done = factorize(&symbolic, &a, &[], 0, &with(Deficient::MinimumNorm), &());
            let factors = done.expect("finite").factors;
            let [gradient, inside] = errors_of_the_shortest(&a, n, &factors);
            assert!(gradient < 1e2 && inside < 1e2, "{gradient} {inside}");
            conditions.extend(factors.rank_details().condition);
        }
    }
    let between = |range: std::ops::Range<f64>| conditions.iter().any(|c| range.contains(c));
    assert!(between(1e4..1e6) && between(1e7..1e9), "{conditions:?}");
}

/// Two dependent columns that the live ones, ill conditioned where the matrix is not, make of nearly parallel combinations of great
/// length: an orthonormal basis made of these is none. It is found out, and R's adjoint factorized.
#[test]
fn a_basis_that_is_none_is_not_taken() {
    let (m, n, growth) = (40, 18, 1.9);
    let mut rng = Rng(8);
    let mix: Vec<f64> = (0..m * n).map(|_| rng.unit()).collect();
    let mixed = |column: &[(usize, f64)]| -> Vec<f64> {
        let entry = |i| column.iter().map(|&(k, v)| mix[k * m + i] * v).sum();
        (0..m).map(entry).collect()
    };
    let mut columns: Vec<Vec<f64>> = vec![mixed(&[(0, 1.0)])];
    columns.extend((1..n).map(|j| mixed(&[(j - 1, -growth), (j, 1.0)])));
    columns.push(mixed(&[(n - 1, 1.0)]));
    columns.push(mixed(&[(n - 1, 1.0), (n - 2, 0.7)]));
    let mut triplets = (Vec::new(), Vec::new(), Vec::new());
    for (j, column) in columns.iter().enumerate() {
        for (i, &v) in column.iter().enumerate() {
            triplets.0.push(i as u32);
            triplets.1.push(j as u32);
            triplets.2.push(v);
        }
    }
    let (i, j, v) = triplets;
    let a = Csc::from_triplets(m, n + 2, &i, &j, &v).expect("in range");
    let o = options(|o| o.ordering = "natural".into());
    let symbolic = Arc::new(analyse(a.pattern(), &o).expect("analysis"));
    let done = factorize(&symbolic, &a, &[], 0, &with(Deficient::MinimumNorm), &());
    let factors = done.expect("finite").factors;
    let condition = factors.rank_details().condition.expect("columns are dead");
    assert!((1e4..1e6).contains(&condition), "{condition}");
    // What was dropped of the dead columns is no rounding of `a`: the gradient knows it.
    let [gradient, inside] = errors_of_the_shortest(&a, n, &factors);
    assert!(gradient < 1e4 && inside < 1e1, "{gradient} {inside}");
}
