//! How accurate the heights of a levelling network are: standard errors, and the correlation of neighbours.
//!
//!     cargo run --example network_accuracy

use treeqr::matrices::{load, norm2};
use treeqr::{FactorOptions, Options, SolveOptions, analyse, factorize, weighted_residual};

pub(crate) fn main() -> Result<(), treeqr::Error> {
    let network = load::<f64>("gallery:survey-6x5")?;
    let (a, b) = (
        network.matrix,
        network.rhs.expect("surveys have observations"),
    );
    let symbolic = analyse(a.pattern(), &Options::default())?;
    let qr = factorize(&symbolic, &a, &FactorOptions::default())?;
    let heights = qr.solve(&b)?;

    // What is left over tells the accuracy of the observations ...
    let freedom = (a.nrows() - a.ncols()) as f64;
    let sigma = norm2(&weighted_residual(&a, &heights, &b, None)) / freedom.sqrt();
    // ... and (A'A)^-1 what that makes of the heights.
    let options = SolveOptions::default();
    let all: Vec<usize> = (0..a.ncols()).collect();
    let variances = qr.factors().variances(&all, &options)?;
    for (j, (height, variance)) in heights.iter().zip(&variances).enumerate().take(4) {
        println!("height {j}: {height:9.4} ± {:.4}", sigma * variance.sqrt());
    }
    let with_first = qr.factors().covariance_columns(&[0], &options)?;
    let correlation = with_first[1] / (variances[0] * variances[1]).sqrt();
    println!("heights 0 and 1 are correlated by {correlation:.3}");
    Ok(())
}
