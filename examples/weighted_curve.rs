//! A curve through measurements of different accuracy: y = c0 + c1 t + c2 t^2, weights 1 over the variance.
//!
//!     cargo run --example weighted_curve

use treeqr::{Csc, Posed, Settings, Terms, r_squared, solve};

pub(crate) fn main() -> Result<(), treeqr::Error> {
    // Time, measured value, standard deviation of the measurement.
    let data: [(f64, f64, f64); 6] = [
        (0.0, 1.02, 0.05),
        (0.5, 1.91, 0.05),
        (1.0, 3.10, 0.20),
        (1.5, 4.08, 0.05),
        (2.0, 5.80, 0.80),
        (2.5, 6.09, 0.05),
    ];
    let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (i, &(t, _, _)) in data.iter().enumerate() {
        for k in 0..3u32 {
            rows.push(i as u32);
            cols.push(k);
            values.push(f64::powi(t, k as i32));
        }
    }
    let a = Csc::from_triplets(data.len(), 3, &rows, &cols, &values)?;
    let b: Vec<f64> = data.iter().map(|d| d.1).collect();
    let weights: Vec<f64> = data.iter().map(|d| d.2.powi(-2)).collect();

    let terms = Terms {
        weights: Some(weights.clone()),
        ..Terms::default()
    };
    let posed = Posed::new(&a, &terms)?;
    let y = solve(posed.matrix(), &posed.rhs(&b, 1), 1, &Settings::default())?.x;
    let c = posed.solution(&y, 1);
    println!("y = {:.4} + {:.4} t + {:.4} t²", c[0], c[1], c[2]);
    println!("R² = {:.6}", r_squared(&a, &c, &b, Some(&weights)));
    Ok(())
}
