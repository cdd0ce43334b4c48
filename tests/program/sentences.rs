//! What the command says of x at the end agrees with what it warns of.

use crate::command::{Folder, json, run};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// A Matrix Market file from its entries, rows and columns from 0.
fn matrix(folder: &Folder, m: usize, n: usize, entries: &[(usize, usize, f64)]) -> String {
    let count = entries.len();
    let mut text = format!("%%MatrixMarket matrix coordinate real general\n{m} {n} {count}\n");
    for (i, j, v) in entries {
        writeln!(text, "{} {} {v:e}", i + 1, j + 1).expect("a string grows");
    }
    folder.file("a.mtx", &text)
}

fn solved(path: &str, flags: &[&str]) -> Value {
    json(["solve", path, "--json"].iter().chain(flags))
}

fn sentence(done: &Value) -> &str {
    done["sentence"].as_str().expect("a sentence")
}

fn warnings(done: &Value) -> Vec<String> {
    let all = done["warnings"].as_array().expect("a list");
    let text = |w: &Value| w.as_str().expect("a sentence").to_owned();
    all.iter().map(text).collect()
}

/// No doubt, no warning; and so with singular values, which are far above the tolerance.
#[test]
fn full_rank_is_solved_to_working_precision() {
    for flags in [&[][..], &["--refine"], &["--precision", "mixed"]] {
        let done = solved("gallery:survey-8x6", flags);
        let text =
            "Solved to working precision: r is orthogonal to the columns of A, up to rounding.";
        assert_eq!(sentence(&done), text);
        assert!(warnings(&done).is_empty() && done["rank_check"].is_null());
    }
    let checked = solved("gallery:survey-8x6", &["--rank-check"]);
    assert_eq!(checked["rank_check"]["verdict"], "confirmed");
    let values = checked["rank_check"]["singular_values"].as_array();
    assert_eq!(values.expect("a list").len(), 6);
    let text = run(["solve", "gallery:survey-8x6", "--rank-check"]).out;
    assert!(text.contains("confirmed: smallest singular value of R about"));
}

/// Dependent columns with a gap are no doubt. An inconsistent wide matrix has a residual that is orthogonal.
#[test]
fn a_gap_leaves_no_doubt() {
    let folder = Folder::new();
    let mut entries = Vec::new();
    for j in 0..6 {
        entries.extend([(j, j, 2.0), (j + 1, j, 1.0 + j as f64)]);
    }
    // The last column is twice the first.
    entries.extend([(0, 6, 4.0), (1, 6, 2.0)]);
    let tall = matrix(&folder, 9, 7, &entries);
    let done = solved(&tall, &["--rank-check"]);
    assert_eq!(
        (&done["rank"], &done["rank_check"]["verdict"]),
        (&6.into(), &"confirmed".into())
    );
    assert!(sentence(&done).starts_with("Solved to working precision: r is orthogonal"));
    assert!(warnings(&done).is_empty());

    let turned: Vec<_> = entries.iter().map(|&(i, j, v)| (j, i, v)).collect();
    let done = solved(&matrix(&folder, 7, 9, &turned), &[]);
    assert_eq!(
        (&done["rank"], &done["solution"]),
        (&6.into(), &"minimum_norm".into())
    );
    assert!(sentence(&done).starts_with("Solved to working precision: r is orthogonal"));
}

/// Singular values that fall without a gap: the sentence does not promise what the warning takes back.
#[test]
fn without_a_gap_the_sentence_says_so() {
    let folder = Folder::new();
    let entries: Vec<_> = (0..60).map(|k| (k, k, 0.5f64.powi(k as i32))).collect();
    let path = matrix(&folder, 70, 60, &entries);
    let done = solved(&path, &[]);
    assert!(sentence(&done).starts_with("Solved, but "), "{done}");
    assert!(sentence(&done).contains("the rank is in doubt"), "{done}");
    assert!(warnings(&done)[0].starts_with("The rank is in doubt"));
    let checked = solved(&path, &["--rank-check"]);
    assert_eq!(checked["rank_check"]["verdict"], "no_gap");
    assert!(sentence(&checked).contains("the rank is in doubt"));
    assert!(warnings(&checked)[0].contains("no gap"));
    let text = run(["solve", path.as_str()]).out;
    assert!(!text.contains("working precision:"), "{text}");

    // Above the tolerance, but few digits are left.
    let short: Vec<_> = (0..40).map(|k| (k, k, 0.5f64.powi(k as i32))).collect();
    let done = solved(
        &matrix(&folder, 40, 40, &short),
        &["--rank-tolerance", "1e-30"],
    );
    assert!(sentence(&done).contains("A x = b holds"), "{done}");
    let full = solved(&matrix(&folder, 40, 40, &short), &["--rank-tolerance", "0"]);
    assert_eq!(full["rank"], 40);
}

