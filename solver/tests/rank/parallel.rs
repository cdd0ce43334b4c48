//! What is divided among the workers: large nodes in block columns, the null space in parts and blocks.

use super::*;

/// A root of more columns than a node is reduced in as a whole, with many dead pivots in it and below.
fn large_root(m: usize, n: usize, extra: usize) -> (Csc<f64>, Options) {
    let a = planted(21, (m, n), extra, Plant::Sums);
    let o = options(|o| {
        o.ordering = "natural".into();
        (o.mb, o.nb, o.ib, o.bh) = (Some(64), Some(64), Some(16), Some(0));
    });
    let symbolic = analyse(a.pattern(), &o).expect("analysis");
    let root = symbolic.fronts().last().expect("a front");
    assert!(root.n >= 320 && root.npiv >= 320, "{} columns", root.n);
    (a, o)
}

#[test]
fn a_large_root_in_block_columns() {
    let (a, o) = large_root(800, 640, 70);
    check(&a, 640, &o);
}

/// Blocks that share no row and no column: no vector of the null space has entries in two of them.
#[test]
fn the_null_space_goes_no_further_than_it_must() {
    let blocks: Vec<Csc<f64>> = (0..6)
        .map(|k| planted(k, (20, 12), 1 + k as usize % 3, Plant::Sums))
        .collect();
    let (mut i, mut j, mut v, mut of_column) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut rows = 0;
    for (k, block) in blocks.iter().enumerate() {
        for col in 0..block.ncols() {
            let (r, values) = block.col(col);
            i.extend(r.iter().map(|r| r + rows));
            j.extend(r.iter().map(|_| of_column.len() as u32));
            v.extend_from_slice(values);
            of_column.push(k);
        }
        rows += block.nrows() as u32;
    }
    let n = of_column.len();
    let a = Csc::from_triplets(rows as usize, n, &i, &j, &v).expect("in range");
    for o in partitions() {
        check(&a, 6 * 12, &o);
        let symbolic = Arc::new(analyse(a.pattern(), &o).expect("analysis"));
        let done = factorize(&symbolic, &a, &[], 0, &with(Deficient::Basic), &()).expect("finite");
        for column in done.factors.null_space().chunks_exact(n) {
            let mut found = (0..n).filter(|&j| column[j] != 0.0).map(|j| of_column[j]);
            let first = found.next().expect("a vector of length one");
            assert!(found.all(|k| k == first));
        }
    }
}

#[test]
fn the_same_bits_on_any_number_of_workers() {
    let (a, o) = large_root(800, 600, 120);
    let symbolic = Arc::new(analyse(a.pattern(), &o).expect("analysis"));
    let rhs: Vec<f64> = vector(3, a.nrows() * 2);
    let outcome = |threads: usize, sequential: bool| {
        let options = FactorOptions {
            deficient: Deficient::MinimumNorm,
            sequential,
            ..run_options(threads, true)
        };
        let done = factorize(&symbolic, &a, &rhs, 2, &options, &()).expect("finite");
        let factors = done.factors;
        let rank = factors.rank_details().clone();
        assert_eq!(rank.rank, 600, "{rank:?}");
        let r = factors.trapezoid().expect("no row is split off");
        let numbers = [
            entries(&r),
            factors.null_space(),
            factors.apply_q_adjoint(&rhs, 2).expect("Q kept").head,
            factors.solution().expect("solved"),
            factors.solve(&rhs, 2).expect("solved"),
        ];
        let bits = numbers.map(|all| all.iter().map(|v| v.to_bits()).collect::<Vec<_>>());
        (rank, bits)
    };
    let expected = outcome(1, true);
    for threads in [1, 2, 3, 7] {
        assert!(outcome(threads, false) == expected, "{threads} workers");
    }
}
