//! Gauss and Newton: a nonlinear fit as a sequence of linear ones with the same pattern, which is analysed once. Some damping
//! (Levenberg, Marquardt) keeps the first steps small.
//!
//!     cargo run --example gauss_newton

use treeqr::{Csc, FactorOptions, Options, Posed, Terms, analyse, factorize};

/// Points that were measured from three places by their distances; where they are is to be found.
const PLACES: [(f64, f64); 3] = [(0.0, 0.0), (10.0, 0.0), (0.0, 10.0)];
const POINTS: [(f64, f64); 4] = [(3.0, 4.0), (6.0, 2.0), (1.0, 7.0), (5.0, 5.0)];

pub(crate) fn main() -> Result<(), treeqr::Error> {
    let distance = |p: (f64, f64), q: (f64, f64)| (p.0 - q.0).hypot(p.1 - q.1);
    let measured: Vec<f64> = POINTS
        .iter()
        .flat_map(|&p| PLACES.map(|q| distance(p, q)))
        .collect();
    // Row 3 p + k is the distance of point p to place k: entries in columns 2 p and 2 p + 1.
    let n = 2 * POINTS.len();
    let rows: Vec<u32> = (0..n as u32)
        .flat_map(|j| (0..3).map(move |k| 3 * (j / 2) + k))
        .collect();
    let cols: Vec<u32> = (0..n as u32).flat_map(|j| [j; 3]).collect();
    let jacobian = |x: &[f64]| {
        let entry = |(&i, &j): (&u32, &u32)| {
            let (p, q) = (i as usize / 3, PLACES[i as usize % 3]);
            let point = (x[2 * p], x[2 * p + 1]);
            let along = if j % 2 == 0 {
                point.0 - q.0
            } else {
                point.1 - q.1
            };
            along / distance(point, q)
        };
        rows.iter().zip(&cols).map(entry).collect::<Vec<f64>>()
    };
    let residual = |x: &[f64]| -> Vec<f64> {
        let point = |i: usize| (x[2 * (i / 3)], x[2 * (i / 3) + 1]);
        let each = measured.iter().enumerate();
        each.map(|(i, d)| d - distance(point(i), PLACES[i % 3]))
            .collect()
    };

    let mut x = vec![4.5; n];
    let mut a = Csc::from_triplets(measured.len(), n, &rows, &cols, &jacobian(&x))?;
    let terms = Terms {
        damping: Some(1.0),
        ..Terms::default()
    };
    let mut posed = Posed::new(&a, &terms)?;
    let symbolic = analyse(posed.matrix().pattern(), &Options::default())?;
    for step in 0..20 {
        a.values_mut().copy_from_slice(&jacobian(&x));
        posed.set_values(&a)?;
        posed.set_damping(0.1_f64.powi(step))?;
        let qr = factorize(&symbolic, posed.matrix(), &FactorOptions::default())?;
        let b = residual(&x);
        let correction = posed.solution(&qr.solve(&posed.rhs(&b, 1))?, 1);
        x.iter_mut().zip(&correction).for_each(|(x, d)| *x += d);
        let size = correction.iter().fold(0.0, |m: f64, d| m.max(d.abs()));
        println!("step {step}: a correction of {size:.1e}");
        if size < 1e-12 {
            break;
        }
    }
    for (point, exact) in x.chunks_exact(2).zip(POINTS) {
        assert!(
            (point[0] - exact.0).hypot(point[1] - exact.1) < 1e-9,
            "{point:?}"
        );
        println!("({:.6}, {:.6})", point[0], point[1]);
    }
    Ok(())
}
