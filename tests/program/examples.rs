//! The examples run to their end. They are compiled in here, so that they are those that are there.

#[path = "../../examples/gauss_newton.rs"]
mod gauss_newton;
#[path = "../../examples/many_right_hand_sides.rs"]
mod many_right_hand_sides;
#[path = "../../examples/mixed_precision.rs"]
mod mixed_precision;
#[path = "../../examples/network_accuracy.rs"]
mod network_accuracy;
#[path = "../../examples/weighted_curve.rs"]
mod weighted_curve;

#[test]
fn every_example_runs() {
    gauss_newton::main().expect("runs");
    many_right_hand_sides::main().expect("runs");
    network_accuracy::main().expect("runs");
    weighted_curve::main().expect("runs");
    // Knows no matrix in the words of a test program: the table's head alone, or that of the monomials.
    mixed_precision::main().expect("runs");
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).expect("there");
    assert_eq!(files.count(), 5, "an example that no test runs");
}
