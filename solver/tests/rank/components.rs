//! Differences along the edges of graphs that hang together: the columns of each depend on each other in one way, which shows in the last
//! pivot of a root.

use super::*;

/// Of each component its vertices and its edges beside those of a tree; columns and rows in a random order. Entries are not the same in
/// both directions, so that no dependence is exact.
fn graphs<T: Scalar>(seed: u64, components: &[(usize, usize)]) -> Csc<T> {
    let mut rng = Rng(seed);
    let n = components.iter().map(|c| c.0).sum();
    let mut number: Vec<u32> = (0..n as u32).collect();
    for k in (1..n).rev() {
        number.swap(k, rng.below(k + 1));
    }
    let scale: Vec<T> = (0..n)
        .map(|_| rng.scalar::<T>() + T::from_f64(2.0, 0.0))
        .collect();
    let (mut edges, mut first) = (Vec::new(), 0);
    for &(vertices, more) in components {
        let tree: Vec<_> = (1..vertices).map(|v| (rng.below(v), v)).collect();
        let others = (0..more).map(|_| (rng.below(vertices), rng.below(vertices)));
        let all = tree.into_iter().chain(others.collect::<Vec<_>>());
        edges.extend(
            all.filter(|(u, v)| u != v)
                .map(|(u, v)| (first + u, first + v)),
        );
        first += vertices;
    }
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    for (row, &(from, to)) in edges.iter().enumerate() {
        for (vertex, sign) in [(from, 1.0), (to, -1.0)] {
            i.push(row as u32);
            j.push(number[vertex]);
            v.push(scale[vertex] * T::from_f64(sign, 0.0));
        }
    }
    Csc::from_triplets(edges.len(), n, &i, &j, &v).expect("in range")
}

fn each_component_lacks_one<T: FactorScalar>() {
    // Trees alone, one vertex without an edge, dense ones.
    let components = [(1, 0), (2, 3), (5, 0), (12, 40), (30, 90), (40, 30)];
    let lacking = components.len();
    for (seed, o) in (0..).zip(&partitions()) {
        let a: Csc<T> = graphs(seed, &components);
        check(&a, a.ncols() - lacking, o);
        check(&a.adjoint(), a.ncols() - lacking, o);

        // Without Q, and b brought along.
        let b: Vec<T> = vector(seed, a.nrows());
        let symbolic = Arc::new(analyse(a.pattern(), o).expect("analysis"));
        let go = |rhs: &[T], keep_q| {
            let options = run_options(2, keep_q);
            factorize(&symbolic, &a, rhs, rhs.len() / a.nrows(), &options, &())
                .expect("finite")
                .factors
        };
        let (with, without) = (go(&[], true), go(&b, false));
        assert_eq!(with.dead_columns(), without.dead_columns());
        let (x, y) = (with.solve(&b, 1), without.solution());
        let (x, y) = (x.expect("solved"), y.expect("solved"));
        let error: Vec<T> = x.iter().zip(&y).map(|(&p, &q)| p - q).collect();
        let eps = <T::Real as RealScalar>::EPSILON.to_f64();
        assert!(length(&error) <= 1e4 * eps * length(&x), "{}", T::NAME);
    }
}

#[test]
fn each_component_lacks_one_f64() {
    each_component_lacks_one::<f64>();
}

#[test]
fn each_component_lacks_one_c64() {
    each_component_lacks_one::<c64>();
}

#[test]
fn each_component_lacks_one_f32() {
    each_component_lacks_one::<f32>();
}
