//! A pose graph: a vehicle that spirals around a sphere and recognises places of the turn before.

use super::build::{Built, Triplets};
use super::random::Random;
use super::space::{
    IDENTITY, Mat3, Vec3, cross, hat, scaled, sub, times, times_vec, transpose, unit,
};

/// Deviations of a measured translation (m) and rotation (rad).
const SIGMA: (f64, f64) = (0.1, 0.02);
/// Radius of the sphere, m.
const RADIUS: f64 = 50.0;

/// A rigid motion of space: x -> R x + t.
struct Pose {
    rotation: Mat3,
    translation: Vec3,
}

/// A 6 x 6 matrix [a b; 0 a] of 3 x 3 blocks, for motions written as (translation, rotation).
struct Block {
    a: Mat3,
    b: Mat3,
}

impl Block {
    fn times(&self, other: &Block) -> Block {
        Block {
            a: times(&self.a, &other.a),
            b: add(&times(&self.a, &other.b), &times(&self.b, &other.a)),
        }
    }
}

/// `pose-<k>`: six columns for each of k - 1 poses (the first is fixed), six rows for each measurement of one pose from
/// another: between neighbours, between neighbouring turns, and now and then between any two. Rows are weighted by
/// 1/sigma; the right-hand side is the measurements' noise. Full column rank.
pub(super) fn pose(args: &[usize], seed: u64) -> Built {
    let k = args[0];
    let mut random = Random::new(seed);
    let turn = (k as f64).sqrt().round() as usize;
    let poses: Vec<Pose> = (0..k).map(|i| on_sphere(i, k, turn)).collect();
    let mut pairs = Vec::new();
    for i in 0..k - 1 {
        pairs.push((i, i + 1));
        if i + turn < k && turn > 1 && random.chance(0.95) {
            pairs.push((i, i + turn));
        }
        if random.chance(0.01) {
            let other = random.below(k);
            if other.abs_diff(i) > turn {
                pairs.push((i.min(other), i.max(other)));
            }
        }
    }
    let mut out = Triplets::with_capacity(54 * pairs.len());
    let mut rhs = Vec::with_capacity(6 * pairs.len());
    for (i, j) in pairs {
        let shift: Vec3 = std::array::from_fn(|_| SIGMA.0 * random.normal());
        let twist: Vec3 = std::array::from_fn(|_| SIGMA.1 * random.normal());
        // The error e = log(Z^-1 Xi^-1 Xj) changes by (I + ad(e)/2) with Xj, and by minus that times Ad(Xj^-1 Xi) with Xi.
        let by_j = Block {
            a: add(&IDENTITY, &half(&hat(twist))),
            b: half(&hat(shift)),
        };
        let row = rhs.len();
        if i > 0 {
            put(
                &mut out,
                row,
                6 * (i - 1),
                &by_j.times(&adjoint(&poses[j], &poses[i])),
                -1.0,
            );
        }
        put(&mut out, row, 6 * (j - 1), &by_j, 1.0);
        rhs.extend(shift.map(|e| -e / SIGMA.0));
        rhs.extend(twist.map(|e| -e / SIGMA.1));
    }
    Built {
        rhs: Some(rhs.clone()),
        ..out.finish(rhs.len(), 6 * (k - 1))
    }
}

/// The `i`-th of `k` poses on a spiral from pole to pole; looks ahead, with the head away from the centre.
fn on_sphere(i: usize, k: usize, turn: usize) -> Pose {
    let height = 0.95 * (2.0 * (i as f64 + 0.5) / k as f64 - 1.0);
    let angle = 2.0 * std::f64::consts::PI * i as f64 / turn as f64;
    let around = (1.0 - height * height).sqrt();
    let up = [around * angle.cos(), around * angle.sin(), height];
    let ahead = unit([-angle.sin(), angle.cos(), 0.0]);
    let axes = [ahead, cross(up, ahead), up];
    Pose {
        rotation: transpose(&axes),
        translation: scaled(up, RADIUS),
    }
}

/// Ad(X^-1 Y): [R, [t]x R; 0, R] of the motion from one pose to the other.
fn adjoint(x: &Pose, y: &Pose) -> Block {
    let inverse = transpose(&x.rotation);
    let rotation = times(&inverse, &y.rotation);
    let translation = times_vec(&inverse, sub(y.translation, x.translation));
    Block {
        b: times(&hat(translation), &rotation),
        a: rotation,
    }
}

/// Adds the weighted block at a place; a zero is no entry.
fn put(out: &mut Triplets, row: usize, col: usize, block: &Block, sign: f64) {
    let (shift, twist) = (sign / SIGMA.0, sign / SIGMA.1);
    for i in 0..3 {
        for j in 0..3 {
            let (a, b) = (block.a[i][j], block.b[i][j]);
            let entries = [(0, 0, a * shift), (0, 3, b * shift), (3, 3, a * twist)];
            for (down, right, v) in entries.into_iter().filter(|e| e.2 != 0.0) {
                out.push(row + down + i, col + right + j, v);
            }
        }
    }
}

fn add(a: &Mat3, b: &Mat3) -> Mat3 {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] + b[i][j]))
}

fn half(a: &Mat3) -> Mat3 {
    a.map(|row| scaled(row, 0.5))
}

pub(super) fn rule(args: &[usize]) -> Option<&'static str> {
    (args[0] < 2).then_some("k must be at least 2")
}

pub(super) fn work(args: &[usize]) -> f64 {
    110.0 * args[0] as f64
}
