//! Slow twins of the kernels: plain loops, one reflector after the other, nothing to understand twice.
//!
//! They take the same arguments (without scratch) and leave the same numbers up to rounding. The tests compare each kernel with
//! its twin; nothing else should call them.

mod deflate;
mod front;
mod ge;
mod tp;
mod trapezoid;

pub use deflate::deflate;
pub use front::{apply_packed, front_qr};
pub use ge::{gemqrt, geqrt};
pub use tp::{tpmqrt, tpqrt};
pub use trapezoid::{gemv, gemv_adjoint, trsv, trsv_adjoint};

use crate::scalar::KernelScalar;
use treeqr_matrices::{RealScalar, Scalar};

/// Turns the column \[head; tail\] into \[beta; tail of v\] and gives tau: LAPACK's `larfg`, scaled by the largest entry.
pub fn larfg<T: KernelScalar>(head: &mut T, tail: &mut [T]) -> T {
    let zero = T::Real::zero();
    if tail.iter().all(|&x| x == T::zero()) {
        return T::zero();
    }
    // In two steps, since the inverse of a subnormal number overflows.
    let largest = |head: &T, tail: &[T]| tail.iter().fold(head.abs(), |max, x| max.max(x.abs()));
    let lift = if largest(head, tail) < T::Real::MIN_POSITIVE / T::Real::EPSILON {
        T::Real::one() / T::Real::MIN_POSITIVE
    } else {
        T::Real::one()
    };
    for x in tail.iter_mut() {
        *x = x.scale(lift);
    }
    let alpha = head.scale(lift);
    let top = T::from_real(largest(&alpha, tail).max(zero));
    for x in tail.iter_mut() {
        *x /= top;
    }
    let alpha = alpha / top;
    let square: T::Real = tail.iter().map(|x| x.abs2()).sum();
    if square == zero {
        return T::zero();
    }
    let beta = T::from_real(-(alpha.abs2() + square).sqrt().copysign(alpha.re()));
    for x in tail.iter_mut() {
        *x /= alpha - beta;
    }
    *head = (beta * top).scale(T::Real::one() / lift);
    (beta - alpha) / beta
}

/// Applies I - tau v v^H with v = \[1; tail\] to the column \[head; c\].
pub fn larf<T: KernelScalar>(tau: T, tail: &[T], head: &mut T, c: &mut [T]) {
    let mut dot = *head;
    for (v, c) in tail.iter().zip(&*c) {
        dot += v.conj() * *c;
    }
    let x = tau * dot;
    *head -= x;
    for (v, c) in tail.iter().zip(c) {
        *c -= *v * x;
    }
}

/// Column j of the triangular factor from tau and the products v_i^H v_j: T(0..j, j) = -tau T(0..j, 0..j) (V^H v_j).
pub(crate) fn larft_column<T: KernelScalar>(t: &mut Vec<Vec<T>>, tau: T, products: &[T]) {
    let j = products.len();
    let mut column: Vec<T> = (0..j)
        .map(|i| -tau * (i..j).map(|l| t[l][i] * products[l]).sum())
        .collect();
    column.push(tau);
    t.push(column);
}
