//! Members of the gallery against what the SuiteSparse collection publishes of them.

use crate::norm;
use treeqr_matrices::gallery::make;

/// Name, rows, columns, entries.
type Published = (&'static str, usize, usize, usize);

const QUICK: [Published; 9] = [
    ("ch7-8-b3", 58800, 11760, 235_200),
    ("ch8-8-b2", 18816, 1568, 56448),
    ("mk12-b3", 51975, 13860, 207_900),
    ("mk12-b4", 62370, 51975, 311_850),
    ("flower_7_4", 27693, 67593, 202_218),
    ("cat_ears_4_4", 19020, 44448, 132_888),
    ("TF14", 2644, 3160, 29862),
    ("TF15", 6334, 7742, 80057),
    ("bibd_13_6", 78, 1716, 25740),
];

const SLOW: [Published; 8] = [
    ("ch8-8-b3", 117_600, 18816, 470_400),
    ("ch8-8-b4", 376_320, 117_600, 1_881_600),
    ("ch8-8-b5", 564_480, 376_320, 3_386_880),
    ("flower_8_4", 55081, 125_361, 375_266),
    ("TF16", 15437, 19321, 216_173),
    ("TF17", 38132, 48630, 586_218),
    ("TF18", 95368, 123_867, 1_597_545),
    ("bibd_22_8", 231, 319_770, 8_953_560),
];

fn check(list: &[Published]) {
    for &(name, nrows, ncols, nnz) in list {
        let start = std::time::Instant::now();
        let a = make(name).unwrap().matrix;
        println!("{name}: {:.2} s", start.elapsed().as_secs_f64());
        assert_eq!(
            (a.nrows(), a.ncols(), a.nnz()),
            (nrows, ncols, nnz),
            "{name}"
        );
    }
}

/// To the seven digits that are published.
fn check_norms(list: &[(&str, &str)]) {
    for &(name, published) in list {
        let found = norm(&make(name).unwrap().matrix);
        let decimals = published.split_once('.').unwrap().1.len();
        assert_eq!(format!("{found:.decimals$}"), published, "{name}");
    }
}

#[test]
fn sizes() {
    check(&QUICK);
}

#[test]
#[ignore = "10 s: just test-large"]
fn sizes_of_large_members() {
    check(&SLOW);
}

#[test]
fn norms() {
    check_norms(&[
        ("flower_7_4", "5.501542"),
        ("cat_ears_4_4", "5.547090"),
        ("ch8-8-b3", "6.324555"),
        ("TF16", "18.28154"),
    ]);
}

#[test]
#[ignore = "seconds: just test-large"]
fn norms_of_large_members() {
    check_norms(&[("TF17", "19.83599")]);
}
