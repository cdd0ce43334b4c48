//! Every kind of fault, with its place.

use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use treeqr_matrices::{ReadErrorKind, c64, parse_dense, parse_sparse, read_sparse};

const REAL: &str = "%%MatrixMarket matrix coordinate real general\n";

fn message(text: &str) -> String {
    parse_sparse::<f64>(text.as_bytes(), "x")
        .unwrap_err()
        .to_string()
}

/// The message for a body behind the banner of a real general coordinate file.
fn of_body(body: &str) -> String {
    message(&(REAL.to_owned() + body))
}

#[test]
fn banners() {
    let at = |banner: &str| message(&format!("%%MatrixMarket {banner}\n1 1 1\n1 1 1\n"));
    assert_eq!(message(""), "x: the file is empty");
    assert_eq!(message(" \r\n\n"), "x: the file is empty");
    assert_eq!(
        message("1 1 1\n"),
        "x:1:1: the first line must begin with %%MatrixMarket, not with '1'"
    );
    assert_eq!(
        message("%%MatrixMarkets matrix"),
        "x:1:1: the first line must begin with %%MatrixMarket, not with '%%MatrixMarkets'"
    );
    assert_eq!(
        at("vector"),
        "x:1:16: the banner says 'vector' where one of matrix must stand"
    );
    assert_eq!(
        at("matrix sparse"),
        "x:1:23: the banner says 'sparse' where one of coordinate, array must stand"
    );
    assert_eq!(
        at("matrix coordinate quaternion"),
        "x:1:34: the banner says 'quaternion' where one of real, integer, complex, pattern must stand"
    );
    assert_eq!(
        at("matrix coordinate real"),
        "x:1:38: the banner says '' where one of general, symmetric, skew-symmetric, hermitian must stand"
    );
    assert_eq!(
        at("matrix coordinate real general x"),
        "x:1:47: 'x' is more than belongs on this line"
    );
    assert_eq!(
        at("matrix array pattern general"),
        "x:1:37: a matrix can't be both pattern and array"
    );
    assert_eq!(
        at("matrix coordinate pattern hermitian"),
        "x:1:42: a matrix can't be both pattern and hermitian"
    );
    assert_eq!(
        at("matrix coordinate pattern skew-symmetric"),
        "x:1:42: a matrix can't be both pattern and skew-symmetric"
    );
    assert_eq!(
        at("matrix coordinate complex general"),
        "x:1:34: the entries are complex, which f64 can't hold: ask for c32 or c64"
    );
}

#[test]
fn dimensions() {
    assert_eq!(
        of_body("% only\n"),
        "x:2: the file ends before the line with the dimensions"
    );
    assert_eq!(
        of_body("3 3\n"),
        "x:2:4: the line ends where the number of entries must stand"
    );
    assert_eq!(
        of_body("\n3 -3 1\n"),
        "x:3:3: '-3' is not a valid number of columns"
    );
    assert_eq!(
        of_body("3.0 3 1\n"),
        "x:2:1: '3.0' is not a valid number of rows"
    );
    assert_eq!(
        of_body("3 3 1 1\n"),
        "x:2:7: '1' is more than belongs on this line"
    );
    assert_eq!(
        of_body("5000000000 1 1\n"),
        "x:2:1: 5000000000 x 1 is too large: dimensions must stay below 2^32 - 1"
    );
    assert_eq!(
        of_body("1 99999999999999999999 1\n"),
        "x:2:3: '99999999999999999999' is not a valid number of columns"
    );
    assert_eq!(
        of_body("2 3000000000 0\n"),
        "x:2:1: 2 x 3000000000 is too large for a file of 61 bytes: nearly all of it would be empty"
    );
    let symmetric = "%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n";
    assert_eq!(
        message(symmetric),
        "x:2:1: a symmetric matrix must be square, not 2 x 3"
    );
}

#[test]
fn entries() {
    assert_eq!(
        of_body("2 2 1\n0 1 1\n"),
        "x:3:1: row index 0 is not within 1..=2"
    );
    assert_eq!(
        of_body("2 2 1\n 2 3 1\n"),
        "x:3:4: column index 3 is not within 1..=2"
    );
    assert_eq!(
        of_body("2 2 1\n\n%\n1 b 1\n"),
        "x:5:3: 'b' is not a valid column index"
    );
    assert_eq!(
        of_body("2 2 1\n1.5 1 1\n"),
        "x:3:1: '1.5' is not a valid row index"
    );
    assert_eq!(
        of_body("2 2 1\n18446744073709551617 1 1\n"),
        "x:3:1: '18446744073709551617' is not a valid row index"
    );
    assert_eq!(
        of_body("2 2 1\n1 \n"),
        "x:3:3: the line ends where the column index must stand"
    );
    assert_eq!(
        of_body("2 2 1\n1 1\n1\n"),
        "x:3:4: the line ends where the value must stand"
    );
    assert_eq!(of_body("2 2 1\n1 1 one\n"), "x:3:5: 'one' is not a number");
    assert_eq!(of_body("2 2 1\n1 1 1,5\n"), "x:3:5: '1,5' is not a number");
    assert_eq!(of_body("2 2 1\n1 1 1e\n"), "x:3:5: '1e' is not a number");
    assert_eq!(of_body("2 2 1\n1 1 1D\n"), "x:3:5: '1D' is not a number");
    assert_eq!(
        of_body("2 2 1\n1 1 \0\x1b[\n"),
        r"x:3:5: '\x00\x1b[' is not a number"
    );
    let long = "z".repeat(100_000);
    assert!(of_body(&format!("2 2 1\n1 1 {long}")).len() < 100);
    assert_eq!(
        of_body("2 2 1\n1 1 1 % no\n"),
        "x:3:7: '%' is more than belongs on this line"
    );
    assert_eq!(
        message("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n"),
        "x:3:5: '1.5' is not an integer, which the banner promises"
    );
}

