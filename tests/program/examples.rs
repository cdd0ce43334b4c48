//! The examples run to their end, and what they print is right. They are compiled in here, so that they are those that are there.

use treeqr::matrices::{load, norm2};

#[path = "../../examples/choosing_an_ordering.rs"]
mod choosing_an_ordering;
#[path = "../../examples/gauss_newton.rs"]
mod gauss_newton;
#[path = "../../examples/interior_point.rs"]
mod interior_point;
#[path = "../../examples/many_right_hand_sides.rs"]
mod many_right_hand_sides;
#[path = "../../examples/mixed_precision.rs"]
pub(crate) mod mixed_precision;
#[path = "../../examples/network_accuracy.rs"]
mod network_accuracy;
#[path = "../../examples/pose_graph.rs"]
mod pose_graph;
#[path = "../../examples/tomography.rs"]
mod tomography;
#[path = "../../examples/tracing_steps.rs"]
mod tracing_steps;
#[path = "../../examples/weighted_curve.rs"]
mod weighted_curve;

#[test]
fn every_example_runs() {
    choosing_an_ordering::main().expect("runs");
    gauss_newton::main().expect("runs");
    interior_point::main().expect("runs");
    many_right_hand_sides::main().expect("runs");
    network_accuracy::main().expect("runs");
    pose_graph::main().expect("runs");
    tomography::main().expect("runs");
    tracing_steps::main().expect("runs");
    weighted_curve::main().expect("runs");
    // Knows no matrix in the words of a test program: the table's head alone, or that of the monomials.
    mixed_precision::main().expect("runs");
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).expect("there");
    assert_eq!(files.count(), 10, "an example that no test runs");
}

/// Every image has A'(b - A x) = λ² x; some damping is better than none and than much.
#[test]
fn damping_finds_the_image_in_the_noise() {
    let (a, b) = tomography::measurements().expect("made");
    let tried = tomography::reconstruct(&a, &b).expect("solved");
    let largest = a.norm_frobenius();
    for t in &tried {
        let mut r = b.clone();
        a.mul_add(-1.0, &t.image, &mut r);
        let mut g: Vec<f64> = t.image.iter().map(|x| -t.damping.powi(2) * x).collect();
        a.adjoint_mul_add(1.0, &r, &mut g);
        assert!(
            norm2(&g) <= 1e-11 * largest * norm2(&b),
            "λ = {}",
            t.damping
        );
    }
    let errors: Vec<f64> = tried.iter().map(|t| t.error).collect();
    let best = errors.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(best < 0.2, "{errors:?}");
    assert!(best < 0.9 * errors[0], "{errors:?}");
    assert!(best < 0.9 * errors[errors.len() - 1], "{errors:?}");
}

#[test]
fn the_wrong_measurement_is_found() {
    let found = pose_graph::find().expect("solved");
    assert_eq!(found.suspect, pose_graph::WRONG);
    // Noise of standard deviation 1 in some thousand degrees of freedom.
    assert!((0.9..1.1).contains(&found.right), "{}", found.right);
    assert!(found.wrong > found.right + 0.1 && found.size > 10.0);
}

#[test]
fn qr_keeps_the_digits_that_normal_equations_lose() {
    let errors = interior_point::step().expect("solved");
    assert!(errors.by_qr < 1e-6, "{:e}", errors.by_qr);
    let square = errors.by_normal_equations;
    assert!(square.is_nan() || square > 1e3 * errors.by_qr, "{square:e}");
}

/// In a process of its own: subscribers of other threads have a say in what `tracing` lets through.
#[test]
fn steps_are_seen_by_an_own_subscriber() {
    const ALONE: &str = "TREEQR_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let itself = std::env::current_exe().expect("a path");
        let name = "examples::steps_are_seen_by_an_own_subscriber";
        let mut alone = std::process::Command::new(itself);
        let alone = alone.args(["--exact", name]).env(ALONE, "1");
        let done = alone.output().expect("it starts");
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let steps = tracing_steps::steps().expect("solved");
    let find = |name| steps.iter().find(|step| step.1 == name);
    let whole = find("my program").expect("a span");
    assert_eq!(whole.0, 0);
    let mut sum = std::time::Duration::ZERO;
    for name in ["analyse", "factorize", "solve"] {
        let step = find(name).unwrap_or_else(|| panic!("no {name} in {steps:?}"));
        assert_eq!(step.0, 1, "{steps:?}");
        sum += step.2;
    }
    // One after the other, within it.
    assert!(sum <= whole.2, "{steps:?}");
}

#[test]
fn the_ordering_that_is_taken_is_the_cheapest() {
    let (costs, flops) = choosing_an_ordering::choose().expect("factorized");
    assert_eq!(costs.len(), treeqr::solver::ORDERINGS.len());
    let least = costs.iter().map(|c| c.flops).min().expect("some");
    assert_eq!(flops, least);
    let a = load::<f64>("gallery:grid3d-8").expect("made").matrix;
    let dense = (a.ncols() * (a.ncols() + 1) / 2) as u64;
    for cost in &costs {
        assert!(cost.nnz_r >= a.ncols() as u64 && cost.nnz_r <= dense);
        assert!(cost.peak_bytes as u64 >= 8 * cost.nnz_r, "{}", cost.name);
    }
}
