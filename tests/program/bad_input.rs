//! What users get wrong: one line with the place, an exit code, and nothing destroyed.

use crate::command::{Folder, json, run};

/// Solves a file of this text; its error without the folder's name.
fn error_of(text: &str) -> (i32, String) {
    let folder = Folder::new();
    let path = folder.file("a.mtx", text);
    let done = run([
        "solve",
        path.as_str(),
        "--output",
        folder.path("x.mtx").to_str().expect("UTF-8"),
    ]);
    assert_eq!(done.out, "");
    assert_eq!(folder.names(), ["a.mtx"], "nothing but the input is left");
    (done.code, within(&folder, &done.err))
}

/// The message without the name of the folder.
fn within(folder: &Folder, message: &str) -> String {
    message.replace(&format!("{}/", folder.root().display()), "")
}

/// A matrix that can be read and not factorized.
const OVERFLOW: &str = "2 1 2\n1 1 1.7e308\n2 1 1.7e308\n";

fn coordinate(rest: &str) -> String {
    format!("%%MatrixMarket matrix coordinate real general\n{rest}")
}

#[test]
fn faults_of_a_file_have_their_line() {
    let cases = [
        ("", "error: a.mtx: the file is empty\n"),
        (
            "3 3 1\n",
            "error: a.mtx:1:1: the first line must begin with %%MatrixMarket, not with '3'\n",
        ),
        (
            &coordinate("2 2 3\n1 1 1\n2 2 1\n"),
            "error: a.mtx:4: the file ends after 2 of 3 entries\nhint: the file looks cut off: fetch it again\n",
        ),
        (
            &coordinate("2 2 1\n1 1 1\n2 2 1\n"),
            "error: a.mtx:4:1: more than the 1 entries that the dimensions promise\n",
        ),
        (
            &coordinate("2 2 2\n1 1 1\n3 2 1\n"),
            "error: a.mtx:4:1: row index 3 is not within 1..=2\n",
        ),
        (
            &coordinate("2 2 2\n1 0 1\n2 2 1\n"),
            "error: a.mtx:3:3: column index 0 is not within 1..=2\n",
        ),
        (
            &coordinate("2 2 2\n1 1 one\n2 2 1\n"),
            "error: a.mtx:3:5: 'one' is not a number\n",
        ),
        (
            &coordinate("2 2 2\n1 1 nan\n2 2 1\n"),
            "error: a.mtx:3:5: 'nan' is not a finite f64 number\n",
        ),
        (
            &coordinate("2 2 2\n1 1 1\n2 2 -Inf\n"),
            "error: a.mtx:4:5: '-Inf' is not a finite f64 number\n",
        ),
        (
            &coordinate("0 0 0\n"),
            "error: a.mtx: the matrix is 0 x 0: there is nothing to solve\n",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(error_of(text), (1, message.to_owned()), "{text}");
    }
}

#[test]
fn missing_and_damaged_files() {
    let done = run(["solve", "nowhere/a.mtx"]);
    assert_eq!((done.code, done.out.as_str()), (1, ""));
    assert_eq!(
        done.err,
        "error: nowhere/a.mtx: No such file or directory (os error 2)\n"
    );
    let done = run(["info", "survey-6x5"]);
    assert!(
        done.err
            .ends_with("hint: for the matrix of the gallery write gallery:survey-6x5\n")
    );
    let whole = std::fs::read("matrices/data/survey.mtx.gz").expect("readable");
    let folder = Folder::new();
    std::fs::write(folder.path("a.mtx.gz"), &whole[..whole.len() / 2]).expect("written");
    let done = run(["analyse", folder.path("a.mtx.gz").to_str().expect("UTF-8")]);
    assert_eq!(done.code, 1);
    assert!(
        done.err.contains("a.mtx.gz:") && done.err.contains("the gzip stream is cut off"),
        "{}",
        done.err
    );
}

#[test]
fn right_hand_sides_that_do_not_fit() {
    let folder = Folder::new();
    let with = |text: &str| {
        let b = folder.file("b.txt", text);
        let done = run(["solve", "gallery:conv2d-2", "--rhs", &b]);
        assert_eq!((done.code, done.out.as_str()), (1, ""), "{text}");
        within(&folder, &done.err)
    };
    assert_eq!(
        with("1\n2\n3\n"),
        "error: b.txt: the right-hand side has 3 rows, but gallery:conv2d-2 has 4\n"
    );
    assert_eq!(
        with("%%MatrixMarket matrix array real general\n1 4\n1\n2\n3\n4\n"),
        "error: b.txt: the right-hand side has 1 rows, but gallery:conv2d-2 has 4\n\
         hint: right-hand sides are columns: transpose it\n"
    );
    assert_eq!(
        with("1\n2\ninf\n4\n"),
        "error: b.txt:3:1: 'inf' is not a finite f64 number\n"
    );
    assert_eq!(
        with("1\n2\nx\n4\n"),
        "error: b.txt:3:1: 'x' is not a number\n"
    );
    let done = run(["solve", "gallery:conv2d-2", "--rhs", "gallery:conv2d-2:rhs"]);
    assert_eq!(
        done.err,
        "error: 'conv2d-2' of the gallery has no rhs\nhint: without --rhs, b is all ones\n"
    );
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    let error = |flag: &str, value: &str| {
        let done = run(["solve", "gallery:conv2d-2", flag, value]);
        assert_eq!((done.code, done.out.as_str()), (1, ""), "{flag}");
        done.err
    };
    let scheduler = error("--scheduler", "fast");
    for entry in treeqr::runtime::SCHEDULERS {
        assert!(scheduler.contains(entry.name), "{scheduler}");
    }
    assert!(
        scheduler.starts_with("error: unknown scheduler `fast`; known are "),
        "{scheduler}"
    );
    let ordering = error("--ordering", "best");
    for entry in treeqr::solver::ORDERINGS {
        assert!(ordering.contains(entry.name), "{ordering}");
    }
    assert!(
        ordering.starts_with("error: there is no ordering \"best\"; known are auto, "),
        "{ordering}"
    );
    let done = run(["gallery", "nothing"]);
    assert_eq!(done.code, 1);
    assert!(
        done.err
            .starts_with("error: the gallery has no 'nothing'\nhint: "),
        "{}",
        done.err
    );
}

#[test]
fn orders_that_are_none() {
    let folder = Folder::new();
    let with = |text: &str| {
        let order = format!("file:{}", folder.file("order.txt", text));
        let done = run(["solve", "gallery:conv2d-2", "--ordering", &order]);
        assert_eq!((done.code, done.out.as_str()), (1, ""), "{text}");
        within(&folder, &done.err)
    };
    assert!(
        with("1\n2\n2.5\n4\n")
            .starts_with("error: order.txt: entry 3 is 2.5, which is no column\n")
    );
    assert!(with("1\n2\n3\n").contains("is not a permutation of 1..4: it has 3 entries"));
    assert!(with("1\n2\n2\n4\n").contains("2 comes twice"));
}

#[test]
fn use_that_makes_no_sense() {
    let uses: [&[&str]; 8] = [
        &[],
        &["solve"],
        &["dissolve"],
        &["solve", "gallery:conv2d-2", "--threads", "0"],
        &["solve", "gallery:conv2d-2", "--threads", "many"],
        &["solve", "gallery:conv2d-2", "--nb", "0"],
        &["solve", "gallery:survey-4x4:rhs"],
        &["gallery", "-o", "x.mtx"],
    ];
    for args in uses {
        let done = run(args);
        assert_eq!((done.code, done.out.as_str()), (1, ""), "{args:?}");
        assert!(!done.err.is_empty());
    }
}

/// Before any work: the matrix is not even looked at.
#[test]
fn an_output_that_cannot_be_written_is_found_first() {
    let done = run(["solve", "nowhere/a.mtx", "--output", "nowhere/x.mtx"]);
    assert_eq!(done.code, 1);
    assert_eq!(
        done.err,
        "error: nowhere/x.mtx: can't be written: No such file or directory (os error 2)\n"
    );
    let folder = Folder::new();
    let root = folder.root().to_str().expect("UTF-8");
    let done = run(["solve", "nowhere/a.mtx", "-o", root]);
    assert_eq!(done.code, 1);
    assert!(
        done.err.contains("is not the name of a file"),
        "{}",
        done.err
    );
}

#[test]
fn a_failure_leaves_an_older_output_alone() {
    let folder = Folder::new();
    let x = folder.file("x.mtx", "precious\n");
    let overflow = folder.file("a.mtx", &coordinate(OVERFLOW));
    for matrix in [overflow.as_str(), "nowhere/a.mtx"] {
        assert_ne!(run(["solve", matrix, "--output", x.as_str()]).code, 0);
        assert_eq!(std::fs::read_to_string(&x).expect("readable"), "precious\n");
    }
    assert_eq!(
        run(["solve", "gallery:conv2d-2", "--output", x.as_str()]).code,
        0
    );
    assert!(
        std::fs::read_to_string(&x)
            .expect("readable")
            .starts_with("%%MatrixMarket")
    );
    assert_eq!(folder.names(), ["a.mtx", "x.mtx"]);
}

/// A column whose norm is no number of the format.
#[test]
fn an_overflow_is_an_error() {
    let (code, error) = error_of(&coordinate(OVERFLOW));
    assert_eq!(code, 2, "{error}");
    let start =
        "error: a.mtx: the factorization overflows: R is not finite in the column 1\nhint: ";
    assert!(error.starts_with(start), "{error}");
}

/// Dependent columns are no error: what was dropped is said, and which solution x is.
#[test]
fn dependent_columns_are_dropped() {
    let folder = Folder::new();
    // Column 3 is empty; columns 2 and 3 are the same; two rows of a wide matrix are.
    let cases = [
        (
            "4 3 4\n1 1 1\n2 1 1\n3 2 1\n4 2 2\n",
            2,
            "1 column of 3 depends",
        ),
        (
            "3 3 6\n1 1 1\n2 1 2\n1 2 1\n3 2 1\n1 3 1\n3 3 1\n",
            2,
            "1 column of 3 depends",
        ),
        (
            "2 3 4\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n",
            1,
            "1 row of 2 depends",
        ),
    ];
    for (text, rank, what) in cases {
        let path = folder.file("a.mtx", &coordinate(text));
        let wide = what.contains("row");
        for (choice, name) in [("basic", "basic"), ("min-norm", "minimum_norm")] {
            let done = run(["solve", path.as_str(), "--solution", choice]);
            assert_eq!((done.code, done.err.as_str()), (0, ""));
            let text = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains("The matrix is rank-deficient: "), "{text}");
            assert!(text.contains(what), "{text}");
            let basic = name == "basic" && !wide;
            assert_eq!(text.contains("basic solution"), basic, "{text}");
            assert_eq!(text.contains("the shortest of the"), !basic, "{text}");
            let done = json(["solve", path.as_str(), "--json", "--solution", choice]);
            assert_eq!(done["rank"], rank);
            assert_eq!(done["dead_columns"].as_array().map(Vec::len), Some(1));
            assert!(done["dropped_norm"].as_f64().is_some_and(|x| x < 1e-14));
            assert_eq!(
                done["solution"],
                if basic { "basic" } else { "minimum_norm" }
            );
            assert_eq!(done["warnings"].as_array().map(Vec::len), Some(0));
        }
    }
    // A tolerance that drops the second column; one that is none.
    let text = "3 2 5\n1 1 1\n2 1 1\n1 2 1\n2 2 1\n3 2 1e-6\n";
    let path = folder.file("a.mtx", &coordinate(text));
    let rank = |tolerance| {
        let done = json([
            "solve",
            path.as_str(),
            "--json",
            "--rank-tolerance",
            tolerance,
        ]);
        let warnings = done["warnings"].as_array().expect("a list").len();
        (done["rank"].clone(), warnings)
    };
    assert_eq!(rank("1e-5"), (1.into(), 0));
    assert_eq!(rank("1e-8"), (2.into(), 1));
    for bad in ["-1", "nan", "small"] {
        let flag = format!("--rank-tolerance={bad}");
        let done = run(["solve", path.as_str(), &flag]);
        assert_eq!(done.code, 1);
        assert!(done.err.contains("a tolerance is a number"), "{}", done.err);
    }
}
