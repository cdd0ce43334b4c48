//! What the reader accepts, and what it makes of it.

use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use treeqr_matrices::{Csc, Dense, Scalar, c32, c64, parse_dense, parse_sparse};

fn sparse<T: Scalar>(text: &str) -> Csc<T> {
    parse_sparse(text.as_bytes(), "x.mtx").unwrap_or_else(|e| panic!("{e}"))
}

fn dense<T: Scalar>(text: &str) -> Dense<T> {
    parse_dense(text.as_bytes(), "x.mtx").unwrap_or_else(|e| panic!("{e}"))
}

/// The full matrix, row by row.
fn rows<T: Scalar>(a: &Csc<T>) -> Vec<Vec<T>> {
    let at = |i: usize, j: usize| {
        let (rows, values) = a.col(j);
        rows.binary_search(&(i as u32))
            .map_or(T::zero(), |p| values[p])
    };
    let row = |i| (0..a.ncols()).map(|j| at(i, j)).collect();
    (0..a.nrows()).map(row).collect()
}

#[test]
fn real_with_all_liberties() {
    let text = "\u{feff}%%matrixmarket MATRIX Coordinate Real GENERAL \r\n% a comment\r\n\r\n  %another\r\n\t3 2   5\r\n\
                3 2 1.5D+02\r\n% in between\r\n\r\n  1 1\t-.5 \r\n1 1 0.25\r\n2 2 0\r\n2 1 +1d-2\r\n\r\n%end";
    let a: Csc<f64> = sparse(text);
    assert_eq!(rows(&a), [[-0.25, 0.0], [0.01, 0.0], [0.0, 150.0]]);
    assert_eq!(
        a.nnz(),
        4,
        "the explicit zero stays, the duplicate is summed"
    );
}

#[test]
fn integer_and_pattern() {
    let a: Csc<f64> =
        sparse("%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 2 -7\n1 1 9e2");
    assert_eq!(rows(&a), [[900.0, -7.0]]);
    let a: Csc<f32> =
        sparse("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n");
    assert_eq!(rows(&a), [[0.0, 1.0], [1.0, 1.0]]);
}

#[test]
fn symmetries_and_either_triangle() {
    let file = |kind: &str, body: &str| {
        format!("%%MatrixMarket matrix coordinate {kind}\n2 2 2\n{body}\n")
    };
    let a: Csc<f64> = sparse(&file("real symmetric", "1 1 5\n2 1 3"));
    assert_eq!(rows(&a), [[5.0, 3.0], [3.0, 0.0]]);
    assert_eq!(a, sparse(&file("real symmetric", "1 1 5\n1 2 3")));
    let a: Csc<f64> = sparse(&file("real skew-symmetric", "2 2 0\n2 1 3"));
    assert_eq!(rows(&a), [[0.0, -3.0], [3.0, 0.0]]);
    let a: Csc<f64> = sparse(&file("real skew-symmetric", "2 2 0\n1 2 3"));
    assert_eq!(rows(&a), [[0.0, 3.0], [-3.0, 0.0]]);
    let a: Csc<c64> = sparse(&file("complex hermitian", "1 1 5 0\n2 1 3 4"));
    assert_eq!(rows(&a)[0], [c64::new(5.0, 0.0), c64::new(3.0, -4.0)]);
    assert_eq!(rows(&a)[1][0], c64::new(3.0, 4.0));
    // Both triangles: each place is given twice, and duplicates are summed.
    let a: Csc<f64> = sparse(&file("real symmetric", "1 2 3\n2 1 3"));
    assert_eq!(rows(&a), [[0.0, 6.0], [6.0, 0.0]]);
}

#[test]
fn complex_and_real_into_complex() {
    let a: Csc<c32> =
        sparse("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1e0 -2D0\n");
    assert_eq!(a.values(), [c32::new(1.0, -2.0)]);
    let a: Csc<c32> = sparse("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 3\n");
    assert_eq!(a.values(), [c32::new(3.0, 0.0)]);
}

