//! Tomography: an image from the sums of its pixels along rays, which are measured with some noise. Damping keeps the noise down; the
//! analysis serves for every amount of it.
//!
//!     cargo run --example tomography

use treeqr::matrices::norm2;
use treeqr::{Csc, FactorOptions, Options, Posed, Terms, analyse, factorize};

/// Pixels along an edge of the image, directions of rays, and rays side by side in each.
const SIZE: usize = 16;
const DIRECTIONS: usize = 18;
const RAYS: usize = 24;

/// What was tried: the damping, the image that it gives, and how far that is from the true one, relatively.
pub(crate) struct Tried {
    pub(crate) damping: f64,
    pub(crate) image: Vec<f64>,
    pub(crate) error: f64,
}

pub(crate) fn main() -> Result<(), treeqr::Error> {
    let (a, b) = measurements()?;
    println!("{} rays through {} pixels", a.nrows(), a.ncols());
    let all = reconstruct(&a, &b)?;
    for tried in &all {
        println!("λ = {:<4}: error {:.4}", tried.damping, tried.error);
    }
    let best = all.iter().min_by(|p, q| p.error.total_cmp(&q.error));
    for row in best.expect("some were tried").image.chunks_exact(SIZE) {
        let shade = |v: &f64| [" ", "░", "▒", "▓", "█"][(4.0 * v).round().clamp(0.0, 4.0) as usize];
        println!(
            "{}",
            row.iter().map(|v| shade(v).repeat(2)).collect::<String>()
        );
    }
    Ok(())
}

/// A bright disc with a dark square in it.
fn truth() -> Vec<f64> {
    let pixel = |k: usize| {
        let (x, y) = ((k % SIZE) as f64 - 7.5, (k / SIZE) as f64 - 7.5);
        match x.hypot(y) < 6.0 {
            true if x.abs() < 2.0 && y.abs() < 2.0 => 0.2,
            true => 1.0,
            false => 0.0,
        }
    };
    (0..SIZE * SIZE).map(pixel).collect()
}

/// The length of every ray in every pixel, by points along it; and the sums, with noise that is the same every time.
pub(crate) fn measurements() -> Result<(Csc<f64>, Vec<f64>), treeqr::Error> {
    const STEP: f64 = 0.05;
    let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for ray in 0..DIRECTIONS * RAYS {
        let angle = std::f64::consts::PI * (ray / RAYS) as f64 / DIRECTIONS as f64;
        let (sine, cosine) = angle.sin_cos();
        let aside = (ray % RAYS) as f64 - (RAYS as f64 - 1.0) / 2.0;
        for k in -240..=240 {
            let along = f64::from(k) * STEP;
            let x = aside * cosine - along * sine + SIZE as f64 / 2.0;
            let y = aside * sine + along * cosine + SIZE as f64 / 2.0;
            let inside = |t: f64| (0.0..SIZE as f64).contains(&t);
            if inside(x) && inside(y) {
                // Points of one pixel are added up.
                rows.push(ray as u32);
                cols.push((y as usize * SIZE + x as usize) as u32);
                values.push(STEP);
            }
        }
    }
    let a = Csc::from_triplets(DIRECTIONS * RAYS, SIZE * SIZE, &rows, &cols, &values)?;
    let mut b: Vec<f64> = (0..a.nrows())
        .map(|i| 0.1 * (12.9898 * i as f64).sin())
        .collect();
    a.mul_add(1.0, &truth(), &mut b);
    Ok((a, b))
}

pub(crate) fn reconstruct(a: &Csc<f64>, b: &[f64]) -> Result<Vec<Tried>, treeqr::Error> {
    let terms = Terms {
        damping: Some(0.0),
        ..Terms::default()
    };
    let mut posed = Posed::new(a, &terms)?;
    let symbolic = analyse(posed.matrix().pattern(), &Options::default())?;
    let truth = truth();
    let mut tried = Vec::new();
    for damping in [0.0, 0.1, 0.3, 1.0, 3.0, 10.0] {
        posed.set_damping(damping)?;
        let qr = factorize(&symbolic, posed.matrix(), &FactorOptions::default())?;
        let image = posed.solution(&qr.solve(&posed.rhs(b, 1))?, 1);
        let off: Vec<f64> = image.iter().zip(&truth).map(|(x, y)| x - y).collect();
        tried.push(Tried {
            damping,
            error: norm2(&off) / norm2(&truth),
            image,
        });
    }
    Ok(tried)
}