#[test]
fn numbers_that_are_not_finite() {
    for word in ["nan", "NaN", "inf", "-Infinity", "1e999", "1d999"] {
        let expected = format!("x:4:5: '{word}' is not a finite f64 number");
        assert_eq!(of_body(&format!("2 2 2\n1 1 1\n2 2 {word}\n")), expected);
    }
    let text = REAL.to_owned() + "1 1 1\n1 1 1e39\n";
    let error = parse_sparse::<f32>(text.as_bytes(), "x").unwrap_err();
    assert_eq!(
        error.to_string(),
        "x:3:5: '1e39' is not a finite f32 number"
    );
    let text = "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 nan\n";
    let error = parse_sparse::<c64>(text.as_bytes(), "x").unwrap_err();
    assert_eq!(error.to_string(), "x:3:7: 'nan' is not a finite c64 number");
    assert_eq!(
        of_body("2 2 2\n2 1 1e308\n2 1 1e308\n"),
        "x: the entries at row 2, column 1 (from 1) add up to something that is not finite"
    );
    let text = REAL.to_owned() + "2 1 2\n2 1 1e308\n2 1 1e308\n";
    let error = parse_dense::<f64>(text.as_bytes(), "x").unwrap_err();
    assert!(matches!(
        error.kind,
        ReadErrorKind::SumNotFinite { row: 2, col: 1 }
    ));
}

#[test]
fn counts() {
    assert_eq!(
        of_body("2 2 3\n1 1 1\n2 2 1\n"),
        "x:4: the file ends after 2 of 3 entries"
    );
    assert_eq!(
        of_body("2 2 3\n1 1 1\n2 2 1"),
        "x:4: the file ends after 2 of 3 entries"
    );
    assert_eq!(
        of_body("2 2 9000000000000000000"),
        "x:2: the file ends after 0 of 9000000000000000000 entries"
    );
    assert_eq!(
        of_body("2 2 1\n1 1 1\n\n% c\n2 2 1\n"),
        "x:6:1: more than the 1 entries that the dimensions promise"
    );
    // What comes first in the file is what is said.
    assert_eq!(
        of_body("2 2 1\n1 1 x\n2 2 1\n"),
        "x:3:5: 'x' is not a number"
    );
    assert_eq!(
        of_body("2 2 1\n1 1 1\n2 2 1\n2 2 x\n"),
        "x:4:1: more than the 1 entries that the dimensions promise"
    );
    let array = "%%MatrixMarket matrix array real general\n2 1\n1\n";
    assert_eq!(message(array), "x:3: the file ends after 1 of 2 entries");
    let large = "%%MatrixMarket matrix array real general\n16000000 16000000\n1\n";
    assert_eq!(
        message(large),
        "x:3: the file ends after 1 of 256000000000000 entries"
    );
    assert_eq!(
        message("%%MatrixMarket matrix array real general\n2 1\n1 2\n"),
        "x:3:3: '2' is more than belongs on this line"
    );
}

#[test]
fn diagonals() {
    assert_eq!(
        message("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n"),
        "x:3:1: the diagonal of a skew-symmetric matrix must be zero"
    );
    let text = "%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n1 1\n% c\n1 1\n";
    let error = parse_dense::<c64>(text.as_bytes(), "x").unwrap_err();
    assert_eq!(
        error.to_string(),
        "x:6:1: the diagonal of a hermitian matrix must be real"
    );
}

#[test]
fn right_hand_sides() {
    let list = |text: &str| {
        parse_dense::<f64>(text.as_bytes(), "b.txt")
            .unwrap_err()
            .to_string()
    };
    assert_eq!(list("1\n2\nx\n"), "b.txt:3:1: 'x' is not a number");
    assert_eq!(
        list("3 3 1\n1 1 1\n"),
        "b.txt:1:3: '3' is more than belongs on this line"
    );
    assert_eq!(
        list("%%MatrixMarket matrix coordinate real general\n16000000 16000000 1\n1 1 1\n"),
        "b.txt:2:1: 16000000 x 16000000 is too large for a file of 72 bytes: nearly all of it would be empty"
    );
}

#[test]
fn files_and_gzip() {
    let error = read_sparse::<f64>("/no/such/file.mtx").unwrap_err();
    assert!(matches!(error.kind, ReadErrorKind::Io(_)));
    assert!(
        error.to_string().starts_with("/no/such/file.mtx: "),
        "{error}"
    );

    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let entries: String = (1..=3000).map(|i| format!("{i} {i} {}\n", i * i)).collect();
    write!(gzip, "{REAL}3000 3000 3000\n{entries}").unwrap();
    let mut file = gzip.finish().unwrap();
    assert!(parse_sparse::<f64>(&file, "x").is_ok());
    let cut = parse_sparse::<f64>(&file[..file.len() / 2], "x").unwrap_err();
    assert!(matches!(cut.kind, ReadErrorKind::Gzip(_)), "{cut}");
    assert!(cut.line.is_some_and(|l| l > 100 && l < 3000), "{cut}");
    let middle = file.len() / 2;
    file[middle] ^= 0x55;
    let damaged = parse_sparse::<f64>(&file, "x").unwrap_err();
    assert!(matches!(damaged.kind, ReadErrorKind::Gzip(_)), "{damaged}");
    let stub = parse_sparse::<f64>(&[0x1f, 0x8b, 8], "x").unwrap_err();
    assert!(matches!(stub.kind, ReadErrorKind::Gzip(_)), "{stub}");
}
