//! x against independent answers, for every shape and several right-hand sides.

use crate::command::{Folder, json};
use crate::{dense, lsqr};
use treeqr::matrices::{RealScalar, Source, norm2};
use treeqr::{Csc, Dense, Scalar, Settings, read_dense, solve};

/// ||x - y|| / ||y||
pub fn difference<T: Scalar>(x: &[T], y: &[T]) -> f64 {
    let d: Vec<T> = x.iter().zip(y).map(|(&x, &y)| x - y).collect();
    norm2(&d).to_f64() / norm2(y).to_f64().max(1e-300)
}

fn residual_norm(a: &Csc<f64>, x: &[f64], b: &[f64]) -> f64 {
    let mut r = b.to_vec();
    a.mul_add(-1.0, x, &mut r);
    norm2(&r)
}

/// Tall, square and wide, each of full rank.
pub const SMALL: [&str; 7] = [
    "survey-8x6",
    "grid3d-5",
    "pose-12",
    "lp-40",
    "conv2d-12",
    "stencil27-3",
    "bibd_9_3",
];

#[test]
fn x_is_that_of_a_dense_solver() {
    for name in SMALL {
        let a: Csc<f64> = Source::from(format!("gallery:{name}").as_str())
            .matrix()
            .expect("in the gallery")
            .matrix;
        let b: Vec<f64> = (0..a.nrows())
            .map(|i| 1.0 + (i as f64 * 0.7).sin())
            .collect();
        let x = solve(&a, &b, 1, &Settings::with_threads(2))
            .expect("full rank")
            .x;
        let expected = dense::solve(&a, &b);
        assert!(difference(&x, &expected) < 1e-9, "{name}");
        let (r, expected) = (residual_norm(&a, &x, &b), residual_norm(&a, &expected, &b));
        assert!(
            (r - expected).abs() <= 1e-9 * norm2(&b),
            "{name}: {r} {expected}"
        );
    }
}

#[test]
fn residuals_are_those_of_lsqr() {
    for name in ["survey-30x20", "grid3d-12", "pose-60", "ba-6x200", "lp-300"] {
        let loaded = Source::from(format!("gallery:{name}").as_str())
            .matrix::<f64>()
            .expect("in the gallery");
        let (a, b) = (&loaded.matrix, vec![1.0; loaded.matrix.nrows()]);
        let x = solve(a, &b, 1, &Settings::with_threads(2))
            .expect("full rank")
            .x;
        let expected = residual_norm(a, &lsqr::lsqr(a, &b, 20 * a.ncols()), &b);
        let r = residual_norm(a, &x, &b);
        assert!(
            (r - expected).abs() <= 1e-9 * expected,
            "{name}: {r}, LSQR {expected}"
        );
    }
}

#[test]
fn the_command_writes_the_same_x_as_the_library() {
    let folder = Folder::new();
    let x_path = folder.path("x.mtx.gz");
    let done = json([
        "solve",
        "matrices/data/survey.mtx.gz",
        "--rhs",
        "matrices/data/survey_rhs.mtx.gz",
        "--json",
        "--threads",
        "2",
        "--output",
        x_path.to_str().expect("UTF-8"),
    ]);
    let a = treeqr::read_sparse::<f64>("matrices/data/survey.mtx.gz").expect("read");
    let b: Dense<f64> = read_dense("matrices/data/survey_rhs.mtx.gz").expect("read");
    let x = solve(&a, b.values(), 1, &Settings::with_threads(2))
        .expect("full rank")
        .x;
    let written: Dense<f64> = read_dense(&x_path).expect("read");
    assert_eq!((written.nrows(), written.ncols()), (a.ncols(), 1));
    assert_eq!(written.values(), x);
    let r = residual_norm(&a, &x, b.values());
    let told = done["residual_norm"].as_f64().expect("a number");
    assert!((told - r).abs() <= 1e-12 * r);
    assert_eq!(folder.names(), ["x.mtx.gz"]);
}

#[test]
fn every_column_of_the_right_hand_side_is_solved() {
    let folder = Folder::new();
    let a = Source::from("gallery:survey-5x4")
        .matrix::<f64>()
        .expect("made")
        .matrix;
    let b: Vec<f64> = (0..3 * a.nrows()).map(|i| (i as f64).cos()).collect();
    let b = Dense::new(a.nrows(), 3, b).expect("three columns");
    let (b_path, x_path) = (folder.path("b.mtx"), folder.path("x.mtx"));
    treeqr::matrices::write_dense(&b_path, &b, "").expect("written");
    let args = |end: &[&str]| {
        let mut args: Vec<String> = ["solve", "gallery:survey-5x4", "--rhs"]
            .map(String::from)
            .to_vec();
        args.push(b_path.to_str().expect("UTF-8").to_owned());
        args.extend([
            "--output".to_owned(),
            x_path.to_str().expect("UTF-8").to_owned(),
        ]);
        args.extend(end.iter().map(|s| (*s).to_owned()));
        args
    };
    let done = json(args(&["--json"]));
    let x: Dense<f64> = read_dense(&x_path).expect("read");
    assert_eq!((x.nrows(), x.ncols()), (20, 3));
    let mut largest: f64 = 0.0;
    for k in 0..3 {
        assert!(difference(x.col(k), &dense::solve(&a, b.col(k))) < 1e-11);
        largest = largest.max(residual_norm(&a, x.col(k), b.col(k)));
    }
    let told = done["residual_norm"].as_f64().expect("a number");
    assert!((told - largest).abs() <= 1e-12 * largest);
    assert_eq!(done["rhs"]["cols"], 3);
}

#[test]
fn an_order_from_a_file_is_taken() {
    let folder = Folder::new();
    let order: Vec<String> = (1..=20).rev().map(|k| k.to_string()).collect();
    let path = folder.file("order.txt", &(order.join("\n") + "\n"));
    let done = json([
        "solve",
        "gallery:survey-5x4",
        "--ordering",
        &format!("file:{path}"),
        "--json",
    ]);
    assert_eq!(done["ordering"], "given");
    assert!(done["normal_residual"].as_f64().expect("a number") < 1e-13);
}
