//! One elementary reflector H = I - tau v v^H with v = [1; x'].

use crate::scalar::KernelScalar;
use treeqr_matrices::{RealScalar, Scalar};

/// What annihilates a column's tail: H^H [alpha; x] = [beta; 0] with v = [1; x scale].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reflector<T> {
    /// The new head.
    pub beta: T,
    /// Zero for the identity.
    pub tau: T,
    /// What the tail is multiplied by to become the tail of v.
    pub scale: T,
}

/// The reflector of a column with head `alpha` and a tail of norm `xnorm`, LAPACK's `larfg`.
///
/// `beta` has the sign opposite to alpha's real part. Without a tail it is the identity: tau = 0, and `beta` is `alpha`, which
/// may be complex.
#[inline(always)]
pub(crate) fn reflector<T: KernelScalar>(alpha: T, xnorm2: T::Real) -> Reflector<T> {
    if xnorm2 == T::Real::zero() {
        return Reflector {
            beta: alpha,
            tau: T::zero(),
            scale: T::zero(),
        };
    }
    let beta = -(alpha.abs2() + xnorm2).sqrt().copysign(alpha.re());
    // H^H is applied, so tau is LAPACK's: ((beta - re alpha) - i im alpha) / beta.
    let tau = (T::from_real(beta) - alpha).scale(T::Real::one() / beta);
    let scale = T::one() / (alpha - T::from_real(beta));
    Reflector {
        beta: T::from_real(beta),
        tau,
        scale,
    }
}

/// True when a sum of squares is far from overflow and underflow, so that nothing was lost in it.
#[inline(always)]
pub(crate) fn is_safe<R: RealScalar>(square: R) -> bool {
    let low = if size_of::<R>() == 4 { 1e-24 } else { 1e-200 };
    let x = square.to_f64();
    x > low && x < 1.0 / low
}

/// The reflector of `head` and `tail`, both overwritten by beta and by the tail of v; gives tau.
///
/// It is the careful one: it scales the column before it squares anything.
#[cold]
pub(crate) fn careful<T: KernelScalar>(head: &mut T, tail: &mut [T]) -> T {
    // Most that come here have no tail at all.
    if tail.iter().fold(true, |zero, x| zero & (*x == T::zero())) {
        return T::zero();
    }
    let mut top = T::Real::zero();
    for x in tail.iter() {
        top = top.max(x.abs());
    }
    top = top.max(head.abs());
    // Its inverse must not overflow, nor be subnormal (workers flush those to zero).
    let least = T::Real::MIN_POSITIVE;
    let most = T::Real::one() / least;
    let by = if top < least {
        most
    } else if top > most {
        least
    } else {
        T::Real::one() / top
    };
    let mut square = T::Real::zero();
    for x in tail.iter_mut() {
        *x = x.scale(by);
        square += x.abs2();
    }
    if square == T::Real::zero() {
        // The tail is nothing beside the head.
        tail.fill(T::zero());
        return T::zero();
    }
    let h = reflector(head.scale(by), square);
    for x in tail.iter_mut() {
        *x *= h.scale;
    }
    *head = h.beta.scale(T::Real::one() / by);
    h.tau
}
