//! Tests of the analysis against brute force: everything from the filled pattern of W'W, and by merging rows one column
//! after the other.

use super::*;
use crate::options::Options;
use crate::symbolic::SORTED_FROM;
use std::collections::BTreeSet;
use treeqr_matrices::Csc;

/// A deterministic random pattern without empty rows.
fn pattern(seed: u64, m: usize, n: usize, extra: usize) -> Arc<Pattern> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) as usize % n
    };
    let mut i: Vec<u32> = (0..m as u32).collect();
    let mut j: Vec<u32> = (0..m).map(|_| below(n) as u32).collect();
    for _ in 0..extra {
        i.push(below(m) as u32);
        j.push(below(n) as u32);
    }
    let v = vec![1.0; i.len()];
    Csc::<f64>::from_triplets(m, n, &i, &j, &v)
        .expect("in range")
        .pattern()
        .clone()
}

/// Rows of the Cholesky factor of W'W in the given column order, by elimination on sets.
fn filled(cols: &Pattern, order: &[u32]) -> Vec<BTreeSet<u32>> {
    let n = order.len();
    let mut place = vec![0u32; n];
    for (k, &j) in order.iter().enumerate() {
        place[j as usize] = k as u32;
    }
    let mut rows_of: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); cols.nrows()];
    for (j, &k) in place.iter().enumerate() {
        for &i in cols.col(j) {
            rows_of[i as usize].insert(k);
        }
    }
    let mut upper: Vec<BTreeSet<u32>> = (0..n as u32).map(|k| BTreeSet::from([k])).collect();
    for row in &rows_of {
        for &a in row {
            upper[a as usize].extend(row.range(a..));
        }
    }
    for k in 0..n {
        let structure: Vec<u32> = upper[k].iter().copied().filter(|&j| j > k as u32).collect();
        if let Some(&first) = structure.first() {
            upper[first as usize].extend(structure);
        }
    }
    upper
}

/// Every row and every column twice.
fn doubled(cols: &Pattern) -> Pattern {
    let (mut ptr, mut idx) = (vec![0], Vec::new());
    for j in (0..cols.ncols()).flat_map(|j| [j, j]) {
        idx.extend(cols.col(j).iter().flat_map(|&i| [2 * i, 2 * i + 1]));
        ptr.push(idx.len());
    }
    Pattern::new(2 * cols.nrows(), 2 * cols.ncols(), ptr, idx).expect("a pattern")
}

#[test]
fn tree_and_counts_are_those_of_the_filled_graph() {
    for seed in 1..60 {
        let (m, n) = (5 + seed as usize % 40, 3 + seed as usize % 23);
        let mut cols = pattern(seed, m, n, (seed as usize * 7) % 60);
        if seed % 3 == 0 {
            cols = Arc::new(doubled(&cols));
        }
        let (m, n) = (cols.nrows(), cols.ncols());
        let rows = cols.transposed();
        let natural: Vec<u32> = (0..n as u32).collect();
        let (order, parent) = etree::postordered_etree(&cols, &natural);
        let upper = filled(&cols, &order);
        let expected: Vec<u32> = upper
            .iter()
            .map(|row| row.iter().nth(1).copied().unwrap_or(etree::NONE))
            .collect();
        assert_eq!(parent, expected, "seed {seed}: parents");
        let mut place = vec![0u32; n];
        for (k, &j) in order.iter().enumerate() {
            place[j as usize] = k as u32;
        }
        let of = |i: usize| rows.col(i).iter().map(|&j| place[j as usize]).collect();
        let columns: Vec<Vec<u32>> = (0..m).map(of).collect();
        let first = |columns: &Vec<u32>| *columns.iter().min().expect("no empty row");
        let first: Vec<u32> = columns.iter().map(first).collect();
        let by_first = counts::RowsByFirst::new(n, &first);
        let same: Vec<u32> = (0..n as u32).collect();
        let counts = counts::row_counts(&parent, &by_first, &same, |i| &columns[i as usize]);
        let expected: Vec<u32> = upper.iter().map(|row| row.len() as u32).collect();
        assert_eq!(counts, expected, "seed {seed}: |R(k, :)|");
    }
}