#[test]
fn arrays() {
    let x: Dense<f64> = dense("%%MatrixMarket matrix array real general\n2 2\n1\n2\n%\n3\n4\n");
    assert_eq!((x.nrows(), x.col(1)), (2, &[3.0, 4.0][..]));
    let x: Dense<f64> = dense("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n");
    assert_eq!(x.values(), [1.0, 2.0, 2.0, 3.0]);
    let x: Dense<f64> = dense("%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n");
    assert_eq!(x.values(), [0.0, 1.0, 2.0, -1.0, 0.0, 3.0, -2.0, -3.0, 0.0]);
    let x: Dense<c64> =
        dense("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 5\n3 0\n");
    assert_eq!(x.col(1), [c64::new(2.0, -5.0), c64::new(3.0, 0.0)]);
    let a: Csc<f64> = sparse("%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n4\n");
    assert_eq!(
        (a.nnz(), rows(&a)),
        (2, vec![vec![1.0, 0.0], vec![0.0, 4.0]])
    );
}

#[test]
fn right_hand_sides() {
    let x: Dense<f64> =
        dense("%%MatrixMarket matrix coordinate real general\n3 2 3\n3 1 2\n3 1 0.5\n1 2 4\n");
    assert_eq!(x.values(), [0.0, 0.0, 2.5, 4.0, 0.0, 0.0]);
    let x: Dense<f32> = dense("# b\n-0\n\n1.5\n%\n2d1");
    assert_eq!((x.ncols(), x.values()), (1, &[0.0, 1.5, 20.0][..]));
    assert!(x.values()[0].is_sign_negative());
}

#[test]
fn empty_shapes() {
    for size in ["0 0 0", "3 0 0", "0 3 0", "2 2 0"] {
        let a: Csc<f64> = sparse(&format!(
            "%%MatrixMarket matrix coordinate real general\n{size}"
        ));
        assert_eq!(a.nnz(), 0, "{size}");
    }
    let x: Dense<f64> = dense("%%MatrixMarket matrix array real general\n0 3\n");
    assert_eq!((x.nrows(), x.ncols()), (0, 3));
}

#[test]
fn gzip_by_its_first_bytes_in_several_members() {
    let member = |text: &str| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap()
    };
    let mut file = member("%%MatrixMarket matrix coordinate real general\n1 1");
    file.extend(member(" 1\n1 1 8\n"));
    let a: Csc<f64> = parse_sparse(&file, "no-such-ending").unwrap();
    assert_eq!(a.values(), [8.0]);
}

#[test]
fn numbers_are_rounded_correctly() {
    let words = [
        "0.1",
        "1e-320",
        "2.2250738585072011e-308",
        "9007199254740993",
        "1.7976931348623157e308",
        "4.9e-324",
    ];
    for word in words {
        let text = format!("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 {word}\n");
        assert_eq!(
            sparse::<f64>(&text).values(),
            [word.parse::<f64>().unwrap()],
            "{word}"
        );
    }
}

/// More than one piece of text: what is read must not depend on where the text is cut, or on the number of threads.
#[test]
fn large_files_in_pieces() {
    let n = 90_000;
    let mut text = format!(
        "%%MatrixMarket matrix coordinate real general\n{n} {n} {}\n",
        2 * n
    );
    for j in 1..=n {
        text += &format!("{j} {j} {}.5\n", j % 1000);
        if j % 1000 == 0 {
            text += "% comment\n\n";
        }
        text += &format!("{} {j} 1e-3\r\n", j % n + 1);
    }
    assert!(text.len() > 1 << 21);
    let a: Csc<f64> = sparse(&text);
    assert_eq!(a.nnz(), 2 * n);
    assert_eq!(a.col(4), (&[4, 5][..], &[5.5, 1e-3][..]));
    let one = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    assert_eq!(one.install(|| sparse::<f64>(&text)), a);

    // Faults far into the file still name their line.
    let line = text.lines().count() + 1;
    let longer = text.clone() + "1 1 1\n";
    let message = |text: &str| {
        parse_sparse::<f64>(text.as_bytes(), "x")
            .unwrap_err()
            .to_string()
    };
    let found = message(&longer);
    assert_eq!(
        found,
        format!(
            "x:{line}:1: more than the {} entries that the dimensions promise",
            2 * n
        )
    );
    let broken = text.replacen("\n80000 80000 0.5", "\n80000 80000 O.5", 1);
    let line = text[..text.find("\n80000 80000 ").unwrap()].lines().count() + 1;
    assert_eq!(
        message(&broken),
        format!("x:{line}:13: 'O.5' is not a number")
    );
}
