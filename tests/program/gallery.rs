//! `gallery`, and the commands that print lists.

use crate::command::{Folder, run, treeqr};
use std::io::Read;
use std::process::Stdio;
use treeqr::matrices::gallery::{FAMILIES, make};
use treeqr::{read_dense, read_sparse};

#[test]
fn every_family_is_listed() {
    let list = run(["gallery"]);
    assert_eq!(list.code, 0);
    for family in FAMILIES {
        assert!(list.out.contains(family.form), "{}", family.form);
    }
    assert!(list.out.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn a_matrix_goes_to_a_file_or_to_the_standard_output() {
    let folder = Folder::new();
    let path = folder.path("a.mtx.gz");
    let file = path.to_str().expect("UTF-8");
    assert_eq!(run(["gallery", "ch4-4-b2", "-o", file]).code, 0);
    let expected = make("ch4-4-b2").expect("in the gallery").matrix;
    assert_eq!(read_sparse::<f64>(&path).expect("read"), expected);
    let printed = run(["gallery", "gallery:ch4-4-b2"]);
    let parsed = treeqr::matrices::parse_sparse::<f64>(printed.out.as_bytes(), "stdout");
    assert_eq!(parsed.expect("read"), expected);
}

#[test]
fn what_comes_with_a_matrix_is_written_too() {
    let folder = Folder::new();
    let path = folder.path("b.mtx");
    let file = path.to_str().expect("UTF-8");
    assert_eq!(run(["gallery", "survey-5x4@3:rhs", "-o", file]).code, 0);
    let b = read_dense::<f64>(&path).expect("read").into_values();
    assert_eq!(Some(b), make("survey-5x4@3").expect("in the gallery").rhs);
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let mut child = treeqr()
        .args(["gallery", "grid3d-20"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut first = [0; 16];
    let mut out = child.stdout.take().expect("piped");
    out.read_exact(&mut first).expect("some text");
    drop(out);
    let done = child.wait_with_output().expect("it ends");
    assert_eq!(&first, b"%%MatrixMarket m");
    assert_eq!((done.status.code(), done.stderr), (Some(0), Vec::new()));
}

#[test]
fn tables_are_listed() {
    let schedulers = run(["schedulers"]).out;
    for entry in treeqr::runtime::SCHEDULERS {
        assert!(schedulers.contains(entry.name));
    }
    let orderings = run(["orderings"]).out;
    for entry in treeqr::solver::ORDERINGS {
        assert!(orderings.contains(entry.name));
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = run(["completions", shell]);
        assert!(
            script.code == 0 && script.out.contains("analyse"),
            "{shell}"
        );
    }
}

/// No figures here: that it has its parts, fits the page, and has no colours where nobody sees them.
#[test]
fn the_summary_is_complete() {
    let done = run(["solve", "gallery:grid3d-6", "--threads", "2"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    for part in [
        "Solved gallery:grid3d-6",
        "Problem",
        "all ones",
        "Ordering",
        "Tree",
        "nnz(R)",
        "Time",
        "Speed",
        "Memory",
        "do_subtree",
        "Workers",
        "Recorder",
        "‖x‖",
        "Solved to working precision",
    ] {
        assert!(done.out.contains(part), "{part} is not in\n{}", done.out);
    }
    assert!(!done.out.contains('\u{1b}'));
    for line in done.out.lines() {
        assert!(
            line.chars().count() <= 100 && line == line.trim_end(),
            "{line:?}"
        );
    }
    for command in ["analyse", "info"] {
        let done = run([command, "gallery:grid3d-6"]);
        assert_eq!(done.code, 0);
        assert!(
            done.out
                .lines()
                .all(|l| l.chars().count() <= 100 && l == l.trim_end())
        );
    }
}
