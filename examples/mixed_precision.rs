//! How many corrections each method of refinement takes, and what mixed precision gains.
//!
//!     cargo run --release --example mixed_precision -- gallery:lp-20000 gallery:stencil27-30 A.mtx.gz
//!
//! Times are medians of five runs on all threads, the factorization and what follows together.

use std::time::Duration;
use treeqr::matrices::{Source, norm2};
use treeqr::{
    Csc, FactorOptions, Options, Progress, RefineMethod, RefineOptions, analyse, quality,
    solve_analysed, solve_mixed,
};

pub(crate) fn main() -> Result<(), treeqr::Error> {
    println!(
        "{:<28} {:>10} {:>8} {:>11} {:>9} {:>9} {:>9}  fall-back",
        "matrix", "condition", "steps", "(seminorm.)", "double", "mixed", "residuals"
    );
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|w| !w.starts_with('-'))
        .collect();
    let known = |word: &String| word.starts_with("gallery:") || word.contains(".mtx");
    for word in words.iter().filter(|word| known(word)) {
        row(word, &Source::from(word.as_str()).matrix()?.matrix)?;
    }
    if words.is_empty() {
        for degree in [4, 6, 8, 10, 12] {
            row(&format!("monomials to {degree}"), &monomials(degree, 60))?;
        }
    }
    Ok(())
}

/// One line.
fn row(name: &str, a: &Csc<f64>) -> Result<(), treeqr::Error> {
    let symbolic = analyse(a.pattern(), &Options::default())?;
    let b: Vec<f64> = (0..a.nrows()).map(|i| (i as f64 * 0.7).sin()).collect();
    let options = FactorOptions::default();
    let mixed = |method| {
        let refine = RefineOptions {
            method,
            ..RefineOptions::default()
        };
        solve_mixed(&symbolic, a, &b, 1, &options, &refine, &Progress::default())
    };
    let double = || solve_analysed(&symbolic, a, &b, 1, &options, &Progress::default());
    let (mut in_double, mut in_mixed) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let solution = double()?;
        in_double.push(solution.factorize_time + solution.solve_time);
        let solution = mixed(RefineMethod::Gradients)?.solution;
        in_mixed.push(solution.factorize_time + solution.solve_time);
    }
    let x = double()?.x;
    let done = mixed(RefineMethod::Gradients)?;
    let steps = |refinement: &Option<treeqr::Refinement>| match refinement {
        Some(refinement) if refinement.succeeded() => refinement.corrections().to_string(),
        _ => "-".to_owned(),
    };
    let ratio = quality(a, &done.solution.x, &b).normal_residual
        / quality(a, &x, &b)
            .normal_residual
            .max(norm2(&[f64::MIN_POSITIVE]));
    println!(
        "{name:<28} {:>10.1e} {:>8} {:>11} {:>9.1?} {:>9.1?} {ratio:>9.2}  {}",
        done.refinement.as_ref().map_or(f64::NAN, |r| r.condition),
        steps(&done.refinement),
        steps(&mixed(RefineMethod::Seminormal)?.refinement),
        median(in_double),
        median(in_mixed),
        done.fallback.map_or(String::new(), |why| why.to_string()),
    );
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Powers of the points of a grid: the condition number grows by a factor of about 6 with each.
pub(crate) fn monomials(degree: usize, points: usize) -> Csc<f64> {
    let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..=degree {
        for i in 0..points {
            rows.push(i as u32);
            cols.push(k as u32);
            values.push((i as f64 / points as f64).powi(k as i32));
        }
    }
    Csc::from_triplets(points, degree + 1, &rows, &cols, &values).expect("triplets in order")
}