/// With damping r is orthogonal to nothing, and A x = b does not hold.
#[test]
fn what_is_minimised_is_what_is_said() {
    for name in ["gallery:survey-8x6", "gallery:bibd_9_3"] {
        let done = solved(name, &["--damp", "0.5"]);
        let text = "Solved to working precision: the damped sum of squares is as small as can be, up to rounding.";
        assert_eq!(sentence(&done), text);
    }
    let folder = Folder::new();
    let rows = json(["solve", "gallery:survey-8x6", "--json"])["matrix"]["rows"].clone();
    let rows = rows.as_u64().expect("a number");
    let weights: String = (0..rows).map(|k| format!("{}\n", 1 + k % 3)).collect();
    let header = "%%MatrixMarket matrix array real general";
    let path = folder.file("w.mtx", &format!("{header}\n{rows} 1\n{weights}"));
    let done = solved("gallery:survey-8x6", &["--weights", &path]);
    assert!(sentence(&done).contains("the weighted sum of squares is as small as can be"));
}

#[test]
fn the_check_needs_r_in_the_precision_of_x() {
    let flags = ["--rank-check", "--precision", "mixed"];
    let done = run(["solve", "gallery:survey-8x6"].iter().chain(&flags));
    assert_eq!(done.code, 1);
    assert!(
        done.err
            .contains("--rank-check needs R in the precision of x")
    );
    assert!(done.err.contains("hint: --precision double"));
}

/// Real matrices, where they are there: with a gap, and without.
#[test]
fn real_matrices_get_true_sentences() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/matrices");
    // Without a gap the basic x, and so what can be said of it, hangs on the order.
    for (name, order, verdict) in [
        ("abb313", "auto", "confirmed"),
        ("ash292", "auto", "confirmed"),
        ("Maragal_2", "auto", "confirmed"),
        ("illc1033", "auto", "confirmed"),
        ("f855_mat9_T", "auto", "no_gap"),
        ("f855_mat9_T", "amd", "no_gap"),
        ("lpi_gran", "amd", "no_gap"),
    ] {
        let path = folder.join(format!("{name}.mtx.gz"));
        if !path.exists() {
            eprintln!("SKIPPED: {} is not there", path.display());
            continue;
        }
        let path = path.to_str().expect("UTF-8");
        let done = solved(path, &["--rank-check", "--ordering", order]);
        let doubt = done["rank_check"]["verdict"] != "confirmed";
        assert_eq!(
            doubt,
            verdict != "confirmed",
            "{name}: {}",
            done["rank_check"]
        );
        assert_eq!(
            sentence(&done).contains("the rank is in doubt"),
            doubt,
            "{name}"
        );
        let promise = sentence(&done).starts_with("Solved to working precision");
        assert!(!(doubt && promise), "{name}: {}", sentence(&done));
        // Where ||r|| is a good part of ||b||, b is no combination of the columns, whatever the backward error says. Which
        // columns are basic without a gap hangs on rounding, so the numbers of this run say what is to be told.
        let rows = done["matrix"]["rows"].as_f64().expect("a number");
        let left = done["residual_norm"].as_f64().expect("a number") / rows.sqrt();
        assert!(!(1e-6..1e-2).contains(&left), "{name}: {left}, neither");
        let told = sentence(&done).contains("so large an x");
        let consistent = done["consistent"] == true;
        assert_eq!(told, consistent && left > 1e-2, "{name}: {left}");
        assert!(
            told || (name, order) != ("f855_mat9_T", "auto"),
            "{name}: {}",
            sentence(&done)
        );
    }
}

/// A full row over a diagonal: R would be full, and take more memory than any machine has. The error comes before the work.
#[test]
fn what_does_not_fit_is_an_error_before_the_work() {
    let folder = Folder::new();
    let n = 600_000;
    let mut text = format!(
        "%%MatrixMarket matrix coordinate pattern general\n{} {n} {}\n",
        n + 1,
        2 * n
    );
    for j in 1..=n {
        writeln!(text, "{j} {j}\n{} {j}", n + 1).expect("a string grows");
    }
    let path = folder.file("a.mtx", &text);
    let flags = [
        "--ordering=natural",
        "--nb=4096",
        "--mb=8192",
        "--dense-rows=none",
    ];
    let done = run(["solve", path.as_str()].iter().chain(&flags));
    assert_eq!((done.code, done.out.as_str()), (2, ""));
    // R alone is 1.44 TB; tiles on the diagonal, and V and T of a panel, come on top.
    assert!(
        done.err
            .contains("the factorization needs at least 1.48 TB of memory, and "),
        "{}",
        done.err
    );
    assert!(done.err.contains(" are available"), "{}", done.err);
    assert!(done.err.contains("hint: "), "{}", done.err);

    let flags = [
        "--ordering=natural",
        "--nb=1",
        "--mb=1",
        "--dense-rows=none",
    ];
    let done = run(["analyse", path.as_str()].iter().chain(&flags));
    assert_eq!(done.code, 2);
    assert!(
        done.err.contains("can have no more than 4294967294"),
        "{}",
        done.err
    );
}
