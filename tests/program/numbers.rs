//! `treeqr solve` in all four scalars, with weights, damping and refinement.

use crate::command::{Folder, json, run};
use crate::dense;
use crate::mixed::{Random, complex, named};
use treeqr::matrices::{norm2, write_dense, write_sparse};
use treeqr::{Csc, Dense, c64, read_dense};

fn difference(x: &[c64], y: &[c64]) -> f64 {
    let d: Vec<c64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
    norm2(&d) / norm2(y)
}

/// A file of a dense matrix, as an argument.
fn saved(folder: &Folder, name: &str, values: Vec<c64>, cols: usize) -> String {
    let path = folder.path(name);
    let x = Dense::new(values.len() / cols, cols, values).expect("columns");
    write_dense(&path, &x, "").expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn complex_files_give_complex_solutions_in_every_precision() {
    let folder = Folder::new();
    let mut random = Random(21);
    for name in ["survey-8x6", "lp-40", "stencil27-3"] {
        let a = complex(name, &mut random);
        let path = folder.path("a.mtx.gz");
        write_sparse(&path, &a, "").expect("written");
        let (m, n) = (a.nrows(), a.ncols());
        let b: Vec<c64> = (0..2 * m)
            .map(|_| c64::new(random.next(), random.next()))
            .collect();
        let rhs = saved(&folder, "b.mtx", b.clone(), 2);
        let (path, out) = (path.to_str().expect("UTF-8"), folder.path("x.mtx"));
        let out = out.to_str().expect("UTF-8");
        for (precision, scalar, tolerance) in [
            ("double", "c64", 1e-10),
            ("mixed", "c64", 1e-10),
            ("single", "c32", 0.01),
        ] {
            let done = json([
                "solve",
                path,
                "--rhs",
                &rhs,
                "--output",
                out,
                "--precision",
                precision,
                "--json",
            ]);
            assert_eq!(
                (&done["scalar"], &done["precision"]),
                (&scalar.into(), &precision.into())
            );
            assert_eq!(done["rhs"]["split"], false);
            assert_eq!(done["refinement"].is_object(), precision == "mixed");
            assert!(done["fallback"].is_null() && done["condition_estimate"].is_number());
            // In mixed precision it comes with the refinement.
            let by_itself = &done["times_s"]["condition"];
            assert_eq!(by_itself.is_null(), precision == "mixed");
            let text = std::fs::read_to_string(out).expect("there");
            assert!(
                text.starts_with("%%MatrixMarket matrix array complex general"),
                "{text}"
            );
            let x: Dense<c64> = read_dense(out).expect("x");
            assert_eq!((x.nrows(), x.ncols()), (n, 2));
            for k in 0..2 {
                let expected = dense::solve_complex(&a, &b[k * m..(k + 1) * m]);
                let error = difference(x.col(k), &expected);
                assert!(error < tolerance, "{name}, {precision}: {error:e}");
            }
        }
    }
}

#[test]
fn hermitian_matrices_and_real_right_hand_sides_are_promoted() {
    let folder = Folder::new();
    let a = folder.file(
        "h.mtx",
        "%%MatrixMarket matrix coordinate complex hermitian\n3 3 5\n1 1 4 0\n2 1 1 2\n2 2 5 0\n3 2 0 -1\n3 3 6 0\n",
    );
    let b = folder.file(
        "b.mtx",
        "%%MatrixMarket matrix array real general\n3 1\n1\n-2\n3\n",
    );
    let out = folder.path("x.mtx");
    let done = json([
        "solve",
        &a,
        "--rhs",
        &b,
        "-o",
        out.to_str().expect("UTF-8"),
        "--json",
    ]);
    assert_eq!(done["problem"], "square");
    assert_eq!(done["matrix"]["nnz"], 7);
    let x: Dense<c64> = read_dense(&out).expect("x");
    // Row 1: 4 x1 + (1 - 2i) x2 = 1, and so on.
    let i = c64::new(0.0, 1.0);
    let x = x.values();
    let rows = [
        4.0 * x[0] + (1.0 - 2.0 * i) * x[1],
        (1.0 + 2.0 * i) * x[0] + 5.0 * x[1] + i * x[2],
        -i * x[1] + 6.0 * x[2],
    ];
    for (row, b) in rows.iter().zip([1.0, -2.0, 3.0]) {
        assert!((row - b).norm() < 1e-14, "{row}");
    }
    // The other commands know such files, too.
    let info = json(["info", &a, "--json"]);
    assert_eq!(
        (&info["symmetry"], &info["values"]),
        (&"hermitian".into(), &"complex".into())
    );
    let analysed = json(["analyse", &a, "--json"]);
    assert_eq!(analysed["flops"], done["predicted_flops"]);
}

#[test]
fn a_complex_right_hand_side_of_a_real_matrix_is_two() {
    let folder = Folder::new();
    let a = named("survey-8x6");
    let mut random = Random(22);
    let b: Vec<c64> = (0..2 * a.nrows())
        .map(|_| c64::new(random.next(), random.next()))
        .collect();
    let rhs = saved(&folder, "b.mtx", b.clone(), 2);
    let out = folder.path("x.mtx");
    for precision in ["double", "mixed"] {
        let done = json([
            "solve",
            "gallery:survey-8x6",
            "--rhs",
            &rhs,
            "-o",
            out.to_str().expect("UTF-8"),
            "--precision",
            precision,
            "--json",
        ]);
        assert_eq!(
            (&done["scalar"], &done["rhs"]["split"]),
            (&"c64".into(), &true.into())
        );
        assert_eq!(done["rhs"]["cols"], 2);
        let x: Dense<c64> = read_dense(&out).expect("x");
        let promoted: Csc<c64> = a.to_precision();
        let mut largest = 0f64;
        for k in 0..2 {
            let b = &b[k * a.nrows()..(k + 1) * a.nrows()];
            assert!(difference(x.col(k), &dense::solve_complex(&promoted, b)) < 1e-11);
            let mut r = b.to_vec();
            promoted.mul_add(c64::new(-1.0, 0.0), x.col(k), &mut r);
            largest = largest.max(norm2(&r));
        }
        let said = done["residual_norm"].as_f64().expect("a number");
        assert!((said - largest).abs() < 1e-10 * largest);
    }
}

#[test]
fn traces_of_complex_and_mixed_runs_hold() {
    let folder = Folder::new();
    let a = complex("survey-8x6", &mut Random(23));
    let path = folder.path("a.mtx");
    write_sparse(&path, &a, "").expect("written");
    for (matrix, precision) in [
        (path.to_str().expect("UTF-8"), "double"),
        ("gallery:survey-8x6", "mixed"),
    ] {
        let trace = folder.path(&format!("{precision}.trace"));
        let trace = trace.to_str().expect("UTF-8");
        let done = run(["solve", matrix, "--precision", precision, "--trace", trace]);
        assert_eq!(done.code, 0, "{}", done.err);
        let checked = run(["trace", "check", trace]);
        assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    }
}

#[test]
fn refinement_and_fall_back_are_told() {
    let folder = Folder::new();
    let done = run(["solve", "gallery:survey-8x6", "--precision", "mixed"]);
    assert!(
        done.out.contains("Refined") && done.out.contains("corrections"),
        "{}",
        done.out
    );
    // Columns that single precision can't tell apart.
    let a = folder.file(
        "a.mtx",
        "%%MatrixMarket matrix array real general\n3 2\n1\n1\n1\n1\n1.0000000001\n0.9999999999\n",
    );
    let done = run(["solve", &a, "--precision", "mixed"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.out.contains("factorized again in double"),
        "{}",
        done.out
    );
    assert!(
        done.out.contains("Solved to working precision"),
        "{}",
        done.out
    );
    let done = json(["solve", &a, "--precision", "mixed", "--json"]);
    assert!(done["fallback"].is_string());
    // Its condition number leaves few digits, which is said.
    let plain = run(["solve", &a, "--precision", "double"]);
    let figure = json(["solve", &a, "--json"])["condition_estimate"].as_f64();
    assert!(
        figure.is_some_and(|c| (1e9..1e12).contains(&c)),
        "{figure:?}"
    );
    assert!(!plain.out.contains("ill-conditioned"), "{}", plain.out);
    let single = folder.file(
        "s.mtx",
        "%%MatrixMarket matrix array real general\n3 2\n1\n1\n1\n1\n1.01\n0.99\n",
    );
    let single = run(["solve", &single, "--precision", "single"]);
    assert!(
        single.code == 0 && !single.out.contains("Not to be trusted"),
        "{}{}",
        single.out,
        single.err
    );
    // In working precision there is little to gain, and nothing lost.
    let done = json(["solve", "gallery:survey-8x6", "--refine", "--json"]);
    assert_eq!(done["refinement"]["succeeded"], true);
    let residual = done["normal_residual"].as_f64().expect("a number");
    assert!(residual < 1e-15, "{residual}");
}

#[test]
fn weights_and_damping_are_the_problem_that_is_told() {
    let folder = Folder::new();
    let a = named("survey-8x6");
    let m = a.nrows();
    let weights: Vec<f64> = (0..m).map(|i| 1.0 + (i % 5) as f64).collect();
    let path = folder.path("w.mtx");
    write_dense(&path, &Dense::from_vector(weights.clone()), "").expect("written");
    let out = folder.path("x.mtx");
    let done = json([
        "solve",
        "gallery:survey-8x6",
        "--rhs",
        "gallery:survey-8x6:rhs",
        "--weights",
        path.to_str().expect("UTF-8"),
        "--damp",
        "0.5",
        "--scale-columns",
        "-o",
        out.to_str().expect("UTF-8"),
        "--json",
    ]);
    let x: Dense<f64> = read_dense(&out).expect("x");
    assert_eq!((x.nrows(), &done["matrix"]["rows"]), (a.ncols(), &m.into()));
    let rhs = treeqr::matrices::Source::from("gallery:survey-8x6:rhs");
    let b: Dense<f64> = rhs.dense().expect("a right-hand side");
    // At the minimum A' W (b - A x) = lambda^2 x.
    let r = treeqr::weighted_residual(&a, x.values(), b.values(), Some(&weights));
    let said = done["residual_norm"].as_f64().expect("a number");
    assert!((said - norm2(&r)).abs() < 1e-10 * said);
    let again: Vec<f64> = r.iter().zip(&weights).map(|(r, w)| r * w.sqrt()).collect();
    let mut gradient: Vec<f64> = x.values().iter().map(|v| -0.25 * v).collect();
    a.adjoint_mul_add(1.0, &again, &mut gradient);
    // Heights of hundreds and small residuals: r is known to ||A|| ||x|| eps.
    let (gradient, norm) = (norm2(&gradient), a.norm_frobenius());
    assert!(
        gradient < 1e-14 * norm * norm * norm2(x.values()),
        "{gradient:e}"
    );
    assert!(done["normal_residual"].as_f64().expect("a number") < 1e-11);
    assert_eq!(
        (&done["damping"], &done["scaled_columns"]),
        (&0.5.into(), &true.into())
    );
    assert!(
        done["r_squared"].as_f64().is_some_and(|r| r < 1.0),
        "{}",
        done["r_squared"]
    );

    let few = folder.file("few.mtx", "1\n2\n");
    let failed = run(["solve", "gallery:survey-8x6", "--weights", &few]);
    assert!(
        failed.code == 1 && failed.err.contains("there are 2 weights for"),
        "{}",
        failed.err
    );
    let failed = run(["solve", "gallery:survey-8x6", "--damp=-1"]);
    assert_eq!(
        (failed.code, failed.err.contains("a damping of -1")),
        (1, true),
        "{}",
        failed.err
    );
}
