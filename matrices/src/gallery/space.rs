//! Vectors and 3 x 3 matrices, for the families that move in space.

pub(super) type Vec3 = [f64; 3];
/// Rows of a matrix.
pub(super) type Mat3 = [Vec3; 3];

pub(super) const IDENTITY: Mat3 = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

pub(super) fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(super) fn scaled(a: Vec3, by: f64) -> Vec3 {
    a.map(|v| v * by)
}

pub(super) fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

pub(super) fn unit(a: Vec3) -> Vec3 {
    scaled(a, 1.0 / dot(a, a).sqrt())
}

pub(super) fn times_vec(m: &Mat3, v: Vec3) -> Vec3 {
    m.map(|row| dot(row, v))
}

pub(super) fn transpose(m: &Mat3) -> Mat3 {
    std::array::from_fn(|i| std::array::from_fn(|j| m[j][i]))
}

pub(super) fn times(a: &Mat3, b: &Mat3) -> Mat3 {
    let columns = transpose(b);
    a.map(|row| columns.map(|column| dot(row, column)))
}

/// The matrix of the cross product: `hat(a) b = a x b`.
pub(super) fn hat(a: Vec3) -> Mat3 {
    [[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]]
}
