//! One factorization, and then as many right-hand sides as there are, whenever they come.
//!
//!     cargo run --example many_right_hand_sides

use treeqr::matrices::load;
use treeqr::{FactorOptions, Options, analyse, factorize, quality};

pub(crate) fn main() -> Result<(), treeqr::Error> {
    let a = load::<f64>("gallery:grid3d-6")?.matrix;
    let symbolic = analyse(a.pattern(), &Options::default())?;
    let qr = factorize(&symbolic, &a, &FactorOptions::default())?;

    // A block of them, a column after the other: solved side by side, on as many threads as they are worth.
    let (m, n, count) = (a.nrows(), a.ncols(), 48);
    let b: Vec<f64> = (0..m * count).map(|i| (i as f64 * 0.37).sin()).collect();
    let x = qr.solve_many(&b, count)?;
    let worst = (0..count)
        .map(|k| quality(&a, &x[k * n..(k + 1) * n], &b[k * m..(k + 1) * m]).normal_residual)
        .fold(0.0, f64::max);
    println!("{count} solutions of {n} unknowns; the largest ‖A'r‖ / (‖A‖ ‖r‖) is {worst:.1e}");

    // And from several threads at once: factors are only read.
    std::thread::scope(|scope| {
        for column in b.chunks_exact(m).take(2) {
            scope.spawn(|| qr.solve(column).map(|x| println!("x[0] = {:.6}", x[0])));
        }
    });
    Ok(())
}
