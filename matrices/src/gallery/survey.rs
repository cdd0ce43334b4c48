//! A levelling network: heights of benchmarks from observed differences of height.
//!
//! Surveyors walk from benchmark to benchmark and observe how much higher the next one is. The error grows with the square
//! root of the length of the line, so that a row is weighted by 1/sigma with sigma = 0.8 mm sqrt(length / km).

use super::build::{Built, Triplets};
use super::random::Random;
use std::f64::consts::PI;

/// Deviation of a line of one kilometre, m.
const SIGMA: f64 = 0.8e-3;
/// Deviation of a fixed point, m.
const FIXED_SIGMA: f64 = 1e-4;
/// Distance of the benchmarks, km.
const SPACING: f64 = 1.2;

/// `survey-<w>x<h>`: w * h unknown heights in metres, numbered row by row of the grid. Rows: lines between neighbours along
/// the rows of the grid (all of them), across (all in the first column, most elsewhere), some along diagonals, and a few
/// long ones; then one for each fixed point (one, and one more for every thousand benchmarks), which makes the column rank
/// full. Rows and right-hand side are weighted; the weights, in 1/m, are given too.
pub(super) fn survey(args: &[usize], seed: u64) -> Built {
    let (w, h) = (args[0], args[1]);
    let n = w * h;
    let mut random = Random::new(seed);
    let phases: [f64; 4] = std::array::from_fn(|_| 2.0 * PI * random.uniform());
    // Where the benchmarks are, in km, and how high, in m.
    let marks: Vec<[f64; 3]> = (0..n)
        .map(|mark| {
            let mut jittered = |along: usize| SPACING * (along as f64 + 0.5 * random.uniform());
            let (x, y) = (jittered(mark % w), jittered(mark / w));
            [x, y, terrain(x, y, &phases) + random.normal()]
        })
        .collect();

    let mut lines = Vec::new();
    for mark in 0..n {
        let (x, y) = (mark % w, mark / w);
        let (right, down) = (x + 1 < w, y + 1 < h);
        if right {
            lines.push((mark, mark + 1));
        }
        if down && (x == 0 || random.chance(0.85)) {
            lines.push((mark, mark + w));
        }
        if right && down && random.chance(0.1) {
            lines.push((mark, mark + w + 1));
        }
        if random.chance(0.02) {
            let far = |at: usize, size: usize, random: &mut Random| {
                (at + random.below(9)).saturating_sub(4).min(size - 1)
            };
            let other = far(x, w, &mut random) + w * far(y, h, &mut random);
            if other != mark {
                lines.push((mark, other));
            }
        }
    }

    let mut out = Triplets::with_capacity(2 * lines.len());
    let (mut rhs, mut weights) = (Vec::new(), Vec::new());
    for (row, &(from, to)) in lines.iter().enumerate() {
        let (a, b) = (marks[from], marks[to]);
        // Roads are longer than the way of a bird.
        let length = (b[0] - a[0]).hypot(b[1] - a[1]) * (1.1 + 0.5 * random.uniform());
        let weight = rounded(1.0 / (SIGMA * length.max(0.05).sqrt()), 1e3);
        let observed = rounded(b[2] - a[2] + random.normal() / weight, 1e5);
        out.push(row, from, -weight);
        out.push(row, to, weight);
        rhs.push(weight * observed);
        weights.push(weight);
    }
    for _ in 0..1 + n / 1000 {
        let mark = random.below(n);
        let weight = 1.0 / FIXED_SIGMA;
        let published = rounded(marks[mark][2] + random.normal() / weight, 1e4);
        out.push(rhs.len(), mark, weight);
        rhs.push(weight * published);
        weights.push(weight);
    }
    Built {
        weights: Some(weights),
        rhs: Some(rhs.clone()),
        ..out.finish(rhs.len(), n)
    }
}

/// Height of the ground in m: a slope with hills and ripples.
fn terrain(x: f64, y: f64, phases: &[f64; 4]) -> f64 {
    let hills = (x / 9.0 + phases[0]).sin() * (y / 11.0 + phases[1]).cos();
    let ripples = (x / 2.5 + phases[2]).sin() + (y / 3.0 + phases[3]).sin();
    320.0 + 1.5 * x + 120.0 * hills + 15.0 * ripples
}

/// Rounded to a multiple of 1 / `per`.
fn rounded(value: f64, per: f64) -> f64 {
    (value * per).round() / per
}

pub(super) fn work(args: &[usize]) -> f64 {
    6.0 * args[0] as f64 * args[1] as f64
}
