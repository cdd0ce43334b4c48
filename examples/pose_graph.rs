//! A pose graph: where a vehicle was, from what it measured between its places. A measurement that is wrong, because a place was
//! taken for another, shows in what is left over.
//!
//!     cargo run --example pose_graph

use treeqr::matrices::{load, norm2};
use treeqr::{FactorOptions, Options, analyse, factorize, weighted_residual};

/// What was found.
pub(crate) struct Found {
    /// ‖r‖² over the degrees of freedom, about 1 where all measurements are as accurate as they say: without the wrong one, and
    /// with it.
    pub(crate) right: f64,
    pub(crate) wrong: f64,
    /// The measurement with the largest part of the residual, and its size in standard deviations.
    pub(crate) suspect: usize,
    pub(crate) size: f64,
}

/// The measurement that goes wrong.
pub(crate) const WRONG: usize = 321;

pub(crate) fn main() -> Result<(), treeqr::Error> {
    let found = find()?;
    println!("as measured: χ² per degree of freedom {:.3}", found.right);
    println!("one wrong:   χ² per degree of freedom {:.3}", found.wrong);
    let (suspect, size) = (found.suspect, found.size);
    println!("measurement {suspect} is off by {size:.1} standard deviations");
    Ok(())
}

pub(crate) fn find() -> Result<Found, treeqr::Error> {
    // Six rows for each measurement, weighted by 1 over their standard deviations.
    let graph = load::<f64>("gallery:pose-400")?;
    let (a, b) = (
        graph.matrix,
        graph.rhs.expect("pose graphs have measurements"),
    );
    let symbolic = analyse(a.pattern(), &Options::default())?;
    let qr = factorize(&symbolic, &a, &FactorOptions::default())?;
    let freedom = (a.nrows() - a.ncols()) as f64;
    let left_over = |b: &[f64]| -> Result<Vec<f64>, treeqr::Error> {
        Ok(weighted_residual(&a, &qr.solve(b)?, b, None))
    };

    let right = norm2(&left_over(&b)?).powi(2) / freedom;
    let mut false_b = b;
    for value in &mut false_b[6 * WRONG..6 * WRONG + 3] {
        *value += 40.0;
    }
    let r = left_over(&false_b)?;
    let sizes = r.chunks_exact(6).map(norm2).enumerate();
    let (suspect, size) = sizes
        .max_by(|p, q| p.1.total_cmp(&q.1))
        .expect("there are measurements");
    Ok(Found {
        right,
        wrong: norm2(&r).powi(2) / freedom,
        suspect,
        size,
    })
}