/// Walks through the fronts as the factorization will, on patterns, and checks every list of the tree.
fn check_tree(symbolic: &Symbolic) {
    let tree = &symbolic.tree;
    let work = work::Work::new(&symbolic.pattern);
    let order: Vec<u32> = symbolic.column_order().collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(
        sorted,
        (0..symbolic.work_cols() as u32).collect::<Vec<_>>(),
        "every column once"
    );
    let mut position = vec![u32::MAX; symbolic.work_cols()];
    for (k, &j) in tree.col_order.iter().enumerate() {
        position[j as usize] = k as u32;
    }
    let mut seen_rows = vec![false; symbolic.work_rows()];
    let mut next_pivot = 0;
    for (f, front) in tree.fronts.iter().enumerate() {
        let (cols, stair) = (tree.cols(f), tree.stair(f));
        let npiv = front.npiv as usize;
        assert_eq!(front.first_pivot, next_pivot);
        next_pivot += front.npiv;
        assert!(
            cols[..npiv]
                .iter()
                .copied()
                .eq(front.first_pivot..next_pivot),
            "pivots are numbered in a row"
        );
        assert!(
            cols[npiv..].windows(2).all(|w| w[0] < w[1]),
            "columns increase"
        );
        assert!(stair.is_sorted() && stair.last() == Some(&front.m));
        assert!(
            front
                .children
                .iter()
                .all(|&c| (c as usize) < f && tree.fronts[c as usize].parent == Some(f as u32))
        );
        // Every row of the front is taken by one row of W or of a child, or holds only zeros, and starts where the
        // staircase says at the earliest.
        let mut taken = vec![false; front.m as usize];
        let mut take = |row: u32, lead: usize| {
            assert!(
                !std::mem::replace(&mut taken[row as usize], true),
                "row {row} of front {f} is taken twice"
            );
            assert!(
                stair[lead] > row && (lead == 0 || stair[lead - 1] <= row),
                "row {row} starts at {lead}"
            );
        };
        let local = &tree.own.local[front.own_start..front.own_end];
        assert!(local.len() < SORTED_FROM || local.is_sorted());
        for k in front.own_start..front.own_end {
            let row = tree.own.row[k];
            assert!(!std::mem::replace(&mut seen_rows[row as usize], true));
            let range = tree.own.start[k]..tree.own.start[k + 1];
            let mine: BTreeSet<u32> = tree.own.col[range]
                .iter()
                .map(|&c| cols[c as usize])
                .collect();
            let expected: BTreeSet<u32> = work
                .rows
                .col(row as usize)
                .iter()
                .map(|&j| position[j as usize])
                .collect();
            assert_eq!(mine, expected, "columns of row {row}");
            take(tree.own.local[k], tree.own.col[tree.own.start[k]] as usize);
        }
        for &c in &front.children {
            let child = &tree.fronts[c as usize];
            let (rowmap, colmap) = (tree.rowmap(c as usize), tree.colmap(c as usize));
            let from = &tree.cols(c as usize)[child.npiv as usize..];
            assert!(
                from.iter()
                    .zip(colmap)
                    .all(|(&p, &to)| cols[to as usize] == p),
                "columns of a child"
            );
            assert!(colmap.is_sorted() && rowmap.is_sorted());
            for (r, &row) in rowmap.iter().enumerate() {
                let k = child.npiv as usize + r;
                let child_stair = tree.stair(c as usize);
                let lead = (k..child.n as usize)
                    .find(|&j| child_stair[j] as usize > k)
                    .expect("a row starts");
                take(row, colmap[lead - child.npiv as usize] as usize);
            }
        }
    }
    for (i, seen) in seen_rows.iter().enumerate() {
        let single = symbolic.singletons.iter().any(|s| s.row as usize == i);
        assert_eq!(
            *seen || single,
            !work.rows.col(i).is_empty(),
            "row {i} is in one place"
        );
    }
}

#[test]
fn fronts_hold_every_row_once_and_map_into_their_parents() {
    for seed in 1..400 {
        let (m, n) = (4 + seed as usize % 50, 2 + (seed as usize * 3) % 41);
        let mut cols = pattern(seed, m, n, (seed as usize * 11) % 120);
        if seed % 4 == 0 {
            cols = Arc::new(doubled(&cols));
        }
        for ordering in [
            "natural", "twisted", "colamd", "amd", "nd", "metis", "metis4", "auto",
        ] {
            let options = Options {
                ordering: ordering.into(),
                threads: 1 + seed as usize % 3,
                ..Options::default()
            };
            check_tree(&analyse(&cols, &options).expect("analysis"));
        }
    }
}

#[test]
fn singletons_come_off_a_triangle_whole() {
    let n = 20;
    let (i, j): (Vec<u32>, Vec<u32>) = (0..n).flat_map(|i| (i..n).map(move |j| (i, j))).unzip();
    let a =
        Csc::from_triplets(n as usize, n as usize, &i, &j, &vec![1.0; i.len()]).expect("in range");
    let symbolic = analyse(a.pattern(), &Options::default()).expect("analysis");
    assert_eq!((symbolic.singletons(), symbolic.fronts().len()), (20, 0));
    assert_eq!(symbolic.nnz_r(), 210);
    assert_eq!(symbolic.nnz_h(), 0);
}

#[test]
fn an_analysis_is_the_same_on_any_number_of_threads() {
    // The first is large enough for subtrees and for parts of the rows at the same time; then dissections, METIS, and minimum degree by
    // AMD; then a dissection alone.
    for name in ["conv2d-120", "grid3d-20", "TF13", "lp-3000", "ba-50x2000"] {
        let a = treeqr_matrices::gallery::make(name)
            .expect("gallery")
            .matrix;
        let analysed = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().expect("a pool");
            let symbolic = pool.install(|| analyse(a.pattern(), &Options::default()));
            symbolic.expect("an analysis")
        };
        let one = analysed(1);
        assert!(name != "conv2d-120" || one.tree.own.col.len() > 50_000);
        let alone = one.ordering_why.ends_with("seldom better on such a graph");
        assert_eq!(alone, name == "ba-50x2000", "{}", one.ordering_why);
        for threads in [2, 5] {
            let other = analysed(threads);
            assert_eq!(one.ordering_why, other.ordering_why, "{name}");
            let lists = |s: &Symbolic| {
                let t = &s.tree;
                [&t.col_order, &t.cols, &t.stairs, &t.rowmaps, &t.colmaps]
                    .into_iter()
                    .chain([&t.own.row, &t.own.local, &t.own.col])
                    .cloned()
                    .collect::<Vec<_>>()
            };
            assert!(lists(&one) == lists(&other), "{name}, {threads} threads");
            assert_eq!(one.tree.own.start, other.tree.own.start);
            assert_eq!(one.tree.own.position, other.tree.own.position);
        }
    }
}
