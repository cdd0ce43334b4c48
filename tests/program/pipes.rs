//! Matrices that come through a pipe, which can be read but once.

use crate::command::{Folder, json, run, treeqr};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;
use std::thread;

/// The command with this text at its standard input: exit code, output and errors.
fn fed(text: &str, args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = treeqr();
    command.args(args).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let mut input = child.stdin.take().expect("a pipe");
    let text = text.to_owned();
    // What refuses its input closes the pipe early.
    let feeder = thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("an end");
    let _ = feeder.join().expect("no panic");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn norm(answer: &Value) -> f64 {
    answer["solution_norm"].as_f64().expect("a number")
}

#[test]
fn the_standard_input_is_a_matrix_a_right_hand_side_or_weights() {
    let [a, b, w] = ["", ":rhs", ":weights"].map(|part| format!("gallery:survey-9x7{part}"));
    let written = |word: &str| run(["gallery", word.trim_start_matches("gallery:")]).out;
    let flags = ["--rhs", &b, "--weights", &w, "--json"];
    let expected = norm(&json([&["solve", &a], &flags[..]].concat()));
    for (fed_with, matrix, rhs, weights) in [
        (&a, "-", b.as_str(), w.as_str()),
        (&b, &a, "-", &w),
        (&w, &a, &b, "/dev/stdin"),
    ] {
        let args = [
            "solve",
            matrix,
            "--rhs",
            rhs,
            "--weights",
            weights,
            "--json",
        ];
        let (code, out, err) = fed(&written(fed_with), &args);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        let answer: Value = serde_json::from_str(&out).expect("one JSON object");
        assert_eq!(norm(&answer), expected, "{args:?}");
    }
}

#[test]
fn a_complex_matrix_is_told_by_its_first_line() {
    let text = "%%MatrixMarket matrix coordinate complex general\n2 1 2\n1 1 3 4\n2 1 0 1\n";
    let (code, out, _) = fed(text, &["info", "-", "--json"]);
    assert_eq!(code, Some(0));
    let facts: Value = serde_json::from_str(&out).expect("one JSON object");
    assert_eq!(facts["source"], "-");
    assert_eq!(facts["values"], "complex");
}

#[test]
fn faults_have_their_line() {
    let text = "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n";
    let (code, out, err) = fed(text, &["analyse", "-"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert_eq!(err, "error: -:3:1: row index 3 is not within 1..=2\n");
    let (code, _, err) = fed("", &["solve", "-"]);
    assert_eq!(
        (code, err.as_str()),
        (Some(1), "error: -: the file is empty\n")
    );
}

#[test]
fn with_factors_no_matrix_is_read() {
    let folder = Folder::new();
    let factors = folder.path("f.treeqr");
    let factors = factors.to_str().expect("UTF-8");
    let a = "gallery:survey-9x7";
    let saved = json(["solve", a, "--save-factors", factors, "--json"]);
    let (code, out, _) = fed("no matrix", &["solve", "-", "--factors", factors, "--json"]);
    assert_eq!(code, Some(0));
    let answer: Value = serde_json::from_str(&out).expect("one JSON object");
    let (found, expected) = (norm(&answer), norm(&saved));
    assert!((found - expected).abs() <= 1e-12 * expected);
}
