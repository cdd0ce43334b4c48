//! The JSON of `solve` and `analyse`: its keys are a promise.

use crate::command::json;
use serde_json::Value;

const PROMISED: [&str; 18] = [
    "matrix",
    "problem",
    "ordering",
    "scheduler",
    "threads",
    "flops",
    "nnz_r",
    "nnz_h",
    "fronts",
    "times_s",
    "gflops",
    "peak_bytes",
    "predicted_peak_bytes",
    "rank",
    "solution_norm",
    "residual_norm",
    "normal_residual",
    "version",
];

#[test]
fn keys_and_types_are_as_promised() {
    let done = json([
        "solve",
        "gallery:survey-8x6",
        "--json",
        "--threads",
        "1",
        "--scheduler",
        "prio",
    ]);
    for key in PROMISED {
        assert!(!done[key].is_null(), "{key}");
    }
    for key in ["rows", "cols", "nnz"] {
        assert!(done["matrix"][key].is_u64(), "{key}");
    }
    let parts = ["read", "analyse", "factorize", "solve", "condition"];
    let time = |key| {
        let time = done["times_s"][key].as_f64();
        time.filter(|&t| t >= 0.0)
            .unwrap_or_else(|| panic!("{key}"))
    };
    let sum: f64 = parts.into_iter().map(time).sum();
    assert!(sum <= time("total"), "{sum} of {}", time("total"));
    for key in [
        "threads",
        "flops",
        "nnz_r",
        "nnz_h",
        "fronts",
        "peak_bytes",
        "predicted_peak_bytes",
        "rank",
    ] {
        assert!(done[key].is_u64(), "{key}");
    }
    for key in [
        "gflops",
        "solution_norm",
        "residual_norm",
        "normal_residual",
    ] {
        assert!(done[key].is_number(), "{key}");
    }
    for key in ["ordering", "scheduler", "problem", "version"] {
        assert!(done[key].is_string(), "{key}");
    }
    assert_eq!(done["matrix"]["cols"], 48);
    assert_eq!(done["rank"], 48);
    assert_eq!(done["dead_columns"], serde_json::json!([]));
    assert_eq!(done["dropped_norm"], 0.0);
    // b comes along, so Q is not kept; nor is it for a wide matrix.
    assert_eq!(done["factors"], "r");
    let known = json(["analyse", "gallery:survey-8x6", "--json", "--threads", "1"]);
    let [r, qr] = ["r", "qr"].map(|kept| known["kept"][kept]["factor_bytes"].as_u64());
    assert!(r.is_some() && r < qr);
    assert!(done["factor_bytes"].as_u64() >= r);
    let wide = json(["solve", "gallery:stencil27-3", "--json", "--threads", "1"]);
    assert_eq!(wide["factors"], "r");
    assert_eq!(done["solution"], "unique");
    assert_eq!(done["warnings"], serde_json::json!([]));
    assert_eq!(
        (&done["scheduler"], &done["threads"]),
        (&"prio".into(), &1.into())
    );
    assert_eq!(done["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(done["flops"], done["predicted_flops"]);
    assert_eq!(done["rhs"]["source"], "ones");
}

#[test]
fn the_shape_poses_the_problem() {
    let problem = |name: &str| json(["solve", name, "--json"])["problem"].clone();
    assert_eq!(problem("gallery:survey-5x4"), "least_squares");
    assert_eq!(problem("gallery:bibd_9_3"), "minimum_norm");
    assert_eq!(problem("gallery:conv2d-8"), "square");
}

/// What the factorization does is what the analysis said.
#[test]
fn analyse_and_solve_agree() {
    let flags = ["--threads", "1", "--ordering", "colamd", "--json"];
    for name in [
        "gallery:survey-20x10",
        "gallery:bibd_9_3",
        "gallery:grid3d-8",
    ] {
        let analysed = json(["analyse", name].into_iter().chain(flags));
        let solved = json(["solve", name].into_iter().chain(flags));
        for key in [
            "matrix",
            "problem",
            "ordering",
            "flops",
            "nnz_r",
            "nnz_h",
            "fronts",
            "depth",
            "predicted_peak_bytes",
        ] {
            assert_eq!(analysed[key], solved[key], "{name} {key}");
        }
        let by_codelet = |of: &str| -> u64 {
            let all = solved["codelets"].as_array().expect("a list").iter();
            let found = all.filter(|c| c["name"] == of).map(|c| &c["count"]);
            found.filter_map(Value::as_u64).sum()
        };
        for (codelet, tasks) in analysed["tasks"].as_object().expect("an object") {
            assert_eq!(
                tasks.as_u64(),
                Some(by_codelet(codelet)),
                "{name} {codelet}"
            );
        }
        let parallelism = analysed["average_parallelism"].as_f64().expect("a number");
        assert!(parallelism >= 1.0);
    }
}

/// nnz(R) of a dense matrix is that of a triangle, and H has all below the diagonal.
#[test]
fn nonzeros_of_dense_factors() {
    let folder = crate::command::Folder::new();
    let (m, n) = (7, 4);
    let values: Vec<String> = (0..m * n)
        .map(|k| format!("{}", (k * k % 11) + 1))
        .collect();
    let text = format!(
        "%%MatrixMarket matrix array real general\n{m} {n}\n{}\n",
        values.join("\n")
    );
    let done = json(["solve", &folder.file("a.mtx", &text), "--json"]);
    assert_eq!(done["nnz_r"], n * (n + 1) / 2);
    assert_eq!(done["nnz_h"], (0..n).map(|j| m - j).sum::<usize>());
}

/// x is the same; the memory at the peak is larger by Q, and so is what was predicted.
#[test]
fn q_is_kept_when_asked_for() {
    let run = |more: &[&str]| {
        let fixed = ["solve", "gallery:grid3d-8", "--json", "--threads", "1"];
        json([&fixed[..], more].concat())
    };
    let (without, with) = (run(&[]), run(&["--keep-q"]));
    assert_eq!(with["solution_norm"], without["solution_norm"]);
    needs_more(&with, &without);
}

fn needs_more(with: &Value, without: &Value) {
    assert_eq!(
        (&with["factors"], &without["factors"]),
        (&"qr".into(), &"r".into())
    );
    for key in ["peak_bytes", "predicted_peak_bytes"] {
        let peak = |of: &Value| of[key].as_u64().expect("bytes");
        assert!(peak(with) > peak(without), "{with} {without}");
    }
}

/// For a wide matrix x comes another way, and is the same to rounding.
#[test]
fn the_shortest_solution_needs_no_q() {
    let run = |more: &[&str]| {
        let fixed = ["solve", "gallery:stencil27-8", "--json", "--threads", "1"];
        json([&fixed[..], more].concat())
    };
    let (without, with) = (run(&[]), run(&["--keep-q"]));
    needs_more(&with, &without);
    let norm = |of: &Value| of["solution_norm"].as_f64().expect("a norm");
    assert!((norm(&with) / norm(&without) - 1.0).abs() < 1e-12);
    for of in [&with, &without] {
        assert!(of["normal_residual"].as_f64() < Some(1e-15), "{of}");
    }
}

#[test]
fn info_tells_what_the_matrix_is() {
    let folder = crate::command::Folder::new();
    let text =
        "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 2\n2 1 -3\n1 2 -3\n1 1 2\n";
    let info = json(["info", &folder.file("a.mtx", text), "--json"]);
    assert_eq!(info["matrix"]["nnz"], 3);
    assert_eq!(info["symmetry"], "symmetric");
    assert_eq!(
        info["row_lengths"],
        serde_json::json!({"min": 0, "median": 1, "max": 2, "empty": 1})
    );
    assert_eq!(
        (&info["norms"]["one"], &info["largest_magnitude"]),
        (&7.0.into(), &4.0.into())
    );
}
