//! A step of an interior-point method for a linear program, A D² A' y = A D² c, without forming A D² A': it is the least-squares
//! problem min ‖D (A' y - c)‖. Near the optimum D holds numbers of very different size, and squaring them costs the digits.
//!
//!     cargo run --example interior_point

use treeqr::matrices::{load, norm2};
use treeqr::{Csc, Settings, solve};

/// ‖y - y*‖ / ‖y*‖ by each way, where y* is known.
pub(crate) struct Errors {
    pub(crate) by_qr: f64,
    pub(crate) by_normal_equations: f64,
}

pub(crate) fn main() -> Result<(), treeqr::Error> {
    let errors = step()?;
    println!("by QR of D A':          error {:.1e}", errors.by_qr);
    let square = errors.by_normal_equations;
    println!("by Cholesky of A D² A': error {square:.1e}");
    Ok(())
}

pub(crate) fn step() -> Result<Errors, treeqr::Error> {
    // A', a row for each variable of the program.
    let mut a: Csc<f64> = load("gallery:lp-300")?.matrix;
    let (m, n) = (a.nrows(), a.ncols());
    // A degenerate vertex: fewer variables are away from zero than there are constraints.
    let d = |i: usize| match i < n - 5 {
        true => 1e4 * (1.0 + (i % 7) as f64),
        false => 1e-3 * (1.0 + (i % 5) as f64),
    };
    for j in 0..n {
        let range = a.pattern().colptr()[j]..a.pattern().colptr()[j + 1];
        for k in range {
            let row = a.pattern().rowidx()[k] as usize;
            a.values_mut()[k] *= d(row);
        }
    }
    let known: Vec<f64> = (0..n).map(|j| 1.0 + (j as f64).sin()).collect();
    let mut dc = vec![0.0; m];
    a.mul_add(1.0, &known, &mut dc);

    let by_qr = solve(&a, &dc, 1, &Settings::default())?.x;
    let error = |y: &[f64]| {
        let off: Vec<f64> = y.iter().zip(&known).map(|(y, k)| y - k).collect();
        norm2(&off) / norm2(&known)
    };
    Ok(Errors {
        by_qr: error(&by_qr),
        by_normal_equations: error(&normal_equations(&a, &dc)),
    })
}

/// A dense Cholesky factorization of B'B, as it is done; not a number where a pivot is not positive.
fn normal_equations(b: &Csc<f64>, c: &[f64]) -> Vec<f64> {
    let n = b.ncols();
    let mut y = vec![0.0; n];
    b.adjoint_mul_add(1.0, c, &mut y);
    let mut l = vec![vec![0.0; n]; n];
    let mut column = vec![0.0; b.nrows()];
    for j in 0..n {
        column.fill(0.0);
        let (rows, values) = b.col(j);
        (rows.iter().zip(values)).for_each(|(&i, v)| column[i as usize] = *v);
        for (k, row) in l.iter_mut().enumerate().skip(j) {
            let (rows, values) = b.col(k);
            row[j] = (rows.iter().zip(values))
                .map(|(&i, v)| v * column[i as usize])
                .sum();
        }
    }
    for j in 0..n {
        for k in 0..j {
            let factor = l[j][k];
            for row in &mut l[j..] {
                row[j] -= row[k] * factor;
            }
        }
        let pivot = l[j][j].sqrt();
        l[j..].iter_mut().for_each(|row| row[j] /= pivot);
    }
    for j in 0..n {
        y[j] = (y[j] - (0..j).map(|k| l[j][k] * y[k]).sum::<f64>()) / l[j][j];
    }
    for j in (0..n).rev() {
        y[j] = (y[j] - (j + 1..n).map(|k| l[k][j] * y[k]).sum::<f64>()) / l[j][j];
    }
    y
}
