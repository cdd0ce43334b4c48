//! Factors saved by one run of the command and used by others: `--save-factors` and `--factors`.

use crate::command::{Folder, json, run};
use crate::mixed::{Random, complex};
use treeqr::matrices::{norm2, write_dense, write_sparse};
use treeqr::{Dense, Scalar, c64, read_dense};

fn text(path: &std::path::Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Saves the factors of `matrix`, and gives the arguments' answers: of that run, and of one with the factors. The x of both.
fn both_ways<T: Scalar>(
    folder: &Folder,
    matrix: &str,
    rhs: &[&str],
    more: &[&str],
    file: &str,
) -> [(serde_json::Value, Vec<T>); 2] {
    let (saved, out) = (folder.path(file), folder.path("x.mtx"));
    let x = || read_dense::<T>(&out).expect("x").into_values();
    let common = ["--output", text(&out), "--json"];
    let whole = ["solve", matrix, "--save-factors", text(&saved)];
    let first = json(whole.iter().chain(rhs).chain(&common).chain(more));
    let first_x = x();
    assert_eq!(first["saved_factors"], text(&saved));
    let loaded = ["solve", matrix, "--factors", text(&saved)];
    let second = json(loaded.iter().chain(rhs).chain(&common));
    assert_eq!(second["loaded_factors"], text(&saved));
    [(first, first_x), (second, x())]
}

fn relative<T: Scalar>(x: &[T], y: &[T]) -> f64 {
    use treeqr::matrices::RealScalar;
    let d: Vec<T> = x.iter().zip(y).map(|(&x, &y)| x - y).collect();
    norm2(&d).to_f64() / norm2(y).to_f64()
}

#[test]
fn factors_solve_as_the_run_that_saved_them() {
    let folder = Folder::new();
    // Tall, wide, square; without full rank, basic and shortest; with rows split off; compressed, and in single precision.
    for (matrix, more, file, tolerance) in [
        ("gallery:survey-12x9", &[][..], "a.treeqr", 1e-12),
        ("gallery:lp-60", &[], "b.treeqr", 1e-12),
        ("gallery:stencil27-3", &[], "c.treeqr.gz", 1e-12),
        ("gallery:ch4-4-b2", &[], "d.treeqr", 1e-10),
        (
            "gallery:ch4-4-b2",
            &["--solution", "min-norm"],
            "e.treeqr",
            1e-10,
        ),
        ("gallery:dense-rows-300x3", &[], "f.treeqr", 1e-12),
        (
            "gallery:survey-12x9",
            &["--precision", "single"],
            "g.gz",
            1e-2,
        ),
    ] {
        let [(first, x), (second, y)] = both_ways::<f64>(&folder, matrix, &[], more, file);
        let error = relative(&y, &x);
        assert!(error < tolerance, "{matrix} {more:?}: {error:e}");
        for key in [
            "matrix",
            "problem",
            "rank",
            "dead_columns",
            "scalar",
            "solution",
            "nnz_r",
            "dense_rows",
            "factors",
            "consistent",
        ] {
            assert_eq!(first[key], second[key], "{matrix}: {key}");
        }
        let split = usize::from(matrix.contains("dense-rows")) * 3;
        assert_eq!(second["dense_rows"]["count"], split);
        let compressed = std::fs::read(folder.path(file)).expect("saved")[0] == 0x1f;
        assert_eq!(compressed, file.ends_with(".gz"));
    }
}

#[test]
fn a_second_right_hand_side_is_solved_with_and_without_the_matrix() {
    let folder = Folder::new();
    let saved = folder.path("a.treeqr");
    let a = "gallery:survey-12x9";
    json(["solve", a, "--save-factors", text(&saved), "--json"]);
    let rows = treeqr::matrices::load::<f64>(a)
        .expect("gallery")
        .matrix
        .nrows();
    let mut random = Random(5);
    let b: Vec<f64> = (0..2 * rows).map(|_| random.next()).collect();
    let rhs = folder.path("b.mtx");
    write_dense(&rhs, &Dense::new(rows, 2, b).expect("two columns"), "").expect("written");
    let out = folder.path("x.mtx");
    let solve = |word: &[&str]| {
        let rest = ["--rhs", text(&rhs), "--output", text(&out), "--json"];
        let done = json(["solve"].iter().chain(word).chain(&rest));
        (done, read_dense::<f64>(&out).expect("x"))
    };
    let (fresh, expected) = solve(&[a]);
    let file = ["--factors", text(&saved)];
    let (with, x) = solve(&[a, file[0], file[1]]);
    assert!(relative(x.values(), expected.values()) < 1e-12);
    let norms = ["solution_norm", "residual_norm", "condition_estimate"];
    for key in norms {
        let (one, other) = (fresh[key].as_f64(), with[key].as_f64());
        let (one, other) = (one.expect("a number"), other.expect("a number"));
        assert!((one / other - 1.0).abs() < 1e-8, "{key}: {one} {other}");
    }
    assert_eq!(fresh["sentence"], with["sentence"]);
    for word in [&file[..], &["-", file[0], file[1]]] {
        let (without, y) = solve(word);
        assert_eq!(x, y);
        assert_eq!(without["solution_norm"], with["solution_norm"]);
        assert!(without["residual_norm"].is_null() && without["source"].is_null());
        let sentence = without["sentence"].as_str().expect("one");
        assert!(sentence.contains("Without A"), "{sentence}");
    }
    // With the matrix x can be refined; without it nobody knows the residual.
    let (refined, _) = solve(&[a, file[0], file[1], "--refine", "--rank-check"]);
    assert_eq!(refined["refinement"]["succeeded"], true);
    assert_eq!(refined["rank_check"]["verdict"], "confirmed");
    let done = run(["solve", file[0], file[1], "--refine"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("--refine needs A"), "{}", done.err);
}

#[test]
fn complex_right_hand_sides_and_complex_factors() {
    let folder = Folder::new();
    let mut random = Random(6);
    let a = complex("survey-8x6", &mut random);
    let (path, rhs) = (folder.path("a.mtx"), folder.path("b.mtx"));
    write_sparse(&path, &a, "").expect("written");
    let b: Vec<c64> = (0..a.nrows())
        .map(|_| c64::new(random.next(), random.next()))
        .collect();
    write_dense(&rhs, &Dense::from_vector(b), "").expect("written");
    let rhs = ["--rhs", text(&rhs)];
    let matrices = [text(&path), "gallery:survey-8x6"];
    let files = ["c.treeqr", "r.treeqr"];
    for (matrix, file) in matrices.into_iter().zip(files) {
        let [(first, x), (second, y)] = both_ways::<c64>(&folder, matrix, &rhs, &[], file);
        assert!(relative(&y, &x) < 1e-12, "{matrix}");
        assert_eq!(second["scalar"], "c64");
        assert_eq!(first["rhs"]["split"], second["rhs"]["split"]);
    }
    let (complex, real) = (folder.path(files[0]), folder.path(files[1]));
    let done = run(["solve", matrices[0], "--factors", text(&real)]);
    let message = format!(
        "error: {}: the matrix is complex, and the factors in {} are real\n",
        matrices[0],
        real.display()
    );
    assert_eq!((done.code, done.err), (1, message));
    let done = run(["solve", matrices[1], "--factors", text(&complex)]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("other values"), "{}", done.err);
}

#[test]
fn what_does_not_fit_is_told() {
    let folder = Folder::new();
    let saved = folder.path("a.treeqr");
    let factors = ["--factors", text(&saved)];
    json([
        "solve",
        "gallery:survey-8x6",
        "--save-factors",
        factors[1],
        "--json",
    ]);
    let of = |matrix: &str| run(["solve", matrix, factors[0], factors[1]]);
    // Another pattern; the same pattern with other values.
    let done = of("gallery:survey-8x7");
    assert_eq!(done.code, 1);
    assert!(
        done.err.contains("has not the pattern that was analysed"),
        "{}",
        done.err
    );
    let mut same = treeqr::matrices::load::<f64>("gallery:survey-8x6")
        .expect("gallery")
        .matrix;
    same.values_mut()[7] *= 1.0 + f64::EPSILON;
    let other = folder.path("other.mtx");
    write_sparse(&other, &same, "").expect("written");
    let done = of(text(&other));
    assert_eq!(done.code, 1);
    let line = "the matrix has other values than the one that was factorized";
    assert!(done.err.contains(line), "{}", done.err);
    assert!(
        done.err.contains("without a matrix it solves for that one"),
        "{}",
        done.err
    );
    // A right-hand side of another length, files that are none, and one that is cut off.
    let rhs = folder.file("b.mtx", "1\n2\n3\n");
    let done = run(["solve", factors[0], factors[1], "--rhs", &rhs]);
    assert_eq!(done.code, 1);
    assert!(
        done.err.contains("the right-hand side has 3 rows"),
        "{}",
        done.err
    );
    let done = run(["solve", "--factors", &rhs]);
    assert_eq!(done.code, 1);
    assert!(
        done.err.contains("this is no file of factors"),
        "{}",
        done.err
    );
    let done = run(["solve", "--factors", "nothing.treeqr"]);
    assert!(done.err.contains("nothing.treeqr"), "{}", done.err);
    let whole = std::fs::read(&saved).expect("saved");
    std::fs::write(&saved, &whole[..whole.len() - 100]).expect("written");
    let done = run(["solve", factors[0], factors[1]]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("cut off"), "{}", done.err);
    // What a factorization would be told, or would have to save what a file does not hold.
    for more in [
        ["--precision", "single"],
        ["--ordering", "amd"],
        ["--trace", "t"],
    ] {
        let done = run(["solve", factors[0], factors[1]].iter().chain(&more));
        assert!(done.err.contains("cannot be used with"), "{}", done.err);
    }
    let save = ["solve", "gallery:survey-8x6", "--save-factors", "f.treeqr"];
    for more in [["--damp", "1"], ["--precision", "mixed"]] {
        let done = run(save.iter().chain(&more));
        assert_eq!(done.code, 1);
        assert!(done.err.contains("--save-factors"), "{}", done.err);
    }
    // No folder for the factors: known before the work begins.
    let done = run([
        "solve",
        "gallery:survey-8x6",
        "--save-factors",
        "no/folder/f",
    ]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("no/folder/f"), "{}", done.err);
}
