//! Triplets into columns.

use treeqr_matrices::{Csc, SparseError};

#[test]
fn any_order_gives_sorted_columns_and_sums_in_order_of_arrival() {
    // 1e16 + 1 - 1e16 depends on the order.
    let rows = [2, 0, 1, 2, 2, 0];
    let cols = [1, 1, 0, 1, 1, 0];
    let values = [1e16, 3.0, 4.0, 1.0, -1e16, 0.0];
    let a = Csc::from_triplets(3, 3, &rows, &cols, &values).unwrap();
    assert_eq!(a.pattern().colptr(), [0, 2, 4, 4]);
    assert_eq!(a.pattern().rowidx(), [0, 1, 0, 2]);
    assert_eq!(a.values(), [0.0, 4.0, 3.0, 0.0]);
}

#[test]
fn sorted_triplets_give_the_same_as_shuffled_ones() {
    let n = 300;
    let mut triplets: Vec<(u32, u32, f64)> = (0..n)
        .flat_map(|j| {
            (0..n)
                .filter(move |i| (i * 7 + j * 3) % 11 == 0)
                .map(move |i| (i, j))
        })
        .map(|(i, j)| (i, j, f64::from(i * 1000 + j)))
        .collect();
    let build = |t: &[(u32, u32, f64)]| {
        let rows: Vec<u32> = t.iter().map(|t| t.0).collect();
        let cols: Vec<u32> = t.iter().map(|t| t.1).collect();
        let values: Vec<f64> = t.iter().map(|t| t.2).collect();
        let borrowed = Csc::from_triplets(n as usize, n as usize, &rows, &cols, &values).unwrap();
        let owned = Csc::from_owned_triplets(n as usize, n as usize, rows, cols, values).unwrap();
        assert_eq!(borrowed, owned);
        borrowed
    };
    let sorted = build(&triplets);
    triplets.sort_by_key(|t| (t.0 * 7919 + t.1 * 104_729) % 65_537);
    assert_eq!(build(&triplets), sorted);
    assert_eq!(sorted.nnz(), triplets.len());
}

#[test]
fn empty_and_broken_input() {
    let none: [f64; 0] = [];
    let a = Csc::from_triplets(0, 0, &[], &[], &none).unwrap();
    assert_eq!((a.nnz(), a.pattern().colptr()), (0, &[0][..]));
    let a = Csc::from_triplets(3, 2, &[], &[], &none).unwrap();
    assert_eq!(a.pattern().colptr(), [0, 0, 0]);
    let lengths = Csc::from_triplets(1, 1, &[0], &[], &[1.0]).unwrap_err();
    assert!(matches!(lengths, SparseError::Lengths { .. }));
    let outside = Csc::from_triplets(1, 1, &[0, 1], &[0, 0], &[1.0, 1.0]).unwrap_err();
    assert!(matches!(
        outside,
        SparseError::OutOfRange {
            entry: 1,
            row: 1,
            ..
        }
    ));
    let large = Csc::from_triplets(1 << 33, 1, &[], &[], &none).unwrap_err();
    assert!(matches!(large, SparseError::TooLarge { .. }));
}

#[test]
fn a_transposed_pattern_has_each_entry_at_its_mirror_place() {
    let rows = [3, 0, 2, 2, 1, 3, 0];
    let cols = [0, 1, 1, 4, 4, 4, 5];
    let a = Csc::from_triplets(4, 6, &rows, &cols, &[1.0; 7]).unwrap();
    let (mirrored, from) = a.pattern().transpose();
    assert_eq!((mirrored.nrows(), mirrored.ncols()), (6, 4));
    assert_eq!(mirrored.colptr(), [0, 2, 3, 5, 7]);
    assert_eq!(mirrored.rowidx(), [1, 5, 4, 1, 4, 0, 4]);
    let row_there = |&p: &usize| a.pattern().rowidx()[p];
    let came_from: Vec<u32> = from.iter().map(row_there).collect();
    assert_eq!(came_from, [0, 0, 1, 2, 2, 3, 3]);
    assert_eq!(a.pattern().transposed(), mirrored);
    assert_eq!(mirrored.transposed(), **a.pattern());
}

#[test]
fn a_pattern_that_threads_transpose_together_is_the_same() {
    // Columns of many lengths, some without entries, the last rows in all of them.
    let (nrows, ncols) = (5000u32, 4000u32);
    let mut entries: Vec<(u32, u32)> = Vec::new();
    for j in 0..ncols {
        let step = 5 + (j * 13 % 151);
        let first = if j % 5 == 0 { nrows } else { j % 7 };
        entries.extend((first..nrows - 2).step_by(step as usize).map(|i| (i, j)));
        entries.extend([(nrows - 2, j), (nrows - 1, j)]);
    }
    assert!(entries.len() > 300_000, "{} are too few", entries.len());
    let (rows, cols): (Vec<u32>, Vec<u32>) = entries.iter().copied().unzip();
    let ones = vec![1.0; rows.len()];
    let shape = (nrows as usize, ncols as usize);
    let a = Csc::from_triplets(shape.0, shape.1, &rows, &cols, &ones).unwrap();
    let mut by_row: Vec<usize> = (0..rows.len()).collect();
    by_row.sort_by_key(|&p| (rows[p], cols[p]));
    for threads in [1, 2, 3, 16] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        let (mirrored, from) = pool.install(|| a.pattern().transpose());
        assert!(from == by_row, "{threads} threads");
        assert!(
            mirrored
                .rowidx()
                .iter()
                .eq(by_row.iter().map(|&p| &cols[p]))
        );
        assert_eq!((mirrored.nrows(), mirrored.ncols()), (shape.1, shape.0));
        assert!(pool.install(|| mirrored.transposed()) == **a.pattern());
    }
}

#[test]
fn a_restricted_pattern_has_what_is_left_under_its_new_numbers() {
    use treeqr_matrices::Pattern;
    let (nrows, ncols) = (40u32, 30u32);
    let entries = (0..ncols).flat_map(|j| (0..nrows).map(move |i| (i, j)));
    let entries = entries.filter(|(i, j)| (i * 7 + j * 5) % 9 < 2);
    let (rows, cols): (Vec<u32>, Vec<u32>) = entries.unzip();
    let ones = vec![1.0; rows.len()];
    let a = Csc::from_triplets(nrows as usize, ncols as usize, &rows, &cols, &ones).unwrap();
    let chosen: Vec<u32> = (0..ncols).filter(|j| j % 4 != 1).rev().collect();
    // Every third row goes.
    let mut place = vec![Pattern::LEFT_OUT; nrows as usize];
    let left: Vec<u32> = (0..nrows).filter(|i| i % 3 != 0).collect();
    for (k, &i) in left.iter().enumerate() {
        place[i as usize] = k as u32;
    }
    let some = a.pattern().restricted(&chosen, &place, left.len());
    assert_eq!((some.nrows(), some.ncols()), (left.len(), chosen.len()));
    for (k, &j) in chosen.iter().enumerate() {
        let old: Vec<u32> = some.col(k).iter().map(|&p| left[p as usize]).collect();
        let expected = a.pattern().col(j as usize).iter().filter(|&i| i % 3 != 0);
        assert!(old.iter().eq(expected), "column {j}");
    }
    let copy = (some.colptr().to_vec(), some.rowidx().to_vec());
    assert_eq!(
        Pattern::new(some.nrows(), some.ncols(), copy.0, copy.1),
        Ok(some)
    );
}
