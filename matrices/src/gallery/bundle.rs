//! Bundle adjustment: the Jacobian of cameras that walk around a scene and see its points.

use super::build::{Built, Triplets};
use super::random::Random;
use super::space::{Mat3, Vec3, cross, dot, scaled, sub, times_vec, unit};

/// Focal length and two coefficients of radial distortion, for every camera.
const LENS: (f64, f64, f64) = (800.0, -0.05, 0.01);
/// Value of the damping rows (Levenberg and Marquardt).
const DAMPING: f64 = 1e-2;
/// A camera's unknowns: rotation 3, translation 3, focal length, distortion 2.
const CAMERA: usize = 9;

/// `ba-<cameras>x<points>`: two rows for each view of a point (12 entries each, columns scaled to norm 1), then a damping
/// row for each unknown. Cameras walk around a circle; 3 to 12 of those near each other see a point, and one point in a
/// hundred is seen from far away too. The right-hand side is the views' noise of one pixel.
pub(super) fn bundle(args: &[usize], seed: u64) -> Built {
    let (cameras, points) = (args[0], args[1]);
    let mut random = Random::new(seed);
    let places: Vec<Vec3> = (0..cameras)
        .map(|c| {
            let angle = 2.0 * std::f64::consts::PI * c as f64 / cameras as f64;
            [
                20.0 * angle.cos(),
                20.0 * angle.sin(),
                0.3 * random.normal(),
            ]
        })
        .collect();
    let frames: Vec<Mat3> = places.iter().map(|&place| facing_origin(place)).collect();

    let ncols = CAMERA * cameras + 3 * points;
    let mut out = Triplets::with_capacity(150 * points);
    let mut rhs = Vec::new();
    for p in 0..points {
        let home = random.below(cameras);
        let point: Vec3 =
            std::array::from_fn(|axis| 0.55 * places[home][axis] + 2.0 * random.normal());
        for c in viewers(home, cameras, &mut random) {
            let (by_camera, by_point) = view(&frames[c], sub(point, places[c]));
            for side in 0..2 {
                let row = rhs.len();
                for (k, &v) in by_camera[side].iter().enumerate() {
                    out.push(row, CAMERA * c + k, v);
                }
                for (k, &v) in by_point[side].iter().enumerate() {
                    out.push(row, CAMERA * cameras + 3 * p + k, v);
                }
                rhs.push(random.normal());
            }
        }
    }
    scale_columns(&mut out, ncols);
    let views = rhs.len();
    for col in 0..ncols {
        out.push(views + col, col, DAMPING);
        rhs.push(0.0);
    }
    Built {
        rhs: Some(rhs),
        ..out.finish(views + ncols, ncols)
    }
}

/// The axes of a camera that looks at the origin, as rows.
fn facing_origin(place: Vec3) -> Mat3 {
    let z = unit(scaled(place, -1.0));
    let x = unit(cross(z, [0.0, 0.0, 1.0]));
    [x, cross(z, x), z]
}

/// The cameras that see a point, rising.
fn viewers(home: usize, cameras: usize, random: &mut Random) -> Vec<usize> {
    let wanted = (2 + random.geometric(0.3, 10)).min(12);
    let mut near: Vec<usize> = (0..13)
        .map(|step| (home + 6 * cameras + step - 6) % cameras)
        .collect();
    near.sort_unstable();
    near.dedup();
    // The first places of a random order.
    let count = wanted.min(near.len());
    for k in 0..count {
        let other = k + random.below(near.len() - k);
        near.swap(k, other);
    }
    near.truncate(count);
    if random.chance(0.01) {
        near.extend([random.below(cameras), random.below(cameras)]);
    }
    near.sort_unstable();
    near.dedup();
    near
}

/// Derivatives of the two image coordinates by the camera's unknowns and by the point, `away` being the way from the
/// camera to the point.
fn view(frame: &Mat3, away: Vec3) -> ([[f64; CAMERA]; 2], [Vec3; 2]) {
    let (f, k1, k2) = LENS;
    let mut q = times_vec(frame, away);
    if q[2].abs() < 1.0 {
        q[2] = 1.0;
    }
    let u = [q[0] / q[2], q[1] / q[2]];
    let r2 = u[0] * u[0] + u[1] * u[1];
    let distortion = 1.0 + k1 * r2 + k2 * r2 * r2;
    let slope = k1 + 2.0 * k2 * r2;
    let du = [
        [1.0 / q[2], 0.0, -u[0] / q[2]],
        [0.0, 1.0 / q[2], -u[1] / q[2]],
    ];
    let mut by_camera = [[0.0; CAMERA]; 2];
    let mut by_point = [[0.0; 3]; 2];
    for side in 0..2 {
        // Image by normalised image: f (d I + 2 d' u u').
        let p: [f64; 2] = std::array::from_fn(|other| {
            let same = if other == side { distortion } else { 0.0 };
            f * (same + 2.0 * slope * u[side] * u[other])
        });
        let by_place: Vec3 = std::array::from_fn(|k| p[0] * du[0][k] + p[1] * du[1][k]);
        let by_turn = cross(q, by_place);
        for k in 0..3 {
            by_camera[side][k] = by_turn[k];
            by_camera[side][3 + k] = by_place[k];
            by_point[side][k] = dot(by_place, [frame[0][k], frame[1][k], frame[2][k]]);
        }
        by_camera[side][6] = u[side] * distortion;
        by_camera[side][7] = f * u[side] * r2;
        by_camera[side][8] = f * u[side] * r2 * r2;
    }
    (by_camera, by_point)
}

fn scale_columns(out: &mut Triplets, ncols: usize) {
    let mut squares = vec![0.0; ncols];
    for (&col, &v) in out.cols.iter().zip(&out.values) {
        squares[col as usize] += v * v;
    }
    for (&col, v) in out.cols.iter().zip(&mut out.values) {
        let norm = squares[col as usize].sqrt();
        *v /= if norm == 0.0 { 1.0 } else { norm };
    }
}

pub(super) fn work(args: &[usize]) -> f64 {
    150.0 * args[1] as f64 + 40.0 * args[0] as f64
}
