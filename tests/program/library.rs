//! The library as programs use it.

use treeqr::{
    Csc, Error, FactorOptions, Options, Progress, Settings, analyse, factorize, factorize_watched,
    solve,
};
use treeqr::{matrices, quality};

fn survey() -> (Csc<f64>, Vec<f64>) {
    let made = matrices::load::<f64>("gallery:survey-12x10").expect("in the gallery");
    (made.matrix, made.rhs.expect("surveys have one"))
}

#[test]
fn a_factorization_solves_again_and_again() {
    let (a, b) = survey();
    let symbolic = analyse(a.pattern(), &Options::default()).expect("analysed");
    let qr = factorize(&symbolic, &a, &FactorOptions::default()).expect("full rank");
    let x = qr.solve(&b).expect("solved");
    let twice: Vec<f64> = b.iter().chain(&b).copied().collect();
    let both = qr.solve_many(&twice, 2).expect("solved");
    assert_eq!(both.len(), 2 * x.len());
    let largest = x.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let same = |y: &[f64]| {
        y.iter()
            .zip(&x)
            .all(|(y, x)| (y - x).abs() < 1e-10 * largest)
    };
    assert!(same(&both[..x.len()]) && same(&both[x.len()..]));
    let once = solve(&a, &b, 1, &Settings::default()).expect("solved");
    assert!(same(&once.x));
    assert!(!qr.symbolic().transposed());
}

#[test]
fn new_values_need_no_new_analysis() {
    let (mut a, b) = survey();
    let symbolic = analyse(a.pattern(), &Options::default()).expect("analysed");
    for step in 1..4 {
        a.values_mut()
            .iter_mut()
            .for_each(|v| *v *= 1.0 + f64::from(step));
        let ones: Vec<f64> = vec![1.0; b.len()];
        let x = factorize(&symbolic, &a, &FactorOptions::default())
            .and_then(|qr| qr.solve(&ones))
            .expect("solved");
        assert!(quality(&a, &x, &ones).normal_residual < 1e-13);
    }
}

#[test]
fn the_recorder_sees_every_task_and_progress_every_flop() {
    let (a, _) = survey();
    let symbolic = analyse(a.pattern(), &Options::default()).expect("analysed");
    let progress = Progress::default();
    let qr =
        factorize_watched(&symbolic, &a, &FactorOptions::default(), &progress).expect("full rank");
    let (run, recorded) = (qr.run(), &qr.run().recording().runs[0]);
    assert_eq!(recorded.tasks.len() as u64, run.prediction().task_count());
    assert_eq!((recorded.dropped, recorded.lost_tracks), (0, 0));
    assert_eq!(progress.flops(), run.prediction().flops);
    assert_eq!(progress.predicted_flops(), run.summary().flops);
    assert_eq!(run.summary().peak_bytes, run.stats().peak_bytes);
}

#[test]
fn errors_name_the_place() {
    let (a, b) = survey();
    let settings = Settings::default();
    let message = |result: Result<_, Error>| result.expect_err("an error").to_string();
    let short = message(solve(&a, &b[1..], 1, &settings));
    assert!(
        short.contains(&format!("{} were expected", b.len())),
        "{short}"
    );
    let mut bad = b.clone();
    bad[6] = f64::NAN;
    assert!(message(solve(&a, &bad, 1, &settings)).contains("row 7, column 1"));
    let wide = a.adjoint();
    let mut bad = vec![1.0; wide.nrows()];
    bad[2] = f64::INFINITY;
    assert!(message(solve(&wide, &bad, 1, &settings)).contains("row 3, column 1"));
    let mut infinite = a.clone();
    infinite.values_mut()[0] = f64::INFINITY;
    assert!(message(solve(&infinite, &b, 1, &settings)).contains("not finite at row"));
    let none = Csc::<f64>::from_triplets(0, 3, &[], &[], &[]).expect("a matrix");
    assert!(message(solve(&none, &[], 1, &settings)).contains("nothing to solve"));
    let mut unknown = Settings::default();
    unknown.analysis.ordering = "best".to_owned();
    assert!(message(solve(&a, &b, 1, &unknown)).contains("known are auto, colamd"));
}

/// Where R says too little about a wide matrix all is computed again with Q, and nobody notices.
#[test]
fn a_wide_matrix_that_r_says_too_little_of() {
    let made = matrices::load::<f64>("gallery:stencil27-4").expect("in the gallery");
    let mut a = made.matrix;
    let m = a.nrows() as f64;
    let rows = a.pattern().rowidx().to_vec();
    // Over ten decades; the last rows are not there but for rounding.
    for (v, i) in a.values_mut().iter_mut().zip(rows) {
        *v *= match f64::from(i) < m - 3.0 {
            true => 10f64.powf(-12.0 * f64::from(i) / m),
            false => 0.0,
        };
    }
    let b: Vec<f64> = vec![1.0; a.nrows()];
    let kept = Settings {
        factorization: FactorOptions {
            keep_q: true,
            ..FactorOptions::default()
        },
        ..Settings::default()
    };
    let [alone, with] = [Settings::default(), kept].map(|settings| {
        let done = solve(&a, &b, 1, &settings).expect("solved");
        assert!(!done.rank.is_full() && done.rank.condition > Some(1e8));
        assert!(done.run.record().shape().keep_q);
        done.x
    });
    assert_eq!(alone, with);
}
