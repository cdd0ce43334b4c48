//! Dense rows as programs and the command meet them: split off without being asked, and the same answers.

use crate::command::json;
use crate::mixed::{Random, complex, named};
use treeqr::matrices::{Scalar, norm2};
use treeqr::{
    Csc, DenseRows, FactorOptions, FactorScalar, Posed, Progress, RefineOptions, RunKind, Settings,
    Terms, analyse, c64, factorize, quality, solve, solve_analysed, solve_mixed,
};

const NAME: &str = "dense-rows-1600x9";

fn settings(dense_rows: DenseRows) -> Settings {
    let mut settings = Settings::with_threads(2);
    settings.analysis.dense_rows = dense_rows;
    settings
}

fn distance<T: Scalar>(x: &[T], y: &[T]) -> f64 {
    use treeqr::matrices::RealScalar;
    let d: Vec<T> = x.iter().zip(y).map(|(&x, &y)| x - y).collect();
    norm2(&d).to_f64() / norm2(y).to_f64()
}

/// All ways to x, split and not.
fn every_way<T: FactorScalar>(a: &Csc<T>, b: &[T]) {
    let whole = solve(a, b, 2, &settings(DenseRows::None)).expect("solved");
    assert!(whole.symbolic.dense_rows().is_empty());
    let auto = solve(a, b, 2, &settings(DenseRows::Auto)).expect("solved");
    assert_eq!(auto.symbolic.dense_rows().len(), 9);
    assert!(auto.rank.is_full());
    let symbolic = &auto.symbolic;
    let qr = factorize(symbolic, a, &FactorOptions::default()).expect("factorized");
    let later = qr.solve_many(b, 2).expect("solved");
    let (recorded, record) = qr
        .solve_recorded(b, 2, &Progress::default())
        .expect("solved");
    assert_eq!(later, recorded);
    // What is seen of the solve is what was planned.
    let RunKind::Solve(plan) = &record.kinds()[0] else {
        panic!("a solve");
    };
    let runs = &record.recording().runs;
    let tasks: usize = runs.iter().map(|run| run.tasks.len()).sum();
    assert_eq!(tasks as u64, plan.task_count());
    for x in [&auto.x, &later] {
        assert!(distance(x, &whole.x) < 1e-11, "{:e}", distance(x, &whole.x));
    }
}

#[test]
fn every_way_to_x_is_the_same_with_and_without() {
    let mut random = Random(21);
    for a in [named(NAME), named(NAME).adjoint()] {
        let b = random.vector(2 * a.nrows());
        every_way(&a, &b);
    }
    let a = complex(NAME, &mut random);
    for a in [a.clone(), a.adjoint()] {
        let entries = 2 * a.nrows();
        let b: Vec<c64> = (0..entries)
            .map(|_| c64::new(random.next(), random.next()))
            .collect();
        every_way(&a, &b);
    }
}

#[test]
fn mixed_precision_refines_with_the_whole() {
    let mut random = Random(22);
    for a in [named(NAME), named(NAME).adjoint()] {
        let b = random.vector(2 * a.nrows());
        let symbolic = analyse(a.pattern(), &settings(DenseRows::Auto).analysis).expect("analysed");
        let (options, progress) = (FactorOptions::default(), Progress::default());
        let refine = RefineOptions::default();
        let mixed = solve_mixed(&symbolic, &a, &b, 2, &options, &refine, &progress);
        let mixed = mixed.expect("solved");
        let double = solve_analysed(&symbolic, &a, &b, 2, &options, &progress).expect("solved");
        assert!(distance(&mixed.solution.x, &double.x) < 1e-9);
        for c in 0..2 {
            let x = &mixed.solution.x[c * a.ncols()..(c + 1) * a.ncols()];
            let q = quality(&a, x, &b[c * a.nrows()..(c + 1) * a.nrows()]);
            assert!(q.normal_residual < 1e-13, "{q:?}");
        }
    }
}

#[test]
fn weights_and_damping_go_together_with_dense_rows() {
    let mut random = Random(23);
    for a in [named(NAME), named(NAME).adjoint()] {
        let b = random.vector(a.nrows());
        let weights = (0..a.nrows()).map(|i| 1.0 + (i % 5) as f64).collect();
        let terms = Terms {
            weights: Some(weights),
            damping: Some(0.3),
            scale_columns: true,
        };
        let posed = Posed::new(&a, &terms).expect("posed");
        let [x, y] = [DenseRows::Auto, DenseRows::None].map(|asked| {
            let done = solve(posed.matrix(), &posed.rhs(&b, 1), 1, &settings(asked));
            let done = done.expect("solved");
            let split = done.symbolic.dense_rows().len();
            assert_eq!(split, if asked == DenseRows::Auto { 9 } else { 0 });
            posed.solution(&done.x, 1)
        });
        assert!(distance(&x, &y) < 1e-11);
    }
}

#[test]
fn the_command_says_what_it_split_off() {
    let name = format!("gallery:{NAME}");
    let of = |command: &str, dense_rows: &str| {
        json([
            command,
            &name,
            "--json",
            "--dense-rows",
            dense_rows,
            "-t",
            "2",
        ])
    };
    let (auto, none) = (of("solve", "auto"), of("solve", "none"));
    assert_eq!(auto["dense_rows"]["count"], 9);
    assert_eq!(auto["dense_rows"]["of"], "row");
    let rows = auto["matrix"]["rows"].as_u64().expect("a number");
    let last: Vec<u64> = (rows - 8..=rows).collect();
    assert_eq!(auto["dense_rows"]["which"], serde_json::json!(last));
    assert!(auto["dense_rows"]["update_flops"].as_u64() > Some(0));
    assert_eq!(auto["rank"], 1600);
    assert_eq!(auto["flops"], auto["predicted_flops"]);
    assert_eq!(none["dense_rows"]["count"], 0);
    assert!(2 * auto["flops"].as_u64().unwrap() < none["flops"].as_u64().unwrap());
    let norm = |of: &serde_json::Value| of["residual_norm"].as_f64().expect("a number");
    assert!((norm(&auto) - norm(&none)).abs() < 1e-11 * norm(&none));
    assert!(auto["normal_residual"].as_f64().unwrap() < 1e-13);
    assert_eq!(of("analyse", "3")["dense_rows"]["count"], 3);
    assert_eq!(of("solve", "3")["rank"], 1600);
    assert_eq!(of("analyse", "auto")["dense_columns"]["count"], 0);
}
