//! Random matrices out and in, and input that nobody should have to expect.

use proptest::prelude::*;
use treeqr_matrices::{Csc, Dense, Scalar, c32, c64};
use treeqr_matrices::{
    parse_dense, parse_sparse, read_dense, read_sparse, write_dense, write_sparse,
};

/// Any finite double, with a liking for integers and extremes.
fn number() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    prop_oneof![
        POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO,
        (-3i32..4).prop_map(f64::from),
        Just(f64::MAX),
        Just(9_007_199_254_740_993.0),
    ]
}

/// Rows, columns and entries: row, column, real and imaginary part.
type Triplets = (usize, usize, Vec<(u32, u32, f64, f64)>);

prop_compose! {
    fn triplets()(nrows in 1usize..20, ncols in 1usize..20)(
        list in prop::collection::vec((0..nrows as u32, 0..ncols as u32, number(), number()), 0..60),
        nrows in Just(nrows),
        ncols in Just(ncols),
    ) -> Triplets {
        let mut list = list;
        list.sort_by_key(|t| (t.0, t.1));
        list.dedup_by_key(|t| (t.0, t.1));
        (nrows, ncols, list)
    }
}

fn matrix<T: Scalar>(from: &Triplets) -> Csc<T> {
    let (nrows, ncols, list) = from;
    let rows: Vec<u32> = list.iter().map(|t| t.0).collect();
    let cols: Vec<u32> = list.iter().map(|t| t.1).collect();
    let finite = |v: T| if v.is_finite() { v } else { T::one() };
    let values: Vec<T> = list.iter().map(|t| finite(T::from_f64(t.2, t.3))).collect();
    Csc::from_triplets(*nrows, *ncols, &rows, &cols, &values).unwrap()
}

fn sparse_survives<T: Scalar>(from: &Triplets, ending: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(ending);
    let a: Csc<T> = matrix(from);
    write_sparse(&path, &a, "random").unwrap();
    let again: Csc<T> = read_sparse(&path).unwrap();
    assert_eq!(a, again);
    // Equality takes -0 for 0; their text differs.
    assert_eq!(format!("{:?}", a.values()), format!("{:?}", again.values()));
    let x = Dense::new(1, a.nnz(), a.values().to_vec()).unwrap();
    write_dense(&path, &x, "").unwrap();
    let again: Dense<T> = read_dense(&path).unwrap();
    assert_eq!(format!("{x:?}"), format!("{again:?}"));
}

fn swallow(bytes: &[u8]) {
    let _ = parse_sparse::<f64>(bytes, "x").map_err(|e| e.to_string());
    let _ = parse_sparse::<c32>(bytes, "x").map_err(|e| e.to_string());
    let _ = parse_dense::<f32>(bytes, "x").map_err(|e| e.to_string());
    let _ = parse_dense::<c64>(bytes, "x").map_err(|e| e.to_string());
}

const VALID: [&str; 6] = [
    "%%MatrixMarket matrix coordinate real general\n% c\n3 2 3\n1 1 1.5\n\n3 2 -2D1\n2 2 0\n",
    "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 1 -3\n",
    "%%MatrixMarket matrix coordinate pattern symmetric\r\n2 2 2\r\n1 1\r\n2 1\r\n",
    "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n",
    "%%MatrixMarket matrix array complex general\n1 2\n1 2\n3 4\n",
    "1\n-2.5e3\n%\n3\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read(from in triplets()) {
        sparse_survives::<f64>(&from, "a.mtx");
        sparse_survives::<f32>(&from, "a.mtx.gz");
        sparse_survives::<c64>(&from, "a.mtx.gz");
        sparse_survives::<c32>(&from, "a.mtx");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), which in 0usize..6) {
        swallow(&bytes);
        // Behind a valid beginning; and as something that claims to be compressed.
        let lines = VALID[which].split_inclusive('\n').count();
        for keep in 1..lines {
            let mut text: Vec<u8> = VALID[which].split_inclusive('\n').take(keep).collect::<String>().into();
            text.extend(&bytes);
            swallow(&text);
        }
        swallow(&[&[0x1f, 0x8b, 8, 0], &bytes[..]].concat());
    }

    #[test]
    fn mutated_files_do_not_panic(
        which in 0usize..6,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0u8..3, any::<prop::sample::Index>()), 1..6),
    ) {
        let alphabet = b"0123456789 \n\r\t.-+eEdD%#naif\0\xff";
        let mut text = VALID[which].as_bytes().to_vec();
        for (place, kind, letter) in changes {
            let letter = alphabet[letter.index(alphabet.len())];
            let place = place.index(text.len());
            match kind {
                0 => text[place] = letter,
                1 => text.insert(place, letter),
                _ => text.truncate(place.max(1)),
            }
        }
        swallow(&text);
    }
}
